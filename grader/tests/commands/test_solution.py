# SPDX-License-Identifier: MIT
"""commands.solution: the answer is shown after the tests pass, or with --yes. commands.debug: where
gdb stops."""

import contextlib
import io
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.base.looks import Looks
from grader.building.records import Record, Verdict
from grader.commands import debug, solution
from grader.commands.submit import student_file
from grader.course.project import here
from grader.learning import standing
from grader.tests.fake import FakeCheckout
from grader.tests.fake_build import FakeBuild


class Solution(FakeCheckout):
    def shown(self, *, yes: bool = False, diff: bool = False) -> str:
        said = io.StringIO()
        with (
            mock.patch("grader.base.looks._chosen", Looks()),
            contextlib.redirect_stdout(said),
        ):
            solution.command(self.project, self.lab, yes=yes, diff=diff)
        return said.getvalue()

    def test_after_passing(self) -> None:
        with self.assertRaisesRegex(LabError, "2 parts of lab 01 do not pass yet.*--yes") as caught:
            self.shown()
        self.assertEqual(caught.exception.status, ExitStatus.NOT_WRITTEN)
        cases = [("twice", 1), ("again", 1), ("whole", 0)]
        standing.remember(
            self.project,
            [Record(f"lab01.{c}", c, t, verdict=Verdict.PASS, written=1.0) for c, t in cases],
        )
        said = self.shown()
        self.assertIn("    return 2 * n;", said)
        for mark in ("BEGIN SOLUTION", "END SOLUTION", "STUB"):
            self.assertNotIn(mark, said)
        self.assertIn("01", standing.load(self.project).solutions)

    def test_for_who_insists_and_beside_ones_own(self) -> None:
        self.assertIn("return 2 * n;", self.shown(yes=True))
        self.write("labs/01-tiny/tiny.c", "int twice(int n)\n{\n    return n + n;\n}\n")
        said = self.shown(yes=True, diff=True)
        self.assertIn("-    return n + n;\n", said)
        self.assertIn("+    return 2 * n;\n", said)
        self.assertIn("return n + n;", self.read("labs/01-tiny/tiny.c"))

    def test_a_handout_has_none(self) -> None:
        (self.root / "solutions").rename(self.root / "skeletons")
        with self.assertRaises(LabError) as caught:
            self.shown(yes=True)
        self.assertEqual(caught.exception.status, ExitStatus.MISSING)


class Kernels(FakeCheckout):
    TEXT = (
        "__global__ void a(int *x);\n"
        "template <typename T>\n__global__ void __launch_bounds__(256) b(T *x,\n  int n)\n{\n}\n"
        'extern "C" __global__ void c() {\n}\n// __global__ of nothing;\nvoid host(int n)\n{\n}\n'
    )

    def test_the_lines_of_their_braces(self) -> None:
        places = debug.kernels(self.write("k.cu", self.TEXT))
        self.assertEqual([(p.name, p.at) for p in places], [("b", "k.cu:5"), ("c", "k.cu:7")])

    def test_every_lab_with_kernels_has_them_found(self) -> None:
        project = here()
        for lab in project.labs():
            name = student_file(project, lab)
            text = (project.solutions_dir / lab.folder / name).read_text(encoding="utf-8")
            found = debug.kernels(project.solutions_dir / lab.folder / name)
            with self.subTest(lab.folder):
                self.assertGreaterEqual(len(found), 1 if "<<<" in text else 0)

    def test_what_gdb_is_told(self) -> None:
        places, stopped = [debug.Place("b", "k.cu:5")], self.root / "stopped"
        said = debug.script(places, debug.Wish(gpu=2), stopped)
        self.assertIn("break k.cu:5 if $vgpu_gpu() == 2'", said)
        self.assertIn(str(stopped), said)
        said = debug.script(places, debug.Wish(host=True, commands=("bt",)), stopped)
        self.assertIn("break k.cu:5'", said)
        self.assertIn("('bt',)", said)


class Debug(FakeBuild):
    def test_errors_of_use(self) -> None:
        def typed(what: str) -> ExitStatus:
            with self.assertRaises(LabError) as caught:
                debug.command(self.project, what, "", debug.Wish())
            return caught.exception.status

        self.assertEqual(typed("01.twice"), ExitStatus.NOT_CONFIGURED)
        self.configure()
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(typed("01.twice"), ExitStatus.MISSING)
        with mock.patch("shutil.which", return_value="/usr/bin/gdb"):
            self.assertEqual(typed("01.nonsense"), ExitStatus.NO_MATCH)
            self.assertEqual(typed("09.x"), ExitStatus.NO_MATCH)
            self.assertEqual(typed("01"), ExitStatus.USAGE)
