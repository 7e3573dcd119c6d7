# SPDX-License-Identifier: MIT
"""`./lab selfcheck`: proves a checkout.

It reads the learner's folder only through git, builds skeletons and mutants in the build folder,
and so neither touches nor judges what a learner wrote.
"""

from grader import build, ctest
from grader.exits import ExitStatus
from grader.machine import cores
from grader.project import Project
from grader.selfcheck import sources
from grader.selfcheck.misconceptions import check_misconceptions
from grader.selfcheck.pages import check_pages
from grader.selfcheck.programs import Programs
from grader.selfcheck.repeats import ALTOGETHER, NORMALLY, check_repeats
from grader.selfcheck.report import Report
from grader.selfcheck.rubric import check_rubrics
from grader.selfcheck.shown import check_shown
from grader.testing import compile_errors

FULL_SEEDS = range(2, 7)


def selfcheck(project: Project, *, full: bool = False, jobs: int = 0) -> ExitStatus:
    report = Report()
    labs = project.labs()
    sources.check_generated(project, report)
    sources.check_taught(project, labs, report)
    sources.check_mutants_fit(project, labs, report)
    if _builds(project, report):
        programs = Programs(project, report, ctest.tests(project), jobs or cores())
        check_rubrics(project, programs.tests, labs, report)
        programs.check_units()
        programs.check_solutions(labs)
        programs.check_skeletons(labs)
        programs.check_mutants(labs)
        check_misconceptions(programs, labs, full=full)
        check_repeats(programs, 1, NORMALLY)
        check_pages(programs, labs)
        check_shown(project, programs.skeletons, report)
        if full:
            check_repeats(programs, 1 + NORMALLY, ALTOGETHER - NORMALLY)
            programs.check_seeds(labs, FULL_SEEDS)
            programs.check_full()
    print()
    print(report.closing_line())
    return ExitStatus.OK if report.ok else ExitStatus.FAILED


def _builds(project: Project, report: Report) -> bool:
    """Configures where that was never done, and builds everything but the learner's files."""
    with report.section("the project and every solution build without a warning") as section:
        build.configure(project)
        done = build.build(project, quiet=True)
        errors = "" if done.ok else compile_errors(done.output)
        section.check("build", done.ok and "warning:" not in done.output, errors or done.output)
    return done.ok
