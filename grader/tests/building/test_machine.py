# SPDX-License-Identifier: MIT
"""building.machine, needs and install: examining a machine, and choosing what to install."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import Done
from grader.building import build, install, needs
from grader.building.machine import Machine, parse_os_release
from grader.building.needs import Need, parse_version
from grader.tests.fake import FakeCheckout

DEBIAN = Machine("Linux", "Debian GNU/Linux 12", frozenset({"debian"}), "x86_64", False, True)
FEDORA = Machine("Linux", "Fedora Linux 40", frozenset({"fedora"}), "x86_64", False, True)


def setUpModule() -> None:
    """apt-cache is not asked, which takes half a second."""
    asked = mock.patch.object(install, "apt_version", return_value=(14, 0))
    asked.start()
    unittest.addModuleCleanup(asked.stop)


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


class Packages(unittest.TestCase):
    def test_everything_comes_from_apt(self) -> None:
        packages = install.packages_for(needs.needs(), apt_cmake=True)
        self.assertLessEqual({"gcc", "libc6-dev", "clang", "cmake", "libcjson-dev"}, set(packages))

    def test_an_old_cmake_is_passed_over_for_the_one_on_pypi(self) -> None:
        with mock.patch.object(install, "has_ensurepip", return_value=False):
            packages = install.packages_for(named("CMake", "gcc"), apt_cmake=False)
        self.assertEqual(packages, ["gcc", "libc6-dev", install.VENV])
        self.assertRegex(install.VENV, r"^python3\.\d+-venv$")  # of the Python that runs ./lab


class Clang(FakeCheckout):
    def found(self, **versions: tuple[int, ...]) -> str:
        """With these programs in PATH, whose names have _ for - and x for +."""
        (need,) = named("clang")
        known = {name.replace("x", "+").replace("_", "-"): at for name, at in versions.items()}
        with mock.patch.object(needs, "version_of", lambda _, name: known.get(name, ())):
            return need.found(self.project)

    def test_the_newest_that_will_do_is_taken(self) -> None:
        self.assertEqual(self.found(clangxx=(14, 0, 6), clangxx_19=(19, 1)), "clang 14.0.6")
        self.assertEqual(self.found(clangxx=(11, 0, 1), clangxx_16=(16, 0)), "clang 16.0")
        self.assertEqual(self.found(clangxx=(11, 0, 1)), "")

    def test_the_package_that_is_new_enough_is_installed(self) -> None:
        have = {"clang": (11, 0), "clang-13": (13, 0, 1), "clang-16": (16, 0, 6)}
        with mock.patch.object(install, "apt_version", lambda name: have.get(name, ())):
            self.assertEqual(install.packages_for(named("clang"), apt_cmake=True), ["clang-16"])
            have["clang"] = (14, 0)
            self.assertEqual(install.packages_for(named("clang"), apt_cmake=True), ["clang"])


class Configured(FakeCheckout):
    def test_not_before_cmake_has_finished(self) -> None:
        """Otherwise ./lab start would build, after a configure step that failed."""
        self.write("build/vgpu/CMakeCache.txt", "")
        self.assertTrue(build.is_cold(self.project))
        self.write("build/vgpu/CMakeFiles/TargetDirectories.txt", "")
        self.assertFalse(build.is_cold(self.project))


class Compilers(unittest.TestCase):
    def tried(self, name: str, version: str) -> str:
        """Whether warnings of this compiler are errors."""
        script = Path(__file__).parents[3] / "harness" / "cmake" / "tried.cmake"
        with tempfile.TemporaryDirectory() as folder:
            asks = Path(folder, "asks.cmake")
            asks.write_text(f'include({script})\nmessage("${{PEERLAB_TRIED}}")\n', encoding="utf-8")
            options = [f"-DCMAKE_C_COMPILER_ID={name}", f"-DCMAKE_C_COMPILER_VERSION={version}"]
            done = subprocess.run(
                ["cmake", *options, "-P", asks], capture_output=True, text=True, check=True
            )
        return done.stderr.strip()

    def test_one_that_is_newer_than_all_that_were_tried_only_warns(self) -> None:
        self.assertEqual(self.tried("GNU", "16.2.0"), "ON")
        self.assertEqual(self.tried("GNU", "17.0.1"), "OFF")
        self.assertEqual(self.tried("Clang", "21.1.8"), "ON")
        self.assertEqual(self.tried("Clang", "22.1.0"), "OFF")


class Advice(unittest.TestCase):
    def test_debian_gets_the_command(self) -> None:
        text = install.advice(named("gcc", "cJSON"), DEBIAN)
        if DEBIAN.has_apt:
            self.assertIn("sudo apt-get install gcc libc6-dev libcjson-dev", text)
        self.assertIn("compiles the node", text)

    def test_what_pip_could_not_install_is_not_left_to_apt(self) -> None:
        with mock.patch.object(install, "has_ensurepip", return_value=True):
            text = install.advice(named("CMake"), DEBIAN, apt_cmake=False)
        self.assertIn("\npip could not install it: .venv/bin/pip install 'cmake>=3.25' says", text)

    def test_a_python_that_its_user_compiled_may_lack_what_pip_needs(self) -> None:
        with mock.patch.object(install, "PIP_NEEDS", {"no_such_module": "none-dev"}):
            text = install.advice(named("CMake", "cJSON"), DEBIAN, apt_cmake=False)
            apt = install.advice(named("CMake", "cJSON"), DEBIAN, apt_cmake=True)
        self.assertIn("libcjson-dev none-dev", text)
        self.assertRegex(text, r"compiled on a machine without none-dev\. Install .*\nThen run")
        self.assertNotIn("none-dev", apt)

    def test_a_grader_needs_more_modules(self) -> None:
        install.require_whole_python()
        with (
            mock.patch.object(install, "GRADER_NEEDS", {"no_such_module": "none-dev"}),
            self.assertRaisesRegex(LabError, "without none-dev") as caught,
        ):
            install.require_whole_python()
        self.assertEqual(caught.exception.status, ExitStatus.MISSING)

    def test_other_systems_get_their_names(self) -> None:
        text = install.advice(named("gcc", "g++", "clang", "ninja", "cJSON"), FEDORA)
        self.assertIn("On Fedora Linux 40 run:\n  sudo dnf install gcc glibc-devel gcc-c++ ", text)
        self.assertIn(" clang ninja-build cjson-devel\n", text)
        rhel = Machine("Linux", "Rocky 9", frozenset({"rocky", "rhel", "fedora"}), "", False, False)
        self.assertIn("dnf install cjson-devel\n", install.advice(named("cJSON"), rhel))
        for name, text in (("suse", "zypper install cJSON-devel"), ("arch", "--needed cjson")):
            other = Machine("Linux", name, frozenset({name}), "x86_64", False, True)
            self.assertIn(text, install.advice(named("cJSON"), other))

    def test_unknown_systems_get_debians_names(self) -> None:
        text = install.advice(
            named("cJSON"), Machine("Linux", "Void", frozenset(), "", False, True)
        )
        self.assertIn("Void is not Debian", text)
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

    def steps(self, missing: list[list[Need]], sudo: list[str] | None) -> list[str]:
        """The steps of install() for these successive lists of missing tools."""
        done: list[str] = []
        with (
            mock.patch.object(install, "rights", return_value=sudo),
            mock.patch.object(needs, "missing", side_effect=missing[1:]),
            mock.patch.object(Machine, "has_apt", True),
            mock.patch.object(install, "has_ensurepip", return_value=False),
            mock.patch.object(install, "_apt", side_effect=lambda _, w, __: done.append(w[-1])),
            mock.patch.object(install, "unpack", side_effect=lambda *_: done.append("unpack")),
            mock.patch.object(
                install, "cmake_from_pypi", side_effect=lambda *_: done.append("pip")
            ),
        ):
            install.install(self.project, DEBIAN, missing[0], done.append)
        return done

    def test_with_rights_apt_does_it(self) -> None:
        steps = self.steps([named("gcc", "cJSON"), [], []], [])
        self.assertEqual(steps, ["-qq", "libcjson-dev"])

    def test_with_rights_and_an_old_cmake_in_the_way(self) -> None:
        steps = self.steps([named("CMake"), named("CMake"), []], ["sudo"])
        self.assertEqual(steps[-2:], [install.VENV, "pip"])

    def test_without_rights_only_the_checkout_is_written(self) -> None:
        self.assertEqual(self.steps([named("cJSON", "CMake"), []], None), ["unpack", "pip"])

    def test_pip_comes_by_apt_where_python_has_none_and_that_is_permitted(self) -> None:
        cases = (  # rights, ensurepip is there, pip is there, what apt does
            ([], False, False, ["-qq", install.VENV]),
            (["sudo"], False, False, ["-qq", install.VENV]),
            ([], True, False, []),
            ([], False, True, []),
            (None, False, False, []),
        )
        for sudo, ensurepip, has_pip, wanted in cases:
            with (
                self.subTest(sudo=sudo, ensurepip=ensurepip, has_pip=has_pip),
                mock.patch.object(install, "rights", return_value=sudo),
                mock.patch.object(Machine, "has_apt", True),
                mock.patch.object(install, "has_ensurepip", return_value=ensurepip),
                mock.patch.object(install, "capture", return_value=Done(not has_pip, "")),
                mock.patch.object(install, "_apt") as apt,
            ):
                install.pip(DEBIAN, lambda _: None)
                self.assertEqual([call.args[1][-1] for call in apt.call_args_list], wanted)

    def cccl(self, status: int) -> list[list[str]]:
        """The commands that install.cccl() runs, if pip ends with that status."""
        ran: list[list[str]] = []

        def show(words: list[str | Path]) -> int:
            ran.append([str(word) for word in words])
            return status

        with (
            mock.patch.object(install, "capture", return_value=Done(0, "pip")),
            mock.patch.object(install, "show", side_effect=show),
        ):
            install.cccl(self.project, lambda _: None)
        return ran

    def test_cccl_goes_beside_the_build_once(self) -> None:
        (words,) = self.cccl(0)
        folder = self.root / "build" / "cccl"
        self.assertEqual(words[-4:], ["--target", str(folder), "--no-deps", install.CCCL])
        (folder / "nvidia_cuda_cccl_cu12-12.9.27.dist-info").mkdir(parents=True)
        self.assertEqual(self.cccl(0), [])

    def test_without_a_network_cccl_is_named_and_nothing_is_left(self) -> None:
        with self.assertRaises(LabError) as caught:
            self.cccl(1)
        self.assertEqual(caught.exception.status, ExitStatus.MISSING)
        self.assertIn("nvidia-cuda-cccl-cu12", str(caught.exception))
        self.assertIn("a network", str(caught.exception))
        self.assertFalse((self.root / "build" / "cccl").exists())

    def test_own_tools_come_first_in_path(self) -> None:
        self.assertNotIn(str(self.root), needs.tool_path(self.project))
        (self.root / ".venv/bin").mkdir(parents=True)
        (self.root / ".deps/usr").mkdir(parents=True)
        env = needs.build_env(self.project)
        self.assertTrue(env["PATH"].startswith(str(self.root / ".venv/bin")))
        self.assertTrue(env["CMAKE_PREFIX_PATH"].startswith(str(self.root / ".deps/usr")))


if __name__ == "__main__":
    unittest.main()
