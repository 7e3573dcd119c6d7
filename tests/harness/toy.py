# SPDX-License-Identifier: MIT
"""Lab 90's learners: builds a variant of the solution and runs the verifier on it."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ["PEERLAB_BUILD"])
CONF = BUILD / "labs/90-toy/lab.conf"
LABCC = ROOT / "harness/labcc.sh"
SOLUTION = HERE / "solutions/90-toy/toy.c"
SKELETON = HERE / "labs/90-toy/toy.c"

PASS, FAIL, NOT_WRITTEN, BROKEN, SKIPPED = 0, 1, 3, 4, 77
WORK = Path(tempfile.mkdtemp(prefix="toy-", dir=BUILD / "labs"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)


@dataclass
class Result:
    status: int
    text: str
    errors: str
    record: dict[str, object]


def with_body(function: str, body: str, top: str = "") -> str:
    """The solution with another body in one of its functions, and more lines at its top."""
    pattern = rf"(\nint {function}\([^)]*\)\n{{\n).*?(\n}}\n)"
    text, count = re.subn(
        pattern, lambda m: m[1] + body + m[2], SOLUTION.read_text(encoding="utf-8"), flags=re.S
    )
    assert count == 1, function
    return f"#define _GNU_SOURCE\n{top}\n{text}"


def labcc(*words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(LABCC), str(CONF), *map(str, words)]
    return subprocess.run(command, check=check, capture_output=True, text=True)


def build(name: str, source: str) -> Path:
    """A runner with all functions of `source`."""
    file, runner = WORK / f"{name}.c", WORK / name
    file.write_text(source, encoding="utf-8")
    labcc("mutant", file, runner)
    return runner


def check(runner: Path, case: str, *more: object, hidden: bool = False, **env: str) -> Result:
    """Runs one case; the record is what went to --json."""
    program = BUILD / ("bin/lab90-check-hidden" if hidden else "bin/lab90-check")
    lines = WORK / "records.jsonl"
    lines.unlink(missing_ok=True)
    command = [str(program), "--runner", str(runner), "--case", case, "--json", str(lines)]
    done = subprocess.run(
        [*command, *map(str, more)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
    )
    records = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    assert len(records) == 1, (done, records)
    return Result(done.returncode, done.stdout, done.stderr, json.loads(records[0]))
