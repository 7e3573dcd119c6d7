# SPDX-License-Identifier: MIT
"""`./lab gradescope OUT.zip`: an autograder to upload. It contains the whole course with solutions
and hidden tests, a set-up that builds it, and the program that grades one submission."""

import io
import secrets
import zipfile
from pathlib import Path

from grader.course.project import Lab, Project
from grader.course.tree import files_of, read, write_zip
from grader.grade.course import VERSION_FILE, version
from grader.grade.work import SEED_BITS

_SCRIPTS = Path(__file__).parent / "autograder"
_DATE = (2026, 1, 1, 0, 0, 0)
_LEFT_OUT = ("tests/recorded/", "docs/", "bench/")


def write(project: Project, target: Path, labs: list[Lab], seed: int | None) -> int:
    """Returns how many files of the course it contains."""
    names = [name for name in files_of(project) if not name.startswith(_LEFT_OUT)]
    course = io.BytesIO()
    with zipfile.ZipFile(course, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name, _DATE), read(project, name)[0])
        archive.writestr(zipfile.ZipInfo(VERSION_FILE, _DATE), version(project) + "\n")
    numbers = ",".join(lab.number for lab in labs)
    drawn = seed if seed is not None else secrets.randbits(SEED_BITS)
    contents = {
        "setup.sh": ((_SCRIPTS / "setup.sh").read_bytes(), 0o755),
        "run_autograder": ((_SCRIPTS / "run_autograder").read_bytes(), 0o755),
        "course.zip": (course.getvalue(), 0o644),
        "labs": (f"{numbers}\n".encode(), 0o644),
        "seed": (f"{drawn}\n".encode(), 0o644),
    }
    write_zip(target, contents)
    return len(names)
