# SPDX-License-Identifier: MIT
"""docs/lti.md shows what really happens: its lti.toml is read, its commands are typed."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import requests
from lms import Browser
from school import LATER, School

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "lti.md").read_text(encoding="utf-8")
TOML = re.compile(r"<!-- lti.toml -->\n```toml\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"<!-- run -->\n```console\n(.*?)```", re.DOTALL)
MOODLE = "https://moodle.example.edu"
SERVE = "./lab lti --config lti.toml --marks marks"


class Shown(School):
    def setUp(self) -> None:
        text = TOML.search(PAGE)[1]
        for theirs, ours in (
            (f"{MOODLE}/mod/lti/auth.php", f"{self.lms.url}/auth"),
            (f"{MOODLE}/mod/lti/token.php", f"{self.lms.url}/token"),
            (f"{MOODLE}/mod/lti/certs.php", f"{self.lms.url}/jwks"),
            (MOODLE, self.lms.url),
            ("p7Tsa02vV9lzc5J", self.lms.client_id),
            ('["1"]', f'["{self.lms.deployment}"]'),
            ('["42"]', f'["{self.lms.context}"]'),
        ):
            self.assertIn(theirs, text)
            text = text.replace(theirs, ours)
        (self.folder / "lti.toml").write_text(text)
        (self.folder / "lab").unlink(missing_ok=True)
        (self.folder / "lab").symlink_to(ROOT / "lab")
        self.lms.members = [self.lms.member(who) for who in ("ada", "bob", "cyd", "mallory")]
        self.published({("bob", "lab01"): LATER}, ada=100.0, bob=75.0, cyd=78.3, eve=10.0)

    def test_set_up(self) -> None:
        """Where all is there, nothing is installed."""
        self.assertIn("    ./lab start --only-setup --lti ", PAGE)
        words = [sys.executable, ROOT / "lab", "start", "--only-setup", "--lti", "--no-install"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_service_and_its_commands(self) -> None:
        shown = re.search(rf"^\$ {re.escape(SERVE)}\n(.*)\n", PAGE, re.MULTILINE)[1]
        words = [sys.executable, *SERVE.split(), "--listen", "127.0.0.1:0"]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, cwd=self.folder, text=True, **quiet) as service:
            try:
                said = service.stdout.readline()
                self.tool = re.search(r"http://127.0.0.1:\d+", said)[0]
                self.assertEqual(said.strip(), shown.replace("http://127.0.0.1:8070", self.tool))
                self.opened()
                for block in BLOCK.findall(PAGE):
                    self.type(block)
            finally:
                service.terminate()

    def opened(self) -> None:
        self.lms.tool_jwks = requests.get(f"{self.tool}/jwks", timeout=10).json()
        browser = Browser(self.tool)
        login = browser.login(self.lms)
        token = self.lms.signed(self.lms.claims(login, "prof", "Instructor", lab="01"))
        self.assertEqual(browser.launch(token, login["state"]).status_code, 200)

    def type(self, block: str) -> None:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            done = subprocess.run(
                [sys.executable, *command.split()],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
                env={**os.environ, "TZ": "UTC"},
            )
            printed = (done.stdout + done.stderr).replace(self.lms.url, MOODLE)
            self.assertEqual(printed, output, command)
            self.assertEqual(done.returncode, 1)  # somebody is not matched

    def test_what_the_log_says_is_what_it_says(self) -> None:
        """The table's left column is in the sources, ours or the library's."""
        rows = re.findall(
            r"^\| (`.*) \| .* \|$", PAGE[PAGE.index("| the log says") :], re.MULTILINE
        )
        known = {line for name in ("test_launch.py", "test_push.py") for line in self.lines(name)}
        for said in (one for row in rows for one in re.findall(r"`([^`]+)`", row)):
            with self.subTest(said):
                words = said.replace("course '...' ", "")
                self.assertTrue(any(words in line for line in known), said)

    def lines(self, name: str) -> list[str]:
        ours = [*(ROOT / "grader" / "lti").glob("*.py"), Path(__file__).with_name(name)]
        return [line for path in ours for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    unittest.main()
