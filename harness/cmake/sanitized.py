# SPDX-License-Identifier: MIT
"""Runs a test of a build with sanitizers; fails when any process of it was reported.

    sanitized.py COMMAND...

Reports go to files of a folder of the test's own: a node has no standard error, and whoever starts
a program may throw away what it says. Processes that outlive the command (nodes, contexts) become
this one's children, so it knows when the last of them has ended.
"""

import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
WAIT_SECONDS = 10  # for what the command has left; a node goes when its last program has gone
REPORTED = 86
REMARK = re.compile(r"==\d+==WARNING: ASan doesn't fully support makecontext.*\n")


def wait_for_rest() -> None:
    """Until everything that the command has started is gone, or has had its time."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.01)


def reports(folder: pathlib.Path) -> list[str]:
    """What the sanitizers have written, but for a remark on programs that switch stacks."""
    texts = [path.read_text(errors="replace") for path in sorted(folder.iterdir())]
    return [left for text in texts if (left := REMARK.sub("", text).strip())]


def main() -> int:
    """The command's status, or REPORTED."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sanitized-"))
    folder.chmod(0o777)  # a test may give up its rights
    own = {name: os.environ.get(name, "") for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}
    common = f"log_path={folder}/report:abort_on_error=1"
    # UBSan's words beside ASan go to standard error only; it aborts, which ASan reports (as it does
    # any other abort). Leaks are the node's own to tell. What malloc cannot give is an answer.
    os.environ["ASAN_OPTIONS"] = (
        f"{own['ASAN_OPTIONS']}:{common}:handle_abort=1:detect_leaks=0:allocator_may_return_null=1:"
        f"suppressions={pathlib.Path(__file__).resolve().parent}/sanitized.supp"
    )
    os.environ["UBSAN_OPTIONS"] = f"{own['UBSAN_OPTIONS']}:{common}:print_stacktrace=1"
    os.environ["PEERLAB_SANITIZED"] = "1"  # nothing is measured
    # What a test compiles itself is linked with a runtime that has the sanitizers.
    os.environ["NVCC_APPEND_FLAGS"] = "-Xcompiler -fsanitize=address,-fsanitize=undefined"
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        status = subprocess.call(sys.argv[1:])
        wait_for_rest()
        found = reports(folder)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
    for text in found:
        print(text[:8000], file=sys.stderr)
    if found:
        print(f"sanitized: {len(found)} reports of sanitizers, above", file=sys.stderr)
        return REPORTED
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
