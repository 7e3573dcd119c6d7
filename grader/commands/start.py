# SPDX-License-Identifier: MIT
"""`./lab start`: from a bare machine to the scoreboard. Keeps what is installed already."""

import time

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.terminal import fold
from grader.building import build, ctest, install, needs
from grader.building.machine import look
from grader.course.project import Project
from grader.learning import standing
from grader.learning.report import Live
from grader.learning.scoreboard import next_step, render, scores
from grader.learning.testing import LEARNER, rebuild, run_tests, started

BEGAN = time.monotonic()  # of the command


def set_up(
    project: Project,
    *,
    may_install: bool = True,
    grader: bool = False,
    lti: bool = False,
    cccl: bool = False,
) -> None:
    """Everything that the build needs is installed on return; LabError names what is missing."""
    machine = look()
    _say("machine", str(machine))
    if machine.system != "Linux":
        raise LabError(say("start.needs-linux", system=machine.system), ExitStatus.MISSING)
    if not machine.glibc:
        raise LabError(say("start.needs-glibc", system=machine.distribution), ExitStatus.MISSING)
    if machine.page_bytes != 4096:
        raise LabError(say("start.needs-pages", bytes=machine.page_bytes), ExitStatus.MISSING)
    lacking = needs.missing(project)
    if lacking and may_install:
        _say("missing", ", ".join(need.name for need in lacking))
        install.install(project, machine, lacking, _say_install)
    elif lacking:
        raise LabError(install.advice(lacking, machine), ExitStatus.MISSING)
    _say("tools", ", ".join(need.found(project) for need in needs.needs()))
    if may_install and (lacking or grader or lti or cccl):
        install.pip(machine, _say_install)
    if may_install:
        install.rich(project, _say_install)
    if grader and may_install:
        install.grader(project, _say_install)
        install.bubblewrap(machine, _say_install)
    if lti and may_install:
        install.lti(project, _say_install)
    if cccl and may_install:
        install.cccl(project, _say_install)


def first_run(project: Project) -> ExitStatus:
    """Configures, builds, runs the learner's labs, and shows the board."""
    cold = build.is_cold(project)
    if cold:
        _say("configuring", str(build.shown_folder(project)))
    build.configure(project)
    _say("building", say("start.building"))
    # Not the learner's files; a test of the project builds the rest (harness/cmake/course.cmake).
    if not build.build(project, ["course"]).ok:
        raise LabError(say("start.no-build"), ExitStatus.BUILD_FAILED)
    _say("compiling", say("start.compiling"))
    try:
        rebuild(project, started(project))
    except LabError as error:
        print(error)  # the scoreboard is shown nevertheless
    _say("running", say("start.running"))
    run_tests(project, LEARNER, live=Live(project.root, lines=False))
    if cold:
        build.note_cold_seconds(project, time.monotonic() - BEGAN)
    return status(project)


def status(project: Project) -> ExitStatus:
    """The scoreboard as of the last run, and what to do next."""
    standing.current(project)  # results of plain ctest runs are stored, too
    lines = scores(project, ctest.tests(project))
    print(fold(f"\n{render(lines)}\n\n{next_step(project, lines)}"))
    return ExitStatus.OK


def _say(what: str, text: str) -> None:
    print(f"{what:<12}{text}", flush=True)


def _say_install(text: str) -> None:
    _say("installing", text)
