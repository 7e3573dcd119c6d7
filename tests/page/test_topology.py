# SPDX-License-Identifier: MIT
"""The drawing of every node: test_topology.py PROGRAM ROOT, where PROGRAM is touch.cu.

What is drawn is what the node has: the links of the drawing are those of a trace, by name and rate.
No label covers another one or a box, and no link goes through a label.
"""

import itertools
import json
import math
import os
import re
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
from grader.learning.placing import Point, Rectangle  # noqa: E402

NODES = ROOT / "vgpu" / "nodes"
DESCRIPTIONS = [path for path in sorted(NODES.glob("*.json")) if path.name != "schema.json"]


def links_of(node: str) -> dict[str, float]:
    """The node's own links: {name: GB/s}; but for the GPUs' memories, and for what the two
    directions of a drawn link, or all that writes or reads the host's memory, have together."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        more = {"VGPU_NODE": node, "VGPU_NODE_ID": f"page-{os.getpid()}-{node}"}
        environment = os.environ | more | {"VGPU_TRACE": str(path)}
        subprocess.run([PROGRAM], env=environment, timeout=60, check=True)
        links = json.loads(path.read_text())["otherData"]["links"]
    together = (" both ways", " written", " read")
    links = [link for link in links if not link["name"].endswith(together)]
    return {link["name"]: link["gbs"] for link in links if not link["name"].startswith("GPU")} | {
        link["name"]: link["gbs"] for link in links if not link["name"].endswith("memory")
    }


SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 0.6  # of a letter, by its size: a browser without Helvetica takes a wider font


def text_box(texts: list[ElementTree.Element]) -> Rectangle:
    """The lines of one label."""
    size = float(texts[0].get("font-size", "14"))
    xs, ys = ([float(one.get(k, "0")) for one in texts] for k in "xy")
    width = max(len(one.text or "") for one in texts) * size * WIDEST
    return Rectangle(xs[0], sum(ys) / len(ys) - 0.3 * size, width, ys[-1] - ys[0] + size)


def shape_box(node: ElementTree.Element) -> Rectangle:
    """What the outline of a box encloses."""
    (path, *_) = [one for one in node.iter() if one.tag in (f"{SVG}path", f"{SVG}polygon")]
    numbers = [float(n) for n in re.findall(r"-?[0-9.]+", path.get("d") or path.get("points", ""))]
    xs, ys = numbers[::2], numbers[1::2]
    middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return Rectangle(*middle, max(xs) - min(xs), max(ys) - min(ys))


def parts_of(svg: ElementTree.Element) -> tuple[dict[str, Rectangle], dict[str, Rectangle]]:
    """Boxes and labels of links, by their ids."""
    boxes, labels = {}, {}
    for group in svg.iter(f"{SVG}g"):
        if group.get("class") == "node":
            boxes[str(group.get("id"))] = shape_box(group)
        elif group.get("class") == "edge" and list(group.iter(f"{SVG}text")):
            labels[str(group.get("id"))] = text_box(list(group.iter(f"{SVG}text")))
    return boxes, labels


def lines_of(svg: ElementTree.Element) -> list[tuple[str, list[Point]]]:
    """Points on each link, three apart at most, with its id. Curves are drawn of short pieces."""
    found = []
    for group in svg.iter(f"{SVG}g"):
        if group.get("class") != "edge":
            continue
        (path,) = group.iter(f"{SVG}path")
        numbers = [float(n) for n in re.findall(r"-?[0-9.]+", path.get("d", ""))]
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        line = []
        for a, b in itertools.pairwise(ends):
            count = 1 + int(math.dist(a, b) / 3)
            parts = [i / count for i in range(count + 1)]
            line += [(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) for t in parts]
        found.append((str(group.get("id")), line))
    return found


class Covered(unittest.TestCase):
    def nothing_is_covered(self, source: str) -> tuple[dict[str, Rectangle], dict[str, Rectangle]]:
        svg = ElementTree.fromstring(topology.draw(source))
        boxes, labels = parts_of(svg)
        everything = [*boxes.items(), *labels.items()]
        for (one, here), (other, there) in itertools.combinations(everything, 2):
            self.assertFalse(here.overlaps(there), f"{one} and {other}: {here}, {there}")
        for (one, label), (other, line) in itertools.product(labels.items(), lines_of(svg)):
            crossed = [point for point in line if label.has(point)]
            self.assertEqual(crossed, [], f"{other} goes through the label of {one}")
        return boxes, labels

    def test_no_label_covers_another_one_a_box_or_a_line(self) -> None:
        for path in DESCRIPTIONS:
            drawn = topology.graph(topology.describe(NODES, path.stem))
            with self.subTest(path.stem):
                boxes, labels = self.nothing_is_covered(topology.dot(drawn))
                self.assertEqual(boxes.keys(), drawn.boxes.keys())
                said = [link for link in drawn.links if link.label or link.gbs]
                self.assertEqual(len(labels), len(said))
            with self.subTest(f"{path.stem}, busy"):
                bytes_ = {link.forth: 123_400_000 for link in drawn.links}
                _, labels = self.nothing_is_covered(topology.dot(drawn, bytes_))
                self.assertEqual(len(labels), len(drawn.links))

    def test_the_cube_mesh_is_a_cube(self) -> None:
        """Two squares, one the other moved; links between them join their corners."""
        drawn = topology.graph(topology.describe(NODES, "dgx1-v100"))
        boxes, _ = parts_of(ElementTree.fromstring(topology.draw(topology.dot(drawn))))
        at = [(boxes[f"GPU{i}"].x, boxes[f"GPU{i}"].y) for i in range(8)]
        moved = {
            (round(b[0] - a[0]), round(b[1] - a[1])) for a, b in zip(at[:4], at[4:], strict=True)
        }
        self.assertEqual(len(moved), 1)
        self.assertEqual(len({round(x) for x, _ in at[:4]}), 2)
        self.assertEqual(len({round(y) for _, y in at[:4]}), 2)

    def test_a_covered_label_would_be_seen(self) -> None:
        drawn = topology.graph(topology.describe(NODES, "hgx-h200-4"))
        source = re.sub(r'lp="[^"]*"', 'lp="10,10"', topology.dot(drawn))
        with self.assertRaises(AssertionError):
            self.nothing_is_covered(source)


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
