# SPDX-License-Identifier: MIT
"""The corpus itself: it is as large as docs/security.md says, and every attack can fail."""

import json
import os
import re
import subprocess
import unittest
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from grader.base.locks import is_held
from grader.grade.model import Status
from grader.sandbox import Tier, slots
from tests.hostile.__main__ import OTHERS
from tests.hostile.apart import JOBS, own_slots
from tests.hostile.corpus import groups, load
from tests.hostile.ingest import CASES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `\w+` \| \d+ \|.*$", re.MULTILINE)


RARELY = {"host", "outside", "requests", "times"}  # in the layer `full`
GRADERS = ("counts", "twice", "without_groups", "every_tier")


def _named(test: dict[str, Any], name: str) -> set[str]:
    """The values of a property that is a list."""
    found = [one["value"] for one in test["properties"] if one["name"] == name]
    return set(found[0]) if found else set()


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
        theirs first, in the same folder. Nobody has what is left without walls beside them."""
        words = ["ctest", "--test-dir", os.environ["PEERLAB_BUILD"], "--show-only=json-v1"]
        told = subprocess.run(words, capture_output=True, check=True, text=True).stdout
        tests = {one["name"]: one for one in json.loads(told)["tests"]}
        graded = {f"hostile.{name}" for name in (*groups(), "control", *GRADERS)}
        builders = {name for name in tests if re.fullmatch(r"build\.(lab|solution)\d\d", name)}
        self.assertEqual(len(builders), 16)
        for name in graded:
            with self.subTest(name):
                self.assertLessEqual(builders, _named(tests[name], "DEPENDS"))
                lanes = {f"attackers-{lane}" for lane in (1, 2)} & _named(
                    tests[name], "RESOURCE_LOCK"
                )
                self.assertEqual(len(lanes), 2 if name == "hostile.control" else 1)

    def test_a_group_has_slots_of_its_own_and_waits_for_no_other_grader(self) -> None:
        with TemporaryDirectory() as folder, ExitStack() as held:
            held.enter_context(mock.patch.object(slots, "PLACES", (Path(folder),) * 2))
            one = held.enter_context(slots.claim())
            held.enter_context(slots.asking(one, "hidden"))
            with own_slots(Path(folder) / "own", Tier.UID) as mine:
                self.assertEqual(len(mine - {one}), JOBS)
                with slots.claim() as other, slots.asking(other, "public"):
                    self.assertIn(other, mine)
                    graders = Path(folder).glob("peerlab-slots-*/slot-*")
                    self.assertEqual(sum(map(is_held, graders)), 1 + JOBS)

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
