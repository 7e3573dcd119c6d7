# SPDX-License-Identifier: MIT
"""README.md, and the pages with its tables, name only commands that exist, and show only files that
exist."""

import json
import re
import unittest
from pathlib import Path

from grader.commands import cli
from grader.course.project import here
from grader.selfcheck import shown
from grader.selfcheck.plan import Depth, steps

ROOT = here().root
PAGES = ("README.md", "docs/lab-commands.md", "docs/testing.md", "docs/systems.md")
TEXT = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
COMMANDS = TEXT["README.md"] + TEXT["docs/lab-commands.md"]
MADE_LATER = re.compile(r"NN|[.]{3}|^build/|^\.(venv|deps|lab)/")


def typed(program: str) -> list[list[str]]:
    """The command lines of `program` in these pages: in backquotes, or after a `$`."""
    lines = re.findall(r"`([^`\n]+)`", COMMANDS) + re.findall(r"^\$ (.*)$", COMMANDS, re.MULTILINE)
    lines = [part.strip() for line in lines for part in line.split("&&")]
    return [line.split()[1:] for line in lines if line.split()[:1] == [program]]


class Shown(unittest.TestCase):
    def test_commands_of_lab_parse(self) -> None:
        commands = typed("./lab")
        self.assertGreater(len(commands), 15)
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
        self.assertEqual(shown.titles(shown.block(TEXT["docs/testing.md"], "selfcheck")), titles)

    def test_paths_exist(self) -> None:
        for page, text in TEXT.items():
            for path in re.findall(r"`([\w.-]+/[\w./-]*)`", text):
                self.there(page, ROOT / path, path)
            for path in re.findall(r"\]\(([\w./-]+)\)", text):
                self.there(page, (ROOT / page).parent / path, path)

    def there(self, page: str, place: Path, path: str) -> None:
        if not MADE_LATER.search(path):
            self.assertTrue(place.exists(), f"{page} shows {path}: not here")


if __name__ == "__main__":
    unittest.main()
