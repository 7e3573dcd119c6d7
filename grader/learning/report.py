# SPDX-License-Identifier: MIT
"""What `./lab test` prints: a line a case as the tests end, the first failure, the counts."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.language import say
from grader.base.looks import looks
from grader.base.terminal import columns, fold
from grader.building.ctest import Test
from grader.building.records import COLORS, SIGNS, Record, Verdict, read_record, words
from grader.course import diagnoses, grave

BAD = (Verdict.FAIL, Verdict.HARNESS_ERROR)
_HANG = 41  # where a line's description begins


@dataclass(frozen=True)
class Outcome:
    """One test that ran: its record, and its output."""

    record: Record
    text: str
    seconds: float = 0.0
    kept: bool = False  # of an earlier run: its program is the same

    @property
    def verdict(self) -> Verdict:
        return self.record.verdict


@dataclass
class Live:
    """Shows the tests of a run as they end. On a terminal: a line a case in the order of the lab,
    below it how many have ended. Elsewhere: a dot a case on standard error, so that standard output
    has nothing but the results."""

    root: Path  # of the checkout; paths are shown relative to it
    lines: bool = True  # False: no line a case
    waiting: list[Test] = field(default_factory=list)
    count: int = 0
    shown: int = 0  # dots

    def begin(self, tests: Sequence[Test]) -> None:
        self.waiting, self.count = list(tests), len(tests)

    def step(self, _done: int, _of: int) -> None:
        """ctest's own numbers count what is built and checked beside the cases, too."""
        ended = self.count - sum(not _has_ended(test) for test in self.waiting)
        if not columns():
            self._dots(ended)
            return
        self._clear()
        while self.lines and self.waiting and (record := _record(self.waiting[0])):
            self._print(record)
            self.waiting.pop(0)
        if ended < self.count and not looks().plain:
            print(f"  {say('test.ended', count=ended, of=self.count)}", end="", flush=True)

    def end(self, outcomes: Sequence[Outcome]) -> None:
        """Prints what is left: off a terminal, every line."""
        if columns():
            self._clear()
        elif self.shown:
            print(file=sys.stderr, flush=True)
        if self.lines:
            for outcome in outcomes[len(outcomes) - len(self.waiting) :]:
                self._print(outcome.record)

    def _print(self, record: Record) -> None:
        print(line(record).replace(f"{self.root}/", ""))

    def _dots(self, ended: int) -> None:
        if not looks().plain:
            print("." * (ended - self.shown), end="", file=sys.stderr, flush=True)
            self.shown = ended

    def _clear(self) -> None:
        if not looks().plain:
            print("\r\033[K", end="")


def _has_ended(test: Test) -> bool:
    return bool(test.results and test.results.is_file())


def _record(test: Test) -> Record | None:
    return read_record(test.results) if test.results else None


def tell(
    outcomes: list[Outcome], *, verbose: bool = False, known: Sequence[diagnoses.Page] = ()
) -> str:
    """All of it, for a run of which nothing was shown before."""
    lines = [line(outcome.record) for outcome in outcomes]
    return "\n".join([*lines, rest(outcomes, verbose=verbose, known=known)])


def rest(
    outcomes: list[Outcome],
    *,
    verbose: bool = False,
    known: Sequence[diagnoses.Page] = (),
    told: str = "",
) -> str:
    """The first failure in full (with `verbose` everything), and the counts; no failure where that
    of test `told` was shown already. If a failure names a diagnosis that is `known`, the line after
    it does, too."""
    lines: list[str] = []
    bad = [o for o in outcomes if o.verdict in BAD]
    shown = [] if any(o.record.test == told for o in bad) else bad[:1]
    for outcome in outcomes if verbose else shown:
        lines.append(in_full(outcome, known))
    lines += ["", _counts(outcomes)]
    if kinds := grave.ordered(outcome.record.grave for outcome in bad):
        lines.append(say("test.grave", what=grave.named(kinds), most=f"{grave.CAP:g}"))
    if len(bad) > 1 and not verbose:
        lines.append(say("test.others", count=len(bad) - 1))
    return "\n".join(fold(text) for text in lines)


def in_full(outcome: Outcome, known: Sequence[diagnoses.Page]) -> str:
    """What a test printed, and for a failure the diagnosis that it names."""
    page = _page(known, outcome) if outcome.verdict in BAD else None
    named = [say("test.explained", code=page.code, title=page.title)] if page else []
    return "\n".join(["", outcome.text, *named])


def _page(known: Sequence[diagnoses.Page], outcome: Outcome) -> diagnoses.Page | None:
    """The diagnosis that a failure names, or that of the program's ending."""
    ended = [page for page in known if page.code == outcome.record.ending]
    return diagnoses.named_in(known, outcome.text) or (ended[0] if ended else None)


def _counts(outcomes: list[Outcome]) -> str:
    counts = [
        say(f"count.{verdict.value.replace(' ', '-')}", count=count)
        for verdict in (
            Verdict.PASS,
            Verdict.FAIL,
            Verdict.NOT_WRITTEN,
            Verdict.CANNOT_RUN,
            Verdict.HARNESS_ERROR,
        )
        if (count := sum(outcome.verdict is verdict for outcome in outcomes))
    ]
    points = sum(outcome.record.points for outcome in outcomes if outcome.verdict is Verdict.PASS)
    possible = sum(outcome.record.points for outcome in outcomes)
    return say("test.counts", counts=", ".join(counts), points=points, possible=possible)


def line(record: Record) -> str:
    """One case: its verdict, name and task, and what it is about or what is missing."""
    verdict = record.verdict
    what = {
        Verdict.NOT_WRITTEN: say("test.not-written", where=record.where or record.message),
        Verdict.CANNOT_RUN: say("test.cannot-run", why=record.message),
    }.get(verdict, record.title)
    todo = f"TODO({record.todo})" if record.todo else say("whole-lab")
    if looks().plain:
        return f"{words(verdict)}: {record.test}, {todo}: {what}"
    sign = looks().paint(SIGNS[verdict], COLORS[verdict])
    return fold(f"{sign} {record.test:<28}{todo:<11}{what}", hang=_HANG)
