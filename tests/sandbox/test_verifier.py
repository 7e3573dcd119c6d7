# SPDX-License-Identifier: MIT
"""Verifiers start runners in the sandbox: right programs pass as they do outside, and a sandbox
that fails is our failure."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from grader.building.variants import Variant
from grader.course.project import here
from grader.sandbox import Launch, Limits, Request, Tier, cgroups, prepare
from grader.sandbox.programs import jail_program, programs, runners
from grader.selfcheck.lacking import needs
from tests.sandbox.tiers import available

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
SLEEPS = 1
NOBODY = 65534
FULL = "PEERLAB_FULL" in os.environ
KILLS = 40 if FULL else 4
HARNESS_ERROR = 4
# What a sandbox might break: many nodes, kernels, several processes, counting one's descriptors.
LABS = ("01", "04", "05", "06", "08") if FULL else ("01", "05")  # lab 08: memory far apart
FEW = ("05", "06") if FULL else ("05",)  # on tiers that are not the best


def ask(
    verifier: Path, runner: Path, launch: Launch, *more: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [verifier, "--runner", runner, *launch.options, *more],
        env=launch.environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def sandboxed(runner: Path, tier: Tier) -> AbstractContextManager[Launch]:
    return prepare(Request(argv=(), read_only=(runner,), node=True), tier)


class Verifiers(unittest.TestCase):
    def test_solutions_pass_on_every_tier(self) -> None:
        for tier in available():
            for number in LABS if tier is available()[0] else FEW:
                verifier = programs() / f"lab{number}-check"
                runner = runners() / f"solution{verifier.name[3:5]}-run"
                with self.subTest(tier=tier.value, verifier=verifier.name):
                    with sandboxed(runner, tier) as launch:
                        done = ask(verifier, runner, launch)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_machine_without_a_driver_has_none_in_the_sandbox(self) -> None:
        project = here(build=programs().parent)
        lab = next(lab for lab in project.labs() if lab.number == "01")
        wrong = "if (error == cudaErrorNoDevice)"
        text = (project.solutions_dir / lab.folder / "enumerate.c").read_text()
        right = "if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            variant = Variant(project, lab, Path(folder, "enumerate.c"))
            variant.source.write_text(text.replace(right, wrong))
            runner = variant.build_whole()
            with sandboxed(runner, available()[0]) as launch:
                done = ask(programs() / "lab01-check", runner, launch, "--case", "count_none")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("without a driver (error 35)", done.stdout)

    def test_a_sandbox_that_does_not_start_is_our_failure(self) -> None:
        runner = runners() / "solution01-run"
        for tier in available():
            with self.subTest(tier=tier.value), sandboxed(runner, tier) as launch:
                policy = Path(launch.options[-1])
                policy.write_text(policy.read_text() + "read /does/not/exist\nfolder /nowhere\n")
                done = ask(programs() / "lab01-check", runner, launch, "--case", "count")
                self.assertEqual(done.returncode, HARNESS_ERROR, done.stdout)
                self.assertIn("the sandbox did not start the program", done.stdout)

    def test_a_program_that_is_none_of_ours_fails(self) -> None:
        for tier in available():
            with self.subTest(tier=tier.value), sandboxed(Path("/usr/bin/true"), tier) as launch:
                done = ask(programs() / "lab01-check", Path("/usr/bin/true"), launch, "--all")
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("exit(0) before the function returned", done.stdout)

    def test_no_variable_of_the_graders_reaches_a_verifier(self) -> None:
        os.environ["CANARY"] = "tweet"
        self.addCleanup(os.environ.pop, "CANARY")
        with sandboxed(Path("/usr/bin/true"), available()[0]) as launch:
            self.assertNotIn("CANARY", launch.environment)


class Node(unittest.TestCase):
    """The node that serves a submission is in its jail (node.jail says what that holds)."""

    def test_it_is_in_its_jail(self) -> None:
        with tempfile.TemporaryDirectory(prefix="lab-node-") as folder:
            Path(folder).chmod(0o755)
            runner = Path(folder, "runner")
            runner.write_text(f"#!/bin/sh\nsleep {SLEEPS}\n")
            runner.chmod(0o755)
            for tier in (*available(), Tier.BARE):
                with self.subTest(tier=tier.value), sandboxed(runner, tier) as launch:
                    state = self.serving(runner, launch)
                    self.assertEqual(state["NoNewPrivs"], "1")
                    for group in self.groups(launch):
                        self.assertIn(f"/{group}\n", state["cgroup"])
                    if os.geteuid() == 0:
                        self.assertNotEqual(state["Uid"], "0")

    def groups(self, launch: Launch) -> set[str]:
        """The names of the submission's control groups, where some can be made."""
        lines = launch.environment["VGPU_NODE_JAIL"].splitlines()
        found = {Path(line).name for line in lines if line.startswith("cgroup ")}
        if one := cgroups.make(0, Limits()):
            one.remove()
            self.assertTrue(found, "this machine gives control groups, and the node has none")
        return found

    def test_a_plain_users_node_is_in_its_jail(self) -> None:
        """The same where the grader is not root: on `landlock` and `bare` there is no user of the
        node's own."""
        if os.geteuid() != 0:
            self.skipTest("this is a plain user: test_it_is_in_its_jail has asked")
        case = f"{Node.__module__}.{Node.__name__}.{Node.test_it_is_in_its_jail.__name__}"
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        words += [sys.executable, "-B", "-m", "unittest", "-v", case]
        with tempfile.TemporaryDirectory(prefix="lab-plain-") as folder:
            os.chown(folder, NOBODY, NOBODY)
            env = {**os.environ, "TMPDIR": folder, "HOME": folder, "XDG_RUNTIME_DIR": folder}
            done = subprocess.run(
                words,
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        if "Permission denied" in done.stderr and "unittest" not in done.stderr:
            self.skipTest(f"user {NOBODY} cannot read this checkout")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Ran 1 test", done.stderr)

    def serving(self, runner: Path, launch: Launch) -> dict[str, str]:
        """What its node is while a program runs that only sleeps."""
        words = [programs() / "lab01-check", "--runner", runner, "--case", "count"]
        process = subprocess.Popen(
            [*words, *launch.options],
            env=launch.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        found: dict[str, str] = {}
        while process.poll() is None:
            now = [self.state(node) for node in self.nodes(process.pid)]
            # What starts contexts beside the node is its child, and made before the jail closes.
            parents = {state.get("PPid") for state in now}
            inside = (s for s in now if s.get("Pid") in parents and s.get("Seccomp") == "2")
            found = next(inside, found)
            time.sleep(0.05)
        self.assertTrue(found, "no node was seen that has a filter of system calls")
        return found

    def state(self, process: Path) -> dict[str, str]:
        """Its status, and as "cgroup" all that it says of its groups; nothing when it has ended.

        A process that ends gives back its memory, then its groups, and is listed for a while after:
        groups that are read before a status with memory are those it had."""
        try:
            groups = (process / "cgroup").read_text()
            lines = (process / "status").read_text().splitlines()
        except OSError:
            return {}
        words = [line.replace(":", " ").split() for line in lines]
        found = {"cgroup": groups} | {word[0]: word[1] for word in words if len(word) > 1}
        return found if "VmSize" in found else {}

    def nodes(self, verifier: int) -> list[Path]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0")
                if f"lab-{verifier}-".encode() in b"".join(words[2:3]):
                    found.append(process)
        return found


class Killed(unittest.TestCase):
    """Whoever started a verifier dies by SIGKILL while the sandbox is being made: bwrap forks first
    and asks to die with its parent afterwards."""

    @needs(Tier.BUBBLEWRAP in available(), "no bwrap here: its gap is what this is about")
    def test_nothing_is_left(self) -> None:
        chance = random.Random(3)
        with tempfile.TemporaryDirectory(prefix="lab-killed-") as folder:
            Path(folder).chmod(0o755)
            runner = Path(folder, "runner")
            shutil.copy(runners() / "solution01-run", runner)
            with sandboxed(runner, Tier.BUBBLEWRAP) as launch:
                for _ in range(KILLS):
                    self.start_and_kill(runner, launch, chance.uniform(0, 0.006))
            deadline = time.monotonic() + SECONDS / 3
            while (left := self.running(runner)) and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(left, [])

    def start_and_kill(self, runner: Path, launch: Launch, seconds: float) -> None:
        verifier = [programs() / "lab01-check", "--runner", runner, "--die-with-parent"]
        parent = subprocess.Popen(
            ["/bin/sh", "-c", '"$0" "$@"; :', *verifier, *launch.options],
            env=launch.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + SECONDS
        while not any(words.startswith("bwrap") for words in self.running(runner)):
            self.assertLess(time.monotonic(), deadline, "no sandbox was made")
        time.sleep(seconds)
        parent.kill()
        parent.wait()

    def running(self, runner: Path) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                words = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [words] if str(runner) in words else []
        return found


class Launcher(unittest.TestCase):
    """lab-jail refuses a policy that it does not understand: what it left out would be a hole."""

    def refused(self, rules: str, why: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".policy") as file:
            file.write(rules)
            file.flush()
            done = subprocess.run(
                [jail_program(), file.name, "/usr/bin/true"],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(why, done.stderr)

    def test_unknown_rule(self) -> None:
        self.refused("tier landlock\nallow everything\n", "'allow everything' is not understood")

    def test_no_limits(self) -> None:
        self.refused("tier landlock\nuid 20000\n", "no limits")

    def test_bubblewrap_without_its_path(self) -> None:
        self.refused("tier bubblewrap\nuid 20000\n", "without its path")

    def test_relative_path(self) -> None:
        self.refused("read etc/passwd\n", "not understood")

    def test_number_that_is_none(self) -> None:
        self.refused("processes -1\n", "not understood")


if __name__ == "__main__":
    unittest.main()
