# SPDX-License-Identifier: MIT
"""Charts in pages, generated with the site: a line `<!-- chart: NAME -->` is replaced by one. They
are drawn from data of the repository (`bandwidth.py`), from a formula (`memory.py`, `curves.py`,
`formulas.py`), from what the chapters print (`outputs.py`), from a trace (`traced.py`), or from a
computed schedule (`algorithms.py`, `schedules.py`)."""

import re
from collections.abc import Callable
from pathlib import Path

from grader.base.exits import LabError
from grader.book import (
    algorithms,
    bandwidth,
    curves,
    formulas,
    matrices,
    memory,
    outputs,
    rings,
    schedules,
    traced,
)

DIRECTIVE = re.compile(r"^<!-- chart: (\S+) -->$", re.MULTILINE)
CHARTS: dict[str, Callable[[Path], str]] = {
    "bandwidth": bandwidth.copies,
    "bandwidth-nccl": bandwidth.nccl,
    "bench": bandwidth.calls,
    "memory": memory.chart,
    "peers": matrices.chart,
    "ring-steps": rings.chart,
    "ring-times": bandwidth.ring,
    "truth": bandwidth.truth,
    "trace": traced.chart,
    **algorithms.CHARTS,
    **curves.CHARTS,
    **formulas.CHARTS,
    **outputs.CHARTS,
    **schedules.CHARTS,
}


def insert(root: Path, page: str, text: str) -> str:
    """The page with its charts. LabError: there is no chart of that name."""

    def one(match: re.Match[str]) -> str:
        if match[1] not in CHARTS:
            raise LabError(f"{page} asks for the chart {match[1]}; there are {sorted(CHARTS)}")
        return CHARTS[match[1]](root)

    return DIRECTIVE.sub(one, text)
