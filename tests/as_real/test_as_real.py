# SPDX-License-Identifier: MIT
"""A solution's tests on a machine of N GPUs that the verifier takes for real ones.

    test_as_real.py WORK GPUS     WORK: the lab's folder in the build; GPUS: 1 to 4

Every test must pass, or say that it cannot run for want of GPUs, of the virtual node's witness, or of
a machine of another shape; what ran on real GPUs of that number must not be among the latter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ["PEERLAB_BUILD"]) / "bin"
RECORDED = ROOT / "tests/recorded/hgx-h200-4"
NODE, NODE_GPUS = "hgx-h200-4", 4

# The runner as a program of its own on the node, which ends with it. Nobody looks for mistakes.
WRAPPER = """#!/bin/sh
export VGPU_NODE={node} VGPU_NODE_ID=as-real-$$ VGPU_CHECK=none
exec '{runner}' "$@"
"""


def cases(work: Path, kind: str) -> list[tuple[str, int]]:
    """The tests' names, and how many GPUs ctest gives each."""
    lines = (work / f"list-{kind}.txt").read_text(encoding="utf-8").splitlines()
    return [(line.split("|")[0], int(line.split("|")[4])) for line in lines]


def given(gpus: int) -> dict[str, str]:
    """ctest's words for these many GPUs: the node's last ones, so that their numbers matter."""
    names = {"CTEST_RESOURCE_GROUP_COUNT": str(gpus)}
    for i in range(gpus):
        names[f"CTEST_RESOURCE_GROUP_{i}_GPUS"] = f"id:{NODE_GPUS - gpus + i},slots:1"
    return names


def run(verifier: Path, runner: Path, name: str, case: str, gpus: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record"
        command = [verifier, "--runner", runner, "--case", case, "--as", name, "--json", record]
        subprocess.run(command, env=os.environ | given(gpus), check=False, capture_output=True)
        return json.loads(record.read_text(encoding="utf-8"))


def ran_for_real(gpus: int) -> set[str]:
    """What passed on real GPUs of that number."""
    path = RECORDED / f"passed-{gpus}.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def main() -> int:
    work, gpus = Path(sys.argv[1]), int(sys.argv[2])
    number = work.name[:2]
    passed, skipped, wrong = set(), {}, []
    with tempfile.TemporaryDirectory() as folder:
        runner = Path(folder) / "run"
        runner.write_text(WRAPPER.format(node=NODE, runner=BIN / f"as-real{number}-run"))
        runner.chmod(0o755)
        for kind, verifier in (("public", "check"), ("hidden", "check-hidden")):
            name = f"solution{number}" + (".hidden" if kind == "hidden" else "")
            for case, wants in cases(work, kind):
                here = min(max(wants, 1), gpus)
                got = run(BIN / f"as-real{number}-{verifier}", runner, name, case, here)
                if got["verdict"] == "pass":
                    passed.add(got["test"])
                elif got["verdict"] == "cannot run":
                    skipped[got["test"]] = got["message"]
                else:
                    wrong.append(f"{got['test']}: {got['verdict']}: {got['message']}")
    for test in sorted(ran_for_real(gpus) & set(skipped)):
        wrong.append(f"{test} ran on {gpus} real GPUs; here it cannot: {skipped[test]}")
    print(f"lab {number}, {gpus} GPUs: {len(passed)} passed, {len(skipped)} cannot run here")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
