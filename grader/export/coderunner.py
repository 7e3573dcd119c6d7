# SPDX-License-Identifier: MIT
"""What the template of a Moodle CodeRunner question prints (coderunner.org.nz: "Combinator-template
grading"): the share of the mark, and a table of tests between two pieces of HTML. Without a mark
nothing is written: of a template that prints no JSON CodeRunner says so, and gives no mark."""

import html
import json
from collections.abc import Mapping
from typing import Any

from grader.export import parts

Json = dict[str, Any]

HEAD = ["iscorrect", "Test", "Points", "What was found"]


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    if not parts.has_marks(rows):
        return None
    found = {
        "fraction": parts.share(rows),
        "prologuehtml": _paragraph(f"{parts.total(rows):g} of {parts.possible(rows):g} points"),
        "testresults": [HEAD, *(_line(test) for test in parts.tests(rows))],
        "epiloguehtml": "".join(map(_paragraph, parts.remarks(rows).splitlines())),
    }
    return json.dumps(found) + "\n"


def _line(test: parts.Test) -> list[Any]:
    points = f"{test.points:g} of {test.possible:g}"
    return [int(test.passed), _plain(test.name), points, _plain(test.text)]


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(_plain(text))}</p>"


def _plain(text: str) -> str:
    """Without halves of surrogate pairs, which PHP's json_decode refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")
