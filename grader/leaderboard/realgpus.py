# SPDX-License-Identifier: MIT
"""Times of the timed tasks on this machine's own GPUs, if it has any and the course is built for
them (the preset `cuda`).

Only the course's own programs run there, for nothing protects a real GPU's driver from a
submission. Their time is the program's own clock, so it stands beside the others for comparison
and has no place.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.base.proc import capture
from grader.course.project import Project
from grader.leaderboard.timed import NAIVE, NODES

ANY = NODES[0]  # real GPUs are what they are, whatever the case is called


@dataclass(frozen=True)
class Measured:
    """In picoseconds, on `gpus` ("2 NVIDIA H200"); None: this machine cannot run it."""

    gpus: str
    reference: int | None
    naive: int | None


def measured(project: Project, lab: str) -> Measured | None:
    """None where there is no GPU, or nothing is built for it."""
    build = project.root / "build" / "cuda"
    verifier = build / "bin" / f"lab{lab}-check-timed"
    runner = build / "runners" / f"solution{lab}-run"
    gpus = _gpus() if verifier.is_file() and runner.is_file() else ""
    if not gpus:
        return None
    return Measured(gpus, *(_time(verifier, runner, case) for case in (ANY, f"{NAIVE}{ANY}")))


def _gpus() -> str:
    names = capture(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    found = names.output.splitlines() if names.ok else []
    return f"{len(found)} {found[0]}" if found else ""


def _time(verifier: Path, runner: Path, case: str) -> int | None:
    with tempfile.TemporaryDirectory() as folder:
        words = [verifier, "--runner", runner, "--case", case, "--as", "own", "--results", folder]
        capture([str(word) for word in words])
        try:
            record = json.loads((Path(folder) / f"own.{case}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
    return record.get("timed_ps") if record["verdict"] == "pass" else None
