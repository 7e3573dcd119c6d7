# SPDX-License-Identifier: MIT
"""From a save to the verdict: loop.py BUILD [LAB ...], with its labs in labs/ (default: all).

For as long as this runs the learner's file has the solution: a save puts the first mistake of
tests/mutants into it or takes it out, and a line into its head, so that all lines move. Afterwards
the file has again what was in it. Printed are the medians of some rounds, in seconds and in
processor time (of all processes), and both as a ratio to `clang -O1 -c` on the same file (a .cu:
`vgpu-cc -O1 -c`), which is timed in each round, so that a busy computer changes the ratios less
than the seconds; of `./lab watch` also how many tests it ran.
"""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from grader.commands.submit import student_file  # noqa: E402
from grader.course.mutants import load, mutate  # noqa: E402
from grader.course.project import Lab, here  # noqa: E402

ROUNDS = 3
TICK = os.sysconf("SC_CLK_TCK")
Cost = tuple[float, float]  # seconds that passed, seconds of processors


class Learner:
    """Who edits a lab's file."""

    def __init__(self, lab: Lab, path: pathlib.Path) -> None:
        self.path, self.before, self.saves = path, path.read_bytes(), 0
        self.right = (ROOT / "solutions" / lab.folder / path.name).read_text(encoding="utf-8")
        mutant = load(here("vgpu", None), lab)[0]
        self.wrong = mutate(mutant, self.right, path.name)

    def save(self) -> float:
        """When it was saved."""
        self.saves += 1
        text = (self.right, self.wrong)[self.saves % 2]
        self.path.write_text("\n" * self.saves + text, encoding="utf-8")
        return time.monotonic()

    def __enter__(self) -> "Learner":
        self.save()
        return self

    def __exit__(self, *_: object) -> None:
        self.path.write_bytes(self.before)


def started(words: list[str]) -> Cost:
    """What a command costs, with all that it starts."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiled(build: pathlib.Path, lab: Lab, path: pathlib.Path) -> Cost:
    cc = ["clang"] if path.suffix == ".c" else [str(build / "bin" / "vgpu-cc"), "-std=c++17"]
    conf = (build / "labs" / lab.folder / "lab.conf").read_text(encoding="utf-8")
    includes = dict.fromkeys(re.findall(r"^-I.*[^'\n]", conf, re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder:
        object_file = f"{folder}/it.o"
        cost = started([*cc, "-O1", "-w", *includes, "-c", str(path), "-o", object_file])
        if not pathlib.Path(object_file).is_file():
            raise SystemExit(f"{path} does not compile")
    return cost


def typed(learner: Learner, words: list[str]) -> Cost:
    """From a save, after which the command is typed at once."""
    learner.save()
    return started(words)


class Watch:
    """`./lab watch` in another process."""

    def __init__(self, lab: Lab) -> None:
        words = [sys.executable, "-u", "lab", "watch", lab.number]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.ran = 0  # tests since the last `all`
        self.all(time.monotonic())

    def first(self, begun: float) -> Cost:
        """Of the run that this save begins: it names the file before its verdicts."""
        _, noticed = self._until(r"^labs/\S+$", begun)
        self.ran = 0
        seconds, used = self._until(r"^\S+ lab\d\d\.", begun)
        return seconds, noticed + used

    def all(self, begun: float) -> Cost:
        return self._until(r"of \d+ points", begun)

    def _until(self, pattern: str, begun: float) -> Cost:
        used = self._used()
        for line in self.process.stdout or []:
            self.ran += bool(re.match(r"^\S+ lab\d\d\.", line))
            if re.search(pattern, line):
                return time.monotonic() - begun, self._used() - used
        raise SystemExit("./lab watch has ended")

    def _used(self) -> float:
        """Processor time until now, with the processes that have ended."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / TICK

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def rounds(build: pathlib.Path, lab: Lab, learner: Learner) -> dict[str, list[Cost]]:
    found: dict[str, list[Cost]] = {}

    def note(name: str, cost: Cost) -> Cost:
        found.setdefault(name, []).append(cost)
        return cost

    lab_test = [sys.executable, "lab", "test", lab.number]
    ctest = ["ctest", "--test-dir", str(build), "-j2", "-R", rf"^lab{lab.number}\."]
    watch = Watch(lab)
    of, ran = watch.ran, []
    for _ in range(ROUNDS):
        note("compile", compiled(build, lab, learner.path))
        begun = learner.save()
        first = note("watch, first verdict", watch.first(begun))
        seconds, used = watch.all(begun)
        note("watch, all", (seconds, first[1] + used))
        ran.append(watch.ran)
    watch.end()
    for _ in range(ROUNDS):
        note("compile", compiled(build, lab, learner.path))
        note("./lab test", typed(learner, lab_test))
        note("ctest", typed(learner, ctest))
    tests = f"watch, all: {statistics.median(ran):.0f} of {of}"
    return {tests if name == "watch, all" else name: costs for name, costs in found.items()}


def main(words: list[str]) -> None:
    build, project = pathlib.Path(words[0]).resolve(), here("vgpu", None)
    print(f"{'lab':<5}{'':<24}{'s':>8}{'of compile':>12}{'CPU s':>8}{'of compile':>12}")
    for lab in [project.lab(name) for name in words[1:]] or project.labs():
        path = ROOT / "labs" / lab.folder / student_file(project, lab)
        with Learner(lab, path) as learner:
            found = rounds(build, lab, learner)
        middle = {
            name: [statistics.median(cost[i] for cost in costs) for i in (0, 1)]
            for name, costs in found.items()
        }
        for name, costs in middle.items():
            ratios = [cost / of for cost, of in zip(costs, middle["compile"], strict=True)]
            print(
                f"{lab.number:<5}{name:<24}"
                f"{costs[0]:8.2f}{ratios[0]:12.1f}{costs[1]:8.2f}{ratios[1]:12.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
