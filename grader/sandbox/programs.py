# SPDX-License-Identifier: MIT
"""The paths of the programs that the sandbox starts."""

import os
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.course.project import here


def _build() -> Path:
    """PEERLAB_BUILD names another build than ./lab's own."""
    return Path(os.environ.get("PEERLAB_BUILD") or here().build_dir)


def programs() -> Path:
    """The build's folder of programs."""
    return _build() / "bin"


def absent_library() -> Path:
    """harness/jail/absent.c, built: the only file of its folder."""
    return _build() / "lib" / "absent" / "liblab-absent.so"


def runners() -> Path:
    """The build's folder of runners, programs with a lab's functions, which verifiers start."""
    return _build() / "runners"


def jail_program() -> Path:
    """harness/jail, built. LabError if it is missing."""
    path = programs() / "lab-jail"
    if not path.is_file():
        raise LabError(
            f"{path} is not built, and nothing of a submission is started without it. "
            "Run ./lab start.",
            ExitStatus.NOT_CONFIGURED,
        )
    return path
