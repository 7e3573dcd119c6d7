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
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "book")]

from chromium import Browser  # noqa: E402 (all three found by the paths given)

from grader.base.exits import LabError  # noqa: E402
from grader.learning import trace  # noqa: E402


class Elements(HTMLParser):
    """Every element of a document, (name, attributes), and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {key: value or "" for key, value in attrs}))

    def with_class(self, name: str) -> list[dict[str, str]]:
        """`name` may be several words."""
        words = set(name.split())
        return [given for _, given in self.found if words <= set(given.get("class", "").split())]


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


SLICES = (  # begin, end, kind, where
    (0.0, 10.0, "host", "given.c:3"),
    (900.0, 910.0, "copy", "given.c:4"),
    (1000.0, 1010.0, "host", "mine.c:1"),
    (1020.0, 1030.0, "kernel", "mine.c:2"),
    (1090.0, 1100.0, "kernel", "mine.c:2"),
    (1300.0, 1600.0, "host", "mine.c:1"),
    (1610.0, 1710.0, "copy", "mine.c:3"),
    (2000.0, 2010.0, "copy", "given.c:9"),
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
        """What ran in the part on which the page opens."""
        slices = [event for event in self.events if event["ph"] == "X"]
        made = trace.read(self.trace)
        among = trace.parts(made, "")
        begin, end = among[trace.opened(made, among)]
        return [s for s in slices if s["ts"] <= end and s["ts"] + s["dur"] >= begin]

    def test_every_slice_and_arrow_is_drawn(self) -> None:
        slices = self.drawn()
        arrows = [event for event in self.events if event["ph"] == "s"]
        self.assertGreater(len(slices), 10)
        self.assertEqual(len(self.page.with_class("slice")), len(slices))
        self.assertEqual(len(self.page.with_class("arrow")), len(arrows))

    def test_rows_without_anything_are_left_out(self) -> None:
        """Each row of what is drawn has a line, and each link that carries something then."""
        lines = [g for g in self.page.with_class("row") if "x1" in g and g["x1"] != g["x2"]]
        rows = {(s["pid"], s["tid"]) for s in self.drawn()}
        every = {(s["pid"], s["tid"]) for s in self.events if s["ph"] == "X"}
        links = {g["data-details"].split("\n")[0] for g in self.page.with_class("rate")}
        self.assertEqual(len(lines), len(rows) + len(links))
        made = trace.read(self.trace)
        late = max(s["ts"] + s["dur"] for s in self.events if s["ph"] == "X")
        kernel = next(event for event in self.events if event.get("cat") == "kernel")
        later = {"ts": late + 1e6, "tid": 9999, "args": {"issued": late + 1e6, "bytes": 0}}
        made["traceEvents"].append(kernel | later)
        page = self.browsed(made)
        self.assertEqual(len(page.with_class("slice")), 1)  # the last part is that slice
        self.assertGreater(len(every), 10)
        self.go_through(Path(self.folder.name, "made.html"))

    def go_through(self, page: Path) -> None:
        """From part to part with the buttons, and to the whole."""
        drawn = {
            "earlier": ("part 1 of 2", len(self.drawn())),
            "later": ("part 2 of 2", 1),
            "Home": ("2 parts", 1 + len([s for s in self.events if s["ph"] == "X"])),
        }
        with Browser(CHROMIUM) as browser:
            browser.open(page)
            for key, wanted in drawn.items():
                browser.ask(f"document.querySelector('[data-key={key}]').click()")
                said = browser.ask("document.getElementById('part').textContent")
                count = browser.ask("document.querySelectorAll('.slice').length")
                self.assertEqual((said, count), wanted)

    def browsed(self, made: trace.Trace, source: str = "") -> Elements:
        path = Path(self.folder.name, "made.html")
        path.write_text(trace.page(ROOT / "vgpu" / "nodes", made, "made", source))
        done = browse(path, "--dump-dom")
        self.assertNotRegex(done.stderr, r"Uncaught|SyntaxError|CONSOLE")
        return Elements(done.stdout)

    def test_widths_are_as_the_times(self) -> None:
        """The longest slice is as much wider than the shortest copy as it is longer."""
        ratios = []
        for given in self.page.with_class("slice"):
            begin, end = re.findall(r"([0-9.]+) us\b", given["data-details"])[:2]
            lasts = float(end) - float(begin)
            if lasts > 5 and "host" not in given["class"]:  # a call may begin before what is shown
                ratios.append(float(given["width"]) / lasts)
        self.assertGreater(len(ratios), 8)
        self.assertLess(max(ratios) / min(ratios), 1.001)

    def test_a_part_is_what_gpus_did_for_the_file(self) -> None:
        """Not the set-up, which takes most of the time; without the file, all of the GPUs' work."""
        slices = [
            {"ph": "X", "ts": a, "dur": b - a, "cat": cat, "pid": 1, "tid": 0, "args": {"site": at}}
            for a, b, cat, at in SLICES
        ]
        slices[6]["args"]["issued"] = 1500.0
        made = {"traceEvents": slices}

        def parts(source: str) -> list[tuple[int, int]]:
            found = trace.parts(made, source)
            self.assertEqual(trace.opened(made, found), len(found) - 1)
            return [(round(a), round(b)) for a, b in found]

        mine = [(1018, 1102), (1494, 1716)]
        self.assertEqual(parts("mine.c"), mine)
        everything = [(900, 910), *mine, (2000, 2010)]
        self.assertEqual(parts("other.c"), everything)
        self.assertEqual(parts(""), everything)
        slices.append(slices[1] | {"ph": "i", "cat": "finding"})
        found = trace.parts(made, "mine.c")
        self.assertEqual([round(a) for a, _ in found], [900, 1018, 1494])
        self.assertEqual(trace.opened(made, found), 0)
        made["traceEvents"] = [one for one in slices if one["cat"] == "host"]
        self.assertEqual(parts("given.c"), [(0, 10)])

    def test_it_opens_on_the_last_part(self) -> None:
        given = next(given for _, given in self.page.found if given.get("id") == "timeline")
        among = trace.parts(trace.read(self.trace), "")
        self.assertEqual(json.loads(given["data-parts"]), [list(one) for one in among])
        self.assertEqual(int(given["data-part"]), len(among) - 1)

    def test_findings_and_ranges_are_drawn(self) -> None:
        made = trace.read(self.trace)
        kernel = next(event for event in made["traceEvents"] if event.get("cat") == "kernel")
        same = {key: kernel[key] for key in ("pid", "tid", "ts")}
        mark = {"ph": "i", "s": "t", "cat": "finding", "name": "order.streams", "args": {}}
        made["traceEvents"] += [{**same, **mark}] * 2
        inner = {**kernel, "cat": "range", "name": "inner", "tid": 9999, "args": {}}
        made["traceEvents"] += [inner, {**inner, "name": "outer", "dur": kernel["dur"] + 1}]
        page = self.browsed(made)
        findings = page.with_class("finding")
        self.assertIn("./lab explain order.streams", findings[0]["data-details"])
        self.assertEqual({given["d"] for given in findings}, {findings[0]["d"]})
        self.assertEqual(page.text.count("order.streams: GPU 0, stream"), 1)
        outer, inner = sorted(page.with_class("range slice"), key=lambda given: float(given["y"]))
        self.assertIn("outer", outer["data-details"])
        self.assertEqual(float(inner["y"]) - float(outer["y"]), 18)  # none covers another

    def test_details_are_there_to_point_at(self) -> None:
        details = [given.get("data-details", "") for given in self.page.with_class("slice")]
        copies = [text for text in details if re.match(r"cudaMemcpyPeerAsync\n.*\n.* issued", text)]
        self.assertEqual(len(copies), 4)
        self.assertIn("from GPU 1 to GPU 0", copies[0])
        self.assertIn("4194304 bytes", copies[0])
        rates = [given.get("data-details", "") for given in self.page.with_class("rate")]
        self.assertTrue(any("GPU0 NVLink out\n380 of 397 GB/s (95.7 %)" in x for x in rates))

    def test_bytes_on_the_topology(self) -> None:
        titles = [given.get("xlink:title", "") for _, given in self.page.found]
        self.assertTrue(any("GPU0 NVLink out: 8.39 MB" in title for title in titles))
        self.assertEqual(len([g for g in self.page.with_class("node") if "GPU" in g["id"]]), 4)

    def test_what_lab_trace_says(self) -> None:
        self.assertEqual(self.lab.returncode, 0, self.lab.stderr)
        said = f"hgx-h200-4: 12 operations in [0-9.]+ us, 50.3 MB over links\n{self.path}\n"
        there = f"in Perfetto: open {self.trace} at https://ui.perfetto.dev, [a-z ]+\n"
        self.assertRegex(self.lab.stdout, f"^{said}{there} +[(]Open trace file; [a-zA-Z ]+[)]\n$")

    def test_the_trace_of_a_test_is_kept_beside_its_page(self) -> None:
        page = Path(self.folder.name, "kept", "count.html")
        words = [ROOT / "lab", "trace", "04.shared", "--solution", "-o", page]
        done = subprocess.run(words, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"open {page.with_suffix('.json')} at", done.stdout)
        self.assertTrue(trace.read(page.with_suffix(".json"))["traceEvents"])

    def test_bars_have_names_on_them_or_beside_them(self) -> None:
        self.assertGreater(len(self.page.with_class("beside")), 1)
        self.assertGreater(len(self.page.with_class("name")), 4)
        self.assertLessEqual(len(self.page.with_class("name")), len(self.page.with_class("slice")))

    def test_the_title_is_text(self) -> None:
        made = trace.page(ROOT / "vgpu" / "nodes", trace.read(self.trace), "a <test> & more")
        self.assertNotIn("test", [tag for tag, _ in Elements(made).found])

    def test_what_is_no_trace(self) -> None:
        for text in ("", "[]", '{"traceEvents": []}'):
            path = Path(self.folder.name, "bad.json")
            path.write_text(text)
            with self.assertRaisesRegex(LabError, "not a trace that VGPU_TRACE wrote"):
                trace.read(path)

    def test_a_picture_of_it(self) -> None:
        picture = Path(self.folder.name, "page.png")
        browse(self.path, f"--screenshot={picture}", "--window-size=1250,1100")
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(picture.stat().st_size, 20_000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
