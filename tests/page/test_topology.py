# SPDX-License-Identifier: MIT
"""The drawing of every node: test_topology.py PROGRAM ROOT, where PROGRAM is touch.cu.

What is drawn is what the node has: the links of the drawing are those of a trace, by name and rate.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PROGRAM, ROOT = sys.argv[1], Path(sys.argv[2])
sys.path.insert(0, str(ROOT))

from grader.base.exits import LabError  # noqa: E402
from grader.learning import topology  # noqa: E402 (found by the path given)

NODES = ROOT / "vgpu" / "nodes"
DESCRIPTIONS = [path for path in sorted(NODES.glob("*.json")) if path.name != "schema.json"]


def links_of(node: str) -> dict[str, float]:
    """The node's own links, but for the GPUs' memories: {name: GB/s}."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        more = {"VGPU_NODE": node, "VGPU_NODE_ID": f"page-{os.getpid()}-{node}"}
        environment = os.environ | more | {"VGPU_TRACE": str(path)}
        subprocess.run([PROGRAM], env=environment, timeout=60, check=True)
        links = json.loads(path.read_text())["otherData"]["links"]
    return {link["name"]: link["gbs"] for link in links if not link["name"].startswith("GPU")} | {
        link["name"]: link["gbs"] for link in links if not link["name"].endswith("memory")
    }


class Topology(unittest.TestCase):
    def test_every_link_of_every_node_is_drawn(self) -> None:
        for path in DESCRIPTIONS:
            with self.subTest(path.stem):
                drawn = topology.graph(topology.describe(NODES, path.stem)).links
                names = {
                    name: link.gbs for link in drawn for name in (link.forth, link.back) if link.gbs
                }
                there = links_of(path.stem)
                self.assertEqual(names.keys(), there.keys())
                for name, gbs in there.items():
                    self.assertAlmostEqual(names[name], gbs, places=3, msg=name)

    def test_graphviz_draws_every_node(self) -> None:
        for path in DESCRIPTIONS:
            with self.subTest(path.stem), tempfile.TemporaryDirectory() as folder:
                out = Path(folder, "node.svg")
                topology.command(NODES, path.stem, out)
                svg = ElementTree.parse(out).getroot()
                boxes = [g for g in svg.iter() if g.get("class") == "node"]
                gpus = {g.get("id") for g in boxes if str(g.get("id")).startswith("GPU")}
                count = len(json.loads(path.read_text())["gpus"])
                self.assertEqual(gpus, {f"GPU{i}" for i in range(count)})

    def test_busy_links_are_thick_and_tell_their_bytes(self) -> None:
        drawn = topology.graph(topology.describe(NODES, "dgx1-v100"))
        lines = topology.dot(drawn, {"GPU3-GPU0 NVLink": 5_000_000}).splitlines()
        busy = [line for line in lines if "#c8502d" in line]
        self.assertEqual(len(busy), 1)
        self.assertIn('"GPU0" -- "GPU3"', busy[0])
        self.assertIn('label="5 MB"', busy[0])
        self.assertIn("GPU3-GPU0 NVLink: 5 MB", busy[0])

    def test_no_such_node(self) -> None:
        with self.assertRaisesRegex(LabError, "no node 'dgx-9': dgx-a100, dgx-h100"):
            topology.describe(NODES, "dgx-9")

    def test_sizes(self) -> None:
        said = [topology.bytes_text(n) for n in (0, 999, 4194304, 2.5e9, 7e15)]
        self.assertEqual(said, ["0 B", "999 B", "4.19 MB", "2.5 GB", "7e+03 TB"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
