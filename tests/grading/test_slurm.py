# SPDX-License-Identifier: MIT
"""--executor slurm on a real slurmctld with several slurmd, all on this machine: the same marks as
by a local run, and nothing is lost or graded twice when any part is killed; with 10,000, too."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

from classroom import BUILD, PROJECT, ROOT, Classroom, at_full_length, ends, skeleton, solution
from cluster import Cluster, needed
from many import Many

from grader.course.mutants import load, mutate

STUDENTS = 6
MIB = 1 << 20


class Slurm(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.folder.chmod(0o755)
        self.cluster = Cluster(self.folder / "cluster", ("one", "two"), self)

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
        return subprocess.Popen(command, env=self.cluster.environment, stdout=subprocess.DEVNULL)

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
        logs = list((self.folder / "cluster-out" / "work" / "logs").iterdir())
        self.assertGreaterEqual(len(logs), 2)

    @at_full_length
    def test_a_node_and_the_driver_are_killed(self) -> None:
        self.hand_in_some()
        process = self.start()
        self.wait_for_ends(2)
        self.cluster.kill_node("one")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        self.assertEqual(self.start().wait(600), 0)
        self.same_marks()


class TenThousand(Many):
    """With a stand-in for the grading of one: what is tested is who does what, and how much memory
    that takes."""

    students = int(os.environ.get("PEERLAB_MANY", "10000"))
    executor = ("--executor", "slurm", "--jobs", "4")
    seconds = "0"
    sync = "0"
    nodes = ("one", "two", "three", "four")

    def setUp(self) -> None:
        super().setUp()
        self.cluster = Cluster(self.folder / "cluster", self.nodes, self)
        self.environment = {**self.cluster.environment, **self.environment}

    @at_full_length
    def test_every_part_is_killed(self) -> None:
        here = self.grade_here()
        collector = self.start("there", *self.executor)
        self.wait_for(0.1)
        self.cluster.kill("slurmctld")
        self.wait_for(0.2)  # workers go on without it
        self.cluster.begin("slurmctld")
        self.wait_for(0.3)
        self.cluster.kill("two")  # its worker goes on
        self.cluster.begin("two")
        self.wait_for(0.4)
        self.kill_worker("three")
        self.wait_for(0.5)
        self.kills += 1
        self.cluster.kill_node("four")
        self.wait_for(0.6)
        self.kill(collector)  # which writes most of the time
        early = self.records()
        there = self.finish(self.start("there", *self.executor), "there")
        self.assert_nothing_twice(early)
        self.assert_shared(3)
        self.assert_same_bytes()
        size = (self.folder / "there" / "results.sqlite").stat().st_size
        print(
            f"{self.students} submissions: {here // MIB} MiB at most on one machine, "
            f"{there // MIB} MiB where they are collected; results.sqlite has {size // MIB} MiB",
            flush=True,
        )
        self.assertLess(max(here, there), 320 * MIB)

    def kill_worker(self, node: str) -> None:
        self.kills += 1
        for pid in self.cluster.processes(node):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    needed()
    unittest.main()
