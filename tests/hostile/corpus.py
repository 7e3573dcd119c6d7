# SPDX-License-Identifier: MIT
"""The corpus: attacks/GROUP.attacks, and how an attack becomes the file that a student hands in.

    //// NAME | BASE | STATUS STATUS...
    //// what it does
    the attack, in C; the base's functions follow it

BASE is what is handed in beside the attack: `wrong01` answers nothing right, `right01` is the
solution, `skeleton04` nothing written. A status is one of grader.grade.model's, with _ for blanks:
each case that is asked must end with one of those.
"""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.grade.model import Status

FOLDER = Path(__file__).parent / "attacks"
PROTOCOL = FOLDER.parents[2] / "vgpu/common"
HEAD = re.compile(r"^//// (\w+) \| (\w+) \| ([\w ]+)$", re.MULTILINE)
IMAGE = re.compile(r"@IMAGE@\n(.*?)@END@\n", re.DOTALL)


@dataclass(frozen=True)
class Attack:
    group: str
    name: str
    base: str
    expected: frozenset[Status]
    body: str

    @property
    def lab(self) -> str:
        """Its number, and the cases that are asked where these are not the usual ones."""
        return self.base.lstrip("wrongihtskel")

    @property
    def says_tried(self) -> bool:
        """It reports on stderr that it was carried out."""
        return "tried()" in self.body or "TRIED" in self.body


def groups() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.attacks"))


def load(group: str) -> list[Attack]:
    text = (FOLDER / f"{group}.attacks").read_text(encoding="utf-8")
    heads = list(HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = [
        _attack(group, head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True)
    ]
    if len({attack.name for attack in found}) != len(found) or text.count("\n//// ") == 0:
        raise ValueError(f"{group}.attacks: a name twice, or no attack")
    return found


def _attack(group: str, head: "re.Match[str]", body: str) -> Attack:
    statuses = frozenset(Status(word.replace("_", " ")) for word in head[3].split())
    return Attack(group, head[1], head[2], statuses, body.strip("\n") + "\n")


def compose(attack: Attack, places: Mapping[str, str], bases: Mapping[str, str]) -> str:
    """The whole file. `places` are what @WORDS@ in the attack mean on this machine."""
    body = "\n".join(line for line in attack.body.splitlines() if not line.startswith("//// "))
    body = _fill(body + "\n", places)
    body = body.replace("@PATCH@\n", _part("patch"))
    if not attack.lab.startswith("01"):
        body = body.replace("@SUMS@\n", _part("sums04"))
        return _with_protocol(body, places) + bases[attack.base]
    body = IMAGE.sub(lambda match: _image(match[1]), body)
    body = _with_protocol(body, places)
    return _part("prelude") + body + (bases.get(attack.base) or _part(attack.base[:7]))


def _with_protocol(body: str, places: Mapping[str, str]) -> str:
    return body.replace("@NODE@\n", _protocol(Path(places["ROOT"])) + _part("node"))


def _fill(text: str, places: Mapping[str, str]) -> str:
    for word, value in places.items():
        text = text.replace(f"@{word}@", value)
    return text


def _part(name: str) -> str:
    return (FOLDER / f"{name}.c.txt").read_text(encoding="utf-8")


def _protocol(root: Path) -> str:
    """The node's protocol, written out: a submission has no header of ours."""
    common = root / "vgpu" / "common"
    limits = (common / "launch_limits.h").read_text(encoding="utf-8")
    text = (common / "protocol.h").read_text(encoding="utf-8")
    text = text.replace('#include "launch_limits.h"\n', limits)
    return "".join(line for line in text.splitlines(True) if "_exec.h" not in line)


def images(places: Mapping[str, str]) -> list[bytes]:
    """Those that attacks hand to the node."""
    found = [IMAGE.findall(attack.body) for group in groups() for attack in load(group)]
    return [_compiled(_fill(code, places)) for codes in found for code in codes]


def _image(code: str) -> str:
    """A device image with that code, as an array, and what hands it to the node."""
    numbers = ",".join(str(byte) for byte in _compiled(code))
    return f"static const unsigned char image_bytes[] = {{{numbers}}};\n" + _part("load_image")


@cache
def _compiled(code: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder) / "image.c", Path(folder) / "image.so"
        source.write_text(_part("image") + code, encoding="utf-8")
        words = ["cc", "-shared", "-fPIC", "-Os", "-s", "-w", f"-I{PROTOCOL}", "-o", image, source]
        subprocess.run(words, check=True)
        return image.read_bytes()
