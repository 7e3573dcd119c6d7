# SPDX-License-Identifier: MIT
"""Terms are defined once, in docs/glossary.md, and a chapter's first use of each links to it.

A line of the glossary is `**term, other term** · What it is. chapter 5`.
"""

import html
import re
from pathlib import Path

PLACE = Path("docs/glossary.md")
LINE = re.compile(r"^\*\*(.+?)\*\* · (.+?)(?: [Cc]hapter (\d+))?$", re.MULTILINE)
# Never changed: figures, code, links and their titles, bold and quoted text, HTML.
KEPT = re.compile(
    r"(<figure.*?</figure>|`[^`]*`|!?\[[^\]]*\]\([^)]*\)(?:\{:[^}]*\})?"
    r"|\*\*.*?\*\*|\*[^*]+\*|<[^>]*>)"
)
NO_PROSE = re.compile(r"\s*([#|!?>-]|\d+\.|\s{4}|```)|\s{4}|\*\*Time\*\*")


def terms(root: Path) -> dict[str, str]:
    """Terms and their definitions."""
    place = root / PLACE
    text = place.read_text(encoding="utf-8") if place.is_file() else ""
    return {term: what for names, what, _ in LINE.findall(text) for term in names.split(", ")}


def slug(term: str) -> str:
    return "term-" + re.sub(r"\W+", "-", term.lower())


def anchored(text: str) -> str:
    """The glossary with an anchor at each term."""

    def one(match: re.Match[str]) -> str:
        places = "".join(f'<a id="{slug(term)}"></a>' for term in match[1].split(", "))
        return places + match[0]

    return LINE.sub(one, text)


def linked(root: Path, text: str, *, glossary: str) -> str:
    """A chapter in which the first use of each term links to the glossary."""
    left = dict(sorted(terms(root).items(), key=lambda entry: -len(entry[0])))
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        lines.append(line if fenced else _line(line, left, glossary))
    return "\n".join(lines)


def _line(line: str, left: dict[str, str], glossary: str) -> str:
    if NO_PROSE.match(line):
        return line
    for term in list(left):
        pieces = KEPT.split(line)
        for number, piece in enumerate(pieces):
            found = None if number % 2 else re.search(rf"\b{re.escape(term)}s?\b", piece, re.I)
            if found:
                title = html.escape(left.pop(term), quote=True)
                link = f'[{found[0]}]({glossary}#{slug(term)}){{: .term title="{title}" }}'
                pieces[number] = piece[: found.start()] + link + piece[found.end() :]
                line = "".join(pieces)
                break
    return line
