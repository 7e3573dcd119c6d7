# SPDX-License-Identifier: MIT
"""`--executor slurm`: the same batch as job arrays of a cluster, one element a submission.

The output folder lies where every node sees it, and so do the checkout and its build. In it

    slurm/todo/KEY.json   a submission, written before it is handed to Slurm
    slurm/done/KEY.json   its run, written whole by the node that graded it
    slurm/arrays/N.txt    which submissions the elements of an array are

A node that is killed loses nothing but time: what is no longer queued and left no run is submitted
again. A driver that is killed finds the runs that came meanwhile when it is started again.
"""

import base64
import contextlib
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import Done, capture
from grader.course.project import Project
from grader.grade.batch import Batch, Task
from grader.grade.journal import write_whole
from grader.grade.model import Run

POLL_SECONDS = 0.3
ASK_SECONDS = 3.0  # between questions to the controller; a lost run is lost in two answers
MOST_ATTEMPTS = 3
QUIET_SECONDS = 3600.0  # without a single run: something is wrong with the cluster
CONTROLLER_SECONDS = 120.0

_SCRIPT = """\
#!/bin/sh
exec "{python}" -B -m grader.grade.slurm_task "{folder}" "{array}" "$SLURM_ARRAY_TASK_ID"
"""


@dataclass(frozen=True)
class SlurmBatch(Batch):
    """A Batch whose runs happen on other machines; `words` go to sbatch."""

    project: Project
    folder: Path  # OUT/slurm, absolute
    rubric: Path | None = None
    words: tuple[str, ...] = ()

    def run(self, tasks: list[Task], done: Callable[[Task, Run], None]) -> dict[str, Run]:
        flight = _Flight(self, {task.cache: task for task in tasks})
        with self._no_other_jobs():
            for task in tasks:
                self.put(task)
            while flight.waiting:
                flight.collect(done)
                flight.submit()
                flight.check()
                time.sleep(POLL_SECONDS)
        return flight.broken

    # ---- files ----

    def result(self, cache: str) -> Path:
        return self.folder / "done" / f"{cache}.json"

    def put(self, task: Task, before: str = "") -> None:
        """`before`: what went wrong the first time. No other node knows whether it is alone."""
        if task.cache in self.journal.runs:  # asked for again
            self.result(task.cache).unlink(missing_ok=True)
        contents = base64.b64encode(task.submission.contents or b"").decode("ascii")
        entry = {
            "build": str(self.project.build_dir),
            "lab": task.lab.lab.number,
            "file": task.lab.file,
            "fingerprint": task.lab.fingerprint,
            "rubric": str(self.rubric.resolve()) if self.rubric else None,
            "seed": self.seed,
            "orders": self.orders,
            "tier": self.tier,
            "contents": contents,
            "before": before,
        }
        write_whole(self.folder / "todo" / f"{task.cache}.json", json.dumps(entry) + "\n")

    # ---- Slurm ----

    @property
    def name(self) -> str:
        """Of this output folder's jobs."""
        return f"peerlab-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:10]}"

    @contextlib.contextmanager
    def _no_other_jobs(self) -> Iterator[None]:
        """None of a driver that was killed, and none left when we go."""
        _slurm("scancel", "--name", self.name)
        try:
            yield
        finally:
            capture(["scancel", "--name", self.name], timeout=CONTROLLER_SECONDS)

    def array(self, caches: list[str]) -> list[str]:
        """Submits these as one array; says what each element is called."""
        number = len(list((self.folder / "arrays").glob("*.txt")))
        write_whole(self.folder / "arrays" / f"{number}.txt", "\n".join(caches) + "\n")
        script = self.folder / "arrays" / f"{number}.sh"
        text = _SCRIPT.format(python=sys.executable, folder=self.folder, array=number)
        write_whole(script, text)
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        said = _slurm(
            *("sbatch", "--parsable", f"--array=0-{len(caches) - 1}", f"--job-name={self.name}"),
            *("--cpus-per-task=1", f"--chdir={self.project.root}", f"--output={logs}/%A_%a.txt"),
            *(*self.words, str(script)),
        )
        job = said.split(";")[0].strip().splitlines()[-1]
        return [f"{job}_{at}" for at in range(len(caches))]

    def alive(self) -> set[str]:
        """The elements that are queued or run."""
        said = _slurm("squeue", "-h", "-r", "-o", "%F_%K", "--name", self.name)
        return set(said.split())


@dataclass
class _Flight:
    """What is under way: who waits, as which element, since when nothing came."""

    batch: SlurmBatch
    waiting: dict[str, Task]
    broken: dict[str, Run] = field(default_factory=dict)
    elements: dict[str, str] = field(default_factory=dict)  # by cache key
    missed: set[str] = field(default_factory=set)  # not in the last answer
    attempts: Counter[str] = field(default_factory=Counter)
    asked: float = 0.0
    heard: float = field(default_factory=time.monotonic)

    def collect(self, done: Callable[[Task, Run], None]) -> None:
        """Takes the runs that are there."""
        for cache in [c for c in self.waiting if self.batch.result(c).is_file()]:
            self.heard = time.monotonic()
            run = _read(self.batch.result(cache))
            self._forget(cache)
            if run.broken and self.attempts[cache] < MOST_ATTEMPTS:
                self.batch.result(cache).unlink()
                self.batch.put(self.waiting[cache], run.broken)
                continue
            task = self.waiting.pop(cache)
            self.batch.journal.end(
                task.submission.key, cache, task.submission.digest, run, time.time()
            )
            if run.broken:
                self.broken[cache] = run
                self.batch.result(cache).unlink()
            done(task, run)

    def submit(self) -> None:
        """Hands over what no element stands for: never did, or the element is gone."""
        if time.monotonic() - self.asked >= ASK_SECONDS and self.elements:
            self._ask()
        lost = [cache for cache in self.waiting if cache not in self.elements]
        for cache in lost:
            self.batch.journal.begin(cache)
            self.attempts[cache] += 1
        if lost:
            self.elements |= dict(zip(lost, self.batch.array(lost), strict=True))
            self.asked = time.monotonic()

    def _ask(self) -> None:
        """An element that is missing in two answers and left no run is lost: its node was."""
        self.asked = time.monotonic()
        alive = self.batch.alive()
        gone = {cache for cache, element in self.elements.items() if element not in alive}
        for cache in gone & self.missed:
            if not self.batch.result(cache).is_file():
                self._forget(cache)
                self._give_up(cache)
        self.missed = gone

    def _give_up(self, cache: str) -> None:
        """After as many attempts as there may be."""
        if self.attempts[cache] >= MOST_ATTEMPTS:
            why = f"Slurm lost it {MOST_ATTEMPTS} times; {self.batch.folder}/logs says more"
            run = Run(broken=why)
            write_whole(self.batch.result(cache), json.dumps(run.to_json()) + "\n")

    def _forget(self, cache: str) -> None:
        self.elements.pop(cache, None)
        self.missed.discard(cache)

    def check(self) -> None:
        if self.waiting and time.monotonic() - self.heard > QUIET_SECONDS:
            raise LabError(
                f"Slurm has finished nothing for an hour; {len(self.waiting)} submissions wait. "
                "What is done is kept: look at squeue and sinfo, and run the same command again.",
                ExitStatus.HARNESS_ERROR,
            )


def _read(path: Path) -> Run:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Run.from_json(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Run(broken=f"{path} cannot be read: {error}")


def _slurm(*words: str) -> str:
    done: Done = capture(words, timeout=CONTROLLER_SECONDS)
    if not done.ok:
        raise LabError(
            f"{' '.join(words[:3])} ... ended with status {done.status}: {done.output.strip()}\n"
            "What is done is kept: run the same command again when Slurm works.",
            ExitStatus.HARNESS_ERROR,
        )
    return done.output
