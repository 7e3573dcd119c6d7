# SPDX-License-Identifier: MIT
"""grader.machine, needs and install: looking at a machine, and deciding what to do about it."""

import unittest
from unittest import mock

from grader import install, needs
from grader.exits import ExitStatus, LabError
from grader.machine import Machine, parse_os_release
from grader.needs import Need, parse_version
from grader.tests.fake import FakeCheckout

DEBIAN = Machine("Linux", "Debian GNU/Linux 12", frozenset({"debian"}), "x86_64", False, True)
FEDORA = Machine("Linux", "Fedora Linux 40", frozenset({"fedora"}), "x86_64", False, True)


def named(*names: str) -> list[Need]:
    return [need for need in needs.needs() if need.name.startswith(names)]


class Versions(unittest.TestCase):
    def test_first_dotted_number_counts(self) -> None:
        self.assertEqual(parse_version("cmake version 3.25.1\n\nCMake 9.9"), (3, 25, 1))
        self.assertEqual(parse_version("gcc (Debian 12.2.0-14) 12.2.0"), (12, 2, 0))
        self.assertEqual(parse_version("no number"), ())

    def test_os_release(self) -> None:
        found = parse_os_release("ID=ubuntu\nID_LIKE=\"debian\"\n# x\nPRETTY_NAME='U 22'\n")
        self.assertEqual(found["ID_LIKE"], "debian")
        self.assertEqual(found["PRETTY_NAME"], "U 22")


class Plans(unittest.TestCase):
    def plan(self, missing: list[Need], machine: Machine = DEBIAN, **how: bool) -> install.Plan:
        return install.plan(missing, machine, **how)

    def test_with_rights_everything_comes_from_apt(self) -> None:
        plan = self.plan(needs.needs(), may_apt=True, apt_cmake=True)
        self.assertFalse(plan.wheel or plan.unpack)
        self.assertLessEqual({"gcc", "libc6-dev", "cmake", "libcjson-dev"}, set(plan.apt))

    def test_an_old_cmake_is_passed_over_for_the_one_on_pypi(self) -> None:
        with mock.patch.object(install, "has_ensurepip", return_value=False):
            plan = self.plan(named("CMake", "gcc"), may_apt=True, apt_cmake=False)
        self.assertTrue(plan.wheel)
        self.assertEqual(plan.apt, ("gcc", "libc6-dev", "python3-venv"))

    def test_without_rights_only_the_checkout_is_written(self) -> None:
        plan = self.plan(named("cJSON", "CMake"), may_apt=False, apt_cmake=True)
        self.assertEqual(plan, install.Plan((), True, ("libcjson-dev", "libcjson1")))

    def test_without_rights_a_compiler_cannot_be_had(self) -> None:
        plan = self.plan(named("gcc"), may_apt=False, apt_cmake=True)
        self.assertEqual(plan, install.Plan((), False, ()))


class Advice(unittest.TestCase):
    def test_debian_gets_the_command(self) -> None:
        text = install.advice(named("gcc", "cJSON"), DEBIAN)
        if DEBIAN.has_apt:
            self.assertIn("sudo apt-get install gcc libc6-dev libcjson-dev", text)
        self.assertIn("compiles the node", text)

    def test_other_systems_get_the_names(self) -> None:
        text = install.advice(named("cJSON"), FEDORA)
        self.assertIn("Fedora Linux 40 is not Debian", text)
        self.assertIn("libcjson-dev", text)


class Install(FakeCheckout):
    def test_what_stays_missing_ends_with_its_status(self) -> None:
        said: list[str] = []
        with (
            mock.patch.object(install, "rights", return_value=None),
            mock.patch.object(needs, "missing", return_value=named("gcc")),
            self.assertRaises(LabError) as caught,
        ):
            install.install(self.project, FEDORA, named("gcc"), said.append)
        self.assertEqual(caught.exception.status, ExitStatus.MISSING)
        self.assertIn("gcc", str(caught.exception))

    def test_own_tools_come_first_in_path(self) -> None:
        self.assertNotIn(str(self.root), needs.tool_path(self.project))
        (self.root / ".venv/bin").mkdir(parents=True)
        (self.root / ".deps/usr").mkdir(parents=True)
        env = needs.build_env(self.project)
        self.assertTrue(env["PATH"].startswith(str(self.root / ".venv/bin")))
        self.assertTrue(env["CMAKE_PREFIX_PATH"].startswith(str(self.root / ".deps/usr")))


if __name__ == "__main__":
    unittest.main()
