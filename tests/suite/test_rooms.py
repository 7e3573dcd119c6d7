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

    def test_limits_of_circles(self) -> None:
        """However high the part's own limit in rooms.cmake is."""
        allowed = {"node": 8, "api": 10, "exec": 10}
        for part in rooms.declared(BUILD, wrong=False):
            if part.name in allowed:
                circle = rooms.largest_circle(rooms.seen_in(part, BUILD).uses)
                self.assertLessEqual(len(circle), allowed.pop(part.name), circle)
        self.assertEqual(allowed, {}, "parts that are not measured")

    def test_state_that_can_exist_twice(self) -> None:
        """Rooms whose state is made and ended by functions have no variable that changes; memory
        has one, which says whose turn it is (memory_use)."""
        node = next(p for p in rooms.declared(BUILD, wrong=False) if p.name == "node")
        seen = rooms.seen_in(node, BUILD)
        made = ("clock", "check", "trace", "memory")
        found = {file: v for file, v in seen.variables.items() if file.split("/")[0] in made}
        self.assertEqual(found, {"memory/memory_state.c": ["memory_current"]})

    def test_pictures_show_what_is_so(self) -> None:
        page = (rooms.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
        for part in rooms.declared(BUILD, wrong=False):
            if not part.rooms:
                continue
            with self.subTest(part.name):
                figure = rooms.figure_of(part)
                seen = rooms.seen_in(part, BUILD)
                again = f"python3 tests/suite/rooms.py {BUILD} --write"
                self.assertTrue(figure.is_file(), f"no figure: {again}")
                written = figure.read_text(encoding="utf-8")
                self.assertEqual(written, rooms.picture(part, seen.uses), f"draw it anew: {again}")
                svg = figure.with_suffix(".svg")
                shown = rooms.drawn(svg.read_text(encoding="utf-8"))
                expected = set(part.rooms), set(rooms.edges(part, seen.uses))
                self.assertEqual(shown, expected, f"{svg.name}: draw it anew: {again}")
                self.assertIn(
                    f"(figures/{svg.name})", page, "docs/architecture.md has no such figure"
                )

    def test_rooms_include_by_their_include_path(self) -> None:
        """A path with "../" would go around the doors."""
        for part in rooms.declared(BUILD, wrong=False):
            found = [
                f"{file.relative_to(rooms.ROOT)}: {line}"
                for file in (rooms.files_of(part) if part.rooms else [])
                for line in rooms.upward_includes(file.read_text(encoding="utf-8"))
            ]
            self.assertEqual(found, [])


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

    def test_includes_around_the_doors(self) -> None:
        text = '#include "door.h"\n  # include "../top/command.h"\n#include <../x.h>\n'
        self.assertEqual(rooms.upward_includes(text), ['# include "../top/command.h"'])

    def test_what_the_documentation_draws(self) -> None:
        status, text = said("--wrong", "--dot", "symbols")
        self.assertEqual(status, 0)
        self.assertIn('"bottom" -> "top"', text)

    def test_an_arrow_too_few(self) -> None:
        edge = '<g id="edge1" class="edge">\n<title>top&#45;&gt;bottom</title>'
        node = '<g id="node1" class="node">\n<title>top</title>'
        self.assertEqual(rooms.drawn(node + edge), ({"top"}, {("top", "bottom")}))
        self.assertEqual(rooms.drawn(node), ({"top"}, set()))

    def test_figures(self) -> None:
        part = next(p for p in rooms.declared(BUILD, wrong=True) if p.name == "symbols")
        seen = rooms.seen_in_objects(part, BUILD.resolve())
        self.assertEqual(seen.variables, {"bottom/number.c": ["numbers"]})
        self.assertEqual(len(rooms.upward(part, seen.uses)), 1)
        self.assertEqual(
            said("--wrong", "--variables", "symbols"), (0, "bottom/number.c: numbers\n")
        )


if __name__ == "__main__":
    unittest.main()
