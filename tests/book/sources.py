# SPDX-License-Identifier: MIT
"""The book's chapters are whole, and its list of what the course covers names what there is.

sources.py BUILD
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import chapters, recorded, seeds  # noqa: E402
from grader.book.pages import chapters as all_chapters  # noqa: E402
from grader.project import Project  # noqa: E402

ROWS, CORRECTIONS = 35, 20


def tests_of(build: str) -> set[str]:
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {test["name"] for test in json.loads(done.stdout)["tests"]}


def main() -> int:
    project = Project(ROOT)
    wrong = seeds.problems(ROOT, tests_of(sys.argv[1]))
    listed = seeds.load(ROOT)
    for what, count in (("rows", ROWS), ("corrections", CORRECTIONS)):
        if len(listed[what]) != count:
            wrong.append(f"docs/seeds.json has {len(listed[what])} {what}, the course has {count}")
    wrong += recorded.problems(ROOT)
    found = all_chapters(project)
    wrong += [why for chapter in found for why in chapters.problems(chapter)]
    still = [r for r in (*listed["rows"], *listed["corrections"]) if r["open"]]
    print("\n".join(wrong))
    print(f"{len(found)} chapters, {ROWS} rows, {CORRECTIONS} corrections, {len(still)} still open")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
