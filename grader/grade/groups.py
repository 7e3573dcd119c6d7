# SPDX-License-Identifier: MIT
"""Whose file counts for whom: groups of two, and submissions that were withdrawn."""

from collections.abc import Mapping
from dataclasses import replace

from grader.grade.contract import is_handed_in
from grader.grade.model import Submission

Key = tuple[str, str]  # a student, and a lab's number or "" for all


def without_withdrawn(submission: Submission, withdrawn: Mapping[Key, str]) -> Submission:
    """As if it had never been handed in, with a note that says so."""
    why = _of(withdrawn, submission.student, submission.lab.number)
    if why is None or not is_handed_in(submission):
        return submission
    note = f"withdrawn: {why}" if why else "withdrawn"
    notes = (*submission.notes, note)
    return replace(submission, contents=None, problem="", submitted=None, notes=notes)


def partner(groups: Mapping[Key, str], student: str, lab: str) -> str:
    """ "" for who works alone. A line for one lab counts before one for all labs, on both sides."""
    other = _of(groups, student, lab) or ""
    return other if other and _of(groups, other, lab) == student else ""


def shared(submissions: list[Submission], groups: Mapping[Key, str]) -> list[Submission]:
    """Of each group the file that was handed in last counts for both."""
    by = {(one.student, one.lab.number): one for one in submissions}
    return [_shared(one, by, groups) for one in submissions]


def _shared(
    mine: Submission, by: Mapping[Key, Submission], groups: Mapping[Key, str]
) -> Submission:
    other = partner(groups, mine.student, mine.lab.number)
    theirs = by.get((other, mine.lab.number))
    if not other or theirs is None:
        return mine
    given = [one for one in (mine, theirs) if is_handed_in(one)]
    if not given:
        return replace(mine, partner=other)
    last = max(given, key=lambda one: (one.submitted or 0, one.student))
    notes = mine.notes
    if last is not mine:
        said = f"handed in by {last.student} for the group"
        if len(given) > 1 and mine.contents != last.contents:
            said += f"; the file of {mine.student} is the older one and does not count"
        notes = (*notes, said)
    return replace(
        mine,
        contents=last.contents,
        source=last.source,
        submitted=last.submitted,
        commit=last.commit,
        notes=notes,
        problem=last.problem,
        partner=other,
        handed_in_by=last.student,
    )


def _of(table: Mapping[Key, str], student: str, lab: str) -> str | None:
    return table.get((student, lab), table.get((student, "")))
