# SPDX-License-Identifier: MIT
"""No room uses one above it, and no circle of files is larger than its part's limit; and rooms.py
finds both where they are: the examples in rooms_wrong/ have one of each, in C and in Python.

test_rooms.py BUILD
"""

import subprocess
import sys
import unittest
from pathlib import Path

import rooms

BUILD = Path(sys.argv.pop(1))


def said(*words: str) -> tuple[int, str]:
    command = [sys.executable, rooms.__file__, BUILD, *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Rooms(unittest.TestCase):
    def test_every_part_keeps_to_its_rooms(self) -> None:
        status, text = said()
        print(text)
        self.assertEqual(status, 0, text)

    def test_all_parts_are_measured(self) -> None:
        parts = {part.name for part in rooms.declared(BUILD, wrong=False)}
        self.assertLessEqual({"node", "exec", "api", "cc", "harness", "grader"}, parts)

    def test_pictures_show_what_is_so(self) -> None:
        for part in rooms.declared(BUILD, wrong=False):
            figure = rooms.figure_of(part)
            if not figure.is_file():
                continue
            seen = rooms.seen_in_objects(part, BUILD.resolve())
            again = f"python3 tests/suite/rooms.py {BUILD} --draw {part.name}"
            drawn = figure.read_text(encoding="utf-8")
            self.assertEqual(drawn, rooms.picture(part, seen.uses), f"draw it anew: {again}")


class Rejected(unittest.TestCase):
    """The examples; each complaint with the names that make it."""

    def rejected(self, part: str, *complaints: str) -> None:
        status, text = said("--wrong", part)
        self.assertEqual(status, 1, text)
        for complaint in complaints:
            self.assertIn(complaint, text)

    def test_symbols(self) -> None:
        self.rejected(
            "symbols",
            "symbols: upward: bottom/number.c uses command_count of top/command.c",
            "symbols: 2 files use each other in a circle, and 1 may: "
            "bottom/number.c, top/command.c",
        )

    def test_imports(self) -> None:
        self.rejected(
            "imports",
            "imports: upward: words/say.py uses package.commands.run of commands/run.py",
            "imports: 2 files use each other in a circle, and 1 may: commands/run.py, words/say.py",
        )

    def test_a_room_without_a_folder(self) -> None:
        self.rejected("misspelt", "misspelt: the room botom has no folder")

    def test_figures(self) -> None:
        part = next(p for p in rooms.declared(BUILD, wrong=True) if p.name == "symbols")
        seen = rooms.seen_in_objects(part, BUILD.resolve())
        self.assertEqual(seen.variables, 1)
        self.assertEqual(len(rooms.upward(part, seen.uses)), 1)


if __name__ == "__main__":
    unittest.main()
