# SPDX-License-Identifier: MIT
"""A page shows what a test prints: page.py PAGE COMMAND..., where COMMAND's status must be 0.

Every line that COMMAND prints must stand in PAGE, in a block that begins with `$ `. So the figures
of docs/ are those of today.
"""

import re
import subprocess
import sys
from pathlib import Path


def shown(page: str) -> set[str]:
    blocks = re.findall(r"^```console\n\$ .*?\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return {line.rstrip() for block in blocks for line in block.splitlines()}


def main() -> int:
    page = Path(sys.argv[1])
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    there = shown(page.read_text(encoding="utf-8"))
    missing = [line for line in done.stdout.splitlines() if line.rstrip() not in there]
    for line in missing:
        print(f"{page.name} does not show: {line}", file=sys.stderr)
    if missing:
        print("put what the test printed into the page's console block", file=sys.stderr)
    return 1 if missing else done.returncode


if __name__ == "__main__":
    sys.exit(main())
