# SPDX-License-Identifier: MIT
"""Verifiers start runners in the sandbox: right programs pass as they do outside, and a sandbox
that fails is our failure."""

import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from grader.sandbox import Launch, Request, Tier, prepare
from grader.sandbox.tiers import jail_program, programs
from tests.sandbox.tiers import available

SECONDS = 300
KILLS = 40
HARNESS_ERROR = 4
# What a sandbox might break: many nodes, kernels, several processes, counting one's descriptors.
LABS = ("01", "04", "05", "06", "08")  # and memory that lies far apart, in lab 08
FEW = ("05", "06")  # on tiers that are not the best


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
                runner = programs() / f"solution{verifier.name[3:5]}-run"
                with self.subTest(tier=tier.value, verifier=verifier.name):
                    with sandboxed(runner, tier) as launch:
                        done = ask(verifier, runner, launch)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_sandbox_that_does_not_start_is_our_failure(self) -> None:
        runner = programs() / "solution01-run"
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


class Killed(unittest.TestCase):
    """Whoever started a verifier dies by SIGKILL while the sandbox is being made: bwrap forks first
    and asks to die with its parent afterwards."""

    def test_nothing_is_left(self) -> None:
        if Tier.BUBBLEWRAP not in available():
            self.skipTest("no bwrap here: its gap is what this is about")
        chance = random.Random(3)
        with tempfile.TemporaryDirectory(prefix="lab-killed-") as folder:
            Path(folder).chmod(0o755)
            runner = Path(folder, "runner")
            shutil.copy(programs() / "solution01-run", runner)
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
        self.refused("tier bubblewrap\nuid 20000\n", "not where it is")

    def test_relative_path(self) -> None:
        self.refused("read etc/passwd\n", "not understood")

    def test_number_that_is_none(self) -> None:
        self.refused("processes -1\n", "not understood")


if __name__ == "__main__":
    unittest.main()
