# SPDX-License-Identifier: MIT
"""The learner's progress, stored in .lab/standing.json: outside the build and outside labs/, so
that neither a fresh build nor a new version of the course loses it.

Version 1 of the file:

    {"version": 1,
     "tests": {"lab03.path": {a record as the verifiers write it, and "passed": when first, or ""}},
     "hints": {"03.2": 2},            how many of a task's hints were shown
     "solutions": {"03": "2026-11-21T10:00:00"}}    when a solution was shown

If the file does not exist, the records in the build folder are read, where results were kept
before. The file is written to a new name and renamed; the previous one stays as standing.json.old.
An unreadable file is renamed and kept, and the previous one is used. A file of a later version is
left alone: an older ./lab neither reads nor overwrites it.
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.base.language import say
from grader.building.records import Record, Verdict, from_json, read_record, to_json
from grader.course.project import Lab, Project

VERSION = 1


@dataclass
class Standing:
    path: Path
    tests: dict[str, Record] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)  # test: time of its first pass
    hints: dict[str, int] = field(default_factory=dict)
    solutions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # problems with the file
    frozen: bool = False  # of a later version: never written

    def latest(self, test: str) -> Record | None:
        return self.tests.get(test)

    def add(self, records: Iterable[Record]) -> bool:
        """Adds records that are newer than the stored ones; returns whether there were any."""
        changed = False
        for record in records:
            known = self.tests.get(record.test)
            if record.verdict is Verdict.UNKNOWN or (known and known.written >= record.written):
                continue
            self.tests[record.test] = record
            if record.verdict is Verdict.PASS:
                self.passed.setdefault(record.test, now())
            changed = True
        return changed

    def warnings(self) -> list[str]:
        """What a learner should be told about the file."""
        said = [say("standing.broken", file=name) for name in self.notes]
        return [*said, say("standing.frozen")] if self.frozen else said

    def save(self) -> None:
        if self.frozen:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        fresh.write_text(json.dumps(self._json(), indent=1) + "\n", encoding="utf-8")
        if self.path.is_file():
            self.path.replace(_old(self.path))
        fresh.replace(self.path)

    def _json(self) -> dict[str, Any]:
        tests = {
            name: {**to_json(record), "passed": self.passed.get(name, "")}
            for name, record in sorted(self.tests.items())
        }
        return {
            "version": VERSION,
            "tests": tests,
            "hints": self.hints,
            "solutions": self.solutions,
        }


def load(project: Project) -> Standing:
    """The stored progress; empty if nothing can be read. Never raises: a damaged file must not stop
    a learner."""
    path = project.root / ".lab" / "standing.json"
    notes: list[str] = []
    for candidate in (path, _old(path)):
        found = _read(candidate, notes)
        if found is not None:
            standing = _from_json(path, found)
            standing.notes = notes
            return standing
    return Standing(path, notes=notes)


def current(project: Project) -> Standing:
    """The stored progress, and records that the last build's tests have written since, also under
    ctest."""
    standing = load(project)
    folder = project.build_dir / "results"
    records = [read_record(path) for path in sorted(folder.glob("lab*.json"))]
    if standing.add(record for record in records if record) or standing.notes:
        standing.save()
    for warning in standing.warnings():
        print(warning, file=sys.stderr)
    return standing


def remember(project: Project, records: Iterable[Record]) -> None:
    """Stores the results of the latest run."""
    standing = load(project)
    if standing.add(records):
        standing.save()


def edited_since(project: Project, lab: Lab, records: Iterable[Record]) -> bool:
    """Whether a source of the learner's lab was edited, or another one put in its place with its
    old time (mv, cp -p, an archive), after one of these tests ran."""
    found = [path.stat() for path in _sources(project, lab)]
    times = [max(status.st_mtime, status.st_ctime) for status in found]
    runs = [record.written for record in records if record.written]
    return bool(times and runs) and max(times) > min(runs)


def touch_put_back(project: Project, lab: Lab) -> None:
    """Gives a source that was put in another one's place with its old time the time of now: it is
    older than what was built of the other one, so it would not be built. ctest's build does the
    same (harness/cmake/build_first.cmake)."""
    runners = (project.build_dir / "runners").glob(f"{lab.name}-run*")
    built = [path.stat().st_mtime for path in runners]
    for path in _sources(project, lab):
        status = path.stat()
        if any(status.st_mtime < at < status.st_ctime for at in built):
            path.touch()


def _sources(project: Project, lab: Lab) -> list[Path]:
    folder = project.labs_dir / lab.folder
    return [path for path in folder.glob("*.*") if path.suffix in (".c", ".cu", ".h")]


def now() -> str:
    return datetime.now().isoformat(timespec="seconds")


def _old(path: Path) -> Path:
    return path.with_name(f"{path.name}.old")


def _read(path: Path, notes: list[str]) -> dict[str, Any] | None:
    """None if the file is missing or damaged; a damaged one is renamed and kept."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        _from_json(path, found)
        return dict(found)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        aside = _free(path)
        path.replace(aside)
        notes.append(aside.name)
        return None


def _free(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.broken{number}")).exists():
        number += 1
    return aside


def _from_json(path: Path, found: dict[str, Any]) -> Standing:
    standing = Standing(path)
    if int(found["version"]) > VERSION:
        standing.frozen = True
        return standing
    for name, entry in found["tests"].items():
        record = from_json(entry, float(entry["written"]))
        standing.tests[name] = replace(record, test=name)
        if entry["passed"]:
            standing.passed[name] = str(entry["passed"])
    standing.hints = {str(task): int(count) for task, count in found["hints"].items()}
    standing.solutions = {str(lab): str(when) for lab, when in found["solutions"].items()}
    return standing
