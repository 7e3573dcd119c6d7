# SPDX-License-Identifier: MIT
"""JUnit XML: one suite per lab. Tests skipped for a dependency in the rubric are "skipped"; harness
errors are errors, not failures."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

from grader.export import parts

Json = dict[str, Any]

# Characters that XML 1.0 cannot contain.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(results: Json, rows: list[Json], environment: Mapping[str, str]) -> str | None:
    root = ElementTree.Element("testsuites")
    for row in rows:
        _suite(root, row)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _suite(root: ElementTree.Element, row: Json) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=row["lab"])
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    if row["mark"] is None:
        counts["errors"] += _case(suite, row, row["status"], "error", row["message"])
        counts["tests"] += 1
    else:
        for test in parts.tests([row]):
            counts["tests"] += 1
            if test.text.startswith("not run:"):
                counts["skipped"] += _case(suite, row, test.name, "skipped", test.text)
            elif test.passed:
                _case(suite, row, test.name, "", "")
            else:
                counts["failures"] += _case(suite, row, test.name, "failure", test.text)
    for name, count in counts.items():
        suite.set(name, str(count))


def _case(suite: ElementTree.Element, row: Json, name: str, kind: str, text: str) -> int:
    case = ElementTree.SubElement(suite, "testcase", classname=row["lab"], name=_plain(name))
    if kind:
        message = _plain(text.split("\n", 1)[0])
        ElementTree.SubElement(case, kind, message=message).text = _plain(text)
    return 1


def _plain(text: str) -> str:
    return _NOT_XML.sub("?", text)
