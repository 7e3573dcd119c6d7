# SPDX-License-Identifier: MIT
"""The class report and the feedback in a real browser without network: headless Chromium."""

import html
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from classroom import Classroom, mutant, skeleton, solution

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EVIL = "<img src=x onerror=document.title='owned'>"


class Browser(Classroom):
    def chromium(self, page: Path, *words: str) -> str:
        """What the browser says; a page that would reach for the network gets none."""
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--incognito"]
        command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1000,1400"]
        command += [f"--user-data-dir={self.folder / 'browser'}", "--virtual-time-budget=3000"]
        done = subprocess.run(
            [*command, *words, page.as_uri()],
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_pages(self) -> None:
        self.hand_in("ada", "01", solution("01"))
        self.hand_in("bob", "01", skeleton("01"))
        self.hand_in(EVIL, "01", mutant("01", "count_no_gpu_is_an_error"))
        self.grade(self.folder / "class")
        out = self.folder / "out"
        seen = self.chromium(out / "report.html", "--dump-dom")
        self.assertIn("<title>Class report</title>", seen)
        self.assertIn(html.escape(EVIL, quote=False), seen)
        self.assertNotIn("<img", seen)
        self.assertGreater(len(re.findall("<rect ", seen)), 10)
        self.assertIn("Who solved each task", seen)
        self.assertGreater(seen.count("<tr>"), 15)
        for page in sorted((out / "feedback").glob("*.html")):
            seen = self.chromium(page, "--dump-dom")
            self.assertIn("<title>Feedback</title>", seen)
            self.assertNotIn("<img", seen)
        picture = self.folder / "report.png"
        self.chromium(out / "report.html", f"--screenshot={picture}")
        self.assertGreater(picture.stat().st_size, 20_000)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("no chromium here: the pages were not looked at")
        sys.exit(77)
    unittest.main()
