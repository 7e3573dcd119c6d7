# SPDX-License-Identifier: MIT
"""`./lab doctor`: what this machine can do for the course, and for grading.

Everything is tested: tools compile something, and the sandbox is attacked.
"""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import ExitStatus
from grader.building import install, machine, needs
from grader.building.machine import Machine
from grader.course.project import Project
from grader.sandbox import Limits, Tier, cgroups
from grader.sandbox.attacks import Finding, attack_all, targets
from grader.sandbox.policy import bwrap_version
from grader.sandbox.tiers import candidates, why_not

USERNS = Path("/proc/sys/kernel/unprivileged_userns_clone")
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))
# Docker's filter of system calls refuses to make namespaces; and what Docker and Podman mount over
# parts of /proc keeps bubblewrap from a /proc of its own.
OPTIONS = "--security-opt seccomp=unconfined --security-opt systempaths=unconfined"

ABOUT = {
    Tier.BUBBLEWRAP: "namespaces of its own for every run: the best there is",
    Tier.UID: "a user of its own for every slot, Landlock and a filter of system calls",
    Tier.LANDLOCK: "your user, Landlock and a filter of system calls",
}


@dataclass(frozen=True)
class Examined:
    """A tier, why it does not work ("" if it does), and the results of the attacks."""

    tier: Tier
    reason: str
    findings: tuple[Finding, ...]

    @property
    def open(self) -> list[Finding]:
        return [one for one in self.findings if not one.held]


def doctor(project: Project) -> ExitStatus:
    os.environ["PEERLAB_BUILD"] = str(project.build_dir)  # the sandbox looks up its programs there
    found = machine.look()
    print(f"machine    {found}")
    tools_there = _tools(project)
    print(f"kernel     {platform.release()}; {_kernel()}")
    with targets() as attacks:
        examined = [_examine(tier, attacks) for tier in candidates()]
    _table(examined)
    status = _conclude(found, examined)
    return status if tools_there else ExitStatus.MISSING


# ---- tools ----


def _tools(project: Project) -> bool:
    missing = needs.missing(project)
    there = [need.found(project) for need in needs.needs() if need not in missing]
    print(f"tools      {', '.join(there)}")
    if missing:
        print(f"missing    {', '.join(need.name for need in missing)}: run ./lab start")
    install.own_packages(project)
    if lacking := ", ".join(install.lacking(install.GRADER)):
        print(f"grading    needs the Python packages {lacking}: run ./lab start --grader")
    return not missing


def has_groups() -> bool:
    group = cgroups.make(0, Limits())
    if group:
        group.remove()
    return group is not None


def _kernel() -> str:
    version = ".".join(map(str, bwrap_version()))
    return ", ".join(
        [
            f"bubblewrap {version}" if version else "no bubblewrap",
            "control groups" if has_groups() else "no control groups for us",
            "you are root" if os.geteuid() == 0 else "you are not root",
        ]
    )


# ---- attacking ----


def _examine(tier: Tier, attacks: list) -> Examined:
    reason = why_not(tier)
    return Examined(tier, reason, () if reason else tuple(attack_all(attacks, tier)))


def _table(examined: list[Examined]) -> None:
    working = [one for one in examined if not one.reason]
    if not working:
        return
    print(
        f"\n  {'a submission that':<38}"
        + "".join(f"{one.tier!s:<14}" for one in working)
        + "no sandbox"
    )
    for rows in zip(*(one.findings for one in working), strict=True):
        cells = "".join(f"{'held' if row.held else 'GOT THROUGH':<14}" for row in rows)
        outside = "gets through" if rows[0].open_outside else "held, too"
        print(f"  {rows[0].attack.title:<38}{cells}{outside}")
    print()


# ---- conclusions ----


def _conclude(found: Machine, examined: list[Examined]) -> ExitStatus:
    working = [one for one in examined if not one.reason]
    status = ExitStatus.OK
    if not working:
        print("sandbox    none: ./lab grade refuses to run submissions here")
        status = ExitStatus.MISSING
    else:
        best = working[0]
        print(f"sandbox    {best.tier}: {ABOUT[best.tier]}")
        for finding in best.open:
            print(f"           a submission that {finding.attack.title} is not stopped")
        for line in of_the_node(os.geteuid() == 0, has_groups()):
            print(f"           {line}")
        if any(not finding.attack.limit for finding in best.open):
            status = ExitStatus.FAILED
    for line in advice(found, examined):
        print(f"advice     {line}")
    return status


def of_the_node(is_root: bool, groups: bool) -> list[str]:
    """What the virtual node's own sandbox lacks here; docs/security.md, "Tiers"."""
    lines = []
    if not is_root:
        lines.append("the virtual node runs as your user: its filter of system calls confines it")
    if not groups:
        lines.append("the virtual node's memory has a limit of its own beside the submission's")
    return lines


def advice(found: Machine, examined: list[Examined]) -> list[str]:
    """What to install or change for a better tier, best first."""
    lines = []
    bubblewrap = next((one for one in examined if one.tier is Tier.BUBBLEWRAP), None)
    if bubblewrap is None:
        command = "sudo apt-get install bubblewrap" if found.has_apt else "install bubblewrap"
        lines.append(f"for the best tier: {command}")
    elif bubblewrap.reason:
        lines += [f"bubblewrap does not work here: {bubblewrap.reason}", *_namespaces()]
    if all(one.reason for one in examined if one.tier is not Tier.BUBBLEWRAP):
        lines.append("Landlock is missing: Linux 5.13 or newer, with landlock among lsm= at boot")
    if os.geteuid() == 0:
        lines.append("grade as an ordinary user where you can: the judge and the node run as you")
    return lines


def _namespaces() -> list[str]:
    """Why user namespaces may be refused, and how to permit them."""
    if _says(APPARMOR, "1"):
        return ["AppArmor forbids user namespaces: docs/security.md has the profile for bwrap"]
    if _says(USERNS, "0"):
        return ["user namespaces are off: sudo sysctl kernel.unprivileged_userns_clone=1"]
    if any(path.exists() for path in CONTAINERS):
        return [f"in a container: start it with {OPTIONS}, or grade outside"]
    return []


def _says(path: Path, value: str) -> bool:
    try:
        return path.read_text(encoding="utf-8").strip() == value
    except OSError:
        return False
