# SPDX-License-Identifier: MIT
"""A lab's solution as an object for a handout: only what a linker needs, without paths of this
machine."""

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.building import build
from grader.building.needs import build_env
from grader.course.mutants import student_files
from grader.course.project import Lab, Project
from grader.grade.course import conf_of

_FOR_PEOPLE = (".comment", ".vgpu.headers")  # the compiler; the folder of our headers


def packed(project: Project, lab: Lab) -> bytes:
    """The object's contents. The lab's build must be configured."""
    (source,) = student_files(project.solutions_dir / lab.folder)
    with TemporaryDirectory() as folder:
        desk = _Desk(project, Path(folder))
        named = Path("reference") / lab.folder / source.name  # as the node names its kernels
        (desk.folder / named).parent.mkdir(parents=True)
        (desk.folder / named).write_bytes(source.read_bytes())
        labcc = project.root / "harness" / "cmake" / "labcc.sh"
        desk.run("sh", labcc, conf_of(project, lab), "strict", named, "made.o")
        objcopy = build.cache(project)["CMAKE_OBJCOPY"]
        sections = (f"--remove-section={name}" for name in _FOR_PEOPLE)
        desk.run(objcopy, "--strip-unneeded", *sections, "made.o", "bare.o")
        return (desk.folder / "bare.o").read_bytes()


@dataclass(frozen=True)
class _Desk:
    project: Project
    folder: Path

    def run(self, *words: str | Path) -> None:
        """Runs in the folder, without line information: no path of this checkout becomes part of
        the object."""
        bare = f"-Xcompiler -g0 {quote(f'-ffile-prefix-map={self.project.root}=.')}"
        flags = " ".join([*filter(None, [os.environ.get("NVCC_APPEND_FLAGS")]), bare])
        env = {**build_env(self.project), "NVCC_APPEND_FLAGS": flags}
        done = capture(words, cwd=self.folder, env=env)
        if not done.ok:
            why = f"{done.output}\nThe reference cannot be packed."
            raise LabError(why, ExitStatus.BUILD_FAILED)
