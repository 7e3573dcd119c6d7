# SPDX-License-Identifier: MIT
"""What a task may not call is a trap that says so: of every two tasks of a lab, a mutant.

    PEERLAB_BUILD=build/vgpu python3 tests/points/test_traps.py 04

A mutant is the lab's solution, right in everything, of which one function calls first one of
another task that its own is not declared to build on (NEEDS in solutions/CMakeLists.txt). It must
fail, and be told which answer it has called. All mutants of a lab are one file, which reads from a
file beside it which one it is.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import corpus  # noqa: E402
import signatures  # noqa: E402

from grader.building.variants import Variant  # noqa: E402
from grader.course.mutants import student_files  # noqa: E402
from grader.course.project import Lab, Project  # noqa: E402
from grader.grade.rubric import load  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
CASE_SECONDS = 120
NOBODY = -1  # the number of no mutant: the solution


class Mutants:
    """One lab's, built: of each function, what of other tasks it may not call."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        says = corpus.declared(PROJECT, lab)
        self.lab, self.folder, self.todo_of = lab, folder, says.functions
        self.pairs = [
            (caller, callee)
            for caller, todo in says.functions.items()
            for callee, other in says.functions.items()
            if todo != other and (todo, callee) not in says.needs
        ]
        (path,) = student_files(PROJECT.solutions_dir / lab.folder)
        source = folder / path.name
        source.write_text(self._text(path.read_text(encoding="utf-8")), encoding="utf-8")
        todos = sorted(set(says.functions.values()))
        self.runner = Variant(PROJECT, lab, source).build_submission(todos)

    def _text(self, text: str) -> str:
        every = corpus.headers(PROJECT, self.lab)
        known = signatures.read(every)
        for name in self.todo_of:
            calls = "".join(
                f"    if (nothing_which() == {number}) (void){self._call(known, pair)};\n"
                for number, pair in enumerate(self.pairs)
                if pair[0] == name
            )
            pattern = rf"^int {name}\([^;{{]*\)\n\{{\n"
            text, times = re.subn(
                pattern, lambda m, c=calls: m[0] + c, text, count=1, flags=re.MULTILINE
            )
            assert times == 1, name
        last = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
        extra = "".join(f'#include "{header.name}"\n' for header in every)
        return text[:last] + extra + corpus.top(self.folder / "which") + text[last:]

    @staticmethod
    def _call(known: dict[str, signatures.Function], pair: tuple[str, str]) -> str:
        return signatures.call(known[pair[1]], known[pair[0]])

    def told(self, number: int, case: str) -> tuple[int, str]:
        """The status of a mutant in a case, and what it is told."""
        (self.folder / "which").write_text(str(number), encoding="ascii")
        program = PROJECT.build_dir / "bin" / f"{self.lab.name}-check"
        words = [program, "--runner", self.runner, "--case", case, "--orders", "0"]
        done = subprocess.run(
            [str(word) for word in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            cwd=self.folder,
            text=True,
            timeout=CASE_SECONDS,
        )
        return done.returncode, " ".join(done.stdout.split())


class Traps(unittest.TestCase):
    def test_every_pair(self) -> None:
        for number in sys.argv[1:] or [lab.number for lab in PROJECT.labs()]:
            with tempfile.TemporaryDirectory(dir=PROJECT.build_dir / "labs") as folder:
                mutants = Mutants(PROJECT.lab(number), Path(folder))
                print(f"{mutants.lab.name}: {len(mutants.pairs)} mutants", flush=True)
                self.ask(mutants)

    def ask(self, mutants: Mutants) -> None:
        rules = load(PROJECT, mutants.lab).rules
        cases = {
            todo: [r.case for r in rules if r.todo == todo and not r.case.startswith("hidden.")]
            for todo in mutants.todo_of.values()
        }
        for todo, names in cases.items():
            with self.subTest(f"the solution, {names[0]}"):
                status, told = mutants.told(NOBODY, names[0])
                self.assertEqual(status, 0, f"TODO({todo}): {told}")
        for number, (caller, callee) in enumerate(mutants.pairs):
            with self.subTest(f"{caller} calls {callee}"):
                self.assertTrue(self.is_trapped(mutants, number, cases[mutants.todo_of[caller]]))

    def is_trapped(self, mutants: Mutants, number: int, cases: list[str]) -> bool:
        """In the first case that gets there; a task of two functions has cases for each."""
        caller, callee = mutants.pairs[number]
        want = (
            f"your TODO({mutants.todo_of[caller]}) called {callee}(), "
            f"the answer to TODO({mutants.todo_of[callee]})"
        )
        for case in cases:
            status, told = mutants.told(number, case)
            if want in told:
                return status != 0
            self.assertEqual(status, 0, f"{case}: {told}")
        return False


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
