# SPDX-License-Identifier: MIT
"""Sends a lab's marks to the gradebook of a platform: Names and Roles say who is in the course,
Assignment and Grade Services take a score of each.

What is withheld or has no mark is not sent. What was sent stands in the state's folder, written
after each score: a repeat sends what changed since, also after an interruption.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService

from grader.base.exits import ExitStatus, LabError
from grader.export.parts import comment
from grader.grade.archive import printable
from grader.grade.feedback import number
from grader.grade.journal import write_whole
from grader.lti import links, people
from grader.lti.config import Config
from grader.lti.launch import Connector, registration
from grader.lti.people import People
from grader.lti.published import Published

Json = dict[str, Any]
_LEARNER = ("Learner", people.LEARNER)
MOST_PAGES = 1000


@dataclass(frozen=True)
class Score:
    student: str
    user: str  # the platform's id
    given: float
    maximum: float
    comment: str
    begun: bool  # something was handed in

    @property
    def kept(self) -> list[object]:
        """What a later push compares."""
        return [self.given, self.maximum, self.comment]


@dataclass
class Plan:
    """`left` are lines about marks that are not sent, and `lost` those that could not be."""

    send: list[Score] = field(default_factory=list)
    same: int = 0
    left: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def command(
    config: Config,
    keys: tuple[str, str],
    published: Published,
    found: People,
    lab: str,
    context: str,
    *,
    send: bool,
) -> ExitStatus:
    if published.lab(lab) is None:
        there = ", ".join(one["lab"] for one in published.results["labs"])
        raise LabError(f"--push {lab}: marks are there of {there}.", ExitStatus.NO_MATCH)
    link = _link(config, lab, context)
    platform = config.platform(link.issuer, link.client_id)
    assert platform is not None, "_link chose among the configured ones"
    try:
        course = Course(link, Connector(registration(config, keys, platform)))
        return _push(config.state, course, published, found, lab, send=send)
    except LtiServiceException as error:
        raise LabError(_says(error), ExitStatus.FAILED) from error
    except (LtiException, requests.RequestException, ValueError) as error:
        said = f"{platform.name} could not be asked: {printable(str(error))[:300]}.\n{_AGAIN}"
        raise LabError(said, ExitStatus.FAILED) from error


_AGAIN = "What was sent is noted: the same command goes on from there."
_USUAL = {
    400: "the platform does not understand the request; is the line item a column for points?",
    401: "it does not know this service: are client_id, token and the public keys' URL right?",
    403: "the registration lacks the service: allow line items, scores and Names and Roles there",
    404: "the address is gone: open the lab's link in the course once more, then run this again",
}


def _says(error: LtiServiceException) -> str:
    answer = error.response
    usual = _USUAL.get(answer.status_code, "its own log says more")
    text = printable(answer.text)[:200]
    return f"{answer.url} answered {answer.status_code}: {text}\nUsually {usual}.\n{_AGAIN}"


def _link(config: Config, lab: str, context: str) -> links.Link:
    """The lab's link; where none was opened, another link of the course has its services, too."""
    known = [
        one
        for one in links.read(config.state)
        if (platform := config.platform(one.issuer, one.client_id))
        and one.context in platform.contexts
        and context in ("", one.context)
        and one.lineitems
    ]
    chosen = [one for one in known if one.lab == lab] or [
        links.Link(**{**vars(one), "lab": lab, "lineitem": ""}) for one in known
    ]
    courses = {one.context: one for one in chosen}
    if not courses:
        which = f" in the course {context!r}" if context else ""
        raise LabError(
            f"No link to these marks was opened{which} yet, and only a launch tells where its "
            "gradebook is. Run ./lab lti, open a link of the course once, and push then. (It does "
            "not count where the registration lacks Assignment and Grade Services.)",
            ExitStatus.NO_MATCH,
        )
    if len(courses) > 1:
        named = "\n".join(f"  --context {key}  {one.course}" for key, one in courses.items())
        says = f"Several courses have a link to {lab}. Choose one:\n{named}"
        raise LabError(says, ExitStatus.USAGE)
    return courses.popitem()[1]


# ---- the platform's side ----


@dataclass
class Course:
    link: links.Link
    connector: Connector

    def members(self) -> Iterable[Json]:
        """All pages; those who take part and do not only watch or teach."""
        if not self.link.memberships:
            says = "the course gives no Names and Roles: allow that service in the registration"
            raise LtiException(says)
        service = NamesRolesProvisioningService(
            self.connector, {"context_memberships_url": self.link.memberships}
        )
        for member in _pages(service.get_members_page):
            roles = member.get("roles", [])
            active = member.get("status", "Active") == "Active"
            if active and any(role in _LEARNER for role in roles):
                yield member

    def grades(self) -> AssignmentsGradesService:
        addresses = {"lineitems": self.link.lineitems, "scope": list(self.link.scopes)}
        return AssignmentsGradesService(self.connector, addresses)

    def column(self, lab: Json, *, make: bool) -> LineItem | None:
        """The gradebook's: that of the link, or the one that an earlier push made."""
        if self.link.lineitem:
            return LineItem({"id": self.link.lineitem})
        service = self.grades()
        for one in _pages(service.get_lineitems_page):
            if one.get("resourceId") == _resource(lab):
                return LineItem(one)
        if not make:
            return None
        fresh = LineItem().set_label(f"{lab['lab']}: {lab['title']}").set_tag("mark")
        fresh.set_resource_id(_resource(lab)).set_score_maximum(lab["points"])
        return service.find_or_create_lineitem(fresh, find_by="resource_id")


def _pages(page: Callable[..., tuple[list[Json], str | None]]) -> Iterable[Json]:
    address: str | None = None
    for _ in range(MOST_PAGES):
        found, address = page(address)
        yield from found
        if not address:
            return
    raise LtiException(f"more than {MOST_PAGES} pages, the last of them {address}")


def _resource(lab: Json) -> str:
    return f"peerlab-{lab['lab']}"


# ---- what is sent ----


def _push(
    state: Path, course: Course, published: Published, found: People, lab: str, *, send: bool
) -> ExitStatus:
    about = published.lab(lab) or {}
    column = course.column(about, make=send)
    where = (column.get_id() if column else None) or ""
    sent = _Sent(state / "sent.json")
    users, strangers = _users(course.members(), found)
    plan = _plan(published, users, lab, sent.of(where))
    plan.lost += strangers
    print(f"{course.link.course or course.link.context}: {lab}, {where or 'a new column'}")
    for score in plan.send:
        marks = f"{number(score.given)} of {number(score.maximum)}"
        print(f"  {printable(score.student)}: {marks} ({score.comment})")
        if send:
            course.grades().put_grade(_grade(score), column)
            sent.note(where, score)
    for line in [*plan.left, *plan.lost]:
        print(f"  {printable(line)}")
    done = "sent" if send else "to send"
    counts = f"{len(plan.send)} {done}, {plan.same} unchanged, {len(plan.left)} not published"
    print(f"{counts}, {len(plan.lost)} not matched")
    if not send and plan.send:
        print("Nothing was sent: the same command with --send does it.")
    return ExitStatus.FAILED if plan.lost else ExitStatus.OK


def _users(members: Iterable[Json], found: People) -> tuple[dict[str, str], list[str]]:
    """The platform's id of each student, and a line about every member who is none of ours."""
    users: dict[str, str] = {}
    strangers = []
    for member in members:
        who = found.find(people.of_member(member))
        if who.student in users:
            strangers.append(f"{who.student}: two members of the course are this student")
        elif who.student:
            users[who.student] = member["user_id"]
        else:
            strangers.append(f"a member of the course is not in the roster: {who.why}")
    return users, strangers


def _plan(published: Published, users: dict[str, str], lab: str, sent: Json) -> Plan:
    plan = Plan()
    now = datetime.now(UTC).timestamp()
    for (student, of), row in published.rows.items():
        if of != lab:
            continue
        until = published.until(student, lab, now)
        if until:
            plan.left.append(f"{student}: withheld until {until}")
        elif row["mark"] is None:
            plan.left.append(f"{student}: has no mark (see the report)")
        elif student not in users:
            plan.lost.append(
                f"{student}: is not a member of the course, or the platform sends "
                "nothing that [match] names"
            )
        else:
            score = _score(row, users[student])
            if sent.get(score.user) == score.kept:
                plan.same += 1
            else:
                plan.send.append(score)
    return plan


def _score(row: Json, user: str) -> Score:
    begun = row["status"] != "nothing submitted"
    given = max(0.0, float(row["mark"]))  # the standard has no marks below 0
    return Score(row["student"], user, given, float(row["possible"]), comment(row), begun)


def _grade(score: Score) -> Grade:
    """Of two with the same time the platform may keep the first: so to the microsecond."""
    made = Grade().set_user_id(score.user).set_comment(score.comment)
    made.set_score_given(score.given).set_score_maximum(score.maximum)
    made.set_activity_progress("Completed" if score.begun else "Initialized")
    made.set_grading_progress("FullyGraded")
    return made.set_timestamp(datetime.now(UTC).isoformat(timespec="microseconds"))


class _Sent:
    """By column and the platform's user: what it was told last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Json] = {}
        if path.exists():
            self.found = json.loads(path.read_text(encoding="utf-8"))

    def of(self, column: str) -> Json:
        return self.found.get(column, {})

    def note(self, column: str, score: Score) -> None:
        self.found.setdefault(column, {})[score.user] = score.kept
        write_whole(self.path, json.dumps(self.found, indent=1) + "\n")
        self.path.chmod(0o600)
