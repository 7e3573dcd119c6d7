# SPDX-License-Identifier: MIT
"""A Slurm cluster on this machine: slurmctld and several slurmd, each a node of one processor."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

CANNOT_RUN = 77

_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d-%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d-%n.log
SlurmctldPort={port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=20
MpiDefault=none
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"


def needed() -> None:
    """Ends the program where there is no Slurm."""
    if not all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "slurmd")):
        print("no slurmctld and slurmd here (Debian: slurm-wlm): nothing was submitted")
        sys.exit(CANNOT_RUN)


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Cluster:
    """Started at once; `environment` is for who submits."""

    def __init__(self, folder: Path, nodes: tuple[str, ...], test: unittest.TestCase) -> None:
        self.folder, self.test = folder, test
        for name in ("state", *(f"spool-{node}" for node in nodes)):
            (folder / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout
        port, *ports = free_ports(1 + len(nodes))
        lines = [_NODE.format(name=n, host=host, port=p) for n, p in zip(nodes, ports, strict=True)]
        values = {"folder": folder, "host": host, "user": user.strip(), "port": port}
        (folder / "slurm.conf").write_text(_CONF.format(nodes="\n".join(lines), **values))
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        test.addCleanup(self.stop)
        self.begin("slurmctld")
        for node in nodes:
            self.begin(node)
        self.wait_for("idle", len(nodes))

    def begin(self, name: str) -> None:
        """The controller, or a node."""
        words = ("slurmctld",) if name == "slurmctld" else ("slurmd", "-N", name)
        program = shutil.which(words[0], path=f"{os.environ['PATH']}:/usr/sbin") or words[0]
        command = [program, "-D", "-f", self.environment["SLURM_CONF"], *words[1:]]
        self.daemons[name] = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self, name: str) -> None:
        """kill -9 of the daemon alone."""
        self.daemons[name].kill()
        self.daemons[name].wait(20)

    def kill_node(self, name: str) -> None:
        """The daemon and everything that it started, at once."""
        self.kill(name)
        for pid in self.processes(name):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def processes(self, node: str) -> list[int]:
        """What a node has started."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                words = path.read_bytes()
                if (
                    f"SLURMD_NODENAME={node}\0".encode() in words
                    and str(self.folder).encode() in words
                ):
                    found.append(int(path.parent.name))
        return found

    def stop(self) -> None:
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait(20)

    def wait_for(self, state: str, count: int) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            words = ["sinfo", "-h", "-N", "-o", "%t"]
            done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
            if done.stdout.split().count(state) >= count:
                return
            time.sleep(0.3)
        self.test.fail(f"no {count} nodes are {state}: {done.stdout}{done.stderr}")
