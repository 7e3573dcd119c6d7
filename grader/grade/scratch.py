# SPDX-License-Identifier: MIT
"""The folder in which a grader works. It goes when its grader ends, and when that was killed, by
the next one that starts on this machine, for whatever output folder that grades."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.sandbox import held

PREFIX = "lab-grade-"
_MODE = 0o711  # a slot's user goes through it to what the sandbox shows


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder to work in, for as long as this lasts. What dead graders left is removed."""
    sweep()
    with held.held(PREFIX, _MODE) as folder:
        yield folder


def sweep() -> None:
    held.sweep(PREFIX)
