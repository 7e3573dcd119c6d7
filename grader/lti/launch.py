# SPDX-License-Identifier: MIT
"""A launch, from the login that precedes it to claims that may be believed: PyLTI1p3 with what it
leaves open closed.

The library checks the signature, the state's cookie, the registration, the deployment and the form
of the message. Here besides: only RS256; a token that expires and says since when it is; one
audience, or the authorized party; a nonce that belongs to the state of that very login, and each
of both taken once; only messages that open a link. Its services follow a next page's address as
the platform wrote it (PyLTI1p3 2.0.0 writes it in small letters) and never to another origin.
"""

import secrets
import threading
import time
from collections import OrderedDict
from typing import Any

import requests
from pylti1p3.contrib.flask import FlaskCookieService, FlaskMessageLaunch, FlaskOIDCLogin
from pylti1p3.contrib.flask.request import FlaskRequest
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.registration import Registration
from pylti1p3.service_connector import ServiceConnector
from pylti1p3.session import SessionService
from pylti1p3.tool_config import ToolConfDict

from grader.lti.config import Config, Platform, origin

Json = dict[str, Any]
LOGIN_SECONDS = 300.0  # for the way from login to launch; the state's cookie lives as long
MOST_PENDING = 10_000  # logins that nobody has finished
_SECONDS = (5, 20)  # to connect to a platform, and between two pieces of its answer
_NEEDED = ["iss", "aud", "sub", "exp", "iat", "nonce"]
_SLOW_CLOCK = 60  # seconds that a platform's clock may differ


def tool_config(config: Config, keys: tuple[str, str]) -> ToolConfDict:
    by_issuer: dict[str, list[Json]] = {}
    for one in config.platforms:
        by_issuer.setdefault(one.issuer, []).append(
            {
                "default": one.issuer not in by_issuer,
                "client_id": one.client_id,
                "auth_login_url": one.login,
                "auth_token_url": one.token,
                "auth_audience": one.audience,
                "key_set_url": one.keys,
                "deployment_ids": list(one.deployments),
            }
        )
    found = ToolConfDict(by_issuer)
    for one in config.platforms:
        found.set_private_key(one.issuer, keys[0], one.client_id)
        found.set_public_key(one.issuer, keys[1], one.client_id)
    return found


class Bounded(requests.Session):
    """A platform that does not answer holds nobody up for long."""

    def request(self, *args: Any, **words: Any) -> requests.Response:  # noqa: ANN401
        return super().request(*args, **{"timeout": _SECONDS, **words})


class Pending:
    """The nonce of each login that is under way, by its state. Each can be taken once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nonces: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def add(self, state: str, nonce: str) -> None:
        with self._lock:
            self._nonces[state] = (nonce, time.monotonic() + LOGIN_SECONDS)
            while len(self._nonces) > MOST_PENDING:
                self._nonces.popitem(last=False)

    def take(self, state: str) -> str:
        """ "" where there is none, or it is too old."""
        with self._lock:
            nonce, until = self._nonces.pop(state, ("", 0.0))
        return nonce if time.monotonic() < until else ""


class _Nothing(SessionService):
    """The library's session, which would keep nonces for a day and launches for later: Pending has
    the nonces, and a launch is answered at once."""

    def save_nonce(self, nonce: str) -> None:
        pass

    def save_launch_data(self, key: str, jwt_body: object) -> None:
        pass

    def set_state_valid(self, state: str, id_token_hash: str) -> None:
        pass

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        return False  # the cookie is asked, always


class Login(FlaskOIDCLogin):
    def __init__(self, request: FlaskRequest, tool: ToolConfDict, pending: Pending) -> None:
        super().__init__(request, tool, _Nothing(request), FlaskCookieService(request))
        self._pending, self._word = pending, ""

    def _get_uuid(self) -> str:
        self._word = secrets.token_urlsafe(24)
        return self._word

    def _generate_nonce(self) -> str:
        nonce = secrets.token_urlsafe(24)
        self._pending.add(f"state-{self._word}", nonce)
        return nonce


class Launch(FlaskMessageLaunch):
    def __init__(self, request: FlaskRequest, tool: ToolConfDict, pending: Pending) -> None:
        cookies = FlaskCookieService(request)
        super().__init__(request, tool, _Nothing(request), cookies, None, Bounded())
        self._pending = pending
        self.set_jwt_verify_options({"verify_aud": False, "require": _NEEDED})

    def validate_jwt_format(self) -> "Launch":
        super().validate_jwt_format()
        head, body = self._jwt["header"], self._jwt["body"]
        if not isinstance(head, dict) or not isinstance(body, dict):
            raise LtiException("the token's parts are not objects")
        if head.get("alg") != "RS256":
            raise LtiException(f"the token is signed by {head.get('alg')!r}, not by RS256")
        return self

    def validate_nonce(self) -> "Launch":
        expected = self._pending.take(self._get_request_param("state"))
        if not expected or self._jwt["body"].get("nonce") != expected:
            raise LtiException("the nonce is not that of this login, or was used before")
        return self

    def validate_registration(self) -> "Launch":
        super().validate_registration()
        body = self._jwt["body"]
        audience, party = body["aud"], body.get("azp")
        alone = not isinstance(audience, list) or len(audience) == 1
        if party != self.get_client_id() if party is not None else not alone:
            raise LtiException(f"the token is for {audience!r}, authorized party {party!r}")
        return self

    def validate_jwt_signature(self) -> "Launch":
        super().validate_jwt_signature()
        issued = self._jwt["body"]["iat"]
        if not -_SLOW_CLOCK <= time.time() - issued <= LOGIN_SECONDS + _SLOW_CLOCK:
            raise LtiException(f"the token was issued at {issued}")
        return self

    def validate_message(self) -> "Launch":
        super().validate_message()
        if not self.is_resource_launch():
            raise LtiException("the message is not one that opens a link")
        return self


def registration(config: Config, keys: tuple[str, str], platform: Platform) -> Registration:
    tool = tool_config(config, keys)
    return tool.find_registration_by_params(platform.issuer, platform.client_id)


class Connector(ServiceConnector):
    """Of a platform's services; LtiServiceException where one refuses."""

    def __init__(self, found: Registration) -> None:
        super().__init__(found, Bounded())

    def make_service_request(
        self,
        scopes: Any,  # noqa: ANN401
        url: str,
        is_post: bool = False,
        data: str | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        case_insensitive_headers: bool = False,
    ) -> Any:  # noqa: ANN401
        head = {"Authorization": f"Bearer {self.get_access_token(scopes)}", "Accept": accept}
        if is_post:
            head["Content-Type"] = content_type
            answer = self._requests_session.post(url, data=data, headers=head)
        else:
            answer = self._requests_session.get(url, headers=head)
        if not answer.ok:
            raise LtiServiceException(answer)
        next_page = answer.links.get("next", {}).get("url")
        if next_page and origin(next_page) != origin(url):
            raise LtiException(f"{url} continues at another place, {next_page}")
        body = answer.json() if answer.content else None
        return {"headers": answer.headers, "body": body, "next_page_url": next_page}
