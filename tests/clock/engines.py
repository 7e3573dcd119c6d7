# SPDX-License-Identifier: MIT
"""Copies that want the same engine, on the virtual node and on 4 H200s: engines.py PROGRAM RECORDED
[--share].

--share: on the same node, but copies of one kind share an engine as they share links.
PROGRAM is engines.cu of the recordings, RECORDED is engines.txt. Of each set of copies that began
together the ends are compared, the first with the first; which copy that is, is nobody's business.
19 of 20 must be within a tenth, and none further off than half: the recording has sets that
shared host memory, and copies that hindered each other on their way into one GPU.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NODES = Path(__file__).parents[2] / "vgpu" / "nodes"
NEAR, FAR, ENOUGH = 0.10, 0.50, 0.95
ROW = re.compile(r"^(\d copies .*), end after us:((?: \d+)+)$", re.MULTILINE)

Ends = dict[str, list[float]]


def ends(text: str) -> Ends:
    return {what: sorted(map(float, times.split())) for what, times in ROW.findall(text)}


def sharing(folder: Path) -> Path:
    """A node without `at_once`, with the parts that it is made of."""
    (folder / "parts").symlink_to(NODES / "parts")
    node = json.loads((NODES / "hgx-h200-4.json").read_text())
    del node["copies"]["at_once"]
    path = folder / "hgx-h200-4.json"
    path.write_text(json.dumps(node))
    return path


def modelled(program: str, node: str) -> Ends:
    env = {**os.environ, "VGPU_NODE": node, "VGPU_NODE_ID": f"engines-{os.getpid()}"}
    done = subprocess.run(
        [program, "copies"], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return ends(done.stdout)


def main() -> int:
    recorded = ends(Path(sys.argv[2]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        node = sharing(Path(folder)) if sys.argv[3:] == ["--share"] else "hgx-h200-4"
        ours = modelled(sys.argv[1], str(node))
    if recorded.keys() != ours.keys() or not ours:
        sys.exit(f"recorded or modelled, but not both: {sorted(recorded.keys() ^ ours.keys())}")
    errors = [
        (model / real - 1, f"{what}, end {i + 1}: {model:.0f} us, recorded {real:.0f}")
        for what in recorded
        for i, (model, real) in enumerate(zip(ours[what], recorded[what], strict=True))
    ]
    errors.sort(key=lambda pair: -abs(pair[0]))
    near = sum(abs(error) <= NEAR for error, _ in errors)
    for error, text in errors[:5]:
        print(f"{error:+6.1%}  {text}")
    print(f"{near} of {len(errors)} ends within {NEAR:.0%} ({near / len(errors):.1%})")
    return 1 if near < ENOUGH * len(errors) or abs(errors[0][0]) > FAR else 0


if __name__ == "__main__":
    sys.exit(main())
