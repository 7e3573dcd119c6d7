# SPDX-License-Identifier: MIT
"""Runs the commands that pages show and compares their output.

In a fenced block of the language `console` each line that begins with `$ ` is a command, and the
lines up to the next one are its output. A page's commands run one after the other in a new folder
that contains the book's code. There is no shell: a command is words, after NAME=VALUE where it
needs an environment.

The pages show what programs print that Clang CLANG has compiled. Another release may make a kernel
of more or fewer instructions, whose number is part of the kernel's time. With it, numbers that have
a decimal point may differ by SLACK.
"""

import difflib
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from grader.base.proc import capture

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = 120.0
CLANG, SLACK = 14, 0.02
FIGURE = re.compile(r"\d+\.\d+")


@dataclass(frozen=True)
class Shown:
    """A command of a page, and the output that the page shows."""

    command: str
    output: str


def shown_in(text: str) -> list[Shown]:
    found = []
    for block in BLOCK.findall(text):
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = entry.partition("\n")
            found.append(Shown(command, output.rstrip("\n")))
    return found


def printed(command: str, folder: Path, path: str, ident: str) -> str:
    """The output of a command; a status other than 0 is appended as the last line."""
    words = shlex.split(command)
    extra: dict[str, str] = {"PATH": path, "VGPU_NODE_ID": ident}
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        name, _, value = words.pop(0).partition("=")
        extra[name] = value
    program = str(folder / words[0]) if words[0].startswith("./") else words[0]
    done = capture([program, *words[1:]], cwd=folder, env=extra, timeout=SECONDS)
    status = [] if done.ok else [f"(status {done.status})"]
    return "\n".join([*done.output.rstrip("\n").splitlines(), *status])


def slack(clang: int) -> float:
    """By how much figures may differ where vgpu-cc uses this release of Clang."""
    return 0.0 if clang == CLANG else SLACK


def differences(shown: Shown, output: str, slack: float = 0.0) -> str:
    """How the real output differs from what is shown, figures by more than `slack` (0.02: 2 %) and
    one unit of their last digit; "" if it does not."""
    if output == shown.output or (slack and _alike(shown.output, output, slack)):
        return ""
    lines = difflib.unified_diff(
        shown.output.splitlines(), output.splitlines(), "shown", "printed", lineterm=""
    )
    return "\n".join([f"$ {shown.command}", *lines])


def _alike(one: str, other: str, slack: float) -> bool:
    figures, others = FIGURE.findall(one), FIGURE.findall(other)
    return FIGURE.sub("", one).split() == FIGURE.sub("", other).split() and all(
        abs(float(a) - float(b)) <= slack * float(a) + 1.01 * 0.1 ** len(a.split(".")[1])
        for a, b in zip(figures, others, strict=True)
    )


def with_outputs(text: str, outputs: list[str]) -> str:
    """The page with the real output in place of what it shows."""
    left = iter(outputs)

    def block(match: re.Match[str]) -> str:
        commands = [shown.command for shown in shown_in(match[0])]
        lines = [line for c in commands for line in (f"$ {c}", *next(left).splitlines())]
        return "\n".join(["```console", *lines, "```"])

    return BLOCK.sub(block, text)


def search_path(tools: Path) -> str:
    """PATH, preceded by the virtual node's programs."""
    return os.pathsep.join([str(tools), os.environ["PATH"]])
