# SPDX-License-Identifier: MIT
"""What a `./lab watch` keeps of the tests that passed, to repeat only those whose program has
changed. On the virtual node a program does the same in every run, so a test that passed passes
again while its runner, its verifier and the node are what they were.

Of a runner counts what is loaded (building/loaded.py): lines that moved change nothing. A runner of
TODO(k) has those functions of the learner's file that TODO(k) reaches (labcc.sh), so an edit of
another task's function does not change it either. The second runner of a task that may call other
tasks' functions has all of them.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.building.build import cache
from grader.building.ctest import Test
from grader.building.loaded import digest
from grader.building.records import Verdict, read_record
from grader.course.project import Project
from grader.learning.report import Outcome

Stamp = tuple[int, int]


class Kept:
    def __init__(self, project: Project) -> None:
        self.project = project
        self._outcomes: dict[str, tuple[bytes, Outcome]] = {}
        self._digests: dict[Path, tuple[Stamp, bytes]] = {}

    def key(self, test: Test) -> bytes:
        """What this test runs; empty if that is not known, or runs may differ (real GPUs)."""
        runners = self._runners(test)
        if not runners or cache(self.project).get("PEERLAB_BACKEND") != "vgpu":
            return b""
        try:
            parts = [*test.command, *map(self._digest, runners), *map(_stamp, self._others(test))]
        except OSError:
            return b""
        return hashlib.sha256(repr(parts).encode()).digest()

    def put(self, test: Test, key: bytes, outcome: Outcome) -> None:
        """How this test ended, which began when `key` was its key."""
        if key and key == self.key(test):
            self._outcomes[test.name] = key, outcome

    def same(self, tests: Sequence[Test]) -> dict[str, Outcome]:
        """How those of these tests ended that need not be repeated."""
        found = {test.name: outcome for test in tests if (outcome := self._same(test))}
        passed = {name: entry for name, entry in self._outcomes.items() if _passed(entry[1])}
        self._outcomes = passed  # a failure that was put counts once
        return found

    def _same(self, test: Test) -> Outcome | None:
        key, outcome = self._outcomes.get(test.name, (b"", None))
        if not outcome or not test.results or key != self.key(test):
            return None
        record = read_record(test.results)
        if not record or replace(record, written=outcome.record.written) != outcome.record:
            return None  # it ran elsewhere, and ended in another way
        if _passed(outcome):
            os.utime(test.results)  # as of the file that was saved
            record = read_record(test.results) or record
        return replace(outcome, record=record, kept=_passed(outcome))

    def _runners(self, test: Test) -> list[Path]:
        """The programs that its verifier may start (harness/cases/case.c, verifier/own.c)."""
        prefix = test.option("--runner")
        todo = next((label[4:] for label in test.labels if label.startswith("todo")), "")
        names = [prefix, f"{prefix}-{todo}", f"{prefix}-{todo}-own"]
        return [Path(name) for name in names if Path(name).is_file()]

    def _others(self, test: Test) -> list[Path]:
        """The verifier, the node and its descriptions."""
        build, nodes = self.project.build_dir, self.project.root / "vgpu" / "nodes"
        found = [*build.glob("bin/vgpu-*"), *build.glob("lib/*.so*"), *nodes.glob("*.json")]
        return [Path(test.command[0]), *sorted(found)]

    def _digest(self, path: Path) -> bytes:
        stamp = _stamp(path)
        if path not in self._digests or self._digests[path][0] != stamp:
            self._digests[path] = stamp, digest(path.read_bytes())
        return self._digests[path][1]


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _passed(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.PASS
