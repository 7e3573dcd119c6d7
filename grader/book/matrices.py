# SPDX-License-Identifier: MIT
"""Peer matrices of the machines in vgpu/nodes: which GPU may use which memory, over which link."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.base import svg
from grader.learning import topology

CELL, LEFT, TOP, GAP, WIDTH = 34, 62, 40, 24, 500
SHOWN = ("hgx-h200-4", "oneway-2", "pcie-dual-socket-4", "dgx1-v100")  # in chapter 4
Node = Mapping[str, Any]


def links(node: Node) -> dict[tuple[int, int], str]:
    """The name of the NVLink between two GPUs; pairs without one are not in it."""
    nvlink, gpus = node.get("nvlink"), range(len(node["gpus"]))
    if nvlink is None:
        return {}
    if nvlink["kind"] == "mesh":
        pairs = {(a, b): f"NV{count}" for a, b, count in nvlink["links"]}
        return pairs | {(b, a): name for (a, b), name in pairs.items()}
    return {(a, b): nvlink["label"] for a in gpus for b in gpus if a != b}


def may(node: Node) -> set[tuple[int, int]]:
    """(a, b) where GPU a may use GPU b's memory."""
    peers, gpus = node["peers"], range(len(node["gpus"]))
    if peers == "nvlink":
        return set(links(node))
    if peers == "all":
        return {(a, b) for a in gpus for b in gpus if a != b}
    return set() if peers == "none" else {(a, b) for a, b in peers}


def chart(root: Path) -> str:
    """Four machines side by side."""
    return _figure([topology.describe(root / "vgpu" / "nodes", name) for name in SHOWN])


def of(node: Node) -> str:
    """One machine's; "" where there is no pair."""
    return _figure([node]) if len(node["gpus"]) > 1 else ""


def _figure(nodes: list[Node]) -> str:
    parts, wide, x, y, height = [], 0.0, 0.0, 0.0, 0.0
    for node in nodes:
        size = CELL * len(node["gpus"])
        width = max(LEFT + size, LEFT + 7.2 * len(node["name"])) + GAP
        if x and x + width > WIDTH:  # the next row
            x, y, height = 0.0, y + height + GAP, 0.0
        parts.append(_matrix(node, x, y))
        x += width
        wide, height = max(wide, x), max(height, TOP + size)
    words = "Who may use whose memory. " + "; ".join(told(node) for node in nodes)
    return svg.figure(parts, words, wide, y + height + 6)


def told(node: Node) -> str:
    """The matrix in words."""
    gpus, allowed = len(node["gpus"]), may(node)
    if len(allowed) == gpus * (gpus - 1):
        return f"{node['name']}: every GPU every other's"
    pairs = ", ".join(f"{a} {b}'s" for a, b in sorted(allowed))
    return f"{node['name']}: " + (pairs or "no GPU another's")


def _matrix(node: Node, left: float, top: float) -> str:
    allowed, named, gpus = may(node), links(node), range(len(node["gpus"]))
    parts = [svg.text(left + LEFT, top + 14, node["name"])]
    for a in gpus:
        y = top + TOP + CELL * a
        parts.append(svg.text(left + LEFT - 6, y + 20, f"GPU {a} uses", "end", size=10))
        middle = left + LEFT + CELL * (a + 0.5)
        parts.append(svg.text(middle, top + TOP - 6, str(a), "middle", size=10))
        for b in gpus:
            x = left + LEFT + CELL * b
            good = (a, b) in allowed
            colour = svg.COLOURS[2] if good else "#888888"
            words = "" if a == b else named.get((a, b), "PCIe") if good else "no"
            if a != b:
                parts.append(svg.box(x + 1, y + 1, CELL - 2, CELL - 2, colour))
            parts.append(svg.text(x + CELL / 2, y + 21, words, "middle", size=10))
    return "".join(parts)
