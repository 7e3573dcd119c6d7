# SPDX-License-Identifier: MIT
"""Counts that are made in the student's process (accesses to shared memory, barriers, shuffles,
bytes of kernels) decide points of lab 04: device code must neither read unseen nor write to them.
That each attack has no points is asked by hostile.device and hostile.answers; here, why not: a
kernel that a slip keeps from running at all would not show what holds."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.grade import images
from grader.grade.images import listing
from grader.grade.model import CaseRun, Status, Submission
from grader.grade.work import worker
from grader.sandbox import tier
from tests.hostile.corpus import compose, load
from tests.hostile.course import arena

ASKED = "enum { WRONG = 1, FORGES = 1, SHOWS = 0 };"


class Counts(unittest.TestCase):
    """One thread of each block adds up what the block's threads should have added: variants of
    answers.attacks/forges_counts, and some of device.attacks."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="hostile-"))
        Path(folder).chmod(0o711)
        cls.enterClassContext(mock.patch.object(tempfile, "tempdir", folder))
        cls.place = cls.enterClassContext(arena(Path(folder), tier()))
        cls.grading = worker(cls.place.course, tier(), 7, 1, Path(folder), 0)
        cls.attacks = {one.name: one for one in (*load("answers"), *load("device"))}

    def graded(self, text: str) -> CaseRun:
        lab = self.place.labs["04_shared"]
        run = self.grading.grade(lab, Submission("mallory", "", lab.lab, lab.file, text.encode()))
        self.assertTrue(run.compiled, run.compiler_output)
        (case,) = run.cases
        return case

    def text(self, name: str) -> str:
        return compose(self.attacks[name], self.place.places, self.place.bases)

    def forged(self, *, wrong: int = 0, forges: int = 0, shows: int = 0) -> CaseRun:
        text = self.text("forges_counts")
        self.assertIn(ASKED, text)
        words = f"enum {{ WRONG = {wrong}, FORGES = {forges}, SHOWS = {shows} }};"
        return self.graded(text.replace(ASKED, words))

    def test_the_solutions_kernels_run(self) -> None:
        case = self.graded(self.place.bases["right04_shared"])
        self.assertIs(case.status, Status.PASS, case.message)

    def test_what_is_counted_is_asked(self) -> None:
        case = self.forged()
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("used shared memory 0 times", case.message)

    def test_accesses_for_show_do_not_hide_who_adds(self) -> None:
        """Every thread reads its elements and writes to shared memory; one adds up all of them."""
        case = self.forged(shows=1)
        self.assertIs(case.status, Status.FAIL)
        self.assertRegex(
            case.message, "one thread made more than|the kernels on GPU 0 read and wrote"
        )

    def test_what_ends_a_kernel(self) -> None:
        """Calls of what is no function, indices out of range, stores of libm."""
        told = {
            "forges_counts": "where no function of device code begins",
            "code_in_text": "where no function of device code begins",
            "code_in_instruction": "where no function of device code begins",
            "calls_exec": "where no function of device code begins",
            "indexes_counts": "is out of the range of an array",
            "indexes_local": "is out of the range of an array",
            "indexes_constant": "is out of the range of an array",
            "casts_to_unsized": "an access to a variable that is outside of it",
            "stores_by_libm": "not memory of a GPU",
            "rewrites_arguments": "wrote to 0x3700000000",
        }
        for name, why in told.items():
            with self.subTest(name):
                case = self.graded(self.text(name))
                self.assertIs(case.status, Status.FAIL)
                self.assertIn(why, case.explained)

    def test_a_function_returns_to_who_called_it(self) -> None:
        """A store that leaves a variable finds other variables, and no address to return to: where
        it found one, 31415 was what came out."""
        case = self.graded(self.text("returns_elsewhere"))
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("partials[0] is 0,", case.message)

    def test_every_image_of_the_course_has_a_second_stack(self) -> None:
        """The node is given no other, and labs need theirs."""
        objects = list((self.place.course.project.build_dir / "labs").glob("*/*.o"))
        found = {
            f"{path.parent.name}/{path.name}": listing(path.parent / "none", [path])
            for path in objects
            if images._within(path)
        }
        self.assertGreater(len(found), 4)
        self.assertEqual([name for name, taken in found.items() if not taken], [])

    def test_an_image_that_was_changed_is_not_taken(self) -> None:
        case = self.graded(self.text("renames_callback"))
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("returned LAB_ECUDA", case.message)


if __name__ == "__main__":
    unittest.main()
