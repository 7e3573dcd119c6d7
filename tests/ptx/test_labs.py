# SPDX-License-Identifier: MIT
"""The labs as real nvcc compiles them (preset nvcc-vgpu), beside vgpu-cc's: the solutions pass,
every wrong answer of tests/mutants and tests/misconceptions (but for REPAIRED) has the same
verdict, and what a learner reads of it is the same but for a few (ELSEWISE), which are printed:
counts of what a wrong kernel does, for example, are those of each compiler's instructions.

    test_labs.py --build build/vgpu [--every N] [--lab NN ...] [--jobs N]

Without nvcc: skipped. Addresses are not compared, and of a call that spans several lines nvcc may
name another line. nvcc makes other instructions of a kernel, so what is computed from its time
differs a little. nvcc does not check the indices of arrays; an answer that vgpu-cc's check stops is
only compared by its verdict. Variables that are not initialised begin with 0xAA... in what Clang
compiles, and with 0xFE... in what gcc does for nvcc. Which process or stream is noticed first is
chance: what is told differently is tried again, on both sides, until something equal was told, or
TRIES times.
"""

import argparse
import math
import os
import re
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "messages"), str(ROOT)]

from answers import Answer, Told, answers, told  # noqa: E402

from grader.base.exits import LabError  # noqa: E402
from grader.base.proc import capture  # noqa: E402
from grader.building import ctest  # noqa: E402
from grader.building.needs import build_env  # noqa: E402
from grader.course.project import Project, here  # noqa: E402

PRESET = "nvcc-vgpu"
TRIES = 6
LINES = 3  # how far apart two lines of one call may be
NEAR = 0.01  # what numbers with a decimal point may differ by
ELSEWISE = 0.05  # the largest share of answers that are told in other words
# Wrong answers that nvcc makes right, and how.
REPAIRED = {"lab04.shared_reads_twice": "two loads of one element become one"}
CHECKED = "is out of the range of an array"  # says vgpu-cc's -check-indices
# What a variable of 1, 2, 4 or 8 bytes holds that is not initialised (-ftrivial-auto-var-init).
NOT_INITIALISED = {
    str(int.from_bytes(bytes([byte]) * size, "little", signed=signed))
    for byte in (0xAA, 0xFE)
    for size in (1, 2, 4, 8)
    for signed in (False, True)
}
FIELDS = ("verdict", "ending", "grave", "message", "why", "where", "explained", "said", "check")


def nvcc_is_here() -> bool:
    return bool(shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"))


def build_and_pass(project: Project) -> None:
    """All of it, and the solutions' tests. SystemExit: the end of what failed."""
    cores = str(os.cpu_count())
    for words in (
        ["cmake", "--preset", PRESET],
        ["cmake", "--build", "--preset", PRESET, "-j", cores],
        ["ctest", "--preset", f"{PRESET}-checkout", "-j", cores],
    ):
        done = capture(words, cwd=project.root, env=build_env(project))
        if not done.ok:
            sys.exit("\n".join([" ".join(words), *done.output.splitlines()[-60:]]))


def comparable(record: Told, at: Path) -> dict[str, str]:
    """Without addresses, and without the folder `at` of the answers, which is each build's own."""
    texts = {field: str(record.get(field, "")) for field in FIELDS}
    for folder in (f"{at}/", f"{os.path.relpath(at, ROOT)}/"):
        texts = {field: text.replace(folder, "") for field, text in texts.items()}
    texts = {field: re.sub(r"0x[0-9a-f]+", "ADDRESS", text) for field, text in texts.items()}
    return {field: re.sub(r"(?<!\w)-?\d+", masked, text) for field, text in texts.items()}


def masked(number: re.Match[str]) -> str:
    return "NOT INITIALISED" if number[0] in NOT_INITIALISED else number[0]


def is_like(ours: str, theirs: str) -> bool:
    """Equal, but for lines that are a few apart, and times that are near each other."""
    mine, other = (re.split(r"((?<=:)\d+|\d+\.\d+)", text) for text in (ours, theirs))
    return mine[::2] == other[::2] and all(map(is_near, mine[1::2], other[1::2]))


def is_near(one: str, two: str) -> bool:
    if "." in one:
        return math.isclose(float(one), float(two), rel_tol=NEAR)
    return abs(float(one) - float(two)) <= LINES


class Side:
    """The tests of one build, and what they say of a wrong answer."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.tests = {test.name: test for test in ctest.tests(project, "^solution")}

    def told(self, answer: Answer) -> dict[str, str]:
        try:
            at = self.project.build_dir / "verdicts"
            return comparable(told(self.project, answer, self.tests, at), at)
        except LabError as error:
            return {"does not compile": str(error)}


def differences(answer: Answer, sides: tuple[Side, Side]) -> list[str]:
    """The fields that stay different, of the last try."""
    seen: tuple[list[dict[str, str]], list[dict[str, str]]] = ([], [])
    for _ in range(TRIES):
        for side, records in zip(sides, seen, strict=True):
            records.append(side.told(answer))
        for ours in seen[0]:
            for theirs in seen[1]:
                if not different_fields(ours, theirs):
                    return []
    return different_fields(seen[0][-1], seen[1][-1])


def different_fields(ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
    checked = any(CHECKED in text for text in ours.values())
    return [
        f"  {field}\n    vgpu-cc  {ours.get(field)}\n    nvcc     {theirs.get(field)}"
        for field in sorted({"verdict"} if checked else ours.keys() | theirs.keys())
        if not is_like(ours.get(field, ""), theirs.get(field, ""))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--lab", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    if not nvcc_is_here():
        print("there is no nvcc here")
        return 77
    project = here(build=asked.build)
    build_and_pass(project)
    sides = (Side(project), Side(here(PRESET)))
    wanted = [one for one in answers(project) if not asked.lab or one.lab.number in asked.lab]
    wanted = wanted[:: asked.every]
    different = verdicts = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        found: Iterable[list[str]] = pool.map(lambda one: differences(one, sides), wanted)
        for answer, fields in zip(wanted, found, strict=True):
            different += bool(fields)
            verdicts += answer.label not in REPAIRED and any(
                field.startswith("  verdict\n") for field in fields
            )
            if fields:
                print("\n".join([f"{answer.label} ({answer.case})", *fields]), flush=True)
    print(
        f"{len(wanted)} answers: {verdicts} with another verdict, {different} told in other words"
    )
    return 1 if verdicts or different > ELSEWISE * len(wanted) or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
