# SPDX-License-Identifier: MIT
"""How long the work list, the command and the pages of a class take: with stand-ins of 0.2 s each,
in which nothing runs (stand_in/sitecustomize.py), and workers that are bound to one processor each:

    python3 tests/grading/measure_many.py build/vgpu SUBMISSIONS WORKERS
    python3 tests/grading/measure_many.py --write

The first prints a line for tests/grading/many.csv; measure_real.py does for real submissions. The
second writes the tables of docs/cluster.md from that file.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LAB = "01"


HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "cluster.md"
STAND_IN_SECONDS = 0.2
CLASS = 10_000


def main(words: list[str]) -> int:
    if words == ["--write"]:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    os.environ["PEERLAB_BUILD"] = str(Path(words[0]).resolve())
    count, workers = int(words[1]), int(words[2])
    from classroom import ROOT, file_name

    with tempfile.TemporaryDirectory(prefix="peerlab-class-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for at in range(count):
            path = folder / "class" / f"s{at:05}" / file_name(LAB)
            path.parent.mkdir(parents=True)
            path.write_text(f"/* student {at} */\n" + "int x;\n" * 500, encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'tests' / 'grading' / 'stand_in'}:{ROOT}",
            "STAND_IN_LOG": str(folder / "log.txt"),
            "STAND_IN_SECONDS": str(STAND_IN_SECONDS),
        }
        figures = measured(folder, ROOT, workers, environment)
    print(",".join([words[1], "stand-in", words[2], *figures]))
    return 0


def written(page: str) -> str:
    """The page with the tables that many.csv gives."""
    with (HERE / "many.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            {k: v if k == "what" else float(v) for k, v in r.items()} for r in csv.DictReader(file)
        ]
    before, rest = page.split("<!-- many -->\n")
    after = rest.split("<!-- /many -->")[1]
    said = "\n".join([*figures_of(rows), "", *extrapolated(rows)])
    return f"{before}<!-- many -->\n{said}\n<!-- /many -->{after}"


def figures_of(rows: list[dict[str, Any]]) -> list[str]:
    head = "submissions | workers | until all is graded | from the last one taken to the end"
    lines = [f"| {head} | core-seconds of workers | of the command | its memory |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        seconds = f"{row['seconds']:.0f} s | {row['tail']:.1f} s | {row['worker_core_seconds']:.0f}"
        rest = f"{row['command_core_seconds']:.1f} | {row['mib']:.0f} MiB |"
        lines.append(
            f"| {row['submissions']:.0f}, {row['what']} | {row['workers']:.0f} | {seconds} | {rest}"
        )
    return lines


def extrapolated(rows: list[dict[str, Any]]) -> list[str]:
    """For a class of 10,000: N c / W for the work, and c for the last one."""
    real = [row for row in rows if row["what"] != "stand-in"]
    graded = sum(row["submissions"] for row in real)
    one = sum(row["workers"] * row["seconds"] for row in real) / graded
    other = [row for row in rows if row["what"] == "stand-in"]
    ours = max(row["command_core_seconds"] / row["submissions"] for row in other)
    sums = " + ".join(f"{row['workers']:.0f} x {row['seconds']:.0f} s" for row in real)
    lines = [
        f"A worker with a core of its own takes c = ({sums}) / {graded:,.0f} = {one:.2f} s for one",
        f"submission, and the command takes k = {1000 * ours:.1f} ms of processor time for it.",
        f"With W workers N = {CLASS:,} submissions take N c / W + c until all are graded, as long",
        f"as W is below c / k = {one / ours:.0f}. With more workers the command sets the pace:",
        f"N k = {CLASS * ours:.0f} s is the least that all can take. (The seconds above, c and k",
        "are rounded here; the next table is computed from the unrounded values.)",
        "",
        "| workers | arithmetic | hours |",
        "|--:|---|--:|",
    ]
    for workers in (1, 4, 16, 64):
        seconds = CLASS * one / workers + one
        how = f"{CLASS:,} c / {workers} + c = {seconds:,.0f} s"
        lines.append(f"| {workers} | {how} | {seconds / 3600:.2f} |")
    return lines


def measured(folder: Path, root: Path, workers: int, environment: dict[str, str]) -> list[str]:
    """Seconds until all is graded, of this how long workers had nothing to do at the end, seconds
    to the end of the command, core-seconds of workers, of the collector, its memory in MiB."""
    cores = sorted(os.sched_getaffinity(0))
    work = folder / "out" / "work"
    worker = [sys.executable, "-B", "-m", "grader.cluster.worker"]
    began = time.monotonic()
    them = [
        subprocess.Popen(
            ["taskset", "-c", str(cores[at % len(cores)]), *worker, str(work), f"w{at}", "--wait"],
            env=environment,
            cwd=root,
        )
        for at in range(workers)
    ]
    command = [sys.executable, "-B", str(root / "lab"), "--build", os.environ["PEERLAB_BUILD"]]
    command += ["grade", str(folder / "class"), "--out", str(folder / "out"), "--no-build"]
    command += ["--labs", LAB, "--seed", "5", "--executor", "workers", "--jobs", str(workers)]
    command += ["--unsafe-no-sandbox"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    collector = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    put = wait_until(collector, lambda: len(list(work.glob("open/*"))) > workers)
    empty = wait_until(collector, lambda: not any(work.glob("open/*")))
    done = wait_until(collector, lambda: not any(work.glob("held/*")))
    _, status, used = os.wait4(collector.pid, 0)
    assert status == 0, "the command failed"
    ended = time.monotonic()
    for one in them:
        one.wait(60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    mine = used.ru_utime + used.ru_stime
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - mine
    seconds = (done - put, done - empty, ended - began, theirs, mine)
    return [*(f"{one:.1f}" for one in seconds), str(used.ru_maxrss >> 10)]


def wait_until(process: "subprocess.Popen[bytes]", holds: Callable[[], bool]) -> float:
    while not holds():
        if process.poll() is not None:
            raise SystemExit("the command ended before")
        time.sleep(0.05)
    return time.monotonic()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
