# SPDX-License-Identifier: MIT
"""What launches told of a course's services: a platform gives their addresses with each launch and
nowhere else, and `./lab lti --push` needs them. Only addresses: nothing of who launched."""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.grade.journal import write_whole
from grader.lti.config import Platform

Json = Mapping[str, Any]
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Link:
    """A link of a lab in a course; `lineitem` is its column of the gradebook, where the platform
    made one for it."""

    issuer: str
    client_id: str
    context: str
    course: str  # its title
    lab: str  # "" of a link to all of them
    lineitem: str
    lineitems: str
    scopes: tuple[str, ...]
    memberships: str


def of_launch(platform: Platform, claims: Json, lab: str) -> Link:
    context = _dict(claims.get(f"{CLAIM}context"))
    ags, nrps = _dict(claims.get(AGS)), _dict(claims.get(NRPS))
    scopes = ags.get("scope")
    return Link(
        platform.issuer,
        platform.client_id,
        _text(context, "id"),
        _text(context, "title") or _text(context, "label"),
        lab,
        _text(ags, "lineitem"),
        _text(ags, "lineitems"),
        tuple(one for one in scopes if isinstance(one, str)) if isinstance(scopes, list) else (),
        _text(nrps, "context_memberships_url"),
    )


def remember(folder: Path, link: Link) -> None:
    """The latest launch of a lab in a course counts."""
    with _LOCK:
        known = read(folder)
        kept = [one for one in known if _key(one) != _key(link)]
        if link not in known:
            text = json.dumps([asdict(one) for one in [*kept, link]], indent=1)
            write_whole(folder / "links.json", text + "\n")


def read(folder: Path) -> list[Link]:
    try:
        found = json.loads((folder / "links.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [Link(**{**one, "scopes": tuple(one["scopes"])}) for one in found]


def _key(link: Link) -> tuple[str, ...]:
    return (link.issuer, link.client_id, link.context, link.lab)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""
