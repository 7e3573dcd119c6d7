# SPDX-License-Identifier: MIT
"""The corpus itself: it is as large as docs/security.md says, and every attack can fail."""

import unittest

from grader.grade.model import Status
from tests.hostile.corpus import groups, load
from tests.hostile.ingest import CASES


class Corpus(unittest.TestCase):
    def test_there_are_as_many_as_the_page_says(self) -> None:
        attacks = sum(len(load(group)) for group in groups())
        self.assertGreater(attacks + len(CASES), 160)

    def test_names_are_those_of_one_attack(self) -> None:
        names = [attack.name for group in groups() for attack in load(group)]
        self.assertEqual(len(set(names)), len(names))

    def test_only_a_right_base_may_pass(self) -> None:
        for group in groups():
            for attack in load(group):
                if Status.PASS in attack.expected:
                    self.assertEqual(attack.base, "right01", attack.name)
                self.assertNotIn(Status.INFRASTRUCTURE, attack.expected, attack.name)


if __name__ == "__main__":
    unittest.main()
