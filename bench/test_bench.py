# SPDX-License-Identifier: MIT
"""The bench completes with tiny sizes and prints every figure of its README."""

import pathlib
import re
import subprocess
import sys

program, flows = sys.argv[1], sys.argv[2]
readme = (pathlib.Path(__file__).parent / "README.md").read_text(encoding="utf-8")
rows = re.findall(r"^\| (`[^|]+`) \|", readme, re.MULTILINE)
names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
done = subprocess.run([program, "--tiny"], capture_output=True, text=True, check=False)
lines = done.stdout.splitlines()[1:]
printed = [line[:24].strip() for line in lines]
assert done.returncode == 0, done.stderr
assert "finding" not in done.stderr, done.stderr
assert len(names) == 11, f"figures in README.md: {names}"
assert sorted(printed) == sorted(names), f"printed {printed}, README.md has {names}"
for line in lines:
    assert re.search(r"\d", line[45:]), f"no value: {line}"
usage = subprocess.run([program, "--no"], capture_output=True, text=True, check=False)
assert usage.returncode == 2 and "usage" in usage.stderr, usage
done = subprocess.run([flows, "10", "20"], capture_output=True, text=True, check=True)
shown = [re.split(r"  +", line)[0] for line in done.stdout.splitlines()]
assert [name[:2] for name in shown] == ["10", "10", "20", "20"], done.stdout
assert all(re.search(r"[0-9.]+ us each$", line) for line in done.stdout.splitlines()), done.stdout
print(f"{len(printed) + len(shown)} figures")
