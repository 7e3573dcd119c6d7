# SPDX-License-Identifier: MIT
"""learning.standing and commands.contents: a learner's stored progress, which no damage to its file
loses."""

import contextlib
import io
import json
from unittest import mock

from grader.base.looks import Looks
from grader.building.records import Record, Verdict
from grader.commands import contents
from grader.learning import standing
from grader.learning.standing import Standing, current, load
from grader.tests.fake import FakeCheckout

FILE = ".lab/standing.json"


def passed(case: str = "twice", when: float = 1.0, verdict: Verdict = Verdict.PASS) -> Record:
    return Record(f"lab01.{case}", case, 1, points=60, verdict=verdict, written=when)


class Kept(FakeCheckout):
    def save(self, *records: Record) -> Standing:
        known = load(self.project)
        known.add(records)
        known.save()
        return known

    def current(self) -> tuple[Standing, str]:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return current(self.project), said.getvalue()

    def test_it_is_read_as_it_was_written(self) -> None:
        written = self.save(passed())
        written.hints["01.1"] = 2
        written.solutions["01"] = "2026-11-21T10:00:00"
        written.save()
        read = load(self.project)
        self.assertEqual(read.tests, written.tests)
        self.assertEqual(read.passed, written.passed)
        self.assertEqual((read.hints, read.solutions), (written.hints, written.solutions))

    def test_only_news_counts_and_a_pass_is_remembered(self) -> None:
        self.save(passed(when=2.0))
        self.assertFalse(load(self.project).add([passed(when=1.0, verdict=Verdict.FAIL)]))
        known = self.save(passed(when=3.0, verdict=Verdict.FAIL))
        self.assertIs(known.tests["lab01.twice"].verdict, Verdict.FAIL)
        self.assertIn("lab01.twice", known.passed)

    def test_without_a_file_the_builds_records_count(self) -> None:
        """Results from before there was such a file: they are stored in it from then on."""
        record = {"test": "lab01.twice", "case": "twice", "todo": 1, "points": 60}
        place = self.write(
            "build/vgpu/results/lab01.twice.json", json.dumps({**record, "verdict": "pass"})
        )
        self.write(
            "build/vgpu/results/solution01.again.json", json.dumps({**record, "verdict": "pass"})
        )
        self.assertEqual(list(self.current()[0].tests), ["lab01.twice"])
        place.unlink()
        self.assertEqual(list(self.current()[0].tests), ["lab01.twice"])

    def test_a_broken_file_is_kept_and_the_one_before_counts(self) -> None:
        self.save(passed())
        self.save(passed("again"))
        for number, broken in enumerate(("{", "[]", '{"version": 1}', '{"version": "x"}'), 1):
            with self.subTest(broken):
                self.write(FILE, broken)
                known, said = self.current()
                self.assertIn("lab01.twice", known.tests)
                self.assertIn(f".lab/standing.json.broken{number}", said)
                self.assertEqual(self.read(f"{FILE}.broken{number}"), broken)
                self.assertEqual(self.current()[1], "", "said once")

    def test_both_files_broken(self) -> None:
        self.write(FILE, "{")
        self.write(f"{FILE}.old", "{")
        known, said = self.current()
        self.assertEqual(known.tests, {})
        self.assertIn(".old.broken1", said)
        self.assertEqual(self.read(f"{FILE}.old.broken1"), "{")

    def test_a_later_version_is_left_alone(self) -> None:
        later = '{"version": 99, "everything": "different"}'
        self.write(FILE, later)
        known, said = self.current()
        self.assertIn("later version", said)
        known.add([passed()])
        known.save()
        self.assertEqual(self.read(FILE), later)

    def test_it_is_neither_in_the_build_nor_in_the_labs_nor_handed_out(self) -> None:
        from grader.course.tree import files_of

        place = load(self.project).path.relative_to(self.root).parts[0]
        self.assertNotIn(place, ("build", "labs"))
        self.save(passed())
        self.assertNotIn(FILE, files_of(self.project))


class List(FakeCheckout):
    def listed(self, plain: bool = False) -> str:
        with mock.patch("grader.base.looks._chosen", Looks(plain=plain)):
            return contents.render(contents.entries(self.project, load(self.project)))

    def test_level_lines_points_and_progress(self) -> None:
        standing.remember(self.project, [passed(), passed("again", verdict=Verdict.FAIL)])
        self.assertRegex(self.listed(), r"lab 01  tiny +○{10} +60 of 95 points  0 of 2 parts")
        self.assertIn("about 1 line - first lab", self.listed())
        standing.remember(self.project, [passed("again", when=2.0)])
        self.assertRegex(self.listed(), r"●{5}○{5}.*1 of 2 parts")

    def test_plain(self) -> None:
        said = self.listed(plain=True)
        self.assertIn("lab 01, tiny: 0 of 95 points, 0 of 2 parts passed.", said)
        self.assertTrue(said.isascii())
