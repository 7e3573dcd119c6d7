# SPDX-License-Identifier: MIT
"""The service: four addresses that a platform needs, and one page for a person to register it by.

    /            what to paste into the platform's registration     /login   begins a launch
    /config.json the same, as Canvas reads it                       /launch  ends it: the page
    /jwks        the public key

A launch is answered with its page at once: there is no session, and nothing that could be asked for
by an address. Whoever is not let in reads one sentence and a number; why stands in the log.
"""

import base64
import hashlib
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Flask, Response, jsonify, request
from pylti1p3.contrib.flask.request import FlaskRequest
from waitress import create_server
from waitress.server import BaseWSGIServer
from werkzeug.exceptions import HTTPException

from grader.base.exits import ExitStatus, LabError
from grader.grade import page
from grader.grade.archive import printable
from grader.grade.page import Block, Heading, Paragraph, Table
from grader.grade.term import number_of
from grader.lti import links, people
from grader.lti.config import Config, Platform
from grader.lti.launch import Launch, Login, Pending, tool_config
from grader.lti.people import INSTRUCTOR, LEARNER, People
from grader.lti.published import Marks

Json = Mapping[str, Any]
CLAIM = links.CLAIM
MOST_BYTES = 256 << 10  # of a request; a token with all claims has some 10 KiB
_SCOPES = tuple(
    f"https://purl.imsglobal.org/spec/lti-{name}"
    for name in (
        "ags/scope/lineitem",
        "ags/scope/score",
        "nrps/scope/contextmembership.readonly",
    )
)
_REFUSED = (
    "This link could not be opened. Go back to your course and open it there again; if it opens "
    "inside the course's page, open it in a new window, since some browsers keep cookies from "
    "frames. If that does not help, tell your instructor the number {number}."
)


@dataclass(frozen=True)
class Service:
    config: Config
    keys: tuple[str, str]
    marks: Marks
    people: People

    def application(self) -> Flask:
        app = Flask("peerlab", static_folder=None)
        tool, pending = tool_config(self.config, self.keys), Pending()
        secure = self.config.url.startswith("https:")

        def asked(words: Mapping[str, str]) -> FlaskRequest:
            return FlaskRequest(request.cookies, {}, words or {"": ""}, secure)

        @app.get("/")
        def values() -> Response:
            return shown("What a platform asks for", pasted(self.config))

        @app.get("/jwks")
        def jwks() -> Response:
            return jsonify(tool.get_jwks())

        @app.get("/config.json")
        def canvas() -> Response:
            return jsonify(canvas_config(self.config, tool.get_jwks()["keys"][0]))

        @app.route("/login", methods=["GET", "POST"])
        def login() -> Response:
            return Login(asked(request.values), tool, pending).redirect(
                f"{self.config.url}/launch"  # whatever the request says: never elsewhere
            )

        @app.post("/launch")
        def launch() -> Response:
            return self.answer(Launch(asked(request.form), tool, pending).get_launch_data())

        @app.errorhandler(Exception)
        def failed(error: Exception) -> Response:
            return refused(error)

        @app.after_request
        def strict(response: Response) -> Response:
            return self.with_headers(response)

        return app

    def answer(self, claims: Json) -> Response:
        """To a launch whose token is valid: of this course, and for this person."""
        platform = self.config.platform(claims["iss"], _client(claims))
        assert platform is not None, "the library found its registration"
        context = claims.get(f"{CLAIM}context") or {}
        if context.get("id") not in platform.contexts:
            return _unknown_course(platform, context)
        published, lab = self.marks.now(), lab_of(claims)
        if lab and published.lab(lab) is None:
            return _no_lab(lab, [one["lab"] for one in published.results["labs"]])
        links.remember(self.config.state, links.of_launch(platform, claims, lab))
        roles = claims.get(f"{CLAIM}roles") or []
        if INSTRUCTOR in roles:
            log(f"{platform.name}: the class report")
            return _report(self.marks.report())
        found = self.people.find(people.of_launch(claims))
        if LEARNER not in roles or not found.student:
            log(f"{platform.name}: refused, roles {roles}; {found.why}")
            return _nobody(found.why if LEARNER in roles else "the course does not list you as one")
        log(f"{platform.name}: feedback of {found.student}, {lab or 'all labs'}")
        name = self.people.names[found.student]
        return shown("Feedback", published.page(found.student, name, lab, time.time()))

    def with_headers(self, response: Response) -> Response:
        frames = " ".join(dict.fromkeys(f for one in self.config.platforms for f in one.frames))
        style = response.headers.pop("X-Style", "'none'")
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; "
            f"frame-ancestors {frames}; sandbox"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response


def server(service: Service, host: str, port: int) -> BaseWSGIServer:
    """Ready to run(); it reads a request whole, within limits, before a thread takes it."""
    return create_server(
        service.application(),
        host=host,
        port=port,
        threads=8,
        ident="",
        connection_limit=200,
        channel_timeout=20,
        cleanup_interval=5,
        max_request_header_size=32 << 10,
        max_request_body_size=MOST_BYTES,
        clear_untrusted_proxy_headers=True,
    )


def command(service: Service, listen: str) -> ExitStatus:
    """Serves until it is ended."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise LabError(f"--listen {listen!r}: write it as 127.0.0.1:8070.", ExitStatus.USAGE)
    try:
        ready = server(service, host, int(port))
    except OSError as error:
        says = f"--listen {listen}: {error.strerror}. Take another port, or end what has it."
        raise LabError(says, ExitStatus.USAGE) from error
    address = f"http://{host}:{ready.effective_port}"
    said = f"{service.config.url}/ says what to paste into the platform; listening on {address}"
    print(said, flush=True)
    ready.run()
    return ExitStatus.OK


# ---- what a launch is about ----


def _client(claims: Json) -> str:
    audience = claims["aud"]
    return audience[0] if isinstance(audience, list) else audience


def lab_of(claims: Json) -> str:
    """Of the link's custom parameter, or its address's: .../launch?lab=03. "" of neither."""
    custom = claims.get(f"{CLAIM}custom")
    said = custom.get("lab") if isinstance(custom, dict) else None
    if not said:
        target = str(claims.get(f"{CLAIM}target_link_uri", ""))
        said = (parse_qs(urlsplit(target).query).get("lab") or [""])[0]
    number = number_of(str(said))
    return f"lab{number}" if number else str(said)


# ---- pages ----


def shown(title: str, blocks: list[Block], status: int = 200) -> Response:
    """Its one style is known by its hash; no other applies."""
    digest = base64.b64encode(hashlib.sha256(page.STYLE.encode()).digest()).decode()
    return _html(page.webpage(title, blocks), f"'sha256-{digest}'", status)


def _report(text: str) -> Response:
    return _html(text, "'unsafe-inline'", 200)  # an earlier version's style, and that of charts


def _html(text: str, style: str, status: int) -> Response:
    found = Response(text.encode("utf-8", "replace"), status, mimetype="text/html")
    found.headers["X-Style"] = style  # with_headers takes it
    return found


def refused(error: Exception) -> Response:
    """One page for every reason, so that nobody learns by trying."""
    number = secrets.token_hex(4)
    status = error.code if isinstance(error, HTTPException) and error.code else 403
    if isinstance(error, LabError):
        status = 500
    log(f"refused, {number}: {type(error).__name__}: {error}")
    said = [Heading("Not opened", 1), Paragraph(_REFUSED.format(number=number))]
    return shown("Not opened", said, status)


def _unknown_course(platform: Platform, context: Json) -> Response:
    known = repr(context.get("id"))
    log(f"{platform.name}: refused, course {known} is not among its contexts")
    said = (
        f"These marks are another course's: this one, {known}, is not among those of lti.toml. "
        f'An administrator of the service can add it to contexts of "{platform.name}".'
    )
    return shown("Not this course", [Heading("Not this course", 1), Paragraph(said)], 403)


def _no_lab(lab: str, known: list[str]) -> Response:
    said = (
        f"This link names {lab!r}, and marks are there of {', '.join(known)}. If the link is "
        "mistaken, its custom parameter is lab=03; else the lab is not graded yet."
    )
    return shown("No such lab", [Heading("No marks of this lab", 1), Paragraph(said)], 404)


def _nobody(why: str) -> Response:
    said = f"The course's list of students does not have you: {why}. Show this to your instructor."
    return shown("Not in the list", [Heading("Not in the list", 1), Paragraph(said)], 403)


def pasted(config: Config) -> list[Block]:
    rows = [
        ["Login URL, initiation of OpenID Connect", f"{config.url}/login"],
        ["Launch URL, target link, redirect URI", f"{config.url}/launch"],
        ["Public keys, JWKS", f"{config.url}/jwks"],
        ["Configuration for Canvas", f"{config.url}/config.json"],
        ["Custom parameter of a link", "lab=03, or what the lab's number is"],
        ["Services", "Assignment and Grade Services with line items; Names and Roles"],
        ["Privacy", "what [match] names: id, sourced id or e-mail address; no more"],
    ]
    return [Heading("What a platform asks for", 1), Table(["it asks for", "paste"], rows)]


def canvas_config(config: Config, key: Json) -> Json:
    """Canvas: Developer Keys, LTI Key, "Enter URL" or "Paste JSON"."""
    title = "Feedback and marks"
    target = f"{config.url}/launch"
    placement = {"placement": "assignment_selection", "message_type": "LtiResourceLinkRequest"}
    extension = {
        "platform": "canvas.instructure.com",
        "domain": urlsplit(config.url).hostname,
        "privacy_level": "anonymous" if set(config.match) == {"sub"} else "public",
        "settings": {"text": title, "placements": [{**placement, "target_link_uri": target}]},
    }
    return {
        "title": title,
        "description": "The feedback of a lab's tests, and its mark.",
        "target_link_uri": target,
        "oidc_initiation_url": f"{config.url}/login",
        "public_jwk_url": f"{config.url}/jwks",
        "public_jwk": dict(key),
        "scopes": list(_SCOPES),
        "extensions": [extension],
    }


def log(said: str) -> None:
    """One line, whatever somebody sent."""
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    print(f"{when} {printable(said)[:500]}", file=sys.stderr, flush=True)
