# SPDX-License-Identifier: MIT
"""README.md promises no command that is not there, and shows no file that is gone."""

import json
import re
import unittest

from grader.commands import cli
from grader.course.project import here
from grader.selfcheck import shown
from grader.selfcheck.plan import Depth, steps

ROOT = here().root
README = (ROOT / "README.md").read_text(encoding="utf-8")
MADE_LATER = re.compile(r"NN|[.]{3}|^build/|^\.(venv|deps|lab)/")


def typed(program: str) -> list[list[str]]:
    """The command lines of `program` in the README: in backquotes, or behind a `$`."""
    lines = re.findall(r"`([^`\n]+)`", README) + re.findall(r"^\$ (.*)$", README, re.MULTILINE)
    lines = [part.strip() for line in lines for part in line.split("&&")]
    return [line.split()[1:] for line in lines if line.split()[:1] == [program]]


class Shown(unittest.TestCase):
    def test_commands_of_lab_parse(self) -> None:
        commands = typed("./lab")
        self.assertGreater(len(commands), 5)
        for words in commands:
            with self.subTest(words):
                if words not in ([], ["--help"]):
                    self.assertTrue(callable(cli.parser().parse_args(words).run))

    def test_labs_and_presets_exist(self) -> None:
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        names = {
            entry["name"]
            for kind in ("configure", "workflow")
            for entry in presets[f"{kind}Presets"]
        }
        for words in typed("cmake"):
            if "--preset" in words:
                self.assertIn(words[words.index("--preset") + 1], names)

    def test_the_sections_of_the_selfcheck(self) -> None:
        titles = [step.title for step in steps(Depth.BASIC)]
        self.assertEqual(shown.titles(shown.block(README, "selfcheck")), titles)

    def test_paths_exist(self) -> None:
        paths = re.findall(r"`([\w.-]+/[\w./-]*)`", README) + re.findall(
            r"\]\(([\w./-]+)\)", README
        )
        for path in paths:
            if not MADE_LATER.search(path):
                source = path.replace("labs/", "solutions/", 1)  # a learner may delete his own
                self.assertTrue((ROOT / source).exists(), f"README.md shows {path}: not here")


if __name__ == "__main__":
    unittest.main()
