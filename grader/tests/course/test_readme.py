# SPDX-License-Identifier: MIT
"""grader.course.readme and grader.commands.hints: tasks and hints as a lab's README writes them."""

import unittest

from grader.base.exits import ExitStatus, LabError
from grader.commands.hints import hint
from grader.course.readme import tasks
from grader.tests.fake import README, FakeCheckout


class Readme(unittest.TestCase):
    def test_task_and_its_hints(self) -> None:
        (task,) = tasks(README)
        self.assertEqual((task.number, task.title), (1, "twice"))
        self.assertEqual(task.hints, ["Add.", "Multiply.", "Shift."])

    def test_other_ways_to_write_a_heading(self) -> None:
        text = "## TODO(1): a\n#### Task 2. b\n### **Task 3** — c\n## TODO 4\n"
        found = [(task.number, task.title) for task in tasks(text)]
        self.assertEqual(found, [(1, "a"), (2, "b"), (3, "c"), (4, "")])

    def test_headings_in_code_are_text(self) -> None:
        self.assertEqual(tasks("```\n## Task 1\n```\n"), [])


class Hints(FakeCheckout):
    def test_a_hint_and_the_way_to_the_next(self) -> None:
        text = hint(self.project, self.lab, 1, 2)
        self.assertIn("Multiply.", text)
        self.assertIn("./lab hint 01 1 3", text)
        self.assertIn("last hint", hint(self.project, self.lab, 1, 3))

    def test_unknown_task_or_hint(self) -> None:
        for number, which in ((2, 1), (1, 4), (1, 0)):
            with self.subTest((number, which)), self.assertRaises(LabError) as caught:
                hint(self.project, self.lab, number, which)
            self.assertEqual(caught.exception.status, ExitStatus.NO_MATCH)
