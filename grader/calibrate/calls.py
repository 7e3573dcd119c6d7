# SPDX-License-Identifier: MIT
"""Fits what calls cost the host: `calls` of a node description."""

import math
import re
import statistics
from typing import NamedTuple

from grader.calibrate.answers import Answers
from grader.calibrate.curve import rounded, solve
from grader.calibrate.gallery import Node

SPIN = 20  # us, the shorter of calibrate_calls.cu's two


def differs(one: float, other: float) -> bool:
    return abs(one - other) > 0.05 + 0.02 * abs(other)


def timed_event_us(answers: Answers) -> float:
    """How long a stream is busy with an event that has timing. 0: not measured."""
    us = answers.get("kernel.timed_event.us")
    return us if us > 0.05 else 0.0


def idle_us(answers: Answers) -> float:
    """How much longer a kernel takes whose stream had nothing to do."""
    get = answers.get
    begins = max(get("call.launch.us"), timed_event_us(answers))
    more = get("kernel.alone.us") - begins - get("kernel.nothing.us")
    return more if get("kernel.alone.us") and more > 0.1 else 0.0


def fit_calls(answers: Answers) -> Node:
    get = answers.get
    calls: Node = {
        "local_us": get("call.set_device.us"),
        "enqueue_us": get("call.set.us"),
        "launch_us": get("call.launch.us"),
    }
    calls["record_us"] = get("call.record.us")
    if differs(get("call.record_untimed.us"), calls["record_us"]):
        calls["record_untimed_us"] = get("call.record_untimed.us")
    wait = get("call.wait_stream.us") or get("call.wait.us")
    if differs(wait, calls["enqueue_us"]):
        calls["wait_us"] = wait
    if (far := get("call.wait_gpu.us")) and differs(far, wait):
        calls["wait_gpu_us"] = far
    for key, usual in (("record_shared_us", "call.record_untimed.us"), ("wait_shared_us", "")):
        us = get(f"call.{key.removesuffix('_us')}.us")
        if us and differs(us, get(usual) if usual else wait):
            calls[key] = us
    if busy := timed_event_us(answers):
        calls["timed_event_us"] = busy
    calls["query_us"] = max(get("call.query.us"), 0.001)
    kernel = get(f"kernel.spin_{SPIN}.us") + idle_us(answers)
    wake = get("call.spin_20_and_wait.us") - calls["local_us"] - calls["launch_us"] - kernel
    calls["wake_us"] = wake = max(wake, 0.0)
    found = get("call.sync.us") - calls["enqueue_us"]
    if get("call.sync.us") and differs(found, wake):
        calls["found_us"] = max(found, 0.0)
    calls["malloc_us"] = get("call.malloc.us")
    calls["free_us"] = max(get("call.free.us") - calls.get("found_us", wake), 0.0)
    grow = get("call.malloc_from_empty_pool.us") - calls["enqueue_us"]
    if grow > 0.05 * calls["enqueue_us"]:
        calls["pool_grow_us"] = grow
    hosted = get("call.host_function_and_wait.us") - calls["enqueue_us"] - wake
    if hosted > 0 and differs(hosted, wake):
        calls["host_function_us"] = hosted
    calls |= _graph_calls(answers, calls["launch_us"])
    if message := get("message.us"):
        calls["message_us"] = message
    return {key: rounded(value) for key, value in calls.items()}


class Shape(NamedTuple):
    """What the graph of a figure has: nodes, GPUs beyond the first, copies that engines do, waits
    of nodes for others on another GPU, and kernels; and what the call takes."""

    nodes: int
    more_gpus: int
    copies: int
    waits: int
    kernels: int
    us: float


def _graph_calls(answers: Answers, plain_us: float) -> Node:
    get = answers.get
    one, many = get("graph.kernels_1.call.us"), get("graph.kernels_21.call.us")
    if not one or not many:
        return {}
    node = max((many - one) / 20, 0.0)
    launch = one - node
    told: Node = {"graph_launch_us": launch} if differs(launch, plain_us) else {}
    if node > 5e-4:
        told["graph_node_us"] = node
    mixed = get("graph.between_copies_10.call.us")
    if (copy := (mixed - launch - 20 * node) / 10) > 0.02:
        told["graph_copy_us"] = copy
    rest = {
        shape: shape.us - launch - shape.nodes * node - shape.copies * max(copy, 0.0)
        for shape in shapes(answers)
    }
    if not rest:
        return told
    # A long call counts more than a short one, but not as its length: each of its parts varies.
    root = {s: math.sqrt(s.us) for s in rest}
    rows = [
        [n / root[s] for n in (s.more_gpus, s.copies, s.waits, s.kernels * s.more_gpus)]
        for s in rest
    ]
    found = solve(rows, [us / root[s] for s, us in rest.items()])
    names = ("graph_gpu_us", "graph_engine_us", "graph_wait_us", "graph_kernel_us")
    return told | {key: us for key, us in zip(names, found, strict=True) if us > 0.02}


def shapes(answers: Answers) -> list[Shape]:
    """Of the graphs over several GPUs, as calibrate_graphs.cu makes them."""
    found = []
    for name, us in answers.figures.items():
        turns = re.fullmatch(r"graph\.turns_(\d+)\.call\.us", name)
        copies = re.fullmatch(r"graph\.peer_copies_(\d+)\.call\.us", name)
        ring = re.fullmatch(r"graph\.(\w+)\[(\d+),(\d+)\]\.call\.us", name)
        if turns:
            nodes = 2 * int(turns[1])
            found.append(Shape(nodes, 1, 0, nodes - 1, nodes, us))
        elif copies:
            found.append(Shape(int(copies[1]), 0, int(copies[1]), 0, 0, us))
        elif ring:
            kind, gpus, steps = ring[1], int(ring[2]), int(ring[3])
            sent = gpus * steps * (2 if kind == "lanes" else 1)
            if kind == "fork":
                found.append(Shape(gpus, gpus - 1, 0, 0, gpus, us))
            elif kind.endswith("pass"):
                found.append(Shape(sent, gpus - 1, sent, sent - gpus, 0, us))
            else:
                found.append(Shape(2 * sent, gpus - 1, sent, sent, sent, us))
    return found


def median_of(answers: Answers, start: str) -> float:
    """The median of the figures START[i,j]..., one for each pair of GPUs; 0 without any."""
    found = [value for name, value in answers.figures.items() if name.startswith(f"{start}[")]
    return statistics.median(found) if found else 0.0


def step_us(answers: Answers, kind: str) -> dict[int, float]:
    """By GPUs: what the GPUs take for each further step of a graph's rings."""
    found: dict[int, list[tuple[int, float]]] = {}
    for name, us in answers.figures.items():
        if ring := re.fullmatch(rf"graph\.{kind}\[(\d+),(\d+)\]\.us", name):
            found.setdefault(int(ring[1]), []).append((int(ring[2]), us))
    return {
        gpus: (max(some)[1] - min(some)[1]) / (max(some)[0] - min(some)[0])
        for gpus, some in found.items()
        if len(some) > 1
    }
