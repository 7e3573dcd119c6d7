# SPDX-License-Identifier: MIT
"""The class at a glance, on one page that needs no network: marks, how they are distributed, which
task and which mistake is most frequent, how long it took, and what kept the submissions in."""

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

from grader.grade.archive import printable
from grader.grade.feedback import number
from grader.grade.page import Block, Heading, Paragraph, Picture, Table
from grader.grade.sheets import by_student, handed_in, names

Json = dict[str, Any]
Mistakes = Callable[[str, str], list[str]]  # lab, case: what people who fail it got wrong
_BINS = 10
_MOST = 10  # lines of a list of the most frequent


def report(results: Json, mistakes: Mistakes) -> list[Block]:
    blocks: list[Block] = [Heading("Class report", 1), Paragraph(_facts(results))]
    blocks += _attention(results) + _twice(results) + _handed_in(results)
    blocks += [Heading("Marks"), _marks(results)]
    for lab in results["labs"]:
        rows = [row for row in results["rows"] if row["lab"] == lab["lab"]]
        blocks += _lab(lab, rows, mistakes)
    return blocks


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
    late = row["late"]["days"]
    return f"{row['status']}, {late} d late" if late else str(row["status"])


def _lab(lab: Json, rows: list[Json], mistakes: Mistakes) -> list[Block]:
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
    blocks.append(_histogram(marks, lab["points"]))
    blocks += [Heading("How they ended", 3), _endings(rows)]
    ran = [row for row in rows if row["cases"]]
    if ran:
        blocks += [Heading("Tasks", 3), _tasks(ran)]
        blocks += [Heading("What goes wrong most", 3), _most_failed(ran, mistakes)]
        blocks += [Heading("Timing", 3), _timing(ran)]
    return blocks


def _histogram(marks: list[float], possible: int) -> Picture:
    width = possible / _BINS if possible else 1
    counts = [0] * _BINS
    for mark in marks:
        counts[max(0, min(int(mark / width), _BINS - 1))] += 1
    tallest = max(counts)
    parts = []
    for at, count in enumerate(counts):
        height = 120 * count / tallest
        x, y = 30 + at * 56, 140 - height
        last = f"-{possible:g}" if at == _BINS - 1 else ""
        parts.append(
            f'<rect x="{x}" y="{y:.1f}" width="48" height="{height:.1f}" fill="#4a7fb5"/>'
            f'<text x="{x + 24}" y="{y - 5:.1f}" text-anchor="middle">{count or ""}</text>'
            f'<text x="{x + 24}" y="157" text-anchor="middle">{at * width:g}{last}</text>'
        )
    svg = (
        '<svg viewBox="0 0 600 165" width="600" height="165" role="img">'
        f'<line x1="26" y1="140" x2="590" y2="140" stroke="currentColor"/>{"".join(parts)}'
        "</svg>"
    )
    return Picture(svg, "How many marks fall into each tenth of the points")


def _endings(rows: list[Json]) -> Table:
    counts = Counter(row["status"] for row in rows)
    lines = [[status, str(count)] for status, count in sorted(counts.items(), key=_by_count)]
    return Table(["status", "submissions"], lines, frozenset({1}))


def _by_count(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]


def _tasks(rows: list[Json]) -> Table:
    """The hardest first: which share of its points the class has, and who never wrote it."""
    lines = []
    for todo in sorted({case["todo"] for row in rows for case in row["cases"]}):
        of_each = [[case for case in row["cases"] if case["todo"] == todo] for row in rows]
        points = sum(case["points"] for cases in of_each for case in cases)
        possible = sum(case["possible"] for cases in of_each for case in cases)
        unwritten = sum(any(c["status"] == "not written" for c in cases) for cases in of_each)
        share = points / max(1, possible)
        name = f"task {todo}" if todo else "the lab as a whole"
        lines.append((share, todo, [name, f"{share:.0%}", f"{unwritten} of {len(rows)}"]))
    shown = [line for *_, line in sorted(lines)]
    return Table(["", "points reached", "not written"], shown, frozenset({1, 2}))


def _most_failed(rows: list[Json], mistakes: Mistakes) -> Table:
    """Tests that fail although the code was written, with what is usually wrong then."""
    counts: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for row in rows:
        for case in row["cases"]:
            titles[case["case"]] = titles.get(case["case"]) or case["title"]
            counts[case["case"]] += case["status"] in ("fail", "crash", "timeout")
    lines = [
        [case, str(count), titles[case], "; ".join(mistakes(rows[0]["lab"], case))]
        for case, count in sorted(counts.items(), key=_by_count)[:_MOST]
        if count
    ]
    head = ["test", "fails", "what must hold", "mistakes known to fail it"]
    return Table(head, lines, frozenset({1}))


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
