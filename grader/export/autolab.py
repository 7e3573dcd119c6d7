# SPDX-License-Identifier: MIT
"""Autolab's last lines of output: formatted feedback, then the scores, one problem per lab."""

import json
from collections.abc import Mapping
from typing import Any

from grader.export import parts

Json = dict[str, Any]


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    if not parts.has_marks(rows):
        return None
    stages: dict[str, dict[str, Json]] = {}
    for test in parts.tests(rows):
        entry: Json = {"passed": test.passed}
        if test.text:
            entry["hint"] = test.text
        stages.setdefault(test.lab, {})[test.name] = entry
    shown = {"_presentation": "semantic", "stages": list(stages), **stages}
    scores = {row["lab"]: row["mark"] for row in rows}
    last = {"scores": scores, "scoreboard": [parts.total(rows)]}
    return f"{json.dumps(shown)}\n{json.dumps(last)}\n"
