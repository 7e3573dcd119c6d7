# SPDX-License-Identifier: MIT
"""Classroom 50's result.json, schema classroom50/result/v1. Scores are integers there; data of the
runner (classroom, assignment, commit, ...) come from its environment."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from grader.export import parts

Json = dict[str, Any]

_FROM_RUNNER = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    if not parts.has_marks(rows):
        return None
    submitted = next((row["times"]["submitted"] for row in rows if row["times"]["submitted"]), None)
    found: Json = {"schema": "classroom50/result/v1"}
    found |= {key: environment.get(name, "") for key, name in _FROM_RUNNER.items()}
    found["review"] = found["review"] or found["commit"]
    found |= {
        "owner": environment.get("OWNER") or environment.get("USERNAME") or rows[0]["student"],
        "datetime": submitted or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": _whole(parts.total(rows)),
        "max-score": _whole(parts.possible(rows)),
        "tests": [_test(test) for test in parts.tests(rows)],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _test(test: parts.Test) -> Json:
    return {
        "test-name": test.name,
        "passed": test.passed,
        "score": _whole(test.points),
        "max-score": _whole(test.possible),
        "output": test.text,
    }


def _whole(points: float) -> int:
    """Rounds halves up, in the student's favour."""
    return int(points + 0.5)
