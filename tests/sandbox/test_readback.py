# SPDX-License-Identifier: MIT
"""Only ordinary files beneath the folder, and no more of them than the limit, are read back: by
openat2, and step by step where the kernel has none."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.sandbox import Refused, read_back, readback


class WithOpenat2(unittest.TestCase):
    def setUp(self) -> None:
        outer = tempfile.TemporaryDirectory()
        self.addCleanup(outer.cleanup)
        self.secret = Path(outer.name) / "secret"
        self.secret.write_text("secret")
        self.top = Path(outer.name) / "top"
        (self.top / "sub").mkdir(parents=True)
        (self.top / "sub" / "file").write_text("hello")

    def refused(self, name: str, why: str = "") -> None:
        with self.assertRaisesRegex(Refused, why):
            read_back(self.top, name, 100)

    def test_a_file(self) -> None:
        self.assertEqual(read_back(self.top, "sub/file", 5), b"hello")

    def test_nothing_there(self) -> None:
        with self.assertRaises(FileNotFoundError):
            read_back(self.top, "sub/other", 100)

    def test_too_long(self) -> None:
        with self.assertRaisesRegex(Refused, "more than the 4"):
            read_back(self.top, "sub/file", 4)

    def test_a_sparse_terabyte(self) -> None:
        with (self.top / "big").open("wb") as file:
            os.truncate(file.fileno(), 1 << 40)
        self.refused("big", "more than")

    def test_a_link_to_a_file(self) -> None:
        (self.top / "link").symlink_to(self.secret)
        self.refused("link")

    def test_a_link_to_a_folder_on_the_way(self) -> None:
        (self.top / "up").symlink_to(self.top.parent)
        self.refused("up/secret")

    def test_a_hard_link(self) -> None:
        os.link(self.secret, self.top / "hard")
        self.refused("hard", "hard link")

    def test_up_and_out(self) -> None:
        self.refused("../secret")
        self.refused(str(self.secret))

    def test_a_fifo_does_not_wait(self) -> None:
        os.mkfifo(self.top / "fifo")
        self.refused("fifo", "ordinary")

    def test_a_folder(self) -> None:
        self.refused("sub", "ordinary")

    def test_a_folder_that_is_a_link_itself(self) -> None:
        (self.top.parent / "other").symlink_to(self.top)
        with self.assertRaises(OSError):
            read_back(self.top.parent / "other", "sub/file", 100)


class StepByStep(WithOpenat2):
    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch.object(readback, "OPENAT2", 9999)
        patch.start()
        self.addCleanup(patch.stop)


if __name__ == "__main__":
    unittest.main()
