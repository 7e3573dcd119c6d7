# SPDX-License-Identifier: MIT
"""What waits for what: streams, events, hosts and kernels, in every order that CUDA allows."""

import sys
import unittest

from programs import run


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


class Long(unittest.TestCase):
    def test_a_call_that_waits_long_says_for_which_kernel(self) -> None:
        one = {"VGPU_WAIT_SECONDS": "1", "VGPU_WORKERS": "1", "VGPU_FORM": "careful"}
        done = run("busy", "long", **one)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stderr,
            r"cudaDeviceSynchronize: still waiting for the virtual node after 1 s: kernel counts "
            r"on GPU 0 runs: [1-9]\d* of its 4096 blocks are done after \d+ s; fewer blocks or a "
            r"smaller size end sooner, and it does not run in the fast form: ",
        )


class Full(unittest.TestCase):
    def test_a_full_queue_is_waited_for(self) -> None:
        done = run("busy", "queue")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Spin(unittest.TestCase):
    """A host that watches pinned memory and makes no call is served; one that is quick is not."""

    def test_kernels_and_copies_arrive(self) -> None:
        for how, expected in (("spin", "spin 20"), ("nap", "nap 20"), ("copy", "copy 7")):
            for node in ("single", "hgx-h200-4"):
                done = run("spin", how, node=node)
                self.assertEqual((done.stdout, done.returncode), (expected + "\n", 0), done.stderr)

    def test_what_a_waited_for_kernel_waits_for_arrives(self) -> None:
        for how in ("kernel", "thread"):
            done = run("spin", how)
            self.assertEqual((done.stdout, done.returncode), (f"{how} 1\n", 0), done.stderr)

    def test_who_polls_for_another_process_does_not_hold_it_back(self) -> None:
        for node in ("single", "hgx-h200-4"):
            done = run("polls", node=node)
            said = "4096 counted, polled for less than a second\n"
            self.assertEqual((done.stdout, done.returncode), (said, 0), done.stderr)

    def test_a_missing_wait_still_shows(self) -> None:
        self.assertEqual(run("spin", "early").stdout, "0\n")


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


class Schedule(unittest.TestCase):
    """VGPU_SCHEDULE: other orders, all of them allowed, each the same in every run."""

    @staticmethod
    def orders(seed: str) -> dict[str, list[int]]:
        done = run("blocks", VGPU_SCHEDULE=seed)
        lines = [line.split() for line in done.stdout.splitlines()]
        return {what: [int(n) for n in numbers] for what, *numbers in lines}

    def test_seeds_permute_blocks_threads_and_streams(self) -> None:
        usual = self.orders("0")
        self.assertEqual(usual["blocks"], list(range(13)))
        seeds = {seed: self.orders(seed) for seed in ("1", "2", "3", "4")}
        for orders in seeds.values():
            for what, order in orders.items():
                self.assertEqual(sorted(order), sorted(usual[what]))
        for what in usual:
            self.assertGreaterEqual(len({tuple(o[what]) for o in seeds.values()}), 2, what)
        self.assertEqual(self.orders("3"), seeds["3"])

    def test_right_programs_cannot_tell(self) -> None:
        usual = {name: run(name) for name in ("grid", "handshake", "sums", "host_function")}
        for seed in ("1", "2", "3"):
            for name, done in usual.items():
                again = run(name, VGPU_SCHEDULE=seed)
                self.assertEqual((again.returncode, again.stdout), (0, done.stdout), again.stderr)

    def test_what_is_no_seed_is_said(self) -> None:
        for wrong in ("x", "-1", "1.5", "3 "):
            said = run("blocks", VGPU_SCHEDULE=wrong).stderr
            self.assertIn(f"VGPU_SCHEDULE={wrong} is not valid: expected a seed", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
