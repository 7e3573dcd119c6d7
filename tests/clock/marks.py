# SPDX-License-Identifier: MIT
"""Marks that depend on virtual time hold with 5 % to spare, whatever compiled the answer:
marks.py BUILD [--lab NAME] [--spare PART]. The solutions of the labs that are graded by times run
as they were built (PEERLAB_FULL=1: as each installed compiler builds them, gcc 11 to 14 and clang,
with -O0 to -O3), and each limit is printed with how near the worst of them came to it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("PEERLAB_FULL") == "1"
LEVELS = ("-O0", "-O1", "-O2", "-O3")
GCC = ("gcc", "gcc-11", "gcc-12", "gcc-13", "gcc-14")
CLANG = ("clang", "clang-14", "clang-15", "clang-16", "clang-17", "clang-18", "clang-19")
LINE = re.compile(r"(\S+) (\S+) spare (\S+): (.*)")
# Lab, verifier, cases. Lab 02 has no mark of time.
CASES = (
    ("03-p2p-copy", "lab03-check", ("measure", "example_a_rate", "stage_speed", "example_a")),
    ("03-p2p-copy", "lab03-check", ("p2p_peer",)),
    ("03-p2p-copy", "lab03-check-hidden", ("measure_staged", "stage_speed_other")),
    ("04-reduction", "lab04-check", ("start_overlaps", "example_b")),
    ("04-reduction", "lab04-check-hidden", ("scale_weak",)),
    ("07-ring-allreduce", "lab07-check", ("pipelined_fast",)),
    ("07-ring-allreduce", "lab07-check-hidden", ("pipelined_eight",) if FULL else ()),
)
Env = dict[str, str]
FILES = {
    "03-p2p-copy": "p2p_copy.c",
    "04-reduction": "reduction.cu",
    "07-ring-allreduce": "ring.cu",
}


@dataclass
class Worst:
    spare: float
    figures: str
    how: str


def compilers() -> list[str]:
    """Those that are installed, one for each that is a different program."""
    found: dict[str, str] = {}
    for name in (*GCC, *CLANG):
        path = shutil.which(name)
        if path and shutil.which(plus_of(name)):
            found[os.path.realpath(path)] = name
    return list(found.values())


def ways() -> list[tuple[str, str]]:
    """Compilers and levels."""
    if not FULL:
        return [("as", "built")]
    return [(name, level) for name in compilers() for level in LEVELS]


def plus_of(compiler: str) -> str:
    return compiler.replace("gcc", "g++") if "gcc" in compiler else f"clang++{compiler[5:]}"


def configure(build: Path, lab: str, compiler: str, level: str, to: Path) -> None:
    """labcc.sh's description of the lab, with another compiler for the student's file."""
    text = (build / "labs" / lab / "lab.conf").read_text()
    if "clang" in compiler:
        text = text.replace("bounds-strict", "bounds")  # gcc's name for what clang always does
    text += f"LAB_CC='{compiler}\n'\"${{LAB_CC#*\n}}\"'\n{level}'\n"
    text += f"LAB_CUC=\"$LAB_CUC\"'\n-ccbin\n{plus_of(compiler)}\n{level}'\n"
    to.write_text(text)


def compile_answer(build: Path, lab: str, compiler: str, level: str, folder: Path) -> Path:
    if not FULL:
        return build / "runners" / f"solution{lab[:2]}-run"
    conf, runner = folder / "lab.conf", folder / f"{lab}-{compiler}{level}"
    configure(build, lab, compiler, level, conf)
    source = ROOT / "solutions" / lab / FILES[lab]
    words = [
        "sh",
        str(ROOT / "harness/cmake/labcc.sh"),
        str(conf),
        "mutant",
        str(source),
        str(runner),
    ]
    subprocess.run(words, check=True, timeout=300)
    return runner


def run_cases(build: Path, verifier: str, cases: tuple[str, ...], runner: Path, env: Env) -> bool:
    """Whether all of them hold with so much to spare."""
    good = True
    for case in cases:
        done = subprocess.run(
            [str(build / "bin" / verifier), "--runner", str(runner), "--case", case],
            env=os.environ | env,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if done.returncode != 0:
            print(f"{runner.name}: {verifier} {case}:\n{done.stdout}{done.stderr}")
        good = good and done.returncode == 0
    return good


def read_marks(marks: Path, how: str, worst: dict[str, Worst]) -> None:
    for line in marks.read_text().splitlines():
        found = LINE.fullmatch(line)
        assert found, line
        case, where, spare, figures = found.groups()
        before = worst.get(f"{case} {where}")
        if before is None or float(spare) < before.spare:
            worst[f"{case} {where}"] = Worst(float(spare), figures, how)
    marks.unlink()


def main(build: Path, labs: list[str], spare: float) -> int:
    worst: dict[str, Worst] = {}
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        marks = folder / "marks"
        env = {"LAB_MARKS": str(marks), "LAB_SPARE": str(spare)}
        for compiler, level in ways():
            runner = {lab: compile_answer(build, lab, compiler, level, folder) for lab in labs}
            for lab, verifier, cases in CASES:
                good &= lab not in labs or run_cases(build, verifier, cases, runner[lab], env)
            read_marks(marks, f"{compiler} {level}", worst)
    for mark, at in sorted(worst.items()):
        print(f"{mark:44} {100 * at.spare:7.1f} % to spare: {at.figures} ({at.how})")
    print(f"{len(worst)} marks; compiled by {', '.join(' '.join(way) for way in ways())}")
    return 0 if good and worst and min(at.spare for at in worst.values()) >= spare else 1


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("build", type=Path)
    words.add_argument("--lab", action="append", choices=FILES)
    words.add_argument("--spare", type=float, default=0.05)
    given = words.parse_args()
    sys.exit(main(given.build.resolve(), given.lab or list(FILES), given.spare))
