# SPDX-License-Identifier: MIT
"""The surroundings of every run: the policy in a private folder, the slot's control group, and
writable folders that belong to the slot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.sandbox import cgroups, held, policy, slots
from grader.sandbox.programs import absent_library, jail_program, programs
from grader.sandbox.request import Request, SandboxError, Tier

PREFIX = "peerlab-policy-"
Prepared = tuple[Request, Path, cgroups.Group | None]


@dataclass(frozen=True)
class Launch:
    """How a verifier starts programs of a submission: `options` for its command line; `environment`
    is the verifier's own, complete."""

    options: tuple[str, ...]
    environment: dict[str, str]
    tier: Tier


@contextmanager
def prepare(request: Request, tier: Tier) -> Iterator[Launch]:
    """For a verifier that judges a submission: `read_only` has the runners. The verifier's
    environment is `environment`; it inherits nothing else."""
    with around(request, tier) as (request, folder, group):
        words = _runner_words(request, tier, folder, group)
        options = tuple(part for word in words for part in ("--launcher", word))
        environment = {
            "PATH": os.environ.get("PATH", policy.PATH),
            "LC_ALL": "C.UTF-8",
            "LAB_WALL_SECONDS": f"{request.limits.wall_seconds:g}",
            "LAB_MEMORY_BYTES": str(request.limits.memory_bytes),
            "VGPU_MEMORY_LIMIT": str(request.limits.node_bytes),  # the node inherits no limit
            **_passed_on(),
            "VGPU_EXEC_LAUNCHER": "\n".join(_exec_words(request, tier, folder, group)),
            "VGPU_NODE_JAIL": "\n".join(policy.node_rules(request, group)),
            **request.environment,
        }
        yield Launch(options, environment, tier)


def _passed_on() -> dict[str, str]:
    """The folder for nodes and for pinning processors, and the verifiers' deadlines."""
    names = ["XDG_RUNTIME_DIR", "LAB_CPU_SECONDS", "LAB_IDLE_SECONDS", "LAB_WALL_SECONDS"]
    names += ["LAB_ANSWER_SECONDS"]
    return {name: os.environ[name] for name in names if name in os.environ}


def sweep() -> None:
    """Removes what killed graders have left."""
    cgroups.sweep()
    held.sweep(PREFIX)


def _runner_words(
    request: Request, tier: Tier, folder: Path, group: cgroups.Group | None
) -> list[str]:
    inner = replace(request, node=True, environment={})
    keep = policy.RUNNER_KEEPS
    lines = policy.rules(tier, inner, group, keep=keep, report=policy.REPORT)
    lines += [f"pass {name}" for name in policy.PASSED_TO_RUNNERS]
    policy.write(folder / "runner.policy", lines)
    return [str(jail_program()), str(folder / "runner.policy")]


def _exec_words(
    request: Request, tier: Tier, folder: Path, group: cgroups.Group | None
) -> list[str]:
    program = programs() / "vgpu-exec"
    policy.write(folder / "exec.policy", policy.exec_rules(request, group, program, tier))
    return [str(jail_program()), str(folder / "exec.policy")]


@contextmanager
def around(request: Request, tier: Tier) -> Iterator[Prepared]:
    """What `prepare` and `run` need: the request with its slot, the policy's folder, the group."""
    if request.slot is None:
        with slots.claim() as slot, around(replace(request, slot=slot), tier) as found:
            yield found
        return
    if request.compiles and tier is not Tier.BUBBLEWRAP:  # bubblewrap hides other files anyway
        request = _with_absent_library(request)
    _check(request)
    _give(request)
    with held.held(PREFIX, 0o700) as folder:  # only we may read the policy
        group = cgroups.make(request.slot, request.limits)
        try:
            yield request, folder, group
        finally:
            if group:
                group.remove()


def _with_absent_library(request: Request) -> Request:
    """As folder and name: LD_PRELOAD ends a path at a blank."""
    library = absent_library()
    loaded = {"LD_LIBRARY_PATH": str(library.parent), "LD_PRELOAD": library.name}
    return replace(
        request,
        read_only=(*request.read_only, library),
        environment={**request.environment, **loaded},
    )


def _check(request: Request) -> None:
    for path in (*request.read_only, *request.read_write, request.folder):
        if not path.is_absolute() or not path.exists():
            raise SandboxError(
                f"the sandbox should show {path}, which is not an absolute path to a file"
            )
        _check_reachable(path, policy.uid_of(request.slot))
    if request.argv and not Path(request.argv[0]).is_absolute():
        raise SandboxError(f"the sandbox starts programs by absolute path, not {request.argv[0]!r}")


def _check_reachable(path: Path, uid: int) -> None:
    """Root can access any path; the slot's user cannot."""
    for above in path.parents if uid else ():
        info = above.stat()
        if not info.st_mode & 0o001 and info.st_uid != uid:
            raise SandboxError(
                f"submissions run as user {uid}, and {above} is closed to others: they cannot be "
                f"shown {path}. Move the course elsewhere, or grade as an ordinary user."
            )


def _give(request: Request) -> None:
    """Gives the slot's user the writable folders, and the files that we put there."""
    uid = policy.uid_of(request.slot)
    if not uid:
        return
    for top in request.read_write:
        os.chown(top, uid, uid, follow_symlinks=False)
        for entry in os.scandir(top) if top.is_dir() and not top.is_symlink() else ():
            os.chown(entry.path, uid, uid, follow_symlinks=False)
