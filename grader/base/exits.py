# SPDX-License-Identifier: MIT
"""How `./lab` ends. 0, 1, 3, 4 and 77 mean what they mean for a verifier (harness/case.h)."""

from enum import IntEnum


class ExitStatus(IntEnum):
    OK = 0
    FAILED = 1  # a test failed, a check did not hold
    USAGE = 2  # the command line makes no sense (argparse's own status)
    NOT_WRITTEN = 3  # nothing failed, but some TODOs are still to be written
    HARNESS_ERROR = 4  # ours, never the student's
    NOT_CONFIGURED = 5  # there is no build tree yet
    NO_MATCH = 6  # the pattern names no test, lab, task or hint
    BUILD_FAILED = 7  # configuring or compiling failed
    MISSING = 8  # the machine lacks something that could not be installed
    CANNOT_RUN = 77
    INTERRUPTED = 130


class LabError(Exception):
    """Ends a command with a sentence for the person who typed it."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.FAILED) -> None:
        super().__init__(message)
        self.status = status
