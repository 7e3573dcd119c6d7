# SPDX-License-Identifier: MIT
"""Ordinary CUDA programs, through vgpu-cc and the virtual node, end to end."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from typing import ClassVar

BIN = pathlib.Path(sys.argv[1])
RECORDED = pathlib.Path(__file__).parent.parent / "recorded" / "hgx-h200-4"
COUNT = 0


def run(
    program: str, *arguments: str, node: str = "hgx-h200-4", **more: str
) -> subprocess.CompletedProcess[str]:
    global COUNT
    COUNT += 1
    environment = dict(
        os.environ, VGPU_NODE=node, VGPU_NODE_ID=f"programs-{os.getpid()}-{COUNT}", **more
    )
    return subprocess.run(
        [BIN / f"program-{program}", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


class Order(unittest.TestCase):
    def test_ordered_is_fresh_and_unordered_is_stale_in_every_run(self) -> None:
        for node in ("hgx-h200-4", "dgx-a100", "textbook-a100-2"):
            for _ in range(3):
                done = run("order", "strict", node=node)
                self.assertEqual((done.returncode, done.stdout), (0, "order: right\n"), done.stderr)

    def test_a_wait_for_something_else_is_no_wait(self) -> None:
        expected = (
            "none: 256 stale\nother stream: 256 stale\n"
            "other event: 256 stale\nother GPU: 256 stale\n"
            "its stream: 0 stale\nits GPU: 0 stale\n"
        )
        for node in ("hgx-h200-4", "pcie-4090-2"):
            self.assertEqual(run("wait", node=node).stdout, expected)

    def test_one_gpu_is_said(self) -> None:
        self.assertEqual(run("order", node="single").returncode, 77)


class Handshake(unittest.TestCase):
    def test_kernels_wait_for_each_other_on_every_count_of_gpus(self) -> None:
        nodes = (("single", 1), ("textbook-a100-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8))
        for node, gpus in nodes:
            done = run("handshake", node=node)
            expected = (f"handshakes on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_the_host_goes_on_while_a_kernel_polls(self) -> None:
        nodes = (("single", 1), ("textbook-a100-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8))
        for node, gpus in nodes:
            done = run("release", node=node)
            expected = (f"released on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Meeting(unittest.TestCase):
    """A host thread for each GPU, all others in pthread_join; a rank that comes late, or never."""

    NODES = (("textbook-a100-2", 2), ("hgx-h200-4", 3), ("hgx-h200-4", 4), ("dgx-a100", 8))

    def meet(self, node: str, gpus: int, *how: str, **more: str) -> str:
        visible = ",".join(str(gpu) for gpu in range(gpus))
        done = run("meeting", *how, node=node, CUDA_VISIBLE_DEVICES=visible, **more)
        end = "all were told" if how == ("never",) else "right"
        expected = (f"meetings on {gpus} GPUs: {end}\n", 0)
        self.assertEqual((done.stdout, done.returncode), expected, done.stderr)
        return done.stderr

    def test_kernels_of_every_rank_wait_for_one_that_waits_for_the_clock(self) -> None:
        for node, gpus in self.NODES:
            self.meet(node, gpus)

    def test_who_sleeps_or_computes_is_waited_for(self) -> None:
        self.meet("hgx-h200-4", 3, "sleeps")
        self.meet("hgx-h200-4", 3, "computes", VGPU_KERNEL_SECONDS="2")

    def test_who_never_comes_is_no_hang(self) -> None:
        for node, gpus in self.NODES:
            text = self.meet(node, gpus, "never", VGPU_KERNEL_SECONDS="1")
            self.assertIn("deadlock: no host thread has called or used the processor", text)
            self.assertRegex(text, r"kernel meet on GPU [1-7] polls: meet: block \(0,0,0\)")


class Spin(unittest.TestCase):
    """A host that watches pinned memory and makes no call is served; one that is quick is not."""

    def test_kernels_and_copies_arrive(self) -> None:
        for how, expected in (("spin", "spin 20"), ("nap", "nap 20"), ("copy", "copy 7")):
            for node in ("single", "hgx-h200-4"):
                done = run("spin", how, node=node)
                self.assertEqual((done.stdout, done.returncode), (expected + "\n", 0), done.stderr)

    def test_a_missing_wait_still_shows(self) -> None:
        self.assertEqual(run("spin", "early").stdout, "0\n")


class Managed(unittest.TestCase):
    def test_host_and_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("managed", node=node)
            expected = (f"managed on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Registered(unittest.TestCase):
    def test_on_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("registered", node=node, VGPU_QUIET="1")
            expected = (f"registered memory on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_unregistered_memory_is_out_of_reach_again(self) -> None:
        self.assertEqual(run("registered", "unregistered").stdout, "700\n")


class Calls(unittest.TestCase):
    def test_three_dimensions_and_rare_calls(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("more_calls", node=node, VGPU_QUIET="1")
            expected = (f"more calls on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class HostFunctions(unittest.TestCase):
    def test_in_streams_of_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("host_function", node=node, VGPU_QUIET="1")
            expected = (f"host functions on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Atomics(unittest.TestCase):
    def test_on_the_host_and_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("cuda_atomic", node=node)
            expected = (f"atomics on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Grids(unittest.TestCase):
    def test_on_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            for lanes in ("forward", "seeded"):
                done = run("grid", node=node, VGPU_LANES=lanes)
                expected = (f"groups on {gpus} GPUs: right\n", 0)
                self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_a_barrier_of_an_ordinary_launch_fails_and_says_so(self) -> None:
        done = run("grid", "uncooperative")
        self.assertEqual(done.stdout.splitlines()[-1], "1")
        self.assertIn("cudaLaunchCooperativeKernel", done.stderr)


NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")


class Sources(unittest.TestCase):
    """What is CUDA here is CUDA for nvcc, too."""

    @unittest.skipUnless(NVCC, "no nvcc here")
    def test_nvcc_compiles_them(self) -> None:
        for name in ("cuda_atomic", "graphs", "grid"):
            source = pathlib.Path(__file__).parent / f"{name}.cu"
            command = [NVCC, "-std=c++17", "-arch=sm_90", "-c", "-o", os.devnull, source]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)


class Graphs(unittest.TestCase):
    def test_over_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("graphs", node=node)
            expected = (f"graphs on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

    def test_as_wide_as_streams(self) -> None:
        for node in ("hgx-h200-4", "dgx-a100"):
            done = run("graph_width", node=node)
            expected = ("graph as wide as its streams\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Launches(unittest.TestCase):
    def test_by_configuration(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("launch_ex", node=node, VGPU_QUIET="1")
            expected = (f"launches by configuration on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class PerThread(unittest.TestCase):
    """What one thread puts into stream 0 comes before another's copy only if they share it."""

    def test_on_every_gpu(self) -> None:
        whose = {"legacy": "shared", "per-thread": "each thread's own"}
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            for mode, answer in whose.items():
                done = run(f"stream0-{mode}", node=node)
                expected = (f"stream 0 on {gpus} GPUs: {answer}\n", 0)
                self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Volumes(unittest.TestCase):
    def test_boxes_on_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("volume", node=node)
            expected = (f"volumes on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Groups(unittest.TestCase):
    def test_tiles_of_every_size(self) -> None:
        for lanes in ("forward", "reverse", "seeded"):
            self.assertEqual(run("groups", VGPU_LANES=lanes).stdout, "groups: right\n")


class Pools(unittest.TestCase):
    def test_on_every_gpu(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("pool", node=node)
            expected = (f"pools on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)

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


class Ipc(unittest.TestCase):
    def test_rules_between_programs(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
            done = run("ipc_rules", node=node)
            expected = (f"ipc_rules on {gpus} GPUs: right\n", 0)
            self.assertEqual((done.stdout, done.returncode), expected, done.stderr)


class Limit(unittest.TestCase):
    """More than this computer's share is an error of the program, which says what to do."""

    def test_beyond_the_limit_is_out_of_memory(self) -> None:
        for how in ("fill", "kernel", "copy"):
            within = run("limit", how, "24", VGPU_MEMORY_LIMIT="64M")
            self.assertEqual((within.stdout, within.returncode), ("0\n", 0), within.stderr)
            beyond = run("limit", how, "100", VGPU_MEMORY_LIMIT="64M")
            self.assertEqual(beyond.stdout, "2\n", beyond.stderr)
            self.assertIn("limit is 64 MiB", beyond.stderr)
            self.assertIn("VGPU_MEMORY_LIMIT", beyond.stderr)

    def test_host_memory_has_a_limit_too(self) -> None:
        """It is this computer's, however a program gets at it."""
        for how in ("pinned", "managed"):
            self.assertEqual(run("limit", how, "24", VGPU_MEMORY_LIMIT="64M").stdout, "0\n")
            beyond = run("limit", how, "40", VGPU_MEMORY_LIMIT="64M")
            self.assertEqual(beyond.stdout, "2\n", beyond.stderr)
            self.assertIn("may be 64 MiB here (VGPU_MEMORY_LIMIT)", beyond.stderr)

    def test_only_what_is_touched_counts(self) -> None:
        self.assertEqual(run("limit", "none", "4096", VGPU_MEMORY_LIMIT="64M").stdout, "0\n")


class Faults(unittest.TestCase):
    """Each bad access answers, code by code, what 4 H200s answered, and says what was wrong."""

    SAID: ClassVar[dict[str, tuple[str, ...]]] = {
        "peer-load": (
            "kernel load on GPU 0",
            "read from",
            "memory of GPU 1",
            "cudaDeviceEnablePeerAccess(1, 0) while GPU 0 is current",
        ),
        "peer-store": ("kernel store on GPU 0", "wrote to", "memory of GPU 1"),
        "host": ("is no GPU's memory", "cudaMemcpy"),
        "null": ("null pointer",),
        "freed": ("not allocated",),
        "misaligned": ("misaligned", "not a multiple of 4"),
        "near": ("finding: kernel store on GPU 0", "0 bytes past the end"),
        "zero": (),
    }

    def test_as_recorded(self) -> None:
        lines = [
            line
            for line in (RECORDED / "programs.txt").read_text().splitlines()
            if not line.startswith("#") and ": launch " in line
        ]
        self.assertEqual({line.split(":")[0] for line in lines}, set(self.SAID))
        for line in lines:
            case, answers = line.split(": ")
            with self.subTest(case):
                done = run("fault", case)
                self.assertEqual(done.stdout, answers + "\n", done.stderr)
                for words in self.SAID[case]:
                    self.assertIn(words, done.stderr)


class Endless(unittest.TestCase):
    def test_ended_with_its_line(self) -> None:
        done = run("fault", "endless", VGPU_KERNEL_SECONDS="1")
        self.assertIn("launch 0 sync 702", done.stdout, done.stderr)
        self.assertRegex(done.stderr, r"kernel endless on GPU 0 \(block .*, fault.cu:\d+\)")
        self.assertIn("after 1 s of processor time (VGPU_KERNEL_SECONDS", done.stderr)


class Findings(unittest.TestCase):
    """What hardware accepts keeps its code and is said, once a place, with the allocation."""

    RIGHT = "launch 0 sync 0 last 0 again 0 later 0 other 0 reset 0 after 0\n"
    SAID: ClassVar[dict[str, tuple[str, ...]]] = {
        "near": ("wrote 4 bytes", "0 bytes past the end of an allocation of 4096 bytes on GPU 0"),
        "near-twice": ("0 bytes past the end of an allocation of 4096 bytes",),
        "large": ("read 4 bytes", "40 bytes past the end of an allocation of 8388620 bytes"),
        "sweep": ("past the end of an allocation of 3070976 bytes",),
        "freed-small": ("read 4 bytes", "byte 12 of an allocation of 100 bytes on GPU 0", "freed"),
        "async": ("0 bytes past the end of an allocation of 1000 bytes on GPU 0",),
    }

    def test_said_once_and_no_error(self) -> None:
        for case, words in self.SAID.items():
            with self.subTest(case):
                done = run("fault", case)
                self.assertEqual(done.stdout, self.RIGHT, done.stderr)
                self.assertEqual(done.stderr.count("finding:"), 1, done.stderr)
                self.assertRegex(done.stderr, r"thread \(0,0,0\), fault.cu:\d+\)")
                self.assertRegex(done.stderr, r"\(allocated at fault.cu:\d+\)")
                for part in (*words, "VGPU_STRICT=1"):
                    self.assertIn(part, done.stderr)

    def test_strict_is_illegal_address(self) -> None:
        for case in self.SAID:
            done = run("fault", case, VGPU_STRICT="1")
            self.assertIn("sync 700", done.stdout, done.stderr)
            self.assertNotIn("finding:", done.stderr)
            self.assertRegex(done.stderr, r"\(allocated at fault.cu:\d+\)")

    def test_programs_without_mistakes_have_none(self) -> None:
        for program in ("order", "managed", "pool", "sums", "groups"):
            done = run(program, VGPU_STRICT="1")
            self.assertEqual((done.returncode, "finding" in done.stderr), (0, False), program)


class LastError(unittest.TestCase):
    """Without devices the error cannot be taken away: probes/last_error.cu, recorded."""

    def test_as_recorded(self) -> None:
        for visible, case in (("", "visible_none_last"), ("0,0", "visible_dup_last")):
            done = run("last_error", "first", CUDA_VISIBLE_DEVICES=visible)
            self.assertEqual(done.stdout, (RECORDED / f"{case}.txt").read_text(), case)

    def test_with_devices_there_is_none(self) -> None:
        self.assertNotIn("cudaError", run("last_error", "first").stdout)


class Talk(unittest.TestCase):
    def test_kernels_hand_a_token_over(self) -> None:
        for node in ("hgx-h200-4", "dgx-a100"):
            done = run("talk", node=node)
            self.assertEqual((done.returncode, done.stdout), (0, "talk: right\n"), done.stderr)

    def test_deadlock_is_reported_with_who_waits(self) -> None:
        done = run("talk", "deadlock")
        self.assertEqual(done.stdout, "sync 702\n", done.stderr)
        self.assertIn("deadlock", done.stderr)
        self.assertIn("kernel player on GPU 0", done.stderr)


class Sums(unittest.TestCase):
    def test_same_output_to_the_last_digit(self) -> None:
        for node, gpus in (("single", 1), ("pcie-4090-2", 2), ("hgx-h200-4", 4), ("dgx-a100", 8)):
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
