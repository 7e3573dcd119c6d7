# SPDX-License-Identifier: MIT
"""`./lab handout OUT.zip`: the course as students get it, without solutions, hidden tests, mutants
and the project's own tests.

In place of solutions/ it has skeletons/: the generated labs once more, which ./lab reset puts back
and the tests are built from. Without the reference every function of a runner is the student's
own, so a test of TODO(3) that calls TODO(1) waits for TODO(1).
"""

from pathlib import Path, PurePosixPath

from grader.exits import ExitStatus, LabError
from grader.project import Lab, Project
from grader.sync import digest, generate, manifest_text
from grader.tree import files_of, read, write_zip

FOLDER = "peerlab"
_LEFT_OUT = ("solutions", "zero-plan", "tests", "bench", "labs", ".ci", ".github")
_GRADING = ("grader/grade/", "grader/export/", "grader/tests/", "grader/selfcheck/")


def handout(project: Project, target: Path, labs: list[Lab]) -> int:
    """Writes the archive; says how many files it has."""
    contents = {name: read(project, name) for name in files_of(project) if not _is_left_out(name)}
    hashes = {}
    for lab in labs:
        for path, data in generate(project, lab).items():
            mode = (project.solutions_dir / path).stat().st_mode & 0o755 | 0o644
            contents[f"labs/{path}"] = contents[f"skeletons/{path}"] = (data, mode)
            hashes[path] = digest(data)
    contents["labs/.generated.json"] = (manifest_text(hashes).encode(), 0o644)
    declared = (project.solutions_dir / "CMakeLists.txt").read_bytes()
    contents["skeletons/CMakeLists.txt"] = (declared, 0o644)
    _check(contents)
    write_zip(target, {f"{FOLDER}/{name}": entry for name, entry in contents.items()})
    return len(contents)


def _is_left_out(name: str) -> bool:
    return PurePosixPath(name).parts[0] in _LEFT_OUT or name.startswith(_GRADING)


def _check(contents: dict[str, tuple[bytes, int]]) -> None:
    """Nothing that students must not have slipped in by a name nobody thought of."""
    for name, (data, _) in contents.items():
        inside = name.startswith(("labs/", "skeletons/"))
        if PurePosixPath(name).name.startswith("hidden") or (inside and b"BEGIN SOLUTION" in data):
            raise LabError(f"{name} must not be handed out; nothing was written", ExitStatus.FAILED)
