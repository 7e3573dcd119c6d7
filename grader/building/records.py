# SPDX-License-Identifier: MIT
"""Results of tests as the verifiers write them: one JSON file a test
(harness/verifier/record.c)."""

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
    UNKNOWN = "not run"  # ours: there is no record
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
    """What a sign stands for: "not written yet"."""
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
    why: str = ""  # the rule that it breaks
    explained: str = ""  # what the node has found, and where to read on
    said: str = ""  # the end of what the program and its runtime printed
    where: str = ""  # "labs/03-p2p-copy/p2p_copy.c:41"
    ending: str = ""  # how a program ended that did not come to its end: "crash", "timeout"
    written: float = 0.0  # when, as a file's time


def read_record(path: Path) -> Record | None:
    """None when there is no such record, or half of one."""
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
        why=data.get("why", ""),
        explained=data.get("explained", ""),
        said=data.get("said", ""),
        where=data.get("where", ""),
        ending=data.get("ending", ""),
        written=written,
    )


def to_json(record: Record) -> dict[str, Any]:
    """As from_json reads it, and the time at which it was written."""
    return {**asdict(record), "verdict": record.verdict.value}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of the cases of one TODO."""
    order = list(Verdict)
    found = sorted(set(verdicts), key=order.index)
    return found[0] if found else Verdict.UNKNOWN
