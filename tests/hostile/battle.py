# SPDX-License-Identifier: MIT
"""Grades attacks beside honest submissions, and says what did not hold."""

import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.work import Worker, worker
from grader.sandbox import Tier, cgroups
from grader.sandbox.policy import FIRST_UID
from tests.hostile.apart import JOBS
from tests.hostile.corpus import Attack, compose, load
from tests.hostile.course import Arena

HONEST_EVERY = 8  # attacks
ATTACK_SECONDS = 150.0  # from the file to its marks, on a machine that others use as well
SETTLE_SECONDS = 60.0  # for what was killed to be gone: a namespace can take long to be made


@dataclass(frozen=True)
class Result:
    name: str
    told: str  # how it ended, for a person
    seconds: float
    problems: tuple[str, ...]


def battle(arena: Arena, attacks: list[Attack], tier: Tier) -> Iterator[Result]:
    before = _fingerprint(arena)
    grading = worker(arena.course, tier, seed=7, jobs=JOBS, scratch=arena.scratch, orders=1)
    with ThreadPoolExecutor(JOBS) as pool:
        yield from pool.map(lambda one: _one(arena, grading, one), _with_honest(attacks))
    left = _left(arena)
    changed = () if _fingerprint(arena) == before else ("files of the course have changed",)
    yield Result("afterwards", "nothing left, nothing changed", 0.0, (*left, *changed))


CONTROLS = {
    "build": ("includes_canary", "incbin_hidden"),
    "leak": ("reads_hidden_test", "walks_the_tree"),
    "node": ("image_looks_around",),
}


def control(arena: Arena) -> Iterator[Result]:
    """Without walls around them these attacks must succeed, and we must see it."""
    grading = worker(arena.course, Tier.BARE, seed=7, jobs=1, scratch=arena.scratch, orders=1)
    for group, names in CONTROLS.items():
        for attack in (one for one in load(group) if one.name in names):
            result = _one(arena, grading, attack)
            seen = [*result.problems, *_left(arena)]
            problems = () if seen else ("it succeeded, and nobody noticed; or it did not",)
            yield Result(f"{group}_{attack.name}", result.told, result.seconds, problems)
    for path in _traces(arena):
        path.unlink()


def _with_honest(attacks: list[Attack]) -> list[Attack]:
    """A right solution among them now and then: it must get what it deserves."""
    mixed: list[Attack] = []
    for number, attack in enumerate(attacks):
        if number % HONEST_EVERY == 0:
            name = f"honest_{number // HONEST_EVERY}"
            mixed.append(Attack(attack.group, name, "right01", frozenset({Status.PASS}), ""))
        mixed.append(attack)
    return mixed


def _one(arena: Arena, grading: Worker, attack: Attack) -> Result:
    began = time.monotonic()
    lab = arena.labs[attack.lab]
    text = compose(attack, arena.places, arena.bases)
    student = Submission(attack.name, attack.name, lab.lab, lab.file, text.encode())
    run = grading.grade(lab, student)
    if attack.name.startswith("caches_"):  # what the first run has left is there in the second
        run = grading.grade(lab, student)
    seconds = time.monotonic() - began
    statuses = _statuses(run)
    told = ", ".join(sorted(status.value for status in statuses))
    problems = [*_judge(arena, attack, run, statuses), *_too_fast(arena, grading, attack, run)]
    if seconds > ATTACK_SECONDS:
        problems.append(f"it took {seconds:.0f} s, more than {ATTACK_SECONDS:.0f} s")
    return Result(attack.name, told, seconds, tuple(problems))


def _too_fast(arena: Arena, grading: Worker, attack: Attack, run: Run) -> Iterator[str]:
    """A time that is better than the solution's has a place that it has not earned."""
    mine = [case.timed_ps for case in run.cases if case.status is Status.PASS]
    if not attack.lab.endswith("_timed") or not mine:
        return
    lab = arena.labs[attack.lab]
    honest = Submission("honest", "", lab.lab, lab.file, arena.bases[attack.base].encode())
    theirs = [case.timed_ps for case in grading.grade(lab, honest).cases]
    if not all(theirs) or mine < theirs:
        yield f"it took {mine} ps, and the solution takes {theirs}"


def _statuses(run: Run) -> set[Status]:
    if run.broken:
        return {Status.INFRASTRUCTURE}
    return {case.status for case in run.cases} if run.compiled else {Status.COMPILE_ERROR}


def _judge(arena: Arena, attack: Attack, run: Run, statuses: set[Status]) -> Iterator[str]:
    if not statuses <= attack.expected:
        wanted = " or ".join(sorted(status.value for status in attack.expected))
        yield f"expected {wanted}\n{_story(run)}"
    seen = _seen(run)
    for secret in arena.secrets:
        if secret in seen:
            yield f"a secret ({secret}) shows up\n{_story(run)}"
    if "BREACH" in seen.replace("warning: BREACH", "BREACH"):
        yield f"it got out\n{_story(run)}"
    untried = attack.says_tried and "TRIED" not in seen
    if untried and statuses == {Status.FAIL}:
        yield f"it was not carried out\n{_story(run)}"


def _seen(run: Run) -> str:
    """All that a student may read, and what graders keep for themselves as well."""
    return "\n".join([run.compiler_output, run.broken, *(_text(case) for case in run.cases)])


def _text(case: CaseRun) -> str:
    return "\n".join((case.message, case.why, case.said, case.explained, case.where, case.next))


def _story(run: Run) -> str:
    lines = [line for line in _seen(run).splitlines() if line.strip()]
    return "\n".join(f"      {line[:160]}" for line in lines[:12])


# ---- what must be as it was ----


def _fingerprint(arena: Arena) -> str:
    project = arena.course.project
    whole = hashlib.sha256()
    built = (project.build_dir / "bin", project.build_dir / "runners")
    for top in (project.labs_dir, project.solutions_dir, project.root / "harness", *built):
        for path in sorted(top.rglob("*")):
            info = path.lstat()
            whole.update(f"{path} {info.st_mode} {info.st_size} {info.st_mtime_ns}".encode())
    return whole.hexdigest()


def _left(arena: Arena) -> list[str]:
    """Processes and files that should be gone."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (alive := _survivors(arena)) and time.monotonic() < deadline:
        time.sleep(0.1)
    groups = cgroups.left_by(os.getpid())
    return [f"still there: {what}" for what in (*alive, *_traces(arena), *groups)]


def _traces(arena: Arena) -> list[Path]:
    """Files that attacks make where they can."""
    places = ("/tmp", "/dev/shm", "/var/tmp", arena.course.project.root)
    kinds = ("peerlab-msg*", ".peerlab-msg", "peerlab-fill-*", "peerlab-image-*")
    return [path for top in places for kind in kinds for path in Path(top).glob(kind)]


def _survivors(arena: Arena) -> list[str]:
    """Whatever runs under the uid of one of our slots, or knows our folder."""
    found = []
    uids = {FIRST_UID + slot for slot in arena.slots}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            of_slot = entry.stat().st_uid in uids
            words = (entry / "cmdline").read_bytes()
            threads = len(list((entry / "task").iterdir()))
            ended = b") Z " in (entry / "stat").read_bytes() and threads <= 1
            known = str(arena.scratch).encode() in words
            if (of_slot or known) and not ended and not _is_ancestor(int(entry.name)):
                found.append(f"process {entry.name}: {words[:100]!r}")
    return found


def _is_ancestor(pid: int) -> bool:
    at = os.getpid()
    while at > 1:
        at = int((Path("/proc") / str(at) / "stat").read_text().rpartition(")")[2].split()[1])
        if at == pid:
            return True
    return False
