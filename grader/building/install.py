# SPDX-License-Identifier: MIT
"""Installs what `needs` finds missing: by apt if permitted, else into the checkout.

Into the checkout go CMake from PyPI (.venv/) and, without rights, the files of single Debian
packages (.deps/). Nothing is installed that is already present.
"""

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture, show
from grader.building import needs
from grader.building.machine import Machine, rights
from grader.building.needs import Need
from grader.course.project import Project

Say = Callable[[str], None]
CMAKE_WHEEL = "cmake>=3.25"
RICH = "rich>=13,<15"
GRADER = (RICH, "pygal>=3.0,<4")  # tables on the terminal; the class report's charts
LTI = ("PyLTI1p3==2.0.0", "flask>=3,<4", "waitress>=3,<4")  # ./lab lti
CCCL = "nvidia-cuda-cccl-cu12==12.9.27"  # CCCL 2.8.2: docs/virtual-node.md says why this one
_SOON = ("--retries", "1", "--timeout", "10")  # without a network, it is given up soon
VENV = "python{}.{}-venv".format(*sys.version_info)  # python3-venv is the distribution's Python's
# Modules of Python, and what it needs to be compiled with them. The distribution's Python has them.
PIP_NEEDS = {"zlib": "zlib1g-dev", "_ssl": "libssl-dev"}
GRADER_NEEDS = {
    **PIP_NEEDS,
    "_bz2": "libbz2-dev",
    "_ctypes": "libffi-dev",
    "_lzma": "liblzma-dev",
    "_sqlite3": "libsqlite3-dev",
}
INSTALL = ("install", "-y", "--no-install-recommends")
OTHERS = {  # what a user types there, by os-release's ID or ID_LIKE
    "fedora": "sudo dnf install",
    "suse": "sudo zypper install",
    "arch": "sudo pacman -S --needed",
}


def install(project: Project, machine: Machine, missing: list[Need], say: Say) -> None:
    """Installs what it can; LabError names what the user has to install if that is not all."""
    sudo = rights(machine) if machine.has_apt else None
    if sudo is not None:
        _apt(sudo, ["update", "-qq"], say)
        _apt(sudo, [*INSTALL, *packages_for(missing, apt_cmake=apt_has_new_cmake())], say)
        missing = needs.missing(project)
    elif machine.has_apt and is_among("cJSON", missing):
        unpack(project, ("libcjson-dev", "libcjson1"), say)
    if is_among("CMake", missing):
        if sudo is not None and not has_ensurepip():  # the distribution's CMake was too old
            _apt(sudo, [*INSTALL, VENV], say)
        cmake_from_pypi(project, say)
    still = needs.missing(project)
    if still:
        raise LabError(advice(still, machine, apt_has_new_cmake()), ExitStatus.MISSING)


def packages_for(missing: list[Need], *, apt_cmake: bool) -> list[str]:
    """The Debian packages of what is missing. If the distribution's CMake is too old, the one from
    PyPI is used, which needs VENV and PIP_NEEDS."""
    packages = [name for need in missing for name in need.apt]
    if "clang" in packages:
        packages[packages.index("clang")] = apt_clang()
    if "cmake" in packages and not apt_cmake:
        packages.remove("cmake")
        packages += [] if has_ensurepip() else [VENV]
        packages += compiled_without(PIP_NEEDS)
    return packages


def is_among(name: str, missing: list[Need]) -> bool:
    return any(need.name.startswith(name) for need in missing)


def advice(missing: list[Need], machine: Machine, apt_cmake: bool = True) -> str:
    """Names what is missing and, if the package names are known, the command."""
    lines = ["This machine lacks:"]
    lines += [f"  {need.name:<22}{need.why}" for need in missing]
    packages = " ".join(packages_for(missing, apt_cmake=apt_cmake))
    if not packages:  # CMake alone, and venv is there
        lines.append(f"pip could not install it: .venv/bin/pip install '{CMAKE_WHEEL}' says why.")
    elif machine.has_apt:
        lines += [
            "It could not be installed from here. Ask the administrator, or run:",
            f"  sudo apt-get update && sudo apt-get install {packages}",
        ]
    elif family := next((one for one in OTHERS if one in machine.family), ""):
        names = [name for need in missing for name in need.other.get(family, need.apt)]
        lines += [
            f"./lab installs by apt only. On {machine.distribution} run:",
            f"  {OTHERS[family]} {' '.join(dict.fromkeys(names))}",
        ]
    else:
        lines += [
            f"{machine.distribution} is not Debian or Ubuntu, so ./lab does not know its packages.",
            f"On Debian they are called: {packages}",
        ]
    if is_among("CMake", missing) and not apt_cmake and (without := compiled_without(PIP_NEEDS)):
        lines.append(f"pip cannot install CMake: {_compile_again(without)}")
    lines.append("Then run ./lab start again.")
    return "\n".join(lines)


def has_ensurepip() -> bool:
    """Without it `python3 -m venv` installs no pip; Debian has it in VENV."""
    return importlib.util.find_spec("ensurepip") is not None


def compiled_without(modules: dict[str, str]) -> list[str]:
    """The packages that were missing where this Python was compiled."""
    return [package for module, package in modules.items() if not importlib.util.find_spec(module)]


def require_whole_python() -> None:
    """What grades, packs and exports needs modules that a Python compiled by its user may lack."""
    if without := compiled_without(GRADER_NEEDS):
        raise LabError(_compile_again(without), ExitStatus.MISSING)


def _compile_again(without: list[str]) -> str:
    return (
        f"{sys.executable} was compiled on a machine without {', '.join(without)}. "
        "Install them, and compile it again."
    )


def _has_pip() -> bool:
    return capture([sys.executable, "-m", "pip", "--version"]).ok


def apt_has_new_cmake() -> bool:
    return apt_version("cmake") >= needs.CMAKE_AT_LEAST


def apt_clang() -> str:
    """`clang` is too old on Debian 11 and Ubuntu 20.04, which have newer ones under other names."""
    oldest = (needs.CLANG[-1],)
    if apt_version("clang") < oldest:
        for release in needs.CLANG:
            if apt_version(f"clang-{release}") >= oldest:
                return f"clang-{release}"
    return "clang"


def apt_version(package: str) -> tuple[int, ...]:
    """Of what apt would install; empty if that is nothing."""
    done = capture(["apt-cache", "policy", package])
    for line in done.output.splitlines():
        if line.strip().startswith("Candidate:"):
            return needs.parse_version(line)
    return ()


def cmake_from_pypi(project: Project, say: Say) -> None:
    """CMake into .venv/ or, if Python was installed without venv, below .deps/."""
    if compiled_without(PIP_NEEDS):
        say("CMake from PyPI needs pip, which this Python cannot run.")
    elif has_ensurepip():
        say(f"python3 -m venv .venv && .venv/bin/pip install '{CMAKE_WHEEL}'")
        if not (project.venv / "bin" / "pip").exists():
            show([sys.executable, "-m", "venv", project.venv])
        show([project.venv / "bin" / "pip", "install", "--quiet", CMAKE_WHEEL])
    elif _has_pip():
        target = project.deps / "python"
        say(f"python3 -m pip install --target .deps/python '{CMAKE_WHEEL}'")
        show([sys.executable, "-m", "pip", "install", "--quiet", "--target", target, CMAKE_WHEEL])
    else:
        say(f"CMake from PyPI needs {VENV} (or pip), and this Python has neither.")


def pip(machine: Machine, say: Say) -> None:
    """Installs what `python3 -m venv` installs pip from, if it is missing and that is permitted."""
    sudo = rights(machine) if machine.has_apt else None
    if sudo is not None and not has_ensurepip() and not _has_pip():
        _apt(sudo, ["update", "-qq"], say)
        _apt(sudo, [*INSTALL, VENV], say)
        importlib.invalidate_caches()


def grader(project: Project, say: Say) -> None:
    """The Python packages of `./lab grade` (see own_packages)."""
    _packages(project, say, "./lab grade", GRADER, "--grader")


def lti(project: Project, say: Say) -> None:
    """What `./lab lti` speaks to learning platforms with."""
    _packages(project, say, "./lab lti", LTI, "--lti")


def rich(project: Project, say: Say) -> None:
    """What renders pages and hints on a terminal; output is plainer without it."""
    own_packages(project)
    if lacking((RICH,)) and not _pip(project, say, [RICH]):
        say("rich could not be installed (no pip, or no network): output is plainer without it")


def _packages(
    project: Project, say: Say, command: str, packages: tuple[str, ...], option: str
) -> None:
    require_whole_python()
    own_packages(project)
    missing = lacking(packages)
    if not missing:
        return
    if not _pip(project, say, missing) or lacking(packages):
        raise LabError(
            f"{command} needs the Python packages {', '.join(missing)}, which could not be "
            "installed: that needs python3-pip and a network. With both, ./lab start "
            f"{option} installs them.",
            ExitStatus.MISSING,
        )


def _pip(project: Project, say: Say, packages: list[str]) -> bool:
    """Into .venv/ or, if Python was installed without venv, below .deps/."""
    pip = project.venv / "bin" / "pip"
    if has_ensurepip() and not pip.exists():
        show([sys.executable, "-m", "venv", project.venv])
    words: list[str | Path] = [pip] if pip.exists() else [sys.executable, "-m", "pip"]
    target: list[str | Path] = [] if pip.exists() else ["--target", project.deps / "python"]
    say(f"{', '.join(packages)} into {'.deps/python' if target else '.venv'}")
    done = capture([*words, "install", "--quiet", *_SOON, *target, *packages]).ok
    own_packages(project)
    importlib.invalidate_caches()
    return done


def lacking(packages: tuple[str, ...]) -> list[str]:
    """Those of GRADER or LTI that this Python does not find."""
    importlib.invalidate_caches()
    names = {one: re.split("[<>=]", one)[0].lower() for one in packages}
    return [one for one, name in names.items() if importlib.util.find_spec(name) is None]


def cccl(project: Project, say: Say) -> None:
    """Thrust, CUB and libcu++, where vgpu-cc looks for them."""
    folder = project.cccl
    name, version = CCCL.split("==")
    if (folder / f"{name.replace('-', '_')}-{version}.dist-info").is_dir():
        return
    say(f"pip install --target {folder} '{CCCL}'")
    shutil.rmtree(folder, ignore_errors=True)
    if not _pip_into(project, folder, "--no-deps", CCCL):
        shutil.rmtree(folder, ignore_errors=True)
        raise LabError(
            f"CCCL (Thrust, CUB, libcu++) is the package {CCCL} of PyPI, which could not be "
            f"installed: that needs python3-pip and a network. Without them, name a folder that "
            f"holds thrust/, cub/ and cuda/ in VGPU_CCCL.",
            ExitStatus.MISSING,
        )


def _pip_into(project: Project, folder: Path, *words: str) -> bool:
    """`pip install --target`, by this Python's pip or that of .venv/."""
    pip: list[str | Path] = [sys.executable, "-m", "pip"]
    if not _has_pip():
        if has_ensurepip():
            show([sys.executable, "-m", "venv", project.venv])
        pip = [project.venv / "bin" / "pip"]
    return show([*pip, "install", "--quiet", "--target", folder, *words]) == 0


def bubblewrap(machine: Machine, say: Say) -> None:
    """Installs bubblewrap, the best sandbox for submissions, if permitted; `./lab doctor` reports
    what is available without it."""
    sudo = rights(machine) if machine.has_apt else None
    if shutil.which("bwrap") is None and sudo is not None:
        _apt(sudo, ["update", "-qq"], say)
        _apt(sudo, [*INSTALL, "bubblewrap"], say)


def own_packages(project: Project) -> None:
    """Appends to this Python's path what set-up installed into the checkout."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for place in (project.deps / "python", project.venv / "lib" / version / "site-packages"):
        if str(place) not in sys.path and place.is_dir():
            sys.path.append(str(place))


def unpack(project: Project, packages: tuple[str, ...], say: Say) -> None:
    """Extracts Debian packages below .deps/ without installing them. Failures show in what is still
    missing afterwards."""
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
    """sudo asks for its password on the terminal itself; apt's own output is shown if it fails."""
    say(" ".join([*sudo, "apt-get", *words]))
    done = capture([*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *words])
    if not done.ok:
        say(f"{done.output.rstrip()}\napt-get ended with status {done.status}")
