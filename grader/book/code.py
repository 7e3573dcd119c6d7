# SPDX-License-Identifier: MIT
"""Code in pages: a line `<!-- code: PATH#PART -->` is replaced by that part of that file.

A part lies between the lines `// book: NAME` and `// book: end` (or the same after `#`). Without
`#PART` it is the whole file. Lines that only mark parts are never shown.

Labs' pages are also read in the labs' folders, where nothing is inserted: so every line of C that
they show must occur in a file that is compiled (`unknown`).
"""

import re
from collections.abc import Iterable
from pathlib import Path

from grader.base.exits import LabError

DIRECTIVE = re.compile(r"^<!-- code: (\S+?)(?:#([\w-]+))? -->$", re.MULTILINE)
MARK = re.compile(r"^\s*(?://|#) book: (\w[\w-]*)$")
BLOCK = re.compile(r"^```(?:c|cuda)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMPILED = (".c", ".cu", ".h")
LANGUAGES = {".cu": "cuda", ".c": "c", ".h": "c", ".py": "python", ".json": "json", ".sh": "bash"}


def include(root: Path, page: str, text: str) -> str:
    """The page with its code inserted. LabError: a file or a part does not exist."""
    return DIRECTIVE.sub(lambda match: _block(root, page, match[1], match[2] or ""), text)


def part_of(source: str, name: str) -> str:
    """The lines of one part, unindented; "" is the whole file. KeyError: there is no such part."""
    taken: list[str] = []
    inside = found = not name
    for line in source.splitlines():
        if mark := MARK.match(line):
            inside = not name or mark[1] == name
            found = found or inside
        elif inside:
            taken.append(line)
    if not found:
        raise KeyError(name)
    margin = min((len(line) - len(line.lstrip()) for line in taken if line.strip()), default=0)
    return "\n".join(line[margin:] for line in taken).strip("\n")


def _block(root: Path, page: str, name: str, part: str) -> str:
    file = root / name
    if not file.is_file():
        raise LabError(f"{page} includes {name}, and there is no such file")
    try:
        shown = part_of(file.read_text(encoding="utf-8"), part)
    except KeyError:
        raise LabError(f"{page} includes {name}#{part}, and there is no `book: {part}`") from None
    language = LANGUAGES.get(file.suffix, "text")
    return f'```{language} title="{name}"\n{shown}\n```'


def _bare(line: str) -> str:
    """A line without blanks, comments and checks of its result, which pages leave out."""
    bare = re.sub(r"\s+|/\*.*?\*/|//.*|\(void\)", "", line)
    return re.sub(r"^CHECK\((.*)\);$", r"\1;", bare)


def compiled(folders: Iterable[Path]) -> set[str]:
    """All lines of the C and CUDA files below some folders, in the form of `_bare`."""
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in COMPILED]
    return {_bare(line) for path in files for line in path.read_text("utf-8").splitlines()}


def unknown(text: str, known: set[str]) -> list[str]:
    """The lines of a page's C blocks that occur in no compiled file."""
    lines = [line for block in BLOCK.findall(text) for line in block.splitlines()]
    return [line.strip() for line in lines if _bare(line) and _bare(line) not in known]
