# SPDX-License-Identifier: MIT
"""Every case of a program: `bad_*` is told its diagnosis and no other, with the lines marked
`@bad_*`, and `near_*` is told nothing. The bad ones twice: what is found is found in every run.

    test_findings.py BIN FOLDER PROGRAM
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

BIN, FOLDER, PROGRAM = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
TOLD = re.compile(
    r"^vgpu: [^\n]*?: (?:finding|advice): .*? \[([a-z.-]+); \./lab explain \1\]$", re.M
)
LEAST = 5  # programs that a detector must flag, and near misses


def run(*case: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Runs one case on a node of its own. Only programs about leaks give everything back."""
    group = code.partition(".")[0]
    checks = group if group in ("leaks", "kernels") else "order,api,advice"
    environment = dict(os.environ, VGPU_NODE_ID=f"findings-{os.getpid()}", VGPU_CHECK=checks)
    return subprocess.run(
        [BIN / f"findings-{PROGRAM}", *case],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def marked(case: str) -> list[int]:
    """The lines that end with `// @case`."""
    lines = (FOLDER / f"{PROGRAM}.cu").read_text().splitlines()
    mark = re.compile(rf"// @{case}\b")
    return [number for number, line in enumerate(lines, 1) if mark.search(line)]


class Findings(unittest.TestCase):
    def check_bad(self, case: str, code: str) -> None:
        done = run(case, code=code)
        told = list(TOLD.finditer(done.stderr))
        self.assertEqual({match.group(1) for match in told}, {code}, f"{case}: {done.stderr}")
        self.assertNotRegex(done.stderr, "launch of (a )?kernel (by )?cudaLaunch", case)
        for line in marked(case):
            self.assertIn(f"{PROGRAM}.cu:{line}", "".join(match.group() for match in told), case)

    def check_near(self, case: str, code: str) -> None:
        done = run(case, code=code)
        self.assertEqual(done.returncode, 0, f"{case}: {done.stderr}")
        self.assertNotRegex(done.stderr, "finding|advice", case)

    def test_every_case(self) -> None:
        cases = [line.split() for line in run().stdout.splitlines()]
        for code, case in cases:
            with self.subTest(case):
                if case.startswith("bad_"):
                    self.check_bad(case, code)
                    self.check_bad(case, code)
                else:
                    self.check_near(case, code)
        for kind in ("bad", "near"):
            count = Counter(code for code, case in cases if case.startswith(kind))
            for code in {code for code, _ in cases}:
                self.assertGreaterEqual(count[code], LEAST, f"{kind} programs of {code}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
