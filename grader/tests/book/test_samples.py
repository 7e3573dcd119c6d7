# SPDX-License-Identifier: MIT
"""grader.book.samples: pages of ./lab in the book, generated from stored output of a program and a
class."""

import shutil

from grader.base.exits import LabError
from grader.book import samples
from grader.course.project import Project, here
from grader.selfcheck.lacking import needs
from grader.tests.book.test_book import Folder
from grader.tests.fake import with_charts


class Samples(Folder):
    def test_a_page_gets_its_frame(self) -> None:
        made = samples.insert("labs/01/index.md", "<!-- sample: trace -->\n")
        self.assertIn('src="../../samples/trace.html" title="The page of ./lab trace', made)
        self.assertIn("](../../samples/trace.html)", made)
        with self.assertRaisesRegex(LabError, "asks for the sample trades"):
            samples.insert("a.md", "<!-- sample: trades -->\n")

    @with_charts
    @needs(shutil.which("dot"), "no Graphviz here")
    def test_they_are_made_of_what_is_kept(self) -> None:
        """Another node in the trace, or another student in the class, gives another page."""
        for name in ("vgpu/nodes", "docs/samples"):
            shutil.copytree(here().root / name, self.root / name)
        for name, old, new in (
            ("trace.json", "hgx-h200-4", "dgx1-v100"),
            ("class.json", "Ada Lovelace", "Joe Doe"),
        ):
            path = self.root / "docs/samples" / name
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        samples.write(Project(self.root), self.root / "site")
        self.assertIn("dgx1-v100: 12 operations", self.made("trace"))
        self.assertIn("Joe Doe", self.made("class-report"))

    def made(self, name: str) -> str:
        return (self.root / f"site/samples/{name}.html").read_text(encoding="utf-8")
