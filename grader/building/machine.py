# SPDX-License-Identifier: MIT
"""The properties of this machine that set-up needs."""

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.base.proc import capture

OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True)
class Machine:
    system: str  # "Linux"
    distribution: str  # "Debian GNU/Linux 12 (bookworm)"
    family: frozenset[str]  # os-release's ID and ID_LIKE: {"ubuntu", "debian"}
    arch: str
    wsl: bool
    root: bool
    glibc: bool = True
    page_bytes: int = 4096

    @property
    def has_apt(self) -> bool:
        return "debian" in self.family and shutil.which("apt-get") is not None

    def __str__(self) -> str:
        python = ".".join(str(part) for part in sys.version_info[:3])
        wsl = " under WSL" if self.wsl else ""
        return f"{self.distribution}{wsl}, {self.arch}, Python {python}"


def parse_os_release(text: str) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip("\"'") for key, value in pairs}


def look() -> Machine:
    """Asks the running system."""
    text = OS_RELEASE.read_text(encoding="utf-8") if OS_RELEASE.is_file() else ""
    release = parse_os_release(text)
    family = f"{release.get('ID', '')} {release.get('ID_LIKE', '')}".split()
    if "ubuntu" in family:
        family.append("debian")
    return Machine(
        system=platform.system(),
        distribution=release.get("PRETTY_NAME", platform.system()),
        family=frozenset(family),
        arch=platform.machine(),
        wsl="microsoft" in platform.release().lower(),
        root=hasattr(os, "geteuid") and os.geteuid() == 0,
        glibc=platform.libc_ver()[0] == "glibc",
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
    )


def rights(machine: Machine) -> list[str] | None:
    """The words before a command that installs packages: none as root, `sudo` if it works or can
    ask for a password; None if nothing can be installed."""
    if machine.root:
        return []
    if shutil.which("sudo") is None:
        return None
    if capture(["sudo", "-n", "true"]).ok or sys.stdin.isatty():
        return ["sudo"]
    return None


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
