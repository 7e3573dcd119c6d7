# SPDX-License-Identifier: MIT
"""The sections of a selfcheck, in order, and how long each takes on two quiet cores."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from grader.building import build
from grader.course.project import Lab, Project
from grader.learning.testing import compile_errors
from grader.selfcheck import misconceptions, repeats, sources
from grader.selfcheck.pages import check_pages
from grader.selfcheck.programs import Programs
from grader.selfcheck.report import Section
from grader.selfcheck.rubric import check_rubrics
from grader.selfcheck.shown import check_shown

FULL_SEEDS = range(2, 7)


class Depth(Enum):
    BASIC = "basic"  # the checkout is sound
    CI = "ci"  # and a change may land
    FULL = "full"  # and all that takes long


@dataclass(frozen=True)
class State:
    """State shared by the steps."""

    programs: Programs
    labs: list[Lab]
    depth: Depth

    @property
    def project(self) -> Project:
        return self.programs.project


@dataclass(frozen=True)
class Step:
    title: str
    seconds: float
    run: Callable[[State, Section], None]
    needed: bool = False  # if it fails, later steps are meaningless


def steps(depth: Depth) -> list[Step]:
    """The titles of the steps are unique."""
    if depth is Depth.BASIC:
        return list(BASIC)
    if depth is Depth.CI:
        return [*BASIC, *CI]
    return [*BASIC, *(step for step in CI if step is not SAMPLE), *FULL]


def _build(state: State, section: Section) -> None:
    """Configures if that was never done, and builds everything but the learner's files."""
    build.configure(state.project)
    done = build.build(state.project, seen=section.done)
    errors = "" if done.ok else compile_errors(done.output)
    section.check("build", done.ok and "warning:" not in done.output, errors or done.output)


BASIC = (
    Step(
        "labs/ as committed is what solutions/ generates",
        1,
        lambda state, section: sources.check_generated(state.project, section),
    ),
    Step(
        "every TODO has a README task and three hints",
        1,
        lambda state, section: sources.check_taught(state.project, state.labs, section),
    ),
    Step(
        "mutants fit their solutions",
        1,
        lambda state, section: sources.check_mutants_fit(state.project, state.labs, section),
    ),
    Step("the project and every solution build without a warning", 3, _build, needed=True),
    Step(
        "the points of every lab are its rubric's 100",
        1,
        lambda state, section: check_rubrics(
            state.project, state.programs.tests, state.labs, section
        ),
    ),
    Step(
        "tests of the layers unit and selfcheck",
        60,
        lambda state, section: state.programs.check_layers(section, "unit|selfcheck"),
    ),
    Step(
        "solutions pass, hidden tests too",
        60,
        lambda state, section: state.programs.check_solutions(section, state.labs),
    ),
    Step(
        "skeletons compile cleanly and are 'not written'",
        20,
        lambda state, section: state.programs.check_skeletons(section, state.labs),
    ),
    Step(
        "one mutant for each TODO is rejected",
        60,
        lambda state, section: state.programs.check_some_mutants(section, state.labs),
    ),
)
SAMPLE = Step(
    f"misconceptions are caught and named: one in {misconceptions.EVERY}",
    24,
    lambda state, section: misconceptions.check_sample(state.programs, section, state.labs),
)
CI = (
    Step(
        "all other mutants are rejected",
        90,
        lambda state, section: state.programs.check_other_mutants(section, state.labs),
    ),
    SAMPLE,
    Step(
        "pages show what tests and mistakes print",
        2,
        lambda state, section: check_pages(state.programs, section, state.labs),
    ),
    Step(
        "README.md and docs/testing.md show what happens",
        1,
        lambda state, section: check_shown(
            state.project, state.programs.skeletons, [step.title for step in BASIC], section
        ),
    ),
    Step(
        "tests of the layers ci and docs",
        500,
        lambda state, section: state.programs.check_layers(
            section,
            "ci|docs",
            jobs=state.programs.long_tests_at_once,
            sanitized=state.depth is Depth.FULL,
        ),
    ),
)
FULL = (
    Step(
        "misconceptions are caught and named: all",
        340,
        lambda state, section: misconceptions.check_all_of_them(
            state.programs, section, state.labs
        ),
    ),
    Step(
        f"labs {repeats.NAMES} pass {repeats.TIMES} times, on 2, 3, 4 and 8 GPUs",
        1100,
        lambda state, section: repeats.check_repeats(state.programs, section, 1, repeats.TIMES),
    ),
    *(
        Step(
            f"solutions pass with seed {seed}",
            60,
            lambda state, section, seed=seed: state.programs.check_seed(section, state.labs, seed),
        )
        for seed in FULL_SEEDS
    ),
    Step(
        "tests of the layer full",
        9000,
        lambda state, section: state.programs.check_layers(section, "full", jobs=1),
    ),
)
