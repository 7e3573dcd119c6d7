# SPDX-License-Identifier: MIT
"""lti.toml: where the service is reached, who the students are, and which platforms may send them.

    url = "https://grades.example.edu"    as browsers reach the service
    students = "roster.csv"               the class, as for ./lab grade
    state = "lti"                         a folder for the key and what was sent ("lti")
    [match]                               claim of the platform = column of the roster: people.py
    [[platforms]]                         name, issuer, client_id, login, token, keys, deployments,
                                          contexts; where they are others: audience, frames

Whatever is wrong is said with its value before anything is served or sent.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from grader.base.exits import ExitStatus, LabError

CLAIMS = ("sub", "sourcedid", "email")  # by which a platform may say who somebody is
_LOCAL = ("localhost", "127.0.0.1")
_URLS = ("login", "token", "keys")
_TEXTS = ("name", "issuer", "client_id", *_URLS)
_LISTS = ("deployments", "contexts")
_OPTIONAL = ("audience", "frames")


@dataclass(frozen=True)
class Platform:
    """A registration: one client id of one issuer. `contexts` are the courses, by the platform's
    id, whose people may see these marks."""

    name: str
    issuer: str
    client_id: str
    login: str
    token: str
    keys: str
    deployments: tuple[str, ...]
    contexts: tuple[str, ...]
    audience: str = ""  # of requests for tokens, where it is not the URL that they go to
    frames: tuple[str, ...] = ()  # origins that show the pages in a frame


@dataclass(frozen=True)
class Config:
    path: Path
    url: str
    students: Path
    state: Path
    match: Mapping[str, str]
    platforms: tuple[Platform, ...]

    def platform(self, issuer: str, client_id: str) -> Platform | None:
        for one in self.platforms:
            if (one.issuer, one.client_id) == (issuer, client_id):
                return one
        return None


def read(path: Path) -> Config:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise _wrong(path, f"it cannot be read: {said}") from error
    return _Reader(path).config(found)


def _wrong(path: Path, says: str) -> LabError:
    return LabError(f"{path}: {says}.\ndocs/lti.md shows a whole one.", ExitStatus.USAGE)


@dataclass(frozen=True)
class _Reader:
    path: Path

    def config(self, found: dict[str, Any]) -> Config:
        self.only("the top", found, ("url", "students", "state", "match", "platforms"))
        students = self.path.parent / self.text("", found, "students")
        if not students.is_file():
            raise self.wrong(f"students = {found['students']!r} is not a file beside it")
        platforms = found.get("platforms")
        if not isinstance(platforms, list) or not platforms:
            raise self.wrong("it has no [[platforms]]: at least one is needed")
        read = tuple(self.platform(f"platform {at}", one) for at, one in enumerate(platforms, 1))
        if len({(one.issuer, one.client_id) for one in read}) < len(read):
            raise self.wrong("two [[platforms]] have the same issuer and client_id")
        state = self.path.parent / self.text("", {"state": "lti", **found}, "state")
        url = self.url("", found, "url").rstrip("/")
        return Config(self.path, url, students, state, self.match(found), read)

    def match(self, found: dict[str, Any]) -> dict[str, str]:
        match = found.get("match")
        if not isinstance(match, dict) or not match:
            says = "it has no [match]: write a claim and the roster's column for it below [match], "
            raise self.wrong(says + f'as in email = "email"; claims are {", ".join(CLAIMS)}')
        self.only("[match]", match, CLAIMS)
        return {claim: self.text("[match] ", match, claim).lower() for claim in match}

    def platform(self, where: str, found: object) -> Platform:
        if not isinstance(found, dict):
            raise self.wrong(f"{where} is {found!r}; write [[platforms]] and its settings below it")
        self.only(where, found, (*_TEXTS, *_LISTS, *_OPTIONAL))
        texts = {key: self.text(f"{where}: ", found, key) for key in _TEXTS}
        for key in _URLS:
            self.url(f"{where}: ", found, key)
        lists = {key: self.list(f"{where}: ", found, key) for key in _LISTS}
        audience = self.text(f"{where}: ", {"audience": texts["token"], **found}, "audience")
        frames = self.list(f"{where}: ", {"frames": [], **found}, "frames")
        for one in frames:
            self.url(f"{where}: ", {"frames": one}, "frames")
        own = [origin(texts[key]) for key in ("issuer", "login")]
        frames = (*dict.fromkeys([*filter(None, own), *map(origin, frames)]),)
        return Platform(**texts, **lists, audience=audience, frames=frames)

    def only(self, where: str, found: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in found:
            if key not in known:
                raise self.wrong(f"{where} has {key!r}, which is not one of {', '.join(known)}")

    def text(self, where: str, found: dict[str, Any], key: str) -> str:
        value = found.get(key)
        if not isinstance(value, str) or not value:
            is_ = f"is {value!r}" if key in found else "is missing"
            raise self.wrong(f'{where}{key} {is_}; write {key} = "..."')
        return value

    def list(self, where: str, found: dict[str, Any], key: str) -> tuple[str, ...]:
        value = found.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            is_ = f"is {value!r}" if key in found else "is missing"
            raise self.wrong(f'{where}{key} {is_}; write texts in brackets: {key} = ["1"]')
        return tuple(value)

    def url(self, where: str, found: dict[str, Any], key: str) -> str:
        """https, but for a platform or service on this machine."""
        value = self.text(where, found, key)
        parts = urlsplit(value)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
        if not safe or not parts.hostname or any(c.isspace() or c in ";,'\"" for c in value):
            raise self.wrong(f"{where}{key} = {value!r} is not an https:// address")
        return value

    def wrong(self, says: str) -> LabError:
        return _wrong(self.path, says)


def origin(url: str) -> str:
    """https://host:port of a URL; "" of anything else."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("https", "http") else ""
