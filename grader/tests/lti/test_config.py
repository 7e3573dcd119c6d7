# SPDX-License-Identifier: MIT
"""grader.lti.config, people and published: what needs none of the packages of ./lab lti."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.building import install
from grader.commands.cli import main
from grader.lti import config, people
from grader.lti.people import People
from grader.lti.published import Published

TOML = """\
url = "https://grades.example.edu"
students = "roster.csv"
[match]
sub = "Moodle"
email = "email"
[[platforms]]
name = "Moodle"
issuer = "https://moodle.example.edu"
client_id = "abc"
login = "https://moodle.example.edu/mod/lti/auth.php"
token = "https://moodle.example.edu/mod/lti/token.php"
keys = "https://moodle.example.edu/mod/lti/certs.php"
deployments = ["1"]
contexts = ["42"]
"""


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


class Config(Folder):
    def read(self, *changes: tuple[str, str]) -> config.Config:
        self.write("roster.csv", "student,moodle,email\nada,1,a@b\n")
        text = TOML
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return config.read(self.write("lti.toml", text))

    def test_a_whole_one(self) -> None:
        found = self.read()
        self.assertEqual(found.match, {"sub": "moodle", "email": "email"})
        (platform,) = found.platforms
        self.assertEqual(platform.audience, platform.token)
        self.assertEqual(platform.frames, ("https://moodle.example.edu",))
        self.assertEqual(found.state, self.folder / "lti")

    def test_what_is_wrong_is_said(self) -> None:
        for old, new, said in (
            ('url = "https:', 'url = "http:', "'http://grades.example.edu' is not an https://"),
            ("auth.php", "auth.php;", "platform 1: login = .* is not an https://"),
            ('keys = "', 'key = "', "'key', which is not one of"),
            ('name = "Moodle"\n', "", 'platform 1: name is missing; write name = "..."'),
            ('["42"]', "42", r"platform 1: contexts is 42; write texts in brackets"),
            ("roster.csv", "other.csv", "students = 'other.csv' is not a file beside it"),
            ("[match]\n", "[matching]\n", "'matching', which is not one of"),
            ('sub = "Moodle"', 'name = "x"', "claims|not one of sub, sourcedid, email"),
            ("[[platforms]]", "[platforms]", "at least one is needed"),
            ("[match]", "[match", "cannot be read: .* line"),
        ):
            with self.subTest(new), self.assertRaisesRegex(LabError, f"lti.toml: .*{said}"):
                self.read((old, new))

    def test_one_registration_once(self) -> None:
        twice = TOML[TOML.index("[[") :]
        with self.assertRaisesRegex(LabError, "same issuer and client_id"):
            self.read(('contexts = ["42"]\n', f'contexts = ["42"]\n{twice}'))


class Matching(Folder):
    def people(self, roster: str, **match: str) -> People:
        return People(self.write("roster.csv", roster), match)

    def test_by_what_match_names(self) -> None:
        who = self.people("student,email\nada,Ada@B.example\nbob,\n", email="email")
        self.assertEqual(who.find({"sub": "1", "email": "ada@b.EXAMPLE "}).student, "ada")
        self.assertEqual(who.find({"sub": "1", "email": ""}).student, "")
        self.assertIn("sends none of email", who.find({"sub": "bob"}).why)

    def test_all_that_is_known_agrees(self) -> None:
        who = self.people("student,id,email\nada,1,a@x\nbob,2,b@x\n", sub="id", email="email")
        self.assertEqual(who.find({"sub": "1", "email": "new@x"}).student, "ada")
        self.assertEqual(who.find({"sub": "1", "email": "b@x"}).student, "")

    def test_a_roster_that_cannot_be_used(self) -> None:
        with self.assertRaisesRegex(LabError, "line 3: email 'a@x' is 'ada''s, too"):
            self.people("student,email\nada,a@x\nbob,A@x\n", email="email")
        with self.assertRaisesRegex(LabError, "no column 'moodle', which .match. names for sub"):
            self.people("student\nada\n", sub="moodle")

    def test_claims_of_other_kinds_are_none(self) -> None:
        self.assertEqual(people.of_launch({"sub": 7, people.LIS: ["x"], "email": None}), {})


class Packages(unittest.TestCase):
    def test_what_is_missing_is_named_with_the_command(self) -> None:
        said = io.StringIO()
        missing = mock.patch.object(install, "lacking", return_value=["PyLTI1p3==2.0.0"])
        with missing, contextlib.redirect_stderr(said):
            self.assertEqual(main(["lti", "--marks", "marks"]), ExitStatus.MISSING)
        self.assertIn("PyLTI1p3==2.0.0: ./lab start --lti installs them", said.getvalue())

    def test_lacking(self) -> None:
        self.assertEqual(install.lacking(("JSON>=1,<2", "none_such==1")), ["none_such==1"])


class Until(unittest.TestCase):
    def test_withheld_until_its_time_and_else_only_where_grading_said_so(self) -> None:
        found = Published({"labs": []}, {"lab01": {"ada": 100.0}}, {})
        self.assertEqual(found.until("ada", "lab01", 99.0), "1970-01-01 00:01 UTC")
        self.assertEqual(found.until("ada", "lab01", 101.0), "")
        self.assertEqual(found.until("bob", "lab01", 0.0), "")
        self.assertEqual(found.until("bob", "lab02", 0.0), "the next grading")


if __name__ == "__main__":
    unittest.main()
