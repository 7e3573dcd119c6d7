# SPDX-License-Identifier: MIT
"""bench/ptx completes and prints every figure: test_ptx.py VGPU_CC BENCH_PTX"""

import pathlib
import shutil
import subprocess
import sys

import compare

if not shutil.which("clang++"):
    print("skipped: there is no clang++ here")
    sys.exit(77)
here = pathlib.Path(__file__).parent
command = [sys.executable, here / "compare.py", "--tiny", "--rounds", "1", *sys.argv[1:]]
done = subprocess.run(command, capture_output=True, text=True)
assert done.returncode == 0, done.stdout + done.stderr
rows = {line[:24].strip(): line[24:].split() for line in done.stdout.splitlines()[1:]}
names = [
    value for name, value in vars(compare).items() if name in "FIRST AGAIN LAUNCH NEXT WHOLE PEER"
]
assert sorted(rows) == sorted(names), done.stdout
assert all(len(row) == 3 and all(float(word) >= 0 for word in row) for row in rows.values())
assert rows[compare.PEER][2] == "1.000", done.stdout
print(f"{len(rows)} figures")
