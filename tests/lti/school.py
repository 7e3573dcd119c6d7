# SPDX-License-Identifier: MIT
"""A class with marks, as ./lab grade writes them, and our service for it on this computer."""

from __future__ import annotations

import functools
import json
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

from lms import Lms

from grader.commands.cli import main
from grader.course.project import here
from grader.export import outputs
from grader.grade.results import SCHEMA
from grader.lti import config, keys, service
from grader.lti.launch import tool_config
from grader.lti.people import People
from grader.lti.published import Marks
from grader.tests.export.test_export import case, row

Json = dict[str, Any]
keys.key = functools.cache(keys.key)  # reading one takes 60 ms
ROSTER = """\
student,name,email,moodle
ada,Ada Lovelace,ada@platform.example.edu,ada
bob,Bob Noyce,bob@platform.example.edu,bob
cyd,Cyd Charisse,Cyd@Platform.example.edu,
dan,Dan Bricklin,dan@platform.example.edu,dan
eve,Eve Arden,eve@platform.example.edu,eve
"""
LATER = 4070908800.0  # 2099-01-01
HOSTILE = '</pre><script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>'


def results(**marks: float | None) -> Json:
    """Two labs: of lab01 the marks given by student, of lab02 one of ada's."""
    bad = case("two", "fail", 50, message=HOSTILE, said=HOSTILE)
    rows = [one("lab01", who, mark, bad) for who, mark in marks.items()]
    rows.append(one("lab02", "ada", 33.0, bad))
    rows.sort(key=lambda found: (found["student"], found["lab"]))
    labs = [
        {"lab": name, "title": title, "points": 100, "file": "x.c", "skeleton": [], "cases": []}
        for name, title in (("lab01", "enumerate"), ("lab02", "peer access"))
    ]
    students = [
        {"student": who, "name": who.title(), "handed_in": ["lab01"]} for who in sorted(marks)
    ]
    head = {"schema": SCHEMA, "seed": 1, "sandbox": "bubblewrap", "orders": 1}
    course = {"course": "v1", "compiler": "gcc"}
    return {**head, "course": course, "labs": labs, "students": students, "rows": rows}


def one(lab: str, student: str, mark: float | None, bad: Json) -> Json:
    times = {"submitted": None, "seconds": 1, "cpu_seconds": 1, "virtual_seconds": 1}
    late = {"days": 1, "slip": 0, "percent": 10, "points": 8.7} if student == "cyd" else None
    more = {"request": None, "file": "x.c", "sha256": "ab" * 32, "times": times, "attempts": []}
    more |= {"late": late} if late else {}
    status = "infrastructure error" if mark is None else "pass" if mark == 100 else "partial"
    cases = [case("one", "pass", 50), case("two", "pass", 50) if mark == 100 else bad]
    found = row(*cases, mark=mark, student=student, name=student.title(), lab=lab, status=status)
    return found | more


class School(unittest.TestCase):
    """`self.lms` is the platform, `self.tool` where our service listens; both are there for all
    tests of a class."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="peerlab-lti-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.lms = Lms()
        cls.addClassCleanup(cls.lms.close)
        (cls.folder / "roster.csv").write_text(ROSTER)
        cls.write_config("http://127.0.0.1:8070")
        cls.publish(ada=100.0, bob=75.0, cyd=78.3)
        cls.tool = cls.serve()

    @classmethod
    def write_config(cls, url: str) -> None:
        head = f'url = "{url}"\nstudents = "roster.csv"\n'
        match = '[match]\nsub = "moodle"\nemail = "email"\n'
        (cls.folder / "lti.toml").write_text(head + match + cls.lms.toml())

    @classmethod
    def publish(cls, held: Json | None = None, **marks: float | None) -> None:
        """As ./lab grade does, in its order."""
        found = results(**marks)
        out = cls.folder / "marks"
        outputs.write(here(), found, out, [], held or {}, {}, {})
        (out / "results.json").write_text(json.dumps(found))

    def published(self, held: Json | None = None, **marks: float | None) -> None:
        """For this test."""
        self.publish(held, **marks)
        self.addCleanup(self.publish, ada=100.0, bob=75.0, cyd=78.3)

    @classmethod
    def serve(cls) -> str:
        """Until the process ends. `cls.log` is what it says."""
        found = config.read(cls.folder / "lti.toml")
        pair = keys.key(found.state)
        people = People(found.students, found.match)
        ours = service.Service(found, pair, Marks(cls.folder / "marks"), people)
        server = service.server(ours, "127.0.0.1", 0)
        cls.log: list[str] = []
        service.log = cls.log.append
        threading.Thread(target=server.run, daemon=True).start()
        cls.lms.tool_jwks = tool_config(found, pair).get_jwks()
        return f"http://127.0.0.1:{server.effective_port}"

    def lab(self, *words: str) -> int:
        """`./lab lti WORDS`: its exit status."""
        files = ("--config", str(self.folder / "lti.toml"), "--marks", str(self.folder / "marks"))
        return main(["lti", *files, *words])
