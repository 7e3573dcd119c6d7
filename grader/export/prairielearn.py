# SPDX-License-Identifier: MIT
"""PrairieLearn's /grade/results/results.json (docs: "External grading"). "gradable": false means
that the failure is not the student's and uses up no attempt. The file must stay under a
megabyte."""

import json
from collections.abc import Mapping
from typing import Any

from grader.export import parts

Json = dict[str, Any]
MOST_BYTES = 1 << 20


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    if not parts.has_marks(rows):
        sentence = "The grader could not grade this; this is not your fault, and costs no attempt."
        found: Json = {"gradable": False, "message": sentence, "format_errors": [sentence]}
        return json.dumps(found, indent=1) + "\n"
    found = {
        "gradable": True,
        "score": parts.share(rows),
        "message": f"{parts.total(rows):g} of {parts.possible(rows):g} points",
        "output": parts.remarks(rows),
        "tests": [_test(test) for test in parts.tests(rows)],
    }
    return _short_enough(found)


def _test(test: parts.Test) -> Json:
    return {
        "name": test.name,
        "description": "" if test.passed else test.text.split("\n", 1)[0],
        "points": test.points,
        "max_points": test.possible,
        "output": test.text,
    }


def _short_enough(found: Json) -> str:
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    room = 2000
    while len(text.encode("utf-8", "backslashreplace")) >= MOST_BYTES:
        for test in found["tests"]:
            test["output"], test["name"] = test["output"][:room], test["name"][:room]
            test["description"] = test["description"][:room]
        found["output"] = found["output"][:room]
        text, room = json.dumps(found, indent=1, ensure_ascii=False) + "\n", room // 2
    return text
