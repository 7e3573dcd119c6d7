# SPDX-License-Identifier: MIT
"""A second pass over what a node description with a model of processors (`processor`) makes of
kernels: the model adds its own time, so memory's rate and a kernel's least time are fitted to what
the virtual node answers with the first fit."""

from grader.calibrate.answers import Answers
from grader.calibrate.curve import rounded
from grader.calibrate.gallery import Node

GROUPS = ("memory", "kernel")  # first words of the figures that it asks for
SIZE = 128 << 20  # bytes that a kernel of `memory.*` reads


def wants(node: Node) -> bool:
    return any("processor" in part for part in node["parts"].values())


def refine(node: Node, machine: Answers, virtual: Answers) -> None:
    """Changes `node` by the difference between the two."""
    kernel = node["kernel"]
    more = machine.get("kernel.nothing.us") - virtual.get(
        "kernel.nothing.us", machine.get("kernel.nothing.us")
    )
    least = max(kernel["delay_us"] + kernel["floor_us"] + more, 0.0)
    kernel["delay_us"] = min(kernel["delay_us"], rounded(least))
    kernel["floor_us"] = rounded(least - kernel["delay_us"])
    for word, part in node["parts"].items():
        found = [
            us_more(machine, virtual, f"memory.read[{g}].gbs") - more
            for g, gpu in enumerate(node["gpus"])
            if gpu["part"] == word and virtual.get(f"memory.read[{g}].gbs")
        ]
        if found and "processor" in part:
            part["memory_gbs"] = faster(part["memory_gbs"], sorted(found)[len(found) // 2])
    node["sources"]["kernel"] += "; refined with the virtual node's answers, as memory_gbs"


def us_more(machine: Answers, virtual: Answers, name: str) -> float:
    """How much longer the machine takes for SIZE bytes; 0: one of the two was not asked."""
    one, other = machine.get(name), virtual.get(name)
    return SIZE * (1 / one - 1 / other) * 1e-3 if one and other else 0.0


def faster(gbs: float, more_us: float) -> float:
    us = SIZE / gbs * 1e-3 + more_us
    return rounded(SIZE / us * 1e-3) if us > 0 else gbs
