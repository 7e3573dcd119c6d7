# SPDX-License-Identifier: MIT
"""One allocation, descriptor, mapping, process or system call fails in a program that is not the
node's: nothing crashes, nothing hangs, success means what it always does, and failure is told.

    tools.py BIN TESTS_BIN SHIM CASE [--kind KIND] [--at N] [--every] [--onward] [--jobs N]

As faulty.py: what there is to fail is counted first, and then the first and the last call from each
place in the code fail, one run each (--every, or PEERLAB_FULL=1: each of them, or MANY of a place).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from faulty import BLAME, KINDS, PATIENCE_S, TRACES, chosen, ended, entries, make_log

NODE = "textbook-a100-2"
MANY = 50
WRONG = 42  # of faulty-collective
WAITS = {"VGPU_NCCL_SECONDS": "5", "VGPU_KERNEL_SECONDS": "5"}
LEAST_SENTENCE = 20  # characters
POLICY = """tier landlock
keep 3
folder {folder}
read /usr
read /lib
read /lib64
read {bin}
cpu-seconds 60
file-bytes 1048576
temporary-bytes 1048576
processes 64
descriptors 64
data-bytes 1073741824
"""


@dataclass(frozen=True)
class Case:
    """`words` of what runs in a folder; in which program of it something fails; how it ends."""

    who: str
    words: Callable[[Path, Path, Path], list[object]]
    status: int = 0
    launched: bool = False  # by a verifier, which does not pass LD_PRELOAD on


def plain(*words: str) -> Callable[[Path, Path, Path], list[object]]:
    return lambda bins, _tests, _folder: [bins / words[0], *words[1:]]


def collectives(how: str) -> Callable[[Path, Path, Path], list[object]]:
    return lambda _bins, tests, _folder: [tests / "faulty-collective", how]


def verify(lab: str, runner: str, case: str) -> Callable[[Path, Path, Path], list[object]]:
    return lambda _bins, tests, _folder: [
        *(tests / f"{lab}-check", "--runner", tests.parent / "runners" / runner, "--case", case),
        *("--orders", "1", "--color", "never"),
    ]


def check_program(bins: Path, tests: Path, _folder: Path) -> list[object]:
    return [bins / "vgpu-check", "--checks=api", tests / "faulty-small"]


def jail(bins: Path, _tests: Path, folder: Path) -> list[object]:
    """Reads a file that the policy does not give; lab-probe answers 1 when it was held."""
    policy, secret, inside = folder / "policy", folder / "secret", folder / "inside"
    inside.mkdir(exist_ok=True)
    uid = "uid 20003\n" if os.geteuid() == 0 else ""
    policy.write_text(POLICY.format(folder=inside, bin=bins) + uid)
    secret.write_text("x")
    return [bins / "lab-jail", policy, bins / "lab-probe", "read", secret]


CASES = {
    "smi": Case("vgpu-smi", plain("vgpu-smi", "topo", "-m")),
    "check": Case("vgpu-check", check_program),
    "plan": Case("zero-plan", plain("zero-plan", "7B", "--gpus", "8")),
    "nccl": Case("faulty-collective", collectives("threads")),
    "nccl_processes": Case("faulty-collective", collectives("processes")),
    "verifier": Case("lab91-check", verify("lab91", "solution91-run", "shapes")),
    "runner": Case("solution91-run", verify("lab91", "solution91-run", "shapes"), launched=True),
    "unwritten": Case("lab90-check", verify("lab90", "lab90-run", "one"), status=3),
    "jail": Case("lab-jail", jail, status=1),
}


@dataclass(frozen=True)
class Fault:
    kind: str
    at: int
    onward: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.at}{' and all after it' if self.onward else ''}"


@dataclass(frozen=True)
class Done:
    status: int | None  # None: it had to be ended
    out: str
    err: str
    places: list[str]


@dataclass(frozen=True)
class Tools:
    bins: Path
    tests: Path
    shim: Path
    case: Case

    def run(self, fault: Fault | None) -> Done:
        with tempfile.TemporaryDirectory(prefix="faulty-", ignore_cleanup_errors=True) as folder:
            return self.run_in(Path(folder), fault)

    def usual(self, folder: Path) -> dict[str, str]:
        usual = {k: v for k, v in os.environ.items() if not k.startswith(("VGPU_", "FAULTY_"))}
        return usual | {"XDG_RUNTIME_DIR": str(folder), "VGPU_NODE": NODE} | WAITS

    def injection(self, folder: Path, fault: Fault | None) -> dict[str, str]:
        if not fault:
            return {}
        more = {"FAULTY_WHO": self.case.who, "FAULTY_KIND": fault.kind}
        more |= {"FAULTY_AT": str(fault.at), "FAULTY_LOG": str(folder / "log")}
        if fault.onward:
            more["FAULTY_ON"] = "1"
        return more | {"LD_PRELOAD": str(self.shim)}

    def run_in(self, folder: Path, fault: Fault | None) -> Done:
        make_log(folder / "log")
        folder.chmod(0o755)
        words = [str(word) for word in self.case.words(self.bins, self.tests, folder)]
        more = self.injection(folder, fault)
        if self.case.launched and more:
            inner = ["/usr/bin/env", *(f"{name}={value}" for name, value in more.items())]
            words += [word for each in inner for word in ("--launcher", each)]
            more = {}
        with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
            process = subprocess.Popen(
                words,
                env=self.usual(folder) | more,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            status: int | None = None
            try:
                status = process.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        places = [line.split()[1] for line in entries(folder / "log")]
        texts = [(folder / name).read_text(errors="replace") for name in ("out", "err")]
        return Done(status, texts[0].replace(str(folder), "FOLDER"), texts[1], places)


def problems(case: Case, usual: Done, done: Done) -> list[str]:
    found = []
    if done.status is None:
        return ["it hangs"]
    if BLAME in done.err:
        found.append("it blames the node description")
    if done.status == WRONG:
        found.append("a wrong result, and no call said anything")
    if done.status < 0:
        found.append(f"it crashes: {ended(done.status)}")
    if any(trace in done.out + done.err for trace in TRACES):
        found.append("a sanitizer reports")
    if done.status == 0 and (case.status != 0 or done.out != usual.out):
        found.append("it ends as if all were well")
    same = done.status == case.status and done.out == usual.out
    if done.status > 0 and not same and not has_sentence(usual, done):
        found.append(f"{ended(done.status)} without a sentence")
    return found


def has_sentence(usual: Done, done: Done) -> bool:
    """A line that is not there without a failure."""
    lines = set((done.out + "\n" + done.err).splitlines()) - set(usual.out.splitlines())
    return any(len(line) > LEAST_SENTENCE for line in lines)


def spread(places: list[str]) -> list[int]:
    """Each call; of a place that calls again and again, as the wait for a process does, MANY."""
    numbers: dict[str, list[int]] = {}
    for number, place in enumerate(places, 1):
        numbers.setdefault(place, []).append(number)
    return sorted(n for each in numbers.values() for n in each[:: -(-len(each) // MANY)])


def faults(tools: Tools, options: argparse.Namespace) -> list[Fault]:
    found = []
    for kind in [options.kind] if options.kind else KINDS:
        if options.at:
            found.append(Fault(kind, options.at, options.onward))
            continue
        places = tools.run(Fault(kind, 0)).places
        numbers = spread(places) if options.every else chosen(places, every=False)
        found += [Fault(kind, n) for n in numbers]
        if kind == "descriptor":  # and none is left from there on
            found += [Fault(kind, n, True) for n in numbers]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bins", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("shim", type=Path)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--at", type=int)
    parser.add_argument("--every", action="store_true", default="PEERLAB_FULL" in os.environ)
    parser.add_argument("--onward", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    case = CASES[options.case]
    tools = Tools(options.bins, options.tests, options.shim, case)
    usual = tools.run(None)
    if usual.status != case.status:
        print(f"without a failure: {usual}")
        return 1
    todo = faults(tools, options)
    bad = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, done in zip(todo, pool.map(tools.run, todo), strict=True):
            if found := problems(case, usual, done):
                bad += 1
                print(f"{options.case}: {fault} at {' '.join(done.places)}: {'; '.join(found)}")
                print(f"  {done.out[-300:]!r} {done.err[-300:]!r}", flush=True)
    print(f"{len(todo)} failures, {bad} badly taken")
    return 1 if bad or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
