# SPDX-License-Identifier: MIT
"""Mutation testing of the labs: every small mistake in what learners write must be seen by a test.

    python3 tests/mutation/run.py [--lab NN ...] [--sample N] [--operator NAME] [--jobs N]
                                  [--part K/N] [--seconds N --resume] [--write]

Makes the mutants (operators.py), builds each in place of the solution's file, and runs the tests
that a learner's mistake there can fail until one does: the public ones of its TODO, those of all
functions together, the hidden ones; of each kind those first that take the solution least time. A
mutant whose machine code is the solution's is the solution.

lists/labNN.json names those known to survive, each with the reason why it is equivalent. Any other
that survives is printed, and the exit status is 1, as it is for one that the list names and a test
sees, and for one on which a test finds no end ("broken": that is the harness's mistake). One on
which the virtual node fails is tried twice, and fails if the node fails again, as ./lab grade has
it. Labs without a list have not been looked through, and run only when --lab names them. A key that
no mutant has is an error, too.

Fates are kept in the build folder. With --resume those that a test saw or that the list names are
not tried again, and --seconds starts no more after so long: status 3 says that mutants are left.
--part 2/3 tries every third mutant, beginning with the second: three machines share a lab, and the
fates of all, brought together in the file of --resume, are the lab's.
That the solution passes with the limits of time that mutants have is looked at first, but for
--sample and --resume.

--write puts whole labs' figures into lists/report.json and the table of docs/misconceptions.md.
"""

import argparse
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from operators import Made, mutants  # noqa: E402

from grader.base.exits import LabError  # noqa: E402
from grader.base.proc import Done, capture  # noqa: E402
from grader.building import ctest  # noqa: E402
from grader.building.ctest import Test  # noqa: E402
from grader.building.needs import build_env  # noqa: E402
from grader.building.records import Verdict  # noqa: E402
from grader.building.variants import Variant  # noqa: E402
from grader.course.mutants import student_files  # noqa: E402
from grader.course.project import Lab, Project, here  # noqa: E402
from grader.grade.work import NODE  # noqa: E402

# What no compiler should let pass, and C's does.
_NONSENSE = ("-Wint-conversion", "-Wincompatible-pointer-types", "-Wimplicit-function")
TEST_SECONDS = 240.0  # of one test; a verifier ends a program before, unless it is kept from it
LIMITS = {"LAB_CPU_SECONDS": "8", "LAB_WALL_SECONDS": "16", "LAB_IDLE_SECONDS": "8"}
STATES = ("no program", "same code", "public", "hidden", "survived", "broken")
REPORT = HERE / "lists" / "report.json"
PAGE = HERE.parents[1] / "docs" / "misconceptions.md"


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: one of STATES, and the test that saw it."""

    made: Made
    state: str
    test: str = ""
    said: str = ""
    seconds: float = 0.0
    own: bool = False  # a test of the TODO that it is in


@dataclass(frozen=True)
class Bench:
    """What all mutants of a lab share."""

    project: Project
    lab: Lab
    file: Path
    tests: list[Test]
    todos: dict[str, int]  # of the tests
    took: dict[str, float]  # their seconds on the solution
    codes: dict[str, str]  # of the solution's object, as each worker builds it

    @property
    def scratch(self) -> Path:
        return self.project.build_dir / "mutation" / self.lab.folder

    @property
    def conf(self) -> Path:
        return self.scratch / "lab.conf"


def bench(project: Project, lab: Lab, jobs: int) -> Bench:
    """What a lab's mutants need: how long its tests took last is what ctest noted."""
    (file,) = student_files(project.solutions_dir / lab.folder)
    prefix = f"solution{lab.number}."
    found = ctest.tests(project, f"^{prefix[:-1]}")
    tests = [test for test in found if test.name.startswith(prefix)]
    shared = Bench(project, lab, file, tests, {}, {}, {})
    shutil.rmtree(shared.scratch, ignore_errors=True)
    shared.scratch.mkdir(parents=True)
    whole = (project.build_dir / "labs" / lab.folder / "lab.conf").read_text(encoding="utf-8")
    shared.conf.write_text(whole.replace("\n-g\n", "\n").replace("\n-g\n", "\n"), encoding="utf-8")
    for worker in range(jobs):
        shared.codes[str(worker)] = _solution_code(shared, str(worker))
    took = seconds_of_tests(project)
    for test in tests:
        shared.todos[test.name] = next(
            int(label[4:]) for label in test.labels if re.fullmatch(r"todo\d+", label)
        )
        shared.took[test.name] = took.get(test.name, 0.0)
    return shared


def seconds_of_tests(project: Project) -> dict[str, float]:
    path = project.build_dir / "Testing" / "Temporary" / "CTestCostData.txt"
    lines = path.read_text(encoding="utf-8").split("\n---")[0] if path.is_file() else ""
    return {words[0]: float(words[2]) for line in lines.splitlines() if (words := line.split())}


def require_solution(shared: Bench) -> None:
    """The solution passes under the limits that mutants have."""
    variant = _variant(shared, shared.file.read_text(encoding="utf-8"), "solution")
    if not (_compile(shared, variant).ok and _link(shared, variant).ok):
        raise LabError(f"{shared.file} does not compile")
    for test in shared.tests:
        record = variant.run(test, variant.source.parent / "run", LIMITS)
        if record.verdict is not Verdict.PASS:
            raise LabError(f"the solution itself does not pass {test.name}: {record.message}")


def _solution_code(shared: Bench, worker: str) -> str:
    variant = _variant(shared, shared.file.read_text(encoding="utf-8"), worker)
    _compile(shared, variant)
    return _code_of(variant)


def made_of(project: Project, lab: Lab) -> list[Made]:
    folder = project.labs_dir / lab.folder
    header = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h")))
    (file,) = student_files(project.solutions_dir / lab.folder)
    return mutants(file.read_text(encoding="utf-8"), header)


def _variant(shared: Bench, text: str, name: str) -> Variant:
    """A folder of its own for each worker, the same for all of its mutants: objects hold paths."""
    folder = shared.scratch / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variant = Variant(shared.project, shared.lab, folder / shared.file.name)
    variant.source.write_text(text, encoding="utf-8")
    return variant


def _code_of(variant: Variant) -> str:
    """A hash of an object without what debuggers want."""
    compiled = variant.source.parent / "student.o"
    bare = compiled.with_suffix(".bare")
    done = capture(["objcopy", "--strip-debug", "--remove-section=.comment", compiled, bare])
    return hashlib.sha256(bare.read_bytes()).hexdigest() if done.ok else ""


def fate_of(shared: Bench, made: Made, workers: "queue.Queue[str]") -> Fate:
    start = time.monotonic()
    worker = workers.get()
    try:
        variant = _variant(shared, made.text, worker)
        state, test, said = _tried(shared, made, variant, shared.codes[worker])
    finally:
        workers.put(worker)
    own = bool(test) and shared.todos[test] in made.todos
    return Fate(made, state, test, said, time.monotonic() - start, own)


def _tried(shared: Bench, made: Made, variant: Variant, solution: str) -> tuple[str, str, str]:
    runner = variant.source.parent / "run"
    done = _compile(shared, variant)
    if not done.ok or any(word in done.output for word in _NONSENSE):
        return "no program", "", ""
    if solution and _code_of(variant) == solution:
        return "same code", "", ""
    if not _link(shared, variant).ok:
        return "no program", "", ""
    for test in _tests_of(shared, made.todos):
        record = variant.run(test, runner, LIMITS, seconds=TEST_SECONDS)
        if record.ending == NODE:  # the node did not withstand it: as in ./lab grade, once more
            end_of(runner)
            record = variant.run(test, runner, LIMITS, seconds=TEST_SECONDS)
        said = record.message.split("\n")[0]
        if record.verdict is Verdict.FAIL or record.ending == NODE:
            return "hidden" if ".hidden." in test.name else "public", test.name, said
        if record.verdict in (Verdict.HARNESS_ERROR, Verdict.UNKNOWN):
            end_of(runner)
            return "broken", test.name, said
    return "survived", "", ""


def end_of(runner: Path) -> None:
    """Ends what still runs this mutant, whose verifier was ended."""
    for entry in Path("/proc").glob("[0-9]*/exe"):
        try:
            if entry.readlink() == runner:
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except OSError:
            continue


def _compile(shared: Bench, variant: Variant) -> Done:
    return _labcc(shared, variant, "compile", variant.source.name, "student.o")


def _link(shared: Bench, variant: Variant) -> Done:
    return _labcc(shared, variant, "runner", "student.o", "0", "run")


def _labcc(shared: Bench, variant: Variant, *words: str) -> Done:
    script = shared.project.root / "harness" / "cmake" / "labcc.sh"
    env = build_env(shared.project)
    return capture(["sh", script, shared.conf, *words], cwd=variant.source.parent, env=env)


def _tests_of(shared: Bench, todos: frozenset[int]) -> list[Test]:
    """A learner's mistake in one TODO is seen by its tests, and by those of all functions together:
    the others take this function from the reference."""

    def rank(test: Test) -> tuple[bool, bool, float]:
        return ".hidden." in test.name, shared.todos[test.name] not in todos, shared.took[test.name]

    wanted = [test for test in shared.tests if shared.todos[test.name] in {*todos, 0}]
    return sorted(wanted, key=rank)


# ---- lists and reports ----


def list_of(lab: Lab) -> Path:
    return HERE / "lists" / f"{lab.name}.json"


def known(lab: Lab) -> dict[str, str]:
    """Mutants that are known to survive: key -> why."""
    path = list_of(lab)
    groups = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {key: f"{group['is']}: {group['why']}" for group in groups for key in group["mutants"]}


def is_surprise(fate: Fate, reasons: dict[str, str]) -> bool:
    """Nothing saw it and no list names it; or a list does, and a test saw it all the same."""
    lives = fate.state in ("survived", "broken")
    return lives != (fate.made.key in reasons) and (lives or fate.state in ("public", "hidden"))


def is_equivalent(why: str) -> bool:
    return why.startswith("equivalent")


def summary(fates: Sequence[Fate], reasons: dict[str, str]) -> dict[str, int]:
    count = Counter(fate.state for fate in fates)
    left = [fate for fate in fates if fate.state == "survived"]
    equivalent = [fate for fate in left if is_equivalent(reasons.get(fate.made.key, ""))]
    return {
        "made": len(fates),
        "no program": count["no program"],
        "same code": count["same code"],
        "public": count["public"],
        "hidden": count["hidden"],
        "named": sum(fate.own for fate in fates),
        "equivalent": len(equivalent),
        "open": len(left) - len(equivalent),
        "broken": count["broken"],
    }


def shares(figures: dict[str, int]) -> tuple[int, str, str, str]:
    """Mutants that are wrong programs; how many of these tests see, public ones, own ones."""
    seen = figures["public"] + figures["hidden"]
    real = seen + figures["open"] + figures["broken"]
    parts = (seen, figures["public"], figures["named"])
    whole, public, named = (f"{100 * part / real:.1f} %" if real else "-" for part in parts)
    return real, whole, public, named


def line_of(lab: Lab, figures: dict[str, int]) -> str:
    real, whole, public, named = shares(figures)
    return (
        f"{lab.name}: {figures['made']} mutants, {real} of them wrong programs: {whole} seen, "
        f"{public} by public tests, {named} by a test of their own TODO; "
        f"{figures['equivalent']} equivalent, {figures['open']} open, {figures['broken']} broken"
    )


def table_of(report: dict[str, dict[str, int]]) -> str:
    head = ("lab", "mutants", "no program", "same code", "equivalent", "wrong programs", "seen")
    head += ("by public tests", "by hidden ones only", "TODO named")
    rows = [f"| {' | '.join(head)} |", "|---" + "|--:" * (len(head) - 1) + "|"]
    for name, figures in sorted(report.items()):
        real, whole, public, named = shares(figures)
        counts = [figures[key] for key in ("made", "no program", "same code", "equivalent")]
        cells = [name[3:], *counts, real, whole, public, figures["hidden"], named]
        rows.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(rows)


def reported() -> dict[str, dict[str, int]]:
    """The figures of each lab's last whole run."""
    return json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.is_file() else {}


def write_report(report: dict[str, dict[str, int]]) -> None:
    REPORT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    begin, end = "<!-- mutants -->\n", "<!-- /mutants -->"
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    behind = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}{table_of(report)}\n{end}{behind}", encoding="utf-8")


def sampled(all_made: list[Made], asked: argparse.Namespace) -> list[Made]:
    wanted = [one for one in all_made if asked.operator in one.operator]
    wanted = [one for one in wanted if asked.todo in {0, *one.todos}]
    share, shares_made = (int(word) for word in asked.part.split("/"))
    wanted = wanted[share - 1 :: shares_made]
    if asked.sample and asked.sample < len(wanted):
        picked = set(random.Random(asked.seed).sample(range(len(wanted)), asked.sample))
        wanted = [one for i, one in enumerate(wanted) if i in picked]
    return wanted


class Kept:
    """Fates in the build folder. A test's answer holds as long as the mutant is the same."""

    def __init__(self, project: Project, lab: Lab) -> None:
        self._reasons = known(lab)
        self._path = project.build_dir / "mutation" / f"{lab.name}.json"
        text = self._path.read_text(encoding="utf-8") if self._path.is_file() else "{}"
        self._fates: dict[str, list[Any]] = json.loads(text)

    def fate(self, made: Made) -> Fate | None:
        found = self._fates.get(self._name(made))
        is_open = made.key not in self._reasons
        if not found or (found[0] in ("survived", "broken") and is_open):
            return None
        return Fate(made, *found)

    def add(self, fate: Fate) -> None:
        entry = [fate.state, fate.test, fate.said, fate.seconds, fate.own]
        self._fates[self._name(fate.made)] = entry

    def write(self) -> None:
        self._path.write_text(json.dumps(self._fates, indent=0), encoding="utf-8")

    @staticmethod
    def _name(made: Made) -> str:
        return hashlib.sha256(made.text.encode()).hexdigest()[:16]


def unknown_keys(made: Sequence[Made], reasons: dict[str, str]) -> list[str]:
    return sorted(set(reasons) - {one.key for one in made})


def run_lab(project: Project, lab: Lab, asked: argparse.Namespace) -> tuple[dict[str, int], int]:
    """The lab's figures, and how many survived or broke that no list knows; -1: some are left."""
    shared, reasons, kept = bench(project, lab, asked.jobs), known(lab), Kept(project, lab)
    all_made = made_of(project, lab)
    if not (asked.sample or asked.resume):
        require_solution(shared)
    surprises = 0
    for key in unknown_keys(all_made, reasons):
        surprises += 1
        print(f"{lab.name}: the list has a mutant that is not made: {key}")
    todo = sampled(all_made, asked)
    fates = [fate for made in todo if asked.resume and (fate := kept.fate(made))]
    done = {fate.made.text for fate in fates}
    workers: queue.Queue[str] = queue.Queue()
    for worker in range(asked.jobs):
        workers.put(str(worker))
    end = time.monotonic() + asked.seconds if asked.seconds else float("inf")

    def one_of(made: Made) -> Fate | None:
        return fate_of(shared, made, workers) if time.monotonic() < end else None

    rest, left = [made for made in todo if made.text not in done], 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for fate in pool.map(one_of, rest):
            if not fate:
                left += 1
                continue
            fates.append(fate)
            kept.add(fate)
            if len(fates) % 50 == 0:  # for a run that is ended from outside
                kept.write()
            new = is_surprise(fate, reasons)
            surprises += new
            if new or asked.all:
                made = fate.made
                names = ", ".join(map(str, sorted(made.todos)))
                print(f"{lab.name} TODO({names}) line {made.line} {made.operator}: {fate.state}"
                      f" {fate.test} {fate.seconds:.1f} s\n    {made.key}\n    {fate.said}",
                      flush=True)  # fmt: skip
    kept.write()
    figures = summary(fates, reasons)
    print(line_of(lab, figures) + (f"; {left} left" if left else ""), flush=True)
    return figures, -1 if left else surprises


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="mutation testing of the labs")
    parser.add_argument("--build", type=Path, help="the build folder, if not build/vgpu")
    parser.add_argument("--lab", action="append", help="only this lab (may be repeated)")
    parser.add_argument("--todo", type=int, default=0, help="only this TODO's")
    parser.add_argument("--operator", default="", help="only operators whose name holds this")
    parser.add_argument("--sample", type=int, default=0, help="so many of each lab, by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N shares")
    parser.add_argument("--seconds", type=float, default=0, help="start no more after so long")
    parser.add_argument("--resume", action="store_true", help="go on where the last run ended")
    parser.add_argument("--all", action="store_true", help="print each mutant's fate")
    parser.add_argument("--write", action="store_true", help="write lists/report.json")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    asked = arguments(words)
    project, surprises = here(build=asked.build), 0
    report = reported()
    for lab in project.labs():
        if lab.number not in asked.lab if asked.lab else not list_of(lab).is_file():
            continue
        figures, new = run_lab(project, lab, asked)
        if new < 0:
            return 3
        surprises += new
        report[lab.name] = figures
        if asked.write:
            write_report(report)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
