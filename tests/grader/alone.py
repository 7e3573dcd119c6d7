# SPDX-License-Identifier: MIT
"""Runs a module of Python in which nothing may start a process: alone.py MODULE [WORDS ...]."""

import runpy
import sys

STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec")


def refuse(event: str, details: object) -> None:
    """An audit hook; what it raises ends the call that would have started a process."""
    if event in STARTS:
        raise RuntimeError(
            f"this test starts a process ({event}: {str(details)[:200]}), and layer unit has none: "
            "name its module in PROCESSES of tests/grader/run.py"
        )


if __name__ == "__main__":
    sys.path.insert(0, ".")
    del sys.argv[0]
    sys.addaudithook(refuse)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
