# SPDX-License-Identifier: MIT
"""Companions that only real GPUs can run: docs/book/real/, each with what it printed there.

recorded.json keeps, for each file, its hash when it ran, the command, the machine, the day, and
what it printed. A companion that changed since has to run again: `problems` says so. A line
`<!-- recorded: FILE -->` in a page becomes the recording.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import TypedDict

from grader.exits import LabError

PLACE = Path("docs/book/real")
DIRECTIVE = re.compile(r"^<!-- recorded: (\S+) -->$", re.MULTILINE)


class Recording(TypedDict):
    file: str
    sha256: str
    command: str
    machine: str
    date: str
    output: str


def load(root: Path) -> dict[str, Recording]:
    text = (root / PLACE / "recorded.json").read_text(encoding="utf-8")
    return {entry["file"]: entry for entry in json.loads(text)}


def insert(root: Path, page: str, text: str) -> str:
    """The page with its recordings. LabError: there is none of that name."""

    def one(match: re.Match[str]) -> str:
        entry = load(root).get(match[1])
        if entry is None:
            raise LabError(f"{page} shows a recording of {match[1]}, and there is none")
        shown = f"$ {entry['command']}\n{entry['output']}"
        return f"```text\n{shown}\n```\n\nRecorded on {entry['date']}: {entry['machine']}."

    return DIRECTIVE.sub(one, text)


def problems(root: Path) -> list[str]:
    """Companions that have no recording, or another one than theirs."""
    folder, known = root / PLACE, load(root)
    files = {path.name: path for path in folder.iterdir() if path.suffix in (".cu", ".py")}
    found = [f"{name} was recorded and is not there" for name in sorted(known.keys() - files)]
    for name, path in sorted(files.items()):
        if name not in known:
            found.append(f"{PLACE / name} was never recorded on real GPUs")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != known[name]["sha256"]:
            found.append(f"{PLACE / name} changed after its recording: run it on real GPUs again")
    return found
