# SPDX-License-Identifier: MIT
"""Grades many submissions at a time: what was graded before is not graded again, what was
interrupted goes on, and one submission's misfortune is nobody else's."""

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Protocol

from grader.grade.course import GradedLab
from grader.grade.journal import Journal
from grader.grade.model import Run, Submission

MOST_BEGINNINGS = 20  # of one submission, without an end: it ends the grader itself


class Grades(Protocol):
    """What runs one submission (work.Worker, or another machine's)."""

    def grade(self, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run: ...


@dataclass(frozen=True)
class Task:
    lab: GradedLab
    submission: Submission
    cache: str


@dataclass(frozen=True)
class Batch:
    journal: Journal
    worker: Grades
    seed: int
    tier: str
    jobs: int
    orders: int

    def task(self, lab: GradedLab, submission: Submission) -> Task:
        return Task(lab, submission, self.cache_key(lab, submission))

    def cache_key(self, lab: GradedLab, submission: Submission) -> str:
        """Everything that a run depends on. Who handed it in and when is not among it."""
        rules = [(rule.case, rule.todo, rule.depends) for rule in lab.rubric.rules]
        parts = (lab.lab.name, lab.fingerprint, self.seed, self.orders, self.tier, rules)
        whole = hashlib.sha256(repr(parts).encode())
        whole.update(submission.contents or b"")
        return whole.hexdigest()

    def to_do(self, tasks: list[Task], again: Callable[[Submission], bool]) -> list[Task]:
        """One task for each different work, those that were interrupted most often last; `again`
        asks for one whether or not it has a result, and however often it was begun."""
        chosen: dict[str, Task] = {}
        for task in tasks:
            if task.submission.contents is None:
                continue
            redo = again(task.submission)
            if redo:
                self.journal.begun[task.cache] = 0
            if redo or task.cache not in self.journal.runs:
                chosen.setdefault(task.cache, task)
        return sorted(chosen.values(), key=lambda task: self.journal.begun.get(task.cache, 0))

    def run(self, tasks: list[Task], done: Callable[[Task, Run], None]) -> dict[str, Run]:
        """Runs all, `jobs` at a time, and tells `done` of each; what broke is tried once more,
        alone. Returns what broke again, by cache key. An interruption ends it between two."""
        broken: dict[str, Run] = {}
        pool = ThreadPoolExecutor(self.jobs)
        try:
            futures: dict[Future[Run], Task] = {pool.submit(self._one, t): t for t in tasks}
            for future in as_completed(list(futures)):
                task, run = futures.pop(future), future.result()
                if run.broken:
                    broken[task.cache] = run
                else:
                    done(task, run)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        again = [task for task in tasks if task.cache in broken]
        for task in again:
            run = self._one(task, before=broken[task.cache].broken)
            done(task, run)
            if run.broken:
                broken[task.cache] = run
            else:
                del broken[task.cache]
        return broken

    def _one(self, task: Task, before: str = "") -> Run:
        """`before`: why it is done a second time, now that nothing else is at work."""
        key = task.submission.key
        if self.journal.begun.get(task.cache, 0) >= MOST_BEGINNINGS:
            why = f"the grader itself ended while this was graded, {MOST_BEGINNINGS} times"
            return Run(broken=f"{why}; --regrade tries it once more")
        self.journal.begin(task.cache)
        run = self.worker.grade(task.lab, task.submission, alone=bool(before))
        run = replace(run, again=before)
        self.journal.end(key, task.cache, task.submission.digest, run, time.time())
        return run
