# SPDX-License-Identifier: MIT
"""The site in a browser, from disk: search, both themes, the parts that can be played with, and
whether pages fit a phone, a wide window and paper. One page in four; with PEERLAB_FULL in the
environment all. Exit status 77 where Chromium, MkDocs or Graphviz is not installed."""

import base64
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from chromium import Browser, find  # noqa: E402

from grader.base.exits import ExitStatus, LabError  # noqa: E402
from grader.book import pages, samples, site  # noqa: E402
from grader.course.project import Project  # noqa: E402

SITE = Path()
PLAN = ROOT / "build" / "vgpu" / "bin" / "zero-plan"
DRAWN = ("trace", "class-report")  # samples with charts; the others are tables
MARGINS = re.search(
    r"@page \{[^}]*margin: \d+mm (\d+)mm", (ROOT / "docs/book/assets/book.css").read_text("utf-8")
)
assert MARGINS, "book.css says no margins of paper"
A4 = int((210 - 2 * int(MARGINS[1])) / 25.4 * 96)  # pixels between them
DERIVING = (
    "01-why",
    "04-peer-access",
    "05-bytes",
    "06-data-parallel",
    "09-collectives",
    "10-allreduce",
    "11-zero",
)
EVERY = 1 if "PEERLAB_FULL" in os.environ else 4
TABLE = """[...document.querySelectorAll('[data-play=%s] tbody tr')]
    .map(row => [...row.cells].map(cell => cell.textContent))"""
BUTTON = "document.querySelectorAll('[data-play=ring] button')[%d].click()"
SET = """{ const field = document.querySelectorAll('[data-play=%s] input')[%d];
    field.value = '%s'; field.dispatchEvent(new Event('input')); }"""
# Words of code whose contrast with what is behind them is below 4.5.
PALE = """(() => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
    const behind = word => {
        const own = numbers(getComputedStyle(word).backgroundColor);
        return own.length < 4 || own[3] > 0.5 ? own : behind(word.parentElement);
    };
    return [...document.querySelectorAll('pre span:not(:has(*)), a code')].filter(word => {
        const both = [numbers(getComputedStyle(word).color), behind(word)].map(light);
        return word.textContent.trim() && Math.max(...both) / Math.min(...both) < 4.5;
    }).map(word => word.textContent);
})()"""
# Pairs of words in a figure that lie over each other.
PILED = """[...document.querySelectorAll('figure.drawn svg')].flatMap(figure => {
    const words = [...figure.querySelectorAll('text')].filter(word => word.textContent.trim())
        .map(word => [word.textContent, word.getBoundingClientRect()]);
    const both = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > a.height * 0.45;
    return words.flatMap(([a, at], n) => words.slice(n + 1).filter(([, to]) => both(at, to))
        .map(([b]) => a + ' / ' + b));
})"""
# Blocks of lines that have at most 100 characters, some of which are wrapped.
WRAPPED = """[...document.querySelectorAll('pre > code')].filter(code => {
    const style = getComputedStyle(code), lines = code.textContent.trimEnd().split('\\n');
    const high = code.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    return Math.max(...lines.map(line => line.length)) <= 100 &&
        high / parseFloat(style.lineHeight) > lines.length + 0.5;
}).map(code => code.textContent.slice(0, 60))"""
CHOOSE = """{ const field = document.querySelector('[data-play=zero] %s');
    field.%s = %s; field.dispatchEvent(new Event('change')); }"""


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

    def test_search_for_names(self) -> None:
        """The whole name of a call, which the pages have in brackets, and a part of it."""
        for query, page in (("cudaIpcOpenMemHandle", "07-processes"), ("PeerAccess", "04-peer")):
            self.open("index.html", f"?q={query}")
            self.browser.until("document.querySelectorAll('.md-search-result__item').length > 0")
            found = self.browser.ask(
                "[...document.querySelectorAll('.md-search-result__link')].map(a => a.pathname)"
            )
            self.assertTrue(any(page in place for place in found), (query, found))

    def test_pages_fit_and_figures_speak(self) -> None:
        self.addCleanup(self.browser.look)
        for width in (390, 1280):
            self.browser.look(width=width)
            for page in pages.pages(Project(ROOT))[::EVERY]:
                self.open(page.place.replace(".md", ".html"))
                self.check_page(f"{page.place} at {width}", width)

    def check_page(self, name: str, width: int) -> None:
        wide = self.browser.ask("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, width, f"{name} is wider than the window")
        silent = self.browser.ask(
            "[...document.querySelectorAll('article img, figure.drawn svg, iframe.sample')]"
            ".filter(f => !(f.alt || f.title || f.querySelector('title')?.textContent)).length"
        )
        self.assertEqual(silent, 0, f"{name}: figures without words")
        heights = self.browser.ask(
            "[...document.querySelectorAll('figure.drawn text')]"
            ".map(text => text.getBoundingClientRect().height).filter(height => height)"
        )
        self.assertGreater(min(heights, default=99), 8, f"{name}: words too small")
        self.assertEqual(self.browser.ask(PILED), [], f"{name}: words over each other")
        cut = self.browser.ask(
            "[...document.querySelectorAll('pre > code')].filter(code =>"
            " Math.max(...code.textContent.split('\\n').map(line => line.length)) > 150 &&"
            " code.scrollWidth > code.clientWidth + 1).length"
        )
        self.assertEqual(cut, 0, f"{name}: sentences in blocks that are not wrapped")

    def test_pages_fit_paper(self) -> None:
        self.addCleanup(self.browser.look)
        self.browser.look(width=A4, media="print")
        for page in pages.pages(Project(ROOT))[::EVERY]:
            self.open(page.place.replace(".md", ".html"))
            wide = self.browser.ask("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, A4, f"{page.place} is wider than paper")
            self.assertEqual(self.browser.ask(WRAPPED), [], f"{page.place}: wrapped on paper")

    def test_the_menu_beside_a_chapter(self) -> None:
        """It has the chapters; labs, reference and diagnoses are behind the bar above."""
        self.browser.look(width=1280)
        self.addCleanup(self.browser.look)
        self.open("book/04-peer-access.html")
        beside = self.browser.ask(
            "[...document.querySelectorAll('.md-sidebar--primary a.md-nav__link')]"
            ".filter(link => link.checkVisibility()).map(link => link.pathname)"
        )
        self.assertEqual(len(beside), len(pages.chapters(Project(ROOT))))
        self.assertEqual([place for place in beside if "/book/" not in place], [])
        bar = self.browser.ask("document.querySelector('.md-tabs').textContent")
        for group in ("Start", "The book", "Labs", "Reference", "Diagnoses"):
            self.assertIn(group, bar)

    def test_samples_are_drawn(self) -> None:
        """The pages in frames, by themselves; a frame's inside is nobody's from disk."""
        for name in samples.SAMPLES:
            for width in (390, 1200):
                self.browser.look(width=width)
                self.open(f"samples/{name}.html")
                what, least = ("svg rect", 10) if name in DRAWN else ("tr", 2)
                self.browser.until(f"document.querySelectorAll('{what}').length >= {least}")
                wide = self.browser.ask("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"{name} at {width}")
            self.browser.look(dark=True)
            self.addCleanup(self.browser.look)
            word = self.browser.ask("getComputedStyle(document.body).color")
            self.assertGreater(min(map(int, re.findall(r"\d+", word))), 180, f"{name} in the dark")

    def test_paper(self) -> None:
        """On paper the answers are folded out, and nothing but the page is there."""
        self.browser.look()
        self.open("book/09-collectives.html")
        folded = "document.querySelector('details.question p').checkVisibility()"
        self.assertFalse(self.browser.ask(folded))
        self.browser.look(media="print")
        self.addCleanup(self.browser.look)
        self.assertTrue(self.browser.ask(folded))
        bar = "getComputedStyle(document.querySelector('.md-header')).display"
        self.assertEqual(self.browser.ask(bar), "none")
        paper = base64.b64decode(self.browser.call("Page.printToPDF")["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertGreaterEqual(len(re.findall(rb"/Type */Page\b", paper)), 3)

    def test_a_figure_a_page(self) -> None:
        """Of paper, in the chapters that derive something."""
        self.browser.look(media="print")
        self.addCleanup(self.browser.look)
        for chapter in DERIVING:
            self.open(f"book/{chapter}.html")
            figures = self.browser.ask(
                "document.querySelectorAll('article figure.drawn, article [data-play]').length"
            )
            paper = self.browser.call(
                "Page.printToPDF", paperWidth=210 / 25.4, paperHeight=297 / 25.4
            )
            printed = len(re.findall(rb"/Type */Page\b", base64.b64decode(paper["data"])))
            self.assertGreaterEqual(figures, printed, f"{chapter}: {printed} pages")

    def test_the_ring(self) -> None:
        self.open("book/10-allreduce.html")
        for ranks in (4, 7):
            self.browser.ask(SET % ("ring", 0, ranks))
            self.assertEqual(self.browser.ask(TABLE % "ring")[0], ["rank 0", *["1"] * ranks])
            for _ in range(ranks - 1):
                self.browser.ask(BUTTON % 0)
            whole = self.browser.ask("document.querySelectorAll('[data-play=ring] .whole').length")
            self.assertEqual(whole, ranks, "after reduce-scatter each rank has one whole chunk")
            own = f"document.querySelectorAll('[data-play=ring] tbody tr')[{ranks - 1}].lastChild"
            kind = self.browser.ask(f"{own}.className")
            self.assertIn("whole", kind, "rank r has chunk r, as in lab 07")
            for _ in range(ranks - 1):
                self.browser.ask(BUTTON % 0)
            rows = [[f"rank {r}", *[str(ranks)] * ranks] for r in range(ranks)]
            self.assertEqual(self.browser.ask(TABLE % "ring"), rows)
            self.assertTrue(
                self.browser.ask("document.querySelector('[data-play=ring] button').disabled")
            )

    def test_the_ring_is_drawn(self) -> None:
        """A circle a rank, an arrow for each send of the step, bytes beside the naive way."""
        self.open("book/10-allreduce.html")
        self.browser.ask(SET % ("ring", 0, 5))
        place = "document.querySelector('[data-play=ring]')"
        self.assertEqual(self.browser.ask(f"{place}.querySelectorAll('circle').length"), 5)
        self.assertEqual(self.browser.ask(f"{place}.querySelectorAll('.sends').length"), 0)
        self.browser.ask(BUTTON % 0)
        self.assertEqual(self.browser.ask(f"{place}.querySelectorAll('.sends').length"), 5)
        said = self.browser.ask(f"{place}.querySelector('.costs').textContent")
        self.assertIn("each rank has sent 12.8 of 102.4 MB, in 32.4 of 259.2 µs", said)
        self.assertIn("port has carried 12.8 of 512.0 MB, in 32.4 of 1296.2 µs", said)
        self.browser.ask(SET % ("ring", 1, 640))
        self.browser.ask(SET % ("ring", 2, 100))
        said = self.browser.ask(f"{place}.querySelector('.costs').textContent")
        self.assertIn("128.0 of 1024.0 MB, in 1280.0 of 10240.0 µs", said)
        parts = self.browser.ask(
            f"[...{place}.querySelectorAll('.bar span')].map(part => part.style.width)"
        )
        self.assertEqual(parts, ["2.5%", "17.5%", "2.5%", "97.5%"], "of the naive way's time")
        self.browser.ask(SET % ("ring", 1, ""))
        self.assertEqual(self.browser.ask(f"{place}.querySelectorAll('.bar').length"), 0)

    def test_the_ring_chunk_by_chunk(self) -> None:
        self.open("book/10-allreduce.html")
        self.browser.ask(BUTTON % 1)
        said = self.browser.ask(
            "document.querySelectorAll('[data-play=ring] output')[1].textContent"
        )
        self.assertIn("rank 0 sends chunk 3 to rank 1", said)
        rows = self.browser.ask(TABLE % "ring")
        self.assertEqual([row[4] for row in rows], ["1", "2", "1", "1"])
        moved = self.browser.ask("document.querySelectorAll('[data-play=ring] .moved').length")
        self.assertEqual(moved, 1)
        for _ in range(3):
            self.browser.ask(BUTTON % 1)
        whole_step = self.browser.ask(TABLE % "ring")
        self.browser.ask(BUTTON % 3)
        self.browser.ask(BUTTON % 0)
        self.assertEqual(self.browser.ask(TABLE % "ring"), whole_step, "four chunks are a step")
        self.browser.ask(BUTTON % 2)
        rows = [[f"rank {r}", *["1"] * 4] for r in range(4)]
        self.assertEqual(self.browser.ask(TABLE % "ring"), rows, "one step back is the start")

    def test_the_number_of_gpus_by_mouse_and_keys(self) -> None:
        self.open("book/10-allreduce.html")
        slider = "document.querySelector('[data-play=ring] input')"
        self.browser.ask(f"{slider}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = f"{slider}.getBoundingClientRect()"
        x, y, width = self.browser.ask(f"[{box}.x, {box}.y + {box}.height / 2, {box}.width]")
        self.browser.drag((x + width / 3, y), (x + width - 1, y))
        self.assertEqual(len(self.browser.ask(TABLE % "ring")), 8, "dragged to the right end")
        self.browser.key("ArrowLeft")
        self.assertEqual(len(self.browser.ask(TABLE % "ring")), 7, "one less by the keyboard")
        self.browser.key("Tab")
        self.browser.key("Enter")
        said = self.browser.ask(
            "document.querySelectorAll('[data-play=ring] output')[1].textContent"
        )
        self.assertIn("step 1 of 12", said, "the next step by the keyboard")

    def test_back_from_another_page(self) -> None:
        """Fields and tables say the same, whatever the browser remembers."""
        self.open("book/10-allreduce.html")
        self.browser.ask(SET % ("ring", 0, 7))
        self.open("book/01-why.html")
        self.browser.ask("history.back()")
        self.browser.until("document.querySelectorAll('[data-play=ring] tbody tr').length > 0")
        self.browser.until("document.readyState === 'complete'")
        rows = len(self.browser.ask(TABLE % "ring"))
        field = "document.querySelector('[data-play=ring] input').value"
        self.assertEqual(self.browser.ask(field), str(rows))

    def test_the_ring_fits_a_phone(self) -> None:
        self.browser.look(width=390)
        self.addCleanup(self.browser.look)
        self.open("book/10-allreduce.html")
        over = """{ const cells = document.querySelector('[data-play=ring] .cells');
            cells.scrollWidth - cells.clientWidth }"""
        self.assertLessEqual(self.browser.ask(over), 0)

    def test_the_keyboard_s_place_is_seen(self) -> None:
        self.open("book/11-zero.html")
        self.browser.ask("document.querySelector('[data-play=zero] input').focus()")
        self.browser.key("Tab")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        self.assertEqual(self.browser.ask(outline), "solid")

    def test_the_ways_of_a_copy(self) -> None:
        self.open("book/05-bytes.html")
        times = [row[1] for row in self.browser.ask(TABLE % "path")]
        self.assertEqual(times, ["3.33", "62.50", "31.25"])
        self.browser.ask(SET % ("path", 0, "2000"))
        self.assertEqual(self.browser.ask(TABLE % "path")[0][1], "6.67")
        self.browser.ask(SET % ("path", 0, "0.001"))
        direct = self.browser.ask(TABLE % "path")[0]
        self.assertEqual(direct[1:3], ["0.00000333", "300.0"], "small copies have times, too")
        for bad in ("", "0", "-5", "1e308"):
            self.browser.ask(SET % ("path", 0, bad))
            times = [row[1] for row in self.browser.ask(TABLE % "path")]
            self.assertEqual(times, ["-"] * 3, f"{bad!r} MB")
            marked = "document.querySelector('[data-play=path] input').ariaInvalid"
            self.assertEqual(self.browser.ask(marked), "true")

    def test_the_ways_on_a_machine(self) -> None:
        self.open("book/05-bytes.html")
        choose = """{ const choice = document.querySelector('[data-play=path] select');
            choice.value = '%s'; choice.dispatchEvent(new Event('change')); }"""
        for name, direct in (("textbook-a100-2", "3.33"), ("pcie-4090-2", "-")):
            self.browser.ask(choose % name)
            self.assertEqual(self.browser.ask(TABLE % "path")[0][1], direct, name)
        self.browser.ask(SET % ("path", 1, "300"))
        chosen = self.browser.ask("document.querySelector('[data-play=path] select').value")
        self.assertEqual(chosen, "", "other numbers are no machine's")

    def test_what_fits(self) -> None:
        self.open("book/11-zero.html")
        self.assertEqual(self.column(1), ["112.0", "38.5", "26.2", "14.0"])
        self.assertEqual(self.column(3), ["no", "yes", "yes", "yes"])
        self.browser.ask(SET % ("zero", 0, "7.5"))
        self.browser.ask(SET % ("zero", 1, "64"))
        self.assertEqual(self.column(1), ["120.0", "31.4", "16.6", "1.9"])
        self.browser.ask(SET % ("zero", 0, "1"))
        self.browser.ask(SET % ("zero", 1, "8"))
        self.assertEqual(self.column(1)[2], "3.8", "as zero.c rounds")
        self.browser.ask(SET % ("zero", 1, "2.5"))
        row = self.browser.ask(TABLE % "zero")[3]
        self.assertEqual(row[1:4], ["-", "-", "-"], "there are no half GPUs")

    def column(self, number: int) -> list[str]:
        return [row[number] for row in self.browser.ask(TABLE % "zero")]

    def test_the_planner_has_zero_plan_s_numbers(self) -> None:
        """Activations, and states in host memory: the same figures as the program's."""
        for recompute, offload in (("full", False), ("selective", False), ("none", True)):
            words = [PLAN, "7B", "--gpus", "8", "--recompute", recompute, "--json"]
            plan = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
            stages = [s for s in plan["stages"] if s["offload"] == offload]
            self.open("book/11-zero.html")
            self.browser.ask(SET % ("zero", 0, plan["model"]["params"] / 1e9))
            self.browser.ask(CHOOSE % ("select", "value", f"'{recompute}'"))
            self.browser.ask(CHOOSE % ("[type=checkbox]", "checked", str(offload).lower()))
            kept = plan["activations_bytes"][recompute] + (
                plan["block_activations_bytes"]["none"] if recompute == "full" else 0
            )
            wanted = [(s["states_bytes"] + kept) / 1e9 for s in stages]
            for got, want in zip(self.column(2), wanted, strict=True):
                self.assertAlmostEqual(float(got), want, delta=0.11, msg=recompute)
            host = [s["host_bytes"] / 1e9 for s in stages]
            for got, want in zip(self.column(4), host, strict=True):
                self.assertAlmostEqual(float(got), want, delta=0.11)

    def test_the_planner_s_bars(self) -> None:
        """The bar of a stage ends at its sum, the dashed line at the GPU's memory."""
        self.open("book/11-zero.html")
        widths = """[...document.querySelectorAll('[data-play=zero] .bar')].map(bar =>
            [...bar.querySelectorAll('span')].reduce((n, s) => n + parseFloat(s.style.width), 0))"""
        line = "parseFloat(document.querySelector('[data-play=zero] .bar i').style.left)"
        widest, end = self.browser.ask(widths)[0], self.browser.ask(line)
        self.assertAlmostEqual(widest / end, float(self.column(2)[0]) / 80, places=2)
        self.assertEqual(len(self.browser.ask(widths)), 4)

    def test_progress_is_kept(self) -> None:
        """A chapter and a lab that are ticked off are counted and marked on the first page."""
        said = "document.querySelector('[data-progress]').textContent"
        self.open("index.html")
        self.assertIn(
            "You have read 0 of 17 chapters and passed 0 of 8 labs", self.browser.ask(said)
        )
        tick = "document.querySelector('label.progress input').click()"
        for place in ("book/04-peer-access.html", "labs/02-peer-access/index.html"):
            self.open(place)
            self.browser.ask(tick)
        self.open("index.html")
        self.assertIn(
            "You have read 1 of 17 chapters and passed 1 of 8 labs", self.browser.ask(said)
        )
        marked = "[...document.querySelectorAll('%s')].length"
        self.assertEqual(self.browser.ask(marked % "figure.drawn a.done"), 2)
        self.assertEqual(self.browser.ask(marked % ".md-nav__link.done"), 2)
        self.open("book/04-peer-access.html")
        self.assertTrue(self.browser.ask("document.querySelector('label.progress input').checked"))
        self.browser.ask(tick)
        self.open("index.html")
        self.assertIn("You have read 0 of 17", self.browser.ask(said))
        self.browser.ask("localStorage.setItem('peerlab.progress', '{broken')")
        self.open("index.html")
        self.assertIn(
            "You have read 0 of 17", self.browser.ask(said), "what cannot be read is nothing"
        )


class Themes(unittest.TestCase):
    """Each reader comes for the first time: no choice is remembered."""

    def check_theme(self, scheme: str) -> None:
        with Browser(find() or "") as browser:
            browser.look(dark=scheme == "slate")
            made = [SITE / p.place.replace(".md", ".html") for p in pages.pages(Project(ROOT))]
            for page in [page for page in made if 'figure class="drawn"' in page.read_text()]:
                browser.open(page)
                self.assertEqual(browser.ask("document.body.dataset.mdColorScheme"), scheme)
                odd = browser.ask(
                    "[...document.querySelectorAll('figure.drawn text')].filter(text =>"
                    " getComputedStyle(text).fill !="
                    " getComputedStyle(document.querySelector('article')).color).length"
                )
                self.assertEqual(odd, 0, f"{page.name}: words of figures in another colour")
                pale = browser.ask(PALE)
                self.assertEqual(pale, [], f"{page.name}: code that is hard to see")

    def test_the_switch(self) -> None:
        with Browser(find() or "") as browser:
            browser.look()
            browser.open(SITE / "index.html")
            browser.ask("document.querySelector('label[for=__palette_1]').click()")
            browser.until("document.body.dataset.mdColorScheme === 'slate'")
            browser.open(SITE / "book/01-why.html")
            browser.until("document.body.dataset.mdColorScheme === 'slate'")

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
