# SPDX-License-Identifier: MIT
"""What an instructor sees on the terminal: progress while it runs, the marks at the end."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.grade.archive import printable
from grader.grade.sheets import by_student, handed_in

Json = dict[str, Any]

try:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table
    from rich.text import Text
except ImportError as error:  # pragma: no cover
    raise LabError(
        "The grader's tables need the Python package rich: ./lab start --grader installs it.",
        ExitStatus.MISSING,
    ) from error

_PAPER = 500  # columns of what is no terminal: nothing is cut there
_EVERY_SECONDS = 10.0
_WITH_STATUS = 2  # labs; a terminal is not wider
_COLORS = {
    "pass": "green",
    "partial": "yellow",
    "not written": "yellow",
    "infrastructure error": "magenta",
}


def console() -> Console:
    """Where a program or a file reads it, names stand in full."""
    found = Console()
    return found if found.is_terminal else Console(width=_PAPER)


@contextlib.contextmanager
def _lines(console: Console, total: int, verb: str) -> Iterator[Callable[[str], None]]:
    """A line now and then, for who reads a log."""
    began = time.monotonic()
    done, shown = 0, began

    def tick(said: str) -> None:
        nonlocal done, shown
        done += 1
        now = time.monotonic()
        if now - shown >= _EVERY_SECONDS and done < total:
            shown = now
            left = (now - began) / done * (total - done)
            text = f"{verb} {done} of {total}, {left:.0f} s left; the last was {printable(said)}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)

    yield tick


@contextlib.contextmanager
def progress(console: Console, total: int, verb: str = "graded") -> Iterator[Callable[[str], None]]:
    """Yields what is called with a word about each submission that is done."""
    if not console.is_terminal:
        with _lines(console, total, verb) as tick:
            yield tick
        return
    columns = (
        TextColumn(verb),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True, disable=total == 0) as bar:
        task = bar.add_task("", total=total)
        yield lambda said: bar.update(task, advance=1, description=printable(said))


@contextlib.contextmanager
def patience(console: Console, said: str) -> Iterator[None]:
    """Says so where something takes long and shows nothing of itself."""
    timer = threading.Timer(
        _EVERY_SECONDS, lambda: console.print(said, markup=False, highlight=False, soft_wrap=True)
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def table(results: Json) -> Table:
    """A line a student, a column a lab: the mark, and its status where there is room for it."""
    labs = [lab["lab"] for lab in results["labs"]]
    wide = len(labs) <= _WITH_STATUS
    board = Table(box=None, pad_edge=False, header_style="bold")
    board.add_column("student")
    for lab in labs:
        board.add_column(lab, justify="right")
        if wide:
            board.add_column("", justify="left")
    if len(labs) > 1:
        board.add_column("total", justify="right")
    for student, rows in by_student(results).items():
        line = [Text(printable(student))]
        for lab in labs:
            line += _cells(rows.get(lab))[: 2 if wide else 1]
        if len(labs) > 1:
            marks = [row["mark"] for row in rows.values()]
            line.append(Text("" if None in marks or not marks else _number(sum(marks))))
        board.add_row(*line)
    return board


def _cells(row: Json | None) -> list[Text]:
    if row is None:
        return [Text(""), Text("")]
    mark = "-" if row["mark"] is None else _number(row["mark"])
    words = row["status"]
    if row.get("grave"):
        words += ", grave"
    if row["late"]["days"]:
        words += f", {row['late']['days']} d late"
    return [Text(mark), Text(words, style=_COLORS.get(row["status"], "red"))]


def marks_table(lines: list[Json], asked: str = "") -> Table:
    """Marks before and after, a line each; `asked` is one more column's name."""
    board = Table(box=None, pad_edge=False, header_style="bold")
    for name in filter(None, ("student", "lab", asked)):
        board.add_column(name)
    for name in ("before", "after", "change"):
        board.add_column(name, justify="right")
    board.add_column("why")
    for one in lines:
        keys = [one[name] for name in filter(None, ("student", "lab", asked))]
        marks = ["-" if one[n] is None else _number(one[n]) for n in ("before", "after")]
        change = "" if one["change"] is None else f"{one['change']:+g}"
        words = [*keys, *marks, change, one["why"]]
        board.add_row(*(Text(printable(word)) for word in words))
    return board


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def summary(results: Json) -> list[str]:
    """What is worth a sentence after the table."""
    rows = results["rows"]
    lines = []
    for lab in results["labs"]:
        marks = [
            row["mark"] for row in rows if row["lab"] == lab["lab"] and row["mark"] is not None
        ]
        if marks:
            middle = sorted(marks)[len(marks) // 2]
            given, everybody = len(handed_in(results, lab["lab"])), len(results["students"])
            said = "" if given == everybody else f"handed in by {given} of {everybody}, "
            lines.append(
                f"{lab['lab']}: {said}{len(marks)} marks, mean {_number(sum(marks) / len(marks))}, "
                f"median {_number(middle)} of {lab['points']}"
            )
    broken = [row for row in rows if row["mark"] is None]
    if broken:
        who = ", ".join(sorted({printable(row["student"]) for row in broken})[:10])
        lines.append(f"{len(broken)} without a mark, through no fault of the student: {who}")
    twice = [row for row in rows if row.get("again")]
    if twice:
        who = ", ".join(sorted({printable(row["student"]) for row in twice})[:10])
        lines.append(f"{len(twice)} graded twice, the second time alone (report.html): {who}")
    lines.append(f"sandbox: {results['sandbox']}")
    return lines
