# SPDX-License-Identifier: MIT
"""Gets what `needs` misses: by apt with the rights there are, else into the checkout.

Into the checkout go CMake from PyPI (.venv/) and, without rights, the files of single Debian
packages (.deps/). Nothing is installed that is already there.
"""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass

from grader import needs
from grader.exits import ExitStatus, LabError
from grader.machine import Machine, rights
from grader.needs import Need
from grader.proc import capture, show
from grader.project import Project

Say = Callable[[str], None]
CMAKE_WHEEL = "cmake>=3.25"


@dataclass(frozen=True)
class Plan:
    """What to do about what is missing."""

    apt: tuple[str, ...]  # packages to install with apt
    wheel: bool  # CMake from PyPI
    unpack: tuple[str, ...]  # Debian packages whose files go into .deps/


def plan(missing: list[Need], machine: Machine, *, may_apt: bool, apt_cmake: bool) -> Plan:
    """`may_apt`: packages can be installed; `apt_cmake`: the distribution's CMake is new enough."""
    names = {need.name for need in missing}
    wheel = any("CMake" in name for name in names) and not (may_apt and apt_cmake)
    if not may_apt:
        unpack = ("libcjson-dev", "libcjson1") if "cJSON" in names and machine.has_apt else ()
        return Plan((), wheel, unpack)
    packages = [name for need in missing for name in need.apt if not (wheel and name == "cmake")]
    if wheel and not has_ensurepip():
        packages.append("python3-venv")
    return Plan(tuple(packages), wheel, ())


def install(project: Project, machine: Machine, missing: list[Need], say: Say) -> None:
    """Does what it can; raises LabError with what a person has to install where that is not all."""
    sudo = rights(machine) if machine.has_apt else None
    if sudo is not None:
        _apt(sudo, ["update", "-qq"], say)
    todo = plan(missing, machine, may_apt=sudo is not None, apt_cmake=apt_has_new_cmake())
    if todo.apt:
        _apt(sudo or [], ["install", "-y", "--no-install-recommends", *todo.apt], say)
    if todo.unpack:
        unpack(project, todo.unpack, say)
    if todo.wheel:
        cmake_from_pypi(project, say)
    still = needs.missing(project)
    if still:
        raise LabError(advice(still, machine), ExitStatus.MISSING)


def advice(missing: list[Need], machine: Machine) -> str:
    """Names what is missing and, where we know the package names, the command."""
    lines = ["This machine lacks:"]
    lines += [f"  {need.name:<22}{need.why}" for need in missing]
    packages = " ".join(name for need in missing for name in need.apt)
    if machine.has_apt:
        lines += [
            "Nothing could be installed from here. Ask whoever may, or run:",
            f"  sudo apt-get update && sudo apt-get install {packages}",
        ]
    else:
        lines += [
            f"{machine.distribution} is not Debian or Ubuntu, so ./lab does not know its packages.",
            f"On Debian they are called: {packages}",
        ]
    lines.append("Then run ./lab start again.")
    return "\n".join(lines)


def has_ensurepip() -> bool:
    """Without it `python3 -m venv` makes no pip; Debian has it in python3-venv."""
    return importlib.util.find_spec("ensurepip") is not None


def apt_has_new_cmake() -> bool:
    done = capture(["apt-cache", "policy", "cmake"])
    for line in done.output.splitlines():
        if line.strip().startswith("Candidate:"):
            return needs.parse_version(line) >= needs.CMAKE_AT_LEAST
    return False


def cmake_from_pypi(project: Project, say: Say) -> None:
    """CMake into .venv/ or, where Python came without venv, below .deps/."""
    if has_ensurepip():
        say(f"python3 -m venv .venv && .venv/bin/pip install '{CMAKE_WHEEL}'")
        if not (project.venv / "bin" / "pip").exists():
            show([sys.executable, "-m", "venv", project.venv])
        show([project.venv / "bin" / "pip", "install", "--quiet", CMAKE_WHEEL])
    elif capture([sys.executable, "-m", "pip", "--version"]).ok:
        target = project.deps / "python"
        say(f"python3 -m pip install --target .deps/python '{CMAKE_WHEEL}'")
        show([sys.executable, "-m", "pip", "install", "--quiet", "--target", target, CMAKE_WHEEL])
    else:
        say("CMake from PyPI needs python3-venv (or pip), and this Python has neither.")


def unpack(project: Project, packages: tuple[str, ...], say: Say) -> None:
    """Puts the files of Debian packages below .deps/ without installing them. What goes wrong shows
    in what is still missing afterwards."""
    say(f"apt-get download {' '.join(packages)}, unpacked into .deps/ (no rights to install)")
    folder = project.deps / "download"
    folder.mkdir(parents=True, exist_ok=True)
    done = capture(["apt-get", "download", *packages], cwd=folder)
    if not done.ok:
        say(done.output.strip())
    for archive in sorted(folder.glob("*.deb")):
        capture(["dpkg", "-x", archive, project.deps])
    shutil.rmtree(folder)


def _apt(sudo: list[str], words: list[str], say: Say) -> None:
    say(" ".join([*sudo, "apt-get", *words]))
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    status = show([*sudo, *quiet, "apt-get", *words])
    if status:
        say(f"apt-get ended with status {status}; going on with what is there")
