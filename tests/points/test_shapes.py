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

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from grader.course.project import Lab, Project  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
LAB_SECONDS = 600

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
    runner = PROJECT.build_dir / "runners" / f"solution{lab.number}-run"
    for end, prefix in (("", ""), ("-hidden", "hidden.")):
        program = PROJECT.build_dir / "bin" / f"{lab.name}-check{end}"
        with tempfile.TemporaryDirectory() as folder:
            words = [program, "--runner", runner, "--orders", "0", "--results", folder]
            subprocess.run(words, capture_output=True, check=True, timeout=LAB_SECONDS)
            for path in sorted(Path(folder).glob("*.json")):
                record = json.loads(path.read_text(encoding="utf-8"))
                yield f"{lab.name}.{prefix}{record['case']}", sorted(set(record["nodes"]))


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
