# SPDX-License-Identifier: MIT
"""Test results as the verifiers write them: one JSON file per test (harness/verifier/record.c)."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from grader.base.language import say


class Verdict(Enum):
    """A verifier's verdicts, the worst first."""

    HARNESS_ERROR = "harness error"
    FAIL = "fail"
    NOT_WRITTEN = "not written"
    UNKNOWN = "not run"  # not a verifier's: there is no record
    CANNOT_RUN = "cannot run"
    PASS = "pass"


SIGNS = {
    Verdict.PASS: "●",
    Verdict.NOT_WRITTEN: "○",
    Verdict.FAIL: "✗",
    Verdict.CANNOT_RUN: "–",
    Verdict.HARNESS_ERROR: "!",
    Verdict.UNKNOWN: "·",
}

COLORS = {  # of a terminal
    Verdict.PASS: "32",
    Verdict.NOT_WRITTEN: "33",
    Verdict.FAIL: "31",
    Verdict.CANNOT_RUN: "36",
    Verdict.HARNESS_ERROR: "35",
    Verdict.UNKNOWN: "",
}


def words(verdict: Verdict) -> str:
    """The meaning of a sign: "not written yet"."""
    return say(f"verdict.{verdict.value.replace(' ', '-')}")


@dataclass(frozen=True)
class Record:
    test: str  # "lab03.split"
    case: str
    todo: int  # 0: the whole lab
    title: str = ""
    points: int = 0
    verdict: Verdict = Verdict.UNKNOWN
    message: str = ""
    grave: str = ""  # the kind of grave mistake that it tells (course/grave.py)
    why: str = ""  # the rule that it breaks
    explained: str = ""  # the node's finding, and where to read about it
    said: str = ""  # the end of what the program and its runtime printed
    where: str = ""  # "labs/03-p2p-copy/p2p_copy.c:41"
    ending: str = ""  # how a program ended abnormally: "crash", "timeout"
    written: float = 0.0  # modification time of the file


def read_record(path: Path) -> Record | None:
    """None if there is no such record, or an incomplete one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return from_json(data, path.stat().st_mtime)
    except (OSError, ValueError, KeyError):
        return None


def from_json(data: dict[str, Any], written: float = 0.0) -> Record:
    return Record(
        test=data["test"],
        case=data["case"],
        todo=int(data["todo"]),
        title=data.get("title", ""),
        points=int(data.get("points", 0)),
        verdict=Verdict(data["verdict"]),
        message=data.get("message", ""),
        grave=data.get("grave", ""),
        why=data.get("why", ""),
        explained=data.get("explained", ""),
        said=data.get("said", ""),
        where=data.get("where", ""),
        ending=data.get("ending", ""),
        written=written,
    )


def to_json(record: Record) -> dict[str, Any]:
    """In the form that from_json reads, with the time at which it was written."""
    return {**asdict(record), "verdict": record.verdict.value}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst verdict, as for the cases of one TODO."""
    order = list(Verdict)
    found = sorted(set(verdicts), key=order.index)
    return found[0] if found else Verdict.UNKNOWN
