# SPDX-License-Identifier: MIT
"""grader.grade.archive: hostile archives are rejected, whatever else is in them."""

import gzip
import io
import os
import stat
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from grader.grade import archive
from grader.grade.model import Rejected


def zipped(*entries: tuple[str, bytes], mode: int = 0) -> bytes:
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as file:
        for name, contents in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, contents)
    return to.getvalue()


def tarred(*infos: tarfile.TarInfo) -> bytes:
    to = io.BytesIO()
    with tarfile.TarFile.open(fileobj=to, mode="w:gz") as file:
        for info in infos:
            file.addfile(info, io.BytesIO(b"x" * info.size))
    return to.getvalue()


def tar_link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


class Archives(unittest.TestCase):
    def rejected(self, name: str, data: bytes, why: str) -> None:
        with self.assertRaises(Rejected) as caught:
            archive.take(archive.read_entries(name, data), lambda path: True)
        self.assertIn(why, str(caught.exception))

    def test_reads_what_is_asked_for(self) -> None:
        data = zipped(("a/x.c", b"x"), ("a/big.bin", b"0" * (2 << 20)), ("__MACOSX/a/._x.c", b""))
        entries = archive.read_entries("a.zip", data)
        self.assertEqual([entry.path for entry in entries], ["a/x.c", "a/big.bin"])
        self.assertEqual(archive.take(entries, lambda p: p.endswith(".c")), {"a/x.c": b"x"})

    def test_climbing_out(self) -> None:
        names = ("../x.c", "a/../../x.c", "/etc/x.c", "C:/x.c", "a\\..\\..\\x.c", "a/..")
        for name in names:
            with self.subTest(name):
                self.rejected("a.zip", zipped((name, b""), ("ok.c", b"")), "leads out")

    def test_links(self) -> None:
        link = stat.S_IFLNK | 0o777
        self.rejected("a.zip", zipped(("x.c", b"/etc/passwd"), mode=link), "link that leads out")
        self.rejected("a.zip", zipped(("a/x.c", b"../../x"), mode=link), "link that leads out")
        self.rejected("a.tgz", tarred(tar_link("x.c", "../y")), "link that leads out")
        hard = tar_link("x.c", "../y", tarfile.LNKTYPE)
        self.rejected("a.tgz", tarred(hard), "link that leads out")
        inside = archive.read_entries("a.tgz", tarred(tar_link("b/x.c", "../y.c")))
        self.assertEqual(inside, [])

    def test_collisions(self) -> None:
        for pair in (("x.c", "x.c"), ("x.c", "X.c"), ("\u00e9.c", "e\u0301.c")):
            with self.subTest(pair):
                data = zipped(*((name, name.encode()) for name in pair))
                self.rejected("a.zip", data, "have the same name")

    def test_odd_kinds(self) -> None:
        fifo = tarfile.TarInfo("x.c")
        fifo.type = tarfile.FIFOTYPE
        self.rejected("a.tar.gz", tarred(fifo), "neither a file nor a folder")
        self.rejected("a.zip", zipped(("x.c", b""), mode=stat.S_IFIFO), "neither a file")

    def test_too_much(self) -> None:
        many = zipped(*((f"{n}.c", b"") for n in range(10_000)))
        self.rejected("a.zip", many, "more than 5000 files")
        self.rejected("a.zip", zipped(("x.c", b"\0" * (64 << 20))), "larger than 1048576 bytes")

    def test_a_tarball_that_swells(self) -> None:
        big = tarfile.TarInfo("big.bin")
        big.size = 1 << 30
        to = io.BytesIO()
        with gzip.open(to, "wb", compresslevel=1) as file:
            file.write(big.tobuf())
            file.write(bytes(1 << 20))
        self.rejected("a.tgz", to.getvalue(), "larger than 256 MiB")

    def test_damaged(self) -> None:
        self.rejected("a.zip", b"no archive", "cannot be read")
        self.rejected("a.tar.gz", b"no archive", "cannot be read")
        self.rejected("a.zip", zipped(("x.c", b"abc" * 999))[:60], "cannot be read")
        broken = bytearray(zipped(("x.c", os.urandom(500))))
        broken[100] ^= 0xFF
        self.rejected("a.zip", bytes(broken), "cannot be read")
        lying = zipped(("x.c", b"abc")).replace(b"\x03\x00\x00\x00", b"\x09\x00\x00\x00")
        self.rejected("a.zip", lying, "cannot be read")

    def test_folders(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "x.c").write_text("x")
            (folder / "loop").symlink_to(".")
            self.assertEqual([entry.path for entry in archive.walk(folder)], ["x.c"])
            (folder / "y.c").symlink_to("/etc/passwd")
            with self.assertRaisesRegex(Rejected, "leads out"):
                archive.walk(folder)
            (folder / "y.c").unlink()
            os.mkfifo(folder / "z.c")
            with self.assertRaisesRegex(Rejected, "neither a file"):
                archive.walk(folder)

    def test_names_for_people(self) -> None:
        self.assertEqual(archive.printable("a\n\x1b[31m\u202e\u00e9"), "a??[31m?\u00e9")


if __name__ == "__main__":
    unittest.main()
