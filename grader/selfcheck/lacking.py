# SPDX-License-Identifier: MIT
"""Tests that may be skipped. Usually a test is skipped if something is missing; .ci/run installs
what tests need, and lists in PEERLAB_LACKING what its machine cannot have (words, or none)."""

import os
import unittest
from collections.abc import Callable

NOT_EXCUSED = (
    "skipped: {why}\n"
    "The set-up of .ci/run should have met that (PEERLAB_LACKING has what may be missing)."
)


def excused(why: str) -> bool:
    """Whether a test may be skipped for this reason."""
    lacking = os.environ.get("PEERLAB_LACKING")
    return lacking is None or any(word in why.lower() for word in lacking.split())


def needs(have: object, why: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator for a test case or a class of them: unittest's skipUnless, but only for excused
    reasons. Otherwise the case runs, and fails."""
    return unittest.skipUnless(have or not excused(why), why)
