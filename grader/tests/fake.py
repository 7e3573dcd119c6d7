# SPDX-License-Identifier: MIT
"""A checkout with one tiny lab, made fresh for each test that needs one."""

import importlib.util
import shutil
import tempfile
import unittest
from pathlib import Path

from grader.building.install import own_packages
from grader.course.project import Lab, Project, here
from grader.selfcheck.lacking import needs

own_packages(here())
# A test that draws the class report, which a learner does not need.
with_charts = needs(
    importlib.util.find_spec("pygal"), "pygal is not here: ./lab start --grader installs it"
)

SOLUTION = """\
// SPDX-License-Identifier: MIT
#include "tiny.h"

int twice(int n)
{
    // TODO(1): double n  (about 1 line)
    // BEGIN SOLUTION
    return 2 * n;
    // END SOLUTION
    // STUB: (void)n;
    // STUB: TODO(1);
}
"""

SKELETON = """\
// SPDX-License-Identifier: MIT
#include "tiny.h"

int twice(int n)
{
    // TODO(1): double n  (about 1 line)
    (void)n;
    TODO(1);
}
"""

README = """\
# Lab 01: tiny

**Level** first lab · **You write** about 1 line

### Task 1: `twice`

Double it.

<details><summary>Hint 1</summary>

Add.
</details>
<details>
<summary>Hint 2: more</summary>
Multiply.
</details>
<details><summary>Hint 3</summary>Shift.</details>

## Questions

<details><summary>Hint 9</summary>not of task 1</details>
"""

RUBRIC = """\
{"lab": "lab01", "points": 100, "cases": [
 {"case": "twice", "todo": 1, "points": 60},
 {"case": "again", "todo": 1, "points": 20},
 {"case": "whole", "todo": 0, "points": 15},
 {"case": "hidden.thrice", "todo": 1, "points": 5}]}
"""

FILES = {
    "labs/01-tiny/tiny.h": "int twice(int n);\n",
    "labs/01-tiny/README.md": README,
    "labs/01-tiny/tests/public.c": "int public;\n",
    "solutions/01-tiny/tiny.c": SOLUTION,
    "solutions/01-tiny/tests/hidden.c": "int hidden;\n",
    "solutions/01-tiny/tests/rubric.json": RUBRIC,
}


class FakeCheckout(unittest.TestCase):
    """`self.project` has lab 01-tiny, before its skeleton was generated, and nothing else."""

    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="peerlab-test-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.project = Project(self.root)
        self.lab = Lab("01-tiny")
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")
