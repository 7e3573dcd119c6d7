# SPDX-License-Identifier: MIT
"""The result of a selfcheck: every check has a name, and each failure has a reason."""

import time
from dataclasses import dataclass, field

from grader.selfcheck.progress import Progress


@dataclass
class Report:
    """Prints during the run: one line per section, more only for failures."""

    passed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)  # name, reason
    progress: Progress = field(default_factory=Progress)

    def section(self, title: str) -> "Section":
        return Section(self, title)

    @property
    def ok(self) -> bool:
        return self.passed > 0 and not self.failures

    def closing_line(self) -> str:
        """A selfcheck without any check has not passed."""
        failed = len(self.failures)
        return f"selfcheck: {self.passed} passed, {failed} failed"


@dataclass
class Section:
    """`with report.section("..."): ...`; the line is printed at the end, with the counts."""

    report: Report
    title: str
    passed: int = 0
    failed: int = 0
    started: float = 0.0

    def __enter__(self) -> "Section":
        self.started = time.monotonic()
        self.report.progress.begin(self.title)
        return self

    def done(self, count: int, of: int) -> None:
        """`count` of its checks are done: for the progress line."""
        self.report.progress.show(count, of)

    def check(self, name: str, holds: bool, reason: str = "") -> bool:
        """Counts one check; `reason` explains why it does not hold, and what was expected."""
        if holds:
            self.passed += 1
            self.report.passed += 1
        else:
            self.failed += 1
            self.report.failures.append((name, reason))
            self.say(f"  FAILED  {name}")
            for line in reason.rstrip().splitlines():
                self.say(f"          {line}")
        return holds

    def say(self, line: str) -> None:
        self.report.progress.clear()
        print(line, flush=True)

    def __exit__(self, error: object, *_: object) -> None:
        seconds = time.monotonic() - self.started
        verdict = f"{self.failed} FAILED" if self.failed else "not finished" if error else "ok"
        self.say(f"{self.title:<58}{self.passed:>4} passed  {seconds:5.0f} s  {verdict}")
        self.report.progress.end()
