# SPDX-License-Identifier: MIT
"""`./lab test`: rebuilds what was edited, runs the learner's tests, prints the results."""

import re
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.looks import looks
from grader.base.proc import capture
from grader.base.terminal import columns, fold
from grader.building import build, ctest
from grader.building.needs import build_env
from grader.building.records import Record, Verdict, read_record
from grader.course import diagnoses
from grader.course.project import Lab, Project
from grader.course.sync import read_manifest
from grader.learning import scoreboard, standing
from grader.learning.kept import Kept
from grader.learning.report import Live, Outcome, rest

_MOST_SECONDS = 600.0  # of one test alone
LEARNER = r"^lab[0-9][0-9]\."  # ctest's patterns have no \d


def chosen(project: Project, what: str) -> tuple[list[Lab], str]:
    """The labs and the pattern of tests that "", "03", "lab03", "03.split", "03.sp", "lab03.split"
    select."""
    if not what:
        return started(project), LEARNER
    name, _, case = what.partition(".")
    lab = project.lab(name)
    pattern = f"^{lab.name}\\.{re.escape(case)}"
    return [lab], pattern


def matching(project: Project, pattern: str) -> list[ctest.Test]:
    """The tests that a pattern of `chosen` selects: the one of that very name, if there is one,
    else all whose names begin so. LabError: none."""
    found = [test for test in ctest.tests(project, pattern) if re.search(pattern, test.name)]
    if not found:
        raise LabError(no_match(project, pattern), ExitStatus.NO_MATCH)
    return [test for test in found if test.name == _asked(pattern)] or found


def _asked(pattern: str) -> str:
    return pattern.strip("^").replace("\\", "")


def started(project: Project) -> list[Lab]:
    """The labs of which the learner has a folder."""
    return [lab for lab in project.labs() if (project.labs_dir / lab.folder).is_dir()]


def run_tests(
    project: Project,
    pattern: str,
    *,
    jobs: int = 0,
    ended: ctest.Ended | None = None,
    live: Live | None = None,
    built: bool = False,
    kept: Kept | None = None,
) -> list[Outcome]:
    """Runs the matching tests, but for those that `kept` has; `live` shows them as they end. Their
    build tests run first, unless the caller has `built` all that they need."""
    wanted = matching(project, pattern)
    same = kept.same(wanted) if kept else {}
    left = [test for test in wanted if test.name not in same]
    keys = {test.name: kept.key(test) for test in left} if kept else {}
    for test in left:
        if test.results:
            test.results.unlink(missing_ok=True)
    if live:
        live.begin(left)
        ended = live.step
    some = pattern if len(left) > 1 and not same else ctest.exactly([test.name for test in left])
    finished = ctest.run(project, some, jobs=jobs, ended=ended, built=built) if left else {}
    outcomes = {test.name: _outcome(test, finished.get(test.name)) for test in left}
    if live:
        live.end(list(outcomes.values()))
    for test in left if kept else []:
        if outcomes[test.name].verdict is Verdict.PASS:
            kept.put(test, keys[test.name], outcomes[test.name])
    return [{**same, **outcomes}[test.name] for test in wanted]


def no_match(project: Project, pattern: str) -> str:
    names = sorted({test.name for test in ctest.tests(project) if re.search(LEARNER, test.name)})
    asked = _asked(pattern)
    near = [name for name in names if name.startswith(asked.split(".")[0])] or names
    shown = ", ".join(near[:12]) + (", ..." if len(near) > 12 else "")
    return say("test.no-match", asked=asked, shown=shown or "-")


def rebuild(project: Project, labs: list[Lab]) -> str:
    """Builds what the tests of these labs need; a file that does not compile ends the command.
    Returns the compilers' warnings, if any."""
    for lab in labs:
        _nothing_deleted(project, lab)
        standing.touch_put_back(project, lab)
    known = {test.name.split(".")[0] for test in ctest.tests(project)}
    if not known.issuperset(lab.name for lab in labs):
        build.configure(project, again=True)  # the lab is newer than the build tree
    moving = columns() > 0 and not looks().plain
    seen = _tell_building if moving else None
    done = build.build(project, [lab.name for lab in labs], quiet=True, seen=seen)
    if moving:
        print("\r\033[K", end="", flush=True)
    said = compile_errors(done.output.replace(f"{project.root}/", ""))
    if not done.ok:
        raise LabError(f"{said}\n{_whose(said)}", ExitStatus.BUILD_FAILED)
    return said if "warning:" in said else ""


def _tell_building(done: int, of: int) -> None:
    """In one line, which is overwritten: before the first test there is nothing else to see."""
    print(f"\r\033[K  {say('test.building', part=f'{done / of:4.0%}')}", end="", flush=True)


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


def failing_first(project: Project, what: str, kept: Kept) -> Outcome | None:
    """Builds and runs only the first of these tests that failed when they ran last, so that its
    verdict is there before the other runners are linked; `kept` gets it, so that `command` does not
    run it again. None: none has failed, or its runner cannot be built alone; `command` then says
    all there is to say."""
    labs, pattern = chosen(project, what)
    known = standing.load(project).tests
    failed = [
        test
        for test in matching(project, pattern)
        if (record := known.get(test.name)) and record.verdict is Verdict.FAIL
    ]
    if not failed or not build.uses_ninja(project):
        return None
    test = failed[0]
    runner = Path(f"{test.option('--runner')}-{known[test.name].todo}")
    if not test.results or not runner.is_relative_to(project.build_dir):
        return None
    test.results.unlink(missing_ok=True)
    for lab in labs:
        standing.touch_put_back(project, lab)
    target = str(runner.relative_to(project.build_dir))
    if not build.build(project, [target], quiet=True).ok:
        return None
    begun, key = time.monotonic(), kept.key(test)
    done = capture(test.command, env=build_env(project), timeout=_MOST_SECONDS)
    finished = ctest.Finished(test.name, done.ok, False, done.output.strip())
    outcome = replace(_outcome(test, finished), seconds=time.monotonic() - begun)
    kept.put(test, key, outcome)
    return outcome


def command(
    project: Project,
    what: str,
    *,
    verbose: bool = False,
    then: bool = True,
    told: str = "",
    kept: Kept | None = None,
) -> ExitStatus:
    """The whole of `./lab test`: builds, runs but for what is `kept`, reports, and says what comes
    after labs that are passed (unless not `then`). The failure of test `told` was shown already."""
    build.require_configured(project)
    labs, pattern = chosen(project, what)
    warnings = rebuild(project, labs)
    if warnings:
        print(warnings, "\n")
    outcomes = run_tests(project, pattern, live=Live(project.root), built=True, kept=kept)
    if count := sum(outcome.kept for outcome in outcomes):
        print(fold(say("watch.kept", count=count)))
    standing.remember(project, (outcome.record for outcome in outcomes))
    known = diagnoses.pages(project)
    print(rest(outcomes, verbose=verbose, known=known, told=told).replace(f"{project.root}/", ""))
    status = status_of(outcomes)
    if then and "." not in what and status in (ExitStatus.OK, ExitStatus.CANNOT_RUN):
        print(fold(f"\n{_after(project, labs)}"))
    return status


def _after(project: Project, labs: list[Lab]) -> str:
    """What comes after labs of which no test is left to pass."""
    done = say("test.lab-passed", labs=", ".join(lab.number for lab in labs))
    lines = scoreboard.scores(project, ctest.tests(project))
    return f"{done}\n{scoreboard.next_step(project, lines)}"
