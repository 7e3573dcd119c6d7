# SPDX-License-Identifier: MIT
"""The pages that docs/ shows of a class: each is made anew, for real, and looked at in Chromium.

docs/samples/NAME.html is the page, NAME.png its picture. Where the text of a page is another one
than what stands there, PEERLAB_WRITE=1 writes both anew.
"""

import difflib
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path
from typing import Any

from classroom import ROOT, Classroom, skeleton

sys.path.insert(0, str(ROOT / "tests" / "lti"))

import requests
from lms import Browser
from school import School

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SAMPLES = ROOT / "docs" / "samples"
WRITE = os.environ.get("PEERLAB_WRITE") == "1"
HEIGHTS = {"feedback": 1240, "leaderboard": 900, "pairs": 1160, "lti-values": 360}
DAYS = "student,submitted\nada,2026-11-20T12:00Z\nben,2026-11-21T12:00Z\n"
KEY = {"seed": 2026, "pseudonyms": "2026" * 16}
WIDTH = 900
TASK = "    TODO(1);"  # of the skeleton, and what is written in its place
ALIKE = {
    "ada": """\
    int found = 0;
    if (cudaGetDeviceCount(&found) != cudaSuccess)
        found = 0; // no driver, so no GPUs
    *n = found;
    return LAB_OK;""",
    "bob": """\
    // My own work
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0; // no driver, so no GPUs

    *n = count;
    return LAB_OK;""",
    "cyd": """\
    return cudaGetDeviceCount(n) == cudaSuccess ? LAB_OK : LAB_ECUDA;""",
}


class Pictures(Classroom):
    def test_pages(self) -> None:
        self.make_class()
        made = {
            "feedback": self.folder / "marks" / "feedback" / "cyd.html",
            "leaderboard": self.folder / "times" / "leaderboard.html",
            "pairs": self.pairs(),
            "lti-values": self.opened_in_a_platform(),
        }
        self.assertEqual(set(made), set(HEIGHTS))
        for name, page in made.items():
            with self.subTest(name):
                self.look(name, page)

    def make_class(self) -> None:
        """As docs/instructors.md does it."""
        script = ROOT / "tests" / "grading" / "example_class.py"
        subprocess.run([sys.executable, script, self.folder / "class"], check=True)
        words = ["--students", self.folder / "roster.csv", "--times", self.folder / "times.csv"]
        words += ["--deadline", "2026-11-20T23:59", "--late", "10", "--seed", "2026"]
        self.grade(self.folder / "class", *words, out="marks")
        (self.folder / "days.csv").write_text(DAYS)
        (self.folder / "times").mkdir()
        (self.folder / "times" / "class.json").write_text(json.dumps(KEY))
        words = ["--labs", "3", "--leaderboard", "--times", self.folder / "days.csv"]
        self.grade(self.folder / "race", *words, out="times")

    def pairs(self) -> Path:
        """Of a result that JPlag did not write, as no registry has it: the matches are ours."""
        for who, text in ALIKE.items():
            self.hand_in(who, "01", skeleton("01").replace(TASK, text), "alike")
        self.grade(self.folder / "alike", "--labs", "1", "--jplag", out="alike-marks")
        folder = self.folder / "alike-marks" / "jplag" / "lab01"
        by_name: dict[str, dict[str, str]] = {who: {} for who in ALIKE}
        files = {
            who: next((folder / "submissions" / who).iterdir()).read_text(encoding="utf-8")
            for who in ALIKE
        }
        entries = {f"files/{who}/enumerate.c": text for who, text in files.items()}
        listed = []
        for a, b in itertools.combinations(ALIKE, 2):
            by_name[a][b] = by_name[b][a] = f"{a}-{b}.json"
            entries[f"{a}-{b}.json"] = json.dumps(compared(a, b, files))
            listed.append({"firstSubmission": a, "secondSubmission": b, "similarities": {}})
        entries["topComparisons.json"] = json.dumps(listed)
        mapping = {"submissionIdsToComparisonFileName": by_name}
        entries["submissionMappings.json"] = json.dumps(mapping)
        with zipfile.ZipFile(folder / "result.jplag", "w") as archive:
            for name, text in entries.items():
                archive.writestr(name, text)
        self.lab("pairs", folder)
        return folder / "pairs.html"

    def opened_in_a_platform(self) -> Path:
        """The class behind ./lab lti. A student who opens the link in the course sees the page that
        ./lab grade has written; the person who registers the service, the page in this picture."""
        School.setUpClass()
        self.addCleanup(School.doClassCleanups)
        shutil.rmtree(School.folder / "marks")
        shutil.copytree(self.folder / "marks", School.folder / "marks")
        browser = Browser(School.tool)
        login = browser.login(School.lms)
        claims = School.lms.claims(login, "cyd", lab="01")
        answer = browser.launch(School.lms.signed(claims), login["state"])
        written = (self.folder / "marks" / "feedback" / "cyd.html").read_text(encoding="utf-8")
        self.assertEqual(answer.text, written)
        page = self.folder / "lti-values.html"
        page.write_text(requests.get(School.tool, timeout=10).text, encoding="utf-8")
        return page

    def look(self, name: str, page: Path) -> None:
        kept, picture = SAMPLES / f"{name}.html", SAMPLES / f"{name}.png"
        now = self.photographed(name, page)
        self.assertGreater(len(now), 8000, "a page with nothing on it")
        self.assertEqual(size_of(now), (WIDTH, HEIGHTS[name]))
        text = page.read_text(encoding="utf-8")
        if WRITE:
            kept.write_text(text, encoding="utf-8")
            picture.write_bytes(now)
        told = "PEERLAB_WRITE=1 writes this page and its picture anew"
        self.assertEqual(text_of(kept.read_text(encoding="utf-8")), text_of(text), told)
        self.assertEqual(size_of(picture.read_bytes()), size_of(now), told)

    def photographed(self, name: str, page: Path) -> bytes:
        picture = self.folder / f"{name}.png"
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--incognito"]
        command += ["--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"]
        command += [f"--user-data-dir={self.folder / 'browser'}", f"--screenshot={picture}"]
        command += [f"--window-size={WIDTH},{HEIGHTS[name]}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        self.assertEqual(done.returncode, 0, done.stderr)
        return picture.read_bytes()


def compared(a: str, b: str, files: dict[str, str]) -> dict[str, Any]:
    """The matches of two files, as JPlag 6.2 writes them, but for names of variables."""
    lines = {who: re.sub(r"\b(found|count)\b", "x", files[who]).splitlines() for who in (a, b)}
    found = difflib.SequenceMatcher(None, lines[a], lines[b], autojunk=False)
    matches = [
        {
            "firstFileName": f"{a}/enumerate.c",
            "secondFileName": f"{b}/enumerate.c",
            "startInFirst": spot(block.a + 1),
            "endInFirst": spot(block.a + block.size),
            "startInSecond": spot(block.b + 1),
            "endInSecond": spot(block.b + block.size),
            "lengthOfFirst": block.size,
        }
        for block in found.get_matching_blocks()
        if block.size > 1
    ]
    ids = {"firstSubmissionId": a, "secondSubmissionId": b}
    return {**ids, "similarities": {"AVG": found.ratio()}, "matches": matches}


def spot(line: int) -> dict[str, int]:
    return {"line": line, "column": 1, "tokenListIndex": 0}


def text_of(page: str) -> list[str]:
    """What is read on it, whatever it looks like."""
    body = re.sub(r"<(style|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", "\n", body)
    return [line.strip() for line in words.splitlines() if line.strip()]


def size_of(picture: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


if __name__ == "__main__":
    if CHROMIUM is None:
        print("no chromium here: the pages were not looked at")
        sys.exit(77)
    unittest.main()
