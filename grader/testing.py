# SPDX-License-Identifier: MIT
"""`./lab test`: rebuilds what was edited, runs the learner's tests, tells how they went."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from grader import build, ctest
from grader.exits import ExitStatus, LabError
from grader.project import Lab, Project
from grader.records import SIGNS, Record, Verdict, read_record
from grader.sync import read_manifest

LEARNER = r"^lab[0-9][0-9]\."  # ctest knows no \d


@dataclass(frozen=True)
class Outcome:
    """One test that ran: its record, and what it printed."""

    record: Record
    text: str

    @property
    def verdict(self) -> Verdict:
        return self.record.verdict


def chosen(project: Project, what: str) -> tuple[list[Lab], str]:
    """The labs and the pattern of tests meant by "", "03", "lab03", "03.split", "lab03.split"."""
    if not what:
        return started(project), LEARNER
    name, dot, case = what.partition(".")
    lab = project.lab(name)
    pattern = f"^{lab.name}\\.{re.escape(case)}$" if dot else f"^{lab.name}\\."
    return [lab], pattern


def started(project: Project) -> list[Lab]:
    """The labs that the learner has a folder of."""
    return [lab for lab in project.labs() if (project.labs_dir / lab.folder).is_dir()]


def run_tests(project: Project, pattern: str) -> list[Outcome]:
    """Runs the matching tests of a tree that is up to date."""
    found = ctest.tests(project, pattern)
    wanted = [test for test in found if re.search(pattern, test.name)]
    if not wanted:
        raise LabError(no_match(project, pattern), ExitStatus.NO_MATCH)
    for test in wanted:
        if test.results:
            test.results.unlink(missing_ok=True)
    finished = ctest.run(project, pattern)
    return [_outcome(test, finished.get(test.name)) for test in wanted]


def no_match(project: Project, pattern: str) -> str:
    names = sorted({test.name for test in ctest.tests(project) if re.search(LEARNER, test.name)})
    asked = pattern.strip("^$").replace("\\", "")
    near = [name for name in names if name.startswith(asked.split(".")[0])] or names
    shown = ", ".join(near[:12]) + (", ..." if len(near) > 12 else "")
    return f"There is no test {asked}. There are: {shown or 'none'}."


def rebuild(project: Project, labs: list[Lab]) -> str:
    """Builds what the tests of these labs need; a file that does not compile ends the command.
    Returns the compilers' warnings, if any."""
    for lab in labs:
        _nothing_deleted(project, lab)
    known = {test.name.split(".")[0] for test in ctest.tests(project)}
    if not known.issuperset(lab.name for lab in labs):
        build.configure(project, again=True)  # the lab came after the build tree
    done = build.build(project, [lab.name for lab in labs], quiet=True)
    said = compile_errors(done.output.replace(f"{project.root}/", ""))
    if not done.ok:
        raise LabError(f"{said}\n{_whose(said)}", ExitStatus.BUILD_FAILED)
    return said if "warning:" in said else ""


def _whose(said: str) -> str:
    if mine := re.search(r"\b(labs/\d\d-[\w./-]+)(:\d+|: it does not define)", said):
        return f"{mine.group(1)} does not compile yet: see the first error above."
    return "The build failed, and not because of your files. ./lab selfcheck shows the whole of it."


def _nothing_deleted(project: Project, lab: Lab) -> None:
    for path in read_manifest(project):
        if path.startswith(f"{lab.folder}/") and not (project.labs_dir / path).is_file():
            raise LabError(
                f"labs/{path} is gone. ./lab reset {lab.number} puts it back as it came; your "
                "other files are kept.",
                ExitStatus.BUILD_FAILED,
            )


def compile_errors(output: str) -> str:
    """What the compilers said, without the build's own lines (commands, progress)."""
    noise = re.compile(
        r"\[\d+/\d+\]|\[ *\d+%\]|FAILED: |ninja: |g?make(\[\d+\])?: |/\S+ .* -c |cd \S+ && "
    )
    lines = [line for line in output.splitlines() if not noise.match(line)]
    return "\n".join(lines).strip() or output.strip()


def status_of(outcomes: Iterable[Outcome]) -> ExitStatus:
    """How `./lab test` ends: the worst verdict counts."""
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
    """A test without a record was ended before it could write one: ours, not the student's."""
    record = read_record(test.results) if test.results else None
    text = finished.text if finished else "ctest did not run it"
    if record is None:
        case = test.name.split(".", 1)[1]
        message = "the test left no result"
        record = Record(test.name, case, 0, verdict=Verdict.HARNESS_ERROR, message=message)
    return Outcome(record, text)


def command(project: Project, what: str, *, verbose: bool = False) -> ExitStatus:
    """The whole of `./lab test`: build, run, tell."""
    build.require_configured(project)
    labs, pattern = chosen(project, what)
    warnings = rebuild(project, labs)
    if warnings:
        print(warnings, "\n")
    outcomes = run_tests(project, pattern)
    print(tell(outcomes, verbose=verbose).replace(f"{project.root}/", ""))
    return status_of(outcomes)


def tell(outcomes: list[Outcome], *, verbose: bool = False) -> str:
    """One line a test, the first failure in full (with `verbose` everything), and the counts."""
    lines = [_line(outcome) for outcome in outcomes]
    bad = [o for o in outcomes if o.verdict in (Verdict.FAIL, Verdict.HARNESS_ERROR)]
    for outcome in outcomes if verbose else bad[:1]:
        lines += ["", outcome.text]
    lines += ["", _counts(outcomes)]
    if len(bad) > 1 and not verbose:
        lines.append(f"The first failure is shown; -v shows the other {len(bad) - 1}, too.")
    return "\n".join(lines)


def _counts(outcomes: list[Outcome]) -> str:
    counts = [
        f"{sum(outcome.verdict is verdict for outcome in outcomes)} {words}"
        for verdict, words in (
            (Verdict.PASS, "passed"),
            (Verdict.FAIL, "failed"),
            (Verdict.NOT_WRITTEN, "not written yet"),
            (Verdict.CANNOT_RUN, "cannot run here"),
            (Verdict.HARNESS_ERROR, "harness errors"),
        )
        if any(outcome.verdict is verdict for outcome in outcomes)
    ]
    points = sum(outcome.record.points for outcome in outcomes if outcome.verdict is Verdict.PASS)
    possible = sum(outcome.record.points for outcome in outcomes)
    return f"{', '.join(counts)}: {points} of {possible} points"


def _line(outcome: Outcome) -> str:
    record = outcome.record
    what = {
        Verdict.NOT_WRITTEN: f"not written yet: {record.where or record.message}",
        Verdict.CANNOT_RUN: f"cannot run here: {record.message}",
    }.get(outcome.verdict, record.title)
    todo = f"TODO({record.todo})" if record.todo else "whole lab"
    return f"{SIGNS[outcome.verdict][0]} {record.test:<28}{todo:<11}{what}"
