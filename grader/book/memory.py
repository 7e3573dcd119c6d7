# SPDX-License-Identifier: MIT
"""Memory on each GPU by ZeRO stage: the formula of chapter 11, drawn."""

from pathlib import Path

from grader.base import svg

WIDTH, LEFT, TOP, ROW, SCALE = 480, 70, 24, 26, 2.9
KINDS = (("optimizer", 12, 1), ("gradients", 2, 2), ("parameters", 2, 3))  # sharded from stage on
MODELS = ((7.0, 8), (7.5, 64))  # billion parameters, GPUs; as the chapter's program
ROOM = 80.0


def gigabytes(stage: int, billions: float, gpus: int) -> list[float]:
    """Of each kind, in the order of KINDS."""
    return [billions * size / (gpus if stage >= since else 1) for _, size, since in KINDS]


def chart(_root: Path) -> str:
    parts, top = [], 0.0
    for billions, gpus in MODELS:
        parts.append(_model(billions, gpus, top))
        top += TOP + 4 * ROW + 26
    kinds = [(kind[0], colour) for kind, colour in zip(KINDS, svg.COLOURS, strict=False)]
    parts.append(svg.legend(LEFT, top + 4, kinds))
    words = "; ".join(_told(billions, gpus) for billions, gpus in MODELS)
    return svg.figure(parts, f"Memory on each GPU by ZeRO stage. {words}", WIDTH, top + 20)


def _told(billions: float, gpus: int) -> str:
    sums = [f"{sum(gigabytes(stage, billions, gpus)):.1f}" for stage in range(4)]
    return f"{billions:g} billion parameters on {gpus} GPUs: {', '.join(sums)} GB"


def _model(billions: float, gpus: int, top: float) -> str:
    parts = [
        svg.text(LEFT, top + 14, f"{billions:g} billion parameters on {gpus} GPUs, GB on each")
    ]
    for stage in range(4):
        y, x = top + TOP + ROW * stage, float(LEFT)
        parts.append(svg.text(LEFT - 8, y + 16, f"stage {stage}", "end"))
        sizes = gigabytes(stage, billions, gpus)
        for size, colour in zip(sizes, svg.COLOURS, strict=False):
            parts.append(svg.box(round(x, 1), y, round(SCALE * size, 1), ROW - 4, colour))
            x += SCALE * size
        parts.append(svg.text(round(x + 6, 1), y + 16, f"{sum(sizes):.1f}"))
    bottom, x = top + TOP + 4 * ROW, LEFT + SCALE * ROOM
    parts.append(svg.line(x, top + TOP - 4, x, bottom, 0.8))
    parts.append(svg.text(x, bottom + 12, f"{ROOM:g} GB", "middle", size=11))
    return "".join(parts)
