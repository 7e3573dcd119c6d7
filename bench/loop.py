# SPDX-License-Identifier: MIT
"""From a save to the verdict: loop.py BUILD [LAB ...], with its labs in labs/ (default: 03).

The learner's file gets the solution with the first mistake of tests/mutants for as long as this
runs, and then again what was in it. A save appends a line to it. Printed are the medians of some
rounds, in seconds and as a ratio to `clang -O1 -c` on the same file (a .cu: `vgpu-cc -O1 -c`),
which is timed in each round, so that a busy computer changes the ratios less than the seconds.
"""

import contextlib
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from grader.commands.submit import student_file  # noqa: E402
from grader.course.mutants import load, mutate  # noqa: E402
from grader.course.project import Lab, here  # noqa: E402

ROUNDS = 3


@contextlib.contextmanager
def wrong(lab: Lab, path: pathlib.Path) -> Iterator[None]:
    """The learner's file with a mistake in it."""
    before = path.read_bytes()
    solution = ROOT / "solutions" / lab.folder / path.name
    try:
        mutant = load(here("vgpu", None), lab)[0]
        path.write_text(mutate(mutant, solution.read_text(encoding="utf-8"), path.name))
        yield
    finally:
        path.write_bytes(before)


def save(path: pathlib.Path) -> float:
    """When it was saved."""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"// {time.monotonic_ns()}\n")
    return time.monotonic()


def compiled(build: pathlib.Path, lab: Lab, path: pathlib.Path) -> float:
    cc = ["clang"] if path.suffix == ".c" else [str(build / "bin" / "vgpu-cc"), "-std=c++17"]
    folders = ("harness", f"labs/{lab.folder}", "vgpu/include", "labs/02-peer-access")
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        words = [*cc, "-O1", "-w", *(f"-I{ROOT / name}" for name in folders), "-c", str(path)]
        subprocess.run([*words, "-o", f"{folder}/it.o"], check=True)
    return time.monotonic() - begun


def typed(words: list[str], path: pathlib.Path) -> float:
    """From a save, after which the command is typed at once."""
    begun = save(path)
    subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    return time.monotonic() - begun


class Watch:
    """`./lab watch` in another process."""

    def __init__(self, lab: Lab) -> None:
        words = [sys.executable, "-u", "lab", "watch", lab.number]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.until(r"of \d+ points")

    def until(self, pattern: str) -> float:
        for line in self.process.stdout or []:
            if re.search(pattern, line):
                return time.monotonic()
        raise SystemExit("./lab watch has ended")

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def rounds(build: pathlib.Path, lab: Lab, path: pathlib.Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    def note(name: str, measure: Callable[[], float]) -> None:
        found.setdefault(name, []).append(measure())

    lab_test = [sys.executable, "lab", "test", lab.number]
    ctest = ["ctest", "--test-dir", str(build), "-j2", "-R", rf"^lab{lab.number}\."]
    watch = Watch(lab)
    for _ in range(ROUNDS):
        note("compile", lambda: compiled(build, lab, path))
        begun = save(path)
        note("watch, first verdict", lambda begun=begun: watch.until(r"^\S+ lab\d\d\.") - begun)
        note("watch, all", lambda begun=begun: watch.until(r"of \d+ points") - begun)
    watch.end()
    for _ in range(ROUNDS):
        note("compile", lambda: compiled(build, lab, path))
        note("./lab test", lambda: typed(lab_test, path))
        note("ctest", lambda: typed(ctest, path))
    return found


def main(words: list[str]) -> None:
    build, project = pathlib.Path(words[0]).resolve(), here("vgpu", None)
    print(f"{'lab':<5}{'':<24}{'s':>8}{'of compile':>12}")
    for lab in (project.lab(name) for name in words[1:] or ["03"]):
        path = ROOT / "labs" / lab.folder / student_file(project, lab)
        with wrong(lab, path):
            found = rounds(build, lab, path)
        compile_s = statistics.median(found["compile"])
        for name, seconds in found.items():
            middle = statistics.median(seconds)
            print(f"{lab.number:<5}{name:<24}{middle:8.2f}{middle / compile_s:12.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
