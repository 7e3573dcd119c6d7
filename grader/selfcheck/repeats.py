# SPDX-License-Identifier: MIT
"""Repeats labs of several processes on several numbers of GPUs.

Errors between processes are intermittent, so one run is not enough; and 8 ranks on few processors
are scheduled in many different orders.
"""

from functools import partial

from grader.base.proc import capture
from grader.building.ctest import Test
from grader.building.needs import build_env
from grader.selfcheck.programs import Found, Programs
from grader.selfcheck.report import Section

LABS = ("05", "06")
NAMES = ", ".join(LABS)
NODES = ("textbook-a100-2", "tests/harness/h200-3.json", "hgx-h200-4", "dgx-a100")  # 2, 3, 4, 8
TIMES = 200
SECONDS = 120.0  # one run of all cases takes about one


def check_repeats(programs: Programs, section: Section, first: int, count: int) -> None:
    """Runs all cases of these labs `count` times, with other inputs and another node each time."""
    whole = _verifiers(programs)
    section.check("there are cases to repeat", len(whole) > 0, "no such test")
    numbers = range(first, first + count)
    programs.check_all(section, [partial(_once, programs, v, n) for n in numbers for v in whole])


def _verifiers(programs: Programs) -> list[tuple[str, ...]]:
    """The commands that run all cases of a lab: public ones, and hidden ones."""
    tests = [test for test in programs.tests if test.name[:10] in {f"solution{n}" for n in LABS}]
    return sorted({_all_cases(test) for test in tests})


def _all_cases(test: Test) -> tuple[str, ...]:
    words = list(test.command)
    for option in ("--case", "--results", "--as"):
        at = words.index(option)
        del words[at : at + 2]
    return tuple(words)


def _once(programs: Programs, verifier: tuple[str, ...], number: int) -> list[Found]:
    node = NODES[number % len(NODES)]
    place = str(programs.project.root / node) if "/" in node else node
    words = [*verifier, "--seed", str(number), "--node", place, "--color", "never"]
    done = capture(words, env=build_env(programs.project), timeout=SECONDS)
    name = f"{verifier[0].rsplit('/', 1)[-1]} --seed {number} --node {node}"
    return [(name, done.ok, done.output)]
