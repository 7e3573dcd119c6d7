# SPDX-License-Identifier: MIT
"""The unit tests of ./lab: run.py --in-process | --processes | WORDS FOR PYTEST OR UNITTEST ...

By pytest where this Python or the checkout's .venv/ has it (`.ci/run` installs it), else by
unittest, which is always there. Both name the tests that failed. `--in-process` runs all modules
but those in PROCESSES by unittest, which starts sooner, and a test in them that starts a process
fails (alone.py); the modules are dealt out to as many processes as there are processors, up to
four.
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
    "book/test_book",
    "book/test_drawings",
    "book/test_samples",
    "book/test_tried",  # a server, and waits
    "building/test_machine",
    "building/test_progress",
    "commands/test_cli",
    "commands/test_solution",
    "commands/test_term",
    "commands/test_watch",
    "course/test_reset",
    "grade/test_contained",
    "grade/test_ingest",
    "grade/test_journal",
    "grade/test_scratch",
    "learning/test_scoreboard",
    "learning/test_standing",
    "learning/test_testing",
    "selfcheck/test_pages",
    "selfcheck/test_programs",
    "selfcheck/test_shown",
    "selfcheck/test_sources",
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
    """Their names, as `grade/test_marks`. ValueError: PROCESSES has one that is not there."""
    found = (path.relative_to(TESTS).with_suffix("") for path in TESTS.rglob("test_*.py"))
    names = {path.as_posix() for path in found}
    if gone := PROCESSES - names:
        raise ValueError(f"run.py names {sorted(gone)}, which are not in grader/tests")
    return sorted(names - PROCESSES if in_process else PROCESSES)


def own_python() -> str:
    """That of .venv, which has the grader's packages, where there is one."""
    own = ROOT / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def run(python: str, words: list[str]) -> tuple[str, int]:
    """What one process prints, and its status."""
    # ctest says where compiled modules go; else the sources would get them.
    cached = [] if "PYTHONPYCACHEPREFIX" in os.environ else ["-B"]
    # What the collector finds open would be printed into the output that a test looks at.
    command = [python, "-W", "ignore::ResourceWarning", *cached, *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm"},  # tests say where they have a dumb terminal
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return f"run {' '.join(command)}\n{done.stdout}", done.returncode


def main() -> int:
    words, shares = sys.argv[1:], 1
    in_process = words == ["--in-process"]
    python = None if in_process else with_pytest()
    start = ["-m", *(PYTEST if python else UNITTEST)]
    if in_process:
        start[:1], shares = ["tests/grader/alone.py"], min(os.cpu_count() or 1, MOST)
    if in_process or words == ["--processes"]:
        words = [f"grader/tests/{name}.py" for name in modules(in_process=in_process)]
        if not python:
            words = [word.removesuffix(".py").replace("/", ".") for word in words]
    parts = ([*start, *words[first::shares]] for first in range(shares))
    with ThreadPoolExecutor(shares) as pool:
        ended = pool.map(partial(run, python or own_python()), parts)
        statuses = []
        for said, status in ended:
            print(said, flush=True)
            statuses.append(status)
    return max(map(abs, statuses))


if __name__ == "__main__":
    sys.exit(main())
