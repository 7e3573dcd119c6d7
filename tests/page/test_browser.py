# SPDX-License-Identifier: MIT
"""The page of ./lab trace in a browser: test_browser.py PROGRAM CHROMIUM ROOT, where PROGRAM is
tests/clock/traced.cu. The browser has no network and the page nothing to fetch."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

PROGRAM, CHROMIUM, ROOT = sys.argv[1], sys.argv[2], Path(sys.argv[3])
sys.path.insert(0, str(ROOT))

from grader.base.exits import LabError  # noqa: E402
from grader.learning import trace  # noqa: E402 (found by the path given)


class Elements(HTMLParser):
    """Every element of a document: (name, attributes)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {key: value or "" for key, value in attrs}))

    def with_class(self, name: str) -> list[dict[str, str]]:
        return [given for _, given in self.found if name in given.get("class", "").split()]


def browse(page: Path, *words: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as profile:
        always = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
        alone = [f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND"]
        return subprocess.run(
            [CHROMIUM, *always, *alone, *words, page.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )


SLICES = (
    (0.0, "host", "given.c:3"),
    (900.0, "copy", "given.c:4"),
    (1000.0, "host", "mine.c:1"),
    (1020.0, "kernel", "mine.c:2"),
    (2000.0, "copy", "given.c:9"),
)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = Path(cls.folder.name, "trace.json")
        more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"browser-{os.getpid()}"}
        environment = os.environ | more | {"VGPU_TRACE": str(path)}
        subprocess.run([PROGRAM], env=environment, timeout=60, check=True, capture_output=True)
        cls.trace = path
        cls.events = json.loads(path.read_text())["traceEvents"]
        cls.path = Path(cls.folder.name, "page.html")
        cls.lab = subprocess.run(
            [ROOT / "lab", "trace", path, "-o", cls.path],
            capture_output=True,
            text=True,
            timeout=60,
        )
        done = browse(cls.path, "--dump-dom")
        cls.said, cls.page = done.stderr, Elements(done.stdout)

    def test_scripts_ran_without_an_error(self) -> None:
        self.assertNotRegex(self.said, r"Uncaught|SyntaxError|CONSOLE")

    def test_nothing_is_fetched(self) -> None:
        text = self.path.read_text()
        addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
        self.assertLessEqual(
            addresses, {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
        )
        for tag, given in self.page.found:
            self.assertNotIn(tag, ("link", "img", "iframe"))
            self.assertNotIn("src", given)

    def drawn(self) -> list[dict]:
        """What ran from the first to the last operation of a GPU, on which the page opens."""
        slices = [event for event in self.events if event["ph"] == "X"]
        begin, end = trace.opened(trace.read(self.trace), "")
        return [s for s in slices if s["ts"] <= end and s["ts"] + s["dur"] >= begin]

    def test_every_slice_and_arrow_is_drawn(self) -> None:
        slices = self.drawn()
        arrows = [event for event in self.events if event["ph"] == "s"]
        self.assertGreater(len(slices), 10)
        self.assertEqual(len(self.page.with_class("slice")), len(slices))
        self.assertEqual(len(self.page.with_class("arrow")), len(arrows))

    def test_widths_are_as_the_times(self) -> None:
        """The longest slice is as much wider than the shortest copy as it is longer."""
        slices = self.drawn()
        drawn = [float(given["width"]) for given in self.page.with_class("slice")]
        ratios = [
            width / s["dur"]
            for width, s in zip(drawn, slices, strict=True)
            if s["dur"] > 5 and s["cat"] != "host"  # a call may begin before what is shown
        ]
        self.assertLess(max(ratios) / min(ratios), 1.001)

    def test_it_opens_on_what_the_file_did(self) -> None:
        """Not on the set-up, which takes most of the time; without the file, on the GPUs' work."""
        slices = [
            {"ph": "X", "ts": ts, "dur": 10.0, "cat": cat, "args": {"site": site}}
            for ts, cat, site in SLICES
        ]
        made = {"traceEvents": slices}
        self.assertEqual(trace.opened(made, "mine.c"), (1000, 1030))
        self.assertEqual(trace.opened(made, "other.c"), (900, 2010))
        self.assertEqual(trace.opened(made, ""), (900, 2010))
        given = next(given for _, given in self.page.found if given.get("id") == "timeline")
        shown = float(given["data-from"]), float(given["data-to"])
        self.assertEqual(shown, trace.opened(trace.read(self.trace), ""))

    def test_findings_and_ranges_are_drawn(self) -> None:
        made = trace.read(self.trace)
        kernel = next(event for event in made["traceEvents"] if event.get("cat") == "kernel")
        same = {key: kernel[key] for key in ("pid", "tid", "ts")}
        mark = {"ph": "i", "s": "t", "cat": "finding", "name": "order.streams", "args": {}}
        made["traceEvents"].append({**same, **mark})
        made["traceEvents"].append({**kernel, "cat": "range", "name": "step", "args": {}})
        path = Path(self.folder.name, "marked.html")
        path.write_text(trace.page(ROOT / "vgpu" / "nodes", made, "marked"), encoding="utf-8")
        done = browse(path, "--dump-dom")
        self.assertNotRegex(done.stderr, r"Uncaught|SyntaxError|CONSOLE")
        page = Elements(done.stdout)
        (finding,) = page.with_class("finding")
        self.assertIn("./lab explain order.streams", finding["data-details"])
        self.assertEqual(len(page.with_class("range")), 1)

    def test_details_are_there_to_point_at(self) -> None:
        details = [given.get("data-details", "") for given in self.page.with_class("slice")]
        copies = [text for text in details if re.match(r"cudaMemcpyPeerAsync\n.*\n.* issued", text)]
        self.assertEqual(len(copies), 4)
        self.assertIn("from GPU 1 to GPU 0", copies[0])
        self.assertIn("4194304 bytes", copies[0])
        rates = [given.get("data-details", "") for given in self.page.with_class("rate")]
        self.assertTrue(any("GPU0 NVLink out\n395.4 of 397 GB/s (99.6 %)" in x for x in rates))

    def test_bytes_on_the_topology(self) -> None:
        titles = [given.get("xlink:title", "") for _, given in self.page.found]
        self.assertTrue(any("GPU0 NVLink out: 8.39 MB" in title for title in titles))
        self.assertEqual(len([g for g in self.page.with_class("node") if "GPU" in g["id"]]), 4)

    def test_what_lab_trace_says(self) -> None:
        self.assertEqual(self.lab.returncode, 0, self.lab.stderr)
        said = f"hgx-h200-4: 12 operations in [0-9.]+ us, 50.3 MB over links\n{self.path}\n"
        there = f"in Perfetto: open {self.trace} at https://ui.perfetto.dev, [a-z ]+\n"
        self.assertRegex(self.lab.stdout, f"^{said}{there}$")

    def test_the_trace_of_a_test_is_kept_beside_its_page(self) -> None:
        page = Path(self.folder.name, "kept", "count.html")
        words = [ROOT / "lab", "trace", "04.shared", "--solution", "-o", page]
        done = subprocess.run(words, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"open {page.with_suffix('.json')} at", done.stdout)
        self.assertTrue(trace.read(page.with_suffix(".json"))["traceEvents"])

    def test_bars_that_are_wide_enough_have_names(self) -> None:
        self.assertGreater(len(self.page.with_class("name")), 4)
        self.assertLessEqual(len(self.page.with_class("name")), len(self.page.with_class("slice")))

    def test_the_title_is_text(self) -> None:
        made = trace.page(ROOT / "vgpu" / "nodes", trace.read(self.trace), "a <test> & more")
        self.assertNotIn("test", [tag for tag, _ in Elements(made).found])

    def test_what_is_no_trace(self) -> None:
        for text in ("", "[]", '{"traceEvents": []}'):
            path = Path(self.folder.name, "bad.json")
            path.write_text(text)
            with self.assertRaisesRegex(LabError, "no trace that VGPU_TRACE wrote"):
                trace.read(path)

    def test_a_picture_of_it(self) -> None:
        picture = Path(self.folder.name, "page.png")
        browse(self.path, f"--screenshot={picture}", "--window-size=1250,1100")
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(picture.stat().st_size, 20_000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
