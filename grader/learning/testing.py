# SPDX-License-Identifier: MIT
"""`./lab test`: rebuilds what was edited, runs the learner's tests, prints the results."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.looks import looks
from grader.building import build, ctest
from grader.building.records import COLORS, SIGNS, Record, Verdict, read_record, words
from grader.course import diagnoses
from grader.course.project import Lab, Project
from grader.course.sync import read_manifest
from grader.learning import standing

LEARNER = r"^lab[0-9][0-9]\."  # ctest's patterns have no \d


@dataclass(frozen=True)
class Outcome:
    """One test that ran: its record, and its output."""

    record: Record
    text: str
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        return self.record.verdict


def chosen(project: Project, what: str) -> tuple[list[Lab], str]:
    """The labs and the pattern of tests that "", "03", "lab03", "03.split", "lab03.split"
    select."""
    if not what:
        return started(project), LEARNER
    name, dot, case = what.partition(".")
    lab = project.lab(name)
    pattern = f"^{lab.name}\\.{re.escape(case)}$" if dot else f"^{lab.name}\\."
    return [lab], pattern


def started(project: Project) -> list[Lab]:
    """The labs of which the learner has a folder."""
    return [lab for lab in project.labs() if (project.labs_dir / lab.folder).is_dir()]


def run_tests(
    project: Project, pattern: str, *, jobs: int = 0, ended: ctest.Ended | None = None
) -> list[Outcome]:
    """Runs the matching tests of a tree that is up to date."""
    found = ctest.tests(project, pattern)
    wanted = [test for test in found if re.search(pattern, test.name)]
    if not wanted:
        raise LabError(no_match(project, pattern), ExitStatus.NO_MATCH)
    for test in wanted:
        if test.results:
            test.results.unlink(missing_ok=True)
    finished = ctest.run(project, pattern, jobs=jobs, ended=ended)
    return [_outcome(test, finished.get(test.name)) for test in wanted]


def no_match(project: Project, pattern: str) -> str:
    names = sorted({test.name for test in ctest.tests(project) if re.search(LEARNER, test.name)})
    asked = pattern.strip("^$").replace("\\", "")
    near = [name for name in names if name.startswith(asked.split(".")[0])] or names
    shown = ", ".join(near[:12]) + (", ..." if len(near) > 12 else "")
    return say("test.no-match", asked=asked, shown=shown or "-")


def rebuild(project: Project, labs: list[Lab]) -> str:
    """Builds what the tests of these labs need; a file that does not compile ends the command.
    Returns the compilers' warnings, if any."""
    for lab in labs:
        _nothing_deleted(project, lab)
    known = {test.name.split(".")[0] for test in ctest.tests(project)}
    if not known.issuperset(lab.name for lab in labs):
        build.configure(project, again=True)  # the lab is newer than the build tree
    done = build.build(project, [lab.name for lab in labs], quiet=True)
    said = compile_errors(done.output.replace(f"{project.root}/", ""))
    if not done.ok:
        raise LabError(f"{said}\n{_whose(said)}", ExitStatus.BUILD_FAILED)
    return said if "warning:" in said else ""


def _whose(said: str) -> str:
    if mine := re.search(r"\b(labs/\d\d-[\w./-]+)(:\d+|: it does not define)", said):
        return say("test.does-not-compile", file=mine.group(1))
    return say("test.build-failed")


def _nothing_deleted(project: Project, lab: Lab) -> None:
    for path in read_manifest(project):
        if path.startswith(f"{lab.folder}/") and not (project.labs_dir / path).is_file():
            raise LabError(
                say("test.file-gone", path=f"labs/{path}", lab=lab.number), ExitStatus.BUILD_FAILED
            )


def compile_errors(output: str) -> str:
    """The compilers' messages, without the build's own lines (commands, progress)."""
    noise = re.compile(
        r"\[\d+/\d+\]|\[ *\d+%\]|FAILED: |ninja: |g?make(\[\d+\])?: |/\S+ .* -c |cd \S+ && "
    )
    lines = [line for line in output.splitlines() if not noise.match(line)]
    return "\n".join(lines).strip() or output.strip()


def status_of(outcomes: Iterable[Outcome]) -> ExitStatus:
    """The exit status of `./lab test`: the worst verdict counts."""
    found = {outcome.verdict for outcome in outcomes}
    for verdict, status in (
        (Verdict.HARNESS_ERROR, ExitStatus.HARNESS_ERROR),
        (Verdict.UNKNOWN, ExitStatus.HARNESS_ERROR),
        (Verdict.FAIL, ExitStatus.FAILED),
        (Verdict.NOT_WRITTEN, ExitStatus.NOT_WRITTEN),
        (Verdict.PASS, ExitStatus.OK),
    ):
        if verdict in found:
            return status
    return ExitStatus.CANNOT_RUN


def _outcome(test: ctest.Test, finished: ctest.Finished | None) -> Outcome:
    """A test without a record was ended before it could write one: a harness error."""
    record = read_record(test.results) if test.results else None
    text = finished.text if finished else "ctest did not run it"
    if record is None:
        case = test.name.split(".", 1)[1]
        message = "the test left no result"
        record = Record(test.name, case, 0, verdict=Verdict.HARNESS_ERROR, message=message)
    return Outcome(record, text, finished.seconds if finished else 0.0)


def command(project: Project, what: str, *, verbose: bool = False) -> ExitStatus:
    """The whole of `./lab test`: builds, runs, reports."""
    build.require_configured(project)
    labs, pattern = chosen(project, what)
    warnings = rebuild(project, labs)
    if warnings:
        print(warnings, "\n")
    outcomes = run_tests(project, pattern)
    standing.remember(project, (outcome.record for outcome in outcomes))
    known = diagnoses.pages(project)
    print(tell(outcomes, verbose=verbose, known=known).replace(f"{project.root}/", ""))
    return status_of(outcomes)


def tell(
    outcomes: list[Outcome], *, verbose: bool = False, known: Sequence[diagnoses.Page] = ()
) -> str:
    """One line per test, the first failure in full (with `verbose` everything), and the counts. If
    a failure names a diagnosis that is `known`, the line after it does, too."""
    lines = [_line(outcome) for outcome in outcomes]
    bad = [o for o in outcomes if o.verdict in (Verdict.FAIL, Verdict.HARNESS_ERROR)]
    for outcome in outcomes if verbose else bad[:1]:
        lines += ["", outcome.text]
        page = _page(known, outcome) if outcome in bad else None
        if page:
            lines.append(say("test.explained", code=page.code, title=page.title))
    lines += ["", _counts(outcomes)]
    if len(bad) > 1 and not verbose:
        lines.append(say("test.others", count=len(bad) - 1))
    return "\n".join(lines)


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


def _line(outcome: Outcome) -> str:
    record, verdict = outcome.record, outcome.verdict
    what = {
        Verdict.NOT_WRITTEN: say("test.not-written", where=record.where or record.message),
        Verdict.CANNOT_RUN: say("test.cannot-run", why=record.message),
    }.get(verdict, record.title)
    todo = f"TODO({record.todo})" if record.todo else say("whole-lab")
    if looks().plain:
        return f"{words(verdict)}: {record.test}, {todo}: {what}"
    return f"{looks().paint(SIGNS[verdict], COLORS[verdict])} {record.test:<28}{todo:<11}{what}"
