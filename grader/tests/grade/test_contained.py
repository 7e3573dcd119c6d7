# SPDX-License-Identifier: MIT
"""grader.grade.contained: whatever a reader does, the grader hears of it and goes on."""

import gc
import io
import os
import signal
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from grader.grade import archive
from grader.grade.contained import MIB, Bounds, contained
from grader.grade.ingest import Intake
from grader.grade.model import Rejected
from tests.hostile import ingest

QUICK = Bounds(64 * MIB, cpu_seconds=1, wall_seconds=10.0, output_bytes=1 * MIB)


def burns() -> None:
    while True:
        pass


class Contained(unittest.TestCase):
    def test_what_is_found_comes_back(self) -> None:
        self.assertEqual(contained(lambda: {"a": [1, "\udc80"]}), {"a": [1, "\udc80"]})

    def test_errors_come_back_as_they_were(self) -> None:
        def rejects() -> None:
            raise Rejected("because")

        with self.assertRaisesRegex(Rejected, "^because$"):
            contained(rejects)
        with self.assertRaises(FileNotFoundError):
            contained(lambda: Path("/nowhere/x").read_text())

    def test_what_the_grader_has_dropped_closes_no_file_of_the_reader(self) -> None:
        """Garbage in a cycle still owns a descriptor, whose number the reader's file gets."""

        def reads() -> int:
            opened = [os.open("/proc/self/stat", os.O_RDONLY) for _ in range(64)]
            kept = [[number] for number in range(100_000)]  # the collector's turn comes
            return sum(len(os.read(fd, 1)) for fd in opened) + len(kept)

        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for _ in range(8):
            cycle: list[object] = [io.FileIO("/dev/null")]
            cycle.append(cycle)
        del cycle
        gc.enable()
        self.assertEqual(contained(reads), 64 + 100_000)

    def test_a_limit_that_cannot_be_set_is_an_error(self) -> None:
        with (
            mock.patch("grader.grade.contained._lower", side_effect=PermissionError(1, "no limit")),
            self.assertRaisesRegex(OSError, "no limit"),
        ):
            contained(lambda: 1)

    def test_limits(self) -> None:
        for name, work in (
            ("memory", lambda: len(bytearray(256 * MIB))),
            ("time", burns),
            ("output", lambda: "x" * (8 * MIB)),
            ("a crash", lambda: os.kill(os.getpid(), signal.SIGSEGV)),
        ):
            with self.subTest(name), self.assertRaisesRegex(Rejected, "reading it"):
                contained(work, QUICK)

    def test_it_writes_no_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x")
            with self.assertRaises((Rejected, OSError)):
                contained(lambda: path.write_text("x"))
            self.assertFalse(path.exists() and path.stat().st_size)

    def test_who_waits_too_long_stops_waiting(self) -> None:
        began = time.monotonic()
        with self.assertRaises(Rejected):
            contained(lambda: time.sleep(60), Bounds(wall_seconds=0.3))
        self.assertLess(time.monotonic() - began, 20)


class Packages(unittest.TestCase):
    def test_a_header_that_gets_by_is_held_by_the_process(self) -> None:
        """The next surprise of the library's: 3 GiB in one name, and nobody looks at its length."""
        intake = Intake(lambda path: path == ingest.FILE)
        with tempfile.TemporaryDirectory() as folder:
            ingest._long_name(Path(folder))
            with mock.patch.object(archive, "MOST_HEADER", 1 << 40):
                (package,) = intake.packages([Path(folder)])
        self.assertIn("more than 512 MiB of memory", package.problem)

    def test_in_an_archive_of_submissions_it_is_one_students(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            ingest._long_name(top)
            bomb = (top / "mallory.tar.bz2").read_bytes()
            path = top / "class.zip"
            ingest._zip(path, [(f"ada/{ingest.FILE}", ingest.GOOD)])
            with ingest.zipfile.ZipFile(path, "a") as file:
                file.writestr("mallory/x.tar.bz2", bomb)
            with mock.patch.object(archive, "MOST_HEADER", 1 << 40):
                found = {p.student: p for p in Intake(lambda p: p.endswith(".c")).packages([path])}
        self.assertEqual(found["ada"].files, {f"ada/{ingest.FILE}": ingest.GOOD.encode()})
        self.assertIn("more than 512 MiB of memory", found["mallory"].problem)


if __name__ == "__main__":
    unittest.main()
