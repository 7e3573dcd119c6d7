# SPDX-License-Identifier: MIT
"""VGPU_TRACE: test_trace.py PROGRAM, where PROGRAM is traced.cu built with vgpu-cc.

The trace is Chrome's format, says what the events say, and is the same bytes in every run.
"""

import itertools
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

PROGRAM = sys.argv[1]
MiB4 = 1 << 22
NODE = Path(__file__).parents[2] / "vgpu" / "nodes" / "hgx-h200-4.json"
LATE_PS = round(json.loads(NODE.read_text())["edges"]["stream"]["other_kind_us"] * 1e6)


def run(trace: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=f"trace-{os.getpid()}")
    environment.pop("VGPU_TRACE", None)
    if trace:
        environment["VGPU_TRACE"] = trace
    return subprocess.run(
        [PROGRAM], env=environment | more, capture_output=True, text=True, timeout=60, check=True
    )


def picoseconds(event: dict, key: str) -> int:
    """`key` is a number with six places of microseconds: read as text, nothing is rounded."""
    whole, places = event[key].split(".")
    assert len(places) == 6, event
    return int(whole) * 10**6 + int(places)


def float32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            cls.printed = run(str(path)).stdout
            cls.text = path.read_text()
        cls.trace = json.loads(cls.text, parse_float=str)
        cls.events = cls.trace["traceEvents"]
        cls.slices = [event for event in cls.events if event["ph"] == "X"]
        cls.rows = {
            (event["pid"], event["tid"]): event["args"]["name"]
            for event in cls.events
            if event["name"] == "thread_name"
        }

    def on(self, gpu: int, row: str) -> list[dict]:
        return [
            s for s in self.slices if s["pid"] == gpu + 1 and self.rows[1 + gpu, s["tid"]] == row
        ]

    def test_the_same_bytes_in_every_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for i in range(4):
                path = Path(folder, f"trace{i}.json")
                run(str(path), VGPU_WORKERS=str(1 + i % 2))
                self.assertEqual(path.read_text(), self.text)

    def test_rows(self) -> None:
        for gpu in (0, 1):
            self.assertEqual(len(self.on(gpu, "stream 1")), 5)
            self.assertEqual([s["name"] for s in self.on(gpu, "stream 2")], ["cudaMemcpyPeerAsync"])
            for engine in ("copies from host", "copies to host", "copies to peers"):
                self.assertEqual(len(self.on(gpu, engine)), 1, engine)
        kinds = {s["cat"] for s in self.slices}
        self.assertEqual(kinds, {"kernel", "copy", "memset"})

    def test_slices_of_a_row_do_not_overlap(self) -> None:
        rows = defaultdict(list)
        for s in self.slices:
            start = picoseconds(s, "ts")
            rows[s["pid"], s["tid"]].append((start, start + picoseconds(s, "dur")))
        for row, spans in rows.items():
            spans.sort()
            for (_, end), (start, _) in itertools.pairwise(spans):
                self.assertLessEqual(end, start, self.rows[row])

    def test_intervals_are_what_the_events_say(self) -> None:
        lines = self.printed.splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            name, gpu, ms = line.split()
            row = "stream 2" if name == "cudaMemcpyPeerAsync" else "stream 1"
            slices = [s for s in self.on(int(gpu), row) if s["name"] == name]
            # each copies behind a kernel, which its engine hears of later than the event before it
            durations = [float32((picoseconds(s, "dur") + LATE_PS) * 1e-9) for s in slices]
            self.assertIn(float32(float(ms)), durations, line)

    def test_arrows_join_what_events_order(self) -> None:
        starts = {e["id"]: e for e in self.events if e["ph"] == "s"}
        ends = {e["id"]: e for e in self.events if e["ph"] == "f"}
        self.assertEqual(starts.keys(), ends.keys())
        found = set()
        for number, start in starts.items():
            a, b = self.around(start), self.around(ends[number])
            end = picoseconds(a, "ts") + picoseconds(a, "dur")
            self.assertLessEqual(end, picoseconds(b, "ts"))
            found.add((a["pid"], a["name"], b["pid"], b["name"]))
        peer = "cudaMemcpyPeerAsync"
        self.assertEqual(
            found,
            {(1, "add", 2, peer), (2, "add", 1, peer), (1, peer, 1, "add"), (2, peer, 2, "add")},
        )

    def around(self, point: dict) -> dict:
        """The slice that an arrow's end lies in."""
        at, row = picoseconds(point, "ts"), (point["pid"], point["tid"])
        found = [
            s
            for s in self.slices
            if (s["pid"], s["tid"]) == row
            and picoseconds(s, "ts") <= at < picoseconds(s, "ts") + picoseconds(s, "dur")
        ]
        self.assertEqual(len(found), 1, point)
        return found[0]

    def test_links_carry_their_bytes(self) -> None:
        """The area under a link's rate is the bytes that it carried; the copies' are known."""
        area: dict[str, float] = defaultdict(float)
        last: dict[str, tuple[int, float]] = {}
        for event in self.events:
            if event["ph"] != "C":
                continue
            name, at = event["name"], picoseconds(event, "ts")
            since, rate = last.get(name, (at, 0.0))
            self.assertLessEqual(since, at)
            area[name] += rate * (at - since) * 1e-3
            last[name] = (at, float(event["args"]["GB/s"]))
        links = {link["name"]: link for link in self.trace["otherData"]["links"]}
        for name, link in links.items():
            self.assertEqual(last.get(name, (0, 0.0))[1], 0, f"{name} never stops")
            if "memory" not in name:  # a written byte takes longer than a read one there
                self.assertAlmostEqual(area[name], link["bytes"], delta=link["bytes"] * 1e-4)
        self.assertEqual(links["GPU0 PCIe down"]["bytes"], MiB4)
        self.assertEqual(links["GPU0 NVLink out"]["bytes"], 2 * MiB4)  # a copy, a kernel's loads
        self.assertEqual(links["GPU0 memory"]["bytes"], MiB4 * (1 + 3 + 2))
        self.assertEqual(links["GPU3 NVLink in"]["bytes"], 0)

    def test_only_when_asked(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("").stdout, self.printed)
            self.assertEqual(list(Path(folder).iterdir()), [])
            missing = run(str(Path(folder, "no", "such.json")))
            self.assertIn("VGPU_TRACE", missing.stderr)
            self.assertEqual(missing.stdout, self.printed)

    def test_a_pipe_is_not_written_to(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "pipe")
            os.mkfifo(path)
            reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            self.assertEqual(run(str(path)).stdout, self.printed)
            self.assertEqual(os.read(reader, 10), b"")
            os.close(reader)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
