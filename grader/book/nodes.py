# SPDX-License-Identifier: MIT
"""The gallery: `<!-- nodes -->` in a page becomes every machine of vgpu/nodes/, drawn."""

from pathlib import Path

from grader import topology
from grader.book import figures

DIRECTIVE = "<!-- nodes -->"


def insert(root: Path, text: str) -> str:
    return text.replace(DIRECTIVE, _gallery(root)) if DIRECTIVE in text else text


def _gallery(root: Path) -> str:
    folder = root / "vgpu" / "nodes"
    names = sorted(path.stem for path in folder.glob("*.json") if path.stem != "schema")
    return "\n\n".join(_machine(folder, name) for name in names)


def _machine(folder: Path, name: str) -> str:
    node = topology.describe(folder, name)
    drawn = topology.graph(node)
    gpus = len(node["gpus"])
    words = f"{name}: {gpus} GPUs and {len(drawn.links)} links between them and the host"
    shown = figures.drawn(topology.dot(drawn), words) if gpus else ""
    return f"## {name}\n\n{node['about']}\n\n{shown}"
