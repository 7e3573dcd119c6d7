# SPDX-License-Identifier: MIT
"""Links that lead out of the site: docs/links.json keeps when each was last tried, and how that
ended.

    {"url": "https://...", "date": "2026-11-21", "status": "..."}

`status` is `200` where the address answered, `copy` where only a stored copy of that page could be
read, `named` where another page, `by`, gives it as the address of what our page says is there, and
`unseen` where nothing was found. A page with a link that is not listed or unseen, and an entry that
no page needs any more, fail a test without any network. `./lab docs --links` tries the addresses.
"""

import json
import re
from pathlib import Path
from typing import NotRequired, TypedDict

from grader.book import shown
from grader.course.project import Project

PLACE = Path("docs/links.json")
LINK = re.compile(r"\]\((https?://[^)\s]+)\)")
STATUSES = ("200", "copy", "named")


class Entry(TypedDict):
    url: str
    date: str
    status: str
    by: NotRequired[str]


def load(root: Path) -> list[Entry]:
    entries: list[Entry] = json.loads((root / PLACE).read_text(encoding="utf-8"))
    return entries


def used(project: Project) -> dict[str, str]:
    """Each address, with a page that links to it; corrections and numbers are data."""
    found: dict[str, str] = {}
    data = [project.root / "docs" / name for name in ("seeds.json", "numbers.json")]
    for path in [*shown.sources(project), *data]:
        if path.is_file():
            for url in LINK.findall(path.read_text(encoding="utf-8")):
                found.setdefault(url, str(path.relative_to(project.root)))
    return found


def problems(project: Project) -> list[str]:
    """Addresses without a check, unused entries, and invalid ones."""
    listed, needed = {entry["url"]: entry for entry in load(project.root)}, used(project)
    wrong = [
        f"{page}: {url} is not in {PLACE}" for url, page in needed.items() if url not in listed
    ]
    wrong += [f"{PLACE}: no page leads to {url}" for url in listed if url not in needed]
    wrong += [f"{PLACE}: {why}" for entry in listed.values() if (why := _odd(entry))]
    return sorted(wrong)


def _odd(entry: Entry) -> str:
    url, status = entry["url"], entry["status"]
    if status == "unseen":
        return f"{url} was never seen: try `./lab docs --links` where there is a network"
    if status not in STATUSES or not re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"]):
        return f"{url}: {status!r} on {entry['date']!r}"
    if (status == "named") != ("by" in entry):
        return f"{url}: an entry has `by` if, and only if, its status is `named`"
    return ""
