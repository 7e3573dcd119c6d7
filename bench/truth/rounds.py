# SPDX-License-Identifier: MIT
"""Predictions that were written down before a machine was asked, and what it said then.

    rounds.py [FOLDER] [--worst N]     every round's table, or its N worst figures (default:
                                       rounds/ beside this file)
    rounds.py --predict 01 BIN         the figures of truth-round-01 on the virtual nodes of NODES
    rounds.py --check 01 BIN           do the virtual nodes still say what was predicted?
    rounds.py --measure 01 BIN         on real GPUs: writes 01-measured-CARD.csv

A round is a program (01.cu), a CSV of predictions (01-predicted.csv: a column for each node, the
date in the first line) and a CSV for each machine that was asked. No file of a round is changed
later. Where the clock was mended since, --check prints what it says now; whether that is better,
the next round tells.
"""

import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROUNDS = Path(__file__).resolve().parent / "rounds"
NODES = {"H200": "hgx-h200-4", "H100": "dgx-h100"}  # the description of a card's machine
GPUS = {"01": "0,1", "02": "0,1", "10": "0,1"}  # the others: FOUR
FOUR = "0,1,2,3"
# The cards that a round is about; the others: all.
CARDS = {"05": ["H200"], "07": ["H100"], "08": ["H200"], "10": ["H200"]}
# Descriptions that ./lab calibrate fitted to another machine.
FITTED = {"07": "07-hgx-h100.json", "08": "08-hgx-h200.json"}
PATIENCE_S = 1800


@dataclass(frozen=True)
class Table:
    about: str  # the first line
    columns: dict[str, dict[str, float]]  # by name: figure to value


def read(path: Path) -> Table:
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(rest))
    names = [name for name in rows[0] if name != "figure"]
    columns = {name: {row["figure"]: float(row[name]) for row in rows} for name in names}
    return Table(first.removeprefix("# "), columns)


def write(path: Path, table: Table) -> None:
    """FileExistsError: a file of a round is never overwritten."""
    names = list(table.columns)
    lines = [f"# {table.about}", ",".join(["figure", *names])]
    for figure in table.columns[names[0]]:
        lines.append(",".join([figure, *(f"{table.columns[name][figure]:.4g}" for name in names)]))
    with path.open("x", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def run(program: Path, node: str = "") -> dict[str, float]:
    """The figures that the program prints; without `node` on real GPUs."""
    env = dict(os.environ)
    if node:
        env |= {"VGPU_NODE": node, "VGPU_NODE_ID": f"rounds-{os.getpid()}"}
        env |= {"CUDA_VISIBLE_DEVICES": gpus_of(program.name[-2:])}
    done = subprocess.run(
        [program], env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{program.name} ended with {done.returncode}: {done.stderr}")
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def gpus_of(number: str) -> str:
    return GPUS.get(number, FOUR)


def predictions(program: Path) -> dict[str, dict[str, float]]:
    number = program.name[-2:]
    found: dict[str, dict[str, float]] = {}
    for card in CARDS.get(number, list(NODES)):
        node = str(ROUNDS / FITTED[number]) if number in FITTED else NODES[card]
        found[Path(node).stem] = run(program, node)
    return found


def beside(predicted: Table, about: str) -> str:
    """The node whose predictions are compared with this machine; a round's only one, otherwise."""
    node = NODES[card(about)]
    return node if node in predicted.columns else next(iter(predicted.columns))


def card(about: str) -> str:
    found = [name for name in NODES if name in about]
    if len(found) != 1:
        raise SystemExit(f'"{about}" names none of the cards {", ".join(NODES)}')
    return found[0]


def machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, text=True, timeout=60, check=True)
    lines = done.stdout.strip().splitlines()
    name, driver = lines[0].split(", ")
    return f"{len(lines)} x {name}, driver {driver}"


def compared(
    predicted: dict[str, float], measured: dict[str, float], worst: int | None = None
) -> list[str]:
    """A line a figure, the worst first, or only the `worst` ones, and the round's errors."""
    errors = {name: predicted[name] / value - 1 for name, value in measured.items()}
    lines = [f"{'figure':28} {'predicted':>9} {'measured':>9} {'error':>8}"]
    for name in sorted(errors, key=lambda name: -abs(errors[name]))[:worst]:
        lines.append(f"{name:28} {predicted[name]:9.4g} {measured[name]:9.4g} {errors[name]:+8.1%}")
    sizes = sorted(abs(error) for error in errors.values())
    near = sum(size <= 0.10 for size in sizes)
    lines.append(
        f"{len(sizes)} figures, median error {statistics.median(sizes):.1%}, "
        f"{near} within 10 %, worst {sizes[-1]:.1%}"
    )
    return lines


def show(folder: Path, worst: int | None = None) -> str:
    lines: list[str] = []
    for path in sorted(folder.glob("*-predicted.csv")):
        number = path.name.split("-", maxsplit=1)[0]
        predicted = read(path)
        lines += [f"round {number}: {predicted.about}"]
        found = sorted(folder.glob(f"{number}-measured-*.csv"))
        lines += [] if found else ["not measured yet"]
        for asked in found:
            measured = read(asked)
            node = beside(predicted, measured.about)
            lines += ["", f"{measured.about}, beside {node}"]
            lines += compared(predicted.columns[node], measured.columns["measured"], worst)
    return "\n".join(lines)


def changed(before: dict[str, dict[str, float]], now: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"{node} {name}: {now[node][name]:.4g}, predicted was {value:.4g}"
        for node, figures in before.items()
        for name, value in figures.items()
        if abs(now[node][name] / value - 1) > 0.001
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROUNDS)
    parser.add_argument("--worst", type=int)
    for word in ("predict", "check", "measure"):
        parser.add_argument(f"--{word}", nargs=2, metavar=("ROUND", "BIN"))
    words = parser.parse_args()
    asked = words.predict or words.check or words.measure
    if not asked:
        print(show(words.folder, words.worst))
        return 0
    number, program = asked[0], Path(asked[1]).resolve() / f"truth-round-{asked[0]}"
    if not re.fullmatch(r"\d\d", number):
        raise SystemExit(f"{number!r} is no round: 01, 02, ...")
    day = time.strftime("%Y-%m-%d", time.gmtime())
    if words.predict:
        about = f"predicted {day}, before a machine was asked; GPUs {gpus_of(number)} of each node"
        write(words.folder / f"{number}-predicted.csv", Table(about, predictions(program)))
    elif words.measure:
        about = f"{machine()}, measured {day}"
        path = words.folder / f"{number}-measured-{card(about).lower()}.csv"
        write(path, Table(about, {"measured": run(program)}))
    else:
        told = changed(read(words.folder / f"{number}-predicted.csv").columns, predictions(program))
        print("\n".join(told) or "as predicted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
