# SPDX-License-Identifier: MIT
"""Text that others chose (a name, what a program printed), made safe for a cell of a table.

Whoever opens a table may have it split at commas, semicolons, tabs or bars, with or without regard
for quotes. However it is split: no piece of a cell begins with what a spreadsheet runs as a
formula, no cell goes beyond its line, and no character changes how its neighbours look.
"""

import re
import unicodedata
from collections.abc import Iterable

SEPARATORS = ",;\t|"
FORMULA = "=+-@|"  # the bar in some programs only
_MINUS = (
    "\u2212\u2010\u2011\u2012\u2013\u2014\ufb29"  # what looks like one of these; no compatible form
)
_PIECE = re.compile(rf"(^|[{SEPARATORS}])([\s\"]*)(?=(.))", re.DOTALL)


def cell(text: str) -> str:
    """One line of legible characters; an apostrophe before what would be a formula."""
    legible = "".join(_legible(character) for character in text)
    line = re.sub(r" {2,}", " ", legible).strip()
    return _PIECE.sub(_defused, line)


def _legible(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Zs", "Zl", "Zp") or character in "\t\n\r\v\f\x85":
        return " "
    return "?" if category[0] == "C" else character


def _defused(piece: "re.Match[str]") -> str:
    return f"{piece[0]}'" if is_formula(piece[3]) else piece[0]


def is_formula(character: str) -> bool:
    """Also full-width, small and raised forms, which some programs fold."""
    folded = unicodedata.normalize("NFKC", character)[:1]
    return folded in FORMULA or character in _MINUS


def table(lines: Iterable[Iterable[object]]) -> str:
    """CSV. None is an empty field; numbers stay numbers."""
    return "".join(",".join(map(_field, line)) + "\r\n" for line in lines)


def _field(value: object) -> str:
    if value is None:
        return ""
    text = cell(value) if isinstance(value, str) else str(value)
    quoted = any(character in text for character in f'{SEPARATORS}"')
    return '"{}"'.format(text.replace('"', '""')) if quoted else text
