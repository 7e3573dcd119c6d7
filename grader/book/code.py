# SPDX-License-Identifier: MIT
"""Code in pages: a line `<!-- code: PATH#PART -->` becomes that part of that file.

A part lies between the lines `// book: NAME` and `// book: end` (or the same behind `#`). Without
`#PART` it is the whole file. Lines that only mark parts are never shown.
"""

import re
from pathlib import Path

from grader.exits import LabError

DIRECTIVE = re.compile(r"^<!-- code: (\S+?)(?:#([\w-]+))? -->$", re.MULTILINE)
MARK = re.compile(r"^\s*(?://|#) book: (\w[\w-]*)$")
LANGUAGES = {".cu": "cuda", ".c": "c", ".h": "c", ".py": "python", ".json": "json", ".sh": "bash"}


def include(root: Path, page: str, text: str) -> str:
    """The page with its code in it. LabError: a file or a part is not there."""
    return DIRECTIVE.sub(lambda match: _block(root, page, match[1], match[2] or ""), text)


def part_of(source: str, name: str) -> str:
    """The lines of one part, moved to the left; "" is the whole. KeyError: there is none."""
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
