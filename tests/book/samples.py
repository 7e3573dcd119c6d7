# SPDX-License-Identifier: MIT
"""docs/samples is what the programs write today: trace.json, which the book's page of a trace is
made from, and the picture of the class report, for who reads docs/instructors.md without the site.

samples.py BUILD [--write]

grading.instructors compares class.json itself (PEERLAB_WRITE=1 writes it anew). The picture was
taken of the class.json whose sum lies beside it; --write takes it again, with Chromium.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "docs" / "samples"
TRACE, CLASS = SAMPLES / "trace.json", SAMPLES / "class.json"
PICTURE, TAKEN = SAMPLES / "class-report.png", SAMPLES / "class-report.sha256"
sys.path.insert(0, str(ROOT))

from grader.book import samples  # noqa: E402
from grader.course.project import Project  # noqa: E402


def traced(program: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="book-samples-") as folder:
        trace = Path(folder, "trace.json")
        more = {"VGPU_NODE": "hgx-h200-4", "VGPU_TRACE": str(trace)}
        more["VGPU_NODE_ID"] = f"book-samples-{os.getpid()}"
        subprocess.run(
            [program], env={**os.environ, **more}, check=True, timeout=60, stdout=subprocess.DEVNULL
        )
        return trace.read_text(encoding="utf-8")


def take_picture() -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("the picture of the class report is taken with Chromium, which is not installed")
    with tempfile.TemporaryDirectory(prefix="book-samples-") as folder:
        samples.write(Project(ROOT), Path(folder))
        page = Path(folder, "samples", "class-report.html").as_uri()
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/user",
        ]
        command += ["--window-size=900,1560", f"--screenshot={PICTURE}", page]
        subprocess.run(command, check=True, timeout=120, stderr=subprocess.DEVNULL)
    TAKEN.write_text(f"{sum_of(CLASS)}  {CLASS.name}\n", encoding="utf-8")


def sum_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def stale(now: str) -> list[str]:
    """What is older than what it was made from."""
    parts = []
    if now != TRACE.read_text(encoding="utf-8"):
        parts.append(f"{TRACE.relative_to(ROOT)} is not what clock-traced writes")
    if TAKEN.read_text(encoding="utf-8").split()[0] != sum_of(CLASS):
        parts.append(f"{PICTURE.relative_to(ROOT)} was taken of another {CLASS.name}")
    return parts


def main() -> int:
    now = traced(Path(sys.argv[1], "tests", "bin", "clock-traced"))
    parts = stale(now)
    if "--write" in sys.argv and parts:
        TRACE.write_text(now, encoding="utf-8")
        take_picture()
        parts = stale(now)
    for part in parts:
        print(f"{part}: python3 {Path(__file__).relative_to(ROOT)} BUILD --write makes it anew")
    return 1 if parts else 0


if __name__ == "__main__":
    sys.exit(main())
