# SPDX-License-Identifier: MIT
"""`./lab selfcheck`: checks a whole checkout.

It reads the learner's folder only through git, builds skeletons and mutants in the build folder,
and so neither touches nor judges a learner's work.
"""

import time

from grader.base.exits import ExitStatus
from grader.building.build import cold_seconds
from grader.building.machine import cores
from grader.course.project import Project
from grader.selfcheck.plan import BASIC, Depth, State, steps
from grader.selfcheck.programs import Programs
from grader.selfcheck.report import Report

AT_MOST = 300.0  # seconds, on two otherwise idle cores
AT_MOST_OF_START = 5.0  # which builds half of what this needs


def selfcheck(project: Project, depth: Depth = Depth.BASIC, *, jobs: int = 0) -> ExitStatus:
    began = time.monotonic()
    planned = steps(depth)
    report = Report()
    report.progress.plan = {step.title: step.seconds for step in planned}
    state = State(Programs(project, report, jobs or cores()), project.labs(), depth)
    for step in planned:
        with report.section(step.title) as section:
            step.run(state, section)
        if step.needed and section.failed:
            break
        if step is BASIC[-1]:
            print(times(time.monotonic() - began, cold_seconds(project)), flush=True)
    print()
    print(report.closing_line())
    return ExitStatus.OK if report.ok else ExitStatus.FAILED


def times(own: float, start: float) -> str:
    """Its time, beside that of the first ./lab start of this checkout, if that was measured."""
    text = f"took {own:.0f} s"
    if not start:
        return f"{text}; no ./lab start has built this checkout"
    text += f", {own / start:.1f} times the {start:.0f} s of the first ./lab start"
    if own > min(AT_MOST, AT_MOST_OF_START * start):
        text += f"; expected at most {AT_MOST:.0f} s, and {AT_MOST_OF_START} times"
    return text
