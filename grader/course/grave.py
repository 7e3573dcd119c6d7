# SPDX-License-Identifier: MIT
"""Grave mistakes, of which a lab's verifiers tell four kinds: a lab in which a test sees one has at
most so many of its points. docs/grading.md says why."""

from collections.abc import Iterable

from grader.base.language import say

CAP = 85.0  # per cent of a lab's points; 100: grave mistakes cost their tests' points only
KINDS = ("race", "lost data", "leak", "host wait")  # the verifiers' words, the worst first


def ordered(kinds: Iterable[str]) -> list[str]:
    """Each once; empty ones are left out."""
    found = set(kinds)
    return [kind for kind in KINDS if kind in found]


def named(kinds: Iterable[str]) -> str:
    """ "a data race and lost or overwritten data"."""
    *most, last = [say(f"grave.{kind.replace(' ', '-')}") for kind in kinds]
    return f"{', '.join(most)} and {last}" if most else last
