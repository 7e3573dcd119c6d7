# SPDX-License-Identifier: MIT
"""What a machine answered: the lines that bench/truth/calibrate.cu prints, figures and facts."""

import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

PART_NUMBERS = [
    "sms",
    "total_bytes",
    "l2_bytes",
    "clock_khz",
    "memory_clock_khz",
    "memory_bus_bits",
    "shared_per_block",
    "shared_per_block_optin",
    "shared_per_sm",
    "threads_per_sm",
    "blocks_per_sm",
    "regs_per_block",
    "regs_per_sm",
    "constant_bytes",
    "async_engines",
]
FORMAT = "1"  # as calibrate.cu prints it
MOST_GPUS = 16  # of a node description


@dataclass
class Answers:
    figures: dict[str, float] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)  # for want of time
    links: list[str] = field(default_factory=list)  # what nvidia-smi prints

    @property
    def gpus(self) -> int:
        return int(self.facts["gpus"])

    @property
    def virtual(self) -> bool:
        return self.facts.get("virtual") == "1"

    @property
    def rate_bytes(self) -> int:
        """What a copy moves where links are shared, as calibrate.h has it."""
        return (8 if self.virtual else 64) << 20

    def get(self, name: str, otherwise: float = 0.0) -> float:
        return self.figures.get(name, otherwise)

    def gpu(self, number: int, name: str) -> str:
        return self.facts[f"gpu[{number}].{name}"]

    def access(self, one: int, other: int) -> bool:
        return self.facts.get(f"peer[{one},{other}]", "0 0").startswith("1")

    def by_size(self, start: str) -> list[tuple[int, float]]:
        """Bytes and microseconds of figures START.BYTES.us."""
        named = (
            (re.fullmatch(rf"{re.escape(start)}\.(\d+)\.us", n), v) for n, v in self.figures.items()
        )
        return sorted((int(found[1]), value) for found, value in named if found)

    def labels(self) -> list[list[str]]:
        """nvidia-smi topo -m: [GPU][GPU]; empty lists if it did not say."""
        rows: list[list[str]] = []
        for line in self.links:
            cells = [cell.strip() for cell in line.split("\t")]
            if (
                re.fullmatch(r"GPU\d+", cells[0])
                and len(cells) > self.gpus
                and len(rows) < self.gpus
            ):
                rows.append(cells[1:])
        return rows if len(rows) == self.gpus else [[] for _ in range(self.gpus)]

    def label(self, one: int, other: int) -> str:
        row = self.labels()[one]
        return row[other] if len(row) > other else ""

    def refusal(self) -> str:
        words = {
            cell
            for line in self.links
            for cell in line.split("\t")
            if cell in ("NS", "CNS", "GNS", "TNS")
        }
        return min(words) if words else "NS"


def read(text: str) -> Answers:
    """Of one run of the program or of several, one after the other: the median of each figure."""
    answers = Answers()
    found: dict[str, list[float]] = {}
    for line in text.splitlines():
        fact = re.fullmatch(r"([\w\[\],.]+):(?: (.*))?", line)
        figure = re.fullmatch(r"(\S+) (\S+)", line)
        if fact and fact[1] == "smi":
            answers.links.append(re.sub(r"\x1b\[[0-9;]*m", "", fact[2] or ""))
        elif fact and fact[1] == "skipped":
            answers.skipped.append(fact[2] or "")
        elif fact:
            answers.facts[fact[1]] = (fact[2] or "").strip()
        elif figure and (value := _number(figure[2])) is not None:
            found.setdefault(figure[1], []).append(value)
    answers.figures = {name: statistics.median(values) for name, values in found.items()}
    if answers.facts.get("gpus") == "0":
        raise ValueError("they are of a machine without a GPU")
    if answers.facts.get("calibrate", FORMAT) != FORMAT:
        raise ValueError(
            f"they have format {answers.facts['calibrate']}, and this ./lab reads format {FORMAT}"
        )
    if "calibrate" not in answers.facts or not re.fullmatch(
        r"[1-9][0-9]{0,8}", answers.facts.get("gpus", "")
    ):
        raise ValueError(
            "truth-calibrate did not write them: no line `calibrate: 1`, or no line `gpus: N`"
        )
    if answers.gpus > MOST_GPUS:
        raise ValueError(
            f"line `gpus: {answers.gpus}`: a node description has {MOST_GPUS} GPUs at most"
        )
    _check_numbers(answers)
    return answers


def _check_numbers(answers: Answers) -> None:
    whole = {*PART_NUMBERS, "numa", "ecc"}
    for name, value in answers.facts.items():
        kind = name.partition("].")[2]
        if kind in whole and not re.fullmatch(r"-?[0-9]{1,15}", value):
            raise ValueError(f"line `{name}: {value}`: it must be a whole number")
        if kind in PART_NUMBERS and int(value) < (kind == "sms"):
            raise ValueError(f"line `{name}: {value}`: the number is too small")


def _number(word: str) -> float | None:
    """None: the text is no number, or one that is not between 0 and 1e12."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if 0 < value < 1e12 else None


def pairs(count: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(count) for j in range(count) if i != j)
