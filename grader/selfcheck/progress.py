# SPDX-License-Identifier: MIT
"""Shows the progress of a selfcheck: what runs, how many of how many, and the remaining time: on a
terminal in a line that is overwritten, elsewhere in a line now and then.

The remaining time is estimated from the seconds that each section took on an idle machine with two
cores, and from the pace of this run so far.
"""

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

EVERY = 30.0  # seconds between lines, without a terminal
SOON = 0.2  # the same on a terminal
BELIEVED_AFTER = 10.0  # seconds of the plan after which the pace so far is used for the estimate


@dataclass
class Progress:
    """`plan`: the seconds of each section, by title, in order. Without a plan nothing is shown."""

    plan: Mapping[str, float] = field(default_factory=dict)
    to: TextIO = field(default_factory=lambda: sys.stdout)
    clock: Callable[[], float] = time.monotonic
    now: str = ""  # the current section
    finished: list[str] = field(default_factory=list)
    started: float = 0.0
    shown: float = 0.0
    open_line: bool = False

    def __post_init__(self) -> None:
        self.started = self.shown = self.clock()

    def begin(self, title: str) -> None:
        self.now = title
        self.show(0, 0)

    def end(self) -> None:
        self.finished.append(self.now)
        self.now = ""

    def show(self, count: int, of: int) -> None:
        """`count` of the section's `of` checks are done."""
        moving = self.to.isatty()
        pause = SOON if moving and count else 0.0 if moving else EVERY
        if self.now not in self.plan or self.clock() - self.shown < pause:
            return
        self.shown = self.clock()
        text = f"  {self._line(count, of)}"
        if moving:
            self.clear()
            self.to.write(text[: shutil.get_terminal_size().columns - 1])
            self.open_line = True
        else:
            self.to.write(f"{text}\n")
        self.to.flush()

    def clear(self) -> None:
        if self.open_line:
            self.to.write("\r\033[K")
            self.to.flush()
            self.open_line = False

    def _line(self, count: int, of: int) -> str:
        number = list(self.plan).index(self.now) + 1
        counted = f", {count} of {of}" if of else ""
        left = in_words(self.left(count / of if of else 0.0))
        return f"[{number}/{len(self.plan)}] {self.now}{counted}; {left} left"

    def left(self, part: float) -> float:
        """Estimated seconds left, when this part of the section is done."""
        done = _sum(self.plan, self.finished) + part * self.plan.get(self.now, 0.0)
        rest = max(sum(self.plan.values()) - done, 0.0)
        pace = (self.clock() - self.started) / done if done > BELIEVED_AFTER else 1.0
        return rest * pace


def in_words(seconds: float) -> str:
    if seconds < 100:
        return f"about {max(5, round(seconds / 5) * 5)} s"
    return f"about {round(seconds / 60)} min"


def _sum(plan: Mapping[str, float], titles: Sequence[str]) -> float:
    return sum(plan.get(title, 0.0) for title in titles)
