# SPDX-License-Identifier: MIT
"""A test is mended after a lab was graded, in a copy of the course: who gains is told before it is
published, and what was graded for that is not graded again."""

import os
import shutil
import subprocess
import sys
import unittest

from classroom import ROOT, Classroom, mutant, solution

NOT_THERE = shutil.ignore_patterns("build", ".git", ".venv", ".deps", ".lab", "Testing")
TEST = "labs/01-enumerate/tests/public.c"
STRICT = 'expect_rc(t, "without any GPU, inv_count(&n)", out->rc, LAB_OK);'
MENDED = "if (out->rc == LAB_ECUDA) return;"


class Mended(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.folder.chmod(0o755)  # submissions may run as another user
        self.course = self.folder / "course"
        shutil.copytree(ROOT, self.course, ignore=NOT_THERE, symlinks=True)
        if (ROOT / ".deps").is_dir():
            (self.course / ".deps").symlink_to(ROOT / ".deps")
        launcher = shutil.which("ccache")
        words = [f"-DCMAKE_{one}_COMPILER_LAUNCHER={launcher}" for one in ("C", "CXX")]
        self.typed("cmake", "--preset", "vgpu", *(words if launcher else ()))

    def typed(self, *words: object) -> str:
        environment = {key: text for key, text in os.environ.items() if key != "PEERLAB_BUILD"}
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.course,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
            env=environment,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def graded(self, *words: str) -> str:
        """By the copy, which builds what it needs."""
        out = self.folder / "out"
        grade = ("grade", self.folder / "class", "--out", out, "--labs", "1", "--seed", "1")
        return self.typed(sys.executable, self.course / "lab", *grade, *words)

    def test_who_gains(self) -> None:
        self.hand_in("ada", "01", mutant("01", "count_no_gpu_is_an_error"))
        self.hand_in("bob", "01", solution("01"))
        self.graded()
        before = self.rows()["ada"]["mark"]
        published = (self.folder / "out" / "marks.csv").read_bytes()
        text = (self.course / TEST).read_text(encoding="utf-8")
        self.assertEqual(text.count(STRICT), 1)
        (self.course / TEST).write_text(text.replace(STRICT, MENDED), encoding="utf-8")
        said = self.graded("--preview")
        self.assertIn("count_none: fail (0) -> pass (8 of 8)", said)
        self.assertIn("graded by other programs: the course was built anew", said)
        self.assertIn("higher: 1, lower: 0, unchanged: 1", said)
        self.assertEqual((self.folder / "out" / "marks.csv").read_bytes(), published)
        self.assertIn("2 submissions, 0 to grade", self.graded())
        self.assertEqual(self.rows()["ada"]["mark"], before + 8)


if __name__ == "__main__":
    unittest.main()
