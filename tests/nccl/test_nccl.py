# SPDX-License-Identifier: MIT
"""nccl.h on the virtual node: every collective by one thread, by threads, by processes; mistakes;
and what the test must reject: test_nccl.py BIN VGPU_CC LIB WORK"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "vgpu" / "nccl"
INCLUDE = HERE.parent / "programs"
FULL = "PEERLAB_FULL" in os.environ
NODES = {1: "single", 2: "textbook-a100-2", 3: "hgx-h200-4", 4: "hgx-h200-4", 8: "dgx-a100"}


class Nccl(unittest.TestCase):
    bin: ClassVar[Path]
    compiler: ClassVar[Path]
    lib: ClassVar[Path]
    work: ClassVar[Path]

    def run_program(self, program: Path, *words: object, **names: str) -> tuple[int, str, str]:
        env = {"VGPU_NODE_ID": f"nccl-{os.getpid()}-{names['VGPU_NODE']}", **names}
        done = subprocess.run(
            [str(program), *map(str, words)],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def right(self, how: str, ranks: int, node: str = "") -> None:
        node = node or NODES[ranks]
        program = self.bin / "nccl-collectives"
        said = self.run_program(program, how, ranks, VGPU_NODE=node)
        self.assertEqual(said, (0, f"{how}, {ranks} ranks: right\n", ""))


class Collectives(Nccl):
    def test_one_thread_for_all(self) -> None:
        for ranks in (1, 2, 3):
            self.right("thread", ranks)

    def test_a_thread_a_gpu(self) -> None:
        self.right("threads", 4)

    def test_a_process_a_gpu(self) -> None:
        for ranks in (2, 8):
            self.right("processes", ranks)

    def test_who_leaves_first_takes_nobody_along(self) -> None:
        """The keeper of the id lives in a rank's process, which ends when that rank has left: on
        one processor before the other rank is told, unless that one is told first."""
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mine)})
        try:
            for _ in range(40 if FULL else 2):
                self.right("processes", 2)
        finally:
            os.sched_setaffinity(0, mine)

    def test_without_peer_access(self) -> None:
        self.right("thread", 2, "pcie-4090-2")

    @unittest.skipUnless(FULL, "PEERLAB_FULL is not set")
    def test_some_pairs_with_peer_access(self) -> None:
        self.right("threads", 8, "dgx1-v100")


class Mistakes(Nccl):
    def misuse(self, what: str, **names: str) -> tuple[str, str]:
        names = {"VGPU_NODE": "hgx-h200-4", **names}
        status, out, error = self.run_program(self.bin / "nccl-misuse", what, **names)
        self.assertEqual(status, 0, out + error)
        return out, error

    def test_counts_that_differ_are_said(self) -> None:
        out, _ = self.misuse("count")
        self.assertRegex(
            out, r"rank \d expected \d+ elements of an all-reduce from rank \d and got"
        )
        self.assertIn("cudaErrorLaunchFailure", out)

    def test_calls_that_differ_are_said(self) -> None:
        out, _ = self.misuse("call")
        self.assertRegex(
            out, "elements of (an all-reduce|a broadcast).* got .* of (an all-re|a br)"
        )

    def test_two_ranks_on_one_gpu(self) -> None:
        out, error = self.misuse("gpu")
        self.assertTrue(out.startswith("5 "), out)
        self.assertIn("ranks 0 and 1 are both on the GPU at", error)

    def test_a_rank_that_does_not_come(self) -> None:
        out, error = self.misuse("nobody", VGPU_NCCL_SECONDS="1")
        self.assertTrue(out.startswith("2 "), out)
        self.assertIn("1 of 2 ranks came within 1 s; missing: 1", error)

    def test_two_ranks_of_one_number(self) -> None:
        out, error = self.misuse("rank")
        self.assertTrue(out.startswith("5 "), out)
        self.assertIn("rank 0 came twice", error)

    def test_no_descriptor_for_a_rank(self) -> None:
        out, error = self.misuse("descriptors", VGPU_NCCL_SECONDS="1")
        self.assertEqual(out.splitlines()[1], "idle", out + error)
        self.assertNotEqual(out[0], "0", out + error)
        self.assertIn("cannot accept another rank: Too many open files", error)

    def test_errors_of_others_are_left_alone(self) -> None:
        """What a call of the program left as the last error is no failure of NCCL's, and stays."""
        out, error = self.misuse("others")
        self.assertEqual(out, "left alone\n", error)

    def test_arguments(self) -> None:
        out, error = self.misuse("arguments")
        self.assertEqual([int(line.split()[0]) for line in out.splitlines()],
                         [0, 4, 4, 4, 4, 0, 4, 4, 5, 5, 5, 4])  # fmt: skip
        for text in (
            "root is 2, expected 0 to 1",
            "a buffer is null",
            "type 77 is not a value of",
            "operation 5 was made for type 8 and is used with type 7",
            "ncclDevCommCreate: not modelled",
            "operation 5 is not a value of",
            "comm is null",
            "ncclCommSplit: not modelled",
            "no ncclGroupStart before it",
            "peer is 5, expected 0 to 1",
        ):
            self.assertIn(text, error)


class Ends(Nccl):
    """A communicator of two processes with two ranks each."""

    def leave(self, how: str) -> tuple[int, str, str]:
        return self.run_program(self.bin / "nccl-leave", how, VGPU_NODE="hgx-h200-4")

    def test_nothing_is_freed_that_is_open(self) -> None:
        self.assertEqual(self.leave("pairs"), (0, "destroy: 0, the other process: 0\n", ""))

    def test_a_process_that_ended_is_not_waited_for(self) -> None:
        status, out, error = self.leave("gone")
        self.assertEqual((status, out), (0, "destroy: 6, the other process: 0\n"))
        self.assertIn("another rank ended without ncclCommDestroy", error)


@unittest.skipUnless(FULL, "PEERLAB_FULL is not set")
class Mutants(Nccl):
    """kernels.cu with one passage replaced, in the check of all collectives."""

    @classmethod
    def setUpClass(cls) -> None:
        shutil.rmtree(cls.work, ignore_errors=True)
        cls.work.mkdir(parents=True)
        cls.compile("-c", "-o", cls.work / "collectives.o", HERE / "collectives.cu")

    @classmethod
    def compile(cls, *words: object) -> None:
        command = [cls.compiler, "-O1", "-I", SOURCES, "-I", INCLUDE, *words]
        subprocess.run([str(word) for word in command], check=True, timeout=300)

    def rejected(self, find: str, replace: str, reason: str = "expected") -> None:
        room = self.work / self._testMethodName
        room.mkdir()
        text = (SOURCES / "kernels.cu").read_text(encoding="utf-8")
        self.assertEqual(text.count(find), 1, find)
        (room / "kernels.cu").write_text(text.replace(find, replace), encoding="utf-8")
        self.compile(
            "-o", room / "check", self.work / "collectives.o", room / "kernels.cu", "-lnccl"
        )
        status, out, _ = self.run_program(
            room / "check", "threads", 3, VGPU_NODE="hgx-h200-4", VGPU_KERNEL_SECONDS="2"
        )
        self.assertNotEqual(status, 0, out)
        self.assertIn(reason, out)

    def test_the_ring_gives_the_wrong_chunk(self) -> None:
        self.rejected("(rank - 1 - k + 2 * n) % n", "(rank - k + 2 * n) % n")

    def test_the_average_is_a_sum(self) -> None:
        self.rejected("value = average<T>::out(value, ranks);", "value = value;")

    def test_a_slot_is_used_too_early(self) -> None:
        self.rejected("sent - NCCL_SLOTS + 1", "0")


if __name__ == "__main__":
    words = [Path(word).resolve() for word in sys.argv[1:5]]
    Nccl.bin, Nccl.compiler, Nccl.lib, Nccl.work = words
    unittest.main(argv=sys.argv[:1])
