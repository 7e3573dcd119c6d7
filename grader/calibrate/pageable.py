# SPDX-License-Identifier: MIT
"""Fits copies of pageable memory by the times of their calls, which return when the bytes are taken
(to a GPU) or there (to the host)."""

from grader.calibrate.curve import Curve, Points, fit, rounded
from grader.calibrate.gallery import Node


def begins_us(calls: Node) -> float:
    """When a copy begins that was called right after an event with timing."""
    return float(max(calls["enqueue_us"], calls.get("timed_event_us", 0.0)))


def to_host(called: Points, calls: Node) -> Node:
    points = [(size, us - begins_us(calls) - calls["wake_us"]) for size, us in called]
    return fit([(n, max(us, 1e-3)) for n, us in points]).described()


def to_gpu(called: Points, ended: Points, calls: Node) -> Node:
    enqueue = begins_us(calls)
    most = inline(called, ended)
    large = [
        (call, end)
        for (size, call), (_, end) in zip(called, ended, strict=True)
        if size > (1 << 16)
    ]
    early = [end - call for call, end in large if end > call]
    worst = {us: max(abs((end - us) / call - 1) for call, end in large) for us in early}
    handover = min(worst, key=worst.__getitem__) if early else 0.0
    hidden = handover - calls["record_us"] < 0.1  # by the call that records the second event
    points = [
        (size, max(us - enqueue, 1e-3)) for size, us in (called if hidden else ended) if size > most
    ]
    if most:  # the latency is that of the smallest, which end so much after their calls
        points.insert(0, (called[0][0], max(ended[0][1] - called[0][1], 1e-3)))
    curve = fit(points, ramp=not most)  # what is inline is a band, and bands have no ramp
    told = curve.described()
    if not hidden:
        told["handover_us"] = rounded(handover)
    if most:
        told |= inlined(most, called, ended, curve)
    return told


def inline(called: Points, ended: Points) -> int:
    """Up to so many bytes a call returns early, however many they are; 0: it does not."""
    early = {size: end - call for (size, call), (_, end) in zip(called, ended, strict=True)}
    later = [us for size, us in early.items() if size > 1 << 17]
    least = min(later, default=0.0)
    small = [size for size, us in early.items() if size <= 1 << 16 and us > 2 * least + 1]
    return max(small) if small else 0


def inlined(most: int, called: Points, ended: Points, curve: Curve) -> Node:
    calls = fit([(size, us) for size, us in called if size <= most])
    rest = fit(
        [
            (n, max(end - call, 1e-3))
            for (n, call), (_, end) in zip(called, ended, strict=True)
            if n <= most
        ]
    )
    told: Node = {"issue_us": rounded(calls.latency_us)}
    told["inline"] = {
        "up_to_bytes": most,
        "gbs": rounded(calls.gbs),
        "idle_us": rounded(max(rest.latency_us - curve.latency_us, 0.0)),
    }
    later = [one for one in curve.bands if one[0] > most][:2]
    told["bands"] = [
        {"up_to_bytes": n, "gbs": rounded(gbs)} for n, gbs in [(most, rest.gbs), *later]
    ]
    return told
