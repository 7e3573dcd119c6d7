# SPDX-License-Identifier: MIT
"""The unit tests of ./lab: run.py --in-process | --processes | WORDS FOR PYTEST OR UNITTEST ...

By pytest where this Python or the checkout's .venv/ has it (`.ci/run` installs it), else by
unittest, which is always there. Both name the tests that failed. `--in-process` runs all modules
but those in PROCESSES, and a test in them that starts a process fails (alone.py); the modules are
dealt out to as many processes as there are processors, up to four.
"""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "grader" / "tests"
PYTEST = ["pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
UNITTEST = ["unittest", "-q"]
MOST = 4  # processes
PROCESSES = {
    "test_book",
    "test_book_drawings",
    "test_book_samples",
    "test_book_tried",  # a server, and waits
    "test_cli",
    "test_grade_contained",
    "test_grade_ingest",
    "test_grade_journal",
    "test_grade_scratch",
    "test_machine",
    "test_progress",
    "test_scoreboard",
    "test_selfcheck",
    "test_selfcheck_pages",
    "test_selfcheck_programs",
    "test_selfcheck_shown",
    "test_solution",
    "test_standing",
    "test_testing",
    "test_watch",
}


@cache
def with_pytest() -> str | None:
    """A Python that has pytest."""
    if importlib.util.find_spec("pytest"):
        return sys.executable
    own = ROOT / ".venv" / "bin" / "python"
    asked = [own, "-c", "import pytest"]
    found = own.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    return str(own) if found else None


def modules(*, in_process: bool) -> list[str]:
    """Their names. ValueError: PROCESSES has one that is not there."""
    names = {path.stem for path in TESTS.glob("test_*.py")}
    if gone := PROCESSES - names:
        raise ValueError(f"run.py names {sorted(gone)}, which are not in grader/tests")
    return sorted(names - PROCESSES if in_process else PROCESSES)


def run(runner: str, words: list[str]) -> tuple[str, int]:
    """What one process prints, and its status."""
    python = with_pytest()
    # ctest says where compiled modules go; else the sources would get them.
    cached = [] if "PYTHONPYCACHEPREFIX" in os.environ else ["-B"]
    command = [python or sys.executable, *cached, runner, *(PYTEST if python else UNITTEST), *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return f"run {' '.join(command)}\n{done.stdout}", done.returncode


def main() -> int:
    words, runner, shares = sys.argv[1:], "-m", 1
    if words in (["--in-process"], ["--processes"]):
        in_process = words == ["--in-process"]
        if in_process:
            runner, shares = "tests/grader/alone.py", min(os.cpu_count() or 1, MOST)
        form = "grader/tests/{}.py" if with_pytest() else "grader.tests.{}"
        words = [form.format(name) for name in modules(in_process=in_process)]
    with ThreadPoolExecutor(shares) as pool:
        ended = pool.map(partial(run, runner), (words[first::shares] for first in range(shares)))
        statuses = []
        for said, status in ended:
            print(said, flush=True)
            statuses.append(status)
    return max(map(abs, statuses))


if __name__ == "__main__":
    sys.exit(main())
