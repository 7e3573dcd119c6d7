# SPDX-License-Identifier: MIT
"""A worker: takes submissions from the work list of an output folder until none waits.

    python3 -m grader.cluster.worker OUT/work NAME [--wait]

It grades with the programs of the shared build. NAME is its own; no other worker ever has it. With
--wait it also waits for the list, and for more while somebody collects: where a cluster starts the
workers, and not `./lab grade`. Whatever goes wrong is written, too, as a run that broke: it is
tried again elsewhere and never taken for a mark, and this worker ends.
"""

import base64
import json
import os
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.base.exits import LabError
from grader.building import install
from grader.cluster.worklist import Unit, WorkList
from grader.course.project import Project, here
from grader.grade import course, work
from grader.grade.course import Course, GradedLab
from grader.grade.model import Run, Submission
from grader.grade.scratch import scratch
from grader.sandbox import slots

WAIT_SECONDS = 1.0
PATIENCE_SECONDS = 3600.0  # without any work


@dataclass
class Desk:
    """What stays from one submission to the next."""

    scratch: Path
    tiers: set[sandbox.Tier] = field(default_factory=set)  # which this machine gives
    courses: dict[str, Course] = field(default_factory=dict)
    labs: dict[tuple[str, str | None], GradedLab] = field(default_factory=dict)

    def grade(self, entry: dict[str, Any]) -> Run:
        project = here(build=Path(entry["build"]))
        tier = self._tier(project, entry)
        trusted = self._course(project, entry["lab"])
        graded = self._lab(trusted, entry)
        contents = base64.b64decode(entry["contents"])
        submission = Submission("", "", graded.lab, entry["file"], contents)
        slot = partial(slots.claim, tier.slots(slots.MOST))
        worker = work.Worker(trusted, tier, entry["seed"], slot, trusted.nodes, entry["orders"])
        run = worker.grade(graded, submission, alone=bool(entry["before"]))
        return replace(run, again=entry["before"])

    def _tier(self, project: Project, entry: dict[str, Any]) -> sandbox.Tier:
        os.environ["PEERLAB_BUILD"] = str(project.build_dir)
        tier = sandbox.Tier(entry["tier"])
        if tier is not sandbox.Tier.BARE and tier not in self.tiers:
            if sandbox.tier() is not tier:
                raise LabError(f"the sandbox is {sandbox.tier()}, not {tier}")
            self.tiers.add(tier)
        return tier

    def _course(self, project: Project, number: str) -> Course:
        if number not in self.courses:
            top = self.scratch / number
            top.mkdir()
            self.courses[number] = course.prepare(project, [project.lab(number)], top)
        return self.courses[number]

    def _lab(self, trusted: Course, entry: dict[str, Any]) -> GradedLab:
        """Compared with the build once, and whenever the collector has another one."""
        key = (entry["fingerprint"], entry["rubric"])
        if key not in self.labs:
            own = Path(entry["rubric"]) if entry["rubric"] else None
            lab = trusted.project.lab(entry["lab"])
            found = course.graded_lab(trusted, lab, entry["file"], own)
            if found.fingerprint != entry["fingerprint"]:
                raise LabError("this is another build of the course")
            self.labs[key] = found
        return self.labs[key]


@dataclass
class Shift:
    """One worker, from its start to its end."""

    list: WorkList
    name: str
    waits: bool
    was_collected: bool = False  # there was a collector since we began

    def work(self, desk: Desk) -> int:
        idle_since = time.monotonic()
        while True:
            unit = self.list.take(self.name)
            if unit is not None:
                if not self._grade(unit, desk):
                    return 1
                idle_since = time.monotonic()
            elif self._may_come() and time.monotonic() - idle_since < PATIENCE_SECONDS:
                time.sleep(WAIT_SECONDS)
            else:
                break
        return 0

    def _may_come(self) -> bool:
        collects = self.list.collector.exists()
        self.was_collected |= collects
        return self.waits and (collects or not self.was_collected)

    def _grade(self, unit: Unit, desk: Desk) -> bool:
        """False where this machine cannot grade."""
        try:
            with self.list.holding(unit):
                run, able = _ran(desk, self.list.text(unit))
                self.list.finish(unit, json.dumps(run.to_json()) + "\n")
        except BaseException:
            self.list.give_back(unit)
            raise
        return able


def _ran(desk: Desk, text: str) -> tuple[Run, bool]:
    try:
        return desk.grade(json.loads(text)), True
    except Exception:  # the collector must hear of everything
        return Run(broken=f"on {socket.gethostname()}: {traceback.format_exc(limit=3)}"), False


def _stop(*_: object) -> None:
    """Slurm ends a job with SIGTERM for all of its processes, those of a test among them: how that
    test ends means nothing, and its submission is another's."""
    sys.exit(128 + signal.SIGTERM)


def main(words: list[str]) -> int:
    install.own_packages(here())
    sandbox.sweep()
    shift = Shift(WorkList(Path(words[0])), words[1], "--wait" in words)
    signal.signal(signal.SIGTERM, _stop)
    with scratch() as top:
        return shift.work(Desk(top))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
