# SPDX-License-Identifier: MIT
"""The lists of misconceptions are consistent: enough of them, all different, and all apply."""

import unittest
from collections import Counter
from dataclasses import replace

from grader.course.misconceptions import load
from grader.course.mutants import student_files
from grader.course.project import here
from grader.selfcheck.misconceptions import MISSED, Row, alike, page_path, read, written_page
from grader.selfcheck.sources import todo_numbers

A_LAB, IN_ALL = 20, 200
NAMED = 0.95  # of all


class Lists(unittest.TestCase):
    def setUp(self) -> None:
        self.project = here()
        self.lists = {lab: load(self.project, lab) for lab in self.project.labs()}

    def test_there_are_enough(self) -> None:
        for lab, found in self.lists.items():
            self.assertGreaterEqual(len(found), A_LAB, lab.name)
        self.assertGreaterEqual(sum(map(len, self.lists.values())), IN_ALL)

    def test_no_two_are_the_same(self) -> None:
        for field in ("belief", "name"):
            seen = Counter(getattr(one, field) for found in self.lists.values() for one in found)
            self.assertEqual([what for what, times in seen.items() if times > 1], [])

    def test_each_fits_its_solution(self) -> None:
        for lab, found in self.lists.items():
            (path,) = student_files(self.project.solutions_dir / lab.folder)
            text, todos = path.read_text(encoding="utf-8"), todo_numbers(self.project, lab)
            for one in found:
                with self.subTest(lab=lab.name, name=one.name):
                    self.assertEqual(text.count(one.find), 1)
                    self.assertNotEqual(one.find, one.replace)
                    self.assertIn(one.todo, todos)

    def test_silence_names_nothing(self) -> None:
        for found in self.lists.values():
            for one in found:
                with self.subTest(name=one.name):
                    self.assertTrue(one.named and all(one.named))
                    self.assertFalse(one.is_named(""))


class Report(unittest.TestCase):
    def setUp(self) -> None:
        self.project = here()
        self.rows = read(self.project)
        self.known = {
            (lab.name, one.name): one
            for lab in self.project.labs()
            for one in load(self.project, lab)
        }

    def test_it_has_every_one_once(self) -> None:
        have = [(row.lab, row.name) for row in self.rows]
        self.assertEqual(have, list(self.known))

    def test_what_is_missed_says_why(self) -> None:
        for row in self.rows:
            with self.subTest(name=row.name):
                reason = self.known[row.lab, row.name].open
                self.assertEqual(bool(reason), row.test == MISSED)

    def test_the_messages_name_what_they_should(self) -> None:
        named = sum(row.named == "yes" for row in self.rows)
        self.assertGreaterEqual(named / len(self.rows), NAMED)

    def test_a_run_has_two_orders(self) -> None:
        usual = Row("lab05", "6", "name", "close", "usual", "yes")
        self.assertTrue(alike(replace(usual, order="another"), usual))
        self.assertFalse(alike(replace(usual, order="seed 1"), usual))
        self.assertFalse(alike(replace(usual, order="another", test="put"), usual))

    def test_the_page_says_the_same(self) -> None:
        text = page_path(self.project).read_text(encoding="utf-8")
        self.assertEqual(written_page(self.project, self.rows, text), text)
