# SPDX-License-Identifier: MIT
"""Results of tests as the verifiers write them: one JSON file a test (harness/record.c)."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any


class Verdict(Enum):
    """A verifier's verdicts, the worst first."""

    HARNESS_ERROR = "harness error"
    FAIL = "fail"
    NOT_WRITTEN = "not written"
    UNKNOWN = "not run"  # ours: there is no record
    CANNOT_RUN = "cannot run"
    PASS = "pass"


SIGNS = {
    Verdict.PASS: ("●", "passed"),
    Verdict.NOT_WRITTEN: ("○", "not written yet"),
    Verdict.FAIL: ("✗", "failed"),
    Verdict.CANNOT_RUN: ("–", "cannot run here"),
    Verdict.HARNESS_ERROR: ("!", "harness error: not your fault"),
    Verdict.UNKNOWN: ("·", "not run"),
}


@dataclass(frozen=True)
class Record:
    test: str  # "lab03.split"
    case: str
    todo: int  # 0: the whole lab
    title: str = ""
    points: int = 0
    verdict: Verdict = Verdict.UNKNOWN
    message: str = ""
    where: str = ""  # "labs/03-p2p-copy/p2p_copy.c:41"
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
        where=data.get("where", ""),
        written=written,
    )


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of the cases of one TODO."""
    order = list(Verdict)
    found = sorted(set(verdicts), key=order.index)
    return found[0] if found else Verdict.UNKNOWN
