# SPDX-License-Identifier: MIT
"""grader.grade.ingest, layouts and contract: whose it is, and which file of it counts."""

import io
import os
import re
import shutil
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.course.project import Lab
from grader.grade import contract, ingest
from grader.grade.ingest import Intake, merged
from grader.grade.layouts import compile_pattern, identify, read_roster
from grader.grade.model import Package, Submission
from grader.sandbox.readback import read_back

LAB = Lab("01-tiny")


class Ingest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="peerlab-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, path: str, text: str = "int x;\n") -> Path:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def zip(self, path: str, **files: str) -> Path:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w") as file:
            for name, text in files.items():
                file.writestr(name, text)
        return target

    def packages(self, *paths: Path, pattern: str = "") -> dict[str, Package]:
        intake = Intake(
            lambda path: contract.is_named(path, "tiny.c"), compile_pattern(pattern), (".c",)
        )
        return {package.student: package for package in intake.packages(paths)}

    def taken(self, package: Package) -> Submission:
        return contract.submission(package, LAB, "tiny.c", True)

    def test_each_file_has_its_own_time(self) -> None:
        """A folder's own time is that of the last lab that was put into it."""
        file = self.write("class/ada/labs/01-tiny/tiny.c")
        archive = self.zip("class/bob/handed-in.zip", **{"tiny.c": "int x;\n"})
        for path in (file, archive):
            os.utime(path, (1e9, 1e9))
        found = self.packages(self.folder / "class")
        self.assertEqual([self.taken(found[one]).submitted for one in ("ada", "bob")], [1e9, 1e9])
        nothing = contract.submission(found["ada"], Lab("02-other"), "other.c", False)
        self.assertIsNone(nothing.submitted)

    def test_two_uploads_keep_their_times(self) -> None:
        first = Package("ada", files={"tiny.c": b"1"}, submitted=1.0, source="a/ada-1")
        (both,) = merged([first, Package("ada", files={"other.c": b"2"}, submitted=2.0)])
        self.assertEqual((self.taken(both).submitted, both.submitted), (1.0, 2.0))

    def test_a_folder_of_everything(self) -> None:
        self.write("class/ada/labs/01-tiny/tiny.c", "ada")
        self.write("class/bob/tiny.c", "bob")
        self.zip("class/cyd.zip", **{"handed in/TINY.C": "cyd"})
        with tarfile.TarFile.open(self.folder / "class/dan.tar.gz", "w:gz") as file:
            info = tarfile.TarInfo("./01-tiny/tiny.c")
            info.size = 3
            file.addfile(info, io.BytesIO(b"dan"))
        self.write("class/eve.c", "eve")
        self.write("class/.DS_Store")
        self.write("class/notes.txt")
        (self.folder / "class/fay").mkdir()
        found = self.packages(self.folder / "class")
        self.assertEqual(sorted(found), ["ada", "bob", "cyd", "dan", "eve", "fay"])
        for name in ("ada", "bob", "cyd", "dan", "eve"):
            self.assertEqual(self.taken(found[name]).contents, name.encode(), name)
        self.assertIsNone(self.taken(found["fay"]).contents)
        self.assertEqual(self.taken(found["cyd"]).notes, ("TINY.C was taken for tiny.c",))

    def test_canvas(self) -> None:
        names = ("lovelaceada_10_99_tiny.c", "hoppergrace_LATE_11_98_tiny-2.c")
        for name in names:
            self.write(f"canvas/{name}", name)
        found = self.packages(self.folder / "canvas")
        self.assertEqual({key: one.name for key, one in found.items()}, CANVAS_NAMES)
        self.assertEqual(self.taken(found["11"]).contents, names[1].encode())
        with zipfile.ZipFile(self.folder / "submissions.zip", "w") as file:
            for name in names:
                file.write(self.folder / "canvas" / name, name)
        again = self.packages(self.folder / "submissions.zip")
        self.assertEqual({key: one.name for key, one in again.items()}, CANVAS_NAMES)
        self.assertEqual(self.taken(again["11"]).contents, names[1].encode())

    def test_moodle(self) -> None:
        inner = self.zip("inner.zip", **{"labs/01-tiny/tiny.c": "nested"})
        names = (
            "Ada Lovelace_12_assignsubmission_file_",
            "Grace H\u00f6pper_13_assignsubmission_file_",
        )
        with zipfile.ZipFile(self.folder / "moodle.zip", "w") as file:
            file.writestr(f"{names[0]}/tiny.c", "plain")
            file.write(inner, f"{names[1]}/all my work.zip")
        found = self.packages(self.folder / "moodle.zip")
        self.assertEqual(found["12"].name, "Ada Lovelace")
        self.assertEqual(self.taken(found["12"]).contents, b"plain")
        self.assertEqual(self.taken(found["13"]).contents, b"nested")
        self.assertEqual(identify(f"{names[0]}tiny.c").file, "tiny.c")

    def test_a_pattern_and_a_roster(self) -> None:
        self.write("in/hw3 (ada).c", "ada")
        found = self.packages(self.folder / "in", pattern=r"hw\d \((?P<student>\w+)\)\.c")
        self.assertEqual(list(found), ["ada"])
        with self.assertRaisesRegex(LabError, "no group"):
            compile_pattern("x")
        with self.assertRaisesRegex(LabError, "--pattern"):
            compile_pattern("(")
        roster = self.write("class.csv", "\ufeffStudent,Name,Match\nada,Ada L,12\n")
        self.assertEqual(read_roster(roster)["ada"]["match"], "12")
        with self.assertRaisesRegex(LabError, "no column student"):
            read_roster(self.write("bad.csv", "who\nada\n"))

    def test_one_submission_is_one(self) -> None:
        self.write("ada/labs/01-tiny/tiny.c")
        self.write("ada/.git/HEAD", "ref: refs/heads/main\n")
        self.write("ada/.git/refs/heads/main", "0123456789" * 4 + "\n")
        found = self.packages(self.folder / "ada")
        self.assertEqual(list(found), ["ada"])
        self.assertEqual(found["ada"].commit, "0123456789" * 4)
        self.write("ada/.git/HEAD", "ref: ../../../etc/passwd\n")
        self.assertEqual(self.packages(self.folder / "ada")["ada"].commit, "")

    def test_a_folders_commit_is_read_in_a_process_of_its_own(self) -> None:
        """As archives are: the folder is a student's, with its .git."""
        self.write("ada/.git/HEAD", "0123456789" * 4 + "\n")
        self.write("ada/tiny.c")
        here: list[str] = []

        def reads(folder: Path, name: str, most: int) -> bytes:
            here.append(name)
            return read_back(folder, name, most)

        with mock.patch.object(ingest, "read_back", reads):
            found = self.packages(self.folder / "ada")
        self.assertEqual(found["ada"].commit, "0123456789" * 4)
        self.assertEqual(here, [])  # of this process

    def test_one_bad_archive_is_one_row(self) -> None:
        self.zip("class/ada.zip", **{"../tiny.c": "out"})
        self.write("class/bob.zip", "no archive")
        self.write("class/cyd/tiny.c", "fine")
        (self.folder / "class/dan").symlink_to("cyd")
        found = self.packages(self.folder / "class")
        self.assertIn("leads out", found["ada"].problem)
        self.assertIn("cannot be read", found["bob"].problem)
        self.assertIn("it is a link", found["dan"].problem)
        self.assertEqual(self.taken(found["cyd"]).contents, b"fine")
        self.assertIn("leads out", self.taken(found["ada"]).problem)

    def test_two_packages_of_one_student(self) -> None:
        self.write("one/ada/tiny.c", "same")
        self.write("two/ada/tiny.c", "same")
        found = self.packages(self.folder / "one", self.folder / "two")
        self.assertEqual(self.taken(found["ada"]).contents, b"same")
        self.write("two/ada/tiny.c", "another")
        found = self.packages(self.folder / "one", self.folder / "two")
        self.assertIn("two different tiny.c", self.taken(found["ada"]).problem)

    def test_two_names_of_one_student(self) -> None:
        """A class list may say that they are one: their packages are, too."""
        packages = [Package("12", files={"tiny.c": b"x"}), Package("ada", files={"b/tiny.c": b"x"})]
        packages[0].student = "ada"
        (one,) = merged(packages)
        self.assertEqual(self.taken(one).contents, b"x")

    def test_odd_names(self) -> None:
        names = ("a b", "o'neil", "\u00e5sa", "-rf", "=1+1", "x\ny", "\u202eabc", "$(id)", "%s")
        for name in names:
            self.write(f"class/{name}/tiny.c", name)
        found = self.packages(self.folder / "class")
        for name in names:
            self.assertEqual(self.taken(found[name]).contents, name.encode())
        with self.assertRaisesRegex(LabError, "neither a file nor a folder"):
            self.packages(self.folder / "nobody")


CANVAS_NAMES = {"10": "lovelaceada", "11": "hoppergrace"}


class Contents(unittest.TestCase):
    def test_marks_and_line_ends(self) -> None:
        for data in (
            b"\xef\xbb\xbfint x;\r\n",
            b"int x;\r",
            "\ufeffint x;\n".encode("utf-16-le"),
            "\ufeffint x;\n".encode("utf-16-be"),
        ):
            notes: list[str] = []
            self.assertEqual(contract.normal(data, "x.c", notes), b"int x;\n")
            self.assertTrue(notes)

    def test_binaries(self) -> None:
        package = Package("ada", files={"tiny.c": b"\x7fELF\0\0"})
        self.assertIn("not a text file", contract.submission(package, LAB, "tiny.c", True).problem)

    def test_the_place_counts(self) -> None:
        files = {"build/x/tiny.c": b"no", "01-tiny/tiny.c": b"maybe", "labs/01-tiny/tiny.c": b"yes"}
        package = Package("ada", files=files)
        self.assertEqual(contract.submission(package, LAB, "tiny.c", False).contents, b"yes")

    def test_another_name(self) -> None:
        package = Package("ada", files={"mine.c": b"yes"})
        self.assertEqual(contract.submission(package, LAB, "tiny.c", True).contents, b"yes")
        self.assertIsNone(contract.submission(package, LAB, "tiny.c", False).contents)

    def test_pattern_type(self) -> None:
        self.assertIsInstance(compile_pattern("(?P<student>.*)"), re.Pattern)


if __name__ == "__main__":
    unittest.main()
