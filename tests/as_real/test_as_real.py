# SPDX-License-Identifier: MIT
"""A solution's tests on a machine of N GPUs that the verifier takes for real ones.

    test_as_real.py WORK GPUS     WORK: the lab's folder in the build; GPUS: 1 to 4
    test_as_real.py broken        tests that do not do on real GPUs (broken.c): all are found

Every test must pass, or say that it cannot run here; and what has run on as many real GPUs
(tests/recorded/hgx-h200-4/labs-N.txt) must run here, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ["PEERLAB_BUILD"]) / "tests" / "bin"
RECORDED = ROOT / "tests/recorded/hgx-h200-4"
NODE, NODE_GPUS = "hgx-h200-4", 4

# A runner on a node of its own, as any program: no witness, and nobody looks for mistakes.
WRAPPER = """#!/bin/sh
export VGPU_NODE={node} VGPU_NODE_ID=as-real-$$ VGPU_CHECK=none
exec '{runner}' "$@"
"""


def listed(work: Path, kind: str) -> list[tuple[str, int]]:
    """The tests' names, and how many GPUs ctest gives each."""
    lines = (work / f"list-{kind}.txt").read_text(encoding="utf-8").splitlines()
    return [(line.split("|")[0], int(line.split("|")[4])) for line in lines]


def given(gpus: int) -> dict[str, str]:
    """ctest's words for so many GPUs: the node's last ones, so that GPU 0 is not its GPU 0."""
    words = {"CTEST_RESOURCE_GROUP_COUNT": str(gpus)}
    for i in range(gpus):
        words[f"CTEST_RESOURCE_GROUP_{i}_GPUS"] = f"id:{NODE_GPUS - gpus + i},slots:1"
    return words


def run(verifier: str, number: str, name: str, case: str, gpus: int) -> dict[str, str]:
    """The record that the verifier writes of one test."""
    with tempfile.TemporaryDirectory() as folder:
        runner, record = Path(folder) / "run", Path(folder) / "record"
        words = WRAPPER.format(node=NODE, runner=BIN / f"as-real{number}-run")
        runner.write_text(words, encoding="utf-8")
        runner.chmod(0o755)
        command = [BIN / verifier, "--runner", runner, "--case", case]
        command += ["--as", name, "--json", record]
        subprocess.run(command, env=os.environ | given(gpus), check=False, capture_output=True)
        return json.loads(record.read_text(encoding="utf-8"))


def ran_for_real(gpus: int) -> set[str]:
    """What passed on so many real GPUs; of three there is no record."""
    if gpus == 3:
        return set()
    lines = (RECORDED / f"labs-{gpus}.txt").read_text(encoding="utf-8").splitlines()
    return {line.removesuffix(": passed") for line in lines if line.endswith(": passed")}


def wrong(record: dict[str, str], real: set[str]) -> str | None:
    """What is wrong with a test, if anything is."""
    name, verdict, message = record["test"], record["verdict"], record["message"]
    if verdict == "cannot run":
        return f"{name} ran on real GPUs, and here it cannot: {message}" if name in real else None
    return None if verdict == "pass" else f"{name}: {verdict}: {message}"


def lab(work: Path, gpus: int) -> list[str]:
    number, real, found, passed, skipped = work.name[:2], ran_for_real(gpus), [], 0, 0
    missing = {test for test in real if test.startswith(f"solution{number}.")}
    for kind, suffix in (("public", ""), ("hidden", "-hidden")):
        verifier = f"as-real{number}-check{suffix}"
        name = f"solution{number}{suffix.replace('-', '.')}"
        for case, wants in listed(work, kind):
            record = run(verifier, number, name, case, min(max(wants, 1), gpus))
            missing.discard(record["test"])
            passed += record["verdict"] == "pass"
            skipped += record["verdict"] == "cannot run"
            found += [w for w in [wrong(record, real)] if w]
    if gpus == 2 and (BIN / f"as-real{number}-check-timed").is_file():
        found += untimed(number, gpus)
    print(f"lab {number} on {gpus} GPUs: {passed} passed, {skipped} cannot run here")
    found += [f"{test} ran on real GPUs, and there is no such test" for test in sorted(missing)]
    found += foreign_headers(work)
    return found if passed else [*found, "no test passed"]


def foreign_headers(work: Path) -> list[str]:
    """The tests need no header but the harness's, the lab's and CUDA's; they were compiled where
    those of the node are, too."""
    folder = ROOT / "labs" / work.name
    places = (ROOT / "harness", folder, folder / "tests", ROOT / "vgpu/include")
    options = [f"-I{place}" for place in places]
    sources = [folder / "tests" / name for name in ("public.c", "timed.c")]
    sources.append(ROOT / "solutions" / work.name / "tests" / "hidden.c")
    found = []
    for source in filter(Path.is_file, sources):
        words = ["cc", "-std=gnu11", "-D_GNU_SOURCE=", "-M", *options, source]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        found += [f"{source.name}: {done.stderr}"] if done.returncode else []
    return found


def untimed(number: str, gpus: int) -> list[str]:
    """The timed task has a time there, too: that of the program's clock."""
    found = []
    for case in (NODE, f"naive-{NODE}"):
        record = run(f"as-real{number}-check-timed", number, "timed", case, gpus)
        if record["verdict"] != "pass" or not record.get("timed_ps"):
            found.append(f"{record['test']}: {record['verdict']}, no time: {record['message']}")
    return found


def broken() -> list[str]:
    expected = {
        "count": 'harness error: lab_fault("alloc:1"): real GPUs have no faults to order',
        "device": "fail: there are 2 GPUs, and no GPU 3",
        "table": "ran on real GPUs, and here it cannot: real GPUs are too much trouble",
    }
    missed = []
    for case, words in expected.items():
        record = run("as-real-broken-check", "01", "solution01", case, 2)
        said = wrong(record, ran_for_real(2)) or "nothing"
        if words not in said:
            missed.append(f"{case}: expected '{words}', it said: {said}")
    return missed


def main() -> int:
    found = broken() if sys.argv[1] == "broken" else lab(Path(sys.argv[1]), int(sys.argv[2]))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
