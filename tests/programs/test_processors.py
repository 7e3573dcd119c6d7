# SPDX-License-Identifier: MIT
"""Which kernels run on several processors: those without atomics and the like, whatever other
kernels of their file have, and those whose atomics are sums in memory of their own."""

import os
import pathlib
import subprocess
import sys
import unittest

from test_killed import processes

PROGRAM = pathlib.Path(sys.argv[1]) / "program-processors"
WORKERS = 3
BLOCKS = 4096  # of each kernel
SUMS = ("adds_up", "adds_in_a_loop", "adds_in_shared_memory", "calls_atomic")


def ran(kernel: str, *more: str, workers: int = WORKERS) -> tuple[str, int]:
    """What the program says once the kernel has run, and how many processes there are to run it."""
    ident = f"processors-{kernel}-{len(more)}-{os.getpid()}"
    program = subprocess.Popen(
        [PROGRAM, kernel, *more],
        env=dict(os.environ, VGPU_NODE="single", VGPU_NODE_ID=ident, VGPU_WORKERS=str(workers)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = program.stdout.readline()
    count = len(processes(ident, "vgpu-exec"))
    _, errors = program.communicate(timeout=60)
    return said + errors, count


def processes_of(kernel: str, *more: str) -> int:
    said, count = ran(kernel, *more)
    result = BLOCKS if kernel == "adds_up" and more != ("same",) else 0
    if said != f"{kernel}: 0 {result}\n":
        raise AssertionError(said)
    return count


class Processors(unittest.TestCase):
    def test_who_cannot_tell_runs_on_all(self) -> None:
        for kernel in ("plain", "calls_plain"):
            self.assertEqual(processes_of(kernel), WORKERS, kernel)

    def test_sums_run_on_all(self) -> None:
        for kernel in SUMS:
            self.assertEqual(processes_of(kernel), WORKERS, kernel)

    def test_a_long_first_block_does_not_keep_others_waiting(self) -> None:
        for workers, last_ended_first in ((WORKERS, 1), (1, 0)):
            said, _ = ran("long_first", "pinned", workers=workers)
            self.assertEqual(said, f"long_first: 0 {last_ended_first}\n")

    def test_a_kernel_ends_with_its_last_block(self) -> None:
        for _ in range(3):
            said, _ = ran("long_first_with_tiles", "pinned")
            self.assertEqual(said, f"long_first_with_tiles: 0 {BLOCKS}\n")

    def test_sums_in_pinned_memory_run_on_all(self) -> None:
        for kernel in SUMS[:2]:
            self.assertEqual(processes_of(kernel, "pinned"), WORKERS, kernel)

    def test_sums_in_memory_with_two_addresses_run_on_one(self) -> None:
        for kernel in SUMS[:2]:
            self.assertEqual(processes_of(kernel, "registered"), 1, kernel)

    def test_sums_where_it_stores_run_on_one(self) -> None:
        for kernel in SUMS:
            self.assertEqual(processes_of(kernel, "same"), 1, kernel)

    def test_who_can_tell_runs_on_one(self) -> None:
        for kernel in (
            "uses_a_sum",
            "adds_and_reads",
            "adds_what_it_stores",
            "adds_floats",
            "two_kinds",
            "adds_through_memory",
            "calls_pointer",
            "has_volatile",
            "has_printf",
        ):
            self.assertEqual(processes_of(kernel), 1, kernel)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
