# SPDX-License-Identifier: MIT
"""Output of real GPUs: for companions that only real GPUs can run (docs/book/real/), and for
programs of the book (docs/book/code/).

real/recorded.json has, for each file, its hash at the time of the run, the command, the machine,
the date, and the output. A program that changed since must run again: `problems` reports it. Where
the change cannot matter to the output, `since` says what changed, and `sha256_since` is the hash
now. A line `<!-- recorded: FILE -->` in a page is replaced by the recording,
`<!-- recorded programs -->` by those of all programs of the book.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import NotRequired, TypedDict

from grader.base.exits import LabError

PLACE = Path("docs/book")
PROGRAMS = "<!-- recorded programs -->"
DIRECTIVE = re.compile(r"^<!-- recorded: (\S+) -->$", re.MULTILINE)


class Recording(TypedDict):
    file: str
    sha256: str
    command: str
    machine: str
    date: str
    output: str
    since: NotRequired[str]
    sha256_since: NotRequired[str]


def load(root: Path) -> dict[str, Recording]:
    text = (root / PLACE / "real" / "recorded.json").read_text(encoding="utf-8")
    return {entry["file"]: entry for entry in json.loads(text)}


def insert(root: Path, page: str, text: str) -> str:
    """The page with its recordings. LabError: there is no recording of that name."""

    if PROGRAMS in text:
        known = load(root)
        names = [name for name in sorted(known) if name.startswith("code/")]
        shown = [f"## {Path(name).name}\n\n{_shown(known[name])}" for name in names]
        text = text.replace(PROGRAMS, "\n\n".join(shown))

    def one(match: re.Match[str]) -> str:
        entry = load(root).get(match[1])
        if entry is None:
            raise LabError(f"{page} shows a recording of {match[1]}, and there is none")
        return _shown(entry)

    return DIRECTIVE.sub(one, text)


def _shown(entry: Recording) -> str:
    text = f"$ {entry['command']}\n{entry['output']}"
    since = f" {entry['since']}" if "since" in entry else ""
    return f"```text\n{text}\n```\n\nRecorded on {entry['date']}: {entry['machine']}.{since}"


def problems(root: Path) -> list[str]:
    """Companions without a recording, and programs that changed since their recording."""
    folder, known = root / PLACE, load(root)
    companions = [path for path in (folder / "real").iterdir() if path.suffix in (".cu", ".py")]
    names = sorted(known.keys() | {f"real/{path.name}" for path in companions})
    return [why for name in names if (why := _problem(folder / name, known.get(name)))]


def _problem(path: Path, entry: Recording | None) -> str:
    if not path.is_file():
        return f"{path.name} was recorded and is not there"
    if entry is None:
        return f"{path.name} was never recorded on real GPUs"
    recorded = entry["sha256_since"] if "since" in entry else entry["sha256"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != recorded:
        return f"{path.name} changed after its recording: run it on real GPUs again"
    return ""
