# SPDX-License-Identifier: MIT
"""Every recording of `./lab calibrate` that was handed in.

    test_contributed.py PROGRAM ROOT SMI [--all]

Fits a description to each tests/recorded/*/calibrate*.txt, asks the virtual node with it (PROGRAM
is truth-calibrate) and prints how near both are. It fails if a recording is further off than the
bounds below, or the README beside it does not name it. Without --all it takes the longest one of
each machine, and asks for the groups that take seconds.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

LIVE = ("call", "kernel", "host", "copies", "pair", "peers", "graph")
# Most median error; least share of figures within NEAR. Calls of graphs over several GPUs, which
# the model expresses least, are every sixth figure of those that take seconds.
MEDIAN, SHARE, NEAR = 0.05, 0.75, 0.10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for word in ("program", "root", "smi"):
        parser.add_argument(word, type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", type=Path, help="instead of tests/recorded")
    words = parser.parse_args()
    sys.path.insert(0, str(words.root))
    folder = words.folder or words.root / "tests" / "recorded"
    found = sorted(folder.glob("*/calibrate*.txt"))
    print(f"{'recording':30} {'figures':>7} {'within 10 %':>11} {'median':>7} {'95 % within':>11}")
    fitted = found if words.all else longest(found)
    told = [one for path in fitted for one in check(path, words)]
    told += [one for path in found for one in unnamed(path)]
    print("\n".join(told), end="\n" if told else "")
    return 1 if told or not found else 0


def longest(found: list[Path]) -> list[Path]:
    """Of each machine the recording with the most figures: a fit takes seconds."""
    by_machine = {path.parent: path for path in sorted(found, key=lambda path: path.stat().st_size)}
    return sorted(by_machine.values())


def unnamed(path: Path) -> list[str]:
    readme = path.parent / "README.md"
    if readme.exists() and f"`{path.name}`" in readme.read_text(encoding="utf-8"):
        return []
    return [f"{path.parent.name}/{path.name}: {readme} does not name it"]


def check(path: Path, words: argparse.Namespace) -> list[str]:
    """Prints the recording's line; returns what is wrong with it."""
    errors = sorted(errors_of(path, words))
    name = f"{path.parent.name}/{path.name}"
    within, median = sum(error <= NEAR for error in errors), statistics.median(errors)
    most = errors[int(0.95 * (len(errors) - 1))]
    print(f"{name:30} {len(errors):7} {within:11} {median:7.1%} {most:11.1%}", flush=True)
    told = []
    if median > MEDIAN:
        told.append(f"{name}: the median error is {median:.1%}, at most {MEDIAN:.0%}")
    if within < SHARE * len(errors):
        told.append(f"{name}: {within} of {len(errors)} within 10 %, at least {SHARE:.0%} of them")
    return told


def errors_of(path: Path, words: argparse.Namespace) -> list[float]:
    from grader.calibrate import command, refine
    from grader.calibrate.answers import Answers, read
    from grader.calibrate.describe import Description
    from grader.calibrate.gallery import nearest
    from grader.calibrate.table import rows

    machine = read(path.read_text())
    made = Description(machine, nearest(words.root / "vgpu" / "nodes", machine), "contributed")
    node = made.make()
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder, "contributed.json")

        def ask(groups: tuple[str, ...]) -> Answers:
            described.write_text(command.written(node))
            extra = {"VGPU_NODE": str(described), "VGPU_NODE_ID": f"contributed-{os.getpid()}"}
            extra["PATH"] = f"{words.smi.parent}{os.pathsep}{os.environ['PATH']}"
            return read(command.run(words.program, 300, extra, groups))

        if refine.wants(node):
            refine.refine(node, machine, ask(refine.GROUPS))
        virtual = ask(() if words.all else LIVE)
    return [abs(row.error) for row in rows(machine, virtual, made.curves)]


if __name__ == "__main__":
    sys.exit(main())
