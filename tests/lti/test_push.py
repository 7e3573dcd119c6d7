# SPDX-License-Identifier: MIT
"""./lab lti --push: who gets which score, what is not sent, and what is said of the rest."""

import contextlib
import io
import json
import re
import stat
import unittest

import requests
from lms import CLAIM, Browser
from school import LATER, School

COLUMN = "/2344/lineitems/1"


class Pushed(School):
    def setUp(self) -> None:
        """The link was opened once, and ada, bob and cyd take part in the course."""
        self.lms.clear()
        for name in ("links.json", "sent.json"):
            (self.folder / "lti" / name).unlink(missing_ok=True)
        self.lms.members = [
            self.lms.member("prof", "Instructor"),
            *(self.lms.member(who) for who in ("ada", "bob", "cyd")),
        ]
        self.open()

    def open(self, context: str = "", **custom: str) -> None:
        browser = Browser(self.tool)
        login = browser.login(self.lms)
        claims = self.lms.claims(login, "prof", "Instructor", **{"lab": "01", **custom})
        claims[f"{CLAIM}context"]["id"] = context or self.lms.context
        answer = browser.launch(self.lms.signed(claims), login["state"])
        self.assertEqual(answer.status_code, 200 if not context else 403)

    def push(self, *words: str, status: int = 0) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            found = self.lab("--push", "lab01", *words)
        self.assertEqual(found, status, said.getvalue())
        return said.getvalue()

    def scores(self) -> dict[str, float]:
        every = [one for of in self.lms.scores.values() for one in of]
        return {one["userId"]: one["scoreGiven"] for one in every}


class What(Pushed):
    def test_first_it_is_only_said(self) -> None:
        said = self.push()
        self.assertIn("ada: 100 of 100 (pass)", said)
        self.assertIn("3 to send, 0 unchanged, 0 not published, 0 not matched", said)
        self.assertIn("Nothing was sent: the same command with --send does it.", said)
        self.assertEqual((self.lms.scores, self.lms.lineitems), ({}, {}))

    def test_then_sent(self) -> None:
        said = self.push("--send")
        self.assertIn("3 sent, 0 unchanged", said)
        self.assertEqual(self.scores(), {"ada": 100.0, "bob": 75.0, "cyd": 78.3})
        (column,) = self.lms.lineitems.values()
        self.assertEqual(column["label"], "lab01: enumerate")
        self.assertEqual((column["scoreMaximum"], column["resourceId"]), (100, "peerlab-lab01"))

    def test_a_score_is_as_the_standard_has_it(self) -> None:
        """The platform refuses another media type, a missing field, or a time twice."""
        self.push("--send")
        late = next(one for one in next(iter(self.lms.scores.values())) if one["userId"] == "cyd")
        self.assertEqual(late["comment"], "partial, 1 day late: 8.7 points off")
        self.assertEqual(
            (late["activityProgress"], late["gradingProgress"]), ("Completed", "FullyGraded")
        )
        self.assertEqual(late["scoreMaximum"], 100)
        self.assertRegex(late["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$")

    def test_a_repeat_sends_what_changed(self) -> None:
        self.push("--send")
        self.assertIn("0 sent, 3 unchanged", self.push("--send"))
        self.published(ada=100.0, bob=80.0, cyd=78.3)
        self.assertIn("1 sent, 2 unchanged", self.push("--send"))
        self.assertEqual(self.scores()["bob"], 80.0)
        self.assertEqual(sum(map(len, self.lms.scores.values())), 4)
        self.assertEqual(len(self.lms.lineitems), 1)

    def test_what_is_withheld_is_not_sent(self) -> None:
        self.published({("bob", "lab01"): LATER}, ada=100.0, bob=75.0, cyd=None)
        said = self.push("--send")
        self.assertIn("bob: withheld until 2099-01-01 00:00 UTC", said)
        self.assertIn("cyd: has no mark", said)
        self.assertEqual(self.scores(), {"ada": 100.0})

    def test_a_lab_of_which_grading_said_nothing_is_withheld(self) -> None:
        """An output folder whose results are newer than what is said of them."""
        self.published(ada=100.0)
        (self.folder / "marks" / "withheld.json").write_text("{}")
        self.assertIn("ada: withheld until the next grading", self.push("--send"))
        self.assertEqual(self.scores(), {})
        (self.folder / "marks" / "withheld.json").unlink()
        self.assertIn("./lab grade ... --out", self.push("--send", status=2))

    def test_no_score_is_below_zero(self) -> None:
        self.published(ada=-3.0)
        self.push("--send", status=0)
        self.assertEqual(self.scores(), {"ada": 0.0})


class Whom(Pushed):
    def test_who_could_not_be_matched_is_named(self) -> None:
        self.lms.members = [
            self.lms.member("ada"),
            self.lms.member("uuid-1", email="CYD@platform.example.edu"),
            self.lms.member("mallory"),
        ]
        said = self.push("--send", status=1)
        self.assertEqual(self.scores(), {"ada": 100.0, "uuid-1": 78.3})
        self.assertIn("bob: is not a member of the course", said)
        self.assertIn("not in the roster: sub 'mallory'", said)
        self.assertIn("2 sent, 0 unchanged, 0 not published, 2 not matched", said)

    def test_all_pages_are_read(self) -> None:
        """Their addresses have capital letters."""
        others = [self.lms.member(f"prof{at}", "Instructor") for at in range(5)]
        self.lms.members = [*others, *self.lms.members]
        for at in range(5):
            self.lms.add_lineitem({"label": f"other {at}", "scoreMaximum": 1, "resourceId": "o"})
        self.push("--send")
        self.assertEqual(set(self.scores()), {"ada", "bob", "cyd"})
        self.push("--send")
        self.assertEqual(len(self.lms.lineitems), 6)

    def test_a_next_page_elsewhere_is_not_asked(self) -> None:
        """It would get our token."""
        self.lms.next_host = "http://localhost:9"
        self.assertIn("continues at another place, http://localhost:9", self.push(status=1))

    def test_who_left_the_course_gets_nothing(self) -> None:
        self.lms.members = [self.lms.member("ada", status="Inactive"), self.lms.member("bob")]
        self.published(ada=100.0, bob=75.0)
        self.push("--send", status=1)
        self.assertEqual(self.scores(), {"bob": 75.0})

    def test_two_members_that_are_one_student(self) -> None:
        self.lms.members.append(self.lms.member("ada2", email="bob@platform.example.edu"))
        self.assertIn("bob: two members of the course are this student", self.push(status=1))


class Where(Pushed):
    def test_before_a_link_was_opened(self) -> None:
        (self.folder / "lti" / "links.json").unlink()
        self.assertIn("open a link of the course once", self.push(status=6))

    def test_a_course_that_is_not_ours_is_not_kept(self) -> None:
        (self.folder / "lti" / "links.json").unlink()
        self.open(context="another-course")
        self.push(status=6)

    def test_a_course_that_is_ours_no_more(self) -> None:
        self.contexts('["another-course"]')
        self.push(status=6)

    def contexts(self, listed: str) -> None:
        """For this test, in lti.toml."""
        toml = self.folder / "lti.toml"
        text = toml.read_text()
        self.addCleanup(toml.write_text, text)
        toml.write_text(re.sub(r"contexts = .*", f"contexts = {listed}", text))

    def test_the_column_of_the_link_where_it_has_one(self) -> None:
        self.lms.add_lineitem({"label": "made with the link", "scoreMaximum": 10})
        path = self.folder / "lti" / "links.json"
        (link,) = json.loads(path.read_text())
        path.write_text(json.dumps([{**link, "lineitem": f"{self.lms.url}{COLUMN}"}]))
        self.push("--send")
        self.assertEqual(len(self.lms.lineitems), 1)
        self.assertEqual(len(self.scores()), 3)

    def test_of_several_courses_one_is_chosen(self) -> None:
        path = self.folder / "lti" / "links.json"
        (link,) = json.loads(path.read_text())
        self.contexts('["c1d887f0-a1a3", "2"]')
        path.write_text(json.dumps([link, {**link, "context": "2", "course": "Latin"}]))
        self.assertIn("--context 2  Latin", self.push(status=2))
        self.push("--context", "2")

    def test_a_lab_without_marks(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(self.lab("--push", "7"), 6)
        self.assertIn("--push lab07: marks are there of lab01, lab02", said.getvalue())


class Trouble(Pushed):
    def test_what_the_platform_answered_is_said_on_one_line(self) -> None:
        for end, status, word in (
            ("/token", 401, "client_id"),
            ("/memberships", 403, "allow line items"),
            ("/lineitems", 404, "open the lab's link"),
        ):
            self.lms.fails = {end: status}
            said = self.push("--send", status=1)
            self.assertIn(f"answered {status}: not today?[31m", said)
            self.assertIn(word, said)
        self.assertEqual(self.scores(), {})

    def test_an_interruption_is_gone_on_from(self) -> None:
        """The second score is refused; what was sent is not sent again."""
        gone = self.lms.members.pop(2)
        self.lms.members.append(self.lms.member("bob"))
        put = self.lms.add_score

        def once(item: str, found: dict[str, object]) -> None:
            if found["userId"] == "bob":
                self.lms.fails = {"/scores": 500}
            put(item, found)

        self.lms.add_score = once
        self.addCleanup(delattr, self.lms, "add_score")
        self.push("--send", status=1)
        self.assertEqual(set(self.scores()), {"ada", "bob"})
        self.lms.fails = {}
        self.assertIn("1 sent, 2 unchanged", self.push("--send"))
        self.assertEqual(gone["user_id"], "bob")

    def test_a_platform_that_is_not_there(self) -> None:
        path = self.folder / "lti" / "links.json"
        (link,) = json.loads(path.read_text())
        path.write_text(json.dumps([{**link, "lineitems": "http://127.0.0.1:9/2344/lineitems"}]))
        self.assertIn("Moodle could not be asked", self.push(status=1))

    def test_scores_are_its_users_alone(self) -> None:
        self.push("--send")
        mode = stat.S_IMODE((self.folder / "lti" / "sent.json").stat().st_mode)
        self.assertEqual(mode, 0o600)

    def test_the_assertion_for_a_token_is_used_once(self) -> None:
        """Of the platform: it refuses the second, and takes none that /jwks does not verify."""
        self.push()
        self.push()
        self.assertEqual(len(self.lms.assertions), 4)
        self.assertEqual(
            requests.get(f"{self.lms.url}/2344/memberships", timeout=10).status_code, 401
        )


if __name__ == "__main__":
    unittest.main()
