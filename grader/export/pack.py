# SPDX-License-Identifier: MIT
"""`./lab pack OUT.zip`: the handout with the virtual node compiled, so that students' machines link
it and do not compile it.

    objects/PROCESSOR/TARGET.dir/FILE.c.o       an object of the node, the runtime, vgpu-cc, ...
    objects/PROCESSOR/TARGET.dir/FILE.c.o.sum   `cksum` of the source that it was made from

harness/cmake/packed.sh takes them in the place of compiling. They are linked where they are
unpacked, so they need no newer C library than the functions that they call (GLIBC). Files in whose
objects the build folder's place would be are compiled there.
"""

import json
import platform
import re
import shlex
import tempfile
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.building import build
from grader.building.needs import build_env, parse_version
from grader.course.project import Lab, Project
from grader.course.tree import write_zip
from grader.export import handout

GLIBC = (2, 31)
TARGETS = ("vgpu-node", "vgpu-exec", "vgpu-cc", "vgpu-smi", "vgpu-check", "nccl_shared")
# Before 2.33 these were in the part of glibc that is linked into every program.
_LINKED_IN = {"fstat", "fstatat", "lstat", "stat", "mknod", "mknodat", "atexit", "at_quick_exit"}
Contents = handout.Contents


def pack(project: Project, target: Path, labs: list[Lab], *, ready: bool) -> tuple[int, int]:
    """Writes the archive; returns how many files it has, and how many objects."""
    if not ready and not (done := build.build(project, TARGETS, quiet=True)).ok:
        raise LabError(done.output, ExitStatus.BUILD_FAILED)
    contents = handout.contents(project, labs, build=not ready)
    packed = objects(project, contents)
    if newer := too_new(project, packed):
        raise LabError(f"newer than glibc {'.'.join(map(str, GLIBC))}: {', '.join(newer)}")
    contents |= packed
    handout.check(contents, handout.places(project))
    write_zip(target, {f"{handout.FOLDER}/{name}": entry for name, entry in contents.items()})
    return len(contents), len(packed) // 2


def objects(project: Project, contents: Contents) -> Contents:
    """The objects of the sources in `contents` that belong to the virtual node."""
    found: Contents = {}
    listed = json.loads((project.build_dir / "compile_commands.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="peerlab-pack-") as folder:
        for entry in listed:
            words = shlex.split(entry["command"])
            # The folder is the tree's for ninja, and the part's for make.
            path = Path(entry["directory"], words[words.index("-o") + 1])
            made = path.relative_to(project.build_dir).as_posix()
            source = Path(entry["file"])
            own = source.is_relative_to(project.root) and (
                source.relative_to(project.root).as_posix() in contents
            )
            if not own or not made.startswith("vgpu/") or _names_a_place(project, words):
                continue
            stripped = Path(folder, "object")
            _run(project, "objcopy", "--strip-debug", "-R", ".vgpu.headers", path, stripped)
            name = f"objects/{platform.machine()}/{made.rpartition('CMakeFiles/')[2]}"
            found[name] = (stripped.read_bytes(), 0o644)
            found[f"{name}.sum"] = (_sum(project, source).encode(), 0o644)
    return found


def _names_a_place(project: Project, words: list[str]) -> bool:
    return any(word.startswith("-D") and str(project.root) in word for word in words)


def _sum(project: Project, source: Path) -> str:
    """As `cksum <FILE` says it: without the name."""
    return " ".join(_run(project, "cksum", source).split()[:2]) + "\n"


def _run(project: Project, *words: str | Path) -> str:
    done = capture(words, env=build_env(project))
    if not done.ok:
        raise LabError(f"{words[0]} failed: {done.output}", ExitStatus.BUILD_FAILED)
    return done.output


def too_new(project: Project, packed: Contents) -> list[str]:
    """The functions of glibc that objects call and GLIBC does not have."""
    since = _since(project)
    called = set()
    with tempfile.TemporaryDirectory(prefix="peerlab-pack-") as folder:
        paths = []
        for number, name in enumerate(sorted(name for name in packed if name.endswith(".o"))):
            paths.append(Path(folder, f"{number}.o"))
            paths[-1].write_bytes(packed[name][0])
        called = set(re.findall(r" U (\w+)$", _run(project, "nm", "-u", *paths), re.MULTILINE))
    return sorted(name for name in called - _LINKED_IN if since.get(name, GLIBC) > GLIBC)


def _since(project: Project) -> dict[str, tuple[int, ...]]:
    """The oldest version of each function in this machine's glibc."""
    oldest: dict[str, tuple[int, ...]] = {}
    for library in ("libc.so.6", "libm.so.6"):
        path = _run(project, "gcc", f"-print-file-name={library}").strip()
        for line in _run(project, "objdump", "-T", path).splitlines():
            if found := re.search(r"\(?GLIBC_([\d.]+)\)? +(\w+)$", line):
                version = parse_version(found[1])
                oldest[found[2]] = min(oldest.get(found[2], version), version)
    return oldest
