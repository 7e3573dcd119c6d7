# SPDX-License-Identifier: MIT
"""Who of the class somebody of the platform is: by the columns of the roster that [match] names.

A platform says who somebody is by up to three claims: `sub`, an id that it made up and never
changes; `sourcedid`, the id of the university's records; `email`. All that are given and named in
[match] must agree: an address that one student could have typed does not lead to another's page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.grade.layouts import Row, mistake, read_roster

LIS = "https://purl.imsglobal.org/spec/lti/claim/lis"
# The roles in a course. Others end in the same word and are not meant: a professor of the
# university who sits in this course, and the standard's Learner#Instructor.
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """`student` is "" where `why` says why it is nobody."""

    student: str
    why: str = ""


class People:
    def __init__(self, roster: Path, match: Mapping[str, str]) -> None:
        rows = read_roster(roster)
        self.names = {student: row.get("name", "") for student, row in rows.items()}
        self.match = match
        self.index = {
            claim: _indexed(roster, rows, claim, column) for claim, column in match.items()
        }

    def find(self, identity: Mapping[str, str]) -> Found:
        """`identity`: what the platform says, by the claims' names."""
        given = {claim: identity.get(claim, "") for claim in self.match}
        students = {self.index[c].get(_plain(c, value), "") for c, value in given.items() if value}
        students.discard("")
        said = ", ".join(f"{claim} {value!r}" for claim, value in given.items() if value)
        if len(students) == 1:
            return Found(students.pop())
        if students:
            several = ", ".join(sorted(students))
            return Found("", f"{said}: these are several of the roster, {several}")
        if not said:
            return Found("", f"the platform sends none of {', '.join(self.match)}")
        columns = ", ".join(dict.fromkeys(self.match.values()))
        return Found("", f"{said}: no line of the roster has that (columns: {columns})")


def of_launch(claims: Json) -> dict[str, str]:
    lis = claims.get(LIS)
    sourced = lis.get("person_sourcedid") if isinstance(lis, dict) else None
    return _texts(sub=claims.get("sub"), sourcedid=sourced, email=claims.get("email"))


def of_member(member: Json) -> dict[str, str]:
    sourced = member.get("lis_person_sourcedid")
    return _texts(sub=member.get("user_id"), sourcedid=sourced, email=member.get("email"))


def _texts(**values: object) -> dict[str, str]:
    return {key: value for key, value in values.items() if isinstance(value, str)}


def _indexed(path: Path, rows: Mapping[str, Row], claim: str, column: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for student, row in rows.items():
        if column not in row:
            raise mistake(path, 1, f"it has no column {column!r}, which [match] names for {claim}")
        value = _plain(claim, row[column])
        if value in found:
            raise row.mistake(f"{column} {value!r} is {found[value]!r}'s, too")
        if value:
            found[value] = student
    return found


def _plain(claim: str, value: str) -> str:
    return value.strip().casefold() if claim == "email" else value.strip()
