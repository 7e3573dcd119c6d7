# SPDX-License-Identifier: MIT
"""Counts that are made in the student's process (accesses to shared memory, barriers, shuffles,
bytes of kernels) can be written by machine code in a device image. What that gains is here and in
docs/security.md: a right result passes for one that came about in the way that was asked for.
Without machine code the counts hold, also where accesses are made for show."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.grade.model import CaseRun, Status, Submission
from grader.grade.work import worker
from grader.sandbox import tier
from tests.hostile.corpus import compose, load
from tests.hostile.course import arena

ASKED = "enum { WRONG = 1, FORGES = 1, SHOWS = 0 };"


class Counts(unittest.TestCase):
    """One thread of each block adds up what the block's threads should have added: variants of
    answers.attacks/forges_counts."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="hostile-"))
        Path(folder).chmod(0o711)
        cls.enterClassContext(mock.patch.object(tempfile, "tempdir", folder))
        cls.place = cls.enterClassContext(arena(Path(folder)))
        cls.grading = worker(cls.place.course, tier(), 7, 1, Path(folder), 0)
        (cls.attack,) = [one for one in load("answers") if one.name == "forges_counts"]

    def graded(self, *, wrong: int = 0, forges: int = 0, shows: int = 0) -> CaseRun:
        lab = self.place.labs[self.attack.lab]
        text = compose(self.attack, self.place.places, self.place.bases)
        self.assertIn(ASKED, text)
        words = f"enum {{ WRONG = {wrong}, FORGES = {forges}, SHOWS = {shows} }};"
        contents = text.replace(ASKED, words).encode()
        run = self.grading.grade(lab, Submission("mallory", "", lab.lab, lab.file, contents))
        self.assertTrue(run.compiled, run.compiler_output)
        (case,) = run.cases
        return case

    def test_what_is_counted_is_asked(self) -> None:
        case = self.graded()
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("used shared memory 0 times", case.message)

    def test_forged_counts_make_no_wrong_sum_right(self) -> None:
        case = self.graded(wrong=1, forges=1)
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("partials[0] is", case.message)

    def test_accesses_for_show_do_not_hide_who_adds(self) -> None:
        """Every thread reads its elements and writes to shared memory; one adds up all of them."""
        case = self.graded(shows=1)
        self.assertIs(case.status, Status.FAIL)
        self.assertIn("one thread made more than", case.message)

    def test_a_right_sum_passes_with_forged_counts(self) -> None:
        """If it fails, docs/security.md promises too little."""
        case = self.graded(forges=1)
        self.assertIs(case.status, Status.PASS, case.message)


if __name__ == "__main__":
    unittest.main()
