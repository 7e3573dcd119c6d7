# SPDX-License-Identifier: MIT
"""Every case runs on at least two kinds of node, so that an answer that knows the usual machine by
heart passes none.

    PEERLAB_BUILD=build/vgpu python3 tests/points/test_shapes.py
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from grader.course.project import Lab, Project  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
LAB_SECONDS = 600
Json = dict[str, Any]

_HERE = {
    "lab06.gpu_counts": "one to four of the node's GPUs are visible",
    "lab07.pipelined_fast": "a rate that was recorded there",
}
# Cases about a kind of node of which there is one; others of their tasks run on the usual ones.
_ALONE = {
    "none": "no GPU",
    "single": "one GPU",
    "oneway-2": "access in one direction only",
    "dgx1-v100": "links between some of eight GPUs",
    "dgx-a100": "eight GPUs",
    "pcie-4090-2": "no access at all",
    "pcie-dual-socket-4": "access inside a socket only",
    "textbook-4": "costs that can be calculated by hand",
    "textbook-a100-2": "costs that can be calculated by hand",
}


def nodes(lab: Lab) -> Iterator[tuple[str, list[str]]]:
    """Each case, with the kinds of node on which the solution was asked."""
    for end, prefix in (("", ""), ("-hidden", "hidden.")):
        program = PROJECT.build_dir / "bin" / f"{lab.name}-check{end}"
        for record in solved(lab, program, prefix) or asked(lab, program):
            yield f"{lab.name}.{prefix}{record['case']}", sorted(set(record["nodes"]))


def solved(lab: Lab, program: Path, prefix: str) -> list[Json]:
    """What a selfcheck found (grader/selfcheck/programs.py), if it asked every case with what is
    built now."""
    built = max(path.stat().st_mtime_ns for path in (program, runner_of(lab)))
    listed = subprocess.run([program, "--list-json"], capture_output=True, check=True)
    found = []
    for case in json.loads(listed.stdout):
        name = f"solution{lab.number}.{prefix}{case['case']}.json"
        path = PROJECT.build_dir / "selfcheck" / "solved" / name
        if not path.is_file() or path.stat().st_mtime_ns < built:
            return []
        found.append(json.loads(path.read_text(encoding="utf-8")))
    return found


def asked(lab: Lab, program: Path) -> list[Json]:
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "--runner", runner_of(lab), "--orders", "0", "--results", folder]
        subprocess.run(words, capture_output=True, check=True, timeout=LAB_SECONDS)
        found = sorted(Path(folder).glob("*.json"))
        return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def runner_of(lab: Lab) -> Path:
    return PROJECT.build_dir / "runners" / f"solution{lab.number}-run"


class Shapes(unittest.TestCase):
    def test_two_kinds_of_node(self) -> None:
        used = set()
        for lab in PROJECT.labs():
            for case, found in nodes(lab):
                with self.subTest(case):
                    if len(found) == 1 and (found[0] in _ALONE or case in _HERE):
                        used |= {found[0], case}
                        continue
                    self.assertGreaterEqual(len(found), 2, f"{case} runs on {found} only")
        self.assertLessEqual({*_ALONE, *_HERE}, used, "an exception that is not needed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
