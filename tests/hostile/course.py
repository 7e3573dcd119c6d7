# SPDX-License-Identifier: MIT
"""The course that the corpus is graded with: the build that is there, and few cases of each lab."""

import ctypes
import os
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from grader.course.mutants import student_files
from grader.course.project import Project, here
from grader.course.sync import handed_out
from grader.grade import images
from grader.grade.course import Course, GradedLab, graded_lab
from grader.grade.rubric import Rubric, Rule
from grader.leaderboard import timed
from grader.sandbox import Tier
from tests.hostile.apart import own_slots
from tests.hostile.corpus import images as hostile_images

# By the beginning of their names, one each.
ASKED = {
    "01": ("count", "hidden."),
    "01_count": ("count",),  # for what takes its time in every case
    "01_device": ("device",),
    "01_alloc": ("alloc_each",),
    "02_enable": ("enable",),
    "02_probe": ("probe",),
    "03_nowait": ("stage_no_wait",),
    "03_peer": ("peer_copy",),
    "03_speed": ("stage_speed",),
    "03_stage": ("stage_copy",),
    "03_timed": ("timed.hgx-h200-4",),
    "04": ("split",),
    "04_shared": ("shared",),
    "04_overlaps": ("start_overlaps",),
    "04_timed": ("timed.hgx-h200-4",),
    "05_events": ("events",),
    "05_export": ("export",),
    "05_import": ("import",),
    "05_put": ("put",),
    "06_round": ("round",),
    "06_free": ("free",),
    "06_grow": ("grow",),
    "07_fast": ("pipelined_fast",),
    "07_reduce": ("reduce",),
    "07_timed": ("timed.hgx-h200-4",),
    "07_waits": ("all_waits",),
    "08_bus": ("bus",),
    "08_memory": ("memory",),
    "08_reduce": ("reduce",),
    "08_timed": ("timed.hgx-h200-4",),
}
IPC_RMID = 0
_LIBC = ctypes.CDLL(None)
_LIBC.shmat.restype = ctypes.c_void_p
SECRET = "canary-7b1c9e"  # stands in the files and variables that nobody may read


@dataclass(frozen=True)
class Arena:
    """What is at stake: the course, its secrets, and where they lie."""

    course: Course
    labs: dict[str, GradedLab]
    scratch: Path
    places: dict[str, str]
    bases: dict[str, str]
    slots: frozenset[int]  # whose uids nobody else's submissions have meanwhile

    @property
    def secrets(self) -> list[str]:
        """Text that must not show up anywhere that a student reads."""
        return [SECRET, "SPDX-License-Identifier", "PT_LOAD_OF_SOLUTION", "root:x:0"]


@contextmanager
def arena(scratch: Path, tier: Tier) -> Iterator[Arena]:
    folder = Path(os.environ["PEERLAB_BUILD"])
    project = Project(here().root, "vgpu", folder)
    course = Course(project, scratch / "pristine", {})
    for number in {name[:2] for name in ASKED}:
        for path, contents in handed_out(project, project.lab(number)).items():
            target = course.pristine / "labs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents)
    canary = scratch / "canary"
    canary.write_text(f"{SECRET}\n", encoding="utf-8")
    os.environ["PEERLAB_CANARY"] = SECRET
    shared = _shared_memory()
    try:
        wholes = {number: _whole(course, number) for number in {name[:2] for name in ASKED}}
        labs = {name: _few(course, name, wholes[name[:2]]) for name in ASKED}
        places = _places(project, canary)
        with (
            mock.patch.object(images, "listing", _with_hostile(images.listing, places)),
            own_slots(scratch / "slots", tier) as mine,
        ):
            yield Arena(course, labs, scratch, places, _bases(project, course), mine)
    finally:
        _LIBC.shmctl(shared, IPC_RMID, None)
        del os.environ["PEERLAB_CANARY"]


def _with_hostile(
    listing: Callable[[Path, Iterable[Path]], bytes], places: dict[str, str]
) -> Callable[..., bytes]:
    """The node takes no image that the grader's build has not made. What else holds hostile ones is
    tested by taking those of the corpus for such."""
    brought = b"".join(struct.pack("<Q", len(one)) + one for one in hostile_images(places))

    def with_hostile(folder: Path, course: Iterable[Path]) -> bytes:
        return listing(folder, course) + brought

    return with_hostile


def _shared_memory() -> int:
    """System V's, with the secret: everybody's to read who may ask for it."""
    segment = int(_LIBC.shmget(0, 4096, 0o1666))
    place = _LIBC.shmat(segment, None, 0)
    ctypes.memmove(place, SECRET.encode(), len(SECRET))
    _LIBC.shmdt(ctypes.c_void_p(place))
    return segment


def _whole(course: Course, number: str) -> GradedLab:
    lab = course.project.lab(number)
    (source,) = student_files(course.project.solutions_dir / lab.folder)
    return graded_lab(course, lab, source.name, None)


def _few(course: Course, name: str, whole: GradedLab) -> GradedLab:
    if name.endswith("_timed"):
        (whole,) = [one.lab for one in timed.of(course, [whole])]
    rules = [_first(whole.rubric, start) for start in ASKED[name]]
    todos = tuple(sorted({rule.todo for rule in rules}))
    return replace(whole, rubric=Rubric(whole.lab, tuple(rules)), todos=todos)


def _first(rubric: Rubric, start: str) -> Rule:
    rule = next(rule for rule in rubric.rules if rule.case.startswith(start))
    return replace(rule, depends=())


def _places(project: Project, canary: Path) -> dict[str, str]:
    solution = project.solutions_dir / "01-enumerate"
    behind = _behind_builtins(project)
    return {
        "ROOT": str(project.root),
        "BUILD": str(project.build_dir),
        "HIDDEN": str(solution / "tests" / "hidden.c"),
        "SOLUTION": str(solution / "enumerate.c"),
        "REFERENCE": str(project.build_dir / "labs" / "01-enumerate" / "reference.o"),
        "CANARY": str(canary),
        "WORK": str(canary.parent),
        "COUNTERS": str(behind["access_count"]),
        "REPORT": str(behind["__tsan_read4"]),
        "ARGUMENTS": hex(0x370000000000),  # of kernels, in vgpu-exec: OWN_VA of exec.h
        "READER": str(behind["vgpu_elf_fixed"]),
    }


def _behind_builtins(project: Project) -> dict[str, int]:
    """How far behind a builtin that images know vgpu-exec has each of its symbols."""
    words = ["nm", "-P", str(project.build_dir / "bin" / "vgpu-exec")]
    text = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    symbols = [line.split() for line in text.splitlines()]
    at = {words[0]: int(words[2], 16) for words in symbols if len(words) > 2}
    return {symbol: place - at["threadIdx"] for symbol, place in at.items()}


def _bases(project: Project, course: Course) -> dict[str, str]:
    def text(path: Path) -> str:
        return path.read_text(encoding="utf-8")

    bases = {}
    for name in ASKED:
        lab = project.lab(name[:2])
        (source,) = student_files(project.solutions_dir / lab.folder)
        bases[f"right{name}"] = text(source)
        bases[f"skeleton{name}"] = text(course.pristine / "labs" / lab.folder / source.name)
    return bases
