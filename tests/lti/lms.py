# SPDX-License-Identifier: MIT
"""A learning platform for tests, on this computer: LTI 1.3 with Names and Roles and Assignment and
Grade Services. Its messages are the standard's own examples (messages/) with other values.

It is as strict as a platform may be: a token only for an assertion that our /jwks verifies, a
service only for its scope, a score only in its media type, with all fields and no time twice.
"""

import json
import sys
import threading
import time
import uuid
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from grader.building.install import GRADER, LTI, lacking, own_packages
from grader.course.project import here

own_packages(here())
if missing := lacking(LTI + GRADER):
    print(f"{', '.join(missing)}: not here; ./lab start --grader --lti installs them")
    sys.exit(77)

import jwt  # noqa: E402
import requests  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402
from jwcrypto.jwk import JWK  # noqa: E402

Json = dict[str, Any]
MESSAGES = Path(__file__).parent / "messages"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
MEMBERS = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
LINEITEM = "application/vnd.ims.lis.v2.lineitem+json"
LINEITEMS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE = "application/vnd.ims.lis.v1.score+json"
PAGE = 2  # members and line items that an answer has at most


def message(name: str) -> Json:
    return json.loads((MESSAGES / f"{name}.json").read_text(encoding="utf-8"))


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Lms:
    """`scores` by line item; `asked` are the requests to services."""

    client_id, deployment, context = "962fa4d8-bcbf", "07940580-b309", "c1d887f0-a1a3"

    def __init__(self) -> None:
        self.key, self.kid = rsa_key(), "platform-1"
        self.clear()
        self.tool_jwks: Json = {}
        lms = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def _answer(self, body: bytes) -> None:
                try:
                    kind, found, more = lms.answer(self.command, self.path, self.headers, body)
                    status, data = 200, json.dumps(found).encode()
                except Refused as error:
                    kind, more, status = "text/plain", {}, error.status
                    data = str(error).encode()
                self.send_response(status)
                for name, value in {**more, "Content-Type": kind}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def clear(self) -> None:
        self.members: list[Json] = []
        self.lineitems: dict[str, Json] = {}
        self.scores: dict[str, list[Json]] = {}
        self.tokens: dict[str, list[str]] = {}
        self.assertions: set[str] = set()
        self.asked: list[str] = []
        self.fails: dict[str, int] = {}  # by the end of a path: with which status
        self.next_host = ""  # of next pages, where it is another

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def toml(self) -> str:
        """Its [[platforms]]."""
        return (
            f'[[platforms]]\nname = "Moodle"\nissuer = "{self.url}"\n'
            f'client_id = "{self.client_id}"\nlogin = "{self.url}/auth"\n'
            f'token = "{self.url}/token"\nkeys = "{self.url}/jwks"\n'
            f'deployments = ["{self.deployment}"]\ncontexts = ["{self.context}"]\n'
        )

    # ---- messages ----

    def claims(self, login: Json, sub: str, *roles: str, **custom: str) -> Json:
        """Of a launch that answers a login's redirect."""
        found = message("launch")
        now = int(time.time())
        found |= {"iss": self.url, "sub": sub, "aud": self.client_id, "azp": self.client_id}
        found |= {"iat": now, "exp": now + 300, "nonce": login["nonce"]}
        found |= {"email": f"{sub}@platform.example.edu"}
        found[f"{CLAIM}deployment_id"] = self.deployment
        found[f"{CLAIM}roles"] = [f"{ROLE}{role}" for role in roles or ("Learner",)]
        found[f"{CLAIM}context"]["id"] = self.context
        found[f"{CLAIM}custom"] |= custom
        found[f"{CLAIM}lis"]["person_sourcedid"] = f"sis-{sub}"
        ags = found[f"{AGS}claim/endpoint"]
        ags["lineitems"] = f"{self.url}/2344/lineitems"
        del ags["lineitem"]
        names = found[f"{NRPS}claim/namesroleservice"]
        names["context_memberships_url"] = f"{self.url}/2344/memberships"
        return found

    def signed(self, claims: Json, key: Any = None, kid: str = "") -> str:  # noqa: ANN401
        return jwt.encode(claims, key or self.key, "RS256", {"kid": kid or self.kid})

    def member(self, user: str, role: str = "Learner", **more: str) -> Json:
        found = deepcopy(message("members")["members"][0])
        found |= {"user_id": user, "email": f"{user}@platform.example.edu"}
        found |= {"lis_person_sourcedid": f"sis-{user}", "roles": [f"{ROLE}{role}"]}
        return found | more

    # ---- services ----

    def answer(self, method: str, path: str, head: Any, body: bytes) -> tuple[str, Any, Json]:  # noqa: ANN401
        parts = urlsplit(path)
        for end, status in self.fails.items():
            if parts.path.endswith(end):
                raise Refused(status, "not today\x1b[31m")
        if parts.path == "/jwks":
            key = json.loads(JWK.from_pyca(self.key.public_key()).export_public())
            return "application/json", {"keys": [{**key, "kid": self.kid}]}, {}
        if (method, parts.path) == ("POST", "/token"):
            return "application/json", self.token(parse_qs(body.decode())), {}
        self.asked.append(f"{method} {path}")
        token = head.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            raise Refused(401, "no such token")
        ask = (method, parts.path, parse_qs(parts.query), head, body)
        return self.service(self.tokens[token], *ask)

    def token(self, form: dict[str, list[str]]) -> Json:
        """IMS Security Framework 1.0, "Using JSON Web Tokens with OAuth 2.0 Client-Credentials"."""
        kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        if form["grant_type"] != ["client_credentials"] or form["client_assertion_type"] != [kind]:
            raise Refused(400, "unsupported_grant_type")
        assertion = form["client_assertion"][0]
        kid = jwt.get_unverified_header(assertion)["kid"]
        (key,) = [one for one in self.tool_jwks["keys"] if one["kid"] == kid]
        told = jwt.decode(
            assertion,
            jwt.PyJWK(key).key,
            algorithms=["RS256"],
            audience=f"{self.url}/token",
            options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]},
        )
        if told["iss"] != self.client_id or told["sub"] != self.client_id:
            raise Refused(400, "invalid_client")
        if told["jti"] in self.assertions:
            raise Refused(400, "replayed")
        self.assertions.add(told["jti"])
        token = uuid.uuid4().hex
        self.tokens[token] = form["scope"][0].split()
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3600}

    def service(
        self,
        scopes: list[str],
        method: str,
        path: str,
        query: dict[str, list[str]],
        head: Any,  # noqa: ANN401
        body: bytes,
    ) -> tuple[str, Any, Json]:
        if path == "/2344/memberships":
            _need(scopes, f"{NRPS}scope/contextmembership.readonly", head, accept=MEMBERS)
            found, more = self.page(path, query, self.members)
            return MEMBERS, {**message("members"), "members": found}, more
        if path == "/2344/lineitems" and method == "GET":
            _need(scopes, f"{AGS}scope/lineitem", head, accept=LINEITEMS)
            found, more = self.page(path, query, list(self.lineitems.values()))
            return LINEITEMS, found, more
        if path == "/2344/lineitems":
            _need(scopes, f"{AGS}scope/lineitem", head, sent=LINEITEM)
            return LINEITEM, self.add_lineitem(json.loads(body)), {}
        item = f"{self.url}{path.removesuffix('/scores')}"
        if item in self.lineitems and path.endswith("/scores") and method == "POST":
            _need(scopes, f"{AGS}scope/score", head, sent=SCORE)
            self.add_score(item, json.loads(body))
            return "application/json", {}, {}
        raise Refused(404, "no such thing")

    def page(self, path: str, query: dict[str, list[str]], every: list[Json]) -> Any:  # noqa: ANN401
        """Some, and where more are: an address in which small and capital letters differ."""
        at = int(query.get("page", ["Opaque-0"])[0].removeprefix("Opaque-"))
        more = {}
        if at + PAGE < len(every):
            where = urlencode({"page": f"Opaque-{at + PAGE}", "limit": PAGE})
            more["Link"] = f'<{self.next_host or self.url}{path}?{where}>; rel="next"'
        return every[at : at + PAGE], more

    def add_lineitem(self, found: Json) -> Json:
        example = message("lineitem")
        if not {"label", "scoreMaximum"} <= set(found) <= {*example, "resourceLinkId"}:
            raise Refused(400, f"fields {sorted(found)}")
        found["id"] = f"{self.url}/2344/lineitems/{len(self.lineitems) + 1}"
        self.lineitems[found["id"]] = found
        return found

    def add_score(self, item: str, found: Json) -> None:
        if set(found) != set(message("score")):
            raise Refused(400, f"fields {sorted(found)}")
        for at in (one["timestamp"] for one in self.scores.get(item, [])):
            if found["timestamp"] <= at:
                raise Refused(409, "an older score")
        if not any(one["user_id"] == found["userId"] for one in self.members):
            raise Refused(404, "no such user")
        self.scores.setdefault(item, []).append(found)


def _need(scopes: list[str], scope: str, head: Any, accept: str = "", sent: str = "") -> None:  # noqa: ANN401
    if scope not in scopes:
        raise Refused(403, f"the token is not for {scope}")
    if accept and head["Accept"] != accept:
        raise Refused(406, f"accepts {head['Accept']}")
    if sent and head["Content-Type"] != sent:
        raise Refused(415, f"sent as {head['Content-Type']}")


class Browser:
    """Follows no redirect by itself, and keeps cookies as a browser behind https would."""

    def __init__(self, tool: str) -> None:
        self.tool, self.cookies = tool, {}

    def login(self, lms: Lms, **more: str) -> Json:
        """The parameters with which we are sent to the platform."""
        said = {"iss": lms.url, "login_hint": "1303751", "client_id": lms.client_id}
        said |= {"target_link_uri": "https://tool.example.com/launch", **more}
        answer = requests.get(f"{self.tool}/login", said, allow_redirects=False, timeout=10)
        if answer.status_code != 302:
            return {"status": answer.status_code}
        for cookie in answer.raw.headers.getlist("Set-Cookie"):
            name, _, rest = cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        self.set_cookie = answer.headers["Set-Cookie"]
        self.sent_to = answer.headers["Location"]
        return {key: one[0] for key, one in parse_qs(urlsplit(self.sent_to).query).items()}

    def launch(self, token: str, state: str) -> requests.Response:
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        form = {"id_token": token, "state": state}
        head = {"Cookie": kept} if kept else {}
        return requests.post(f"{self.tool}/launch", form, headers=head, timeout=10)
