# SPDX-License-Identifier: MIT
"""The functions of .ci/run: its set-up fails with any command of it, because a test that lacks what
could not be installed is skipped; and its end tells again what failed, and counts."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (ROOT / ".ci/run").read_text(encoding="utf-8")
SET_UP = "".join(re.findall(r"^(?:tools|packages|start)\(\) \{\n.*?^\}\n", SCRIPT, re.M | re.S))
STEPS = re.search(r"^passed=0\n.*?(?=^tools\(\))", SCRIPT, re.M | re.S)
STAND_IN = """\
#!/bin/sh
number=1 # two may be called at a time
until mkdir "$CALLS.$number" 2>/dev/null; do number=$((number + 1)); done
echo x >> "$CALLS"
test "$number" -ne "$FAIL"
"""


class Containers(unittest.TestCase):
    def test_the_container_file_has_the_devcontainers_commands(self) -> None:
        """But for what editors need; .ci/run runs the latter."""
        text = (ROOT / "Containerfile").read_text(encoding="utf-8")
        dev = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
        # These run before an editor opens, and in prebuilt codespaces; later ones do not.
        own = [name for name in dev if name.endswith("Command")]
        self.assertEqual(own, ["onCreateCommand", "updateContentCommand"])
        commands = " && ".join(dev[name] for name in own)
        commands = commands.replace("sudo ", "").replace(" gdb clangd graphviz", "")
        self.assertEqual(" && ".join(re.findall(r"^RUN (.+)$", text, re.M)), commands)
        release = re.search(r"^FROM debian:(\d+)-slim$", text, re.M)
        assert release
        self.assertTrue(dev["image"].endswith(f":debian-{release[1]}"))

    def test_what_git_ignores_is_not_copied_into_it(self) -> None:
        ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
        known = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
        folders = {
            name.strip("/")
            for name in known
            if name.strip("/") in (".venv", ".deps", ".lab", "build", "Testing")
        }
        self.assertLessEqual(folders, set(ignored))


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
                    f"logs=$PWD\n{SET_UP}\nif tools && start; then exit 0; fi; exit 9",
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


class Steps(unittest.TestCase):
    def ends(self, *steps: str) -> str:
        """What is printed after these steps: failures again, and the counts."""
        script = f"{STEPS[0]}\n{' ; '.join(steps)}\necho END\ntell_failures\necho $passed $failed"
        words = ["/bin/bash", "-uo", "pipefail", "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("END\n")[1]

    def test_what_passes_is_counted(self) -> None:
        self.assertEqual(self.ends("step one true", "step two echo '7 passed, 0 failed'"), "9 0\n")

    def test_a_failed_check_is_told_again_with_its_reason(self) -> None:
        said = (
            "lab 01: ok\\n  FAILED  lab 02\\n          why\\nlab 03: ok\\nx: 2 passed, 1 failed\\n"
        )
        self.assertEqual(
            self.ends("f() { printf '" + said + "'; return 1; }", "step check f"),
            "\n== failed: check\n  FAILED  lab 02\n          why\n2 2\n",
        )

    def test_a_failed_test_of_ctest_is_told_again(self) -> None:
        said = "1/2 Test #1: a ...   Passed\\n2/2 Test #2: b ...***Failed  0.1 sec\\n"
        end = self.ends("f() { printf '" + said + "'; return 8; }", "step tests f", "step x true")
        self.assertEqual(end, "\n== failed: tests\n2/2 Test #2: b ...***Failed  0.1 sec\n1 1\n")

    def test_of_any_other_step_the_last_lines_are_told(self) -> None:
        end = self.ends("f() { echo 'style.py: too long' >&2; return 1; }", "step style f")
        self.assertEqual(end, "\n== failed: style\nstyle.py: too long\n0 1\n")

    def test_what_was_begun_beside_counts_in_its_step(self) -> None:
        end = self.ends(
            "beside 19 good echo '3 passed, 0 failed'",
            "f() { echo 'a.c: warning'; return 1; }",
            "beside 19 bad f",
            "step 'the bad one' begun bad",
            "step 'the good one' begun good",
        )
        self.assertEqual(end, "\n== failed: the bad one\na.c: warning\n4 1\n")

    def test_what_is_begun_beside_waits_for_the_one_before_and_lets_steps_go_first(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            order = Path(folder, "order")
            self.ends(
                f"f() {{ sleep $2; echo $1 $(nice) >>{order}; }}",
                "beside 19 a f first 0.5",
                "beside 10 b f second 0",
                "step x begun b",
            )
            self.assertEqual(order.read_text(), "first 19\nsecond 10\n")

    def test_what_was_begun_beside_ends_with_the_script(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pid = Path(folder, "pid")
            begin = f"f() {{ sh -c 'echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 600'; }}"
            self.ends(begin, "beside 19 a f", f"until [ -e {pid} ]; do sleep 0.05; done")
            self.assertTrue(ends_soon(int(pid.read_text())))


def ends_soon(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not Path(f"/proc/{pid}").exists()


if __name__ == "__main__":
    unittest.main()
