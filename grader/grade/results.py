# SPDX-License-Identifier: MIT
"""The one set of records that every table, page and exporter is made from (published.py), and
results.json, which has the same for other programs.

That file is the same, byte for byte, whenever the same submissions are graded with the same course
and seed, but for what stands under "times" and "attempts". docs/results.md describes every field;
the schema's name changes when a field changes its meaning.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from grader.course.grave import CAP
from grader.grade.contract import is_handed_in
from grader.grade.course import Course, GradedLab
from grader.grade.journal import Attempt
from grader.grade.late import LatePolicy, deduction
from grader.grade.marks import Graded, GradedCase, capped, judge, rounded
from grader.grade.model import Run, Status, Submission
from grader.grade.skeleton import Places
from grader.grade.term import Request

SCHEMA = "peerlab/results/v1"
Json = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What marks depend on besides the submissions."""

    seed: int
    orders: int  # in how many others a test runs that leaves an order open
    tier: str
    late: LatePolicy = field(default_factory=LatePolicy)
    slips: dict[tuple[str, str], int] = field(default_factory=dict)  # by student and lab
    questions: dict[tuple[str, str], tuple[Decimal, str]] = field(default_factory=dict)
    requests: dict[tuple[str, str], Request] = field(default_factory=dict)
    grave_cap: float = CAP


def header(
    course: Course, labs: list[GradedLab], settings: Settings, submissions: list[Submission]
) -> Json:
    """`submissions`: one for each student and lab, also where nothing was handed in."""
    late = settings.late
    return {
        "schema": SCHEMA,
        "course": course.versions,
        "seed": settings.seed,
        "orders": settings.orders,
        "sandbox": settings.tier,
        "late": {
            "deadline": _time(late.deadline),
            "deadlines": {f"lab{lab}": _time(at) for lab, at in sorted(late.deadlines.items())},
            "slip_days": late.slip_days,
            "slip_days_a_lab": late.slip_days_a_lab,
            "grace_minutes": late.grace_minutes,
            "percent_a_day": late.percent_a_day,
            "cap": late.cap,
        },
        "grave_cap": settings.grave_cap,
        "labs": [_lab(lab) for lab in labs],
        "students": _students(submissions),
    }


def _students(submissions: list[Submission]) -> list[Json]:
    found: dict[str, Json] = {}
    for one in sorted(submissions, key=lambda one: (one.student, one.lab.name)):
        student = found.setdefault(
            one.student, {"student": one.student, "name": one.name, "handed_in": []}
        )
        if is_handed_in(one):
            student["handed_in"].append(one.lab.name)
    return list(found.values())


def _lab(lab: GradedLab) -> Json:
    return {
        "lab": lab.lab.name,
        "title": lab.lab.title,
        "file": lab.file,
        "programs": lab.fingerprint,
        "points": lab.rubric.possible,
        "skeleton": lab.skeleton.splitlines(),
        "cases": [
            {
                "case": rule.case,
                "todo": rule.todo,
                "points": rule.points,
                "hidden": rule.hidden,
                "depends": list(rule.depends),
                "category": rule.category,
            }
            for rule in lab.rubric.rules
        ],
    }


def row(
    lab: GradedLab,
    submission: Submission,
    run: Run | None,
    settings: Settings,
    graded_at: float | None = None,
    note: str = "",
    attempts: Sequence[Json] = (),
) -> Json:
    """One student's record of one lab."""
    graded = judge(submission, run, lab.rubric)
    places = Places(lab.skeleton)
    theirs = (submission.contents or b"").decode("utf-8", "replace").splitlines()
    notes = [*submission.notes, *([note] if note else [])]
    return {
        "student": submission.student,
        "name": submission.name,
        "lab": lab.lab.name,
        "status": graded.status.value,
        "message": graded.message,
        "points": graded.points,
        "possible": graded.possible,
        **_mark(lab, submission, graded, settings),
        "file": submission.file,
        "sha256": submission.digest,
        "source": submission.source,
        "commit": submission.commit,
        "group": _group(submission),
        "request": _request(submission, settings),
        "notes": notes,
        "again": run.again if run else "",
        "compiler": run.compiler_output if run else "",
        "hints": None if submission.hints is None else dict(submission.hints),
        "cases": [
            {**_case(case), "skeleton": _skeleton_line(case, places, theirs)}
            for case in graded.cases
        ],
        "attempts": list(attempts),
        "times": _times(submission, run, graded_at),
    }


def _mark(lab: GradedLab, submission: Submission, graded: Graded, settings: Settings) -> Json:
    """Points, no more than a grave mistake leaves, less what lateness costs, and with what the word
    questions brought."""
    late = settings.late
    student = submission.student
    asked = settings.questions.get((student, lab.lab.number))
    days = late.days(student, lab.lab, submission.submitted)
    slip = settings.slips.get((student, lab.lab.number), 0)
    percent = late.percent(days - slip)
    grave = capped(graded, settings.grave_cap)
    left = Decimal(graded.points or 0) - Decimal(str(grave["points"] if grave else 0))
    lost = deduction(left, percent)
    mark = None
    if graded.points is not None:
        mark = rounded(left - lost + (asked[0] if asked else 0))
    return {
        "grave": grave,
        "late": {"days": days, "slip": slip, "percent": percent, "points": rounded(lost)},
        "questions": {"points": float(asked[0]), "comment": asked[1]} if asked else None,
        "mark": mark,
    }


def _group(submission: Submission) -> Json | None:
    if not submission.partner:
        return None
    return {"partner": submission.partner, "handed_in_by": submission.handed_in_by}


def _request(submission: Submission, settings: Settings) -> Json | None:
    found = settings.requests.get((submission.student, submission.lab.number))
    if found is None:
        return None
    return {"asked": _time(found.asked), "why": found.why, "answer": found.answer}


def _case(case: GradedCase) -> Json:
    rule, run = case.rule, case.run
    return {
        "case": rule.case,
        "status": run.status.value,
        "points": case.points,
        "possible": rule.points,
        "todo": rule.todo,
        "hidden": rule.hidden,
        "category": rule.category,
        "grave": run.grave if run.status is not Status.PASS else "",
        "promises": list(rule.promises) if run.status is not Status.PASS else [],
        "title": run.title,
        "message": run.message,
        "why": run.why,
        "where": run.where,
        "next": run.next,
        "explained": run.explained,
        "node": run.node,
        "said": run.said,
        "feedback": rule.feedback if case.points < rule.points else "",
    }


def _skeleton_line(case: GradedCase, places: Places, theirs: list[str]) -> int | None:
    if case.run.status is Status.PASS:
        return None
    return places.line(theirs, case.run.where, case.rule.todo)


def attempt(lab: GradedLab, run: Run, one: Attempt) -> Json:
    """What a file of before was worth by the rubric of now, and which tasks it solved."""
    submission = Submission("", "", lab.lab, lab.file, b"")
    graded = judge(submission, run, lab.rubric)
    todos: dict[int, bool] = {}
    for case in graded.cases:
        passed = case.run.status is Status.PASS
        todos[case.rule.todo] = todos.get(case.rule.todo, True) and passed
    return {
        "sha256": one.digest,
        "submitted": _time(one.submitted),
        "points": graded.points,
        "solved": sorted(todo for todo, solved in todos.items() if solved and todo),
    }


def _times(submission: Submission, run: Run | None, graded_at: float | None) -> Json:
    cases = run.cases if run else ()
    return {
        "submitted": _time(submission.submitted),
        "graded": _time(graded_at),
        "seconds": run.seconds if run else 0,
        "cpu_seconds": round(sum(case.cpu_seconds for case in cases), 3),
        "virtual_seconds": round(sum(case.virtual_ps for case in cases) * 1e-12, 9),
    }


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pieces(results: Json) -> Iterator[str]:
    """The text of results.json, a row at a time."""
    rest = {key: value for key, value in results.items() if key != "rows"}
    yield json.dumps(rest, indent=1, ensure_ascii=False).removesuffix("\n}") + ',\n "rows": ['
    before = "\n  "
    for row in results["rows"]:
        yield before + json.dumps(row, indent=1, ensure_ascii=False).replace("\n", "\n  ")
        before = ",\n  "
    yield "\n ]\n}\n" if results["rows"] else "]\n}\n"


_LONG = frozenset({"compiler", "feedback", "why", "where", "next", "said", "explained"})


def short(row: Json) -> Json:
    """Without the texts that only the student reads, and each text that many have only once in
    memory: so many rows as a class has at a time."""
    cases = [_brief(case) for case in row["cases"]]
    return {**_brief(row), "cases": cases, "late": _brief(row["late"])}


def _brief(part: Json) -> Json:
    found = {key: value for key, value in part.items() if key not in _LONG}
    return {key: sys.intern(v) if type(v) is str else v for key, v in found.items()}


def without_times(results: Json) -> Json:
    """What two gradings of the same submissions must agree on."""
    rows = [
        {key: value for key, value in row.items() if key not in ("times", "attempts")}
        for row in results["rows"]
    ]
    return {**results, "rows": rows}
