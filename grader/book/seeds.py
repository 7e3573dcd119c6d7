# SPDX-License-Identifier: MIT
"""What the course must cover, as data: docs/seeds.json.

    {"rows": [{"row": "...", "where": "lab 01", "ran": ["test:solution01.count", ...], "open": ""}],
     "corrections": [{"number": 1, "said": "...", "true": "...", "how": "...", "chapter": "...",
                      "open": ""}]}

`ran` names what ran the row: a test of ctest (`test:NAME`), a command that a page shows and a test
types (`page:FILE#WORD OF THE COMMAND`), a companion that real GPUs ran (`real:FILE`). What nothing
has run yet, or stands in no chapter yet, says in `open` what is missing, and the page of the seeds
says so, too.
"""

import json
import re
from pathlib import Path
from typing import TypedDict

from grader.base.exits import LabError
from grader.book import recorded
from grader.book.commands import shown_in

ROWS_HERE, CORRECTION = "<!-- seeds -->", re.compile(r"^<!-- correction: (\d+) -->$", re.MULTILINE)


class Row(TypedDict):
    row: str
    where: str
    ran: list[str]
    open: str


class Correction(TypedDict):
    number: int
    said: str
    true: str
    how: str
    chapter: str
    open: str


class Seeds(TypedDict):
    rows: list[Row]
    corrections: list[Correction]


def load(root: Path) -> Seeds:
    read: Seeds = json.loads((root / "docs" / "seeds.json").read_text(encoding="utf-8"))
    return read


def insert(root: Path, page: str, text: str) -> str:
    """Inserts the table and the corrections at the page's marks."""
    if ROWS_HERE in text:
        text = text.replace(ROWS_HERE, _table(load(root)))
    if not CORRECTION.search(text):
        return text
    known = {entry["number"]: entry for entry in load(root)["corrections"]}

    def one(match: re.Match[str]) -> str:
        entry = known.get(int(match[1]))
        if entry is None:
            raise LabError(f"{page}: docs/seeds.json has no correction {match[1]}")
        return _box(entry)

    return CORRECTION.sub(one, text)


def _box(entry: Correction) -> str:
    return (
        f'!!! correction "Often said"\n\n'
        f'    <a id="correction-{entry["number"]}"></a>“{entry["said"]}”\n\n'
        f"    **True:** {entry['true']}\n\n"
        f"    **How we know:** {entry['how']}\n"
    )


def _table(seeds: Seeds) -> str:
    lines = ["| what | where | run by |", "|---|---|---|"]
    for row in seeds["rows"]:
        ran = ", ".join(f"`{name}`" for name in row["ran"]) or f"nothing yet: {row['open']}"
        lines.append(f"| {row['row']} | {row['where']} | {ran} |")
    return "\n".join(lines)


def problems(root: Path, tests: set[str]) -> list[str]:
    """Errors in the list; `tests` are the names of all existing tests."""
    seeds = load(root)
    found = [why for row in seeds["rows"] for why in _row_problems(root, row, tests)]
    numbers = [entry["number"] for entry in seeds["corrections"]]
    if numbers != list(range(1, len(numbers) + 1)):
        found.append(f"the corrections' numbers are {numbers}")
    return found + [why for e in seeds["corrections"] for why in _correction_problems(root, e)]


def _row_problems(root: Path, row: Row, tests: set[str]) -> list[str]:
    if not row["ran"] and not row["open"]:
        return [f"{row['row']}: names nothing that ran it"]
    return [
        f"{row['row']}: there is no {name}" for name in row["ran"] if not _is(root, name, tests)
    ]


def _is(root: Path, name: str, tests: set[str]) -> bool:
    kind, _, what = name.partition(":")
    if kind == "test":
        return what in tests
    if kind == "real":
        return what in recorded.load(root)
    file, _, word = what.partition("#")
    page = root / file
    if kind != "page" or not page.is_file():
        return False
    commands = [shown.command for shown in shown_in(page.read_text(encoding="utf-8"))]
    return any(word in command.split() for command in commands)


def _correction_problems(root: Path, entry: Correction) -> list[str]:
    """Each correction must occur once in the chapter that it names, where the reader meets the
    claim."""
    chapter = root / "docs" / "book" / entry["chapter"]
    if entry["open"] and not chapter.is_file():
        return []
    mark = f"<!-- correction: {entry['number']} -->"
    if not chapter.is_file():
        return [f"correction {entry['number']}: there is no chapter {entry['chapter']}"]
    times = chapter.read_text(encoding="utf-8").count(mark)
    return [] if times == 1 else [f"correction {entry['number']}: {times} times in {chapter.name}"]
