# SPDX-License-Identifier: MIT
"""`./lab calibrate`: asks the machine, fits a description, and asks the virtual node
with it the same questions."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.calibrate import refine
from grader.calibrate.answers import Answers, read
from grader.calibrate.describe import Description
from grader.calibrate.gallery import Node, nearest
from grader.calibrate.table import lines, rows
from grader.course.project import Project

MACHINE_SECONDS, VIRTUAL_SECONDS = 120, 150  # five minutes, with what remains
RUNS = 3  # what calls cost a host differs from second to second
GRACE_SECONDS = 70  # a measurement that hangs ends the program after 60
SOURCES = (
    "calibrate.cu",
    "calibrate_calls.cu",
    "calibrate_copies.cu",
    "calibrate_graphs.cu",
    "calibrate_messages.cu",
)
NO_GPU = 77


def command(
    project: Project, name: str, *, program: Path | None, answers: Path | None, out: Path | None
) -> ExitStatus:
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise LabError(f"--name {name}: small letters, digits and hyphens only", ExitStatus.USAGE)
    target = out or project.root / "build" / "calibrate" / f"{name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    text = _read(answers) if answers else _measure(project, program, target)
    if not answers:
        target.with_suffix(".txt").write_text(text)
    try:
        asked = read(text)
        made = Description(asked, nearest(project.root / "vgpu" / "nodes", asked), name)
        node = made.make()
    except KeyError as error:
        raise LabError(
            f"The answers cannot be used: they have no line {error.args[0]}. Were they cut?",
            ExitStatus.FAILED,
        ) from error
    except ValueError as error:
        raise LabError(f"The answers cannot be used: {error}", ExitStatus.FAILED) from error
    target.write_text(written(node))
    if refine.wants(node) and (first := ask_virtual(project, target, refine.GROUPS)):
        refine.refine(node, asked, first)
        target.write_text(written(node))
    _compare(project, target, asked, made)
    _tell_rest(made, asked)
    print(f"\n{target}: the description, for VGPU_NODE={target}")
    print(
        f"{answers or target.with_suffix('.txt')}: the answers. "
        "CONTRIBUTING.md says how to hand both in."
    )
    return ExitStatus.OK


def _read(answers: Path) -> str:
    try:
        return answers.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            f"--answers {answers} cannot be read: {error}. "
            "It must be what truth-calibrate printed.",
            ExitStatus.USAGE,
        ) from error


def written(node: Node) -> str:
    """JSON, short lists and objects in one line each."""
    text = json.dumps(node, indent=2)
    short = re.compile(r"([\[{])\s+([^\[\]{}]*?)\s+([\]}])")

    def join(found: re.Match[str]) -> str:
        inside = re.sub(r",\s+", ", ", found[2])
        line = found[1] + inside + found[3]
        return line if len(line) < 150 and '": "' not in line[:12] else found[0]

    for _ in range(2):
        text = short.sub(join, text)
    return text + "\n"


# ---- asking ----


def run(
    program: Path,
    seconds: int,
    extra: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    no_gpu: str = "There is no GPU here that CUDA can use, so there is nothing to measure.",
) -> str:
    """The program's output; what it printed before it was stopped counts."""
    try:
        done = subprocess.run(
            [program.resolve(), str(seconds), *groups], stdout=subprocess.PIPE, text=True,
            env=os.environ | dict(extra or {}), timeout=seconds + GRACE_SECONDS, check=False,
        )  # fmt: skip
        status, text = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, text = 1, (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else ""
    except OSError as error:
        raise LabError(f"{program}: {error}", ExitStatus.MISSING) from error
    if status == NO_GPU:
        raise LabError(no_gpu, ExitStatus.CANNOT_RUN)
    if "gpus:" not in text:
        raise LabError(
            f"{program} ended with status {status} before it measured anything.", ExitStatus.FAILED
        )
    if status:
        last = text.splitlines()[-1].split(" ")[0]
        print(
            f"{program.name} stopped after {last} (status {status}); "
            "what it printed until then counts",
            file=sys.stderr,
        )
    return text


def _measure(project: Project, program: Path | None, target: Path) -> str:
    if not program:
        program = target.with_suffix(".measure")
        _compile(project, program)
    begun = time.monotonic()
    text = run(program, MACHINE_SECONDS)
    for _ in range(RUNS - 1):
        left = int(MACHINE_SECONDS - (time.monotonic() - begun))
        if read(text).virtual or left < 1:  # a virtual node says the same each time
            break
        text += run(program, left)
    return text


def _compile(project: Project, program: Path) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        raise LabError(
            "There is no nvcc in PATH. --program runs one that was built elsewhere.",
            ExitStatus.MISSING,
        )
    folder = project.root / "bench" / "truth"
    words = [
        nvcc,
        "-std=c++17",
        "-O3",
        "-arch=native",
        "-o",
        str(program),
        *(str(folder / one) for one in SOURCES),
    ]
    print("compiling the program that measures", file=sys.stderr)
    if subprocess.run(words, check=False).returncode:
        raise LabError(f"nvcc failed: {' '.join(words)}", ExitStatus.BUILD_FAILED)


# ---- comparing ----


def ask_virtual(project: Project, description: Path, groups: Sequence[str] = ()) -> Answers | None:
    """Of all figures, or those of groups. None: the virtual node is not built."""
    program, tools = (
        project.build_dir / "tests" / "bin" / "truth-calibrate",
        project.build_dir / "bin",
    )
    if not program.exists() and (tools / "vgpu-cc").exists():
        program = description.with_suffix(".virtual")
        sources = [str(project.root / "bench" / "truth" / one) for one in SOURCES]
        subprocess.run(
            [tools / "vgpu-cc", "-O2", "-std=c++17", "-o", program, *sources], check=False
        )
    if not program.exists():
        return None
    extra = {"VGPU_NODE": str(description.resolve()), "VGPU_NODE_ID": f"calibrate-{os.getpid()}"}
    extra["PATH"] = f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"
    refused = f"The virtual node does not take {description}; above stands why."
    return read(run(program, VIRTUAL_SECONDS, extra, groups, refused))


def _compare(project: Project, target: Path, asked: Answers, made: Description) -> None:
    print("asking the virtual node the same", file=sys.stderr)
    virtual = ask_virtual(project, target)
    if virtual is None:
        print(
            "Not compared with the virtual node, which is not built: "
            "./lab start, and then --answers."
        )
        return
    print("\n".join(lines(rows(asked, virtual, made.curves))))


def _tell_rest(made: Description, asked: Answers) -> None:
    print(
        f"\nNot measured, and from the nearest node of the gallery "
        f"({made.nearest.name}: {made.nearest.why}):"
    )
    for field, origin in made.borrowed:
        print(f"  {field}: {origin}")
    for words in made.assumed:
        print(f"  assumed: {words}")
    if asked.skipped:
        print(
            f"  no time was left for {len(asked.skipped)} figures: "
            f"{', '.join(asked.skipped[:5])} ..."
        )
