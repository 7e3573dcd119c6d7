# SPDX-License-Identifier: MIT
"""A launch shows a student the own feedback, an instructor the class, and nobody else anything.
Each forged launch differs from one that is taken in one thing."""

import base64
import contextlib
import hashlib
import hmac
import json
import re
import socket
import stat
import time
import unittest
from typing import Any
from unittest import mock

import requests
from lms import AGS, CLAIM, JWK, ROLE, Browser, rsa_key
from school import HOSTILE, LATER, School

from grader.base.exits import LabError
from grader.lti import keys, launch

Json = dict[str, Any]


class Launches(School):
    def setUp(self) -> None:
        super().setUp()
        self.browser = Browser(self.tool)

    def launch(self, sub: str = "ada", *roles: str, **custom: str) -> requests.Response:
        login = self.browser.login(self.lms)
        claims = self.lms.claims(login, sub, *roles, **{"lab": "01", **custom})
        return self.browser.launch(self.lms.signed(claims), login["state"])

    def changed(self, **claims: object) -> requests.Response:
        """With these claims in place of the right ones; None: without."""
        login = self.browser.login(self.lms)
        found = self.lms.claims(login, "ada", lab="01") | claims
        found = {name: value for name, value in found.items() if value is not None}
        return self.browser.launch(self.lms.signed(found), login["state"])

    def assert_refused(self, answer: requests.Response, why: str) -> None:
        """The page says the same of everything but its number; the log says why."""
        self.assertEqual(answer.status_code, 403, answer.text)
        text = re.sub(r"\b[0-9a-f]{8}\b", "NUMBER", answer.text)
        number = re.search(r"the number ([0-9a-f]{8})", answer.text)
        self.assertIn("This link could not be opened.", text)
        self.assertNotIn("Ada", text)
        self.assertTrue(any(number[1] in line and why in line for line in self.log), self.log)


class Shown(Launches):
    def test_a_student_sees_the_own_feedback_on_that_lab(self) -> None:
        answer = self.launch("ada")
        self.assertEqual(answer.status_code, 200, answer.text)
        self.assertIn("Feedback for Ada Lovelace", answer.text)
        self.assertIn("Lab 01: enumerate", answer.text)
        self.assertNotIn("Lab 02", answer.text)
        self.assertNotIn("Bob", answer.text)

    def test_the_lab_of_the_links_address(self) -> None:
        answer = self.changed(
            **{f"{CLAIM}custom": {}, f"{CLAIM}target_link_uri": "https://t.example/launch?lab=2"}
        )
        self.assertIn("Lab 02: peer access", answer.text)

    def test_without_a_lab_all_of_them(self) -> None:
        answer = self.changed(**{f"{CLAIM}custom": {}})
        self.assertIn("Lab 01", answer.text)
        self.assertIn("Lab 02", answer.text)

    def test_a_lab_without_marks(self) -> None:
        answer = self.launch("ada", lab="../../etc")
        self.assertEqual(answer.status_code, 404)
        self.assertIn("marks are there of lab01, lab02", answer.text)

    def test_who_handed_in_nothing_reads_that(self) -> None:
        self.assertIn("Nothing was handed in.", self.launch("dan").text)

    def test_the_address_leads_to_the_roster_where_the_id_does_not(self) -> None:
        self.assertIn("Feedback for Cyd Charisse", self.launch("cyd").text)

    def test_an_address_that_is_another_students_leads_nowhere(self) -> None:
        answer = self.changed(sub="bob", email="ada@platform.example.edu")
        self.assertEqual(answer.status_code, 403)
        self.assertIn(
            "these are several of the roster, ada, bob", answer.text.replace("&#x27;", "'")
        )

    def test_a_stranger_is_told_what_the_instructor_needs(self) -> None:
        answer = self.launch("mallory")
        self.assertEqual(answer.status_code, 403)
        self.assertIn("mallory@platform.example.edu", answer.text)

    def test_an_instructor_sees_the_class(self) -> None:
        answer = self.launch("prof", "Instructor")
        self.assertIn("<h1>Class report</h1>", answer.text)

    def test_only_an_instructor_of_this_course_does(self) -> None:
        """A professor who attends it, and a learner's role that ends in the same word."""
        near = [
            "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor",
            "http://purl.imsglobal.org/vocab/lis/v2/membership/Learner#Instructor",
        ]
        answer = self.changed(**{f"{CLAIM}roles": [*near, f"{ROLE}Learner"]})
        self.assertIn("Feedback for Ada Lovelace", answer.text)

    def test_a_mentor_of_a_student_sees_nothing(self) -> None:
        answer = self.launch("ada", "Mentor")
        self.assertEqual(answer.status_code, 403)
        self.assertNotIn("Feedback for", answer.text)

    def test_another_course_of_the_platform_sees_nothing(self) -> None:
        """Also its instructor; who runs the service learns what to add."""
        other = {"id": "another-course", "title": "Latin"}
        for role in ("Learner", "Instructor"):
            answer = self.changed(**{f"{CLAIM}context": other, f"{CLAIM}roles": [ROLE + role]})
            self.assertEqual(answer.status_code, 403)
            self.assertIn("another-course", answer.text)
            self.assertNotIn("Ada", answer.text)

    def test_what_is_withheld_is_not_shown_until_then(self) -> None:
        self.published({("ada", "lab01"): LATER}, ada=100.0, bob=75.0)
        answer = self.launch("ada")
        self.assertIn("shown from 2099-01-01 00:00 UTC on", answer.text)
        self.assertNotIn("points", answer.text)
        self.publish({("ada", "lab01"): time.time() - 1}, ada=100.0, bob=75.0)
        self.assertIn("100 of 100 points", self.launch("ada").text)

    def test_new_marks_are_seen_without_a_restart(self) -> None:
        self.assertIn("75 of 100 points", self.launch("bob").text)
        self.published(ada=100.0, bob=80.0)
        self.assertIn("80 of 100 points", self.launch("bob").text)


class Forged(Launches):
    def test_another_key(self) -> None:
        login = self.browser.login(self.lms)
        claims = self.lms.claims(login, "ada", lab="01")
        answer = self.browser.launch(self.lms.signed(claims, rsa_key()), login["state"])
        self.assert_refused(answer, "Signature verification failed")

    def test_a_key_that_the_platform_does_not_have(self) -> None:
        login = self.browser.login(self.lms)
        claims = self.lms.claims(login, "ada", lab="01")
        answer = self.browser.launch(self.lms.signed(claims, rsa_key(), "mine"), login["state"])
        self.assert_refused(answer, "Unable to find public key")

    def test_another_nonce(self) -> None:
        self.assert_refused(self.changed(nonce="fc5fdc6d"), "the nonce is not that of this login")

    def test_the_nonce_of_another_login(self) -> None:
        """Both are ours, and were made for two windows."""
        one, other = self.browser.login(self.lms), self.browser.login(self.lms)
        claims = self.lms.claims(one, "ada", lab="01")
        answer = self.browser.launch(self.lms.signed(claims), other["state"])
        self.assert_refused(answer, "the nonce is not that of this login")

    def test_replayed(self) -> None:
        login = self.browser.login(self.lms)
        token = self.lms.signed(self.lms.claims(login, "ada", lab="01"))
        self.assertEqual(self.browser.launch(token, login["state"]).status_code, 200)
        again = self.browser.launch(token, login["state"])
        self.assert_refused(again, "the nonce is not that of this login, or was used before")
        self.assertNotIn(token, "".join(self.log))

    def test_in_another_browser(self) -> None:
        """Who makes somebody else's browser send this launch: it has no cookie of the login."""
        login = self.browser.login(self.lms)
        token = self.lms.signed(self.lms.claims(login, "ada", lab="01"))
        answer = Browser(self.tool).launch(token, login["state"])
        self.assert_refused(answer, "State not found")

    def test_another_state(self) -> None:
        login = self.browser.login(self.lms)
        token = self.lms.signed(self.lms.claims(login, "ada", lab="01"))
        self.assert_refused(self.browser.launch(token, "state-mine"), "State not found")

    def test_a_login_of_long_ago(self) -> None:
        with mock.patch.object(launch, "LOGIN_SECONDS", -1.0):
            login = self.browser.login(self.lms)
        token = self.lms.signed(self.lms.claims(login, "ada", lab="01"))
        answer = self.browser.launch(token, login["state"])
        self.assert_refused(answer, "the nonce is not that of this login")

    def test_expired(self) -> None:
        now = int(time.time())
        self.assert_refused(self.changed(exp=now - 5), "Signature has expired")

    def test_that_never_expires(self) -> None:
        self.assert_refused(self.changed(exp=None), 'missing the "exp" claim')

    def test_issued_long_ago_or_in_the_future(self) -> None:
        now = int(time.time())
        self.assert_refused(self.changed(iat=now - 3600), "the token was issued at")
        self.assert_refused(self.changed(iat=now + 3600), "The token is not yet valid (iat)")
        self.assert_refused(self.changed(iat=None), 'missing the "iat" claim')

    def test_another_audience(self) -> None:
        """Another tool of the same platform hands on what it got."""
        answer = self.changed(aud="another-tool", azp="another-tool")
        self.assert_refused(answer, "not found in settings")

    def test_several_audiences(self) -> None:
        """With us first, and another as the authorized party, or none."""
        both = [self.lms.client_id, "another-tool"]
        self.assert_refused(self.changed(aud=both, azp="another-tool"), "authorized party")
        self.assert_refused(self.changed(aud=both, azp=None), "authorized party None")
        self.assertEqual(self.changed(aud=both, azp=self.lms.client_id).status_code, 200)

    def test_another_issuer(self) -> None:
        self.assert_refused(self.changed(iss="https://evil.example"), "not found in settings")

    def test_another_deployment(self) -> None:
        answer = self.changed(**{f"{CLAIM}deployment_id": "another"})
        self.assert_refused(answer, "Unable to find deployment")

    def test_no_signature(self) -> None:
        login = self.browser.login(self.lms)
        claims = self.lms.claims(login, "ada", lab="01")
        token = unsigned({"alg": "none", "kid": self.lms.kid, "typ": "JWT"}, claims) + "."
        self.assert_refused(self.browser.launch(token, login["state"]), "signed by 'none'")

    def test_the_public_key_as_a_secret(self) -> None:
        login = self.browser.login(self.lms)
        claims = self.lms.claims(login, "ada", lab="01")
        (key,) = requests.get(f"{self.lms.url}/jwks", timeout=10).json()["keys"]
        public = JWK(**key).export_to_pem()
        head = unsigned({"alg": "HS256", "kid": self.lms.kid, "typ": "JWT"}, claims)
        tag = hmac.new(public, head.encode(), hashlib.sha256).digest()
        token = f"{head}.{plain(tag)}"
        self.assert_refused(self.browser.launch(token, login["state"]), "signed by 'HS256'")

    def test_another_kind_of_message(self) -> None:
        review = {
            f"{CLAIM}message_type": "LtiSubmissionReviewRequest",
            f"{CLAIM}for_user": {"user_id": "bob"},
            f"{AGS}claim/endpoint": {"lineitem": "https://x.example/1", "scope": []},
        }
        self.assert_refused(self.changed(**review), "the message is not one that opens a link")

    def test_no_token_at_all(self) -> None:
        for token in ("", "a.b", "a.b.c", "ey.ey.ey", unsigned([], {}) + ".", "x" * 5000):
            login = self.browser.login(self.lms)
            answer = self.browser.launch(token, login["state"])
            self.assert_refused(answer, "")


def plain(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(head: object, claims: Json) -> str:
    return ".".join(plain(json.dumps(one).encode()) for one in (head, claims))


class Login(Launches):
    def test_the_platform_sends_back_to_us_alone(self) -> None:
        """Whatever target the request names."""
        login = self.browser.login(self.lms, target_link_uri="https://evil.example/launch")
        self.assertTrue(self.browser.sent_to.startswith(f"{self.lms.url}/auth?"))
        self.assertEqual(login["redirect_uri"], "http://127.0.0.1:8070/launch")
        said = {"scope": "openid", "response_type": "id_token", "response_mode": "form_post"}
        said |= {"prompt": "none", "client_id": self.lms.client_id, "login_hint": "1303751"}
        self.assertEqual({key: login[key] for key in said}, said)

    def test_another_platform(self) -> None:
        for more in ({"iss": "https://evil.example"}, {"client_id": "x"}, {"login_hint": ""}):
            self.assertEqual(self.browser.login(self.lms, **more), {"status": 403})

    def test_the_cookie_is_for_frames_over_https_only(self) -> None:
        self.write_config("https://t.example")
        self.addCleanup(self.write_config, "http://127.0.0.1:8070")
        browser = Browser(self.serve())
        browser.login(self.lms)
        for word in ("Secure", "HttpOnly", "SameSite=None", "Max-Age=300"):
            self.assertIn(word, browser.set_cookie)

    def test_logins_that_nobody_finishes_are_forgotten(self) -> None:
        pending = launch.Pending()
        for at in range(launch.MOST_PENDING + 5):
            pending.add(f"state-{at}", "n")
        self.assertEqual(pending.take("state-4"), "")
        self.assertEqual(pending.take("state-5"), "n")


class Served(Launches):
    def test_no_page_runs_or_loads_anything(self) -> None:
        for answer in (self.launch("ada"), self.launch("prof", "Instructor"), self.launch("x")):
            policy = answer.headers["Content-Security-Policy"]
            for word in ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "sandbox"):
                self.assertIn(word, policy)
            self.assertIn(f"frame-ancestors {self.lms.url};", policy)
            self.assertNotIn("script", policy)
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(answer.headers["Cache-Control"], "no-store")
            self.assertNotIn("Server", answer.headers)
            self.assertNotIn("X-Style", answer.headers)

    def test_feedback_has_one_style_and_what_is_hostile_is_text(self) -> None:
        answer = self.launch("cyd")
        (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn(f"style-src 'sha256-{digest}';", answer.headers["Content-Security-Policy"])
        self.assertIn("&lt;script src=", answer.text)
        self.assertNotIn(HOSTILE, answer.text)
        self.assertNotRegex(answer.text, r"<script|<img|<[a-z]+ style=")

    def test_nothing_else_is_served(self) -> None:
        for path in ("/marks/results.json", "/static/x", "/..%2flti.toml", "/feedback/ada.html"):
            self.assertEqual(requests.get(self.tool + path, timeout=10).status_code, 404, path)
        self.assertEqual(requests.get(f"{self.tool}/launch", timeout=10).status_code, 405)

    def test_a_request_has_bounds(self) -> None:
        big = {"id_token": "x" * (300 << 10), "state": "y"}
        with contextlib.suppress(requests.ConnectionError):  # or it is cut off while it sends
            answer = requests.post(f"{self.tool}/launch", big, timeout=10)
            self.assertEqual(answer.status_code, 413)
        with socket.create_connection(self.tool.removeprefix("http://").split(":")) as one:
            one.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (40 << 10) + b"\r\n\r\n")
            self.assertIn(b" 431 ", one.recv(200))

    def test_a_request_that_stops_is_not_waited_for(self) -> None:
        """A request without its end, and then nothing: it is closed after 20 s, or up to 5 s later.
        The service's clock stands, and is put on, so that the test does not last as long."""
        clock = mock.Mock()
        clock.time.return_value = began = time.time() + 100
        words = b"POST /launch HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
        with mock.patch("waitress.server.time", clock), mock.patch("waitress.channel.time", clock):
            requests.get(self.tool, timeout=10)  # silent connections were looked for at this time
            with socket.create_connection(self.tool.removeprefix("http://").split(":")) as one:
                one.sendall(words)
                self.assertIn(b"100 Continue", one.recv(100))
                time.sleep(0.5)  # it notes when it has sent that, after it has
                clock.time.return_value = began + 15
                one.settimeout(2.5)
                with self.assertRaises(TimeoutError):
                    one.recv(1)
                clock.time.return_value = began + 22
                one.settimeout(20)
                self.assertEqual(one.recv(1), b"", "closed, and nothing was answered")

    def test_a_platform_that_does_not_answer_is_not_waited_for(self) -> None:
        session = launch.Bounded()
        with mock.patch("requests.Session.request") as request:
            session.get("https://platform.example.edu/jwks")
        self.assertEqual(request.call_args.kwargs["timeout"], (5, 20))

    def test_what_a_platform_asks_for(self) -> None:
        page = requests.get(self.tool, timeout=10).text
        for path in ("login", "launch", "jwks", "config.json"):
            self.assertIn(f"http://127.0.0.1:8070/{path}", page)
        (key,) = requests.get(f"{self.tool}/jwks", timeout=10).json()["keys"]
        self.assertEqual((key["kty"], key["alg"], key["use"]), ("RSA", "RS256", "sig"))
        self.assertNotIn("d", key, "the private half")

    def test_canvas_reads_its_configuration(self) -> None:
        """developerdocs.instructure.com, "Configuring": the fields of a tool's JSON."""
        found = requests.get(f"{self.tool}/config.json", timeout=10).json()
        needed = {"title", "description", "target_link_uri", "oidc_initiation_url", "scopes"}
        self.assertLessEqual(needed | {"public_jwk_url", "public_jwk", "extensions"}, set(found))
        (extension,) = found["extensions"]
        self.assertEqual(extension["platform"], "canvas.instructure.com")
        self.assertEqual(extension["privacy_level"], "public", "[match] names e-mail addresses")
        for placement in extension["settings"]["placements"]:
            self.assertEqual(placement["message_type"], "LtiResourceLinkRequest")


class Keys(School):
    def test_the_key_is_its_users_alone_and_stays(self) -> None:
        folder = self.folder / "lti"
        self.assertEqual(stat.S_IMODE((folder / "key.pem").stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
        self.assertEqual(keys.key.__wrapped__(folder), keys.key(folder))

    def test_a_key_that_others_can_read_is_not_used(self) -> None:
        path = self.folder / "lti" / "key.pem"
        path.chmod(0o640)
        self.addCleanup(path.chmod, 0o600)
        with self.assertRaisesRegex(LabError, "has mode 640.*chmod 600"):
            keys.key.__wrapped__(path.parent)


if __name__ == "__main__":
    unittest.main()
