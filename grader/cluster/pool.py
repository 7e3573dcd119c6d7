# SPDX-License-Identifier: MIT
"""Grades with workers on other machines: this process makes the work list, collects the records and
is the only one that opens results.sqlite.

Who works is another's matter (Workers): Slurm's job arrays (slurm.py), or whatever starts
worker.py where the folder is seen. A worker that dies loses nothing but time: its submission
is given to another. So it is with the collector: the next one finds what was recorded meanwhile.
"""

import base64
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from grader.base.exits import ExitStatus, LabError
from grader.cluster.worklist import LEASE_SECONDS, Unit, WorkList
from grader.course.project import Project
from grader.grade.batch import Batch, Task
from grader.grade.model import Run

POLL_SECONDS = 0.3
ASK_SECONDS = 3.0  # between looks at who works
ANSWER_SECONDS = 600.0  # for who starts the workers to say who is alive
MOST_BEGUN = 3  # of one submission
MOST_COLLECTED = 100  # in one transaction
QUIET_SECONDS = 3600.0  # without a single run: something is wrong with the workers


class Workers(Protocol):
    def alive(self) -> set[str] | None:
        """The names of those that work or will; None: nobody knows."""

    def start(self, count: int) -> None:
        """So many more."""

    def stop(self) -> None: ...


class Others:
    """Somebody else starts them, and they end when no collector is there."""

    def alive(self) -> set[str] | None:
        return None

    def start(self, count: int) -> None:
        pass

    def stop(self) -> None:
        pass


@dataclass(frozen=True)
class PoolBatch(Batch):
    """A Batch whose runs happen elsewhere; `jobs` workers at most."""

    project: Project
    list: WorkList
    workers: Workers
    rubric: Path | None = None

    @contextlib.contextmanager
    def collecting(self) -> Iterator["PoolBatch"]:
        """Workers of a collector that was killed are ended, and none is left when we go."""
        self.list.make()
        self.workers.stop()
        self.list.collector.touch()
        try:
            yield self
            self.list.clear()
        finally:
            self.list.collector.unlink(missing_ok=True)
            with contextlib.suppress(LabError):
                self.workers.stop()

    def run(self, tasks: list[Task], done: Callable[[Task, Run], None]) -> dict[str, Run]:
        flight = _Flight(self, {task.cache: task for task in tasks})
        flight.begin()
        while flight.waiting:
            flight.collect(done)
            if time.monotonic() - flight.asked >= ASK_SECONDS:
                flight.ask()
            flight.check()
            time.sleep(POLL_SECONDS if flight.waiting else 0)
        return flight.broken

    def put(self, task: Task, begun: int, before: str = "") -> None:
        """`before`: what went wrong the first time. No other machine knows whether it is alone."""
        entry = {
            "build": str(self.project.build_dir),
            "lab": task.lab.lab.number,
            "file": task.lab.file,
            "fingerprint": task.lab.fingerprint,
            "rubric": str(self.rubric.resolve()) if self.rubric else None,
            "seed": self.seed,
            "orders": self.orders,
            "tier": self.tier,
            "contents": base64.b64encode(task.submission.contents or b"").decode("ascii"),
            "before": before,
        }
        self.list.put(Unit(task.cache, begun), json.dumps(entry) + "\n")


@dataclass
class _Flight:
    """What is under way: whose runs are waited for, which workers are missed, since when a unit was
    last touched, and how often all workers had ended since the last run came."""

    batch: PoolBatch
    waiting: dict[str, Task]
    broken: dict[str, Run] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)  # by cache key
    missed: set[str] = field(default_factory=set)  # not alive in the last answer
    touched: dict[str, tuple[int, float]] = field(default_factory=dict)  # by name of a unit
    asked: float = float("-inf")
    answered: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    fruitless: int = 0

    @property
    def list(self) -> WorkList:
        return self.batch.list

    def begin(self) -> None:
        """What another collector has put on the list, or a worker of its has, need not be put."""
        there = {unit.key for unit in self.list.units("held")}
        for unit in self.list.units("open"):
            there.add(unit.key)
            if unit.key not in self.waiting:
                self.list.withdraw(unit)
        for cache, task in self.waiting.items():
            if cache in self.batch.journal.runs:  # asked for again
                self.list.record(cache).unlink(missing_ok=True)
            if cache not in there and not self.list.record(cache).exists():
                self.batch.put(task, 0)

    def collect(self, done: Callable[[Task, Run], None]) -> None:
        """Takes the records that are there; only what is committed is removed."""
        found = [cache for cache in self.list.records() if cache in self.waiting]
        while found:
            some, found = found[:MOST_COLLECTED], found[MOST_COLLECTED:]
            runs = {cache: _read(self.list.record(cache)) for cache in some}
            last = {c: run for c, run in runs.items() if not self._tried_again(c, run)}
            with self.batch.journal.base.together():
                for cache, run in last.items():
                    one = self.waiting[cache].submission
                    self.batch.journal.end(one.key, cache, one.digest, run, time.time())
            for cache, run in last.items():
                self.list.record(cache).unlink()
                if run.broken:
                    self.broken[cache] = run
                done(self.waiting.pop(cache), run)
            self.heard, self.fruitless = time.monotonic(), 0

    def _tried_again(self, cache: str, run: Run) -> bool:
        begun = self.begun.get(cache, 0) + 1
        if not run.broken or begun >= MOST_BEGUN:
            return False
        self.begun[cache] = begun
        self.list.record(cache).unlink()
        self.batch.put(self.waiting[cache], begun, run.broken)
        return True

    def ask(self) -> None:
        """Takes back what dead workers held, and starts workers for what waits."""
        self.asked = time.monotonic()
        held = self.list.units("held")  # before the question: who takes a unit later is alive
        try:
            alive = self.batch.workers.alive()
        except LabError:  # Slurm's controller is being restarted, perhaps
            if self.asked - self.answered > ANSWER_SECONDS:
                raise
            return
        self.answered = self.asked
        lost = {unit.worker for unit in held if alive is not None and unit.worker not in alive}
        for unit in held:
            if unit.worker in lost & self.missed or self._is_over(unit):
                self._take_back(unit)
        self.missed = lost
        if alive is not None:
            self._start(len(alive))

    def _is_over(self, unit: Unit) -> bool:
        """Its worker has not touched it for as long as a lease is, by this machine's clock."""
        now, touch = time.monotonic(), self.list.touched(unit)
        before, since = self.touched.get(unit.name, (-1, now))
        if touch != before:
            self.touched[unit.name] = (touch, now)
            return False
        return now - since > LEASE_SECONDS

    def _take_back(self, unit: Unit) -> None:
        self.touched.pop(unit.name, None)
        if unit.key not in self.waiting or self.list.record(unit.key).exists():
            self.list.drop(unit)  # it was finished, and its worker ended then
        elif unit.begun + 1 >= MOST_BEGUN:
            why = f"its worker was lost {MOST_BEGUN} times; {self.list.folder}/logs says more"
            self.begun[unit.key] = MOST_BEGUN
            self.list.finish(unit, json.dumps(Run(broken=why).to_json()) + "\n")
        else:
            self.begun[unit.key] = unit.begun + 1
            self.list.take_back(unit)

    def _start(self, alive: int) -> None:
        wanted = min(len(self.list.units("open")), self.batch.jobs - alive)
        if wanted <= 0:
            return
        if not alive:
            self.fruitless += 1
        if self.fruitless > MOST_BEGUN:
            raise LabError(
                f"{MOST_BEGUN} times all workers ended and none had graded anything: "
                f"{self.list.folder}/logs says why.",
                ExitStatus.HARNESS_ERROR,
            )
        self.batch.workers.start(wanted)

    def check(self) -> None:
        if self.waiting and time.monotonic() - self.heard > QUIET_SECONDS:
            raise LabError(
                f"The workers have finished nothing for an hour; {len(self.waiting)} submissions "
                "wait. What is done is kept: see what they do, and run the same command again.",
                ExitStatus.HARNESS_ERROR,
            )


def _read(path: Path) -> Run:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Run.from_json(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Run(broken=f"{path} cannot be read: {error}")
