# SPDX-License-Identifier: MIT
"""What the build needs, and whether it is present. Changes nothing."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.proc import capture
from grader.course.project import Project

CMAKE_AT_LEAST = (3, 25)
CLANG = range(21, 13, -1)  # as in vgpu/cc/compile/compile.h


@dataclass(frozen=True)
class Need:
    """`found` is what was found ("gcc 12.2.0"), or empty. `other` has the package's name where
    Debian's is another one, by os-release's ID."""

    name: str
    why: str
    apt: tuple[str, ...]
    found: Callable[[Project], str]
    other: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# What other distributions call them.
_GCC = {"fedora": ("gcc", "glibc-devel"), "suse": ("gcc", "glibc-devel"), "arch": ("gcc", "glibc")}
_GXX = {"fedora": ("gcc-c++",), "suse": ("gcc-c++",), "arch": ("gcc",)}
_NINJA = {"suse": ("ninja",), "arch": ("ninja",)}
_CJSON = {"fedora": ("cjson-devel",), "suse": ("cJSON-devel",), "arch": ("cjson",)}


def needs() -> list[Need]:
    """In the order in which they are looked for; each may rely on those before it."""
    return [
        Need("gcc", "compiles the node and the labs in C", ("gcc", "libc6-dev"), _gcc, _GCC),
        Need("g++", "links CUDA programs", ("g++",), lambda at: _program(at, "g++"), _GXX),
        Need("clang 14 or newer", "compiles kernels", ("clang",), _clang),
        Need("binutils", "links device images", ("binutils",), _binutils),
        Need("ninja or make", "runs the build", ("ninja-build",), _build_tool, _NINJA),
        Need("CMake 3.25 or newer", "describes the build", ("cmake",), _cmake),
        Need("cJSON", "the node reads its description with it", ("libcjson-dev",), _cjson, _CJSON),
    ]


def tool_path(project: Project) -> str:
    """PATH, preceded by what set-up installed into the checkout."""
    own = [project.venv / "bin", project.deps / "python" / "cmake" / "data" / "bin"]
    return os.pathsep.join([*(str(path) for path in own if path.is_dir()), os.environ["PATH"]])


def build_env(project: Project) -> dict[str, str]:
    """Additions to the caller's environment for CMake, ctest and compilers."""
    env = {"PATH": tool_path(project)}
    own = project.deps / "usr"
    if own.is_dir():
        before = os.environ.get("CMAKE_PREFIX_PATH")
        env["CMAKE_PREFIX_PATH"] = os.pathsep.join([str(own), *([before] if before else [])])
    return env


def missing(project: Project) -> list[Need]:
    return [need for need in needs() if not need.found(project)]


def parse_version(text: str) -> tuple[int, ...]:
    """The first dotted number in a program's output for --version; empty if there is none."""
    match = re.search(r"(\d+(?:\.\d+)+)", text)
    return tuple(int(part) for part in match.group(1).split(".")) if match else ()


def version_of(project: Project, program: str) -> tuple[int, ...]:
    if shutil.which(program, path=tool_path(project)) is None:
        return ()
    done = capture([program, "--version"], env=build_env(project))
    return parse_version(done.output) if done.ok else ()


def _program(project: Project, program: str) -> str:
    version = version_of(project, program)
    return f"{program} {'.'.join(str(part) for part in version)}" if version else ""


def _gcc(project: Project) -> str:
    """A compiler alone is not enough: without libc6-dev it compiles nothing."""
    found = _program(project, "gcc")
    return found if found and _links(project, "#include <stdio.h>\n", []) else ""


def _clang(project: Project) -> str:
    """The one that vgpu-cc uses (vgpu/cc/compile/places.c)."""
    own = os.environ.get("VGPU_CLANG")
    names = [*([own] if own else []), "clang++", *(f"clang++-{release}" for release in CLANG)]
    for name in names:
        if version_of(project, name) >= (CLANG[-1],):
            return _program(project, name).replace(name, "clang")
    return ""


def clang_release(project: Project) -> int:
    """The major version of the Clang that vgpu-cc uses, such as 14; 0 if no Clang was found."""
    version = parse_version(_clang(project))
    return version[0] if version else 0


def _binutils(project: Project) -> str:
    names = ("ld", "ar", "objcopy", "nm")
    if all(shutil.which(name, path=tool_path(project)) for name in names):
        return _program(project, "ld").replace("ld", "binutils")
    return ""


def _build_tool(project: Project) -> str:
    return _program(project, "ninja") or _program(project, "make")


def _cmake(project: Project) -> str:
    return _program(project, "cmake") if version_of(project, "cmake") >= CMAKE_AT_LEAST else ""


def _cjson(project: Project) -> str:
    own = project.deps / "usr"
    words = ["-I", str(own / "include")]
    for folder in sorted((own / "lib").glob("*/")) if own.is_dir() else []:
        words += ["-L", str(folder)]
    return "cJSON" if _links(project, "#include <cjson/cJSON.h>\n", [*words, "-lcjson"]) else ""


def _links(project: Project, include: str, words: list[str]) -> bool:
    """Compiles and links a program of one line with `include` at its head."""
    with tempfile.TemporaryDirectory(prefix="peerlab-probe-") as folder:
        source = Path(folder) / "probe.c"
        source.write_text(f"{include}int main(void) {{ return 0; }}\n", encoding="utf-8")
        command: list[str | Path] = ["gcc", source, "-o", Path(folder) / "probe", *words]
        return capture(command, env=build_env(project)).ok
