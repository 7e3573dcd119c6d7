# SPDX-License-Identifier: MIT
"""The class at a glance, on one page that needs no network: what to look at, where the course may
be at fault, of each lab its marks, tasks and most frequent mistakes, and everybody's marks."""

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

from grader.grade import classcharts, page
from grader.grade.archive import printable
from grader.grade.feedback import number
from grader.grade.page import Block, Heading, Paragraph, Pictures, Table
from grader.grade.results import short
from grader.grade.sheets import by_student, handed_in, names
from grader.grade.tasks import (
    LEAST,
    MOST_FINDINGS,
    Task,
    hours_between,
    suspicions,
    tasks,
)

Json = dict[str, Any]
Mistakes = Callable[[str, str], list[str]]  # lab, case: what people who fail it got wrong


def webpage(results: Json, mistakes: Mistakes) -> str:
    return page.webpage("Class report", report(results, mistakes), classcharts.STYLE)


def report(results: Json, mistakes: Mistakes) -> list[Block]:
    results = {**results, "rows": [short(row) for row in results["rows"]]}
    blocks: list[Block] = [Heading("Class report", 1), Paragraph(_facts(results))]
    ran = {lab["lab"]: _ran(results, lab) for lab in results["labs"]}
    of_labs = {lab: tasks(rows) for lab, rows in ran.items()}
    blocks += _attention(results) + _twice(results) + _at_fault(of_labs)
    for lab in results["labs"]:
        rows = [row for row in results["rows"] if row["lab"] == lab["lab"]]
        blocks += _lab(lab, rows, of_labs[lab["lab"]], mistakes)
    return [*blocks, *_handed_in(results), Heading("Marks"), _marks(results)]


def _ran(results: Json, lab: Json) -> list[Json]:
    return [row for row in results["rows"] if row["lab"] == lab["lab"] and row["cases"]]


def _at_fault(of_labs: dict[str, list[Task]]) -> list[Block]:
    """What many lose for the same reason is a question to the course, not to them."""
    lines = [
        (count / max(1, task.written), [lab, task.name, f"{count} of {task.written}", said])
        for lab, found in of_labs.items()
        for task in found
        for count, said in suspicions(task)
    ]
    if not lines:
        return []
    words = (
        f"Of those who wrote a task, a third or more ({LEAST} students at least). Read the task's "
        "text, hints and test as a student who sees them for the first time."
    )
    shown = [line for _, line in sorted(lines, key=lambda one: -one[0])]
    head = ["lab", "task", "students", "what they have in common"]
    table = Table(head, shown, frozenset({2}), stacked=True)
    return [Heading("Where the course itself may be at fault"), Paragraph(words), table]


def _facts(results: Json) -> str:
    course = results["course"]
    return "\n".join(
        [
            f"{len(by_student(results))} students, seed {results['seed']}, labs: "
            + ", ".join(lab["lab"] for lab in results["labs"]),
            f"sandbox: {results['sandbox']}; course {course['course']}; {course['compiler']}",
        ]
    )


def _attention(results: Json) -> list[Block]:
    """What an instructor has to look at before marks go out."""
    found = [row for row in results["rows"] if row["mark"] is None or row["status"] == "rejected"]
    if not found:
        return []
    lines = [
        [printable(row["student"]), row["lab"], row["status"], row["message"]] for row in found
    ]
    heading = Heading("To look at before marks go out")
    return [heading, Table(["student", "lab", "status", "what is wrong"], lines)]


def _twice(results: Json) -> list[Block]:
    """What was graded again, alone, and what brought the virtual node down both times."""
    lines = []
    for row in results["rows"]:
        failed = [case for case in row["cases"] if case.get("node")]
        if row.get("again") or failed:
            who = [printable(row["student"]), row["lab"], row["status"]]
            names = ", ".join(case["case"] for case in failed)
            times = sum(2 if case["status"] == "crash" else 1 for case in failed)
            lines.append([*who, names, str(times), printable(row.get("again", ""))])
    if not lines:
        return []
    head = ["student", "lab", "status", "tests in which the node failed again", "how often"]
    head += ["the first time"]
    return [Heading("Graded twice"), Table(head, lines)]


def _handed_in(results: Json) -> list[Block]:
    """Who handed in what, unless everybody handed in everything."""
    labs = [lab["lab"] for lab in results["labs"]]
    if all(len(one["handed_in"]) == len(labs) for one in results["students"]):
        return []
    everybody = len(results["students"])
    counts = ", ".join(f"{lab} by {len(handed_in(results, lab))}" for lab in labs)
    lines = [
        [
            printable(one["student"]),
            printable(one["name"]),
            ", ".join(one["handed_in"]) or "nothing",
        ]
        for one in results["students"]
    ]
    said = Paragraph(f"Of {everybody} students, {counts}.")
    return [Heading("Handed in"), said, Table(["student", "name", "labs"], lines)]


def _marks(results: Json) -> Table:
    labs = [lab["lab"] for lab in results["labs"]]
    called = names(results)
    head = ["student", "name", *(word for lab in labs for word in (lab, "")), "total"]
    lines = []
    for student, rows in by_student(results).items():
        line = [printable(student), printable(called[student])]
        for lab in labs:
            row = rows.get(lab)
            line += [number(row["mark"]), _status(row)] if row else ["", ""]
        marks = [row["mark"] for row in rows.values()]
        line.append("" if None in marks or not marks else number(sum(marks)))
        lines.append(line)
    columns = frozenset([*range(2, 2 + 2 * len(labs), 2), 2 + 2 * len(labs)])
    return Table(head, lines, columns)


def _status(row: Json) -> str:
    grave = ", grave" if row.get("grave") else ""
    late = row["late"]["days"]
    return f"{row['status']}{grave}, {late} d late" if late else f"{row['status']}{grave}"


def _lab(lab: Json, rows: list[Json], found: list[Task], mistakes: Mistakes) -> list[Block]:
    marks = [row["mark"] for row in rows if row["mark"] is not None]
    blocks: list[Block] = [Heading(f"{lab['lab']}: {lab['title']}")]
    if not marks:
        return [*blocks, Paragraph("No marks.")]
    middle, mean = statistics.median(marks), statistics.fmean(marks)
    deviation = statistics.pstdev(marks)
    blocks.append(
        Paragraph(
            f"{len(marks)} marks: mean {number(mean)}, median {number(middle)}, "
            f"standard deviation {number(deviation)}, lowest {number(min(marks))}, "
            f"highest {number(max(marks))}"
        )
    )
    ran, hours = [row for row in rows if row["cases"]], hours_between(rows)
    charts = [classcharts.marks(marks, lab["points"])]
    charts += [classcharts.solved(found)] if found else []
    charts += [classcharts.gaps(hours)] if hours else []
    blocks += [Pictures(charts), Heading("How they ended", 3), _endings(rows)]
    if ran:
        blocks += [Heading("Tasks", 3), _tasks(found), *_about_hints(ran)]
        blocks += [Heading("What goes wrong most", 3), _most_failed(lab, found, mistakes)]
        blocks += [Heading("Timing", 3), _timing(ran)]
    return blocks


def _endings(rows: list[Json]) -> Table:
    counts = Counter(row["status"] for row in rows)
    lines = [[status, str(count)] for status, count in sorted(counts.items(), key=_by_count)]
    return Table(["status", "submissions"], lines, frozenset({1}))


def _by_count(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _tasks(found: list[Task]) -> Table:
    """In the order of the lab: who solved it when, how long it took those who did so at a later
    attempt, which share of its points the class has. A column that tells nothing is left out."""
    lines = []
    for task in found:
        later = sum(count for at, count in task.first.items() if at > 2)
        attempts = [str(count or "") for count in (task.first[1], task.first[2], later)]
        share = f"{task.points / max(1, task.possible):.0%}"
        hints = f"{statistics.fmean(task.hints):.1f}" if task.hints else ""
        solved = f"{task.solved} of {task.students}"
        hours = f"{statistics.median(task.hours):.1f}" if task.hours else ""
        unwritten = str(task.unwritten or "")
        lines.append([task.name, solved, *attempts, hours, unwritten, share, hints])
    head = ["task", "solved", "at 1st attempt", "2nd", "later"]
    head += ["hours to it, median", "not written", "points reached", "hints, mean"]
    told = [at for at in range(len(head)) if any(line[at] for line in lines)]
    shown = [[line[at] for at in told] for line in lines]
    return Table([head[at] for at in told], shown, frozenset(range(1, len(told))), stacked=True)


def _about_hints(rows: list[Json]) -> list[Block]:
    told = sum(row.get("hints") is not None for row in rows)
    words = "An attempt is a file that was handed in when you graded, and another one than before."
    if told:
        words += f" Hints are those of {told} students who told (./lab submit --hints)."
    return [Paragraph(words)]


def _most_failed(lab: Json, found: list[Task], mistakes: Mistakes) -> Table:
    """The most frequent findings of each task, where in the skeleton they were written, and what is
    usually wrong then."""
    lines = [
        [
            task.name,
            one.case,
            f"{one.count} of {task.written}",
            printable(one.said),
            _place(lab, one.line),
            "; ".join(mistakes(lab["lab"], one.case)),
        ]
        for task in found
        for one in task.findings[:MOST_FINDINGS]
    ]
    head = ["task", "test", "fails", "what was found", "line of the skeleton"]
    return Table([*head, "mistakes known to fail it"], lines, frozenset({2}), stacked=True)


def _place(lab: Json, line: int | None) -> str:
    """ "enumerate.c:12  int inv_count(int *count)" """
    text = lab.get("skeleton", [])
    if not line or line > len(text):
        return ""
    return f"{lab['file']}:{line}  {text[line - 1].strip()}"


def _timing(rows: list[Json]) -> Table:
    lines = []
    for name, key, unit in (
        ("grading, wall", "seconds", "s"),
        ("tests, processors", "cpu_seconds", "s"),
        ("tests, the virtual node's clock", "virtual_seconds", "s"),
    ):
        values = sorted(row["times"][key] for row in rows)
        middle, most = statistics.median(values), values[-1]
        slowest = max(rows, key=lambda row, key=key: row["times"][key])["student"]
        lines.append([name, f"{middle:.3g} {unit}", f"{most:.3g} {unit}", printable(slowest)])
    return Table(["", "median", "longest", "whose"], lines, frozenset({1, 2}))
