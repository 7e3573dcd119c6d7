# SPDX-License-Identifier: MIT
"""Runs other programs: always from a list of words, never through a shell."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMED_OUT = 124


@dataclass(frozen=True)
class Done:
    """A program that has ended; `output` is standard output and error together."""

    status: int
    output: str

    @property
    def ok(self) -> bool:
        return self.status == 0


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment, overridden by `extra`."""
    return {**os.environ, **(extra or {})}


def _listened_to(cwd: Path | None, env: Mapping[str, str] | None) -> dict[str, Any]:
    """Arguments for subprocess: empty input; output and errors go to one pipe."""
    return {
        "cwd": cwd,
        "env": environment(env),
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }


def capture(
    words: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Done:
    """Runs a program and returns its output. Status 127: there is no such program; 124: it was
    killed after `timeout` seconds."""
    try:
        done = subprocess.run(
            [str(word) for word in words], timeout=timeout, check=False, **_listened_to(cwd, env)
        )
    except OSError as error:
        return Done(127, f"{words[0]}: {error.strerror}\n")
    except subprocess.TimeoutExpired as error:
        text = (error.stdout or b"").decode(errors="replace")
        return Done(TIMED_OUT, f"{text}\n{words[0]}: still running after {timeout:g} s; ended\n")
    return Done(done.returncode, done.stdout.decode(errors="replace"))


def follow(
    words: Sequence[str | Path],
    each: Callable[[str], None],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Runs a program and yields each line as it arrives; also keeps all of them. OSError: there is
    no such program."""
    kept: list[str] = []
    with subprocess.Popen(
        [str(word) for word in words], text=True, errors="replace", **_listened_to(cwd, env)
    ) as process:
        for line in process.stdout or []:
            kept.append(line)
            each(line.rstrip("\n"))
    return Done(process.returncode, "".join(kept))


def show(
    words: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int:
    """Runs a program in the foreground, with its output directly on the terminal."""
    try:
        return subprocess.run(
            [str(word) for word in words], cwd=cwd, env=environment(env), check=False
        ).returncode
    except OSError as error:
        print(f"{words[0]}: {error.strerror}")
        return 127
