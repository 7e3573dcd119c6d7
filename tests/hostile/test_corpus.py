# SPDX-License-Identifier: MIT
"""The corpus itself: it is as large as docs/security.md says, and every attack can fail."""

import re
import unittest
from pathlib import Path

from grader.grade.model import Status
from grader.sandbox import Tier
from tests.hostile.__main__ import OTHERS
from tests.hostile.corpus import groups, load
from tests.hostile.ingest import CASES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `\w+` \| \d+ \|.*$", re.MULTILINE)


class Corpus(unittest.TestCase):
    def test_there_are_as_many_as_the_page_says(self) -> None:
        attacks = sum(len(load(group)) for group in groups())
        (told,) = re.findall(r"hands in (\d+) hostile submissions", PAGE)
        (packages,) = re.findall(r"and (\d+)\s+hostile packages", PAGE)
        self.assertEqual((int(told), int(packages)), (attacks, len(CASES)))

    def test_each_group_has_its_row(self) -> None:
        """Its number, and where it is graded."""
        tiers = ", ".join(f"`{tier}`" for tier in Tier if tier is not Tier.BARE)
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in ROW.findall(PAGE)]
        want = [[f"`{one}`", str(len(load(one))), "best tier", tiers] for one in groups()]
        self.assertEqual([row[:4] for row in rows[:-1]], want)
        self.assertEqual(rows[-1][:2], ["`ingest`", str(len(CASES))])
        self.assertTrue(rows[-1][2].startswith("no tier"), rows[-1])

    def test_each_group_is_graded_on_each_change(self) -> None:
        text = (Path(__file__).parent / "CMakeLists.txt").read_text(encoding="utf-8")
        (names,) = re.findall(r"foreach\(group IN ITEMS (.*)\)", text)
        self.assertLessEqual({*groups(), *OTHERS}, set(names.split()))

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
