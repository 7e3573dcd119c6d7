# SPDX-License-Identifier: MIT
"""leaderboard.html: for each lab and node the times, between the bound and the naive way."""

from grader.grade.page import Block, Heading, Paragraph, Table
from grader.leaderboard.board import Board, Mark, Named, Race
from grader.leaderboard.realgpus import Measured

TASKS = {
    "03": "p2p_copy brings 64 MiB from one GPU to another one.",
    "04": "2^24 numbers, a part of them on each GPU: sum_start, then sum_peer, or sum_host where "
    "the GPUs cannot reach each other.",
    "07": "ring_pipelined in two slices, as a graph: 16 MiB on each GPU.",
    "08": "zero_reduce and zero_gather of a model of 2^21 parameters in stage 2. This is what the "
    "stages differ in: the network's own arithmetic is too small to be timed, and the memory that "
    "a stage takes is fixed to the byte.",
}
INTRODUCTION = (
    "Times of the virtual node, in microseconds, of those who pass every test of the lab. The node "
    "measures them itself, from the last byte that it loads to the GPUs to the end of the last "
    "copy or kernel; what a program says of times has no part in it. No GPU was used. The speed of "
    "light is the time in which the bytes could move at the rates of the node's links and memory, "
    "if nothing else took time."
)


def blocks(board: Board, named: Named) -> list[Block]:
    found: list[Block] = [Heading("Leaderboard", 1), Paragraph(INTRODUCTION)]
    lab = ""
    for race in board.races:
        if race.level.lab != lab:
            lab = race.level.lab
            found += [Heading(f"Lab {lab}"), Paragraph(TASKS[lab])]
            found += _real(board.real.get(lab))
        found += _race(race, named)
    if board.older:
        said = f"{board.older} times that an earlier version of the course took are not shown."
        found.append(Paragraph(said))
    return found


def _real(found: Measured | None) -> list[Block]:
    if found is None:
        return []
    rows = (("the course's solution", found.reference), ("the naive way", found.naive))
    table = [[name, _us(ps) if ps else "cannot run there"] for name, ps in rows]
    said = (
        f"Real GPUs: {found.gpus}. These times are real, by the program's own clock, the host's "
        "calls included. No submission has run there, and no place depends on them."
    )
    head = ["on real GPUs", "microseconds"]
    return [Paragraph(said), Table(head, table, frozenset({1}), stacked=True)]


def _race(race: Race, named: Named) -> list[Block]:
    level = race.level
    heading = Heading(f"Lab {level.lab} on {level.node}: {level.title}", 3)
    head = ["place", "", "microseconds", "of the speed of light", "handed in"]
    table = Table(head, _standings(race, named), frozenset({0, 2, 3}), stacked=True)
    if not race.marks:
        return [heading, table]
    head = ["day", "best of the day", "by", "best until then"]
    days = [
        [mark.day, _us(mark.ps), named(mark.student), _us(best)] for mark, best in race.by_day()
    ]
    return [heading, table, Table(head, days, frozenset({1, 3}), stacked=True)]


def _standings(race: Race, named: Named) -> list[list[str]]:
    level, best = race.level, race.best()
    ours = [
        ("speed of light", level.bound),
        ("the course's solution", level.reference),
        ("the naive way", level.naive),
    ]
    rows = [(ps, 0, ["", name, _us(ps), _part(level.bound, ps), ""]) for name, ps in ours]
    rows += [
        (mark.ps, 1, [str(_place(mark, best)), named(mark.student), *_figures(race, mark)])
        for mark in best
    ]
    return [row for _, _, row in sorted(rows)]


def _place(mark: Mark, best: list[Mark]) -> int:
    """Equal times share a place."""
    return 1 + sum(other.ps < mark.ps for other in best)


def _figures(race: Race, mark: Mark) -> list[str]:
    return [_us(mark.ps), _part(race.level.bound, mark.ps), mark.day]


def _us(ps: int) -> str:
    return f"{ps / 1e6:.2f}"


def _part(bound: int, ps: int) -> str:
    return f"{bound / ps:.1%}"
