# SPDX-License-Identifier: MIT
"""What a machine answers beside what the virtual node answers with the machine's description."""

import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from grader.calibrate.answers import Answers
from grader.calibrate.curve import Curve

NOT_COMPARED = ("kernel.spin_20.cycles", "kernel.spin_40.cycles")  # the clock's granularity

RATES = {
    "host.up": "d2h_pinned",
    "host.down": "h2d_pinned",
    "host.both": "d2h_pinned",
    "pair.": "peer",
    "peers.": "peer",
}


@dataclass
class Row:
    name: str
    machine: float
    virtual: float

    @property
    def error(self) -> float:
        """Above 0: the virtual node takes longer."""
        slower = (
            self.machine / self.virtual
            if self.name.endswith("gbs")
            else self.virtual / self.machine
        )
        return slower - 1

    @property
    def family(self) -> str:
        """Names that differ in numbers only: GPUs in [brackets], bytes."""
        return re.sub(r"\.\d+\.us$", ".*.us", re.sub(r"\[[\d,]+\]", "[*]", self.name))


def rows(machine: Answers, virtual: Answers, curves: Mapping[str, Curve]) -> list[Row]:
    both = (
        name for name in machine.figures if name in virtual.figures and name not in NOT_COMPARED
    )
    return [
        Row(name, machine.figures[name], as_large(name, virtual, machine.rate_bytes, curves))
        for name in both
    ]


def as_large(name: str, virtual: Answers, size: int, curves: Mapping[str, Curve]) -> float:
    """A rate of copies at the same time, as copies of this size would have it: in the
    virtual node they are smaller, so that what a copy takes beside its bytes counts more there."""
    value = virtual.figures[name]
    path = next((path for start, path in RATES.items() if name.startswith(start)), "")
    if path not in curves or size == virtual.rate_bytes:
        return value
    flows = many(name, virtual.gpus)
    small, large = curves[path].overhead(virtual.rate_bytes), curves[path].overhead(size)
    return (
        size
        / (
            (virtual.rate_bytes / value * 1e-3 - small / flows) * size / virtual.rate_bytes
            + large / flows
        )
        * 1e-3
    )


def many(name: str, gpus: int) -> int:
    """How many copies a rate is the sum of, as calibrate_copies.cu makes them."""
    kind, _, of = name.removesuffix(".gbs").partition("[")
    numbers = [int(word) for word in of.rstrip("]").split(",") if word]
    if kind == "peers.around":
        return gpus
    if kind in ("host.up_first", "host.down_first"):
        return numbers[0]
    if kind == "host.both_first":
        return 2 * numbers[0]
    if kind in ("host.up", "host.down"):
        return len(numbers)
    return 1 if kind == "pair.one_way" else 2


def lines(found: list[Row]) -> list[str]:
    """One for each family: its size, the median of its errors, and the worst."""
    families: dict[str, list[Row]] = {}
    for row in found:
        families.setdefault(row.family, []).append(row)
    told = [
        f"{'figure':<34}{'number':>7}{'median':>8}{'worst':>9}"
        f"   {'the worst: machine':>20}{'virtual node':>14}"
    ]
    for family, members in families.items():
        worst = max(members, key=lambda row: abs(row.error))
        median = statistics.median(abs(row.error) for row in members)
        name = "" if len(members) == 1 else "  " + worst.name
        told.append(
            f"{family:<34}{len(members):>7}{median:>8.1%}{worst.error:>+9.1%}"
            f"   {worst.machine:>20.5g}{worst.virtual:>14.5g}{name}"
        )
    return [*told, summary(found)]


def summary(found: list[Row]) -> str:
    if not found:
        return "no figure to compare"
    errors = sorted(abs(row.error) for row in found)
    within = sum(error <= 0.1 for error in errors)
    return (
        f"{within} of {len(found)} figures within 10 %: median {statistics.median(errors):.1%}, "
        f"95 % within {errors[int(0.95 * (len(errors) - 1))]:.1%}, worst {errors[-1]:.1%}"
    )
