# SPDX-License-Identifier: MIT
"""grader.course.sync.reset: what comes with a lab is put back as git has it."""

import subprocess

from grader.course.sync import reset, sync
from grader.tests.fake import README, FakeCheckout


class Reset(FakeCheckout):
    def test_reset_takes_given_files_from_git(self) -> None:
        sync(self.project, [self.lab])
        for words in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *words], cwd=self.root, check=True)
        self.write("labs/01-tiny/tiny.h", "mine\n")
        (self.root / "labs/01-tiny/README.md").unlink()
        kept = reset(self.project, self.lab)
        self.assertEqual(kept, {"01-tiny/tiny.h": "01-tiny/tiny.h.bak1"})
        self.assertEqual(self.read("labs/01-tiny/tiny.h"), "int twice(int n);\n")
        self.assertEqual(self.read("labs/01-tiny/tiny.h.bak1"), "mine\n")
        self.assertEqual(self.read("labs/01-tiny/README.md"), README)
