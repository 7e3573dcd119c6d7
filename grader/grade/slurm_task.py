# SPDX-License-Identifier: MIT
"""One element of a job array, on the node that Slurm chose:

    python3 -m grader.grade.slurm_task OUT/slurm ARRAY INDEX

It grades one submission with the programs of the shared build and writes its run. Whatever goes
wrong on the way is written, too, as a run that broke: the driver tries again, and never takes it
for a mark.
"""

import base64
import json
import os
import socket
import sys
import traceback
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.building import install
from grader.course.project import Project, here
from grader.grade import course, work
from grader.grade.journal import write_whole
from grader.grade.model import Run, Submission
from grader.grade.scratch import scratch
from grader.sandbox import slots


def main(words: list[str]) -> int:
    folder, array, index = Path(words[0]), words[1], int(words[2])
    cache = (folder / "arrays" / f"{array}.txt").read_text(encoding="utf-8").split()[index]
    try:
        entry = json.loads((folder / "todo" / f"{cache}.json").read_text(encoding="utf-8"))
        run = _grade(entry)
    except Exception:  # the driver must hear of everything
        run = Run(broken=f"on {socket.gethostname()}: {traceback.format_exc(limit=3)}")
    write_whole(folder / "done" / f"{cache}.json", json.dumps(run.to_json()) + "\n")
    return 0


def _grade(entry: dict[str, Any]) -> Run:
    project: Project = here(build=Path(entry["build"]))
    install.own_packages(project)
    os.environ["PEERLAB_BUILD"] = str(project.build_dir)
    tier = sandbox.Tier(entry["tier"])
    if tier is not sandbox.Tier.BARE and sandbox.tier() is not tier:
        return Run(broken=f"{socket.gethostname()} gives the sandbox {sandbox.tier()}, not {tier}")
    lab = project.lab(entry["lab"])
    with slots.claim(tier.slots(slots.MOST)) as slot, scratch() as top:
        sandbox.sweep()
        trusted = course.prepare(project, [lab], top)
        own = Path(entry["rubric"]) if entry["rubric"] else None
        graded = course.graded_lab(trusted, lab, entry["file"], own)
        if graded.fingerprint != entry["fingerprint"]:
            return Run(broken=f"{socket.gethostname()} sees another build of the course")
        contents = base64.b64decode(entry["contents"])
        submission = Submission("", "", lab, entry["file"], contents)
        worker = work.Worker(
            trusted, tier, entry["seed"], lambda: nullcontext(slot), top, entry["orders"]
        )
        run = worker.grade(graded, submission, alone=bool(entry["before"]))
        return replace(run, again=entry["before"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
