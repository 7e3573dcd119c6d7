# SPDX-License-Identifier: MIT
"""The functions that a lab's headers declare, and expressions that call one of them with what
another one was given."""

import re
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PROTOTYPE = re.compile(r"^int (\w+)\(([^;{}()]*)\);", re.MULTILINE)  # no functions as arguments
_GIVEN = {"coll_adder *": "(coll_adder *)ring_reduce"}  # what any sensible caller would pass
_PARAMETER = re.compile(r"^(.*?)(\w+)((?:\[\w*\])?)$")


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # without const; an array is a pointer

    @property
    def points_to(self) -> str:
        """The type of *name, "" where it is no pointer."""
        return self.type[:-1].strip() if self.type.endswith("*") else ""


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]


def read(headers: list[Path]) -> dict[str, Function]:
    """Every function that returns an int, as all of a lab's do, in the order of the headers."""
    found = {}
    for path in headers:
        text = _COMMENT.sub(" ", path.read_text(encoding="utf-8"))
        for name, inside in _PROTOTYPE.findall(text):
            words = [" ".join(word.split()) for word in inside.split(",")]
            taken = tuple(_parameter(word) for word in words if word not in ("", "void"))
            found[name] = Function(name, taken)
    return found


def _parameter(text: str) -> Parameter:
    match = _PARAMETER.match(text)
    assert match, text
    kind = re.sub(r"\bconst\b", " ", match[1]) + ("*" if match[3] else "")
    stars = "*" * kind.count("*")
    return Parameter(match[2], " ".join([*kind.replace("*", " ").split(), stars]).strip())


def call(callee: Function, caller: Function) -> str:
    """A call of `callee` with the caller's parameters, where the types fit; for what is missing, 1
    or the address of something that is all zero."""
    left = list(caller.parameters)
    words = []
    for wanted in callee.parameters:
        fits = [given for given in left if given.type == wanted.type]
        named = [given for given in fits if given.name == wanted.name]
        if fits:
            given = (named or fits)[0]
            left.remove(given)
            words.append(f"({wanted.type}){given.name}")
        else:
            words.append(_missing(wanted))
    return f"{callee.name}({', '.join(words)})"


def _missing(wanted: Parameter) -> str:
    if wanted.type in _GIVEN:
        return _GIVEN[wanted.type]
    if not wanted.points_to:
        # A stream is a pointer, too.
        return f"({wanted.type})0" if wanted.type.startswith("cuda") else f"({wanted.type})1"
    return f"({wanted.type})zeros"
