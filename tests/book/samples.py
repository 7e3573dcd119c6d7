# SPDX-License-Identifier: MIT
"""docs/samples/trace.json, which the book's page of a trace is made from, is what the program
writes today.

samples.py BUILD [--write]

grading.instructors does the same for docs/samples/class.json. The picture of its report, for who
reads docs/instructors.md without the site, was taken of the class.json whose sum lies beside it.
"""

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "docs" / "samples" / "trace.json"


def traced(program: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="book-samples-") as folder:
        trace = Path(folder, "trace.json")
        more = {"VGPU_NODE": "hgx-h200-4", "VGPU_TRACE": str(trace)}
        more["VGPU_NODE_ID"] = f"book-samples-{os.getpid()}"
        subprocess.run(
            [program], env={**os.environ, **more}, check=True, timeout=60, stdout=subprocess.DEVNULL
        )
        return trace.read_text(encoding="utf-8")


def stale_picture() -> str:
    """What is wrong with the picture of the class report, or nothing."""
    data, taken = KEPT.parent / "class.json", KEPT.parent / "class-report.sha256"
    if taken.read_text(encoding="utf-8").split()[0] == sha256(data.read_bytes()).hexdigest():
        return ""
    return (
        f"{data.relative_to(ROOT)} has changed since docs/samples/class-report.png was taken: take "
        "it again of build/docs/site/samples/class-report.html (900 x 1560, chromium --headless "
        f"--screenshot), then sha256sum class.json > {taken.name}"
    )


def main() -> int:
    if stale := stale_picture():
        print(stale)
        return 1
    now = traced(Path(sys.argv[1], "bin", "clock-traced"))
    if "--write" in sys.argv:
        KEPT.write_text(now, encoding="utf-8")
    if now == KEPT.read_text(encoding="utf-8"):
        return 0
    print(
        f"{KEPT.relative_to(ROOT)} is not what clock-traced writes.\n"
        f"If the model of time changed: python3 {Path(__file__).relative_to(ROOT)} BUILD --write"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
