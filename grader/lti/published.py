# SPDX-License-Identifier: MIT
"""What of an output folder of ./lab grade students may see now: its results, less what is withheld.

Both files are read again when they change. Grading writes what is withheld first, and this reads it
last: whoever finds new results finds also what of them is withheld.
"""

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.export.outputs import WITHHELD
from grader.grade import feedback, term
from grader.grade.diff import read_results
from grader.grade.page import Block

Json = dict[str, Any]


@dataclass(frozen=True)
class Published:
    results: Json
    withheld: dict[str, dict[str, float]]  # by lab and student: until when
    rows: dict[tuple[str, str], Json]  # by student and lab

    def lab(self, name: str) -> Json | None:
        return next((lab for lab in self.results["labs"] if lab["lab"] == name), None)

    def until(self, student: str, lab: str, now: float) -> str:
        """When that may be told; "": it may. A lab that grading did not speak of may never."""
        if lab not in self.withheld:
            return "the next grading"
        at = self.withheld[lab].get(student, 0.0)
        return term.shown(at) if at > now else ""

    def page(self, student: str, name: str, lab: str, now: float) -> list[Block]:
        """The feedback on one lab, or with lab "" on all."""
        rows = [row for (who, of), row in self.rows.items() if who == student and lab in ("", of)]
        held = {row["lab"]: self.until(student, row["lab"], now) for row in rows}
        labs = {one["lab"]: one for one in self.results["labs"]}
        return feedback.pages(name or student, rows, labs, {k: v for k, v in held.items() if v})


@dataclass
class Marks:
    """An output folder; `now()` has it as it is."""

    folder: Path
    _seen: tuple[object, ...] = ()
    _published: Published | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> Published:
        with self._lock:
            seen = (_stamp(self.folder / "results.json"), _stamp(self.folder / WITHHELD))
            if self._published is None or seen != self._seen:
                self._published, self._seen = _read(self.folder), seen
            return self._published

    def report(self) -> str:
        """The class report; LabError where it is not."""
        return _text(self.folder / "report.html")


def _read(folder: Path) -> Published:
    results = read_results(folder)
    withheld = json.loads(_text(folder / WITHHELD))
    rows = {(row["student"], row["lab"]): row for row in results["rows"]}
    return Published(results, withheld, rows)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(
            f"{path} cannot be read: {error.strerror}. ./lab grade ... --out {path.parent} writes "
            "it: run it again, it grades nothing twice.",
            ExitStatus.USAGE,
        ) from error


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
