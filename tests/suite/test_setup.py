# SPDX-License-Identifier: MIT
"""The set-up of .ci/run fails with any command of it: what it could not install makes tests skip,
and nobody would see it. It is run in a folder of stand-ins, which fail one after the other."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SET_UP = re.search(r"^tools\(\) \{\n.*?^\}\n", (ROOT / ".ci/run").read_text(), re.M | re.S)
STAND_IN = """\
#!/bin/sh
echo x >> "$CALLS"
test "$(wc -l < "$CALLS")" -ne "$FAIL"
"""


class SetUp(unittest.TestCase):
    def calls(self, fail: int) -> tuple[bool, int]:
        """Whether it is content when that call of a stand-in fails; how many calls it made."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("lab", ".venv/bin/pip", ".venv/bin/python"):
                program = Path(folder, name)
                program.parent.mkdir(parents=True, exist_ok=True)
                program.write_text(STAND_IN, encoding="utf-8")
                program.chmod(0o755)
            for name in ("sudo", "apt-get", "env"):  # nothing is installed
                program = Path(folder, "bin", name)
                program.parent.mkdir(exist_ok=True)
                program.write_text("#!/bin/sh\n", encoding="utf-8")
                program.chmod(0o755)
            calls = Path(folder, "calls")
            path = f"{folder}/bin:{os.environ['PATH']}"
            done = subprocess.run(
                [
                    "/bin/bash",
                    "-uo",
                    "pipefail",
                    "-c",
                    f"{SET_UP[0]}\nif tools; then exit 0; fi; exit 9",
                ],
                cwd=folder,
                env={**os.environ, "PATH": path, "CALLS": str(calls), "FAIL": str(fail)},
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            self.assertIn(done.returncode, (0, 9), done.stderr)
            return done.returncode == 0, len(calls.read_text().splitlines())

    def test_it_fails_with_each_of_its_commands(self) -> None:
        content, count = self.calls(fail=0)
        self.assertTrue(content)
        self.assertGreaterEqual(count, 4)
        for number in range(1, count + 1):
            with self.subTest(call=number):
                self.assertFalse(self.calls(fail=number)[0])


if __name__ == "__main__":
    unittest.main()
