# SPDX-License-Identifier: MIT
"""The group `ingest`: packages that a class hands in, each beside an honest one.

A maker writes a package for the student "mallory" into a folder. What must come of it: "rejected",
with a sentence and nothing taken; "taken", the lab's file and nothing else of it; "nothing". The
honest package beside it is taken, nothing outside of the folder is read, and no file appears.
"""

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.project import Lab
from grader.grade import contract
from grader.grade.ingest import Intake
from tests.hostile.battle import Result

FILE = "enumerate.c"
GOOD = "int good;\n"
SECRET = "canary-7b1c9e"
COMMIT = "0123456789abcdef" * 2 + "01234567"
SECONDS = 60.0
Maker = Callable[[Path], None]


def _zip(path: Path, entries: list[tuple[str, str]]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in entries:
            file.writestr(name, text)


def _named(*names: str) -> Maker:
    """A zip with those names beside the lab's file."""
    return lambda top: _zip(top / "mallory.zip", [(FILE, GOOD), *((name, "x") for name in names)])


def _zip_link(name: str, target: str) -> Maker:
    def make(top: Path) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(top / "mallory.zip", "w") as file:
            file.writestr(info, target)

    return make


def _tar(*members: tuple[str, bytes, str]) -> Maker:
    """A tarball of the lab's file and members of other kinds: name, type, target."""

    def make(top: Path) -> None:
        with tarfile.open(top / "mallory.tar.gz", "w:gz") as file:
            for name, kind, target in members:
                info = tarfile.TarInfo(name)
                info.type, info.linkname = kind, target
                file.addfile(info)
            info = tarfile.TarInfo(f"{FILE}")
            info.size = len(GOOD)
            file.addfile(info, io.BytesIO(GOOD.encode()))

    return make


@dataclass(frozen=True)
class _Packed:
    """The same byte again and again, deflated: a piece of it once, and its copies. To pack all of
    them takes longer than what is tested."""

    data: bytes
    crc: int
    size: int

    def add(self, file: zipfile.ZipFile, name: str) -> None:
        """As ZipFile.writestr() does, without packing anything."""
        assert file.fp is not None
        info = zipfile.ZipInfo(name)
        info.compress_type, info.compress_size = zipfile.ZIP_DEFLATED, len(self.data)
        info.CRC, info.file_size, info.header_offset = self.crc, self.size, file.fp.tell()
        file.fp.write(info.FileHeader() + self.data)
        file.filelist.append(info)
        file.start_dir = file.fp.tell()


def _packed(byte: bytes, pieces: int, size: int = 1 << 20) -> _Packed:
    piece, crc = byte * size, 0
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    data = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(pieces):
        crc = zlib.crc32(piece, crc)
    return _Packed(data * pieces + packer.flush(), crc, size * pieces)


def _bomb_named(top: Path, name: str, *entries: tuple[str, str]) -> None:
    with zipfile.ZipFile(top / "mallory.zip", "w") as file:
        _packed(b"\0", 256).add(file, name)
        for other, text in (*entries, ("README", "")):  # and with it the directory is written
            file.writestr(other, text)


def _bomb(top: Path) -> None:
    _bomb_named(top, FILE)


def _bomb_beside(top: Path) -> None:
    """What is not asked for is not unpacked."""
    _bomb_named(top, "big.bin", (FILE, GOOD))


def _nested(top: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr(FILE, GOOD)
    for _ in range(20):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as file:
            file.writestr("more.zip", inner.getvalue())
        inner = outer
    (top / "mallory.zip").write_bytes(inner.getvalue())


def _lying_size(top: Path) -> None:
    """The directory says 10 bytes, there are more."""
    path = top / "mallory.zip"
    _zip(path, [(FILE, "x" * 5000)])
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 18), (b"PK\x01\x02", 20)):
        start = data.find(mark) + at
        data[start : start + 8] = struct.pack("<II", 10, 10)
    path.write_bytes(data)


def _encrypted(top: Path) -> None:
    path = top / "mallory.zip"
    _zip(path, [(FILE, GOOD)])
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x03\x04") + 6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


def _truncated(top: Path) -> None:
    _zip(top / "mallory.zip", [(FILE, GOOD * 1000)])
    path = top / "mallory.zip"
    path.write_bytes(path.read_bytes()[:-40])


def _bytes(name: str, data: bytes) -> Maker:
    def make(top: Path) -> None:
        (top / name).write_bytes(data)

    return make


def _folder(top: Path) -> Path:
    (top / "mallory").mkdir()
    return top / "mallory"


def _folder_link(top: Path) -> None:
    (_folder(top) / FILE).symlink_to(top.parent / "canary")


def _folder_is_link(top: Path) -> None:
    (top / "mallory").symlink_to(top.parent)


def _folder_loop(top: Path) -> None:
    folder = _folder(top)
    (folder / FILE).write_text(GOOD)
    (folder / "loop").symlink_to(".")


def _fifo(top: Path) -> None:
    os.mkfifo(_folder(top) / FILE)


def _deep(top: Path) -> None:
    _zip(top / "mallory.zip", [("d/" * 400 + FILE, GOOD)])


def _crowd(top: Path) -> None:
    _zip(top / "mallory.zip", [(FILE, GOOD), *((f"f{n}", "") for n in range(10_000))])


def _build_files(top: Path) -> None:
    names = ("CMakeLists.txt", "lab01.h", "tests/public.c", "tests/hidden.c", "harness/cases/run.c")
    _zip(top / "mallory.zip", [(name, "#error mine") for name in names] + [(FILE, GOOD)])


def _with_header(kind: bytes, body: bytes) -> bytes:
    """The header of a member that says something about the next one, and what it says."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, len(body)
    return info.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % 512)


def _member() -> bytes:
    info = tarfile.TarInfo(FILE)
    info.size = len(GOOD)
    return info.tobuf() + GOOD.encode() + bytes(512 - len(GOOD)) + bytes(1024)


def _long_name(top: Path) -> None:
    """A name of 3 GiB in 3 KB: bzip2 packs zeros well, and streams may follow each other."""
    piece, pieces = bz2.compress(bytes(48 << 20)), 64
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, pieces * (48 << 20)
    head = bz2.compress(info.tobuf(tarfile.GNU_FORMAT))
    data = head + piece * pieces + bz2.compress(_member())
    (top / "mallory.tar.bz2").write_bytes(data)


def _pax_digits(top: Path) -> None:
    """CVE-2024-6232: a pattern goes over them as often as there are digits."""
    body = b"1" * 1_000_000
    (top / "mallory.tar.gz").write_bytes(
        gzip.compress(_with_header(tarfile.XHDTYPE, body) + _member())
    )


def _dictionary(top: Path) -> None:
    """An xz file that asks its reader for 1.5 GiB."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0}]
    data = bytearray(lzma.compress(_member(), lzma.FORMAT_XZ, filters=filters))
    at = data.index(b"\x21\x01", 12)  # the filter, the size of what it takes, its dictionary
    data[at + 2] = 39  # 3 GiB
    header = data[12 : 12 + (data[12] + 1) * 4 - 4]
    data[12 + len(header) : 16 + len(header)] = struct.pack("<I", zlib.crc32(header))
    (top / "mallory.tar.xz").write_bytes(bytes(data))


def _many_answers(top: Path) -> None:
    """4 GiB of files that all have the lab's name."""
    answer = _packed(b" ", 1, (1 << 20) - 1)
    with zipfile.ZipFile(top / "mallory.zip", "w") as file:
        for number in range(4000):
            answer.add(file, f"d{number}/{FILE}")
        file.writestr("README", "")  # and with it the directory is written


def _git_is_a_link(top: Path) -> None:
    """The neighbour's commit is no commit of this folder's."""
    other = top.parent / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").write_text(COMMIT + "\n")
    folder = _folder(top)
    (folder / FILE).write_text(GOOD)
    (folder / ".git").symlink_to(other / ".git")


def _git_refs_are_a_link(top: Path) -> None:
    other = top.parent / "other"
    (other / "heads").mkdir(parents=True)
    (other / "heads" / "main").write_text(COMMIT + "\n")
    folder = _folder(top)
    (folder / FILE).write_text(GOOD)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "refs").symlink_to(other)


def _bzip2_in_zip(top: Path) -> None:
    """The lab's file: 4 GiB of zeros in some KB, which a reader unpacks as far as it has read."""
    data = bz2.compress(bytes(64 << 20)) * 64
    size = 64 * (64 << 20)
    with zipfile.ZipFile(top / "mallory.zip", "w", allowZip64=True) as file:
        assert file.fp is not None
        info = zipfile.ZipInfo(FILE)
        info.compress_type, info.compress_size = zipfile.ZIP_BZIP2, len(data)
        info.file_size, info.CRC, info.header_offset = size, 0, 0
        file.fp.write(info.FileHeader(zip64=True) + data)
        file.filelist.append(info)
        file.start_dir = file.fp.tell()
        file.writestr("README", "")


def _damaged(name: str, pack: Callable[[bytes], bytes]) -> Maker:
    """A tarball that is damaged in the middle: each library says so in another way."""

    def make(top: Path) -> None:
        noise = tarfile.TarInfo("noise")
        noise.size = 40_960
        body = bytearray(pack(noise.tobuf() + os.urandom(noise.size) + _member()))
        body[len(body) // 2 : len(body) // 2 + 64] = bytes(64)
        (top / name).write_bytes(bytes(body))

    return make


def _header(**fields: bytes) -> bytes:
    """A tar header with these bytes in the place of its fields."""
    at = {"name": 0, "size": 124, "kind": 156, "link": 157, "sparse": 386}
    block = bytearray(tarfile.TarInfo(FILE).tobuf(tarfile.GNU_FORMAT))
    for field, data in fields.items():
        block[at[field] : at[field] + len(data)] = data
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block[:512])
    return bytes(block[:512])


def _sizes_below_zero(top: Path) -> None:
    """A size of -1024 in base 256: the next header is the same one."""
    number = (1 << 96) - 1024
    (top / "mallory.tar").write_bytes(_header(size=number.to_bytes(12, "big")) + bytes(4096))


def _sparse_without_end(top: Path) -> None:
    """A sparse file whose list of pieces goes on in the next block, and in the next."""
    more = (b"%011o " % 1 + b"%011o " % 1) * 21 + b"\1"
    blocks = _header(kind=b"S", size=b"%011o " % 512, sparse=(b"0" * 11 + b" ") * 8 + b"\1")
    (top / "mallory.tar.gz").write_bytes(gzip.compress(blocks + more.ljust(512, b"\0") * 200_000))


def _sparse_terabyte(top: Path) -> None:
    """The lab's file as a hole of a terabyte."""
    pairs = (b"%011o " % 0 + b"%011o " % 0).ljust(96, b"0") + b"\0"
    pairs += b"\x80" + (1 << 40).to_bytes(11, "big")
    block = _header(kind=b"S", size=b"%011o " % 0, sparse=pairs)
    (top / "mallory.tar").write_bytes(block + bytes(1024))


def _links_itself(top: Path) -> None:
    """The lab's file is a hard link to itself."""
    link = tarfile.TarInfo(FILE)
    link.type, link.linkname = tarfile.LNKTYPE, FILE
    (top / "mallory.tar").write_bytes(link.tobuf(tarfile.GNU_FORMAT) + bytes(1024))


def _deep_folder(top: Path) -> None:
    """Longer than any path: each step relative to the last."""
    (_folder(top) / FILE).write_text(GOOD)
    at = os.open(top / "mallory", os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=at)
        at, last = os.open("d" * 200, os.O_RDONLY, dir_fd=at), at
        os.close(last)
    os.close(at)


def _hole(top: Path) -> None:
    with (_folder(top) / FILE).open("wb") as file:
        file.truncate(1 << 40)


def _git_head_is_large(top: Path) -> None:
    """What names the commit is a terabyte, and points to itself."""
    folder = _folder(top)
    (folder / FILE).write_text(GOOD)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: HEAD\n")
    with (folder / ".git" / "packed-refs").open("wb") as file:
        file.truncate(1 << 40)


CASES: dict[str, tuple[str, Maker]] = {
    "climbs": ("rejected", _named("../../solutions/x.c")),
    "climbs_deep": ("rejected", _named("a/b/../../../../x")),
    "absolute": ("rejected", _named("/etc/cron.d/x")),
    "drive_letter": ("rejected", _named("C:\\x.c")),
    "backslashes": ("rejected", _named("a\\..\\..\\x")),
    "same_name_twice": ("rejected", _named(FILE)),
    "same_name_in_capitals": ("rejected", _named(FILE.upper())),
    "same_name_in_unicode": ("rejected", _named("caf\u00e9", "cafe\u0301")),
    "zip_link_out": ("rejected", _zip_link(FILE, "../canary")),
    "zip_link_absolute": ("rejected", _zip_link(FILE, "/etc/passwd")),
    "tar_link_out": ("rejected", _tar(("x", tarfile.SYMTYPE, "../../canary"))),
    "tar_hard_link_out": ("rejected", _tar(("x", tarfile.LNKTYPE, "../canary"))),
    "tar_device": ("rejected", _tar(("x", tarfile.CHRTYPE, ""))),
    "tar_fifo": ("rejected", _tar(("x", tarfile.FIFOTYPE, ""))),
    "tar_climbs": ("rejected", _tar(("../x/", tarfile.DIRTYPE, ""))),
    "bomb": ("rejected", _bomb),
    "bomb_beside": ("taken", _bomb_beside),
    "nested": ("nothing", _nested),
    "lying_size": ("rejected", _lying_size),
    "encrypted": ("rejected", _encrypted),
    "truncated": ("rejected", _truncated),
    "no_archive": ("rejected", _bytes("mallory.zip", b"\x7fELF" + bytes(1000))),
    "empty_file": ("rejected", _bytes("mallory.zip", b"")),
    "crowd": ("rejected", _crowd),
    "long_path": ("taken", _deep),
    "build_files": ("taken", _build_files),
    "zero_bytes": ("rejected", lambda top: _zip(top / "mallory.zip", [(FILE, "\0ELF")])),
    "folder_link": ("rejected", _folder_link),
    "folder_is_link": ("rejected", _folder_is_link),
    "folder_loop": ("taken", _folder_loop),
    "folder_fifo": ("rejected", _fifo),
    "tar_long_name": ("rejected", _long_name),
    "tar_pax_digits": ("rejected", _pax_digits),
    "xz_dictionary": ("rejected", _dictionary),
    "many_answers": ("rejected", _many_answers),
    "git_is_a_link": ("taken", _git_is_a_link),
    "git_refs_are_a_link": ("taken", _git_refs_are_a_link),
    "git_head_is_large": ("taken", _git_head_is_large),
    "zip_bzip2_bomb": ("rejected", _bzip2_in_zip),
    "damaged_xz": ("rejected", _damaged("mallory.tar.xz", lzma.compress)),
    "damaged_bz2": ("rejected", _damaged("mallory.tar.bz2", bz2.compress)),
    "tar_size_below_zero": ("rejected", _sizes_below_zero),
    "tar_sparse_without_end": ("rejected", _sparse_without_end),
    "tar_sparse_terabyte": ("rejected", _sparse_terabyte),
    "tar_hard_link_inside": ("nothing", _links_itself),
    "newlines_in_names": ("taken", _named("x\n,full marks,100", "\x1b]0;x\x07", "\u202egnp.c")),
    "file_and_folder": ("taken", _named("x", "x/y", "x/y/z")),
    "surrogates_in_names": ("rejected", _tar(("\udc80\udcff", tarfile.FIFOTYPE, ""))),
    "deep_folder": ("rejected", _deep_folder),
    "folder_hole": ("rejected", _hole),
}


def ingest() -> Iterator[Result]:
    for name, (expected, make) in CASES.items():
        with tempfile.TemporaryDirectory(prefix="hostile-ingest-") as folder:
            yield _one(Path(folder), name, expected, make)


def _names(folder: Path) -> list[str]:
    """What lies in a folder, as far as paths reach."""
    return sorted(f"{top}/{one}" for top, dirs, files in os.walk(folder) for one in (*dirs, *files))


def _one(folder: Path, name: str, expected: str, make: Maker) -> Result:
    (folder / "canary").write_text(SECRET)
    top = folder / "class"
    top.mkdir()
    _zip(top / "ada.zip", [(FILE, GOOD)])
    make(top)
    before = _names(folder)
    began = time.monotonic()
    told, problems = _take(top, name, expected)
    seconds = time.monotonic() - began
    if _names(folder) != before:
        problems.append("files have appeared or gone")
    if seconds > SECONDS:
        problems.append(f"it took {seconds:.0f} s")
    return Result(name, told, seconds, tuple(problems))


def _take(top: Path, name: str, expected: str) -> tuple[str, list[str]]:
    """What becomes of mallory, told; and whatever was wrong with that, or with ada's."""
    intake = Intake(lambda path: contract.is_named(path, FILE), None, (".c",))
    lab = Lab("01-enumerate")
    taken = {
        package.student: contract.submission(package, lab, FILE, True)
        for package in intake.packages([top])
    }
    problems = []
    if "ada" not in taken or taken["ada"].contents != GOOD.encode():
        problems.append("the honest package beside it was not taken")
    mine = taken.get("mallory")
    if mine is None:
        return "no row", [*problems, "there is no row for the student"]
    got = "rejected" if mine.problem else "nothing" if mine.contents is None else "taken"
    if got != expected:
        problems.append(f"{got}, expected {expected}: {mine.problem}")
    if got == "taken" and mine.contents != GOOD.encode():
        problems.append(f"other contents were taken: {mine.contents!r}"[:200])
    if mine.commit:
        problems.append(f"another repository's commit: {mine.commit}")
    if "took more than" in mine.problem and name.startswith("damaged"):
        problems.append("what is damaged was said to be too much")
    if SECRET in f"{mine.contents!r}{mine.problem}{mine.notes}":
        problems.append("a secret was read")
    return f"{got} {mine.problem}"[:60], problems
