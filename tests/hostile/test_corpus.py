# SPDX-License-Identifier: MIT
"""The corpus itself: it is as large as docs/security.md says, and every attack can fail."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path
from typing import Any

from grader.grade.model import Status
from grader.sandbox import Tier
from tests.hostile.__main__ import OTHERS
from tests.hostile.corpus import groups, load
from tests.hostile.ingest import CASES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `\w+` \| \d+ \|.*$", re.MULTILINE)


RARELY = {"host", "outside", "requests", "times"}  # in the layer `full`
GRADERS = ("counts", "twice", "without_groups", "every_tier")


def _locks(test: dict[str, Any]) -> list[str]:
    found = [one["value"] for one in test["properties"] if one["name"] == "RESOURCE_LOCK"]
    return found[0] if found else []


class Corpus(unittest.TestCase):
    def test_there_are_as_many_as_the_page_says(self) -> None:
        attacks = sum(len(load(group)) for group in groups())
        (told,) = re.findall(r"hands in (\d+) hostile submissions", PAGE)
        (packages,) = re.findall(r"and (\d+)\s+hostile packages", PAGE)
        self.assertEqual((int(told), int(packages)), (attacks, len(CASES)))

    def test_the_count_by_tier(self) -> None:
        often = sum(len(load(group)) for group in groups() if group not in RARELY)
        every = sum(len(load(group)) for group in groups())
        (told,) = re.findall(r"each change (\d+) submissions.*?grades all (\d+) on", PAGE, re.S)
        self.assertEqual(tuple(map(int, told)), (often, every))

    def test_each_group_has_its_row(self) -> None:
        """Its number, and where it is graded."""
        tiers = ", ".join(f"`{tier}`" for tier in Tier if tier is not Tier.BARE)
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in ROW.findall(PAGE)]
        want = [
            [f"`{one}`", str(len(load(one))), "no" if one in RARELY else "best tier", tiers]
            for one in groups()
        ]
        self.assertEqual([row[:4] for row in rows[:-1]], want)
        self.assertEqual(rows[-1][:2], ["`ingest`", str(len(CASES))])
        self.assertTrue(rows[-1][2].startswith("no tier"), rows[-1])

    def test_each_group_is_graded_on_each_change(self) -> None:
        text = (Path(__file__).parent / "CMakeLists.txt").read_text(encoding="utf-8")
        (names,) = re.findall(r"foreach\(group IN ITEMS (.*)\)", text)
        self.assertEqual({*groups(), *OTHERS} - RARELY, set(names.split()))
        self.assertEqual(RARELY, set(re.findall(r"_test\(hostile\.\w+ (\w+) full\)", text)))

    def test_nothing_is_built_meanwhile(self) -> None:
        """Who grades attacks compares the course's files before and after; tests of labs build
        theirs first, in the same folder, and before those that take long."""
        words = ["ctest", "--test-dir", os.environ["PEERLAB_BUILD"], "--show-only=json-v1"]
        told = subprocess.run(words, capture_output=True, check=True, text=True).stdout
        locks = {one["name"]: _locks(one) for one in json.loads(told)["tests"]}
        graded = {f"hostile.{name}" for name in (*groups(), "control", *GRADERS)}
        builders = {name for name in locks if re.fullmatch(r"build\.(lab|solution)\d\d", name)}
        self.assertEqual(len(builders), 16)
        for name in graded | builders:
            with self.subTest(name):
                self.assertIn("build", locks[name])

    def test_names_are_those_of_one_attack(self) -> None:
        names = [attack.name for group in groups() for attack in load(group)]
        self.assertEqual(len(set(names)), len(names))

    def test_only_a_right_base_may_pass(self) -> None:
        for group in groups():
            for attack in load(group):
                if Status.PASS in attack.expected:
                    timed = group == "times"  # where passing is not all
                    bases = r"right0[3478]_timed" if timed else "right01"
                    self.assertRegex(attack.base, f"^{bases}$", attack.name)
                self.assertNotIn(Status.INFRASTRUCTURE, attack.expected, attack.name)


if __name__ == "__main__":
    unittest.main()
