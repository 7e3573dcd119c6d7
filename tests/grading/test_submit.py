# SPDX-License-Identifier: MIT
"""./lab submit packs what ./lab grade takes: the same file, byte for byte, of every lab."""

import shutil
import unittest
from pathlib import Path

from classroom import PROJECT, Classroom, skeleton, solution

from grader.commands import submit
from grader.course.project import Lab, Project
from grader.grade import archive, contract
from grader.grade.ingest import Intake


class Submit(Classroom):
    def setUp(self) -> None:
        super().setUp()
        root = self.folder / "checkout"
        root.mkdir()
        (root / "solutions").symlink_to(PROJECT.solutions_dir)
        self.learner = Project(root)

    def pack(self, lab: Lab, text: str) -> submit.Packed:
        file = contract.file_of(PROJECT, lab)
        mine = self.learner.labs_dir / lab.folder / file
        mine.parent.mkdir(parents=True)
        mine.write_text(text, encoding="utf-8")
        (mine.parent / "notes.txt").write_text("mine", encoding="utf-8")
        return submit.pack(self.learner, lab, self.folder / "ada" / f"{lab.name}.zip")

    def taken(self, path: Path, lab: Lab) -> contract.Submission:
        file = contract.file_of(PROJECT, lab)
        (package,) = Intake(lambda path: contract.is_named(path, file)).packages([path])
        return contract.submission(package, lab, file, only_lab=False)

    def test_the_same_file_of_every_lab(self) -> None:
        for lab in PROJECT.labs():
            with self.subTest(lab.folder):
                text = f"/* mine */\n{solution(lab.number)}"
                packed = self.pack(lab, text)
                found = self.taken(packed.path, lab)
                self.assertEqual((found.problem, found.notes), ("", ()))
                self.assertEqual({found.contents}, set(packed.files.values()))
                self.assertEqual(found.contents, text.encode())

    def test_graded_for_real(self) -> None:
        self.pack(PROJECT.lab("01"), solution("01"))
        self.grade(self.folder / "ada", "--one")
        self.assertEqual([row["mark"] for row in self.results()["rows"]], [100])

    def test_the_limit_is_the_graders(self) -> None:
        self.assertEqual(submit.MOST_BYTES, archive.MOST_BYTES)

    def test_a_handout_has_the_same_file(self) -> None:
        for lab in PROJECT.labs():
            skeletons = self.folder / "handout" / "skeletons" / lab.folder
            shutil.copytree(PROJECT.root / "labs" / lab.folder, skeletons)
            (skeletons / contract.file_of(PROJECT, lab)).write_text(skeleton(lab.number))
            handout = Project(self.folder / "handout")
            self.assertEqual(submit.student_file(handout, lab), contract.file_of(PROJECT, lab))


if __name__ == "__main__":
    unittest.main()
