# SPDX-License-Identifier: MIT
"""Where the learner stands, kept in .lab/standing.json: outside the build and outside labs/, so
that neither a fresh build nor a new version of the course loses it.

Version 1 of the file:

    {"version": 1,
     "tests": {"lab03.path": {a record as the verifiers write it, and "passed": when first, or ""}},
     "hints": {"03.2": 2},            how many of a task's hints were asked for
     "solutions": {"03": "2026-11-21T10:00:00"}}    when a solution was looked at

Before there was such a file, the records in the build folder were all there was: they are read
when the file is not there. It is written whole and renamed; the one before stays as
standing.json.old. A file that cannot be read is put aside under a name of its own, and the one
before counts. A file of a later version is left alone: an older ./lab reads nothing in it and
writes nothing over it.
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
from grader.course.project import Project

VERSION = 1


@dataclass
class Standing:
    path: Path
    tests: dict[str, Record] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)  # test: when first
    hints: dict[str, int] = field(default_factory=dict)
    solutions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what was wrong with the file
    frozen: bool = False  # of a later version: never written

    def latest(self, test: str) -> Record | None:
        return self.tests.get(test)

    def add(self, records: Iterable[Record]) -> bool:
        """Takes what is newer than what is known; says whether there was any."""
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
        """What a learner should know about the file."""
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
    """What is known; nothing, where nothing can be read. Never an error: a learner's evening does
    not end because of a file of ours."""
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
    """What is known, and what the last build's tests have written since, be it under ctest."""
    standing = load(project)
    folder = project.build_dir / "results"
    records = [read_record(path) for path in sorted(folder.glob("lab*.json"))]
    if standing.add(record for record in records if record) or standing.notes:
        standing.save()
    for warning in standing.warnings():
        print(warning, file=sys.stderr)
    return standing


def remember(project: Project, records: Iterable[Record]) -> None:
    """What has just been run counts from now on."""
    standing = load(project)
    if standing.add(records):
        standing.save()


def now() -> str:
    return datetime.now().isoformat(timespec="seconds")


def _old(path: Path) -> Path:
    return path.with_name(f"{path.name}.old")


def _read(path: Path, notes: list[str]) -> dict[str, Any] | None:
    """None for a file that is not there, or is broken: that one is put aside."""
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
