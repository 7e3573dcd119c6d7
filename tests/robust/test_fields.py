# SPDX-License-Identifier: MIT
"""The node with every field of a request and every number of an answer at its limits, one after
the other (target_fields.c): it lives. And with a bound planted away it does not: each plant is met.

Two bounds have no plant, because the node reads and writes no memory by these numbers. The module
of a launch is only handed on: vgpu-exec looks for it in a list and refuses what is not there
(device_image.c). The kind of a fault is told apart by a switch with a default (explain.c). Both are
bounded all the same, so that the message names the number.

test_fields.py WORK: after test_robust.py has compiled the node there.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from test_robust import FLAGS, HERE, NODE, SKIPPED, WITH_CONTEXTS, can_run

REQUESTS: dict[str, str] = {}
ANSWERS = {"TARGET_CONTEXTS": "1"}
SECONDS = 300  # a node that hangs; the sweep takes a few
OPTIONS = [word for word in FLAGS if "fuzzer" not in word]


@dataclass(frozen=True)
class Plant:
    """A bound that is missing: in a file of the node, `text` reads `wrong`."""

    file: str
    text: str
    wrong: str
    way: dict[str, str]


PLANTS = (
    Plant(
        "server/reply.c",
        "device < 0 || device >= machine->info.device_count",
        "device < 0 && machine",
        REQUESTS,
    ),
    Plant(
        "server/request_device.c",
        "q->peer < 0 || q->peer >= info->device_count",
        "q->peer < 0",
        REQUESTS,
    ),
    Plant("trace/trace.c", "first >= t->total", "t->total == 0", REQUESTS),
    Plant("graph/answer.c", "s->polled_count, VGPU_SIGNALS", "0, VGPU_SIGNALS", ANSWERS),
    Plant("graph/answer.c", "s->stored_count, VGPU_SIGNALS", "0, VGPU_SIGNALS", ANSWERS),
    Plant("graph/answer.c", "r->hazard_count, VGPU_HAZARDS", "0, VGPU_HAZARDS", ANSWERS),
    Plant("graph/answer.c", "s->bytes[i], sizeof s->value[i]", "0, sizeof s->value[i]", ANSWERS),
)


def link(folder: Path, objects: Path, first: Path | None = None) -> Path:
    """The target with the node; `first` stands for the file of the same name."""
    program = folder / "fields"
    sources = [first, HERE / "target_fields.c"] if first else [HERE / "target_fields.c"]
    words = ["clang", *OPTIONS, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    subprocess.run([*words, "-o", program, *sources, *WITH_CONTEXTS], check=True, cwd=objects)
    return program


def swept(program: Path, way: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1", **way),
    )


def lives(program: Path, way: dict[str, str]) -> bool:
    done = swept(program, way)
    if done.returncode:
        print(done.stderr[-3000:])
    return done.returncode == 0


def is_met(plant: Plant, objects: Path) -> bool:
    text = (NODE / plant.file).read_text(encoding="utf-8")
    if text.count(plant.text) != 1:
        print(f"{plant.file} has {plant.text!r} {text.count(plant.text)} times, expected once")
        return False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / Path(plant.file).name
        source.write_text(text.replace(plant.text, plant.wrong), encoding="utf-8")
        done = swept(link(folder, objects, source), plant.way)
    found = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    print(f"{plant.file}, {plant.text}: {found[0][-90:] if found else 'not met'}", flush=True)
    return done.returncode != 0 and bool(found)


def main() -> int:
    objects = Path(sys.argv[1]).resolve() / FLAGS[1]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        if not can_run(folder):
            print("cannot run here: clang with libFuzzer (libclang-rt) is needed")
            return SKIPPED
        good = [*pool.map(partial(lives, link(folder, objects)), (REQUESTS, ANSWERS))]
        met = [*pool.map(partial(is_met, objects=objects), PLANTS)]
    print(f"as it is: {good.count(True)} of 2 ways; planted: {met.count(True)} of {len(met)}")
    return 0 if all(good) and all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
