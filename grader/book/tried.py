# SPDX-License-Identifier: MIT
"""`./lab docs --links`: requests each address to which the book links, and records the answers in
docs/links.json. Gone (404, 410) is an error. An address that refuses robots or cannot be reached is
reported, and keeps its entry: the failure proves nothing about the page."""

import concurrent.futures
import datetime
import json
import urllib.error
import urllib.request
from pathlib import Path

from grader.base.exits import ExitStatus
from grader.book import outside
from grader.course.project import Project

SECONDS = 10.0
AT_ONCE = 8
GONE = ("404", "410")
AGENT = {"User-Agent": "Mozilla/5.0 (peerlab's check of links)"}


def command(project: Project, *, note: bool = True) -> ExitStatus:
    """Tries all addresses. CANNOT_RUN if none could be reached: then nothing is recorded."""
    urls = sorted(outside.used(project))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(urls, pool.map(tried, urls), strict=True))
    for url, answer in answers.items():
        print(f"{answer}  {url}")
    reached = [answer for answer in answers.values() if answer.isdigit()]
    gone = [answer for answer in reached if answer in GONE]
    print(f"{len(urls)} links, {len(reached)} answered, {len(gone)} gone")
    if urls and not reached:
        print(f"No address was reached: is there a network here? {outside.PLACE} is as it was.")
        return ExitStatus.CANNOT_RUN
    if note:
        write(project.root, answers, datetime.datetime.now(tz=datetime.UTC).date().isoformat())
        print(f"{outside.PLACE} says so now.")
    return ExitStatus.FAILED if gone else ExitStatus.OK


def tried(url: str) -> str:
    """The status ("200"), or the reason of the failure; after redirects."""
    request = urllib.request.Request(url.split("#")[0], headers=AGENT)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        return str(error.code)
    except (OSError, ValueError) as error:
        return f"not reached: {error}"


def write(root: Path, answers: dict[str, str], today: str) -> None:
    """Records the addresses that answered with their page; others keep their entries."""
    old = {entry["url"]: entry for entry in outside.load(root)}
    entries = []
    for url, answer in answers.items():
        new = {"url": url, "date": today, "status": "200" if answer == "200" else "unseen"}
        entries.append(new if answer == "200" else old.get(url, new))
    lines = ",\n".join(f" {json.dumps(entry)}" for entry in entries)
    (root / outside.PLACE).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
