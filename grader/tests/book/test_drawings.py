# SPDX-License-Identifier: MIT
"""The drawings in docs/figures/, for readers of README.md as a file, match their sources. The site
draws its own."""

import html
import re
import shutil
import unittest
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.base.proc import capture
from grader.course.project import here
from grader.learning import topology
from grader.selfcheck.lacking import needs

FIGURES = here().root / "docs" / "figures"
NODES = here().root / "vgpu" / "nodes"


def parts(svg: str) -> Counter[str]:
    """Text, boxes and arrows; their positions depend on the version of Graphviz."""
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    kinds = re.findall(r'class="(node|edge|cluster)"', svg)
    return Counter([html.unescape(word) for word in words] + kinds)


def drawn(source: str) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.dot")
        file.write_text(source, encoding="utf-8")
        return capture(["dot", "-Tsvg", file], timeout=60).output


@needs(shutil.which("dot"), "no Graphviz here")
class Drawings(unittest.TestCase):
    def test_of_a_source(self) -> None:
        for source in sorted(FIGURES.glob("*.dot")):
            kept = source.with_suffix(".svg").read_text(encoding="utf-8")
            told = f"dot -Tsvg docs/figures/{source.name} -o docs/figures/{source.stem}.svg"
            self.assertEqual(
                parts(kept), parts(drawn(source.read_text(encoding="utf-8"))), f"type: {told}"
            )

    def test_of_a_machine(self) -> None:
        others = [p for p in FIGURES.glob("*.svg") if not p.with_suffix(".dot").is_file()]
        self.assertTrue(others)
        for path in others:
            with TemporaryDirectory() as folder:
                topology.command(NODES, path.stem, Path(folder, "now.svg"))
                now = Path(folder, "now.svg").read_text(encoding="utf-8")
            told = f"./lab topo {path.stem} -o docs/figures/{path.name}"
            self.assertEqual(parts(path.read_text(encoding="utf-8")), parts(now), f"type: {told}")

    def test_another_source_is_noticed(self) -> None:
        one = drawn('digraph { a [label="one"]; a -> b }')
        for other in ('digraph { a [label="two"]; a -> b }', 'digraph { a [label="one"]; b; c }'):
            self.assertNotEqual(parts(one), parts(drawn(other)))
