# SPDX-License-Identifier: MIT
"""Runs one program in the sandbox to its end, or ends it at a limit of time or output."""

import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass, field

from grader.sandbox import policy
from grader.sandbox.launch import around
from grader.sandbox.programs import jail_program
from grader.sandbox.request import Outcome, Request, SandboxError, Tier

GRACE_SECONDS = 10.0  # for lab-jail to end all remaining processes
PIECE = 1 << 16
REPORT_MOST = 1 << 16


@dataclass
class _Watched:
    """Output and state so far."""

    output: bytearray = field(default_factory=bytearray)
    report: bytearray = field(default_factory=bytearray)
    timed_out: bool = False
    flooded: bool = False


def run(request: Request, tier: Tier) -> Outcome:
    """Runs `request.argv`. No process of it is left on return. SandboxError if the sandbox could
    not be set up."""
    began = time.monotonic()
    with around(request, tier) as (request, folder, group):
        reader, writer = os.pipe()
        try:
            lines = policy.rules(tier, request, group, keep=3, report=writer)
            policy.write(folder / "run.policy", lines)
            words = [str(jail_program()), "--supervise", str(folder / "run.policy"), *request.argv]
            process = _start(words, writer)
        finally:
            os.close(writer)
        try:
            seen = _watch(process, reader, request, began)
        finally:
            os.close(reader)
        status, cpu_seconds = _collect(process)
    _check_started(seen, status)
    return Outcome(
        status=status,
        output=bytes(seen.output[: request.limits.output_bytes]),
        tier=tier,
        timed_out=seen.timed_out,
        flooded=seen.flooded,
        wall_seconds=time.monotonic() - began,
        cpu_seconds=cpu_seconds,
    )


def _start(words: list[str], report: int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(report,),
            start_new_session=True,
            cwd="/",
            env={"PATH": policy.PATH},
        )
    except OSError as error:
        raise SandboxError(f"{words[0]} could not be started: {error.strerror}") from error


def _watch(
    process: "subprocess.Popen[bytes]", report: int, request: Request, began: float
) -> _Watched:
    """Reads until all writers have closed the pipe, which lab-jail ensures."""
    seen = _Watched()
    assert process.stdout is not None
    ends = began + request.limits.wall_seconds
    with selectors.DefaultSelector() as selector, process.stdout:
        selector.register(process.stdout.fileno(), selectors.EVENT_READ, seen.output)
        selector.register(report, selectors.EVENT_READ, seen.report)
        while selector.get_map():
            for key, _ in selector.select(max(0.0, ends - time.monotonic())):
                _read(selector, key)
            if len(seen.output) > request.limits.output_bytes:
                seen.flooded = True
            elif time.monotonic() >= ends and selector.get_map():
                seen.timed_out = True
            if seen.flooded or seen.timed_out:
                _end(process)
                break
    return seen


def _read(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    piece = os.read(key.fd, PIECE)
    key.data.extend(piece)
    if not piece or len(key.data) > (1 << 30):
        selector.unregister(key.fd)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Makes lab-jail, which has all descendants below it, end them."""
    process.send_signal(signal.SIGTERM)


def _collect(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Status and CPU time of the program and of the descendants that were waited for."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            process.kill()
        time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return code, used.ru_utime + used.ru_stime


def _check_started(seen: _Watched, status: int) -> None:
    """bwrap reports the status of a program that it started; lab-jail in place reports that it
    starts it. A program that we ended, or that ran out of memory, may lack the report."""
    text = seen.report[:REPORT_MOST].decode(errors="replace")
    ended = seen.timed_out or seen.flooded or status == 128 + signal.SIGKILL
    if "failed" not in text and (ended or "exit-code" in text or "started" in text):
        return
    written = seen.output[:2000].decode(errors="replace").strip()
    # bwrap reports its namespaces before it fails, and writes why; lab-jail reports why.
    said = text.strip() if "failed" in text or not written else written
    raise SandboxError(f"the sandbox did not start the program (status {status}): {said}")
