# SPDX-License-Identifier: MIT
"""spelling.py: a wrong word is found, a word of the list that is not used any more is none."""

import shutil
import unittest

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


if __name__ == "__main__":
    unittest.main()
