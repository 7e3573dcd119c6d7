# SPDX-License-Identifier: MIT
"""Programs that share a node: they see each other's memory, and one that is killed leaves
nothing."""

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator

BUSY = pathlib.Path(sys.argv[1]) / "program-busy"
RANKS = pathlib.Path(sys.argv[1]) / "program-ranks"
ORPHAN = pathlib.Path(sys.argv[1]) / "program-orphan"
DESCRIPTOR = pathlib.Path(sys.argv[1]) / "program-descriptor_out"
FULL = "PEERLAB_FULL" in os.environ
KILLS, RANK_KILLS = (20, 100) if FULL else (5, 12)
SECONDS = 2.0


def start(ident: str, *arguments: str, program: pathlib.Path = BUSY) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [program, *arguments],
        env=dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=ident),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_bytes(ident: str) -> list[int]:
    """What a program that starts now sees as free on each GPU."""
    out, err = start(ident, "free").communicate(timeout=30)
    if err:
        raise AssertionError(err)
    return [int(line) for line in out.split()]


def of_node(ident: str) -> Iterator[pathlib.Path]:
    """The running processes of this node, as their directories in /proc."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"VGPU_NODE_ID={ident}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                yield entry


def processes(ident: str, program: str) -> list[int]:
    """The running processes of this node that are that program."""
    found = []
    for entry in of_node(ident):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text().strip() == program:
                found.append(int(entry.name))
    return found


def shared_files(ident: str) -> set[str]:
    """The files in /dev/shm that processes of this node have mapped: other tests' MPI has files
    of its own there."""
    found = set()
    for entry in of_node(ident):
        with contextlib.suppress(OSError):
            found.update(re.findall(r"/dev/shm/\S+$", (entry / "maps").read_text(), re.MULTILINE))
    return found


class Shared(unittest.TestCase):
    def test_each_sees_the_others_memory(self) -> None:
        ident = f"shared-{os.getpid()}"
        first = start(ident, "hold")
        self.assertEqual(first.stdout.readline(), "held\n")
        with_one = free_bytes(ident)
        second = start(ident, "hold")
        self.assertEqual(second.stdout.readline(), "held\n")
        with_two = free_bytes(ident)
        self.assertGreaterEqual(with_one[0] - with_two[0], 64 << 20)
        self.assertEqual(with_one[1:], with_two[1:])
        second.communicate("go\n", timeout=30)
        self.assertEqual(free_bytes(ident), with_one)
        first.communicate("go\n", timeout=30)

    def test_killed_at_any_moment_leaves_nothing(self) -> None:
        ident, shared = f"killed-{os.getpid()}", set[str]()
        keeper = start(ident, "hold")  # so that it is one node throughout
        self.assertEqual(keeper.stdout.readline(), "held\n")
        before, contexts = free_bytes(ident), processes(ident, "vgpu-exec")
        rng, seen = random.Random(7), 0
        for number in range(KILLS):
            victim = start(ident)
            time.sleep(rng.uniform(0.0, 0.25))
            self.assertIsNone(victim.poll(), "it ended by itself")
            seen += len(processes(ident, "vgpu-exec")) > len(contexts)
            shared |= shared_files(ident)
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            end = time.monotonic() + SECONDS
            after, left = free_bytes(ident), processes(ident, "vgpu-exec")
            while (after, left) != (before, contexts) and time.monotonic() < end:
                time.sleep(0.02)
                after, left = free_bytes(ident), processes(ident, "vgpu-exec")
            self.assertEqual((after, left), (before, contexts), f"after kill {number + 1}")
        self.assertGreater(seen, 0, "no kill met a victim with a context")
        keeper.communicate("go\n", timeout=30)
        self.assertEqual({path for path in shared if pathlib.Path(path).exists()}, set())

    def test_ranks_that_hold_each_others_memory(self) -> None:
        ident, rng = f"ranks-{os.getpid()}", random.Random(11)
        keeper = start(ident, "hold")
        self.assertEqual(keeper.stdout.readline(), "held\n")
        before, contexts = free_bytes(ident), processes(ident, "vgpu-exec")
        for number in range(RANK_KILLS):
            ranks = start(ident, str(rng.choice((2, 3, 4, 8))), program=RANKS)
            ranks_at = [int(pid) for pid in ranks.stdout.readline().split()]
            time.sleep(rng.uniform(0.0, 0.3))
            os.kill(rng.choice(ranks_at), signal.SIGKILL)
            time.sleep(rng.uniform(0.0, 0.1))  # the others go on with what the dead one exported
            began = time.monotonic()
            out, err = ranks.communicate(timeout=30)
            self.assertLess(time.monotonic() - began, SECONDS, f"kill {number + 1}: {err}")
            self.assertEqual(out, "1 killed, 0 failed\n", err)
            end = time.monotonic() + SECONDS
            after, left = free_bytes(ident), processes(ident, "vgpu-exec")
            while (after, left) != (before, contexts) and time.monotonic() < end:
                time.sleep(0.02)
                after, left = free_bytes(ident), processes(ident, "vgpu-exec")
            self.assertEqual((after, left), (before, contexts), f"after kill {number + 1}")
        keeper.communicate("go\n", timeout=30)

    def test_a_descriptor_outlives_its_maker_and_nothing_outlives_the_descriptor(self) -> None:
        for how in ((), ("killed",)):
            ident = f"descriptor-{len(how)}-{os.getpid()}"
            ours, theirs = socket.socketpair()
            environment = dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=ident)
            words = [DESCRIPTOR, str(theirs.fileno()), *how]
            subprocess.run(
                words, env=environment, pass_fds=[theirs.fileno()], timeout=30, check=False
            )
            theirs.close()
            self.assertEqual(len(processes(ident, "vgpu-node")), 1, "the memory is on its way")
            _, (descriptor,), _, _ = socket.recv_fds(ours, 1, 1)
            ours.close()
            first, second, *_ = free_bytes(ident)
            self.assertEqual(second - first, 64 << 20, "the descriptor holds it")
            os.close(descriptor)
            end = time.monotonic() + SECONDS
            while (left := processes(ident, "vgpu-node")) and time.monotonic() < end:
                time.sleep(0.02)
            self.assertEqual(left, [], "the node stays without a reason")

    def test_who_waits_for_a_killed_process_gets_an_error(self) -> None:
        expected = {
            "before": "event: 400\nquery: 400\nclose: 0\n",
            "during": "event: 719\nquery: 400\nclose: 0\n",
            "stream": "stream wait: 0\ndevice: 719\nquery: 719\nclose: 719\n",
            "recorder": "event: 0\nquery: 0\n",
            "done": "event: 400\nvalue: 7\nquery: 400\nclose: 0\n",
        }
        for mode, said in expected.items():
            began = time.monotonic()
            ident = f"orphan-{mode}-{os.getpid()}"
            out, err = start(ident, mode, program=ORPHAN).communicate(timeout=30)
            self.assertEqual(out, said, f"{mode}: {err}")
            self.assertLess(time.monotonic() - began, 2 * SECONDS, f"{mode}: {err}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
