# SPDX-License-Identifier: MIT
"""The schedules that the book draws: one function per algorithm, which builds its steps. Four
ranks; a transfer of all S bytes takes 1. Tests compare the lengths with the formulas of the
chapters."""

from collections.abc import Callable
from pathlib import Path

from grader.book.timelines import Timeline, chart

RANKS = 4
PORTS = [f"rank {r} sends" for r in range(RANKS)]
GPUS = [f"GPU {r}" for r in range(RANKS)]


def _send(timeline: Timeline, frm: int, to: int, part: float, label: str, **more: object) -> int:
    """Transfers `part` of the bytes from one rank's port to another's."""
    return timeline.add(PORTS[frm], part, label, uses=(f"into {to}",), **more)


# ---- chapters 2, 5, 6: copies and launches ----


def sharing(*, at_once: bool) -> Timeline:
    """Two copies of 1 GB over an uplink of 25 GB/s, in ms: each alone, or both at half rate."""
    made = Timeline("both at once" if at_once else "one after the other", ["to GPU 0", "to GPU 1"])
    length = 80 if at_once else 40
    first = made.add("to GPU 0", length, "12.5 GB/s" if at_once else "25 GB/s")
    after = () if at_once else (first,)
    made.add("to GPU 1", length, "12.5 GB/s" if at_once else "25 GB/s", after=after)
    return made


def staging(pieces: int) -> Timeline:
    """Through the host: down and up, in one piece or in several pipelined ones."""
    title = "one piece" if pieces == 1 else f"{pieces} pieces, two buffers"
    made = Timeline(title, ["down", "up"])
    ups: list[int] = []
    for k in range(pieces):
        label = "all" if pieces == 1 else str(k)
        after = (ups[k - 2],) if k > 1 else ()  # the buffer is free again
        down = made.add("down", 1 / pieces, label, after=after)
        ups.append(made.add("up", 1 / pieces, label, colour=1, after=(down,)))
    return made


def launching(*, waits: bool) -> Timeline:
    """Four GPUs with 4 ms of work each; launching takes the host 0.2 ms."""
    made = Timeline("waiting each time" if waits else "all, then wait", ["host", *GPUS])
    last: tuple[int, ...] = ()
    for gpu in GPUS:
        launch = made.add("host", 0.2, "", colour=1, after=last)
        work = made.add(gpu, 4, "kernel", after=(launch,))
        last = (work,) if waits else ()
    return made


def exchange(*, overlapped: bool) -> Timeline:
    """A step of the stencil on one GPU, in µs: all rows and then two copies in one stream; or the
    two edge rows and the copies in a stream of their own."""
    edge = "edge stream" if overlapped else "stream"
    made = Timeline("chapter 6" if overlapped else "chapter 5", ["stream", edge][: 1 + overlapped])
    made.add("stream", 8.6, "inner rows" if overlapped else "all rows")
    if overlapped:
        made.add(edge, 2.0, "edges", colour=1)
    for _ in range(2):
        made.add(edge, 2, "copy", colour=2)
    return made


def callers(*, processes: bool) -> Timeline:
    """Two steps of the stencil on four GPUs, in µs: who makes the calls, and when kernels run."""
    hosts = [f"host {g}" for g in range(RANKS)] if processes else ["host"]
    made = Timeline("four processes" if processes else "one thread", [*hosts, *GPUS])
    kernels: list[int] = []
    for _ in range(2):
        before, kernels = kernels, []
        for g, gpu in enumerate(GPUS):
            host = hosts[g % len(hosts)]
            calls = made.add(host, 6.1 if processes else 6.25, str(g), colour=1)
            if near := tuple(before[max(0, g - 1) : g + 2]):
                made.add(gpu, 5, "wait", colour=2, after=near)
            # A GPU that is idle starts a kernel 1.2 µs later than a busy one.
            length = 10.8 if processes and before else 12
            kernels.append(made.add(gpu, length, "kernel", after=(calls,)))
    return made


# ---- chapter 9: broadcast ----


def star() -> Timeline:
    made = Timeline("star", PORTS)
    for to in range(1, RANKS):
        _send(made, 0, to, 1, f"to {to}")
    return made


def chain(pieces: int) -> Timeline:
    made = Timeline("chain, one piece" if pieces == 1 else f"chain, {pieces} pieces", PORTS)
    here: dict[tuple[int, int], int] = {}  # (rank, piece): the step that brought it
    for k in range(pieces):
        for r in range(RANKS - 1):
            after = (here[r, k],) if r else ()
            label = f"to {r + 1}" if pieces == 1 else str(k)
            here[r + 1, k] = _send(made, r, r + 1, 1 / pieces, label, after=after)
    return made


def tree() -> Timeline:
    """In each step every rank that has the data sends it to one that does not."""
    made = Timeline("tree", PORTS)
    had: dict[int, tuple[int, ...]] = {0: ()}
    while (size := len(had)) < RANKS:
        for r in sorted(had):
            if r + size < RANKS:
                had |= {r + size: (_send(made, r, r + size, 1, f"to {r + size}", after=had[r]),)}
    return made


# ---- chapter 10: all-reduce ----


def naive() -> Timeline:
    """All data to rank 0, and the sum back."""
    made = Timeline("naive", PORTS)
    gathered = tuple(_send(made, r, 0, 1, "to 0") for r in range(1, RANKS))
    for to in range(1, RANKS):
        _send(made, 0, to, 1, f"sum to {to}", colour=2, after=gathered)
    return made


def ring() -> Timeline:
    """Reduce-scatter, then all-gather; each step waits for the chunk that it passes on."""
    made = Timeline("ring", PORTS)
    before: list[int] = []
    for step in range(2 * (RANKS - 1)):
        gathering = step >= RANKS - 1
        now = []
        for r in range(RANKS):
            chunk = (r - 1 - step) % RANKS  # as in lab 07: rank r finishes chunk r
            after = (before[r - 1],) if before else ()
            colour = 2 if gathering else 0
            to = (r + 1) % RANKS
            now.append(_send(made, r, to, 1 / RANKS, str(chunk), colour=colour, after=after))
        before = now
    return made


def direct() -> Timeline:
    """Two steps on a fully connected node: part r to rank r, and its sum to all."""
    made = Timeline("two steps", PORTS)
    first: dict[int, list[int]] = {r: [] for r in range(RANKS)}
    for hop in range(1, RANKS):
        for r in range(RANKS):
            to = (r + hop) % RANKS
            first[to].append(_send(made, r, to, 1 / RANKS, f"to {to}"))
    for hop in range(1, RANKS):
        for r in range(RANKS):
            to = (r + hop) % RANKS
            _send(made, r, to, 1 / RANKS, f"to {to}", colour=2, after=tuple(first[r]))
    return made


def one_step() -> Timeline:
    """Every rank sends all its data to every other."""
    made = Timeline("one step", PORTS)
    for hop in range(1, RANKS):
        for r in range(RANKS):
            to = (r + hop) % RANKS
            _send(made, r, to, 1, f"to {to}")
    return made


# ---- chapters 10, 11, 12: training ----


def backward(*, overlapped: bool) -> Timeline:
    """The gradients of four layers, the last layer's first; each is reduced as soon as it is
    there, or all at the end."""
    made = Timeline("reduced meanwhile" if overlapped else "reduced at the end", ["GPU", "link"])
    done = [made.add("GPU", 1, f"layer {4 - k}") for k in range(4)]
    for k in range(4):
        after = (done[k],) if overlapped else (done[-1],)
        made.add("link", 0.8, f"layer {4 - k}", colour=1, after=after)
    return made


def sharded(layers: int = 3) -> Timeline:
    """Stage 3: each layer's parameters are gathered while the previous layer runs; its gradients
    are reduce-scattered while the next one is computed."""
    made = Timeline("stage 3, one step", ["link", "GPU"])
    uses: list[int] = []
    for number, layer in enumerate([*range(1, layers + 1), *range(layers, 0, -1)]):
        back = number >= layers
        room = (uses[number - 2],) if number > 1 else ()  # two layers' parameters at a time
        gathered = made.add("link", 0.7, f"get {layer}", after=room)
        if number > layers:
            made.add("link", 0.7, f"sum {layer + 1}", colour=1, after=(uses[-1],))
        label, length, colour = (f"back {layer}", 2, 2) if back else (f"fwd {layer}", 1, 3)
        uses.append(made.add("GPU", length, label, colour=colour, after=(gathered,)))
    made.add("link", 0.7, "sum 1", colour=1, after=(uses[-1],))
    return made


def pipeline(batches: int) -> Timeline:
    """Four stages: all micro-batches forward, then all backward; backward takes twice as long."""
    made = Timeline(f"{batches} micro-batches" if batches > 1 else "one batch", GPUS)
    here: dict[tuple[int, int], int] = {}
    part = 1 / batches
    for m in range(batches):
        for stage in range(RANKS):
            after = (here[stage - 1, m],) if stage else ()
            here[stage, m] = made.add(GPUS[stage], part, str(m), after=after)
    for m in range(batches):
        for stage in reversed(range(RANKS)):
            after = (here[stage, m],) if stage == RANKS - 1 else (here[stage + 1, m],)
            here[stage, m] = made.add(GPUS[stage], 2 * part, str(m), colour=2, after=after)
    return made


def bubble(timeline: Timeline) -> float:
    """The share of the GPUs' time in which they wait."""
    busy = sum(step.length for step in timeline.steps)
    return 1 - busy / (timeline.length() * len(timeline.rows))


# ---- the interface for pages ----

SENT = "Each bar is a rank's port sending; "
# ---- chapter 14: two ways to compute and exchange ----


# Kernel and copy in ms: on two H200s, as `nsys` reported them, and in a trace of the virtual node.
RANGES = {"two H200s": (0.182, 0.683), "virtual node": (0.168, 0.683)}


def ranges(where: str, *, at_once: bool) -> Timeline:
    """A kernel and a copy on each of two GPUs."""
    kernel_ms, copy_ms = RANGES[where]
    made = Timeline(f"{where}, {'all at once' if at_once else 'one after the other'}", GPUS[:2])
    last: tuple[int, ...] = ()
    for gpu in GPUS[:2]:
        kernel = made.add(gpu, kernel_ms, after=() if at_once else last)
        last = (made.add(gpu, copy_ms, "copy", colour=1, after=(kernel,)),)
    return made


CHARTS: dict[str, Callable[[Path], str]] = {
    "staging": lambda _: chart(
        [staging(1), staging(4)],
        "times of one hop",
        "Down to the host and up again: in one piece both hops take turns, 2; in four pieces they "
        "overlap and the copy takes 1.25",
    ),
    "sharing": lambda _: chart(
        [sharing(at_once=False), sharing(at_once=True)],
        "ms",
        "Two copies over one uplink. One after the other each takes 40 ms at the full rate; both "
        "at once take 80 ms at half of it. All bytes have arrived after 80 ms either way",
    ),
    "launching": lambda _: chart(
        [launching(waits=True), launching(waits=False)],
        "ms",
        "Four GPUs with 4 ms of work each. With a wait in the loop they run one after the other, "
        "16.8 ms; all launched first they run together, 4.8 ms",
    ),
    "overlap": lambda _: chart(
        [exchange(overlapped=False), exchange(overlapped=True)],
        "µs",
        "A step on one GPU: all rows and then both copies take 12.6 µs; with a stream for the "
        "edges the copies overlap with the inner rows, and the step takes 8.6 µs",
    ),
    "callers": lambda _: chart(
        [callers(processes=False), callers(processes=True)],
        "µs",
        "Two steps on four GPUs. One host thread makes the calls for one GPU after the other, and "
        "the steps take 62 µs; four processes make them at once, and the steps take 33.9 µs",
    ),
    "broadcast": lambda _: chart(
        [star(), chain(1), chain(4), tree()],
        "transfers",
        SENT + "a star takes 3 transfers one after the other, a chain in one piece 3, a chain in "
        "four pieces 1.5, a tree 2",
    ),
    "allreduce": lambda _: chart(
        [naive(), ring(), direct(), one_step()],
        "transfers",
        SENT + "naive takes 6 transfers through rank 0's port; the ring 6 steps of a quarter, 1.5; "
        "two steps 1.5, in fewer steps; one step 3, at once",
        ("parts that are not summed yet", 0),
        ("sums", 2),
    ),
    "ranges": lambda _: chart(
        [ranges(where, at_once=at_once) for at_once in (False, True) for where in RANGES],
        "ms",
        "A kernel and a copy on each of two GPUs, one after the other and all at once: 1.73 and "
        "0.865 ms on two H200s, 1.702 and 0.851 ms on the virtual node",
        ("kernel", 0),
    ),
    "backward": lambda _: chart(
        [backward(overlapped=False), backward(overlapped=True)],
        "times of a layer",
        "The backward of four layers and their all-reduces: at the end 7.2, meanwhile 4.8",
    ),
    "sharded": lambda _: chart(
        [sharded()],
        "times of a layer's forward",
        "Three layers under ZeRO stage 3: while one layer is computed, the next one's parameters "
        "are gathered and the gradients of the one before are summed",
        width=640,
    ),
    "pipeline": lambda _: chart(
        [pipeline(1), pipeline(4), pipeline(8)],
        "times of a stage's forward",
        "Four stages of a pipeline, forward then backward. One batch: three quarters of the time "
        "are bubble; four micro-batches: 43 %; eight: 27 %",
        ("forward", 0),
        ("backward", 2),
    ),
}
