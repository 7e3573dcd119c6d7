# SPDX-License-Identifier: MIT
"""Shows the progress of a build: one changing line on a terminal, a few lines elsewhere.

Other output than steps of the build (warnings, errors) is passed through.
"""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from grader.base.proc import Done, follow

STEP = re.compile(r"\[ *(\d+)(?:/(\d+)|%)\] ?(.*)")  # ninja's [3/40], make's [ 7%]
_NOISE = re.compile(r"-- |ninja: no work to do|ninja: Entering directory|g?make(\[\d+\])?: ")


@dataclass
class Progress:
    """Consumes a build's lines; `part` is from 0 to 1."""

    to: TextIO
    moving: bool  # a terminal: the line is overwritten
    last_shown: float = 0.0
    open_line: bool = False

    def feed(self, line: str) -> None:
        step = STEP.match(line)
        if step:
            part = int(step.group(1)) / int(step.group(2) or 100)
            self._step(part, step.group(3))
        elif line.strip() and not _NOISE.match(line):
            self._clear()
            self.to.write(f"{line}\n")
        self.to.flush()

    def close(self) -> None:
        self._clear()

    def _step(self, part: float, what: str) -> None:
        if self.moving:
            width = shutil.get_terminal_size().columns - 1
            self._clear()
            self.to.write(f"  {part:4.0%}  {what}"[:width])
            self.open_line = True
        elif part >= self.last_shown + 0.25 and not what.startswith("Built target"):
            self.last_shown = part
            self.to.write(f"  {part:4.0%}  {what}\n")

    def _clear(self) -> None:
        if self.open_line:
            self.to.write("\r\033[K")
            self.open_line = False


def show_build(words: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]) -> Done:
    """Runs a build and shows its progress; returns all its output, too."""
    progress = Progress(sys.stdout, sys.stdout.isatty())
    done = follow(words, progress.feed, cwd=cwd, env=env)
    progress.close()
    return done
