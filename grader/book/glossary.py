# SPDX-License-Identifier: MIT
"""Terms are defined once, in docs/glossary.md, and a chapter's first use of each links to it.

A line of the glossary is `**term, other term** · What it is. chapter 5`.
"""

import html
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

PLACE = Path("docs/glossary.md")
LINE = re.compile(r"^\*\*(.+?)\*\* · (.+?)(?: [Cc]hapter (\d+))?$", re.MULTILINE)
LINK = re.compile(r"\]\((?:[\w-]+/)?([\w-]+\.md)\)")  # where an entry without a chapter leads
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


def problems(root: Path, pages: Mapping[str, str]) -> list[str]:
    """Entries of another form, out of order, or twice; terms that their chapter or page does not
    use; pages that define a term again, in the form of an entry or as a heading; and links to terms
    that are not there. `pages`: names and texts of all pages."""
    entries = (root / PLACE).read_text(encoding="utf-8").strip().split("\n\n")[1:]
    found = [LINE.fullmatch(entry) for entry in entries]
    wrong = [
        f"{PLACE}: not an entry: {e[:40]}" for e, m in zip(entries, found, strict=True) if not m
    ]
    names = [m[1].lower() for m in found if m]
    wrong += [f"{PLACE}: {b} stands behind {a}" for a, b in pairwise(names) if a >= b]
    every = [term for name in names for term in name.split(", ")]
    wrong += [f"{PLACE}: {term} is defined twice" for term in every if every.count(term) > 1]
    others = {name: text for name, text in pages.items() if name != str(PLACE)}
    for entry in filter(None, found):
        wrong += _entry_problems(entry, others)
    for name, text in pages.items():
        targets = re.findall(r"\]\([^)]*glossary\.md#([^)]+)\)", text)
        wrong += [f"{name}: the glossary has no #{t}" for t in targets if t not in map(slug, every)]
    return wrong


def _entry_problems(entry: re.Match[str], pages: Mapping[str, str]) -> list[str]:
    """Of one entry: the page where it leads uses it, every name of it is used, and no other page
    defines it."""
    link = LINK.search(entry[2])
    home = f"docs/book/{int(entry[3]):02}-" if entry[3] else f"docs/{link[1] if link else '?'}"
    there = "\n".join(text for name, text in pages.items() if name.startswith(home))
    wrong, every = [], "\n".join(pages.values())
    words = {term: rf"\b{re.escape(term)}s?\b" for term in entry[1].split(", ")}
    if not re.search("|".join(words.values()), there, re.IGNORECASE):
        wrong.append(f"{PLACE}: {entry[1]} is not used in {home}")
    for term, word in words.items():
        if not re.search(word, every, re.IGNORECASE):
            wrong.append(f"{PLACE}: no page uses {term}")
        again = re.compile(rf"^(\*\*{word}\*\* [·:]|#+ {word}$)", re.IGNORECASE | re.MULTILINE)
        wrong += [
            f"{name}: {term} is defined in the glossary"
            for name, text in pages.items()
            if not name.startswith(home) and again.search(text)
        ]
    return wrong


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
