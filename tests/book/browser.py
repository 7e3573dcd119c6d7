# SPDX-License-Identifier: MIT
"""The site in a browser, from disk: search, both themes, the width of a phone, and the parts that
can be played with. Exit status 77 where Chromium, MkDocs or Graphviz is not installed."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from chromium import Browser, find  # noqa: E402

from grader.book import pages, site  # noqa: E402
from grader.exits import ExitStatus, LabError  # noqa: E402
from grader.project import Project  # noqa: E402

SITE = Path()
TABLE = """[...document.querySelectorAll('[data-play=%s] tbody tr')]
    .map(row => [...row.cells].map(cell => cell.textContent))"""
BUTTON = "document.querySelectorAll('[data-play=ring] button')[%d].click()"
SET = """{ const field = document.querySelectorAll('[data-play=%s] input')[%d];
    field.value = '%s'; field.dispatchEvent(new Event('input')); }"""


class Site(unittest.TestCase):
    """One browser for all."""

    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = cls.enterClassContext(Browser(find() or ""))

    def open(self, place: str, query: str = "") -> None:
        self.browser.open(SITE / place, query)

    def test_search_from_disk(self) -> None:
        self.open("index.html", "?q=current+device")
        self.browser.until("document.querySelectorAll('.md-search-result__item').length > 3")
        found = self.browser.ask("document.querySelector('.md-search-result').textContent")
        self.assertIn("current-device bug", found)

    def test_pages_fit_a_phone_and_figures_speak(self) -> None:
        self.browser.look(width=390)
        for page in pages.pages(Project(ROOT)):
            self.open(page.place.replace(".md", ".html"))
            width = self.browser.ask("document.documentElement.scrollWidth")
            self.assertLessEqual(width, 390, f"{page.place} is wider than a phone")
            silent = self.browser.ask(
                "[...document.querySelectorAll('article img, figure.drawn svg')].filter(f =>"
                " !(f.alt || f.querySelector('title')?.textContent)).length"
            )
            self.assertEqual(silent, 0, f"{page.place}: figures without words")

    def test_the_ring(self) -> None:
        self.open("book/10-allreduce.html")
        for ranks in (4, 7):
            self.browser.ask(SET % ("ring", 0, ranks))
            self.assertEqual(self.browser.ask(TABLE % "ring")[0], ["rank 0", *["1"] * ranks])
            for _ in range(ranks - 1):
                self.browser.ask(BUTTON % 0)
            whole = self.browser.ask("document.querySelectorAll('[data-play=ring] .whole').length")
            self.assertEqual(whole, ranks, "after reduce-scatter each rank has one whole chunk")
            for _ in range(ranks - 1):
                self.browser.ask(BUTTON % 0)
            rows = [[f"rank {r}", *[str(ranks)] * ranks] for r in range(ranks)]
            self.assertEqual(self.browser.ask(TABLE % "ring"), rows)
            self.assertTrue(
                self.browser.ask("document.querySelector('[data-play=ring] button').disabled")
            )

    def test_the_ways_of_a_copy(self) -> None:
        self.open("book/05-bytes.html")
        times = [row[1] for row in self.browser.ask(TABLE % "path")]
        self.assertEqual(times, ["3.33", "62.50", "31.25"])
        self.browser.ask(SET % ("path", 0, "2000"))
        self.assertEqual(self.browser.ask(TABLE % "path")[0][1], "6.67")

    def test_what_fits(self) -> None:
        self.open("book/11-zero.html")
        fits = [(row[1], row[2]) for row in self.browser.ask(TABLE % "zero")]
        wanted = [("112.0", "no"), ("38.5", "yes"), ("26.3", "yes"), ("14.0", "yes")]
        self.assertEqual(fits, wanted)
        self.browser.ask(SET % ("zero", 0, "7.5"))
        self.browser.ask(SET % ("zero", 1, "64"))
        got = [row[1] for row in self.browser.ask(TABLE % "zero")]
        self.assertEqual(got, ["120.0", "31.4", "16.6", "1.9"])


class Themes(unittest.TestCase):
    """Each reader comes for the first time: no choice is remembered."""

    def check_theme(self, scheme: str) -> None:
        with Browser(find() or "") as browser:
            browser.look(dark=scheme == "slate")
            browser.open(SITE / "book/02-node.html")
            self.assertEqual(browser.ask("document.body.dataset.mdColorScheme"), scheme)
            words, text = browser.ask(
                "[getComputedStyle(document.querySelector('figure.drawn text')).fill,"
                " getComputedStyle(document.querySelector('article')).color]"
            )
            self.assertEqual(words, text, "a figure's words have the colour of the text")

    def test_light(self) -> None:
        self.check_theme("default")

    def test_dark(self) -> None:
        self.check_theme("slate")


def main() -> None:
    global SITE
    if find() is None:
        print("no Chromium here (apt-get install chromium)")
        sys.exit(77)
    try:
        SITE = site.build(Project(ROOT))
    except LabError as error:
        print(error)
        sys.exit(77 if error.status is ExitStatus.MISSING else 1)
    unittest.main(argv=sys.argv[:1], verbosity=1)


if __name__ == "__main__":
    main()
