# SPDX-License-Identifier: MIT
"""What a task may call of its lab's other functions (`NEEDS` in solutions/CMakeLists.txt) stands in
the README's task, under "May call", and nothing else does. No two functions need each other."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOLUTIONS = ROOT / "solutions"
_LAB = re.compile(
    r"NUMBER (\d\d) NAME (\S+) .*?FUNCTIONS(?P<functions>.*?)"
    r"(?:NEEDS(?P<needs>.*?))?(?:BESIDE.*?)?\)",
    re.DOTALL,
)
_TASK = re.compile(r"^### Task (\d+):(.*?)(?=^##)", re.DOTALL | re.MULTILINE)


def pairs(text: str | None) -> list[tuple[int, str]]:
    return [(int(word.split(":")[0]), word.split(":")[1]) for word in (text or "").split()]


def told(readme: str) -> list[tuple[int, str]]:
    found = []
    for number, text in _TASK.findall(readme):
        lines = re.findall(r"^May call: (.*?)\.$", text, re.MULTILINE)
        found += [(int(number), name) for line in lines for name in re.findall(r"`(\w+)`", line)]
    return found


class Readmes(unittest.TestCase):
    def setUp(self) -> None:
        text = (SOLUTIONS / "CMakeLists.txt").read_text(encoding="utf-8")
        self.labs = [match for match in _LAB.finditer(text) if match[1] != "NN"]
        self.assertEqual(len(self.labs), 8)

    def test_readmes_say_what_is_declared(self) -> None:
        for lab in self.labs:
            readme = SOLUTIONS / f"{lab[1]}-{lab[2]}" / "README.md"
            with self.subTest(lab[1]):
                text = readme.read_text(encoding="utf-8")
                self.assertEqual(sorted(told(text)), sorted(pairs(lab["needs"])))

    def test_no_circle(self) -> None:
        """Of tasks: in a circle each would be tested with the reference's answer to the next. (What
        a given function calls is not looked at: it does not call everything for everybody.)"""
        for lab in self.labs:
            task_of = {name: todo for todo, name in pairs(lab["functions"])}
            needs = {(todo, task_of[name]) for todo, name in pairs(lab["needs"]) if name in task_of}
            while True:
                more = {(a, d) for a, b in needs for c, d in needs if b == c} - needs
                if not more:
                    break
                needs |= more
            with self.subTest(lab[1]):
                self.assertEqual([a for a, b in needs if a == b], [])


if __name__ == "__main__":
    unittest.main()
