# SPDX-License-Identifier: MIT
"""`./lab conformance`: the answers of real GPUs to every case of tests/conformance, kept as data,
and a comparison with the virtual node's.

A record is a text: lines `# key: value` that name the machine, then `[case]` with its output. Each
case runs in a separate process, so that a crash is recorded and hides no other case.
"""

import argparse
import datetime
import difflib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.building import build
from grader.building.machine import cores
from grader.course.project import Project

SECONDS = 60  # limit of one case
PROGRAM = "conformance"
RECORDS = "tests/recorded"
NODE = "hgx-h200-4"

Answers = dict[str, list[str]]


@dataclass
class Record:
    """A machine's answers, and its name."""

    machine: dict[str, str] = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)

    @property
    def gpus(self) -> int:
        return int(self.machine["gpus"])


# ---- asking ----


def ask(program: Path, jobs: int, env: Mapping[str, str]) -> Answers:
    """Every case's lines. LabError if the program names none."""
    listed = capture([program, "--list"], env=env, timeout=SECONDS)
    names = listed.output.split()
    if not listed.ok or not names:
        raise LabError(f"{program} --list names no case:\n{listed.output}", ExitStatus.MISSING)
    with ThreadPoolExecutor(jobs) as pool:
        lines = pool.map(lambda name: _case(program, name, env), names)
    return dict(zip(names, lines, strict=True))


def _case(program: Path, name: str, env: Mapping[str, str]) -> list[str]:
    words = {**os.environ, **env}
    if "VGPU_NODE_ID" in words:  # concurrent cases must not share a node
        words["VGPU_NODE_ID"] += f"-{name}"
    try:
        done = subprocess.run(
            [str(program), name], env=words, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        return [*_lines(error.stdout), f"(did not end within {SECONDS} s)"]
    end = [f"(killed by signal {-done.returncode})"] if done.returncode < 0 else []
    return [*_lines(done.stdout), *end]


def _lines(text: bytes | None) -> list[str]:
    return [line.strip() for line in (text or b"").decode(errors="replace").splitlines()]


# ---- records ----


def cases(text: str) -> Answers:
    """{case: lines} of a record; runs of spaces count as one, lines before the first case are the
    machine's."""
    found: Answers = {}
    current: list[str] = []
    for line in text.splitlines():
        if name := re.fullmatch(r"\[(\w+)\]", line):
            current = found.setdefault(name[1], [])
        else:
            current.append(re.sub(r"\s+", " ", line).strip())
    return found


def read(path: Path) -> Record:
    text = path.read_text(encoding="utf-8")
    head = re.findall(r"^# (\w[\w ]*): (.*)$", text, re.M)
    return Record(dict(head), cases(text))


def write(path: Path, record: Record) -> None:
    lines = [f"# {key}: {value}" for key, value in record.machine.items()]
    for name, said in sorted(record.answers.items()):  # independent of the linker's order
        lines += [f"[{name}]", *(f"    {line}" for line in said)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(case: str, recorded: list[str], ours: list[str]) -> list[dict]:
    match = difflib.SequenceMatcher(None, recorded, ours, autojunk=False)
    return [
        {"case": case, "recorded": recorded[a:b], "ours": ours[c:d]}
        for kind, a, b, c, d in match.get_opcodes()
        if kind != "equal"
    ]


def _as_far(recorded: list[str], ours: list[str]) -> tuple[list[str], list[str]]:
    """If the driver crashed, its later answers are missing: compares only those before."""
    if recorded and recorded[-1].startswith("(killed by signal"):
        return recorded[:-1], ours[: len(recorded) - 1]
    return recorded, ours


def excused(difference: dict, exceptions: list[dict]) -> bool:
    """Whether exceptions.json lists the difference. A matching exception is marked as used."""
    same = [x for x in exceptions if all(x[key] == difference[key] for key in difference)]
    for exception in same:
        exception["used"] = True
    return bool(same)


def compare(
    recorded: Answers, ours: Answers, exceptions: list[dict], *, all_needed: bool = True
) -> list[str]:
    """Unexplained differences; unused exceptions, if all must be used; cases without an answer on
    either side."""
    wrong = []
    for case, said in recorded.items():
        for difference in differences(case, *_as_far(said, ours.get(case, []))):
            if not excused(difference, exceptions):
                wrong.append(json.dumps(difference, indent=2))
    wrong += [f"case {name}: never asked of a real machine" for name in ours.keys() - recorded]
    wrong += [
        f"exceptions.json: nothing needs the exception of {x['case']}: {x['ours']}"
        for x in exceptions
        if all_needed and "used" not in x
    ]
    return wrong


# ---- the command ----


def command(project: Project, args: argparse.Namespace) -> ExitStatus:
    jobs = args.jobs or cores()
    if args.record is not None:
        return _record(project, args, jobs)
    return _replay(project, args, jobs)


def _record(project: Project, args: argparse.Namespace, jobs: int) -> ExitStatus:
    """On real GPUs, with nvcc, unless a program was given."""
    program = args.program or _built(Project(project.root, "cuda", project.build))
    record = Record(_machine(program), ask(program, jobs, {}))
    folder = args.record if args.record != Path() else project.root / RECORDS / NODE
    path = folder / "conformance.txt"
    write(path, record)
    lines = sum(len(said) for said in record.answers.values())
    print(f"{path}: {len(record.answers)} cases, {lines} lines, {record.machine['machine']}")
    return ExitStatus.OK


def _replay(project: Project, args: argparse.Namespace, jobs: int) -> ExitStatus:
    folder = args.records or project.root / RECORDS / NODE
    path = folder / "conformance.txt"
    if not path.is_file():
        raise LabError(
            f"{path} is not there: `./lab conformance --record` makes it on a machine with GPUs.",
            ExitStatus.MISSING,
        )
    record = read(path)
    ours = ask(args.program or _built(project), jobs, _node(record.gpus))
    known = json.loads((project.root / RECORDS / "exceptions.json").read_text(encoding="utf-8"))
    exceptions = known[PROGRAM]
    wrong = compare(record.answers, ours, exceptions, all_needed=args.records is None)
    needed = sum("used" in exception for exception in exceptions)
    print("\n".join(wrong))
    lines = sum(len(said) for said in record.answers.values())
    print(f"{len(record.answers)} cases, {lines} lines of {record.machine['machine']}, ", end="")
    print(f"{needed} exceptions, {len(wrong)} wrong")
    return ExitStatus.FAILED if wrong else ExitStatus.OK


def _built(project: Project) -> Path:
    build.configure(project)
    done = build.build(project, [PROGRAM])
    if not done.ok:
        raise LabError(done.output, ExitStatus.BUILD_FAILED)
    return project.build_dir / "tests" / "bin" / PROGRAM


def _node(gpus: int) -> dict[str, str]:
    """A virtual machine like the recorded one, with as many GPUs."""
    visible = ",".join(str(gpu) for gpu in range(gpus))
    ident = f"conformance-{os.getpid()}"
    return {
        "VGPU_NODE": NODE,
        "VGPU_NODE_ID": ident,
        "VGPU_QUIET": "1",
        "CUDA_VISIBLE_DEVICES": visible,
    }


def _machine(program: Path) -> dict[str, str]:
    """What `conformance --machine` prints about the GPUs, and the driver's release from nvidia-smi
    if available."""
    said = capture([program, "--machine"], timeout=SECONDS)
    if not said.ok:
        raise LabError(f"no GPU to ask:\n{said.output}", ExitStatus.CANNOT_RUN)
    machine = dict(re.findall(r"^(\w[\w ]*): (.*)$", said.output, re.M))
    words = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    smi = capture(words, timeout=SECONDS)
    machine["driver"] = smi.output.split()[0] if smi.ok and smi.output.split() else "not known"
    machine["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    return machine
