# SPDX-License-Identifier: MIT
"""The unit tests of ./lab in one process: run.py [WORDS FOR PYTEST OR UNITTEST ...].

By pytest where this Python or the checkout's .venv/ has it (`.ci/run` installs it), else by
unittest, which is always there. Both name the tests that failed.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTEST = ["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
UNITTEST = ["-m", "unittest"]


def with_pytest() -> str | None:
    """A Python that has pytest."""
    if importlib.util.find_spec("pytest"):
        return sys.executable
    own = ROOT / ".venv" / "bin" / "python"
    asked = [own, "-c", "import pytest"]
    found = own.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0
    return str(own) if found else None


def main() -> int:
    words = sys.argv[1:]
    python = with_pytest()
    if python:
        command = [python, "-B", *PYTEST, *(words or ["grader/tests"])]
    else:
        all_of_it = ["discover", "-q", "-s", "grader/tests", "-t", "."]
        command = [sys.executable, "-B", *UNITTEST, *(words or all_of_it)]
    print("run", " ".join(command), flush=True)
    return subprocess.run(command, cwd=ROOT, env=os.environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
