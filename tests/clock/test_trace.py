# SPDX-License-Identifier: MIT
"""VGPU_TRACE: test_trace.py PROGRAM UNORDERED, which are traced.cu and unordered.cu built with
vgpu-cc.

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

PROGRAM, UNORDERED = sys.argv[1:]
MiB4 = 1 << 22
STREAMS = (("stream 1", "stream 2"), ("stream 3", "stream 4"))  # as messages number them
NODE = Path(__file__).parents[2] / "vgpu" / "nodes" / "hgx-h200-4.json"
LATE_PS = round(json.loads(NODE.read_text())["edges"]["stream"]["other_kind_us"] * 1e6)
TIMED_PS = round(json.loads(NODE.read_text())["calls"]["timed_event_us"] * 1e6)


def run(trace: str, program: str = PROGRAM, **more: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=f"trace-{os.getpid()}")
    environment.pop("VGPU_TRACE", None)
    if trace:
        environment["VGPU_TRACE"] = trace
    return subprocess.run(
        [program], env=environment | more, capture_output=True, text=True, timeout=60, check=True
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
        drawn = [event for event in cls.events if event["ph"] == "X"]
        cls.slices = [event for event in drawn if event["cat"] not in ("host", "range")]
        cls.calls = [event for event in drawn if event["cat"] == "host"]
        cls.rows = {
            (event["pid"], event["tid"]): event["args"]["name"]
            for event in cls.events
            if event["name"] == "thread_name"
        }

    def named(self, name: str) -> list[dict]:
        return [s for s in self.slices if s["name"] == name]

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
        for gpu, (work, copies) in enumerate(STREAMS):
            self.assertEqual(len(self.on(gpu, work)), 5)
            self.assertEqual([s["name"] for s in self.on(gpu, copies)], ["cudaMemcpyPeerAsync"])
            for engine in ("copies from host", "copies to host", "copies to peers"):
                self.assertEqual(len(self.on(gpu, engine)), 1, engine)
        kinds = {s["cat"] for s in self.slices}
        self.assertEqual(kinds, {"kernel", "copy", "memset"})

    def test_calls_of_the_host(self) -> None:
        """In the order of the program, and a wait lasts until what it waits for is over."""
        self.assertEqual(
            {self.rows[call["pid"], call["tid"]] for call in self.calls}, {"host thread 1"}
        )
        names = [call["name"] for call in self.calls]
        self.assertEqual([name for name in names if name == "cudaMalloc"], ["cudaMalloc"] * 4)
        self.assertLess(names.index("cudaMalloc"), names.index("cudaMemcpyPeerAsync"))
        wait = next(call for call in reversed(self.calls) if "Synchronize" in call["name"])
        over = picoseconds(wait, "ts") + picoseconds(wait, "dur")
        last = max(picoseconds(s, "ts") + picoseconds(s, "dur") for s in self.slices)
        self.assertGreaterEqual(over, last)
        self.assertEqual(names.count("cudaLaunchKernel"), len(self.named("add")))

    def test_slices_of_a_row_do_not_overlap(self) -> None:
        rows = defaultdict(list)
        for s in self.slices + self.calls:
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
            row = STREAMS[int(gpu)][name == "cudaMemcpyPeerAsync"]
            slices = [s for s in self.on(int(gpu), row) if s["name"] == name]
            # Each copies behind a kernel, which its engine hears of later than the event before it.
            # Between GPUs this event has waited for another one with timing, which ended later.
            late_ps = TIMED_PS if name == "cudaMemcpyPeerAsync" else LATE_PS
            durations = [float32((s["args"]["ps"] + late_ps) * 1e-9) for s in slices]
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


class Unordered(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            cls.said = run(str(path), UNORDERED, VGPU_CHECK="all").stderr
            cls.trace = json.loads(path.read_text())
        cls.events = cls.trace["traceEvents"]

    def row(self, event: dict) -> str:
        named = [e for e in self.events if e["name"] == "thread_name"]
        place = event["pid"], event["tid"]
        return next(e["args"]["name"] for e in named if (e["pid"], e["tid"]) == place)

    def test_a_finding_is_marked_where_its_operation_begins(self) -> None:
        (mark,) = (e for e in self.events if e["ph"] == "i")
        self.assertEqual((mark["name"], mark["cat"]), ("order.streams", "finding"))
        (first,) = (e for e in self.events if e["name"] == "fill")
        self.assertEqual((mark["pid"], mark["tid"]), (first["pid"], first["tid"]))
        self.assertEqual(mark["ts"], first["ts"])
        self.assertRegex(mark["args"]["site"], r"unordered\.cu:\d+")

    def test_streams_have_the_numbers_of_messages(self) -> None:
        kernels = [e for e in self.events if e.get("cat") == "kernel"]
        self.assertEqual([self.row(kernel) for kernel in kernels], ["stream 2", "stream 3"])
        for number in (2, 3):
            self.assertIn(f"stream {number} of GPU 1", self.said.replace("\n", " "))

    def test_ranges(self) -> None:
        """The inner one lies in the outer one, which lasts until the kernels are over."""
        outer, inner = (e for e in self.events if e.get("cat") == "range")
        self.assertEqual((outer["name"], inner["name"]), ("step", "launch"))
        self.assertEqual(self.row(outer), "NVTX, host thread 1")
        ends = [e["ts"] + e["dur"] for e in self.events if e.get("cat") == "kernel"]
        self.assertLess(inner["ts"] + inner["dur"], max(ends))
        self.assertGreater(outer["ts"] + outer["dur"], max(ends))
        self.assertLessEqual(outer["ts"], inner["ts"])

    def test_the_rules_of_the_format(self) -> None:
        """Those of the Trace Event Format, as far as such events are used, for Perfetto."""
        problems = [fault for event in self.events for fault in faults(event)]
        self.assertEqual(problems, [])
        self.assertEqual(self.trace["displayTimeUnit"], "ns")
        nested: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for event in (e for e in self.events if e["ph"] == "X"):
            nested[event["pid"], event["tid"]].append(
                (round(event["ts"] * 1e6), -round(event["dur"] * 1e6))
            )
        for spans in nested.values():
            open_until: list[int] = []
            for ts, dur in sorted(spans):
                while open_until and open_until[-1] <= ts:
                    open_until.pop()
                self.assertLessEqual(ts - dur, min([*open_until, 1 << 62]))
                open_until.append(ts - dur)


NEEDED = {
    "X": {"ts": float, "dur": float, "name": str, "cat": str},
    "i": {"ts": float, "s": str, "name": str, "cat": str},
    "M": {"name": str, "args": dict},
    "C": {"ts": float, "name": str, "args": dict},
    "s": {"ts": float, "id": int, "name": str, "cat": str},
    "f": {"ts": float, "id": int, "name": str, "cat": str, "bp": str},
}


def faults(event: dict) -> list[str]:
    """What in an event breaks the rules of the format."""
    needed = NEEDED.get(event.get("ph", ""))
    if needed is None:
        return [f"a phase that is not used here: {event}"]
    wrong = [
        f"{key}: {event}"
        for key, kind in {**needed, "pid": int, "tid": int}.items()
        if not isinstance(event.get(key), kind)
    ]
    if event["ph"] == "C" and not all(isinstance(v, float) for v in event["args"].values()):
        wrong.append(f"a counter of what is no number: {event}")
    if event["ph"] == "i" and event.get("s") not in ("g", "p", "t"):
        wrong.append(f"an instant without a scope: {event}")
    if event["ph"] in "Xi" and not isinstance(event.get("args"), dict):
        wrong.append(f"args: {event}")
    return wrong


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
