# SPDX-License-Identifier: MIT
"""grader.book.glossary: first uses lead to the glossary; a term is defined once, and used."""

import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.book import glossary


class Glossary(unittest.TestCase):
    def setUp(self) -> None:
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write('**ring, peer ring** · A "way" round. chapter 10\n')

    def write(self, text: str) -> None:
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "docs/glossary.md").write_text(text, encoding="utf-8")

    def test_the_first_use_leads_there(self) -> None:
        text = "# A ring\n\nThe `ring` and **ring** are kept. Two rings and a ring.\n"
        made = glossary.linked(self.root, text, glossary="g.md")
        link = '[rings](g.md#term-ring){: .term title="A &quot;way&quot; round." }'
        self.assertEqual(made, text.replace("Two rings", f"Two {link}"))

    def test_code_is_left_alone(self) -> None:
        text = "```c\nring();\n```\n\n    ring\n- ring\n"
        self.assertEqual(glossary.linked(self.root, text, glossary="g.md"), text)

    def test_figures_and_titles_are_left_alone(self) -> None:
        self.write("**ring** · A way. chapter 10\n**way** · A road.\n")
        figure = "<figure><svg><title>A ring</title><text>ring</text></svg></figure>"
        made = glossary.linked(self.root, f"{figure}\nA ring.\n", glossary="g.md")
        self.assertEqual(made.count("{:"), 1, "no term in the title of another one's link")
        self.assertTrue(made.startswith(figure + "\n"))

    def test_each_term_has_its_place(self) -> None:
        made = glossary.anchored("**ring, peer ring** · A way.\n")
        self.assertIn('<a id="term-ring"></a><a id="term-peer-ring"></a>**ring', made)

    def problems(self, entries: str, **pages: str) -> str:
        self.write(f"# Glossary\n\n{entries}\n")
        texts = {
            "docs/book/10-a.md": "# Ring\n\nRings, a way.\n",
            "docs/way.md": "# Way\n",
            **pages,
        }
        return "\n".join(glossary.problems(self.root, texts))

    def test_a_term_is_defined_once_and_used(self) -> None:
        ring, way = "**ring** · Round. chapter 10", "**way** · A road. [More](way.md)"
        self.assertEqual(self.problems(f"{ring}\n\n{way}"), "")
        for entries, why in (
            (f"{way}\n\n{ring}", "ring stands behind way"),
            (f"{ring}\n\n**ringed, ring** · Two. chapter 10", "ring is defined twice"),
            (f"{ring}\n\n**way** A road.", "not an entry: **way** A road."),
            (f"{ring}\n\n**way** · A road\nround.", "not an entry: **way** · A road"),
            ("**ring, loop** · Round. chapter 10", "no page uses loop"),
            ("**way** · A road. chapter 11", "way is not used in docs/book/11-"),
        ):
            self.assertIn(why, self.problems(entries))

    def test_no_other_page_defines_a_term_or_leads_nowhere(self) -> None:
        ring = "**ring** · Round. chapter 10"
        for text, why in (
            ("# A\n\n**Ring** · Round.\n", "b.md: ring is defined in the glossary"),
            ("# A\n\n## Rings\n", "b.md: ring is defined in the glossary"),
            ("# A\n\n[loop](glossary.md#term-loop)\n", "b.md: the glossary has no #term-loop"),
        ):
            self.assertEqual(self.problems(ring, **{"b.md": text}), why)
        self.assertEqual(self.problems(ring, **{"b.md": "[r](../glossary.md#term-ring)"}), "")
