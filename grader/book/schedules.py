# SPDX-License-Identifier: MIT
"""Timelines of the chapters' smaller examples, computed as in `algorithms.py`: one function for
each example, whose length a test compares with the chapter's formula."""

from collections.abc import Callable
from pathlib import Path

from grader.book.timelines import Timeline, chart

TWO = ["GPU 0", "GPU 1"]
FOUR = [*TWO, "GPU 2", "GPU 3"]

# ---- chapter 1: 10 ms of work on two GPUs ----


def losing(cause: str) -> Timeline:
    """Three causes of lost time, of which each costs 1 ms."""
    made = Timeline(cause, TWO)
    if cause == "communication":
        for gpu in TWO:
            made.add(gpu, 5, "compute")
            made.add(gpu, 1, "send", colour=1)
    elif cause == "bubble":
        first = made.add("GPU 0", 1, "first")
        made.add("GPU 0", 4, "the rest")
        made.add("GPU 1", 5, "needs the first", after=(first,))
    else:
        made.add("GPU 0", 4, "the smaller part")
        made.add("GPU 1", 6, "the larger part")
    return made


# ---- chapter 4 ----


def loading(threads: int) -> Timeline:
    """Four loads from a peer, by one thread or by four; each takes 1 µs."""
    rows = [f"thread {t}" for t in range(threads)]
    made = Timeline("four threads" if threads > 1 else "one thread", rows)
    for load in range(4):
        made.add(rows[load % threads], 1, f"load {load}")
    return made


def stepping(*, in_one_loop: bool) -> Timeline:
    """Two steps of the stencil on three GPUs as if the host's calls took no time. A kernel takes
    10.8 µs, and what waits for another GPU's event starts 5 µs after it. If each event is recorded
    in the loop that launches, a GPU waits for the step of the GPU before it that is running."""
    gpus = [*TWO, "GPU 2"]
    made = Timeline("events in one loop" if in_one_loop else "events in a second loop", gpus)
    last: dict[int, int] = {}
    for step in (1, 2):
        seen = dict(last)
        for g, gpu in enumerate(gpus):
            near = tuple(seen[n] for n in (g - 1, g, g + 1) if n in seen)
            if near:
                made.add(gpu, 5, "wait", colour=2, after=near)
            last[g] = made.add(gpu, 10.8, f"step {step}", colour=3 * (step - 1))
            if in_one_loop:
                seen[g] = last[g]
    return made


# ---- chapter 5 ----


def packed() -> Timeline:
    """Packing a thousand pieces and copying them in the default stream, in µs."""
    made = Timeline("packed first", ["host", "GPU 0", "link"])
    launch = made.add("host", 2.97, "launch", colour=1)
    kernel = made.add("GPU 0", 4.20, "kernel", after=(launch,))
    start = made.add("link", 4.00, "start", colour=2, after=(kernel,))
    latency = made.add("link", 3.90, "latency", colour=2, after=(start,))
    made.add("link", 2.69, "bytes", colour=3, after=(latency,))
    return made


def reading(*, waits: bool) -> Timeline:
    """The host calls for a copy to it, which then takes 4 µs, and reads what it brings."""
    made = Timeline("with a wait" if waits else "without a wait", ["host", "copy"])
    call = made.add("host", 1.3, "call", colour=1)
    copy = made.add("copy", 4, "the bytes arrive", after=(call,))
    made.add("host", 1, "read", colour=3, after=(copy,) if waits else (call,))
    return made


# ---- chapter 6 ----


def unequal(*, even: bool) -> Timeline:
    """20 ms of work on four GPUs."""
    made = Timeline("equal parts" if even else "unequal parts", FOUR)
    for gpu, length in zip(FOUR, (5,) * 4 if even else (4, 4, 4, 8), strict=True):
        made.add(gpu, length, f"{length} ms")
    return made


def taking(piece: float) -> Timeline:
    """20 ms of work in pieces; the GPU that is free first takes the next one."""
    made = Timeline(f"pieces of {piece:g} ms", FOUR)
    free = dict.fromkeys(FOUR, 0.0)
    for _ in range(round(20 / piece)):
        gpu = min(FOUR, key=lambda name: free[name])
        made.add(gpu, piece)
        free[gpu] += piece
    return made


# ---- chapter 9 ----


def rounds(*, in_turn: bool) -> Timeline:
    """A tree on four ranks; rank 0 sends to ranks 1 and 2 in turn, or to both at half the rate."""
    made = Timeline("in two rounds" if in_turn else "both at once", ["0 to 1", "0 to 2", "1 to 3"])
    length = 1 if in_turn else 2
    first = made.add("0 to 1", length, "")
    made.add("0 to 2", length, "", after=(first,) if in_turn else ())
    made.add("1 to 3", 1, "", colour=1, after=(first,))
    return made


# ---- chapter 11 ----


def training(*, recomputes: bool) -> Timeline:
    """A step; the forward pass takes 1."""
    made = Timeline("full recomputation" if recomputes else "activations kept", ["GPU"])
    made.add("GPU", 1, "forward", colour=3)
    if recomputes:
        made.add("GPU", 1, "again", colour=1)
    made.add("GPU", 2, "backward", colour=2)
    return made


def offloading(compute: float) -> Timeline:
    """A step of 7 billion parameters on one GPU, in seconds: it computes, then 28 GB cross PCIe at
    55 GB/s. What the update takes the CPU is left out."""
    made = Timeline(f"computing for {compute:g} s", ["GPU", "PCIe"])
    done = made.add("GPU", compute, "compute")
    made.add("PCIe", 0.5, "4 P", colour=1, after=(done,))
    return made


CAUSES = ("communication", "bubble", "imbalance")

CHARTS: dict[str, Callable[[Path], str]] = {
    "losses": lambda _: chart(
        [losing(cause) for cause in CAUSES],
        "ms",
        "10 ms of work on two GPUs in three cases, each of which takes 6 ms instead of 5: both "
        "send for 1 ms after they have computed; GPU 1 waits for 1 ms until it can begin; one part "
        "is 2 ms longer",
    ),
    "loading": lambda _: chart(
        [loading(1), loading(4)],
        "µs",
        "Four loads from a peer, each 1 µs: one thread makes them one after the other and takes "
        "4 µs; four threads wait at the same time and take 1 µs",
    ),
    "stepping": lambda _: chart(
        [stepping(in_one_loop=False), stepping(in_one_loop=True)],
        "µs",
        "Two steps on three GPUs. With the events in a second loop all GPUs compute at the same "
        "time, 26.6 µs; with the events in the first loop neighbours take turns, and the two "
        "steps take 74 µs",
    ),
    "packed": lambda _: chart(
        [packed()],
        "µs",
        "One packed copy: 2.97 µs for the launch, 4.20 for the kernel, 4.00 until the copy starts, "
        "3.90 of latency, 2.69 for the bytes, 17.76 together",
    ),
    "reading": lambda _: chart(
        [reading(waits=False), reading(waits=True)],
        "µs",
        "The host reads what a copy brings. Without a wait it reads right after the call, "
        "perhaps before any byte has arrived; the copy ends after 5.3 µs. With a wait it reads "
        "after that, until 6.3 µs",
    ),
    "unequal": lambda _: chart(
        [unequal(even=False), unequal(even=True)],
        "ms",
        "20 ms of work on four GPUs: with parts of 4, 4, 4 and 8 ms three GPUs wait for the "
        "fourth, and it takes 8 ms; with equal parts it takes 5 ms",
    ),
    "rounds": lambda _: chart(
        [rounds(in_turn=True), rounds(in_turn=False)],
        "transfers",
        "A tree on four ranks. If rank 0 sends to rank 1 first, rank 1 can send on while rank 0 "
        "sends to rank 2, which takes 2 transfers together; if it sends to both at once, rank 3 "
        "has all after 3",
    ),
    "training": lambda _: chart(
        [training(recomputes=False), training(recomputes=True)],
        "times of a forward pass",
        "A step with the activations kept takes 1 for the forward and 2 for the backward pass, 3 "
        "together; with full recomputation the forward pass is made again, which makes 4",
    ),
    "offloading": lambda _: chart(
        [offloading(0.5), offloading(4)],
        "s",
        "A step with offload on one GPU. If it computes for 0.5 s, the transfers double the step "
        "to 1 s; if it computes for 4 s, they add an eighth, 4.5 s",
    ),
    "taking": lambda _: chart(
        [taking(4), taking(0.4)],
        "ms",
        "20 ms of work, of which each GPU takes the next piece when it is free. With pieces of 4 "
        "ms one GPU computes a fifth piece alone, and it takes 8 ms; with pieces of 0.4 ms 5.2 ms",
    ),
}
