# SPDX-License-Identifier: MIT
"""One allocation, descriptor, mapping, process or system call fails: nothing crashes, nothing
hangs, the call says so, and other programs go on.

    faulty.py BIN PROGRAM SHIM [--in PART] [--jailed] [--kind KIND] [--at N] [--every] [--jobs N]

Counts first what there is to fail (shim.c), then lets fail, one run each, the first and the last
call from every place in the code (--every, or PEERLAB_FULL=1: each of them; --at: that one), in
the node, in a context and in the program. A node serves two programs in every run: the one that
meets the failure, and a bystander that was there before and does the same afterwards.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("memory", "descriptor", "map", "process", "interrupt", "short")
PARTS = {"program": "faulty-small", "context": "vgpu-exec", "node": "vgpu-node"}
WHO = tuple(PARTS.values())
PATIENCE_S = 60
BLAME = "not valid JSON"  # of a node description
LEAST = 20  # failures of one part; fewer, and the shim is not at work
JAIL = {"VGPU_NODE_JAIL": "cpu-seconds 600\ndata-bytes 2147483648\ndescriptors 4096"}
TRACES = "ERROR: AddressSanitizer", "runtime error:", "LeakSanitizer"


@dataclass(frozen=True)
class Fault:
    who: str
    kind: str
    at: int
    onward: bool = False

    def __str__(self) -> str:
        return f"{self.who}: {self.kind} {self.at}{' and all after it' if self.onward else ''}"


@dataclass
class Run:
    """What became of one fault."""

    fault: Fault
    places: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    said: str = ""

    def check(self, good: bool, problem: str) -> None:
        if not good:
            self.problems.append(problem)


@dataclass(frozen=True)
class Tools:
    node: Path
    program: Path
    shim: Path
    jailed: bool


def ended(status: int | None) -> str:
    if status is None:
        return "hangs"
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


LOG_BYTES = 64 << 20  # shim.c has the same


def make_log(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LOG_BYTES)
    path.chmod(0o666)  # a program may give up its rights


def entries(path: Path) -> list[str]:
    """What the shim has noted, a line each."""
    with path.open("rb") as file:
        taken = int.from_bytes(file.read(8), "little")
        return file.read(min(taken, LOG_BYTES - 8)).decode().splitlines()


class Stage:
    """A node, a bystander and the program, in a folder of their own."""

    def __init__(self, tools: Tools, run: Run, folder: str) -> None:
        self.tools, self.run, self.folder = tools, run, Path(folder)
        self.log = self.folder / "log"
        make_log(self.log)
        self.usual = {k: v for k, v in os.environ.items() if not k.startswith(("VGPU_", "FAULTY_"))}
        self.usual |= {"XDG_RUNTIME_DIR": folder, "VGPU_NODE_ID": "faulty"}
        self.usual |= {"VGPU_NODE": "hgx-h200-4"}

    def environment(self, *names: str) -> dict[str, str]:
        fault = self.run.fault
        if fault.who not in names:
            return self.usual
        more = {"FAULTY_WHO": fault.who, "FAULTY_KIND": fault.kind, "FAULTY_AT": str(fault.at)}
        more |= {"FAULTY_LOG": str(self.log), "LD_PRELOAD": str(self.tools.shim)}
        if fault.onward:
            more["FAULTY_ON"] = "1"
        return self.usual | more

    def start_node(self) -> tuple[subprocess.Popen[str], str]:
        ours, theirs = os.pipe()
        words = [self.tools.node, "--id", "faulty", "--foreground", "--ready-fd", str(theirs)]
        node = subprocess.Popen(
            words,
            env=self.environment("vgpu-node", "vgpu-exec") | (JAIL if self.tools.jailed else {}),
            pass_fds=[theirs],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "node.err").open("w"),
            text=True,
        )
        os.close(theirs)
        with os.fdopen(ours, errors="replace") as ready:
            return node, ready.readline()

    def start_program(self, name: str, faulty: bool) -> subprocess.Popen[str]:
        words = [self.tools.program] + ([name] if name == "bystander" else [])
        more = {"VGPU_TRACE": str(self.folder / f"{name}.json"), "VGPU_CHECK": "all"}
        return subprocess.Popen(
            words,
            env=(self.environment("faulty-small") if faulty else self.usual) | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / f"{name}.err").open("w"),
            text=True,
        )

    def finish(self, what: str, process: subprocess.Popen[str], text: str = "") -> int | None:
        """Its exit status; None: it had to be ended."""
        try:
            process.communicate(text, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.run.problems.append(f"{what} hangs")
            return None
        self.run.check(process.returncode >= 0, f"{what} crashes: {ended(process.returncode)}")
        return process.returncode

    def hits(self) -> list[str]:
        return entries(self.log)

    def told(self, name: str) -> str:
        file = self.folder / f"{name}.err"
        return file.read_text(errors="replace") if file.exists() else ""


def play(tools: Tools, fault: Fault) -> Run:
    run = Run(fault)
    with tempfile.TemporaryDirectory(prefix="faulty-") as folder:
        stage = Stage(tools, run, folder)
        node, word = stage.start_node()
        if word == "ok\n":
            act(stage)
        else:
            clear = len(word) > 20 and word.strip().isascii() and word.strip().isprintable()
            run.check(clear, f"the node does not start and says {word!r}")
            run.check(BLAME not in word, "it blames the node description")
            run.check(
                fault.kind not in ("interrupt", "short"), f"the node does not start: {word!r}"
            )
        stage.finish("the node", node)
        run.check(node.returncode in (0, 1) or fault.at == 0, f"the node: {ended(node.returncode)}")
        run.said = "".join(f"--{n}\n{stage.told(n)}" for n in ("node", "bystander", "small"))
        run.check(not any(trace in run.said for trace in TRACES), "a sanitizer reports")
        run.places = [line.split()[1] for line in stage.hits()]
    return run


def act(stage: Stage) -> None:
    run, fault = stage.run, stage.run.fault
    bystander = stage.start_program("bystander", faulty=False)
    assert bystander.stdout
    ready = bystander.stdout.readline() == "ready\n"
    early = bool(stage.hits())
    program = stage.finish("the program", stage.start_program("small", faulty=True))
    before = len(stage.hits())
    later = stage.finish("the bystander", bystander, "go\n" if ready else "")
    again = len(stage.hits()) > before  # in another process of the node's
    if fault.at == 0 or fault.onward:
        return
    if fault.who == "vgpu-exec":
        pass  # every program has contexts of its own, and each meets it
    elif early or before:
        run.check(later == 0 or early or again, f"the bystander fails later: {ended(later)}")
    if fault.who != "vgpu-exec" and (early or not before):
        run.check(program == 0, f"the program fails, though nothing of its own did: {program}")
    judge(stage, "small", program)
    judge(stage, "bystander", later)


def judge(stage: Stage, name: str, status: int | None) -> None:
    """An error that a call reported comes with a sentence, and is not "the node is gone"."""
    told = stage.told(name)
    stage.run.check(status != 2, f"{name}: a wrong result, and no call said anything")
    if status == 1:
        stage.run.check("vgpu" in told, f"{name}: an error without a sentence")
        stage.run.check("node is gone" not in told, f"{name} loses the node")


def counted(tools: Tools, who: str, kind: str) -> list[str]:
    return play(tools, Fault(who, kind, 0)).places


def chosen(places: list[str], every: bool) -> list[int]:
    """Numbers from 1 on: of each place the first and the last call."""
    if every:
        return list(range(1, len(places) + 1))
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, place in enumerate(places, 1):
        first.setdefault(place, number)
        last[place] = number
    return sorted({*first.values(), *last.values()})


def faults(tools: Tools, options: argparse.Namespace) -> list[Fault]:
    found = []
    for who in [PARTS[options.part]] if options.part else WHO:
        for kind in [options.kind] if options.kind else KINDS:
            numbers = (
                [options.at] if options.at else chosen(counted(tools, who, kind), options.every)
            )
            found += [Fault(who, kind, n, options.onward) for n in numbers]
            if kind == "descriptor" and not options.at:  # and none is left from there on
                found += [Fault(who, kind, n, True) for n in numbers]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("shim", type=Path)
    parser.add_argument("--in", dest="part", choices=PARTS)
    parser.add_argument("--jailed", action="store_true", help="the node is in its jail")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--at", type=int)
    parser.add_argument("--every", action="store_true", default="PEERLAB_FULL" in os.environ)
    parser.add_argument("--onward", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tools = Tools(options.bin / "vgpu-node", options.program, options.shim, jailed=options.jailed)
    todo = faults(tools, options)
    bad = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for run in pool.map(lambda fault: play(tools, fault), todo):
            if run.problems:
                bad += 1
                print(
                    f"{run.fault} at {' '.join(run.places)}: {'; '.join(run.problems)}", flush=True
                )
                if options.at:
                    print(run.said)
    print(f"{len(todo)} failures, {bad} badly taken")
    few = not options.at and len(todo) < (1 if options.kind else LEAST)
    return 1 if bad or few else 0


if __name__ == "__main__":
    sys.exit(main())
