# SPDX-License-Identifier: MIT
"""`--executor slurm`: the workers of a work list (pool.py) as elements of Slurm's job arrays.

The output folder lies where every node sees it, and so do the checkout and its build. An element
whose node fails is not queued again by Slurm: its submission goes to another worker, and another
element takes its place. In OUT/work, logs/JOB_ELEMENT.txt has what a worker said.
"""

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import Done, capture
from grader.course.project import Project

CONTROLLER_SECONDS = 120.0
QUESTION_SECONDS = 20.0  # asked again and again, and results come meanwhile
MOST_ELEMENTS = 1000  # of an array, where MaxArraySize is what it is without a word

_SCRIPT = """\
#!/bin/sh
worker="${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
exec "{python}" -B -m grader.cluster.worker "{folder}" "$worker"
"""


@dataclass(frozen=True)
class Slurm:
    """`words` go to sbatch."""

    project: Project
    folder: Path  # OUT/work, absolute
    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of this output folder's jobs."""
        return f"peerlab-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:10]}"

    def alive(self) -> set[str]:
        """The elements that are queued or run."""
        words = ("squeue", "-h", "-r", "-o", "%F_%K", "--name", self.name)
        return set(_slurm(*words, seconds=QUESTION_SECONDS).split())

    def start(self, count: int) -> None:
        logs, script = self.folder / "logs", self.folder / "worker.sh"
        logs.mkdir(exist_ok=True)
        text = _SCRIPT.format(python=sys.executable, folder=self.folder)
        script.write_text(text, encoding="utf-8")
        last = min(count, MOST_ELEMENTS) - 1
        _slurm(
            *("sbatch", "--parsable", f"--array=0-{last}", f"--job-name={self.name}"),
            *("--cpus-per-task=1", "--no-requeue", f"--chdir={self.project.root}"),
            *(f"--output={logs}/%A_%a.txt", *self.words, str(script)),
        )

    def stop(self) -> None:
        _slurm("scancel", "--name", self.name)


def _slurm(*words: str, seconds: float = CONTROLLER_SECONDS) -> str:
    done: Done = capture(words, timeout=seconds)
    if not done.ok:
        raise LabError(
            f"{' '.join(words[:3])} ... ended with status {done.status}: {done.output.strip()}\n"
            "What is done is kept: run the same command again when Slurm works.",
            ExitStatus.HARNESS_ERROR,
        )
    return done.output
