# SPDX-License-Identifier: MIT
"""The final messages of `./lab grade`: marks, changes, who would gain or lose, requests, and
withheld feedback."""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus
from grader.grade import late, results, screen, term
from grader.grade.batch import Task
from grader.grade.cells import table
from grader.grade.diff import changes, gains
from grader.grade.journal import write_pieces, write_whole
from grader.leaderboard.board import Board

Json = dict[str, Any]


def held(
    the_term: term.Term, policy: late.LatePolicy, tasks: list[Task], now: float
) -> dict[tuple[str, str], float]:
    """Which student's feedback on which lab is still withheld, and until when."""
    found = {}
    for one in (task.submission for task in tasks):
        at = the_term.shown_from(policy, one.student, one.lab)
        if at is not None and now < at:
            found[one.student, one.lab.name] = at
    return found


def print_held(held: Mapping[tuple[str, str], float], console: screen.Console) -> None:
    counts = Counter((lab, term.shown(until)) for (_, lab), until in held.items())
    for (lab, until), count in sorted(counts.items()):
        said = f"{lab}: feedback is held back until {until} (students: {count})"
        console.print(said, markup=False, highlight=False, soft_wrap=True)


def print_board(board: Board, out: Path, console: screen.Console) -> None:
    """Where it is, and what has no place and should be looked at."""
    times = sum(len(race.marks) for race in board.races)
    students = {mark.student for race in board.races for mark in race.marks}
    lines = [f"leaderboard: {out / 'leaderboard.html'} (times: {times}, students: {len(students)})"]
    lines += [f"lab{lab} has no leaderboard: {why}" for lab, why in board.failed]
    lines += [f"{who}, lab{lab}: no place: {why}" for who, lab, why in board.refused]
    lines += [
        f"{mark.student}, lab{race.level.lab}: no place: {mark.ps / 1e6:.2f} us on "
        f"{race.level.node} are below the bound of {race.level.bound / 1e6:.2f}: read that file"
        for race in board.races
        for mark in race.below
    ]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_requests(
    before: Json | None,
    found: Json,
    requests: Mapping[tuple[str, str], term.Request],
    console: screen.Console,
) -> None:
    """What became of each request to be graded again."""
    marks = {(row["student"], row["lab"]): row["mark"] for row in (before or {}).get("rows", [])}
    lines = []
    for row in found["rows"]:
        if request := row["request"]:
            was, now = marks.get((row["student"], row["lab"])), row["mark"]
            change = None if was is None or now is None else round(now - was, 2)
            one = {"student": row["student"], "lab": row["lab"], "asked": request["asked"][:10]}
            more = {"before": was, "after": now, "change": change, "why": request["why"]}
            lines.append({**one, **more})
    if lines:
        console.print("\nregrade requests:", highlight=False)
        console.print(screen.marks_table(lines, "asked"))
    there = {(row["student"], row["lab"]) for row in found["rows"]}
    labs = {lab["lab"] for lab in found["labs"]}
    for student, number in sorted(requests):
        if f"lab{number}" in labs and (student, f"lab{number}") not in there:
            said = f"{student} asks for lab{number}, and has handed in nothing of it"
            console.print(said, markup=False, highlight=False, soft_wrap=True)


def preview(
    args: argparse.Namespace, old: Json | None, found: Json, console: screen.Console
) -> ExitStatus:
    """Who would gain and who would lose. Runs are kept in the journal; apart from that only this
    table is written."""
    lines = gains(old or {"rows": []}, found)
    head = ["student", "lab", "before", "after", "change", "why"]
    write_whole(args.out / "preview.csv", table([head, *([one[n] for n in head] for one in lines)]))
    if lines:
        console.print(screen.marks_table(lines))
    changes_ = [one["change"] for one in lines if one["change"] is not None]
    gain, lose = sum(c > 0 for c in changes_), sum(c < 0 for c in changes_)
    other = len(lines) - gain - lose
    same = len(found["rows"]) - len(lines)
    unmarked = f", with a mark or without one now: {other}" if other else ""
    for line in (
        f"higher: {gain}, lower: {lose}, unchanged: {same}{unmarked} (preview.csv).",
        "Nothing has been published. To publish, run it without --preview; no test runs again.",
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return ExitStatus.OK


def print_changes(
    args: argparse.Namespace, found: Json, old: Json | None, console: screen.Console
) -> ExitStatus:
    write_pieces(args.out / "results.json", results.pieces(found))
    console.print(screen.table(found))
    for line in ["", *screen.summary(found), f"results: {args.out}"]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if old is not None and args.diff:
        lines = changes(old, found) or ["no mark changed"]
        text = "\n".join(["", f"since {args.diff}:", *lines])
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    missing = any(row["mark"] is None for row in found["rows"])
    return ExitStatus.HARNESS_ERROR if missing else ExitStatus.OK
