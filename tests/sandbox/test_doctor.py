# SPDX-License-Identifier: MIT
"""`./lab doctor`: it sees a hole where there is one, and says what to do."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus
from grader.building.machine import Machine
from grader.commands import doctor
from grader.commands.doctor import Examined, advice
from grader.sandbox import Tier, cgroups
from grader.sandbox.attacks import Attack, Finding, attack_all, targets
from tests.sandbox.tiers import available

DEBIAN = Machine("Linux", "Debian", frozenset({"debian"}), "x86_64", wsl=False, root=False)
OFTEN_CLOSED = ("debug", "keyring", "namespace")  # distributions and containers forbid them
MEMORIES = {"memory", "shared-memory", "open-files", "flying-files", "chain", "page-tables"}
# Bounded by the limits of descriptors and of each file: 1 GiB a submission.
OPEN_WITHOUT_GROUPS = {"flying-files"}
FULL = "PEERLAB_FULL" in os.environ
ATTACK = Attack("reads a file of yours", "read", "/x")
MEMORY = Attack("takes more memory than it may", "memory", "1", limit=True)


def examined(
    tier: Tier, reason: str = "", *, held: bool = True, attack: Attack = ATTACK
) -> Examined:
    return Examined(tier, reason, () if reason else (Finding(attack, held, True),))


class Attacks(unittest.TestCase):
    @unittest.skipUnless(FULL, "PEERLAB_FULL is not set, and `./lab doctor` below attacks, too")
    def test_every_attack_is_held_on_every_tier_and_gets_through_without(self) -> None:
        with targets() as attacks:
            for tier in available():
                for finding in attack_all(attacks, tier):
                    with self.subTest(tier=tier.value, attack=finding.attack.title):
                        self.assertTrue(finding.held or self.is_known_open(finding))
                        if finding.attack.word not in OFTEN_CLOSED:
                            self.assertTrue(finding.open_outside)

    def is_known_open(self, finding: Finding) -> bool:
        return not doctor.has_groups() and finding.attack.word in OPEN_WITHOUT_GROUPS

    def test_without_control_groups_memory_has_an_end(self) -> None:
        """Deep in a chain of processes, in files, in page tables; what is not held has a name."""
        with targets() as attacks, mock.patch.object(cgroups, "make", return_value=None):
            wanted = [attack for attack in attacks if attack.word in MEMORIES]
            self.assertEqual(len(wanted), len(MEMORIES))
            for tier in available():
                found = attack_all(wanted, tier)
                open_ = {one.attack.word for one in found if not one.held}
                self.assertEqual(open_, OPEN_WITHOUT_GROUPS, tier)
                titles = [f.attack.title for f in found if not f.held]
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    doctor._conclude(DEBIAN, [Examined(tier, "", tuple(found))])
                for title in titles:
                    self.assertIn(f"{title} is not stopped", said.getvalue())

    def test_a_hole_is_seen(self) -> None:
        """Without Landlock or namespaces every file can be read."""
        with targets() as attacks:
            read = [attack for attack in attacks if attack.word == "read"]
            self.assertEqual([one.held for one in attack_all(read, Tier.BARE)], [False])

    def test_a_slow_machine_ends_no_report(self) -> None:
        late = subprocess.TimeoutExpired("lab-probe", 30)
        with (
            targets() as attacks,
            mock.patch("grader.sandbox.attacks._on", return_value=False),
            mock.patch("grader.sandbox.attacks.subprocess.run", side_effect=late),
        ):
            self.assertEqual(
                [one.open_outside for one in attack_all(attacks[:1], Tier.BARE)], [False]
            )


class Build(unittest.TestCase):
    def test_another_build_is_the_one_that_counts(self) -> None:
        """`./lab --build DIR doctor` takes DIR's programs, whatever the environment says."""
        with tempfile.TemporaryDirectory() as empty:
            status, said = self.doctor(empty, os.environ["PEERLAB_BUILD"])
            self.assertEqual(status, ExitStatus.NOT_CONFIGURED, said)
            self.assertIn(f"{empty}/bin/lab-jail is not built", said)
            status, said = self.doctor(os.environ["PEERLAB_BUILD"], empty)
            self.assertEqual(status, ExitStatus.OK, said)
            self.assertRegex(said, rf"(?m)^sandbox    {available()[0]}: ")

    def doctor(self, build: str, variable: str) -> tuple[int, str]:
        words = [sys.executable, "-B", "-m", "grader", "--build", build, "doctor"]
        env = {**os.environ, "PEERLAB_BUILD": variable}
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr


class Conclusions(unittest.TestCase):
    def conclude(self, *tiers: Examined) -> tuple[ExitStatus, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            doctor._table(list(tiers))
            status = doctor._conclude(DEBIAN, list(tiers))
        return status, said.getvalue()

    def test_the_best_tier_counts(self) -> None:
        status, text = self.conclude(examined(Tier.BUBBLEWRAP), examined(Tier.LANDLOCK))
        self.assertIs(status, ExitStatus.OK)
        self.assertIn("sandbox    bubblewrap: ", text)

    def test_a_hole_in_it_is_a_failure(self) -> None:
        status, text = self.conclude(examined(Tier.BUBBLEWRAP, held=False))
        self.assertIs(status, ExitStatus.FAILED)
        self.assertIn("GOT THROUGH", text)
        self.assertIn("a submission that reads a file of yours is not stopped", text)

    def test_a_limit_that_does_not_hold_is_told(self) -> None:
        status, text = self.conclude(examined(Tier.LANDLOCK, held=False, attack=MEMORY))
        self.assertIs(status, ExitStatus.OK)
        self.assertIn("takes more memory than it may is not stopped", text)

    def test_no_tier_at_all(self) -> None:
        status, text = self.conclude(examined(Tier.LANDLOCK, "no Landlock"))
        self.assertIs(status, ExitStatus.MISSING)
        self.assertIn("./lab grade refuses", text)
        self.assertIn("Linux 5.13 or newer", text)


class Advice(unittest.TestCase):
    def advice(self, *tiers: Examined) -> str:
        return "\n".join(advice(DEBIAN, list(tiers)))

    def test_bubblewrap_by_its_package(self) -> None:
        self.assertIn("sudo apt-get install bubblewrap", self.advice(examined(Tier.LANDLOCK)))

    def test_what_forbids_namespaces(self) -> None:
        broken = examined(Tier.BUBBLEWRAP, "setting up uid map: Permission denied")
        with tempfile.TemporaryDirectory() as folder:
            switch = Path(folder) / "switch"
            switch.write_text("1\n")
            with mock.patch.object(doctor, "APPARMOR", switch):
                self.assertIn("AppArmor forbids user namespaces", self.advice(broken))
            switch.write_text("0\n")
            with mock.patch.object(doctor, "APPARMOR", switch / "none"):
                with mock.patch.object(doctor, "USERNS", switch):
                    self.assertIn("unprivileged_userns_clone=1", self.advice(broken))
                with (
                    mock.patch.object(doctor, "USERNS", switch / "none"),
                    mock.patch.object(doctor, "CONTAINERS", (switch,)),
                ):
                    said = self.advice(broken)
                self.assertIn("in a container", said)
                self.assertIn("systempaths=unconfined", said)


if __name__ == "__main__":
    unittest.main()
