# SPDX-License-Identifier: MIT
"""Learners of labs 90 to 92: builds a variant of the solution and runs the verifier on it."""

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
LABCC = ROOT / "harness/cmake/labcc.sh"
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


@dataclass
class Lab:
    number: str
    folder: str
    file: str

    def solution(self) -> str:
        path = HERE / "solutions" / self.folder / self.file
        return path.read_text(encoding="utf-8")

    def with_body(self, function: str, body: str, top: str = "") -> str:
        """The solution with another body in one of its functions, and more lines at its top."""
        pattern = rf"(\nint {function}\([^)]*\)\n{{\n).*?(\n}}\n)"
        text, count = re.subn(pattern, lambda m: m[1] + body + m[2], self.solution(), flags=re.S)
        assert count == 1, function
        return f"#define _GNU_SOURCE\n{top}\n{text}"

    def labcc(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        conf = BUILD / "labs" / self.folder / "lab.conf"
        command = ["sh", str(LABCC), str(conf), *map(str, words)]
        return subprocess.run(command, check=check, capture_output=True, text=True)

    def build(self, name: str, source: str, suffix: str = ".c") -> Path:
        """A runner with all functions of `source`."""
        file, runner = WORK / f"{name}{suffix}", WORK / name
        file.write_text(source, encoding="utf-8")
        self.labcc("mutant", file, runner)
        return runner

    def check(
        self, runner: Path, case: str, *more: object, hidden: bool = False, **env: str
    ) -> Result:
        """Runs one case; the record is what went to --json."""
        program = BUILD / f"tests/bin/lab{self.number}-check{'-hidden' if hidden else ''}"
        lines = WORK / f"{runner.name}-{case}.jsonl"
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


TOY = Lab("90", "90-toy", "toy.c")
GPU = Lab("91", "91-gpu", "gpu.c")
KERNEL = Lab("92", "92-kernel", "kernel.cu")
with_body, labcc, build, check = TOY.with_body, TOY.labcc, TOY.build, TOY.check
