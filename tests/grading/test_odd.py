# SPDX-License-Identifier: MIT
"""Odd packages beside honest ones: each gets its clear record, and spoils no other."""

import io
import tarfile
import unittest
import zipfile

from classroom import Classroom, file_name, solution

NAMES = (
    "Åsa Öberg",
    "o'neil; rm -rf ~",
    "$(touch x)",
    "=HYPERLINK(1)",
    "-rf",
    "new\nline",
    "\u202egnp",
    "<script>",
    "%s%n",
    "a" * 200,
    "\u0065\u0301",
    "con",
)


class Odd(Classroom):
    def test_names(self) -> None:
        for name in NAMES:
            self.hand_in(name, "01", solution("01"))
        said = self.grade(self.folder / "class", "--export", "all", "--jplag")
        self.assertIn(f"{len(NAMES)} submissions, 0 to grade", said)  # all are the solution
        rows = self.rows()
        self.assertEqual(len(rows), len(NAMES))
        self.assertEqual({row["mark"] for row in rows.values()}, {100})
        self.assertIn("\u00e9", rows)  # one spelling of each name
        self.assertNotIn("\u202e", said)
        feedback = [path.name for path in (self.folder / "out" / "feedback").iterdir()]
        self.assertEqual(len(feedback), 2 * len(NAMES))
        self.assertTrue(all(name.isascii() and "/" not in name for name in feedback))

    def test_packages(self) -> None:
        folder = self.folder / "class"
        folder.mkdir()
        file, text = file_name("01"), solution("01")
        with zipfile.ZipFile(folder / "many.zip", "w") as archive:
            for at in range(10_000):
                archive.writestr(f"x/{at}.txt", "")
            archive.writestr(file, text)
        with zipfile.ZipFile(folder / "climbs.zip", "w") as archive:
            archive.writestr("../../harness/lab.h", "")
            archive.writestr(file, text)
        with tarfile.TarFile.open(folder / "links.tar.gz", "w:gz") as tar:
            link = tarfile.TarInfo(file)
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
        with zipfile.ZipFile(folder / "twice.zip", "w") as archive:
            archive.writestr(file, text)
            archive.writestr(file.upper(), text)
        (folder / "broken.zip").write_bytes(b"PK\x03\x04 no")
        self.hand_in("windows", "01", "\ufeff" + text.replace("\n", "\r\n"))
        with zipfile.ZipFile(folder / "mac.zip", "w") as archive:
            archive.writestr(f"__MACOSX/work/._{file}", "\0junk")
            archive.writestr(f"work/{file.capitalize()}", text)
        with tarfile.TarFile.open(folder / "honest.tar.xz", "w:xz") as tar:
            info = tarfile.TarInfo(f"./labs/01-enumerate/{file}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
            tar.addfile(tarfile.TarInfo("CMakeLists.txt"))
            tar.addfile(tarfile.TarInfo("harness/lab.h"))
        self.grade(folder)
        found = {s: (r["status"], r["mark"], r["message"]) for s, r in self.rows().items()}
        for student, why in (
            ("many", "more than 5000 files"),
            ("climbs", "leads out of the archive"),
            ("links", "link that leads out"),
            ("twice", "have the same name"),
            ("broken", "cannot be read as an archive"),
        ):
            self.assertEqual(found[student][:2], ("rejected", 0), student)
            self.assertIn(why, found[student][2])
        for student in ("windows", "mac", "honest"):
            self.assertEqual(found[student][:2], ("pass", 100), student)
        self.assertEqual(len(self.rows()["windows"]["notes"]), 2)


if __name__ == "__main__":
    unittest.main()
