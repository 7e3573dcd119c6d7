# SPDX-License-Identifier: MIT
"""Gradescope's /autograder/results/results.json (gradescope.com: "Autograder specifications").

Hidden tests are one visible test with their points: a test that Gradescope hides would hide the
total, too. The time is left out, in which a submission could say what a hidden test asked. Without
a mark nothing is written, which Gradescope shows as its own failure.
"""

import json
from collections.abc import Mapping
from typing import Any

from grader.export import parts

Json = dict[str, Any]


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    if not parts.has_marks(rows):
        return None
    found = {
        "score": parts.total(rows),
        "output": parts.remarks(rows),
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(test) for test in parts.tests(rows)],
        "extra_data": {
            "schema": results["schema"],
            "course": results["course"],
            "seed": results["seed"],
            "sandbox": results["sandbox"],
        },
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _test(test: parts.Test) -> Json:
    return {
        "name": test.name,
        "number": test.number,
        "score": test.points,
        "max_score": test.possible,
        "status": "passed" if test.passed else "failed",
        "output": test.text,
        "output_format": "text",
        "visibility": "visible",
        "tags": [test.lab],
    }
