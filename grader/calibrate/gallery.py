# SPDX-License-Identifier: MIT
"""The node of the gallery that a machine is most like: what was not measured comes from there."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.calibrate.answers import Answers

Node = dict[str, Any]


@dataclass
class Nearest:
    name: str
    why: str
    node: Node
    part: Node
    same_gpu: bool


def nearest(folder: Path, answers: Answers) -> Nearest:
    """By the GPU's name, then generation, then how the GPUs are connected, then their number."""
    name, capability = (
        answers.gpu(0, "name"),
        [int(word) for word in answers.gpu(0, "capability").split()],
    )
    nvlink = any(answers.label(0, j).startswith("NV") for j in range(1, answers.gpus))

    def distance(path: Path) -> tuple[object, ...]:
        node = json.loads(path.read_text())
        part = part_of(folder, node)
        generation = abs(
            part["capability"][0] * 10 + part["capability"][1] - capability[0] * 10 - capability[1]
        )
        recorded = "recorded" in node["sources"]["copies"] or "fitted" in node["sources"]["copies"]
        return (part["name"] != name, generation, ("nvlink" in node) != nvlink, not recorded,
                abs(len(node["gpus"]) - answers.gpus), path.stem)  # fmt: skip

    paths = [
        p for p in folder.glob("*.json") if p.stem != "schema" and json.loads(p.read_text())["gpus"]
    ]
    path = min(paths, key=distance)
    node = json.loads(path.read_text())
    part = part_of(folder, node)
    same = part["name"] == name
    why = (
        "it has the same GPU" if same else f"its GPU, {part['name']}, is of the nearest generation"
    )
    return Nearest(path.stem, why, node, part, same)


def part_of(folder: Path, node: Node) -> Node:
    name = node["gpus"][0]["part"]
    own: Node | None = node.get("parts", {}).get(name)
    part: Node = own or json.loads((folder / "parts" / f"{name}.json").read_text())
    return part
