# SPDX-License-Identifier: MIT
"""Writes the policy that harness/jail reads: what one run may access and consume."""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from grader.base.proc import capture
from grader.sandbox.cgroups import Group
from grader.sandbox.request import Request, SandboxError, Tier

FIRST_UID = 20000  # of slot 0, where the grader is root
NODE_UID = FIRST_UID - 1
NODE_CPU_SECONDS = 600  # of a case: more than any verifier waits
NODE_DESCRIPTORS = 4096
RUNNER_KEEPS = 6  # what a verifier gives a runner: harness/status.h
REPORT = 6  # and a launcher: harness/cases/run.h
PASSED_TO_RUNNERS = (
    *("VGPU_STRICT", "VGPU_NODE", "VGPU_NODE_QUEUE", "VGPU_CHECK"),
    *("CUDA_*", "GLIBC_TUNABLES", "LANG", "LC_ALL"),
)
PATH = "/usr/bin:/bin"
SIZE_SINCE = (0, 7)  # bwrap's version
DISABLE_USERNS_SINCE = (0, 8)


def uid_of(slot: int | None) -> int:
    """The uid of a slot's submissions; 0 if they run under ours."""
    assert slot is not None, "a run without a slot"
    return FIRST_UID + slot if os.geteuid() == 0 else 0


@cache
def bwrap_version() -> tuple[int, ...]:
    """The version of the bwrap on PATH; empty without one."""
    path = shutil.which("bwrap")
    match = re.search(r"(\d+)\.(\d+)", capture([path, "--version"]).output) if path else None
    return tuple(int(part) for part in match.groups()) if match else ()


def rules(
    tier: Tier, request: Request, group: Group | None, *, keep: int, report: int | None
) -> list[str]:
    """The policy's lines."""
    limits = request.limits
    lines = [*_tier_rules(tier), f"keep {keep}", f"folder {request.folder}"]
    lines += [] if report is None else [f"report {report}"]
    if uid_of(request.slot):
        lines.append(f"uid {uid_of(request.slot)}")
    lines += [f"cgroup {folder}" for folder in group.folders] if group else []
    lines += [f"read {path}" for path in _sorted(request.read_only)]
    lines += [f"write {path}" for path in _sorted(request.read_write)]
    lines += ["queue 1"] if request.node else []
    lines += [
        f"cpu-seconds {limits.cpu_seconds}",
        f"file-bytes {limits.file_bytes}",
        f"temporary-bytes {limits.temporary_bytes}",
        f"processes {limits.processes}",
        f"descriptors {limits.descriptors}",
        f"data-bytes {limits.memory_bytes}",
    ]
    lines += _environment(request.environment)
    return lines


def exec_rules(request: Request, group: Group | None, program: Path, tier: Tier) -> list[str]:
    """The policy of vgpu-exec, which runs a submission's kernels and is started by the node. Always
    in place: the node signals it by its PID. The control group limits its memory, not its address
    space: the stacks of a kernel's threads are large and hardly touched."""
    inner = Request(argv=(), read_only=(program,), slot=request.slot, limits=request.limits)
    bare = Tier.BARE if tier is Tier.BARE else Tier.LANDLOCK
    lines = rules(bare, inner, group, keep=4, report=None)
    dropped = ("data-bytes", "cpu-seconds", "file-bytes")
    lines = [line for line in lines if not line.startswith(dropped)]
    lines += [f"file-bytes {1 << 62}"]  # GPU memory is a sparse file with large offsets
    lines += ["cpu-seconds 3600", "pass VGPU_KERNEL_SECONDS"]  # the node ends kernels that hang
    lines += ["clocks 1", "files 0"]  # its workers' clocks; no uncounted memory files
    return lines


def node_rules(request: Request, group: Group | None) -> list[str]:
    """The privileges that vgpu-node drops before it reads a submission's requests
    (vgpu/node/system/door/jail.h). It runs under a user that no submission has, so no submission
    can signal or inspect it."""
    lines = [f"cgroup {folder}" for folder in group.folders] if group else []
    lines += [f"cpu-seconds {NODE_CPU_SECONDS}", f"data-bytes {request.limits.memory_bytes}"]
    lines += [f"descriptors {NODE_DESCRIPTORS}"]
    return [*lines, f"uid {NODE_UID}"] if os.geteuid() == 0 else lines


def write(path: Path, lines: Iterable[str]) -> None:
    """Each line is a rule, so none may contain a line feed."""
    for line in lines:
        if "\n" in line or "\0" in line:
            raise SandboxError(f"the sandbox cannot take a line's end or a zero byte in {line!r}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _tier_rules(tier: Tier) -> list[str]:
    if tier is not Tier.BUBBLEWRAP:
        return ["tier bare" if tier is Tier.BARE else "tier landlock"]
    lines = ["tier bubblewrap", f"bwrap {shutil.which('bwrap')}"]
    lines += ["bwrap-can size"] if bwrap_version() >= SIZE_SINCE else []
    lines += ["bwrap-can disable-userns"] if bwrap_version() >= DISABLE_USERNS_SINCE else []
    return lines


def _sorted(paths: Iterable[Path]) -> list[Path]:
    """Parents before their children, so that bwrap mounts one over the other."""
    return sorted(set(paths))


def _environment(extra: Mapping[str, str]) -> list[str]:
    everywhere = {"PATH": PATH, "HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"}
    return [f"set {name}={value}" for name, value in {**everywhere, **extra}.items()]
