# SPDX-License-Identifier: MIT
"""The speed of light of a timed task: the time below which no program can be on a node.

It follows from the bytes that must move and from the rates of the node's description, without any
latency, call or kernel. docs/leaderboard.md derives each formula.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "vgpu" / "nodes"


@dataclass(frozen=True)
class Rates:
    """Of a node, in bytes a second. `port`: out of one GPU to others, and into it."""

    gpus: int
    port: float
    host: float  # between a GPU and the host's memory
    memory: float  # of the slowest GPU
    sockets: float  # from one half of the GPUs to the other; 0: all are on one socket


def ps(lab: str, node: str, payload: int) -> int:
    """Picoseconds that lab "03" needs at least on the node; `payload`: bytes of one GPU."""
    return int(_BOUNDS[lab](rates(node), payload) * 1e12)


@cache
def rates(node: str) -> Rates:
    described = json.loads((FOLDER / f"{node}.json").read_text(encoding="utf-8"))
    gpus, pcie = described["gpus"], described["pcie"]["gbs"]
    port = described["nvlink"]["port_gbs"] if "nvlink" in described else pcie
    memory = described.get("memory_gbs") or min(_part(gpu["part"])["memory_gbs"] for gpu in gpus)
    apart = "nvlink" not in described and len(described["sockets"]["groups"]) > 1
    sockets = described["sockets"]["gbs"] if apart else 0
    return Rates(len(gpus), port * 1e9, pcie * 1e9, memory * 1e9, sockets * 1e9)


def _part(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "parts" / f"{name}.json").read_text("utf-8"))
    return found


def _copy(node: Rates, payload: int) -> float:
    """All bytes leave one GPU and come into another one; here also from socket to socket."""
    return payload / min(node.port, node.sockets or node.port)


def _sum(node: Rates, payload: int) -> float:
    """Each GPU reads its numbers once."""
    return payload / node.memory


def _all_reduce(node: Rates, payload: int) -> float:
    """N - 1 partial sums come to each element, and N - 1 copies of the sum leave: on average
    2 (N - 1) / N of the bytes through a port. Each half of the GPUs needs the other one's sums."""
    ports = 2 * (node.gpus - 1) / node.gpus * payload / node.port
    return max(ports, payload / node.sockets if node.sockets else 0.0)


_BOUNDS: dict[str, Callable[[Rates, int], float]] = {
    "03": _copy,
    "04": _sum,
    "07": _all_reduce,
    "08": _all_reduce,  # a reduce-scatter and an all-gather
}
