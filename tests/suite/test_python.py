# SPDX-License-Identifier: MIT
"""The oldest Python that is promised: it is said wherever a version is, CI runs it, nothing newer
is used (of layer full), and ./lab under an older one goes on under a newer one, or says what to do.

In CI, which says what its machine lacks, this Python must be the oldest one.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "lab"
CI = "PEERLAB_LACKING" in os.environ
FULL = "PEERLAB_FULL" in os.environ
# Runs ./lab as an older Python would: nothing in it may need a newer one before it has looked.
OLDER = """\
import runpy, sys
sys.version_info, sys.version, sys.argv = (3, 10, 12, "final", 0), "3.10.12 (main)", sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def oldest() -> tuple[int, int]:
    found = re.search(r"^OLDEST = \((\d), (\d+)\)", LAB.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, "lab does not say OLDEST"
    return int(found[1]), int(found[2])


def tracked(*patterns: str) -> list[Path]:
    words = ["git", "-C", ROOT, "ls-files", "-z", "--", *patterns]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return [ROOT / name for name in done.stdout.split("\0") if name]


class Said(unittest.TestCase):
    def test_the_same_everywhere(self) -> None:
        places = {
            "README.md": rf"Python 3\.{oldest()[1]} or newer",
            "harness/cmake/setup.cmake": rf"find_package\(Python3 3\.{oldest()[1]} ",
            ".ruff.toml": rf'target-version = "py3{oldest()[1]}"',
            "docs/instructors.md": rf"Python 3\.{oldest()[1]}",
            "docs/style.md": rf"Python 3\.{oldest()[1]}",
        }
        for place, pattern in places.items():
            self.assertRegex((ROOT / place).read_text(encoding="utf-8"), pattern, place)

    def test_no_cmake_file_asks_for_less(self) -> None:
        for path in tracked("*CMakeLists.txt", "*.cmake"):
            for wanted in re.findall(r"Python3 3\.(\d+)", path.read_text(encoding="utf-8")):
                self.assertEqual(int(wanted), oldest()[1], path)

    @unittest.skipUnless(CI, "only CI must have the oldest one")
    def test_ci_runs_it(self) -> None:
        self.assertEqual(sys.version_info[:2], oldest())


class Used(unittest.TestCase):
    @unittest.skipUnless(FULL, "PEERLAB_FULL is not set")  # 40 s; CI runs the oldest one itself
    @unittest.skipUnless(shutil.which("vermin") or CI, "no vermin here (pip install vermin)")
    def test_nothing_newer(self) -> None:
        words = ["vermin", "--no-tips", "-q", "--target={}.{}-".format(*oldest())]
        code = tracked("*.py", "lab", ":!docs/book/code")
        done = subprocess.run([*words, *code], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_launcher_can_be_read_by_old_ones(self) -> None:
        text = LAB.read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 4))
        self.assertNotRegex(text, r"\bf\"|->|:=", "Python 2 and 3.5 end in a SyntaxError")


class Older(unittest.TestCase):
    def started(self, path: str, home: str = "/nowhere") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-c", OLDER, str(LAB), "list", "a b"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": path, "HOME": home},
        )
        return done.returncode, done.stdout + done.stderr

    def test_without_another_it_says_what_to_do(self) -> None:
        status, said = self.started("/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("./lab needs Python {}.{} or newer; ".format(*oldest()), said)
        self.assertIn("is 3.10.12, and there is no other.\nOn Ubuntu 22.04: sudo apt-get", said)
        self.assertIn("\nElsewhere: python3 -m pip install --user uv && ", said)
        self.assertNotIn("Traceback", said)

    def test_with_another_it_goes_on_there(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder, "python3.13")
            fake.write_text('#!/bin/sh\nprintf "%s|" python3.13 "${1##*/}" "$2" "$3"\n')
            fake.chmod(0o755)
            self.assertEqual(self.started(folder), (0, "python3.13|lab|list|a b|"))

    def test_one_that_uv_installed_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            fake = Path(home, ".local", "bin", "python3.11")
            fake.parent.mkdir(parents=True)
            fake.write_text('#!/bin/sh\nprintf "%s|" uv "${1##*/}" "$2" "$3"\n')
            fake.chmod(0o755)
            self.assertEqual(self.started("/nowhere", home), (0, "uv|lab|list|a b|"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
