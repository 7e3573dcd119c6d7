# SPDX-License-Identifier: MIT
"""commands.submit: the packed text is what is tested, and what a grader would refuse is refused.
That ./lab grade accepts it is tested in tests/grading."""

import contextlib
import io
import zipfile
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.commands import submit
from grader.course.sync import sync
from grader.grade import contract
from grader.grade.model import Package
from grader.learning import standing
from grader.tests.fake import FakeCheckout

MINE = "labs/01-tiny/tiny.c"


class Submit(FakeCheckout):
    def setUp(self) -> None:
        super().setUp()
        sync(self.project, [self.lab])

    def typed(self, *, ended: ExitStatus = ExitStatus.OK, edit: str = "") -> tuple[ExitStatus, str]:
        """`./lab submit 01` with tests that end like this, during which the file becomes `edit`."""

        def tests(*_: object, **__: object) -> ExitStatus:
            if edit:
                self.write(MINE, edit)
            return ended

        said = io.StringIO()
        with (
            mock.patch("grader.learning.testing.command", side_effect=tests),
            contextlib.redirect_stdout(said),
        ):
            status = submit.command(self.project, self.lab, None, test=True)
        return status, said.getvalue()

    def refused(self, status: ExitStatus, words: str) -> None:
        with self.assertRaisesRegex(LabError, words) as caught:
            self.typed()
        self.assertEqual(caught.exception.status, status)

    def test_it_lists_what_it_packed(self) -> None:
        self.write(MINE, "int twice(int n)\n{\n    return n + n;\n}\n")
        status, said = self.typed()
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("build/submit/lab01.zip contains everything that is graded:", said)
        self.assertRegex(said, rf"{MINE}  4 lines, 39 bytes, sha256 [0-9a-f]{{12}}\n")
        self.assertIn("Every public test passes", said)
        with zipfile.ZipFile(self.root / "build/submit/lab01.zip") as archive:
            self.assertEqual(archive.namelist(), [MINE])
            self.assertEqual(archive.read(MINE).decode(), self.read(MINE))

    def test_hints_are_told_if_the_learner_says_so(self) -> None:
        self.write(MINE, "mine\n")
        known = standing.load(self.project)
        known.hints.update({"01.1": 2, "01.10": 1, "02.1": 3})
        known.save()
        packed = submit.pack(self.project, self.lab, self.root / "a.zip")
        self.assertEqual(list(packed.files), [MINE])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            submit.command(self.project, self.lab, self.root / "a.zip", test=False, hints=True)
        wanted = "it also contains how many hints you asked for, by task: 1: 2, 10: 1\n"
        self.assertIn(wanted, said.getvalue())
        with zipfile.ZipFile(self.root / "a.zip") as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        taken = contract.submission(Package("ada", files=files), self.lab, "tiny.c", True)
        self.assertEqual((taken.contents, taken.hints), (b"mine\n", (("1", 2), ("10", 1))))

    def test_hints_that_nobody_can_believe(self) -> None:
        for text in (b"[1]", b"{", b'{"1": 99}', b'{"a": 1}', b"[" * 4000, b'{"1": "x"}', b"\xff"):
            files = {MINE: b"mine", "labs/01-tiny/hints.json": text}
            taken = contract.submission(Package("ada", files=files), self.lab, "tiny.c", True)
            self.assertEqual((taken.contents, taken.hints), (b"mine", None), text)
            self.assertIn("was left out", taken.notes[0])

    def test_what_does_not_pass_can_be_handed_in(self) -> None:
        self.write(MINE, "mine\n")
        status, said = self.typed(ended=ExitStatus.FAILED)
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("You can hand it in", said)
        self.assertEqual(self.typed(ended=ExitStatus.HARNESS_ERROR)[0], ExitStatus.HARNESS_ERROR)

    def test_a_file_that_changes_meanwhile(self) -> None:
        self.write(MINE, "mine\n")
        with self.assertRaisesRegex(LabError, "changed while it was being tested"):
            self.typed(edit="mine, later\n")
        self.assertFalse((self.root / "build/submit/lab01.zip").exists())

    def test_what_no_grader_takes(self) -> None:
        self.refused(ExitStatus.NOT_WRITTEN, "is unchanged")
        self.write(MINE, "\0")
        self.refused(ExitStatus.FAILED, "not a text file")
        self.write(MINE, "x" * (submit.MOST_BYTES + 1))
        self.refused(ExitStatus.FAILED, "larger than 1048576 bytes")
        Path(self.root / MINE).unlink()
        self.refused(ExitStatus.NO_MATCH, r"missing.*./lab reset 01")
