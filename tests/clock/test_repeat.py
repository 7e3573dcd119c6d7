# SPDX-License-Identifier: MIT
"""The same times and trace in every run: test_repeat.py PROGRAM [WORD ...], where PROGRAM is
traced.cu, or carry.cu, whose threads print their lines in any order, and have numbers in any.

10 runs: as it is, on one processor, with other numbers of workers; and 2 under valgrind where that
is installed. With PEERLAB_FULL=1 a thousand and 10, some of them on a machine that is kept busy (in
CI other tests run beside this one).
"""

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = sys.argv[1:]
FULL = "PEERLAB_FULL" in os.environ
RUNS, WITH_VALGRIND = (1000, 10) if FULL else (10, 2)
IDS = itertools.count()


def run(folder: str, *before: str, **more: str) -> str:
    """A digest of what the program printed and of its trace."""
    trace = Path(folder, f"trace{next(IDS)}.json")
    environment = dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_TRACE=str(trace))
    environment["VGPU_NODE_ID"] = f"repeat-{os.getpid()}"
    done = subprocess.run(
        [*before, *PROGRAM],
        env=environment | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    lines = sorted(done.stdout.splitlines())
    # Which form a kernel had is a matter of settings; all else of the trace is the same in both.
    timeline = unnumbered(re.sub(r',"form":"[^"]*"', "", trace.read_text()))
    text = "\n".join([*lines, done.stderr, timeline])
    trace.unlink()
    return hashlib.sha256(text.encode()).hexdigest()


def unnumbered(trace: str) -> str:
    """The trace; of several host threads which is which is not said: they begin in any order."""
    if len(PROGRAM) == 1:
        return trace
    events = json.loads(trace)["traceEvents"]
    for event in events:
        if event.get("cat") == "host":
            del event["tid"]
    return "\n".join(sorted(json.dumps(event, sort_keys=True) for event in events))


@contextmanager
def busy() -> Iterator[None]:
    """At full length two endless loops for each processor."""
    words = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(words) for _ in range(2 * (os.cpu_count() or 1) * FULL)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def one_processor() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Repeat(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.first = run(cls.folder.name)

    def again(self, times: int, *before: str, **more: str) -> None:
        for number in range(times):
            self.assertEqual(run(self.folder.name, *before, **more), self.first, f"run {number}")

    def test_quiet(self) -> None:
        self.again(RUNS * 2 // 5)

    def test_workers(self) -> None:
        self.again(RUNS // 10, VGPU_WORKERS="1")
        self.again(RUNS // 10, VGPU_WORKERS="3", VGPU_LANES="reverse")
        self.again(RUNS // 10, VGPU_FORM="careful")

    def test_busy(self) -> None:
        with busy():
            self.again(RUNS // 5)

    def test_one_processor(self) -> None:
        with one_processor():
            self.again(RUNS // 5)

    def test_valgrind(self) -> None:
        if shutil.which("valgrind"):
            self.again(WITH_VALGRIND, "valgrind", "-q", "--error-exitcode=9")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
