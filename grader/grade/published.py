# SPDX-License-Identifier: MIT
"""Results in results.sqlite, an edition for each grading: written first, published at once.

Who reads gets the same dictionary as from results.json, but for "rows": they are read when they are
asked for, some at a time, so that memory does not grow with the class.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, overload

from grader.base.exits import ExitStatus, LabError
from grader.grade.database import Database, text

Json = dict[str, Any]
AT_A_TIME = 64
_ROW = "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Rows(Sequence[Json]):
    """The rows of one edition, in the order of student and lab."""

    def __init__(self, database: Database, edition: int) -> None:
        self.database, self.edition = database, edition
        ((self._count,),) = database.all("SELECT count(*) FROM rows WHERE edition = ?", edition)

    def __len__(self) -> int:
        return int(self._count)

    @overload
    def __getitem__(self, at: int) -> Json: ...
    @overload
    def __getitem__(self, at: slice) -> list[Json]: ...
    def __getitem__(self, at: int | slice) -> Json | list[Json]:
        places = range(self._count)[at]
        if isinstance(places, range):
            return [self[place] for place in places]
        return next(iter(self._from(places, 1)))

    def __iter__(self) -> Iterator[Json]:
        for place in range(0, self._count, AT_A_TIME):
            yield from self._from(place, AT_A_TIME)

    def _from(self, place: int, count: int) -> Iterator[Json]:
        question = "SELECT row FROM rows WHERE edition = ? AND place >= ? AND place < ?"
        found = self.database.all(f"{question} ORDER BY place", self.edition, place, place + count)
        return (json.loads(row) for (row,) in found)


def write(database: Database, head: Json, rows: Iterable[Json]) -> Json:
    """A new edition, which is nobody's until it is published. `rows` are in their order."""
    with database.together():  # what was never published, or published before
        unread = "(SELECT edition FROM editions WHERE NOT published)"
        database.write(f"DELETE FROM rows WHERE edition IN {unread}")
        database.write("DELETE FROM editions WHERE NOT published")
    ((edition,),) = database.all("SELECT coalesce(max(edition), 0) + 1 FROM editions")
    database.write("INSERT INTO editions VALUES (?, ?, 0)", edition, _dumped(head))
    numbered = enumerate(rows)
    while some := list(islice(numbered, AT_A_TIME)):
        database.write_all(_ROW, (_line(edition, place, row) for place, row in some))
    return {**head, "rows": Rows(database, edition)}


def _line(edition: int, place: int, row: Json) -> tuple[object, ...]:
    names = (text(row["student"]), row["lab"], row["status"])
    return (edition, place, *names, row["mark"], row["points"], row["possible"], _dumped(row))


def _dumped(data: Json) -> str:
    return text(json.dumps(data, ensure_ascii=False))


def publish(database: Database, results: Json) -> None:
    """From now on everybody reads these; the edition of before stays until the next is written."""
    database.write("UPDATE editions SET published = edition = ?", results["rows"].edition)


def read(path: Path) -> Json:
    """What is published, of a results.sqlite."""
    nothing = LabError(f"{path}: nothing is published there", ExitStatus.USAGE)
    if not path.is_file():
        raise nothing
    database = Database(path)
    if not database.all("SELECT 1 FROM sqlite_master WHERE name = 'editions'"):
        raise nothing
    found = database.all("SELECT edition, head FROM editions WHERE published")
    if not found:
        raise nothing
    ((edition, head),) = found
    return {**json.loads(head), "rows": Rows(database, edition)}
