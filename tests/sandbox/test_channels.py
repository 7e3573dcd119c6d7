# SPDX-License-Identifier: MIT
"""Two submissions that run at the same time tell each other nothing: tests/hostile/pair.c tries
each channel that is known here, on every tier. What stays open is listed here and in
docs/security.md."""

import os
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader.sandbox import Limits, Request, Tier, run, slots
from tests.sandbox.tiers import available

SOURCE = Path(__file__).parents[1] / "hostile" / "pair.c"
FILES = ("lock", "record", "watch", "notice/inside", "futex", "thread", "atime", "cache")
HEAD_START = 3.0  # of the listener
OLD = 3 * 86400
LIMITS = Limits(wall_seconds=60)

# Without a sandbox; atime and cache need a file system on a disk.
HEARD_OUTSIDE = {
    *("lock", "record", "watch", "notice", "futex", "thread"),
    *("load", "clock", "ask", "pid"),
}
# The end of a thread wakes who waits at a library's page: pthread_join lives on that.
OPEN = {
    Tier.BUBBLEWRAP: {"thread"},
    Tier.UID: {"thread", "pid"},  # numbers of processes: without a namespace they are one row
    Tier.LANDLOCK: {"thread", "pid", "atime"},
}


class Channels(unittest.TestCase):
    """Marks go by the pair's own words: what it heard."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.place = tempfile.TemporaryDirectory(prefix="channels-", dir="/var/tmp")
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = Path(cls.place.name)
        cls.folder.chmod(0o755)
        cls.program = cls.folder / "pair"
        words = ["cc", "-std=gnu11", "-D_GNU_SOURCE=", "-O1", "-w", "-o", cls.program, SOURCE]
        subprocess.run(words, check=True)

    def heard(self, start: Callable[[str, Path], str]) -> set[str]:
        """`start` runs the program with a word in a folder and gives what it printed."""
        top = Path(tempfile.mkdtemp(dir=self.folder))
        top.chmod(0o755)
        for name in FILES:
            path = top / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x" * 8192)
            with path.open("rb") as file:
                os.fsync(file.fileno())
            os.utime(path, (time.time() - OLD, time.time() - OLD))
        with ThreadPoolExecutor(2) as pool:
            listens = pool.submit(start, "listen", top)
            time.sleep(HEAD_START)
            talks = pool.submit(start, "talk", top)
            text = talks.result() + listens.result()
        self.assertIn("listened", text)
        return {line.removeprefix("heard ") for line in text.splitlines() if "heard" in line}

    def test_without_a_sandbox_it_is_heard(self) -> None:
        def start(word: str, top: Path) -> str:
            done = subprocess.run([self.program, word, top], capture_output=True, check=True)
            return done.stdout.decode()

        self.assertLessEqual(HEARD_OUTSIDE, self.heard(start))

    def test_in_it_nothing_is_heard_but_what_the_page_lists(self) -> None:
        for tier in available():

            def start(word: str, top: Path, tier: Tier = tier) -> str:
                with slots.claim() as slot:
                    argv = (str(self.program), word, str(top))
                    shown = (self.program, top)
                    request = Request(argv=argv, read_only=shown, limits=LIMITS, slot=slot)
                    return run(request, tier).text

            with self.subTest(tier=tier.value):
                self.assertLessEqual(self.heard(start), OPEN[tier])


if __name__ == "__main__":
    unittest.main()
