# SPDX-License-Identifier: MIT
"""--executor slurm on a real slurmctld with two slurmd, all on this machine: the marks are those of
a local run, and nothing is lost when a node is killed."""

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

from classroom import BUILD, PROJECT, ROOT, Classroom, at_full_length, ends, skeleton, solution

from grader.course.mutants import load, mutate

STUDENTS = 6
NODES = ("one", "two")

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
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=20
MpiDefault=none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=main Nodes=one,two Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Slurm(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.folder.chmod(0o755)
        self.cluster = self.folder / "cluster"
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.cluster / name).mkdir(parents=True)
        host = socket.gethostname().split(".")[0]
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout
        values = {"folder": self.cluster, "host": host, "user": user.strip()}
        conf = _CONF.format(ports=free_ports(3), **values)
        (self.cluster / "slurm.conf").write_text(conf)
        self.env = {**os.environ, "SLURM_CONF": str(self.cluster / "slurm.conf")}
        self.daemons = {"slurmctld": self.daemon("slurmctld")}
        self.addCleanup(self.stop)
        self.daemons |= {node: self.daemon("slurmd", "-N", node) for node in NODES}
        self.wait_for("idle", 2)

    def daemon(self, name: str, *words: str) -> "subprocess.Popen[bytes]":
        program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") or name
        command = [program, "-D", "-f", self.env["SLURM_CONF"], *words]
        return subprocess.Popen(
            command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

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
            done = subprocess.run(
                ["sinfo", "-h", "-N", "-o", "%t"], env=self.env, capture_output=True, text=True
            )
            if done.stdout.split().count(state) >= count:
                return
            time.sleep(0.3)
        self.fail(f"no {count} nodes are {state}: {done.stdout}{done.stderr}")

    def hand_in_some(self) -> None:
        known = load(PROJECT, PROJECT.lab("01"))
        for at in range(STUDENTS):
            text = (solution("01"), skeleton("01"), "int x\n")[at % 3]
            if at > 2:
                text = mutate(known[at], solution("01"), known[at].name)
            self.hand_in(f"s{at}", "01", f"{text}/* {at} */\n")
        self.grade(self.folder / "class", "--seed", "4", out="local")

    def start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(ROOT / "lab"), "--build", str(BUILD), "grade"]
        command += [str(self.folder / "class"), "--out", str(self.folder / "cluster-out")]
        command += ["--no-build", "--seed", "4", "--executor", "slurm"]
        return subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL)

    def same_marks(self) -> None:
        local, there = self.results("local"), self.results("cluster-out")
        self.assertEqual(len(there["rows"]), STUDENTS)
        self.assert_same(local, there)

    def wait_for_ends(self, count: int) -> None:
        deadline = time.monotonic() + 180
        while ends(self.folder / "cluster-out") < count and time.monotonic() < deadline:
            time.sleep(0.1)

    def test_same_marks(self) -> None:
        self.hand_in_some()
        self.assertEqual(self.start().wait(400), 0)
        self.same_marks()
        logs = list((self.folder / "cluster-out" / "slurm" / "logs").iterdir())
        self.assertGreaterEqual(len(logs), STUDENTS)

    @at_full_length
    def test_a_node_and_the_driver_are_killed(self) -> None:
        self.hand_in_some()
        process = self.start()
        self.wait_for_ends(2)
        self.kill_node("one")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        self.assertEqual(self.start().wait(600), 0)
        self.same_marks()

    def kill_node(self, node: str) -> None:
        """The daemon and everything that it started, at once."""
        self.daemons[node].kill()
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                mine = f"SLURMD_NODENAME={node}\0".encode() in path.read_bytes()
                here = str(self.folder).encode() in path.read_bytes()
                if mine and here:
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except OSError:
                continue


if __name__ == "__main__":
    if not all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "slurmd")):
        print("no slurmctld and slurmd here (Debian: slurm-wlm): nothing was submitted")
        sys.exit(77)
    unittest.main()
