# SPDX-License-Identifier: MIT
"""Kernels that wait for another GPU through memory inherit its time: test_waits.py PROGRAM NODES,
where PROGRAM is waits.cu. The figures follow from the description of `hgx-h200-4`."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM, NODES = sys.argv[1], Path(sys.argv[2])
NODE = json.loads((NODES / "hgx-h200-4.json").read_text())
HEARD_US = NODE["copies"]["peer"]["latency_us"]  # until another GPU's store is seen
PART = json.loads((NODES / "parts" / "h200.json").read_text())
MEMORY_GBS, CLOCK_MHZ = PART["memory_gbs"], PART["clock_khz"] // 1000
LATE_US = 6.0  # the host launches the second kernel later than the first
FLOATS, ALL = 2 << 20, 8 << 20


def run(*words: str) -> tuple[float, float]:
    """Microseconds until GPU 0, and GPU 1, has done its part."""
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"waits-{os.getpid()}"}
    found = []
    for _ in range(2):
        done = subprocess.run(
            [PROGRAM, *words],
            env=os.environ | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        found.append(done.stdout)
    assert found[0] == found[1], f"{words}: {found[0]} in one run, {found[1]} in the next"
    first, second = (float(line) for line in found[0].split())
    return first, second


def work_us(floats: int, reads: int) -> float:
    """For a kernel that reads so many floats `reads` times, and writes them once."""
    weight = NODE["kernel"]["write_weight"]
    return 4 * floats * (reads + weight) / MEMORY_GBS / 1e3


class Waits(unittest.TestCase):
    def test_whoever_waits_ends_after_whom_it_waited_for(self) -> None:
        for order in ("producer_first", "consumer_first"):
            consumer, producer = run(order)
            self.assertGreater(producer, work_us(ALL, 0))
            self.assertGreater(consumer, producer + HEARD_US)
            self.assertLess(consumer, producer + HEARD_US + LATE_US, order)

    def test_what_comes_after_the_wait_takes_its_time(self) -> None:
        for order in ("producer_first", "consumer_first"):
            (idle, producer), (busy, same) = run(order), run(order, str(FLOATS))
            self.assertEqual(producer, same)
            self.assertAlmostEqual(busy - idle, work_us(FLOATS, 1), delta=0.5, msg=order)

    def test_to_and_fro(self) -> None:
        """Each round is two stores that the other one has to hear of."""
        short, long = run("play", "0", "10"), run("play", "0", "100")
        for gpu in (0, 1):
            self.assertAlmostEqual((long[gpu] - short[gpu]) / 90, 2 * HEARD_US, delta=0.01)

    def test_work_between_throws(self) -> None:
        floats = 1 << 20
        short, long = run("play", str(floats), "5"), run("play", str(floats), "15")
        for gpu in (0, 1):
            each = (long[gpu] - short[gpu]) / 20
            self.assertAlmostEqual(each, HEARD_US + work_us(floats, 1), delta=0.02)

    def test_whoever_does_not_wait_is_not_held_up(self) -> None:
        """Two kernels count in the same place; neither looks at what the other one has done."""
        both, alone = run("count", str(FLOATS)), work_us(FLOATS, 0)
        for us in both:
            self.assertLess(us, alone + 12)

    def test_a_delay_is_as_long_each_time(self) -> None:
        """Kernels that only read the clock, one after the other."""
        one, nine = run("delay", str(20 * CLOCK_MHZ))
        self.assertAlmostEqual((nine - one) / 8, 20 + NODE["kernel"]["delay_us"], delta=1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
