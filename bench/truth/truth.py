# SPDX-License-Identifier: MIT
"""The same programs on real GPUs and on the virtual node, side by side.

    truth.py BIN CSV                 runs the programs of BIN on the virtual node, prints the table
    truth.py BIN CSV --update        and writes the figures into the CSV
    truth.py BIN CSV --record        on real GPUs: writes a new CSV, with the machine's name
    truth.py BIN CSV --node NODE     as another node, or a description in a file, has the figures
    truth.py BIN CSV --beside OTHER  what OTHER, a recording of another machine, says instead
    truth.py BIN CSV --medians OTHER...
                                     the virtual node beside the medians of the CSV's recording and
                                     those in OTHER
    truth.py BIN CSV --check NAME... runs these programs only; their figures must match the CSV's

A row of the CSV is a figure's name, the value on real GPUs, the value on the virtual node. The name
ends in the unit. Names that differ only in [brackets] are one figure of several pairs.
"""

import argparse
import csv
import io
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("copies", "reduction", "ipc", "ring", "stencil")
NODE = "hgx-h200-4"
MEDIAN = 0.10  # largest median error
NEAR = 0.10  # what counts as near
SAME = 0.005  # tolerance between the CSV, which has four digits, and a run
PATIENCE_S = 900


@dataclass
class Row:
    name: str
    recorded: float
    modelled: float

    @property
    def error(self) -> float:
        return self.modelled / self.recorded - 1


def read(path: Path) -> tuple[str, list[Row]]:
    """The machine, from the comment in the first line, and the rows."""
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    rows = csv.DictReader(io.StringIO(rest))
    return first.removeprefix("# "), [
        Row(row["figure"], float(row["recorded"]), float(row["modelled"])) for row in rows
    ]


def write(path: Path, machine: str, rows: list[Row]) -> None:
    lines = [f"{row.name},{row.recorded:.4g},{row.modelled:.4g}\n" for row in sorted_rows(rows)]
    text = f"# {machine}\nfigure,recorded,modelled\n" + "".join(lines)
    path.write_text(text, encoding="utf-8")


def sorted_rows(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: [*map(natural, re.split(r"(\d+)", quoted(row.name)))])


def quoted(name: str) -> str:
    return name.replace(",", ";")  # pairs: [0;1]


def natural(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def run(program: Path, gpus: int | None, node: str) -> dict[str, float]:
    """The program's output: one figure per line. `gpus`: number of GPUs of the virtual `node`."""
    env = dict(os.environ)
    if gpus is not None:
        seen = ",".join(map(str, range(gpus)))
        env |= {"VGPU_NODE": node, "VGPU_NODE_ID": f"truth-{os.getpid()}"}
        env |= {"CUDA_VISIBLE_DEVICES": seen}
    done = subprocess.run(
        [program], env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{program.name} ended with {done.returncode}: {done.stderr}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {quoted(name): float(value) for name, value in lines}


def group_of(name: str) -> str:
    """`curve.peer.4KiB.us` belongs to curve.peer; a figure of the matrix to a group named by three
    words."""
    return ".".join(re.sub(r"\[.*?\]", "", name).split(".")[:-1][: 3 if "matrix" in name else 2])


def table(machine: str, rows: list[Row]) -> str:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(group_of(row.name), []).append(row)
    lines = [f"recorded on {machine}", f"{'figures':28} {'number':>6} {'median':>8} {'worst':>8}"]
    for name, members in groups.items():
        errors = sorted((row.error for row in members), key=abs)
        middle = statistics.median(map(abs, errors))
        lines.append(f"{name:28} {len(members):6} {middle:8.1%} {errors[-1]:+8.1%}")
    lines.append("")
    lines.append(f"{'the worst of each kind':38} {'modelled':>9} {'recorded':>9} {'error':>8}")
    worst = [max(members, key=lambda row: abs(row.error)) for members in groups.values()]
    for row in sorted(worst, key=lambda row: -abs(row.error))[:8]:
        lines.append(f"{row.name:38} {row.modelled:9.4g} {row.recorded:9.4g} {row.error:+8.1%}")
    errors = [abs(row.error) for row in rows]
    within = sum(error <= NEAR for error in errors)
    lines.append("")
    lines.append(
        f"{len(rows)} figures, median error {statistics.median(errors):.1%}, {within} within 10 %"
    )
    return "\n".join(lines)


def gpus_of(machine: str) -> int:
    found = re.match(r"(\d+) x ", machine)
    if not found:
        raise SystemExit(f'the CSV\'s first line is "{machine}", expected "# N x GPU, driver D"')
    return int(found.group(1))


def measure(folder: Path, names: list[str], gpus: int | None, node: str = NODE) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in names:
        found |= run(folder / f"truth-{name}", gpus, node)
    return found


def beside(rows: list[Row], other: dict[str, float]) -> list[Row]:
    """The recording beside other values; figures that only one of them has are left out."""
    return [Row(row.name, row.recorded, other[row.name]) for row in rows if row.name in other]


def medians(recordings: list[list[Row]]) -> list[Row]:
    """The first recording's figures: the medians of what all recordings have of each."""
    found: dict[str, list[float]] = {}
    for row in (row for rows in recordings for row in rows):
        found.setdefault(row.name, []).append(row.recorded)
    return [
        Row(row.name, statistics.median(found[row.name]), row.modelled) for row in recordings[0]
    ]


def record(folder: Path, path: Path, names: list[str]) -> None:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    cards = subprocess.run(query, capture_output=True, text=True, timeout=60, check=True)
    found = cards.stdout.strip().splitlines()
    name, driver = found[0].split(", ")
    figures = measure(folder, names, None)
    rows = [Row(figure, value, value) for figure, value in figures.items()]
    write(path, f"{len(found)} x {name}, driver {driver}", rows)


def differences(rows: list[Row], modelled: dict[str, float]) -> list[str]:
    """The figures of a run that differ from the CSV's."""
    known = {row.name: row for row in rows}
    told = []
    for name, value in modelled.items():
        if name not in known:
            told.append(f"{name} is not in the CSV: record it on real GPUs")
        elif abs(value / known[name].modelled - 1) > SAME:
            told.append(f"{name} is {value:.4g}, the CSV says {known[name].modelled:.4g}: --update")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("bin", type=Path)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", nargs="+", choices=PROGRAMS, metavar="NAME")
    parser.add_argument("--node", help="a name, or a path with a slash")
    parser.add_argument("--beside", type=Path, metavar="OTHER")
    parser.add_argument("--medians", type=Path, nargs="+", metavar="OTHER")
    words = parser.parse_args()
    if words.record:
        record(words.bin, words.csv, list(PROGRAMS))
        return 0
    machine, rows = read(words.csv)
    if words.beside:
        print(table(machine, beside(rows, {r.name: r.recorded for r in read(words.beside)[1]})))
        return 0
    if words.medians:
        recordings = [rows, *(read(path)[1] for path in words.medians)]
        print(table(f"{machine}: the medians of {len(recordings)} recordings", medians(recordings)))
        return 0
    if words.node:
        names = words.check or list(PROGRAMS)
        print(table(machine, beside(rows, measure(words.bin, names, gpus_of(machine), words.node))))
        return 0
    modelled = measure(words.bin, words.check or list(PROGRAMS), gpus_of(machine))
    told = [] if words.update else differences(rows, modelled)
    if words.update:
        for row in rows:
            row.modelled = modelled[row.name]
        write(words.csv, machine, rows)
    print(table(machine, rows))
    for line in told:
        print(line, file=sys.stderr)
    return 1 if told or statistics.median(abs(row.error) for row in rows) > MEDIAN else 0


if __name__ == "__main__":
    sys.exit(main())
