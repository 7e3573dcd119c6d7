# SPDX-License-Identifier: MIT
"""Every first-order mutant of a learner's file: one small change each, of the kinds that learners
make. An operator is a function from a passage to changes; OPERATORS lists them all.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from source import Region, calls, regions, statements

Change = tuple[int, int, str]  # from and to in the file, and what stands there instead


@dataclass(frozen=True)
class Made:
    """A mutant. `was` and `becomes` are the lines changed: lists know it by them."""

    operator: str
    todo: int
    line: int
    was: str
    becomes: str
    text: str  # the whole file

    @property
    def key(self) -> str:
        return f"{self.was} => {self.becomes}"


@dataclass(frozen=True)
class Context:
    """What operators must know of the whole file and its headers."""

    source: str
    enums: dict[str, str]  # an enumerator or result code -> another of the same kind
    types: dict[str, str]  # a variable or field -> its type, where the file says it once


def mutants(source: str, header: str) -> list[Made]:
    """All of a file, in the order of its lines; two changes with the same result count once."""
    context = Context(source, enumerators(header), variables(source))
    found: dict[str, Made] = {}
    for region in regions(source):
        for operator in OPERATORS:
            for begin, end, new in operator(region, context):
                made = _apply(source, operator.__name__, region.todo, (begin, end, new))
                if made.text != source:
                    found.setdefault(made.text, made)
    return sorted(found.values(), key=lambda one: one.line)


def _apply(source: str, operator: str, todo: int, change: Change) -> Made:
    begin, end, new = change
    text = source[:begin] + new + source[end:]
    first = source.rfind("\n", 0, begin) + 1
    last = source.find("\n", end)
    lines = source[first:last], text[first : last + len(text) - len(source)]
    was, becomes = (" ".join(line.split()) for line in lines)
    return Made(operator, todo, source.count("\n", 0, begin) + 1, was, becomes, text)


def enumerators(header: str) -> dict[str, str]:
    """For each enumerator the next one of its enum, and for each result of lab.h another."""
    others: dict[str, str] = {}
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", header):
        names = re.findall(r"\b([A-Z][A-Z0-9_]+)\b(?=\s*(?:=[^,]*)?(?:,|$|/))", body + ",")
        for i, name in enumerate(names):
            if len(names) > 1:
                others[name] = names[(i + 1) % len(names)]
    codes = ["LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER", "LAB_ENOMEM", "LAB_ECUDA", "LAB_EPEER"]
    for i, name in enumerate([*codes, "LAB_ERANGE"]):
        others[name] = codes[(i + 1) % len(codes)]
    return others


def variables(source: str) -> dict[str, str]:
    """Types of plain variables and parameters: a name of two types in one file is left out."""
    types: dict[str, str] = {}
    pattern = (
        r"\b((?:const\s+|unsigned\s+|struct\s+)*(?:int|size_t|float|double|char|void|uint64_t|\w+_t|"
        r"(?<=struct\s)\w+))\s+((?:\**\w+(?:\[[^\]]*\])?(?:\s*=\s*[^,;()]+)?\s*,\s*)*\**\w+)"
        r"(?=\s*[,;=)\[])"
    )
    for kind, names in re.findall(pattern, source):
        for part in names.split(","):
            name = part.split("=")[0].split("[")[0].strip()
            full = kind.replace("const ", "") + "*" * name.count("*")
            name = name.strip("* ")
            types[name] = full if types.get(name, full) == full else "?"
    return {name: kind for name, kind in types.items() if kind != "?"}


# ---- operators ----


def delete_statement(region: Region, context: Context) -> Iterator[Change]:
    for first, last in statements(region):
        yield region.tokens[first].at, region.tokens[last].end, ";"


def change_condition(region: Region, context: Context) -> Iterator[Change]:
    """Negated; evaluated and ignored, which removes an error check."""
    for i, token in enumerate(region.tokens):
        if token.text != "if" or i + 1 not in region.close:
            continue
        begin, end = region.tokens[i + 1].at, region.tokens[region.close[i + 1]].end
        condition = context.source[begin:end]
        yield begin, end, f"(!{condition})"
        yield begin, end, f"({condition}, 0)"


def replace_operator(region: Region, context: Context) -> Iterator[Change]:
    others = {
        "<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "==": ("!=",), "!=": ("==",),
        "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",),
        "%": ("/",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
        "<<": (">>",), ">>": ("<<",),
    }  # fmt: skip
    for i, token in enumerate(region.tokens):
        if i == 0 or not region.tokens[i - 1].is_operand or token.text not in others:
            continue
        for other in others[token.text]:
            yield token.at, token.end, other


def drop_negation(region: Region, context: Context) -> Iterator[Change]:
    for token in region.tokens:
        if token.text == "!":
            yield token.at, token.end, ""


def change_constant(region: Region, context: Context) -> Iterator[Change]:
    for token in region.tokens:
        if re.fullmatch(r"\d+", token.text):
            value = int(token.text)
            yield token.at, token.end, str(value + 1)
            if value > 0:
                yield token.at, token.end, str(value - 1)


def narrow_type(region: Region, context: Context) -> Iterator[Change]:
    narrow = {"size_t": "int", "uint64_t": "unsigned", "int64_t": "int", "double": "float"}
    for token in region.tokens:
        if token.text in narrow:
            yield token.at, token.end, narrow[token.text]


def narrow_value(region: Region, context: Context) -> Iterator[Change]:
    """A size that goes through an int on its way into a call or a variable."""
    wide = {name for name, kind in context.types.items() if kind in ("size_t", "uint64_t")}
    for i, token in enumerate(region.tokens):
        if token.text not in wide or region.text(i + 1) in ("=", "(", "+=", "-="):
            continue
        if region.text(i - 1) in ("&", "->", ".", "size_t"):
            continue
        if region.text(i - 1) in (",", "(", "=", "-", "+", "*") and region.text(i + 1) != ".":
            yield token.at, token.end, f"(size_t)(int){token.text}"


def swap_arguments(region: Region, context: Context) -> Iterator[Change]:
    for _, _, given in calls(region):
        for (a, b), (c, d) in pairwise(given):
            one = context.source[region.tokens[a].at : region.tokens[b].end]
            two = context.source[region.tokens[c].at : region.tokens[d].end]
            between = context.source[region.tokens[b].end : region.tokens[c].at]
            if one != two and _same_kind(one, two):
                yield region.tokens[a].at, region.tokens[d].end, two + between + one


def _same_kind(one: str, two: str) -> bool:
    """No address for a value, no constant of a header for a variable: that is no program."""

    def kind(text: str) -> str:
        return "&" if text[0] in "&({" else "A" if re.fullmatch(r"[A-Z][A-Z0-9_]+", text) else "a"

    return kind(one) == kind(two)


def skip_call(region: Region, context: Context) -> Iterator[Change]:
    """A call of CUDA is left out and taken to have gone well."""
    for name, last, _ in calls(region):
        text = region.text(name)
        good = {"cuda": "cudaSuccess"}.get(text[:4]) or ("CUDA_SUCCESS" if _is_driver(text) else "")
        if good:
            yield region.tokens[name].at, region.tokens[last].end, good


def _is_driver(name: str) -> bool:
    return name.startswith("cu") and name[2:3].isupper()


def replace_name(region: Region, context: Context) -> Iterator[Change]:
    """A variable by others of its type in the passage; an enumerator or a result by another."""
    names = {token.text for token in region.tokens if token.text in context.types}
    for i, token in enumerate(region.tokens):
        if token.text in context.enums:
            yield token.at, token.end, context.enums[token.text]
        if token.text not in names or region.text(i - 1) in ("->", "."):
            continue
        kind = context.types[token.text]
        others = [one for one in sorted(names) if one != token.text and context.types[one] == kind]
        if not _is_declared(region, i):
            for other in _near(others, token.text):
                yield token.at, token.end, other


def _is_declared(region: Region, i: int) -> bool:
    before = region.text(i - 1)
    named = bool(before) and (before[0].isalpha() or before[0] == "_") and before != "return"
    return named or (before == "*" and region.text(i - 2) in ("void", "char", "int", "float"))


def _near(others: list[str], name: str) -> list[str]:
    """Two at most, those behind it in the alphabet first, so that files stay stable."""
    behind = [other for other in others if other > name]
    return (behind + [other for other in others if other < name])[:2]


def leave_loop(region: Region, context: Context) -> Iterator[Change]:
    other = {"break": "continue", "continue": "break"}
    for token in region.tokens:
        if token.text in other:
            yield token.at, token.end, other[token.text]


OPERATORS: tuple[Callable[[Region, Context], Iterator[Change]], ...] = (
    delete_statement,
    change_condition,
    replace_operator,
    drop_negation,
    change_constant,
    narrow_type,
    narrow_value,
    swap_arguments,
    skip_call,
    replace_name,
    leave_loop,
)
