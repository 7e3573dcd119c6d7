# SPDX-License-Identifier: MIT
"""More curves of the chapters' formulas. Each formula is a function; tests compare it with the
chapter's table or with what its program prints."""

from collections.abc import Callable
from pathlib import Path

from grader.book import memory
from grader.book.bars import shown
from grader.book.curves import Axis, Points, plot

# ---- chapter 1 ----

WHY = "01-why.md"
SCALED = r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \|"  # GPUs, strong, weak
HALOS = r"^\| ([\d.]+) µs \| ([\d.]+) µs \| ([\d.]+) \|"  # c, a step, speed-up


def efficiency(gpus: int, work: float, combining: float) -> float:
    """Of strong scaling, for two GPUs or more."""
    return work / (work + gpus * combining)


def with_halos(cost: float) -> float:
    """The stencil's speed-up on four GPUs whose exchange takes that many microseconds."""
    return 36.4 / (9.1 + cost)


def efficiencies(_root: Path) -> str:
    lines: list[tuple[str, Points]] = [
        (f"c = {c:g} ms", [(g, efficiency(g, 20, c)) for g in range(2, 81)]) for c in (0.25, 1, 5)
    ]
    words = (
        "Efficiency by number of GPUs for 20 ms of work: it falls to one half at 4 GPUs with "
        "c = 5 ms, at 20 with 1 ms, at 80 with 0.25 ms"
    )
    across = Axis("GPUs", 80, (2, 20, 40, 60, 80))
    return plot(lines, [], words, across, Axis("efficiency", 1, (0, 0.25, 0.5, 0.75, 1)))


def scaling(root: Path) -> str:
    rows = shown(root, WHY, SCALED)
    counts = range(2, 65)
    lines: list[tuple[str, Points]] = [
        ("strong scaling", [(g, efficiency(g, 20, 1)) for g in counts]),
        ("weak scaling", [(g, 20 / 21) for g in counts]),
    ]
    dots = [(g, y) for g, strong, weak in rows for y in (strong, weak)]
    words = (
        "Efficiency of strong and weak scaling by number of GPUs: strong scaling falls from "
        f"{rows[0][1]:g} on {rows[0][0]:g} GPUs to {rows[-1][1]:g} on {rows[-1][0]:g}, weak "
        f"scaling stays at {rows[-1][2]:g}"
    )
    across = Axis("GPUs", 64, (2, 4, 16, 32, 64))
    up = Axis("efficiency", 1, (0, 0.25, 0.5, 0.75, 1))
    return plot(lines, dots, words, across, up, "the table")


def halo_cost(root: Path) -> str:
    rows = shown(root, WHY, HALOS)
    lines: list[tuple[str, Points]] = [
        ("four GPUs", [(c / 4, with_halos(c / 4)) for c in range(121)]),
        ("one GPU", [(0, 1), (30, 1)]),
    ]
    words = (
        "Speed-up of the stencil on four GPUs by the time of an exchange: 4 if it takes no time, "
        f"{rows[1][2]:g} if it takes {rows[1][0]:g} µs, and none from {rows[-1][0]:g} µs on"
    )
    across = Axis("c in µs", 30, (0, 5, 10, 20, 30))
    dots = [(c, gain) for c, _, gain in rows]
    return plot(lines, dots, words, across, Axis("speed-up", 4, (0, 1, 2, 3, 4)), "the table")


# ---- chapter 4 ----

IN_FLIGHT = r"^\| ([\d,]+) \| [\d.]+ K?B \| ([\d.]+) GB/s"  # threads, rate


def loaded(threads: float, each: float) -> float:
    """GB/s of threads that load so many bytes each from a peer, 1 µs from request to answer."""
    return min(threads * each / 1000, 375)


def in_flight(root: Path) -> str:
    thousands = [n / 2 for n in range(241)]
    lines: list[tuple[str, Points]] = [
        (name, [(n, loaded(1000 * n, each)) for n in thousands])
        for name, each in (("float", 4), ("float4", 16))
    ]
    dots = [(threads / 1000, rate) for threads, rate in shown(root, "04-peer-access.md", IN_FLIGHT)]
    words = (
        "Rate of loads from a peer by number of threads: with a float for each thread it "
        f"reaches {dots[-1][1]:g} GB/s at {1000 * dots[-1][0]:,.0f} threads; with a float4 it does "
        "so at 23,438"
    )
    across = Axis("thousand threads", 120, (0, 25, 50, 75, 100, 120))
    return plot(lines, dots, words, across, Axis("GB/s", 400, (0, 100, 200, 300, 400)), "the table")


# ---- chapter 5 ----

BYTES = "05-bytes.md"
LATENCY, RATE = 1.66, 395  # µs and GB/s of a copy between two H200s
HOP = 31.25  # ms of 1 GB at 32 GB/s
STAGED = (1220, 10)  # µs of 64 MiB at 55 GB/s, and of a chunk besides
PACKED = 11.2  # µs of packing
CHUNKS = r"^ *(\d+) chunks? +(\d+) us"


def copied(megabytes: float) -> tuple[float, float]:
    """Latency and time of the bytes of a copy between two H200s, in microseconds."""
    return LATENCY, 1000 * megabytes / RATE


def staged(chunks: int, hop: float, each: float = 0.0) -> float:
    """Through the host in chunks: `hop` is the time of one hop for all bytes, `each` what every
    chunk costs besides."""
    return (chunks + 1) * (hop / chunks + each)


def parts_of_time(_root: Path) -> str:
    sizes = [n / 50 for n in range(101)]
    lines: list[tuple[str, Points]] = [
        ("both", [(s, sum(copied(s))) for s in sizes]),
        ("latency", [(s, copied(s)[0]) for s in sizes]),
        ("bytes / bandwidth", [(s, copied(s)[1]) for s in sizes]),
    ]
    words = (
        "Time of a copy by its size: the latency is 1.66 µs for any size, the time of the bytes "
        "rises from 0; they are equal at 0.66 MB; at 2 MB the bytes take three quarters of the time"
    )
    return plot(
        lines, [], words, Axis("MB", 2, (0, 0.66, 1, 1.5, 2)), Axis("µs", 8, (0, 2, 4, 6, 8))
    )


def chunked(_root: Path) -> str:
    counts = range(1, 17)
    lines: list[tuple[str, Points]] = [
        ("k chunks", [(k, staged(k, HOP)) for k in counts]),
        ("limit", [(k, HOP) for k in counts]),
    ]
    words = (
        "Time of 1 GB through the host by number of chunks: 62.5 ms in one chunk, 35.2 in 8, and "
        "never less than 31.25"
    )
    across = Axis("chunks", 16, (1, 2, 4, 8, 12, 16))
    return plot(lines, [], words, across, Axis("ms", 75, (0, 25, 50, 75)))


def packing(_root: Path) -> str:
    """What is left of the times when the bytes' own, which are the same in both, are left out."""
    pieces = range(1, 13)
    lines: list[tuple[str, Points]] = []
    for latency in (4.1, LATENCY):
        lines.append((f"{latency:g} each", [(m, m * latency) for m in pieces]))
        lines.append((f"{latency:g} packed", [(m, PACKED + latency) for m in pieces]))
    words = (
        "Time by number of pieces, without the time of their bytes. Where a copy costs 4.1 µs, "
        "packing is faster from four pieces on; where it costs 1.66 µs, from eight on"
    )
    across = Axis("pieces", 12, (1, 4, 8, 12))
    return plot(lines, [], words, across, Axis("µs", 50, (0, 10, 20, 30, 40, 50)))


def best_chunks(root: Path) -> str:
    counts = range(1, 41)
    ran = [(k, us) for k, us in shown(root, BYTES, CHUNKS) if k <= counts[-1]]
    lines: list[tuple[str, Points]] = [("formula", [(k, staged(k, *STAGED)) for k in counts])]
    words = (
        "Time of staging 64 MiB by number of chunks, each with 10 µs besides: from 2460 µs with "
        "one chunk it falls to 1451 with 11, and then rises slowly"
    )
    across = Axis("chunks", 40, (1, 5, 11, 20, 30, 40))
    return plot(lines, ran, words, across, Axis("µs", 2500, (0, 500, 1000, 1500, 2000, 2500)))


# ---- chapter 6 ----

DATA = "06-data-parallel.md"


def waiting_each_time(kernel: float, gpus: int = 4, call: float = 7) -> float:
    """Launch, wait and copy for one GPU after the other; microseconds."""
    return gpus * (kernel + 2 * call)


def waiting_at_the_end(kernel: float, gpus: int = 4, call: float = 7) -> float:
    return kernel + 2 * gpus * call


def overlapping(root: Path) -> str:
    """By how much launching all first is faster."""
    kernels = [1, *range(5, 501, 5)]
    lines: list[tuple[str, Points]] = [
        ("four GPUs", [(t, waiting_each_time(t) / waiting_at_the_end(t)) for t in kernels])
    ]
    table = shown(root, DATA, r"^\| ([\d.]+) µs \| [\d.]+ µs \| [\d.]+ µs \| ([\d.]+) \|")
    words = (
        "By what factor launching all first is faster, by the time of a kernel: "
        + ", ".join(f"{factor:g} with {t:g} µs" for t, factor in reversed(table))
        + ", and 3.7 with 500 µs"
    )
    across = Axis("µs of a kernel", 500, (1, 100, 200, 300, 400, 500))
    return plot(lines, table, words, across, Axis("factor", 4, (0, 1, 2, 3, 4)), "the table")


# ---- chapter 9 ----


def star_of(ranks: float) -> float:
    """What the busiest rank sends of S bytes."""
    return ranks - 1


def allgather_of(ranks: float) -> float:
    return (ranks - 1) / ranks


def allreduce_of(ranks: float) -> float:
    return 2 * allgather_of(ranks)


def chain_of_eight(megabytes: float) -> float:
    """Microseconds on eight ranks, with 2 µs a step and 395 GB/s."""
    return 7 * 2 + 1000 * megabytes / RATE


def tree_of_eight(megabytes: float) -> float:
    return 3 * (2 + 1000 * megabytes / RATE)


def growing(_root: Path) -> str:
    counts = range(2, 9)
    lines: list[tuple[str, Points]] = [
        (name, [(n, of(n)) for n in counts])
        for name, of in (
            ("star", star_of),
            ("all-reduce", allreduce_of),
            ("all-gather", allgather_of),
        )
    ]
    words = (
        "What the busiest rank sends, as a multiple of S, by number of ranks: a star grows to 7 on "
        "8 ranks, an all-reduce stays below 2, an all-gather below 1"
    )
    return plot(
        lines, [], words, Axis("ranks", 8, range(2, 9)), Axis("times S", 8, (0, 1, 2, 4, 6, 8))
    )


def tree_or_chain(_root: Path) -> str:
    sizes = [n / 20 for n in range(81)]
    lines: list[tuple[str, Points]] = [
        (name, [(s, of(s)) for s in sizes])
        for name, of in (("chain", chain_of_eight), ("tree", tree_of_eight))
    ]
    words = (
        "Time of a broadcast to eight ranks by size. The tree begins at 6 µs and the chain at 14; "
        "they are equal at 1.6 MB; at 4 MB the tree takes 36 µs and the chain 24"
    )
    return plot(
        lines, [], words, Axis("MB", 4, (0, 1, 1.6, 2, 3, 4)), Axis("µs", 40, (0, 10, 20, 30, 40))
    )


# ---- chapter 10 ----

ALLREDUCE = "10-allreduce.md"
RAN = r"^ +(\d+) +([\d.]+) +([\d.]+) +[\d.]+$"  # bytes, naive, ring


def naive_way(megabytes: float) -> float:
    """Microseconds on four GPUs: its calls and its bytes."""
    return 72 + 6 * 1000 * megabytes / RATE


def equal(root: Path) -> str:
    """Where naive way and ring take the same time."""
    sizes = [n / 10 for n in range(61)]
    lines: list[tuple[str, Points]] = [
        ("naive", [(s, naive_way(s)) for s in sizes]),
        ("ring", [(s, 128) for s in sizes]),
    ]
    ran = shown(root, ALLREDUCE, RAN)[:2]
    dots = [(size / 1e6, us) for size, *both in ran for us in both]
    words = (
        "Time by size. The naive way begins at 72 µs and rises; the ring stays at 128 µs; they are "
        f"equal at 3.7 MB. Dots: the program, {ran[1][1]:g} and {ran[1][2]:g} µs at 4.2 MB"
    )
    return plot(
        lines,
        dots,
        words,
        Axis("MB", 6, (0, 1, 2, 3, 3.7, 5, 6)),
        Axis("µs", 200, (0, 50, 100, 150, 200)),
    )


def two_bandwidths(_root: Path) -> str:
    counts = range(2, 17)
    lines: list[tuple[str, Points]] = [
        ("bus bandwidth", [(n, RATE) for n in counts]),
        ("algorithm bandwidth", [(n, RATE / allreduce_of(n)) for n in counts]),
    ]
    words = (
        "The two bandwidths of an all-reduce that reaches the bound, by number of ranks: bus "
        "bandwidth is 395 GB/s for any number; algorithm bandwidth falls from 395 on 2 to 211 on 16"
    )
    return plot(
        lines,
        [],
        words,
        Axis("ranks", 16, (2, 4, 8, 12, 16)),
        Axis("GB/s", 400, (0, 100, 200, 300, 400)),
    )


# ---- chapter 11 ----


def stored(stage: int, gpus: int) -> float:
    """Bytes of each parameter on each GPU."""
    return sum(memory.gigabytes(stage, 1, gpus))


def kept(
    step: int, *, layers: int = 32, all_of: float = 3.25, inputs: float = 0.03
) -> tuple[float, float]:
    """GB of activations after so many layers of the forward pass and then of the backward pass: if
    all are kept; and with full recomputation, which has the activations of one layer besides."""
    there = step if step <= layers else 2 * layers - step
    return there * all_of, there * inputs + (all_of if layers <= step < 2 * layers else 0)


def by_gpus(_root: Path) -> str:
    counts = range(1, 65)
    lines: list[tuple[str, Points]] = [
        (f"stage {stage}", [(n, stored(stage, n)) for n in counts]) for stage in range(4)
    ]
    words = (
        "Bytes of a parameter on each GPU by number of GPUs: 16 in stage 0; stage 1 falls towards "
        "4, stage 2 towards 2, stage 3 towards 0; on 8 GPUs 16, 5.5, 3.75 and 2"
    )
    across = Axis("GPUs", 64, (1, 8, 16, 32, 48, 64))
    return plot(lines, [], words, across, Axis("bytes", 16, (0, 2, 4, 8, 12, 16)))


def keeping(_root: Path) -> str:
    steps = range(65)
    lines: list[tuple[str, Points]] = [
        (name, [(s, kept(s)[which]) for s in steps])
        for which, name in enumerate(("all", "only the inputs"))
    ]
    words = (
        "Activations in a step of 32 layers: they grow with each layer of the forward pass to 104 "
        "GB, and shrink in the backward pass; if only the inputs are kept, the peak is 4 GB"
    )
    across = Axis("layers computed", 64, (0, 16, 32, 48, 64))
    return plot(lines, [], words, across, Axis("GB", 120, (0, 40, 80, 120)))


CHARTS: dict[str, Callable[[Path], str]] = {
    "efficiencies": efficiencies,
    "scaling": scaling,
    "halo-cost": halo_cost,
    "in-flight": in_flight,
    "parts-of-time": parts_of_time,
    "chunked": chunked,
    "packing": packing,
    "best-chunks": best_chunks,
    "overlapping": overlapping,
    "growing": growing,
    "tree-or-chain": tree_or_chain,
    "equal": equal,
    "by-gpus": by_gpus,
    "keeping": keeping,
    "two-bandwidths": two_bandwidths,
}
