# SPDX-License-Identifier: MIT
"""Every test of a build tree has one layer and stands in docs/testing.md; and CMake refuses those
that have none, or two.

test_layers.py BUILD
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import table

BUILD = Path(sys.argv.pop(1))
NINJA = (BUILD / "build.ninja").is_file()
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(layers LANGUAGES NONE)
include({root}/harness/cmake/layers.cmake)
enable_testing()
{tests}
peerlab_check_layers()
"""


def configured(tests: str) -> tuple[int, str]:
    with tempfile.TemporaryDirectory(prefix="peerlab-layers-") as folder:
        text = PROJECT.format(root=table.ROOT, tests=tests)
        Path(folder, "CMakeLists.txt").write_text(text, encoding="utf-8")
        Path(folder, "sub").mkdir()
        Path(folder, "sub", "CMakeLists.txt").write_text("add_test(NAME hidden COMMAND true)\n")
        done = subprocess.run(
            ["cmake", "-S", folder, "-B", f"{folder}/build", *(("-G", "Ninja") if NINJA else ())],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        listed = ""
        if done.returncode == 0:
            words = ["ctest", "--test-dir", f"{folder}/build", "-V"]
            listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return done.returncode, " ".join((done.stdout + listed).split())


class Programs(unittest.TestCase):
    """BUILD/bin is for programs that people type; what only tests start is elsewhere."""

    def outputs(self) -> list[str]:
        rules = BUILD / "build.ninja"
        if not NINJA:
            self.skipTest("another generator than Ninja")
        found = re.findall(r"^build (\S+)", rules.read_text(encoding="utf-8"), re.MULTILINE)
        return [output for output in found if "CMakeFiles" not in output]

    def test_cmake_runs_again_when_a_file_comes_and_looks_for_none_in_a_build(self) -> None:
        rules = BUILD / "build.ninja"
        if not NINJA:
            self.skipTest("another generator than Ninja")
        text = rules.read_text(encoding="utf-8")
        self.assertNotIn("VerifyGlobs", text)  # file(GLOB ... CONFIGURE_DEPENDS): peerlab_glob
        again = re.search(r"^build build\.ninja\b[^:]*: RERUN_CMAKE(.*)", text, re.MULTILINE)
        read = again[1].split() if again else []
        for folder in ("tests", "tests/findings", "vgpu/include"):
            self.assertIn(str(table.ROOT / folder), read)

    def test_what_editors_read_is_there_after_lab_start(self) -> None:
        if not NINJA or table.ROOT / "build" / "vgpu" != BUILD:
            self.skipTest("another generator than Ninja, or not the build of the editor's files")
        words = ["ninja", "-C", BUILD, "-t", "commands", "course"]
        commands = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        self.assertIn("vgpu-cc --clangd ", commands)

    def test_runners_have_a_folder_of_their_own(self) -> None:
        runner = re.compile(r"(lab|solution)\d+-run(-\d+(-own)?)?$")
        runners = {Path(o).parent.name for o in self.outputs() if runner.search(o)}
        self.assertEqual(runners, {"runners"})

    def test_bin_stays_small(self) -> None:
        typed = [o for o in self.outputs() if Path(o).parent == Path("bin")]
        self.assertGreater(len(typed), 5)
        self.assertLess(len(typed), 50, sorted(typed))


class Refused(unittest.TestCase):
    def refused(self, tests: str, why: str) -> None:
        status, said = configured(tests)
        self.assertNotEqual(status, 0, said)
        self.assertIn(why, said)

    def test_without_a_layer(self) -> None:
        self.refused("peerlab_test(lost COMMAND true)", "lost has no layer")
        self.refused("add_test(NAME lost COMMAND true)", "Tests without a layer in")
        self.refused("add_subdirectory(sub)", "/sub: hidden")

    def test_with_two(self) -> None:
        self.refused("peerlab_test(two LAYER unit LABELS full COMMAND true)", "two has two layers")
        self.refused(
            "peerlab_test(two LAYER unit COMMAND true)\npeerlab_layer(two ci)", "two has two layers"
        )

    def test_with_one_that_is_none(self) -> None:
        self.refused("peerlab_test(odd LAYER minutes COMMAND true)", "it is 'minutes'")

    def test_with_one(self) -> None:
        status, said = configured("peerlab_test(good LAYER ci FULL COMMAND true)")
        self.assertEqual(status, 0, said)
        self.assertIn("good", said)
        self.assertIn("good.full", said)

    def test_one_that_lacks_something_is_skipped_and_says_why(self) -> None:
        status, said = configured('peerlab_cannot_test(less LAYER ci "no such tool here")')
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"no such tool here 1/1 Test +#1: less \.+\*\*\*Skipped")


class Tests(unittest.TestCase):
    def setUp(self) -> None:
        self.tests = table.listed(BUILD)

    def test_each_has_one_layer(self) -> None:
        wrong = {test.name: test.layers for test in self.tests if len(test.layers) != 1}
        self.assertEqual(wrong, {})

    def test_no_learner_must_pass(self) -> None:
        """Every layer but `learner`, and `ctest -L quick`, pass in a fresh checkout."""
        learners = [t for t in self.tests if t.name.startswith(("lab0", "build.lab", "written."))]
        self.assertTrue(learners)
        self.assertEqual([t.name for t in learners if t.layers != ["learner"]], [])
        self.assertEqual([t.name for t in learners if "quick" in t.labels], [])

    def test_a_lab_by_its_name(self) -> None:
        """`ctest -R lab03`, as the READMEs have it, runs the learner's tests and no others."""
        named = [test for test in self.tests if re.search(r"lab\d\d", test.name)]
        self.assertEqual([test.name for test in named if test.layers != ["learner"]], [])

    def test_each_is_in_the_table(self) -> None:
        have = table.rows(table.PAGE.read_text(encoding="utf-8"))
        self.assertEqual(table.lacking(table.keys(self.tests), have), [])


class Presets(unittest.TestCase):
    """What is typed every day runs nothing that takes long, and -checkout no learner's tests."""

    def test_what_they_leave_out(self) -> None:
        text = (table.ROOT / "CMakePresets.json").read_text(encoding="utf-8")
        presets = json.loads(text)["testPresets"]
        self.assertTrue(presets)
        for preset in presets:
            out = preset.get("filter", {}).get("exclude", {}).get("label", "")
            left_out = [layer for layer in table.LAYERS if out and re.search(out, layer)]
            learner = ["learner"] if preset["name"].endswith("-checkout") else []
            self.assertEqual(left_out, ["full", *learner], preset["name"])


class Sanitized(unittest.TestCase):
    """`./lab selfcheck --ci` leaves out what the preset asan runs: it must be there, whole."""

    SHORT = frozenset({"programs.usual"})  # it does less with sanitizers, and is run both ways

    def test_what_one_leaves_out_the_other_runs(self) -> None:
        text = (table.ROOT / "CMakePresets.json").read_text(encoding="utf-8")
        (preset,) = [p for p in json.loads(text)["testPresets"] if p["name"] == "asan"]
        wanted, unwanted = (preset["filter"][key] for key in ("include", "exclude"))
        run = {
            test.name
            for test in table.listed(BUILD)
            if test.layers == ["ci"]
            and re.search(wanted["name"], test.name)
            and not re.search(unwanted["name"], test.name)
        }
        left_out = {test.name for test in table.listed(BUILD) if "sanitized" in test.labels}
        self.assertGreater(len(left_out), 40)
        self.assertEqual(left_out, run - self.SHORT)


class Table(unittest.TestCase):
    TESTS = (
        table.Listed("node.arena", frozenset({"unit", "project"})),
        table.Listed("node.fuzz", frozenset({"ci"})),
        table.Listed("truth", frozenset({"docs"})),
        table.Listed("truth.long", frozenset({"docs"})),
        table.Listed("solution03.split", frozenset({"selfcheck"})),
    )

    def test_rows(self) -> None:
        self.assertEqual(
            table.keys(self.TESTS),
            [
                ("unit", "node.*"),
                ("selfcheck", "solutionNN.*"),
                ("ci", "node.*"),
                ("docs", "truth.*"),
            ],
        )

    def test_it_is_noticed(self) -> None:
        text = f"{table.MARKS[0]}| `unit` | `node.*` | rooms | |\n| `ci` | `gone` |  | 1 |\n"
        self.assertEqual(
            table.lacking([("unit", "node.*"), ("ci", "node.*")], table.rows(text)),
            [
                "gone in layer ci: say what",
                "no row for node.* in layer ci",
                "no test of gone is in layer ci",
            ],
        )

    def test_written_it_keeps_what_is_said(self) -> None:
        text = f"a\n{table.MARKS[0]}| `unit` | `node.*` | rooms | |\n{table.MARKS[1]}\nz\n"
        wanted = [("unit", "node.*"), ("ci", "node.*")]
        new = table.written(text, wanted, {("unit", "node.*"): 1.25})
        self.assertEqual(table.rows(new)[("unit", "node.*")], table.Row("rooms", "1.2"))
        self.assertEqual(table.rows(new)[("ci", "node.*")], table.Row())
        self.assertTrue(new.startswith("a\n") and new.endswith("\nz\n"))

    def test_builds_have_no_seconds(self) -> None:
        text = f"{table.MARKS[0]}| `learner` | `build.*` | builds | 9 |\n{table.MARKS[1]}"
        key = ("learner", "build.*")
        new = table.written(text, [key], {key: 9600.3})
        self.assertEqual(table.rows(new)[key], table.Row("builds"))


if __name__ == "__main__":
    unittest.main()
