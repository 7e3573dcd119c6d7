# SPDX-License-Identifier: MIT
"""In place of the grading of one submission, for tests of many: Python imports this file where its
folder stands in PYTHONPATH. What a submission gets depends on its text alone; a solution passes.

STAND_IN_LOG gets a line for each one that was graded: who did it, and the text's hash.
STAND_IN_SECONDS is how long one takes, STAND_IN_LEASE how long a worker may be silent. With
STAND_IN_SYNC=0 nothing waits for the disk: a process that is killed loses nothing by that, only a
machine that loses power would.
"""

import hashlib
import os
import socket
import time
from pathlib import Path

from grader.cluster import pool, worklist
from grader.grade import ingest, work
from grader.grade.course import GradedLab
from grader.grade.database import Database
from grader.grade.model import CaseRun, Run, Status, Submission

ENDINGS = (Status.PASS, Status.PASS, Status.FAIL, Status.NOT_WRITTEN, Status.CRASH)


def grade(self: work.Worker, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run:
    contents = submission.contents or b""
    digest = hashlib.sha256(contents).hexdigest()
    time.sleep(float(os.environ.get("STAND_IN_SECONDS", "0")))
    if b"/* student " not in contents:
        return Run(cases=tuple(CaseRun(rule.case, Status.PASS) for rule in lab.rubric.rules))
    cases = tuple(_case(lab, digest, at) for at in range(len(lab.rubric.rules)))
    line = f"{socket.gethostname()}:{os.getpid()} {digest}\n".encode()
    log = os.open(os.environ["STAND_IN_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, line)
    os.close(log)
    return Run(cases=cases, compiler_output="x.c:1: warning: something\n" * 10, seconds=1.0)


def _case(lab: GradedLab, digest: str, at: int) -> CaseRun:
    rule, number = lab.rubric.rules[at], int(digest[2 * at : 2 * at + 2], 16)
    status = ENDINGS[number % len(ENDINGS)]
    if status is Status.PASS:
        return CaseRun(rule.case, status, title="what must hold")
    words = {
        name: f"{name} of {number}: " + "lorem ipsum " * 12 for name in ("why", "next", "said")
    }
    return CaseRun(
        rule.case, status, "what must hold", f"expected {number}", where="x.c:7", **words
    )


def open_unsynchronised(self: Database, path: Path) -> None:
    open_database(self, path)
    self._connection.execute("PRAGMA synchronous = OFF")


if Path(os.environ.get("STAND_IN_LOG", "/nowhere")).parent.is_dir():
    work.Worker.grade = grade
    ingest.contained = lambda read, *_: read()  # a process for each would take longer than the rest
    pool.LEASE_SECONDS = float(os.environ.get("STAND_IN_LEASE", pool.LEASE_SECONDS))
    worklist.BEAT_SECONDS = pool.LEASE_SECONDS / 10
    if os.environ.get("STAND_IN_SYNC") == "0":
        open_database = Database.__init__
        Database.__init__ = open_unsynchronised
        os.fsync = lambda file: None
