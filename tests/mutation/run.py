# SPDX-License-Identifier: MIT
"""Mutation testing of the labs: every small mistake in what learners write must be seen by a test.

    python3 tests/mutation/run.py [--lab NN ...] [--sample N] [--operator NAME] [--jobs N] [--write]

Makes the mutants (operators.py), builds each in place of the solution's file, and runs the tests
that a learner's mistake there can fail until one does: the public ones of its TODO, those of all
functions together, the hidden ones. A mutant whose machine code is the solution's is the solution.

lists/labNN.json names those known to survive, each with the reason: it is equivalent, or a test is
missing. Any other that survives is printed, and the exit status is 1, as it is for one on which a
test finds no end ("broken": that is the harness's mistake). Labs without a list have not been
looked through, and run only when --lab names them. --write puts whole labs' figures into
lists/report.json.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

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

# What no compiler should let pass, and C's does.
_NONSENSE = ("-Wint-conversion", "-Wincompatible-pointer-types", "-Wimplicit-function")
TEST_SECONDS = 240.0  # of one test; a verifier ends a program after 64 s that it was not kept from
STATES = ("no program", "same code", "own public", "public", "hidden", "survived", "broken")


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: one of STATES, and the test that saw it."""

    made: Made
    state: str
    test: str = ""
    said: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Bench:
    """What all mutants of a lab share."""

    project: Project
    lab: Lab
    file: Path
    tests: list[Test]
    todos: dict[str, int]  # of the tests
    code: str  # of the solution's object; empty where it is not comparable

    @property
    def scratch(self) -> Path:
        return self.project.build_dir / "mutation" / self.lab.folder


def bench(project: Project, lab: Lab) -> Bench:
    (file,) = student_files(project.solutions_dir / lab.folder)
    prefix = f"solution{lab.number}."
    found = ctest.tests(project, f"^{prefix[:-1]}")
    tests = [test for test in found if test.name.startswith(prefix)]
    shared = Bench(project, lab, file, tests, {}, "")
    shutil.rmtree(shared.scratch, ignore_errors=True)
    variant = _variant(shared, file.read_text(encoding="utf-8"), "solution")
    runner = variant.build_whole()
    records = {test.name: variant.run(test, runner) for test in tests}
    bad = [name for name, record in records.items() if record.verdict is not Verdict.PASS]
    if bad:
        raise LabError(f"the solution itself does not pass {', '.join(bad)}")
    todos = {name: record.todo for name, record in records.items()}
    return Bench(project, lab, file, tests, todos, _code_of(Path(f"{runner}.o"), file))


def made_of(shared: Bench) -> list[Made]:
    folder = shared.file.parent
    header = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h")))
    return mutants(shared.file.read_text(encoding="utf-8"), header)


def _variant(shared: Bench, text: str, name: str) -> Variant:
    folder = shared.scratch / name
    folder.mkdir(parents=True)
    variant = Variant(shared.project, shared.lab, folder / shared.file.name)
    variant.source.write_text(text, encoding="utf-8")
    return variant


def _code_of(compiled: Path, source: Path) -> str:
    """A hash of an object without its lines; a .cu file's holds an image with lines of its own."""
    if source.suffix != ".c" or not compiled.is_file():
        return ""
    bare = compiled.with_suffix(".bare")
    done = capture(["objcopy", "--strip-debug", "--remove-section=.comment", compiled, bare])
    return hashlib.sha256(bare.read_bytes()).hexdigest() if done.ok else ""


def fate_of(shared: Bench, made: Made) -> Fate:
    start = time.monotonic()
    variant = _variant(shared, made.text, hashlib.sha256(made.text.encode()).hexdigest()[:12])
    try:
        state, test, said = _tried(shared, made, variant)
    finally:
        shutil.rmtree(variant.source.parent, ignore_errors=True)
    return Fate(made, state, test, said, time.monotonic() - start)


def _tried(shared: Bench, made: Made, variant: Variant) -> tuple[str, str, str]:
    compiled = variant.source.parent / "student.o"
    runner = variant.source.parent / "run"
    done = _labcc(shared, "compile", variant.source, compiled)
    if not done.ok or any(word in done.output for word in _NONSENSE):
        return "no program", "", ""
    if shared.code and _code_of(compiled, variant.source) == shared.code:
        return "same code", "", ""
    if not _labcc(shared, "runner", compiled, "0", runner).ok:
        return "no program", "", ""
    for test in _tests_of(shared, made.todo):
        record = variant.run(test, runner, seconds=TEST_SECONDS)
        said = record.message.split("\n")[0]
        if record.verdict is Verdict.FAIL:
            hidden = ".hidden." in test.name
            own = shared.todos[test.name] == made.todo
            return "hidden" if hidden else "own public" if own else "public", test.name, said
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


def _labcc(shared: Bench, action: str, *words: str | Path) -> Done:
    root, build = shared.project.root, shared.project.build_dir
    conf = build / "labs" / shared.lab.folder / "lab.conf"
    script = root / "harness" / "cmake" / "labcc.sh"
    return capture(["sh", script, conf, action, *words], env=build_env(shared.project))


def _tests_of(shared: Bench, todo: int) -> list[Test]:
    """A learner's mistake in one TODO is seen by its tests, and by those of all functions together:
    the others take this function from the reference."""

    def rank(test: Test) -> tuple[bool, bool]:
        return ".hidden." in test.name, shared.todos[test.name] != todo

    wanted = [test for test in shared.tests if shared.todos[test.name] in (todo, 0)]
    return sorted(wanted, key=rank)


# ---- lists and reports ----


def list_of(lab: Lab) -> Path:
    return HERE / "lists" / f"{lab.name}.json"


def known(lab: Lab) -> dict[str, str]:
    """Mutants that are known to survive: key -> why."""
    path = list_of(lab)
    groups = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {key: f"{group['is']}: {group['why']}" for group in groups for key in group["mutants"]}


def is_equivalent(why: str) -> bool:
    return why.startswith("equivalent")


def summary(fates: Sequence[Fate], reasons: dict[str, str]) -> dict[str, int]:
    count = Counter(fate.state for fate in fates)
    left = [fate for fate in fates if fate.state == "survived"]
    equivalent = [fate for fate in left if is_equivalent(reasons.get(fate.made.key, ""))]
    return {
        "made": len(fates),
        "programs": len(fates) - count["no program"] - count["same code"],
        "own public": count["own public"],
        "public": count["public"],
        "hidden": count["hidden"],
        "equivalent": len(equivalent),
        "open": len(left) - len(equivalent),
        "broken": count["broken"],
    }


def line_of(lab: Lab, figures: dict[str, int]) -> str:
    real = figures["programs"] - figures["equivalent"]
    public = figures["own public"] + figures["public"]
    killed = public + figures["hidden"]
    share = f"{100 * killed / real:.1f} %" if real else "-"
    own = f"{100 * figures['own public'] / killed:.1f} %" if killed else "-"
    return (
        f"{lab.name}: {real} mutants, {killed} seen ({share}): {public} by public tests, "
        f"{figures['hidden']} by hidden ones only; {own} by a public test of their own TODO; "
        f"{figures['equivalent']} equivalent, {figures['open']} open, {figures['broken']} broken"
    )


def sampled(all_made: list[Made], asked: argparse.Namespace) -> list[Made]:
    wanted = [one for one in all_made if asked.operator in one.operator]
    wanted = [one for one in wanted if asked.todo in (0, one.todo)]
    if asked.sample and asked.sample < len(wanted):
        picked = set(random.Random(asked.seed).sample(range(len(wanted)), asked.sample))
        wanted = [one for i, one in enumerate(wanted) if i in picked]
    return wanted


def run_lab(project: Project, lab: Lab, asked: argparse.Namespace) -> tuple[dict[str, int], int]:
    """The lab's figures, and how many survived or broke that no list knows."""
    shared, reasons, fates, surprises = bench(project, lab), known(lab), [], 0
    todo = sampled(made_of(shared), asked)
    with ThreadPoolExecutor(asked.jobs) as pool:
        for fate in pool.map(lambda one: fate_of(shared, one), todo):
            fates.append(fate)
            new = fate.state in ("survived", "broken") and fate.made.key not in reasons
            surprises += new
            if new or asked.all:
                made = fate.made
                print(f"{lab.name} TODO({made.todo}) line {made.line} {made.operator}: {fate.state}"
                      f" {fate.test} {fate.seconds:.1f} s\n    {made.key}\n    {fate.said}",
                      flush=True)  # fmt: skip
    figures = summary(fates, reasons)
    print(line_of(lab, figures), flush=True)
    return figures, surprises


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="mutation testing of the labs")
    parser.add_argument("--build", type=Path, help="the build folder, if not build/vgpu")
    parser.add_argument("--lab", action="append", help="only this lab (may be repeated)")
    parser.add_argument("--todo", type=int, default=0, help="only this TODO's")
    parser.add_argument("--operator", default="", help="only operators whose name holds this")
    parser.add_argument("--sample", type=int, default=0, help="so many of each lab, by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print each mutant's fate")
    parser.add_argument("--write", action="store_true", help="write lists/report.json")
    asked = parser.parse_args(words)
    project, surprises = here(build=asked.build), 0
    path = HERE / "lists" / "report.json"
    report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for lab in project.labs():
        if lab.number not in asked.lab if asked.lab else not list_of(lab).is_file():
            continue
        figures, new = run_lab(project, lab, asked)
        surprises += new
        report[lab.name] = figures
        if asked.write:
            path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
