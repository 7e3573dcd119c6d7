# SPDX-License-Identifier: MIT
"""The labs' READMEs. What a task may call of its lab's other functions (`NEEDS` in
solutions/CMakeLists.txt) stands in the README's task, under "May call", and nothing else does. No
two functions need each other. All READMEs have one form: the same sections, an answer for each
question, and the same rules for tasks. The numbers of lines are the solution's: of each task, in
the README and beside its TODO, and of the lab, which is their sum."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOLUTIONS, LABS = ROOT / "solutions", ROOT / "labs"
_LAB = re.compile(
    r"NUMBER (\d\d) NAME (\S+) .*?FUNCTIONS(?P<functions>.*?)"
    r"(?:NEEDS(?P<needs>.*?))?(?:(?:WATCHED|BESIDE).*?)?\)",
    re.DOTALL,
)
_TASK = re.compile(r"^### Task (\d+):(.*?)(?=^##)", re.DOTALL | re.MULTILINE)
SECTIONS = [
    "Aim",
    "Before you start",
    "What you will learn",
    "The picture",
    "The contract in words",
    "Files",
    "Tasks",
    "How to check",
    "Questions",
    "When not to use it",
    "Further reading",
]
PICTURE_COLUMNS = 43  # fit into a phone of 390 pixels
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SOLVED = re.compile(r"// BEGIN SOLUTION\n(.*?)// END SOLUTION|// STUB: TODO\((\d+)\);", re.DOTALL)
_NOTED = re.compile(r"// TODO\((\d+)\).*\(about (\d+) lines?")
_HEADING = re.compile(r"^### Task (\d+): .*about (\d+) lines?", re.MULTILINE)
_QUESTION = re.compile(
    r"^\*\*Question (\d+)\.\*\* (?:(?!<details>).)+\?(?:(?!<details>).)*\n\n"
    r"<details><summary>Answer</summary>\n\n[^<]+\n</details>$",
    re.DOTALL | re.MULTILINE,
)
_RULES = re.compile(
    r"^You can do the tasks in any order.*?\n(?=The hints)", re.DOTALL | re.MULTILINE
)


def form_problems(readme: str) -> list[str]:
    """Where a README differs from the form."""
    text = _FENCED.sub("", readme)
    found = re.findall(r"^## (.*)$", text, re.MULTILINE)
    wrong = [] if found == SECTIONS else [f"its sections are {found}"]
    head = re.search(
        r"\A# Lab \d\d: .+\n\n\*\*Level\*\* .+ · \*\*You write\*\* about (\d+) lines", text
    )
    if head is None:
        wrong.append("no Level and You write under its title")
    elif abs(int(head[1]) - sum(int(n) for _, n in _HEADING.findall(readme))) > 5:
        wrong.append(f"it says {head[1]} lines, which is not the sum of its tasks")
    if "**Time**" in text:
        wrong.append("it names a time, and no learner's time was measured")
    questions = text.partition("\n## Questions\n")[2].partition("\n## ")[0]
    answered = [int(number) for number in _QUESTION.findall(questions)]
    asked = questions.count("**Question ")
    if asked < 5 or answered != list(range(1, asked + 1)):
        wrong.append(f"{asked} questions, of which {answered} have a folded answer")
    picture = readme.partition("\n## The picture\n")[2].partition("\n## ")[0]
    if "```" not in picture:
        wrong.append("no picture")
    drawn = "\n".join(_FENCED.findall(picture)).splitlines()
    wrong += [f"too wide for a phone: {line}" for line in drawn if len(line) > PICTURE_COLUMNS]
    return wrong


def solved_lines(source: str) -> list[tuple[int, int]]:
    """Task and lines of each function, with the helpers between it and the function before it."""
    found, lines = [], 0
    for part, todo in _SOLVED.findall(source):
        lines += sum(bool(line.strip()) for line in part.splitlines())
        if todo:
            found.append((int(todo), lines))
            lines = 0
    return found


def line_problems(readme: str, source: str) -> list[str]:
    """Numbers of lines that are off by more than three and a fifth."""
    solved = solved_lines(source)
    noted = [(int(task), int(lines)) for task, lines in _NOTED.findall(source)]
    if [task for task, _ in noted] != [task for task, _ in solved]:
        return [f"lines stand beside the TODOs {[task for task, _ in noted]}"]
    told = [(task, lines, real) for (task, lines), (_, real) in zip(noted, solved, strict=True)]
    for task, lines in _HEADING.findall(readme):
        told.append((int(task), int(lines), sum(n for one, n in solved if one == int(task))))
    return [
        f"task {task}: about {lines} lines, the solution has {real}"
        for task, lines, real in told
        if abs(lines - real) > max(3, real / 5)
    ]


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
            readme = LABS / f"{lab[1]}-{lab[2]}" / "README.md"
            with self.subTest(lab[1]):
                text = readme.read_text(encoding="utf-8")
                self.assertEqual(sorted(told(text)), sorted(pairs(lab["needs"])))

    def test_form(self) -> None:
        for lab in self.labs:
            folder = f"{lab[1]}-{lab[2]}"
            files = (SOLUTIONS / folder).glob("*.c*")
            source = "".join(p.read_text(encoding="utf-8") for p in files)
            with self.subTest(lab[1]):
                readme = (LABS / folder / "README.md").read_text(encoding="utf-8")
                self.assertEqual(form_problems(readme) + line_problems(readme, source), [])

    def test_the_rules_for_tasks_are_the_same(self) -> None:
        found = set()
        for path in LABS.glob("*/README.md"):
            rules = _RULES.search(path.read_text(encoding="utf-8"))
            found.add(rules[0] if rules else f"none in {path.parent.name}")
        self.assertEqual(len(found), 1, found)

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
