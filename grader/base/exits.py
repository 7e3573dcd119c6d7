# SPDX-License-Identifier: MIT
"""Exit statuses of `./lab`. 0, 1, 3, 4 and 77 are the same as a verifier's (harness/case.h)."""

from enum import IntEnum


class ExitStatus(IntEnum):
    OK = 0
    FAILED = 1  # a test failed, a check did not hold
    USAGE = 2  # the command line is invalid (argparse's own status)
    NOT_WRITTEN = 3  # nothing failed, but some TODOs are still to be written
    HARNESS_ERROR = 4  # an error of the harness, never the student's
    NOT_CONFIGURED = 5  # there is no build tree yet
    NO_MATCH = 6  # the pattern names no test, lab, task or hint
    BUILD_FAILED = 7  # configuring or compiling failed
    MISSING = 8  # the machine lacks something that could not be installed
    CANNOT_RUN = 77
    INTERRUPTED = 130


class LabError(Exception):
    """Ends a command with a message for its user."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.FAILED) -> None:
        super().__init__(message)
        self.status = status
