# SPDX-License-Identifier: MIT
"""Ordinary CUDA programs, through vgpu-cc and the virtual node, end to end."""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from typing import ClassVar

from programs import NODES, PEERS, run

NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")


class EveryGpu(unittest.TestCase):
    """Programs that say on how many GPUs they were right, with what they print."""

    SAID: ClassVar[dict[str, str]] = {
        "managed": "managed",
        "registered": "registered memory",
        "more_calls": "more calls",
        "host_function": "host functions",
        "cuda_atomic": "atomics",
        "graphs": "graphs",
        "launch_ex": "launches by configuration",
        "clusters": "clusters",
        "volume": "volumes",
        "pool": "pools",
        "ipc_rules": "ipc_rules",
        "handshake": "handshakes",
        "release": "released",
    }
    NEED_PEERS = ("handshake", "release")

    def test_right(self) -> None:
        for program, words in self.SAID.items():
            for node, gpus in PEERS if program in self.NEED_PEERS else NODES:
                with self.subTest(program=program, node=node):
                    done = run(program, node=node, VGPU_QUIET="1")
                    expected = (f"{words} on {gpus} GPUs: right\n", 0)
                    self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_in_other_orders(self) -> None:
        """What a program says must not depend on an order that it does not ask for."""
        for (program, words), seed in itertools.product(self.SAID.items(), ("2", "3", "weak:4")):
            with self.subTest(program=program, seed=seed):
                done = run(program, node="textbook-a100-2", VGPU_SCHEDULE=seed, VGPU_QUIET="1")
                expected = (f"{words} on 2 GPUs: right\n", 0)
                self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Registered(unittest.TestCase):
    def test_unregistered_memory_is_out_of_reach_again(self) -> None:
        self.assertEqual(run("registered", "unregistered").stdout, "700\n")


class Grids(unittest.TestCase):
    def test_on_every_gpu(self) -> None:
        for node, gpus in NODES:
            for lanes in ("forward", "seeded"):
                done = run("grid", node=node, VGPU_LANES=lanes)
                expected = (f"groups on {gpus} GPUs: right\n", 0)
                self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_a_barrier_of_an_ordinary_launch_fails_and_says_so(self) -> None:
        done = run("grid", "uncooperative")
        self.assertEqual(done.stdout.splitlines()[-1], "1")
        self.assertIn("cudaLaunchCooperativeKernel", done.stderr)


class Clusters(unittest.TestCase):
    def test_in_every_order(self) -> None:
        for seed in ({"VGPU_LANES": "reverse"}, {"VGPU_SCHEDULE": "3"}, {"VGPU_CHECK": "all"}):
            done = run("clusters", node="single", **seed)
            expected = ("clusters on 1 GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)
            self.assertNotIn("finding", done.stderr)

    def test_the_memory_of_a_block_that_has_ended(self) -> None:
        done = run("clusters", "ended")
        self.assertEqual(done.stdout, "700\n", done.stderr)
        self.assertIn("of a block of the cluster that has ended", done.stderr)

    def test_a_race_between_blocks(self) -> None:
        done = run("clusters", "early", VGPU_CHECK="kernels")
        self.assertEqual(done.stdout, "0\n", done.stderr)
        self.assertIn("kernels.grid-race", done.stderr)


class Sources(unittest.TestCase):
    """What is CUDA here is CUDA for nvcc, too; with PEERLAB_FULL=1 all of it, else one in two."""

    @unittest.skipUnless(NVCC, "no nvcc here")
    def test_nvcc_compiles_them(self) -> None:
        names = ("cuda_atomic", "graphs", "graph_events", "grid", "clusters")
        names += ("driver_graphs", "driver_capture", "driver_nodes")
        for name in names[:: 1 if "PEERLAB_FULL" in os.environ else 2]:
            source = pathlib.Path(__file__).parent / f"{name}.cu"
            command = [NVCC, "-std=c++17", "-arch=sm_90", "-c", "-o", os.devnull, source]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)


class Arrays(unittest.TestCase):
    def test_driver(self) -> None:
        done = run("driver_arrays", node="hgx-h200-4", VGPU_CHECK="all")
        self.assertEqual((done.stdout, done.returncode), ("ok\n", 0), done.stderr)
        self.assertNotIn("finding", done.stderr)


class Graphs(unittest.TestCase):
    def test_a_copy_without_its_edge(self) -> None:
        """Without a seed it comes first; with one, at any of three times, twice."""
        self.assertEqual(run("graphs", "unordered").stdout, "0 8\n")
        said = {run("graphs", "unordered", VGPU_SCHEDULE=seed).stdout for seed in "12345"}
        legal = {f"{a} {b}\n" for a in (0, 7, 8) for b in (8, 7, 9)}
        self.assertTrue(len(said) > 1 and said <= legal, said)

    def test_events(self) -> None:
        for seed in ("0", "3"):
            done = run("graph_events", node="hgx-h200-4", VGPU_SCHEDULE=seed)
            expected = ("events in graphs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_memory(self) -> None:
        for seed in ("0", "3"):
            done = run("graph_memory", node="hgx-h200-4", VGPU_CHECK="all", VGPU_SCHEDULE=seed)
            expected = ("memory in graphs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)
            self.assertNotIn("finding", done.stderr)

    def test_driver(self) -> None:
        names = ("driver_graphs", "driver_capture", "driver_nodes")
        for name, seed in itertools.product(names, ("0", "3")):
            done = run(name, node="hgx-h200-4", VGPU_CHECK="all", VGPU_SCHEDULE=seed)
            self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)
            self.assertNotIn("finding", done.stderr)

    def test_as_wide_as_streams(self) -> None:
        for node in ("hgx-h200-4", "dgx-a100"):
            done = run("graph_width", node=node)
            expected = ("graph as wide as its streams\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class PerThread(unittest.TestCase):
    """What one thread puts into stream 0 comes before another's copy only if they share it."""

    def test_on_every_gpu(self) -> None:
        whose = {"legacy": "shared", "per-thread": "each thread's own"}
        for node, gpus in NODES:
            for mode, answer in whose.items():
                done = run(f"stream0-{mode}", node=node)
                expected = (f"stream 0 on {gpus} GPUs: {answer}\n", 0)
                self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Groups(unittest.TestCase):
    def test_tiles_of_every_size(self) -> None:
        for lanes in ("forward", "reverse", "seeded"):
            self.assertEqual(run("groups", VGPU_LANES=lanes).stdout, "groups: right\n")


class Order(unittest.TestCase):
    def test_a_call_does_not_overtake_what_ended_before_it(self) -> None:
        for node in ("single", "hgx-h200-4"):
            done = run("overtaken", node=node)
            self.assertEqual(
                done.stdout, "of 200 in use too long: programs 0, descriptors 0\n", done.stderr
            )


class Pools(unittest.TestCase):
    def test_peers_need_the_pools_own_access(self) -> None:
        self.assertEqual(run("pool", "allowed").stdout, "0\n")
        done = run("pool", "denied")
        self.assertEqual(done.stdout, "700\n")
        self.assertIn("cudaMemPoolSetAccess", done.stderr)

    def test_shared_between_processes(self) -> None:
        for node in ("single", "hgx-h200-4", "dgx-a100"):
            done = run("pool_shared", node=node)
            self.assertEqual(
                (done.stdout, done.returncode), ("pool_shared: right\n", 0), done.stderr
            )

    def test_a_free_that_nothing_orders_comes_first(self) -> None:
        done = run("pool", "early")
        self.assertEqual(done.stdout, "700\n")
        self.assertIn("not allocated", done.stderr)


class Sums(unittest.TestCase):
    def test_same_output_to_the_last_digit(self) -> None:
        for node, gpus in NODES:
            first, second = run("sums", node=node), run("sums", node=node)
            self.assertEqual(first.returncode, 0, first.stderr)
            self.assertEqual(first.stdout, second.stdout)
            self.assertEqual(first.stdout.count("last block done of 32"), gpus)
            part = (1 << 18) // gpus
            total = sum(i % 7 for i in range(part * gpus)) / 2
            self.assertIn(f"total {total:.1f}\n", first.stdout)
            times = [float(t) for t in re.findall(r"GPU \d: ([0-9.]+) us", first.stdout)]
            self.assertTrue(len(times) == gpus and all(t > 0 for t in times), first.stdout)

    def test_lane_order_does_not_matter(self) -> None:
        outputs = {
            run("sums", VGPU_LANES=order).stdout for order in ("forward", "reverse", "seeded")
        }
        self.assertEqual(len(outputs), 1, outputs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
