# SPDX-License-Identifier: MIT
"""spelling.py: a wrong word is found, and one in American spelling; a word of the list that is not
used any more is no mistake."""

import shutil
import tempfile
import unittest
from pathlib import Path

import spelling


@unittest.skipUnless(shutil.which("hunspell"), "no Hunspell here")
class Spelling(unittest.TestCase):
    def test_a_wrong_word_is_named_with_its_page(self) -> None:
        pages = {"a.md": "A right word.", "b.md": "A wrnog word, `wrnogg` and cudaMalloc."}
        self.assertEqual(spelling.wrong(pages, set()), ["b.md: wrnog"])
        self.assertEqual(spelling.wrong(pages, {"wrnog"}), [])

    def test_a_word_behind_a_command(self) -> None:
        """An indented command ends with its line."""
        self.assertEqual(
            spelling.wrong({"a.md": "A word.\n\n    cmd --flagg\n\nA wrnog word.\n"}, set()),
            ["a.md: wrnog"],
        )

    def test_a_listed_word_that_is_not_used_any_more(self) -> None:
        self.assertEqual(spelling.wrong({"a.md": "A right word."}, {"memcpy", "warp"}), [])


class American(unittest.TestCase):
    def test_both_spellings_of_a_word(self) -> None:
        for wrong, right in (
            ("The host synchronizes here.", "The host synchronises here."),
            ("Color them.", "Colour them."),
            ("- Optimization is next.", "- Optimisation is next."),
            ("A neighbor, analyzed.", "A neighbour, analysed."),
        ):
            self.assertTrue(spelling.american({"a.md": wrong}), wrong)
            self.assertEqual(spelling.american({"a.md": right}), [])

    def test_what_is_not_ours_to_spell(self) -> None:
        """Sizes, names of calls and options, titles, and terms of the field."""
        for text in (
            "Sizes were seized, a prize resized: the optimizer, clang's sanitizers.",
            "cudaDeviceSynchronize, offload_optimizer=cpu, --color, a-color, color=1, color: red",
            'Mark Harris, Optimizing Parallel Reduction; "ZeRO: Memory Optimizations Toward"',
        ):
            self.assertEqual(spelling.american({"a.md": text}), [])

    def test_texts_that_programs_print(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            c, python = Path(folder, "a.c"), Path(folder, "a.py")
            c.write_text('/* color */ f("behavior"); // gray\ng("a wrong "\n  "color here");\n')
            python.write_text('"""A gray day."""\n# color\nf("gray")\ng(f"a color {x}")\n')
            texts = {path.name: spelling.strings(path) for path in (c, python)}
        self.assertEqual(
            spelling.american(texts), ["a.c: color is American", "a.py: color is American"]
        )


if __name__ == "__main__":
    unittest.main()
