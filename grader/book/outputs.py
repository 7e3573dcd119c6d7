# SPDX-License-Identifier: MIT
"""Bars of what the chapters' programs print and of what their tables and sentences say. The numbers
are read from the page, so a page that changes changes its bars; those of the descriptions are too,
or a test looks for them in the page."""

from collections.abc import Callable
from pathlib import Path

from grader.book.bars import Bar, chart, found, said, shown
from grader.book.curves import calls_of_a_step

# ---- chapter 1 ----

WHY = "01-why.md"


def room(root: Path) -> str:
    """What training needs, and what GPUs have."""
    h100, h200 = said(root, WHY, r"an H100 has (\d+) GB of memory and an H200 (\d+) GB")
    small, large = (
        said(root, WHY, rf"\b{billions} · 16 = (\d+) GB")[0] for billions in ("7", "70")
    )
    bars = [
        Bar("one H100", [(h100, 0)], f"{h100:g} GB"),
        Bar("7 billion parameters", [(small, 1)], f"{small:g} GB"),
        Bar("one H200", [(h200, 0)], f"{h200:g} GB"),
        Bar("70 billion parameters", [(large, 1)], f"{large:g} GB"),
        Bar("eight H200s", [(8 * h200, 0)], f"{8 * h200:g} GB"),
    ]
    words = (
        f"Bars of memory: training 7 billion parameters needs {small:g} GB, more than an H100's "
        f"{h100:g} and less than an H200's {h200:g}; 70 billion need {large:g} GB, nearly all of "
        f"the {8 * h200:g} of eight H200s"
    )
    return chart(bars, words, ("there is", 0), ("training needs", 1))


def combining(root: Path) -> str:
    """The output of why.c: what shrinks with more GPUs, and what does not."""
    rows = shown(root, WHY, r"^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+$")
    bars = [
        Bar(
            f"{gpus:g} GPU{'s' * (gpus > 1)}", [(work, 0), (rest, 1)], f"{100 * rest / total:.0f} %"
        )
        for gpus, work, rest, total in rows
    ]
    words = (
        "Bars of the time by number of GPUs: the part for computing halves from bar to bar, the "
        f"part for combining stays the same; it is {bars[1].note} of the time on 2 GPUs and "
        f"{bars[-1].note} on {rows[-1][0]:g}"
    )
    return chart(bars, words, ("computing", 0), ("combining, and its share", 1))


# ---- chapters 4 to 6: the stencil ----

STEP = r"^{gpus}, 2048 x 2048: ([\d.]+) us a step"
FOUR = STEP.format(gpus="4 GPUs")
VERSIONS = (  # each with its chapter, and which line of that chapter's output it is
    ("one GPU", "00-basics.md", STEP.format(gpus="1 GPU"), 0),
    ("host", "03-current-device.md", FOUR, 0),
    ("peer", "04-peer-access.md", FOUR, 0),
    ("copies", "05-bytes.md", FOUR, 0),
    ("copies, no peer access", "05-bytes.md", FOUR, 1),
    ("overlap", "06-data-parallel.md", FOUR, 0),
)


def versions(root: Path, chapter: int) -> str:
    """A step of every version up to this chapter."""
    bars = []
    for name, page, pattern, line in VERSIONS:
        if int(page[:2]) <= chapter:
            us = shown(root, page, pattern)[line][0]
            bars.append(Bar(name, [(us, int(int(page[:2]) == chapter))], f"{us:g} µs"))
    listed = "; ".join(f"{bar.name}, {bar.note}" for bar in bars[1:])
    words = (
        f"Bars of the time of a step: one GPU, {bars[0].note}, and versions on four GPUs: {listed}"
    )
    return chart(bars, words)


def calls(_root: Path) -> str:
    """Chapter 4: the host's calls in a step of `peer`."""
    bars = []
    for gpus in (2, 3, 4):
        parts = calls_of_a_step(gpus)
        bars.append(
            Bar(f"{gpus} GPUs", list(zip(parts, range(3), strict=True)), f"{sum(parts):.1f} µs")
        )
    words = (
        "Bars of the host's calls in a step: "
        + ", ".join(f"{bar.note} for {bar.name}" for bar in bars)
        + "; launches and waits take about half each, records hardly anything"
    )
    return chart(bars, words, ("launches", 0), ("waits", 1), ("records", 2))


def taller(root: Path) -> str:
    """Exercise 1 of chapter 4: both limits of a step, and the step, on two plates."""
    page = "04-peer-access.md"
    row = r"^\| 4 \| [\d.]+ µs \| ([\d.]+) µs \| ([\d.]+) µs \| ([\d.]+) µs \|"
    few, host, took = shown(root, page, row)[0]
    more = said(root, page, r"Their sum, ([\d.]+) µs, is still less than")[0]
    longer = shown(root, page, r"^4 GPUs, 2048 x 4096: ([\d.]+) us a step")[0][0]
    bars = [
        Bar(name, [(us, colour)], f"{us:.1f} µs")
        for name, us, colour in (
            ("2048 rows, GPUs", few, 0),
            ("2048 rows, host", host, 1),
            ("2048 rows, a step", took, 2),
            ("4096 rows, GPUs", more, 0),
            ("4096 rows, host", host, 1),
            ("4096 rows, a step", longer, 2),
        )
    ]
    words = "Bars of both limits of a step on four GPUs, and the step: " + ", ".join(
        f"{bar.name} {bar.note}" for bar in bars
    )
    return chart(bars, words)


# ---- chapter 5 ----

BYTES = "05-bytes.md"
WAYS = ("no peer access", "peer access", "from pinned memory", "from pageable memory")
CONTENTION = "tests/recorded/hgx-h200-4/timing.txt"
FLOWS = (  # each with its line of the recording
    ("one copy", r"0->1"),
    ("both ways", r"0->1 \+ 1->0 \(bidir\)"),
    ("two, the same way", r"0->1 x2 streams same dir"),
    ("to two GPUs", r"0->1,0->2 fan-out"),
)


def ways(root: Path) -> str:
    """The output of bytes.cu."""
    rows = shown(root, BYTES, r"^\w.* +([\d.]+) ms +([\d.]+) GB/s$")
    bars = [
        Bar(name, [(rate, number // 2)], f"{rate:g} GB/s")
        for number, (name, (_, rate)) in enumerate(zip(WAYS, rows, strict=True))
    ]
    listed = ", ".join(f"{bar.name} {bar.note}" for bar in bars)
    words = f"Bars of the rate of 64 MiB in four ways: {listed}; peer access is ten times as fast"
    return chart(bars, words, ("from GPU 0 to GPU 1", 0), ("from the host to GPU 0", 1))


def directions(root: Path) -> str:
    """What copies of 1 GiB that run at the same time moved together, on four H200s."""
    text = (root / CONTENTION).read_text(encoding="utf-8")
    rates = [
        float(found(CONTENTION, rf"^{line} +[\d.]+ us +([\d.]+) GB/s", text)) for _, line in FLOWS
    ]
    bars = [
        Bar(name, [(rate, number == 1)], f"{rate:.0f} GB/s")
        for number, ((name, _), rate) in enumerate(zip(FLOWS, rates, strict=True))
    ]
    words = (
        f"Bars of what copies on H200s moved together: one copy {bars[0].note}, two in opposite "
        f"directions {bars[1].note}, and two that leave through the same port moved no more "
        "than one"
    )
    return chart(bars, words)


# ---- chapter 6 ----

DATA = "06-data-parallel.md"
SPLIT = r"^by (?:count|cost): (\d+) (\d+) (\d+) (\d+) rows"


def waiting(root: Path) -> str:
    """sum.cu, on the virtual node and on four H200s."""
    ours = [
        ms for (ms,) in shown(root, DATA, r"^(?:all, then wait|waiting each time) +([\d.]+) ms")
    ][:2]
    theirs = said(root, DATA, r"took ([\d.]+) ms and ([\d.]+) ms")
    bars = [
        Bar(f"{where}, {how}", [(ms, colour)], f"{ms:g} ms")
        for where, times in (("virtual node", ours), ("H200s", theirs))
        for how, ms, colour in zip(("all first", "waiting"), times, (0, 1), strict=True)
    ]
    words = "Bars of the time of sum.cu: " + "; ".join(f"{bar.name}, {bar.note}" for bar in bars)
    return chart(bars, words)


def step_calls(root: Path) -> str:
    """What the host's calls of a step take, in three versions on four GPUs."""
    copies = said(root, BYTES, r"each call takes the host [\d.]+ µs, which adds up to ([\d.]+) µs")[
        0
    ]
    launches, waits, again = said(
        root,
        DATA,
        r"12 · 2\.97 = ([\d.]+) µs, the 14 waits ([\d.]+) µs, and the copies ([\d.]+) µs",
    )
    few = calls_of_a_step(4)[:2]
    made = {"peer": (*few, 0.0), "copies": (*few, copies), "overlap": (launches, waits, again)}
    bars = [
        Bar(name, list(zip(parts, range(3), strict=True)), f"{sum(parts):.1f} µs")
        for name, parts in made.items()
    ]
    listed = ", ".join(f"{bar.name} {bar.note}" for bar in bars)
    words = f"Bars of what the host's calls of a step take on four GPUs: {listed}"
    return chart(bars, words, ("launches", 0), ("waits", 1), ("copies", 2))


def costs(root: Path) -> str:
    """The parts of uneven.c: row i costs i."""
    bars = []
    for name, rows in zip(("by count", "by cost"), shown(root, DATA, SPLIT), strict=True):
        begin = 0
        for part, count in enumerate(map(int, rows)):
            cost = sum(range(begin, begin + count))
            share = f"{100 * cost / sum(range(1000)):.0f} %"
            bars.append(Bar(f"{name}, GPU {part}", [(cost, int(name == "by cost"))], share))
            begin += count
    words = (
        f"Bars of the cost of four parts. Split by count, GPU 0 has {bars[0].note} of the work and "
        f"GPU 3 {bars[3].note}; split by cost, each has {bars[4].note}"
    )
    return chart(bars, words)


# ---- chapter 9 ----

COLLECTIVES = "09-collectives.md"
BUSIEST: dict[
    str, Callable[[float], float]
] = {  # the bytes that the busiest of N ranks must send, of S
    "broadcast": lambda _: 1.0,
    "reduce": lambda _: 1.0,
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: (n - 1) / n,
    "all-to-all": lambda n: (n - 1) / n,
}


def busiest(root: Path) -> str:
    """The table's last column, for the example."""
    ranks, size = said(root, COLLECTIVES, r"An example with (\d+) ranks and S = (\d+) MB")
    bars = [
        Bar(name, [(size * part(ranks), int(name == "all-reduce"))], f"{size * part(ranks):g} MB")
        for name, part in BUSIEST.items()
    ]
    words = "Bars of what the busiest of four ranks must send: " + ", ".join(
        f"{bar.name} {bar.note}" for bar in bars
    )
    return chart(bars, words)


def broadcasts(root: Path) -> str:
    """The formula and the program, by number of pieces."""
    rows = shown(root, COLLECTIVES, r"^\| (\d+) \|[^|]*\| ([\d.]+) ms \| ([\d.]+) ms \|")
    bars = [
        Bar(f"{k:g} piece{'s' * (k > 1)}", [(wire, 0), (took - wire, 1)], f"{took:g} ms")
        for k, wire, took in rows
        if k < 1000
    ]
    words = (
        "Bars of the time of a chain: the part for the wire falls with the number of pieces, "
        + ", ".join(f"{row[1]:g} ms with {row[0]:g}" for row in rows[: len(bars)])
        + "; what the program needs besides grows"
    )
    return chart(bars, words, ("the formula", 0), ("what the program needs besides", 1))


# ---- chapter 10 ----

ALLREDUCE = "10-allreduce.md"


def ports(root: Path) -> str:
    """What a rank sends, of the bound's example."""
    ranks, size, all_sent, each = said(
        root,
        ALLREDUCE,
        r"An example: (\d+) ranks, (\d+) MB on each\. All ranks together send [^=]* = (\d+) MB, "
        r"so each sends (\d+) MB",
    )
    made = {
        "naive, rank 0": (ranks - 1) * size,
        "naive, another rank": size,
        "ring, every rank": 2 * (ranks - 1) * size / ranks,
    }
    bars = [
        Bar(name, [(mb, int(name.startswith("ring")))], f"{mb:g} MB") for name, mb in made.items()
    ]
    words = (
        f"Bars of what a rank sends if all together send {all_sent:g} MB. Naive way: rank 0 sends "
        f"{bars[0].note}, each other rank {bars[1].note}; ring: each sends {each:g} MB"
    )
    return chart(bars, words)


def large(root: Path) -> str:
    """Where the time of 134 MB goes."""
    naive, ring = shown(root, ALLREDUCE, r"^134217728 +([\d.]+) +([\d.]+)")[0]
    sent_naive = said(root, ALLREDUCE, r"6 S / B = (\d+) µs for the naive way")[0]
    sent_ring = said(root, ALLREDUCE, r"and (\d+) µs, the bound, for the ring")[0]
    whole = said(root, ALLREDUCE, r"kernel takes (\d+) µs to add 134 MB")[0]
    quarter = said(root, ALLREDUCE, r"this takes (\d+) µs a step")[0]
    bars = [
        Bar(name, [(sent, 0), (added, 1), (took - sent - added, 2)], f"{took:.0f} µs")
        for name, sent, added, took in (
            ("naive", sent_naive, 3 * whole, naive),
            ("ring", sent_ring, 3 * quarter, ring),
        )
    ]
    words = (
        f"Bars of the time of 134 MB. Of the naive way's {bars[0].note}, {sent_naive:g} µs are for "
        f"the bytes, and of the ring's {bars[1].note}, {sent_ring:g} µs; then come the additions, "
        "and then the waits"
    )
    return chart(bars, words, ("bytes", 0), ("additions", 1), ("waits and calls", 2))


def gradients(root: Path) -> str:
    """The output of times.c."""
    rows = shown(
        root, ALLREDUCE, r"^ +(\d+) B parameters: .* ([\d.]+) GB sent by each, +([\d.]+) ms$"
    )
    bars = [
        Bar(f"{billions:g} billion", [(ms, 0)], f"{ms:g} ms for {sent:g} GB")
        for billions, sent, ms in rows
    ]
    words = (
        "Bars of the time of an all-reduce of the gradients, at least, by number of parameters: "
    )
    return chart(bars, words + ", ".join(f"{bar.name} {bar.note}" for bar in bars))


def largest_change(root: Path) -> str:
    """Looking for the largest change after each step, or after a hundred."""
    ring, step = said(
        root, ALLREDUCE, r"takes ([\d.]+) µs for 4096 bytes, whereas a step [^.]* takes ([\d.]+) µs"
    )
    bars = [
        Bar(
            f"after {steps} step{'s' * (steps > 1)}",
            [(step, 0), (ring / steps, 1)],
            f"{step + ring / steps:.1f} µs",
        )
        for steps in (1, 10, 100)
    ]
    words = "Bars of the time of a step with its share of an all-reduce: " + ", ".join(
        f"{bar.name} {bar.note}" for bar in bars
    )
    return chart(bars, words, ("the step", 0), ("its share of the all-reduce", 1))


# ---- chapter 11 ----

ZERO = "11-zero.md"
SENT = {  # numbers that a rank sends in a step, as multiples of P
    "stage 0": (("gradients", 1), ("gradients again", 1)),
    "stages 1, 2": (("gradients", 1), ("parameters", 1)),
    "stage 3": (("gradients", 1), ("parameters", 1), ("parameters again", 1)),
}
USED = ("forward and backward", "backward and update", "update")
KINDS = ("gradients", "gradients again", "parameters", "parameters again")


def sixteen(root: Path) -> str:
    """The table of what is stored for each parameter."""
    sizes = [int(n) for (n,) in shown(root, ZERO, r"^\| [a-z ]+, \d\d bits \| (\d) \|")]
    names = ("parameter", "gradient", "master copy", "momentum", "variance")
    bars, before = [], 0
    for name, size in zip(names, sizes, strict=True):
        colour = 1 if name == "gradient" else 0 if name == "parameter" else 2
        before += size
        bars.append(Bar(name, [(size, colour)], f"{size}, together {before}"))
    words = "Bars of the bytes of a parameter: " + ", ".join(f"{b.name} {b.note}" for b in bars)
    return chart(bars, words, *((when, n) for n, when in enumerate(USED)))


def activations(root: Path) -> str:
    """The three rows of the table beside the sixteen bytes."""
    whole = said(root, ZERO, r"7 billion · 16 bytes are (\d+) GB")[0]
    every = said(root, ZERO, r"= 3\.25 GB \| (\d+) GB \|")[0]
    selective = said(root, ZERO, r"= 0\.57 GB \| (\d+) GB \|")[0]
    inputs, layer = said(root, ZERO, r"\| (\d+) GB, and ([\d.]+) GB for the one layer")
    made = {
        "sixteen bytes": [(whole, 0)],
        "all activations": [(every, 1)],
        "selective": [(selective, 1)],
        "full recomputation": [(inputs, 1), (layer, 2)],
    }
    bars = [
        Bar(name, parts, f"{sum(size for size, _ in parts):g} GB") for name, parts in made.items()
    ]
    words = "Bars of memory for 7 billion parameters: " + ", ".join(
        f"{b.name} {b.note}" for b in bars
    )
    return chart(bars, words, ("the sixteen bytes", 0), ("activations", 1), ("of one layer", 2))


def traffic(_root: Path) -> str:
    """What a rank sends in a step."""
    bars = [
        Bar(
            name,
            [(times, KINDS.index(what)) for what, times in parts],
            f"{sum(t for _, t in parts)} P",
        )
        for name, parts in SENT.items()
    ]
    words = (
        "Bars of the numbers that a rank sends in a step: stage 0 gradients twice, 2 P; stages 1 "
        "and 2 gradients and new parameters, 2 P; stage 3 gradients and parameters twice, 3 P"
    )
    return chart(bars, words, *((what, KINDS.index(what)) for what in KINDS))


def smaller_states(root: Path) -> str:
    """The output of states.c."""
    rows = shown(root, ZERO, r"^stage (\d): +[\d.]+ GB, now +([\d.]+) GB, saved +([\d.]+) GB$")
    bars = [
        Bar(f"stage {stage:g}", [(now, 0), (saved, 1)], f"{saved:g} GB saved")
        for stage, now, saved in rows
    ]
    words = "Bars of memory with smaller states: " + ", ".join(f"{b.name} {b.note}" for b in bars)
    return chart(bars, words, ("8-bit states", 0), ("saved", 1))


CHARTS: dict[str, Callable[[Path], str]] = {
    "room": room,
    "combining": combining,
    "versions-4": lambda root: versions(root, 4),
    "calls": calls,
    "taller": taller,
    "busiest": busiest,
    "broadcasts": broadcasts,
    "ports": ports,
    "large": large,
    "gradients": gradients,
    "largest-change": largest_change,
    "sixteen": sixteen,
    "activations": activations,
    "traffic": traffic,
    "smaller-states": smaller_states,
    "versions-6": lambda root: versions(root, 6),
    "waiting": waiting,
    "step-calls": step_calls,
    "costs": costs,
    "versions-5": lambda root: versions(root, 5),
    "ways": ways,
    "directions": directions,
}
