# SPDX-License-Identifier: MIT
"""grader.book.tried against a local server: addresses that answer, are gone, refuse, or never
answer."""

import contextlib
import io
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

from grader.base.exits import ExitStatus
from grader.book import shown, tried
from grader.tests.fake import FakeCheckout

PAGES = {"/here": 200, "/moved": 302, "/gone": 404, "/left": 410, "/shy": 403, "/broken": 500}
OLD = "2026-01-01"


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(1.5)
        self.send_response(PAGES.get(self.path, 200))
        self.send_header("Location", "/here")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *words: object) -> None:
        """Prints nothing."""


@contextlib.contextmanager
def serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Tried(FakeCheckout):
    def links(self, *urls: str) -> None:
        """A book with these links, all checked at another time."""
        for name in shown.MORE:
            self.write(name, "")
        self.write("docs/book/index.md", "".join(f"[a]({url})\n" for url in urls))
        entries = [{"url": url, "date": OLD, "status": "copy"} for url in urls]
        self.write("docs/links.json", json.dumps(entries))

    def command(self, *, note: bool = True) -> tuple[ExitStatus, str]:
        said = io.StringIO()
        with mock.patch.object(tried, "SECONDS", 0.5), contextlib.redirect_stdout(said):
            status = tried.command(self.project, note=note)
        return status, said.getvalue()

    def noted(self) -> dict[str, str]:
        """The status of each path, with a star if its date is another one."""
        entries = json.loads(self.read("docs/links.json"))
        return {
            e["url"].rpartition("/")[2]: e["status"] + ("*" if e["date"] != OLD else "")
            for e in entries
        }

    def test_what_answers_is_noted(self) -> None:
        with serving() as base:
            self.links(f"{base}/here#part", f"{base}/moved", f"{base}/shy", f"{base}/broken")
            status, said = self.command()
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("4 links, 4 answered, 0 gone", said)
        wanted = {"here#part": "200*", "moved": "200*", "shy": "copy", "broken": "copy"}
        self.assertEqual(self.noted(), wanted)

    def test_what_is_gone_fails(self) -> None:
        for path in ("gone", "left"):
            with serving() as base:
                self.links(f"{base}/here", f"{base}/{path}")
                status, said = self.command()
            self.assertEqual(status, ExitStatus.FAILED, path)
            self.assertIn("1 gone", said)
            self.assertIn(f"{PAGES['/' + path]}  {base}/{path}", said)

    def test_what_never_answers_is_told_and_kept(self) -> None:
        with serving() as base:
            self.links(f"{base}/here", f"{base}/slow", "http://127.0.0.1:1/closed")
            status, said = self.command()
        self.assertEqual(status, ExitStatus.OK)
        self.assertEqual(said.count("not reached: "), 2)
        self.assertEqual(self.noted(), {"here": "200*", "slow": "copy", "closed": "copy"})

    def test_without_a_network_nothing_is_noted(self) -> None:
        self.links("http://127.0.0.1:1/a", "http://127.0.0.1:1/b")
        status, said = self.command()
        self.assertEqual(status, ExitStatus.CANNOT_RUN)
        self.assertIn("is there a network here?", said)
        self.assertEqual(self.noted(), {"a": "copy", "b": "copy"})

    def test_the_selfcheck_notes_nothing(self) -> None:
        with serving() as base:
            self.links(f"{base}/here")
            self.assertEqual(self.command(note=False)[0], ExitStatus.OK)
        self.assertEqual(self.noted(), {"here": "copy"})
