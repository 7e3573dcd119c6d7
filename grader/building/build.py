# SPDX-License-Identifier: MIT
"""Configures and builds through CMake. Repeating either without changes is quick."""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.proc import Done, capture, follow
from grader.building.machine import cores
from grader.building.needs import build_env, tool_path
from grader.building.progress import STEP, show_build
from grader.course.project import Project


def configure(project: Project, *, again: bool = False) -> bool:
    """Configures unless that was done (or `again`); returns whether it was necessary. A tree that
    was copied or moved here from elsewhere is configured afresh: CMake refuses it."""
    fresh = is_cold(project)
    if not fresh and not again:
        return False
    words = ["cmake", "--preset", project.preset]
    if fresh:
        words += ["--fresh", *_generator(project)]
    done = capture(words, cwd=project.root, env=build_env(project))
    if not done.ok:
        raise LabError(f"{done.output}\n{say('build.no-cmake')}", ExitStatus.BUILD_FAILED)
    return True


def build(
    project: Project,
    targets: Sequence[str] = (),
    *,
    quiet: bool = False,
    seen: Callable[[int, int], None] | None = None,
) -> Done:
    """Builds `targets`, or everything; continues after a file that does not compile, so that one
    lab's mistake hides no other. Its progress is shown unless `quiet`; `seen` is called instead
    with the number of steps done and the total. Returns the output."""
    require_configured(project)
    words = _build_words(project, targets)
    if seen:
        return follow(words, partial(_step, seen), cwd=project.root, env=build_env(project))
    if quiet:
        return capture(words, cwd=project.root, env=build_env(project))
    return show_build(words, cwd=project.root, env=build_env(project))


def _build_words(project: Project, targets: Sequence[str]) -> list[str | Path]:
    """`cmake --build`, or ninja itself, which begins 10 ms earlier."""
    jobs = f"-j{cores()}"
    if uses_ninja(project):
        program = cache(project).get("CMAKE_MAKE_PROGRAM", "ninja")
        return [program, "-C", project.build_dir, jobs, "-k", "0", *targets]
    words: list[str | Path] = ["cmake", "--build", project.build_dir, jobs]
    for target in targets:
        words += ["--target", target]
    return [*words, "--", "-k"]


def _step(seen: Callable[[int, int], None], line: str) -> None:
    step = STEP.match(line)
    if step:
        seen(int(step[1]), int(step[2] or 100))


def require_configured(project: Project) -> None:
    if not project.configured():
        folder = str(shown_folder(project))
        raise LabError(say("build.not-configured", folder=folder), ExitStatus.NOT_CONFIGURED)


def cache(project: Project) -> dict[str, str]:
    """The entries of CMakeCache.txt, without their types."""
    entries: dict[str, str] = {}
    path = project.build_dir / "CMakeCache.txt"
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        key, sign, value = line.partition("=")
        if sign and not line.startswith(("#", "//")):
            entries[key.partition(":")[0]] = value
    return entries


def uses_ninja(project: Project) -> bool:
    return cache(project).get("CMAKE_GENERATOR", "").startswith("Ninja")


def is_cold(project: Project) -> bool:
    """Whether there is no build tree of this checkout yet."""
    return not project.configured() or _moved(project)


def _moved(project: Project) -> bool:
    home = cache(project).get("CMAKE_HOME_DIRECTORY")
    return home is not None and Path(home) != project.root


def _generator(project: Project) -> list[str]:
    """Ninja where it is installed; CMake's own choice (make) where not."""
    return ["-G", "Ninja"] if shutil.which("ninja", path=tool_path(project)) else []


def shown_folder(project: Project) -> Path:
    """The build folder, relative to the checkout or as --build names it."""
    inside = project.build_dir.is_relative_to(project.root)
    return project.build_dir.relative_to(project.root) if inside else project.build_dir


def note_cold_seconds(project: Project, seconds: float) -> None:
    """Stores for `cold_seconds` how long ./lab start took to create this build tree."""
    _cold(project).write_text(f"{seconds:.0f}\n", encoding="utf-8")


def cold_seconds(project: Project) -> float:
    """How long the ./lab start took that created this build tree; 0 if something else created
    it."""
    path = _cold(project)
    return float(path.read_text(encoding="utf-8")) if path.is_file() else 0.0


def _cold(project: Project) -> Path:
    return project.build_dir / "start-seconds"
