#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what `zero-plan MODEL --json` says: bytes a GPU by kind, stage by stage and over GPUs.

zero-plan 7.5B --gpus 64 --json | zero-picture -o memory.svg
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

try:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.axes import Axes
except ModuleNotFoundError:
    sys.exit("zero-picture: matplotlib is missing; python3 -m pip install matplotlib")

KINDS = {  # of the planner's JSON, bottom to top, and how each is called
    "parameters": ("parameters", "#4477aa"),
    "gradients": ("gradients", "#66ccee"),
    "fp32": ("fp32 states", "#ccbb44"),
    "activations": ("activations", "#228833"),
    "buffers": ("buckets, gathered layers", "#aa3377"),
}
GB = 1e9


def kinds(stage: dict[str, Any]) -> dict[str, float]:
    """GB of each kind at the moment of the peak."""
    held = stage["at_peak"]
    return {
        "parameters": held["parameters"] / GB,
        "gradients": held["gradients"] / GB,
        "fp32": (held["master"] + held["momentum"] + held["variance"]) / GB,
        "activations": held["activations"] / GB,
        "buffers": (held["gathered"] + held["buckets"]) / GB,
    }


def bars(axes: Axes, labels: list[str], stages: list[dict[str, Any]], limit: float) -> None:
    """One stacked bar a stage, and a line at the GPU's memory."""
    bottom = [0.0] * len(stages)
    for kind, (name, colour) in KINDS.items():
        heights = [kinds(stage)[kind] for stage in stages]
        axes.bar(labels, heights, bottom=bottom, label=name, color=colour)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    axes.axhline(limit, color="black", linestyle="--", linewidth=1, label="memory of a GPU")
    axes.set_ylabel("GB a GPU")


def draw(plan: dict[str, Any], target: Path) -> None:
    """Left: the stages on the GPUs asked for. Right: stages 1 to 3 over 1 to 1024 GPUs."""
    limit = plan["machine"]["memory_bytes"] / GB
    figure, panels = pyplot.subplots(1, 2, figsize=(12, 5), width_ratios=[1, 2])
    left, right = panels
    stages = [stage for stage in plan["stages"] if not stage["offload"]]
    bars(left, [f"stage {stage['stage']}" for stage in stages], stages, limit)
    left.set_title(f"{plan['model']['name']} on {plan['gpus']} GPUs")
    entries = [
        (f"{stage['stage']}\n{entry['gpus'] if stage['stage'] == 2 else ''}", stage)
        for entry in plan["sweep"]
        for stage in entry["stages"]
        if not stage["offload"] and stage["stage"] > 0
    ]
    places = [str(i) for i in range(len(entries))]
    bars(right, places, [stage for _, stage in entries], limit)
    right.set_xticks(range(len(entries)), [label for label, _ in entries])
    right.set_xlabel("stage, and number of GPUs")
    right.set_title("stages 1 to 3 on more GPUs")
    right.legend()
    figure.tight_layout()
    figure.savefig(target, format="svg")


def main() -> int:
    parser = argparse.ArgumentParser(prog="zero-picture", description=__doc__.split("\n")[0])
    parser.add_argument("plan", nargs="?", help="what zero-plan --json printed (default: stdin)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the SVG to write")
    words = parser.parse_args()
    try:
        text = Path(words.plan).read_text(encoding="utf-8") if words.plan else sys.stdin.read()
        draw(json.loads(text), words.output)
    except (OSError, ValueError, KeyError) as error:
        print(f"zero-picture: {words.plan or 'stdin'} is not a plan of zero-plan --json: {error!r}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
