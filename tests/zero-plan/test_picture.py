# SPDX-License-Identifier: MIT
"""zero-picture draws a bar of the right height for every stage.

test_picture.py BIN_DIR
"""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

BIN = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path("build/vgpu/bin")
CANNOT_RUN = 77


def picture(plan: str, target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BIN / "zero-picture"), "-o", str(target)],
        input=plan,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Picture(unittest.TestCase):
    def test_draws(self) -> None:
        plan = subprocess.run(
            [str(BIN / "zero-plan"), "7.5B", "--gpus", "64", "--json"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "memory.svg"
            done = picture(plan, target)
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            root = ElementTree.parse(target).getroot()
        shapes = [shape for shape in root.iter() if shape.tag.endswith("}path")]
        self.assertGreater(len(shapes), (4 + 18) * 5)  # a piece for every stage and kind
        self.assertTrue(root.tag.endswith("}svg"))

    def test_refuses_what_is_no_plan(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "memory.svg"
            done = picture('{"model": 1}', target)
            self.assertEqual(done.returncode, 2)
            self.assertIn("not a plan", done.stdout)
            self.assertFalse(target.exists())


if __name__ == "__main__":
    if importlib.util.find_spec("matplotlib") is None:
        print("cannot run: matplotlib is missing (python3 -m pip install matplotlib)")
        sys.exit(CANNOT_RUN)
    unittest.main(verbosity=1)
