# SPDX-License-Identifier: MIT
"""A class of real submissions of lab 01, graded by 1, 2 and 4 workers side by side, in slices:

    python3 tests/grading/measure_real.py build/vgpu STATE SECONDS [COUNT [WORKERS,...]]

It grades for SECONDS, keeps in STATE what is done, and goes on there when it is called again. Then
it prints a line of tests/grading/many.csv for each number of workers. Each worker has a processor
of its own, and locks of its own (grader/sandbox/slots.py), as on a machine of its own. Nothing
beyond the standard library is needed.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from grader import sandbox  # noqa: E402
from grader.cluster import worker  # noqa: E402
from grader.cluster.pool import Others, PoolBatch  # noqa: E402
from grader.cluster.worklist import WorkList  # noqa: E402
from grader.course.mutants import load, mutate, student_files  # noqa: E402
from grader.course.project import Project  # noqa: E402
from grader.course.sync import generate  # noqa: E402
from grader.grade import course  # noqa: E402
from grader.grade.batch import Task  # noqa: E402
from grader.grade.journal import opened  # noqa: E402
from grader.grade.model import Run, Submission  # noqa: E402
from grader.grade.proof import prove  # noqa: E402
from grader.grade.scratch import scratch  # noqa: E402
from grader.sandbox import slots  # noqa: E402

LAB = "01"
SEED = 5
SETTINGS = (1, 2, 4)
KINDS = ("solution", "skeleton", "does not compile")  # a tenth each; the others are known mistakes


class OverError(Exception):
    """The slice is."""


def main(words: list[str]) -> int:
    if words[0] == "--worker":
        return work_apart(Path(words[1]), words[2], int(words[3]))
    build, state = Path(words[0]).resolve(), Path(words[1]).resolve()
    os.environ["PEERLAB_BUILD"] = str(build)
    if words[2] == "--setting":
        workers, until = int(words[3]), float(words[4])
        cores = [int(core) for core in words[6].split(",")]
        Slice(build, state / f"workers-{workers}", cores, until, int(words[5])).run()
        return 0
    until = time.time() + float(words[2])
    count = words[3] if len(words) > 3 else "1000"
    settings = [int(word) for word in words[4].split(",")] if len(words) > 4 else SETTINGS
    chosen, rest = cores_for(sum(settings))
    os.sched_setaffinity(0, rest)
    running = []
    for workers in settings:
        mine, chosen = chosen[:workers], chosen[workers:]
        more = ["--setting", workers, until, count, ",".join(map(str, mine))]
        command = [sys.executable, "-B", __file__, build, state, *more]
        running.append(subprocess.Popen([str(word) for word in command], cwd=ROOT))
    failed = [one.wait() for one in running]
    for workers in settings:
        print(line(workers, state / f"workers-{workers}" / "figures.json"), flush=True)
    return int(any(failed))


def cores_for(count: int) -> tuple[list[int], set[int]]:
    """For workers: of different cores as far as there are, then their twins; and all others."""
    everything = sorted(os.sched_getaffinity(0))
    first, twins, seen = [], [], set()
    for cpu in everything:
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = path.read_text(encoding="utf-8").strip() if path.is_file() else str(cpu)
        (twins if core in seen else first).append(cpu)
        seen.add(core)
    ordered = first + twins
    chosen = [ordered[at % len(ordered)] for at in range(count)]
    if len(first) < count + 1:
        print(f"{len(first)} cores for {count} workers and the command: some share one", flush=True)
    return chosen, set(everything) - set(chosen) or set(everything)


def line(workers: int, path: Path) -> str:
    if not path.is_file():
        return f"workers {workers}: no slice has ended"
    found = json.loads(path.read_text(encoding="utf-8"))
    names = ("seconds", "tail", "command_seconds", "worker_core_seconds", "command_core_seconds")
    return ",".join(
        [
            str(found["graded"]),
            f"lab {LAB}",
            str(workers),
            *(f"{found[name]:.1f}" for name in names),
            str(found["mib"]),
        ]
    )


def work_apart(folder: Path, name: str, number: int) -> int:
    """A worker that meets no other one of this machine: locks of its own, and one slot."""
    own = folder / "locks" / str(number)
    own.mkdir(parents=True, exist_ok=True)
    take = slots._take
    slots._top = lambda: own
    slot = slots.MOST - 1 - number  # whose uid nobody has who takes the first that is free
    slots._take = lambda place, _: (slot, found[1]) if (found := take(place, 1)) else None
    return worker.main([str(folder), name, "--wait"])


class Slice:
    """One number of workers, from where its last slice ended."""

    def __init__(
        self, build: Path, folder: Path, cores: list[int], until: float, count: int
    ) -> None:
        self.project = Project(ROOT, build=build)
        self.folder, self.cores, self.until, self.count = folder, cores, until, count
        self.lab = self.project.lab(LAB)
        self.list = WorkList(folder / "work")
        self.emptied = 0.0  # when nothing was left to take

    @cached_property
    def file(self) -> str:
        return student_files(self.project.solutions_dir / self.lab.folder)[0].name

    def submissions(self) -> Iterator[tuple[str, Submission]]:
        """A thousand that differ, each with its kind."""
        right = (self.project.solutions_dir / self.lab.folder / self.file).read_text("utf-8")
        skeleton = generate(self.project, self.lab)[f"{self.lab.folder}/{self.file}"].decode()
        known = load(self.project, self.lab)
        given = (right, skeleton, right.replace("{", "{ oops", 1))
        for at in range(self.count):
            kind = KINDS[at % 10] if at % 10 < len(KINDS) else "known mistake"
            mutant = known[at % len(known)]
            text = given[at % 10] if at % 10 < len(KINDS) else mutate(mutant, right, mutant.name)
            contents = f"{text}/* student {at} */\n".encode()
            yield kind, Submission(f"s{at:05}", "", self.lab, self.file, contents)

    def run(self) -> None:
        tier = sandbox.tier()
        self.folder.mkdir(parents=True, exist_ok=True)
        began, before = time.monotonic(), used()
        with scratch() as here, opened(self.folder) as journal:
            trusted = course.prepare(self.project, [self.lab], here)
            lab = course.graded_lab(trusted, self.lab, self.file, None)
            more = {"project": self.project, "list": self.list, "workers": Others()}
            batch = PoolBatch(journal, None, SEED, tier.value, len(self.cores), 1, **more)
            tasks = [(kind, batch.task(lab, one)) for kind, one in self.submissions()]
            with self.workers(), self.until_over(), batch.collecting():
                prove(batch, trusted, [lab])
                self.put = time.monotonic()
                open_tasks = batch.to_do([task for _, task in tasks], lambda _: False)
                if open_tasks:
                    batch.run(open_tasks, self.done)
            after = used()
            figures = self.figures([now - then for now, then in zip(after, before, strict=True)])
            figures["command_seconds"] += time.monotonic() - began
            figures |= self.verdicts(tasks, batch) | {"tier": tier.value}
        path = self.folder / "figures.json"
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")

    @contextmanager
    def workers(self) -> Iterator[None]:
        """The workers end when nothing collects their results; those that do not are killed."""
        them = []
        for at, core in enumerate(self.cores):
            # Numbers that no other setting's workers have, as these run side by side.
            number = 16 * len(self.cores) + at
            words = [self.folder / "work", f"w{number}-{os.getpid()}", number]
            command = ["taskset", "-c", core, sys.executable, "-B", __file__, "--worker", *words]
            them.append(subprocess.Popen([str(word) for word in command], cwd=ROOT))
        try:
            yield
        finally:
            for one in them:
                try:
                    one.wait(30)
                except subprocess.TimeoutExpired:
                    one.terminate()
                    one.wait()

    @contextmanager
    def until_over(self) -> Iterator[None]:
        with suppress(OverError):
            yield
        self.ended = time.monotonic()

    def done(self, task: Task, run: Run) -> None:
        del task
        if run.broken:
            print(run.broken, file=sys.stderr)
        if not self.emptied and not self.list.units("open"):
            self.emptied = time.monotonic()
        if time.time() < self.until:
            return
        for unit in self.list.units("open"):
            self.list.withdraw(unit)
        while self.list.units("held"):  # what is begun is finished
            time.sleep(0.05)
        raise OverError

    def figures(self, spent: list[float]) -> dict[str, Any]:
        """Of all slices until now."""
        path = self.folder / "figures.json"
        names = ("seconds", "command_seconds", "worker_core_seconds", "command_core_seconds")
        before = dict.fromkeys(names, 0.0) | {"mib": 0, "slices": 0}
        if path.is_file():
            before = json.loads(path.read_text(encoding="utf-8"))
        mine = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "slices": before["slices"] + 1,
            "seconds": before["seconds"] + self.ended - self.put,
            "tail": self.ended - (self.emptied or self.ended),
            "command_seconds": before["command_seconds"],
            "worker_core_seconds": before["worker_core_seconds"] + spent[1],
            "command_core_seconds": before["command_core_seconds"] + spent[0],
            "mib": max(before["mib"], mine.ru_maxrss >> 10),
        }

    def verdicts(self, tasks: list[tuple[str, Task]], batch: PoolBatch) -> dict[str, Any]:
        """How many are graded, how long one of each kind takes, and a hash of all that was said."""
        seconds: dict[str, list[float]] = {}
        said = hashlib.sha256()
        for kind, task in tasks:
            if task.cache in batch.journal.runs:
                run = batch.journal.runs[task.cache]
                seconds.setdefault(kind, []).append(run.seconds)
                cases = [(case.case, case.status.value, case.message) for case in run.cases]
                said.update(repr((task.submission.student, run.compiled, cases)).encode())
        means = {kind: round(sum(some) / len(some), 3) for kind, some in seconds.items()}
        graded = sum(map(len, seconds.values()))
        return {"graded": graded, "seconds_of_one": means, "verdicts": said.hexdigest()}


def used() -> tuple[float, float]:
    """Core-seconds of this process and of those that it has started."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    both = [resource.getrusage(one) for one in who]
    return both[0].ru_utime + both[0].ru_stime, both[1].ru_utime + both[1].ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
