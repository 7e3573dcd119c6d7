# SPDX-License-Identifier: MIT
"""The trusted side of grading: what is built once, where it lies, and exactly what it is.

A lab's fingerprint is the hash of everything that its verdicts depend on; a submission that was
graded with the same one, the same seed and the same contents is not graded again.
"""

import hashlib
import platform
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.building import build
from grader.building.needs import build_env
from grader.course.project import Lab, Project
from grader.course.sync import handed_out
from grader.grade.rubric import Rubric, load
from grader.learning.scoreboard import listed_cases
from grader.learning.testing import compile_errors

HIDDEN = "hidden."
TIMED = "timed."  # no test: how long the lab's timed task takes (timed.py)
VERSION_FILE = "VERSION"


@dataclass(frozen=True)
class GradedLab:
    """One lab, ready to grade: `todos` are the runners that its cases want, `titles` what must hold
    in each case."""

    lab: Lab
    file: str
    rubric: Rubric
    todos: tuple[int, ...]
    fingerprint: str
    titles: dict[str, str] = field(default_factory=dict)
    skeleton: str = ""  # the file as students get it


@dataclass(frozen=True)
class Course:
    project: Project
    pristine: Path  # labs as learners get them: the only tree that submissions are compiled against
    versions: dict[str, str]

    @property
    def nodes(self) -> Path:
        """Where the nodes of all submissions listen, and agree on who takes which processor:
        they would all take the first one."""
        return self.pristine.parent

    def conf(self, lab: Lab) -> Path:
        return conf_of(self.project, lab)

    def folders(self, lab: Lab) -> list[str]:
        return folders_used(self.project, lab)

    def verifier(self, lab: Lab, case: str) -> Path:
        kind = "".join(f"-{word}" for word in split(case)[:1] if word)
        return self.project.build_dir / "bin" / f"{lab.name}-check{kind}"


def split(case: str) -> tuple[str, str]:
    """ "hidden.sizes" into "hidden" and "sizes"; of a public case the first is ""."""
    kind, dot, name = case.partition(".")
    return (kind, name) if dot and f"{kind}." in (HIDDEN, TIMED) else ("", case)


def conf_of(project: Project, lab: Lab) -> Path:
    return project.build_dir / "labs" / lab.folder / "lab.conf"


def folders_used(project: Project, lab: Lab) -> list[str]:
    """The lab's own, and those of labs whose headers it looks into (USES of peerlab_lab)."""
    text = conf_of(project, lab).read_text(encoding="utf-8")
    seen = re.findall(re.escape(f"{project.labs_dir}/") + r"([^/'\s]+)", text)
    return sorted({lab.folder, *seen})


def build_trusted(project: Project, labs: list[Lab]) -> None:
    """Builds all that grading these labs starts or links; nothing of a student's."""
    build.configure(project)
    targets = ["lab-jail", "vgpu-cc", *(f"solution{lab.number}" for lab in labs)]
    done = build.build(project, targets, quiet=True)
    if not done.ok:
        errors = compile_errors(done.output)
        raise LabError(f"{errors}\nThe course itself does not build.", ExitStatus.BUILD_FAILED)


def prepare(project: Project, labs: list[Lab], scratch: Path) -> Course:
    """Writes the pristine trees of `labs` below `scratch`."""
    pristine = scratch / "pristine"
    shutil.rmtree(pristine, ignore_errors=True)
    scratch.chmod(0o711)  # builds in the sandbox may be another user's
    course = Course(project, pristine, _versions(project))
    wanted = {folder for lab in labs for folder in course.folders(lab)}
    for lab in (lab for lab in project.labs() if lab.folder in wanted):
        for path, contents in handed_out(project, lab).items():
            target = pristine / "labs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents)
    return course


def graded_lab(course: Course, lab: Lab, file: str, own: Path | None) -> GradedLab:
    """Checks that what the rubric names is there: LabError, or every case can be asked."""
    rubric = load(course.project, lab, own)
    titles: dict[str, str] = {}
    for kind in ("", HIDDEN):
        wanted = any(rule.case.startswith(HIDDEN) == bool(kind) for rule in rubric.rules)
        program = course.verifier(lab, f"{kind}x")
        if wanted and not program.is_file():
            raise LabError(f"{program} is missing: it asks {lab.name}'s cases.", _BROKEN)
        if wanted:
            titles |= {f"{kind}{case.case}": case.title for case in listed_cases(program)}
    todos = tuple(sorted({rule.todo for rule in rubric.rules}))
    fingerprint = _fingerprint(course, lab, ("check", "check-hidden"))
    skeleton = (course.pristine / "labs" / lab.folder / file).read_text(encoding="utf-8")
    return GradedLab(lab, file, rubric, todos, fingerprint, titles, skeleton)


_BROKEN = ExitStatus.HARNESS_ERROR


def timed_fingerprint(course: Course, lab: Lab) -> str:
    """Of what times depend on: no test is among it, so a mended one changes no time."""
    return _fingerprint(course, lab, ("check-timed",))


def _fingerprint(course: Course, lab: Lab, verifiers: tuple[str, ...]) -> str:
    """Of the programs and objects that take part, and of the skeleton's headers."""
    folder, tree = course.project.build_dir, course.project.root
    parts = [
        *sorted((folder / "labs" / lab.folder).glob("*.o")),
        *(folder / "bin" / f"{lab.name}-{name}" for name in verifiers),
        *sorted((folder / "lib").glob("*.a")),
        *(folder / "bin" / name for name in ("vgpu-node", "vgpu-exec", "vgpu-cc")),
        course.conf(lab),
        folder / "labs" / lab.folder / "doors",
        tree / "harness" / "cmake" / "labcc.sh",
        tree / "harness" / "cmake" / "reach.awk",
        *sorted((tree / "vgpu" / "nodes").rglob("*.json")),
        *(
            header
            for used in course.folders(lab)
            for header in sorted((course.pristine / "labs" / used).rglob("*.h"))
        ),
    ]
    whole = hashlib.sha256()
    for path in (path for path in parts if path.is_file() and path.name != "student.o"):
        whole.update(f"{path.name}\0".encode())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def version(project: Project) -> str:
    """The commit, as git says it; where there is no git, as it was when this copy was packed."""
    described = capture(["git", "describe", "--always", "--dirty"], cwd=project.root)
    if described.ok:
        return described.output.strip()
    file = project.root / VERSION_FILE
    return file.read_text(encoding="utf-8").strip() if file.is_file() else "unknown"


def _versions(project: Project) -> dict[str, str]:
    env = build_env(project)
    entries = build.cache(project)
    compiler = capture([entries.get("CMAKE_C_COMPILER", "cc"), "--version"], env=env).output
    return {
        "course": version(project),
        "compiler": compiler.splitlines()[0] if compiler else "unknown",
        "build_type": entries.get("CMAKE_BUILD_TYPE", ""),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
