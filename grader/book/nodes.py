# SPDX-License-Identifier: MIT
"""The gallery: `<!-- nodes -->` in a page is replaced by every machine of vgpu/nodes/, drawn, and
its peer matrix. The copy-path calculator (`data-play="path"`) gets their rates."""

import html
import json
import re
from pathlib import Path

from grader.book import figures, matrices
from grader.learning import topology

DIRECTIVE = "<!-- nodes -->"
IMAGE = re.compile(r"^!\[([^\]]*)\]\(figures/([\w-]+)\.svg\)$", re.MULTILINE)
CALCULATOR = '<div data-play="path"></div>'


def insert(root: Path, text: str) -> str:
    folder = root / "vgpu" / "nodes"
    if DIRECTIVE in text:
        text = text.replace(
            DIRECTIVE, "\n\n".join(_machine(folder, name) for name in names(folder))
        )
    if CALCULATOR in text:
        rates = [pair(topology.describe(folder, name)) for name in names(folder)]
        given = html.escape(json.dumps([one for one in rates if one]))
        text = text.replace(CALCULATOR, f'<div data-play="path" data-nodes="{given}"></div>')
    return IMAGE.sub(lambda match: _image(folder, match), text)


def _image(folder: Path, match: re.Match[str]) -> str:
    """Draws a picture of a machine anew; keeps other images."""
    if match[2] not in names(folder):
        return match[0]
    return figures.drawn(
        topology.dot(topology.graph(topology.describe(folder, match[2]))), match[1], topology.ENGINE
    )


def names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.json") if path.stem != "schema")


def pair(node: matrices.Node) -> dict[str, object]:
    """What limits a copy from GPU 0 to GPU 1 there; empty without a GPU 1."""
    if len(node["gpus"]) < 2:
        return {}
    copies = node["copies"]
    reached = (0, 1) in matrices.may(node)
    latency = copies["peer" if reached else "staged"]["latency_us"]
    link = min(copies["peer"]["gbs"], _wire(node))
    rates = {"link": link, "host": copies["h2d_pinned"]["gbs"], "us": latency}
    return {"name": node["name"], "peer": reached, **rates}


def _wire(node: matrices.Node) -> float:
    """GB/s of the link between GPU 0 and GPU 1."""
    nvlink = node.get("nvlink") or {}
    if nvlink.get("kind") == "switch":
        return float(nvlink["port_gbs"])
    counts = [count for a, b, count in nvlink.get("links", []) if {a, b} == {0, 1}]
    return float(counts[0] * nvlink["link_gbs"] if counts else node["pcie"]["gbs"])


def _machine(folder: Path, name: str) -> str:
    node = topology.describe(folder, name)
    drawn = topology.graph(node)
    gpus = len(node["gpus"])
    words = f"{name}: {gpus} GPUs and {len(drawn.links)} links between them and the host"
    shown = figures.drawn(topology.dot(drawn), words, topology.ENGINE) if gpus else ""
    return f"## {name}\n\n{node['about']}\n\n{shown}\n\n{matrices.of(node)}"
