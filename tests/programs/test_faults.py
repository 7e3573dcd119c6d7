# SPDX-License-Identifier: MIT
"""What is wrong is answered as hardware answers it, and explained."""

import os
import re
import signal
import sys
import unittest
from typing import ClassVar

from programs import RECORDED, run


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
        read = run("limit", "read", "200", VGPU_MEMORY_LIMIT="64M")
        self.assertEqual(read.stdout, "0\n", read.stderr)


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
        "host": ("is not memory of a GPU", "cudaMemcpy"),
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


class Files(unittest.TestCase):
    """A learner's file is not taken for one of ours, whatever it is called."""

    def test_vector_add(self) -> None:
        done = run("vector_add")
        self.assertEqual(done.stdout, "700\n", done.stderr)
        self.assertRegex(done.stderr, r"thread \(0,0,0\), vector_add\.cu:[78]\) ")


class Lost(unittest.TestCase):
    """What a process may still do, and what never was an allocation."""

    def test_current_device(self) -> None:
        done = run("lost")
        self.assertEqual((done.stdout, done.returncode), ("ok\n", 0), done.stderr)

    def test_variables_are_no_allocations(self) -> None:
        done = run("variables")
        self.assertEqual((done.stdout, done.returncode), ("ok\n", 0), done.stderr)


class Explanations(unittest.TestCase):
    """One of each kind of fault: its code, what it was, whose memory, allocated where."""

    OURS = r"of an allocation of 4096 bytes( on GPU 0)? \(allocated at fault\.cu:\d+\)"
    SAID: ClassVar[dict[str, tuple[int, str]]] = {
        "peer-load": (
            700,
            r"memory of GPU 1 \(byte 0 of an allocation of 4096 bytes on GPU 1 \(al",
        ),
        "pool": (
            700,
            r"pool of GPU 1 \(byte 8 of an allocation of 1000 bytes on GPU 1 \(allocated ",
        ),
        "freed": (700, r"byte 0 of an allocation of 67108864 bytes on GPU 0 \(allocated at fault"),
        "never": (
            700,
            r"memory of GPU 0 that is not allocated: where nothing is allocated on GPU 0",
        ),
        "misaligned": (716, r"fault\.cu:\d+\): a misaligned store: 4 bytes .* 4, byte 1 " + OURS),
        "host": (700, r"fault\.cu:\d+\) read from 0x[0-9a-f]+: .* ordinary host memory"),
        "wrapping": (
            700,
            r"cudaMemset at fault\.cu:\d+: 18446744073709547520 bytes from 0x200000000000 on end "
            r"past the last possible address; .* GPU 0 accessed .*a negative length",
        ),
        "divergent": (
            702,
            r"32 threads \(first: \(0,0,0\)\) wait at __syncthreads in .*fault\.cu:\d+",
        ),
        "waits": (
            702,
            r"thread \(0,0,0\) waits for a change of 0x200000000014 \(now 0x0\) in fault\.cu:\d+; "
            r"0x200000000014 is byte 20 " + OURS,
        ),
    }

    def test_each_kind(self) -> None:
        for case, (code, sentence) in self.SAID.items():
            with self.subTest(case):
                done = run("fault", case, VGPU_KERNEL_SECONDS="1")
                self.assertIn(f"launch 0 sync {code} ", done.stdout, done.stderr)
                self.assertRegex(done.stderr, sentence)
                self.assertEqual(len(re.findall(sentence, done.stderr)), 1, done.stderr)

    def test_an_impossible_configuration(self) -> None:
        done = run("fault", "configuration")
        self.assertIn("launch 1 sync 0 ", done.stdout, done.stderr)
        self.assertIn("kernel store: blockDim.x is 2000, allowed are 1 to 1024", done.stderr)

    def test_the_host_touches_device_memory(self) -> None:
        # SIGSEGV is the runtime's, also where AddressSanitizer would take it.
        sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"
        for case, sentence in (
            ("on-host", r"address 0x20000000000c, memory of GPU 0 \(byte 12 " + self.OURS + r"\)"),
            ("on-host-freed", r"\(byte 0 " + self.OURS + r" that was freed\): device memory"),
        ):
            with self.subTest(case):
                done = run("fault", case, ASAN_OPTIONS=sanitizer)
                self.assertEqual(done.returncode, -signal.SIGSEGV, done.stderr)
                self.assertRegex(done.stderr, sentence)


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
        "across": (
            "read 4 bytes",
            "byte 1000 on across the end of an allocation of 1002 bytes on GPU 0",
        ),
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


KINDS = ("launch", "copy", "record", "wait", "sync")


class Broken(unittest.TestCase):
    """VGPU_FAULT: what breaks on purpose, and nothing else does."""

    @staticmethod
    def seen(words: str) -> dict[str, str]:
        done = run("broken", VGPU_FAULT=words)
        return dict(line.split(": ", 1) for line in done.stdout.splitlines())

    def test_each_word_breaks_one_thing(self) -> None:
        usual, us = self.seen(""), float(self.seen("")["us"])
        self.assertEqual((usual["stored"], usual["copied"]), ("7", "8"))
        self.assertEqual(usual["words"], "128")
        self.assertEqual({usual[kind] for kind in KINDS}, {"cudaSuccess"})
        self.assertEqual({usual[f"allocation {i}"] for i in range(1, 5)}, {"cudaSuccess"})
        self.assertEqual({usual[f"GPU 2, {i}"] for i in range(1, 5)}, {"cudaSuccess"})
        for words, changed in (
            ("alloc:2", {"allocation 2": "cudaErrorMemoryAllocation"}),
            ("alloc:4", {"allocation 4": "cudaErrorMemoryAllocation"}),
            ("event:1", {"event 1": "cudaErrorMemoryAllocation"}),
            ("event:2", {"event 2": "cudaErrorMemoryAllocation"}),
            ("call:cudaMalloc=3", {"allocation 3": "cudaErrorUnknown"}),
            ("call:cudaMemcpyPeer=1", {"copied": "7"}),
            *((f"call:{kind}=1", {kind: "cudaErrorUnknown"}) for kind in KINDS),
            ("peer-drop:0-1", {"stored": "0", "copied": "0", "words": "0"}),
            ("peer-tear:0-1", {"words": "16"}),
            ("peer-clip:0-1", {"stored": "0"}),
            ("peer-clip:1-0", {}),
            ("link-damage:0-1=1", {"copied": str(8 ^ 1 << 16)}),
            ("link-damage:0-1=9", {}),
            ("link-damage:1-0=1", {}),
            ("stale:0", {"reused 1": "5"}),
            ("stale:1", {}),
            ("process-dies:2@call=1", {}),
            ("gpu-lost:2@op=3", {"GPU 2, 3": "cudaErrorUnknown", "GPU 2, 4": "cudaErrorUnknown"}),
        ):
            with self.subTest(words=words):
                self.assertEqual(self.seen(words), usual | changed)
        slow, late = (
            float(self.seen("link:0-1=0.1")["us"]),
            float(self.seen("copy-delay:1-0=50")["us"]),
        )
        self.assertAlmostEqual(late - us, 50, delta=0.2)
        self.assertTrue(8 < slow / us < 10.5, f"{slow} us, {us} us")
        both = float(self.seen("link:0-1=0.1,copy-delay:0-1=50")["us"])
        self.assertAlmostEqual(both - slow, 50, delta=0.2)

    def test_a_program_is_killed_at_its_call(self) -> None:
        dead, early = (run("broken", VGPU_FAULT=f"process-dies:1@call={n}") for n in (10, 1))
        self.assertEqual((dead.returncode, early.returncode), (-signal.SIGKILL, -signal.SIGKILL))

    def test_a_slow_clock_is_for_processors_only(self) -> None:
        usual, slow, other = (self.seen(f"clock:{c}") for c in ("0=1", "0=0.01", "1=0.01"))
        self.assertEqual(usual, self.seen(""))
        self.assertEqual(usual, other | {"us": usual["us"]})
        self.assertEqual(slow, usual | {"kernel us": slow["kernel us"]})
        self.assertGreater(float(slow["kernel us"]), 20 * float(usual["kernel us"]))

    def test_what_is_no_word_is_said(self) -> None:
        for wrong, why in (
            (
                "aloc:3",
                "it must begin with alloc:, event:, call:, process-dies:, peer-drop:, peer-tear:, "
                "peer-clip:, link:, link-damage:, copy-delay:, gpu-lost:, granule:, clock: or "
                "stale:",
            ),
            ("alloc:0", "expected a word like alloc:3, with numbers above 0"),
            ("alloc:3x", "expected a word like alloc:3"),
            ("call:cudaFree", "expected a word like call:cudaMemcpyAsync=2, with numbers above 0"),
            ("granule:1=3", "expected a word like granule:1=4 (MiB)"),
            ("granule:4=4", "the node has GPUs 0 to 3"),
            ("link:0-1", "expected a word like link:0-1=0.1"),
            ("gpu-lost:2", "expected a word like gpu-lost:2@op=10"),
            ("peer-drop:0-4", "the node has GPUs 0 to 3, and a link joins two"),
            ("peer-tear:0", "expected a word like peer-tear:0-1"),
            ("peer-clip:0", "expected a word like peer-clip:0-1"),
            ("clock:4=0.5", "the node has GPUs 0 to 3"),
            ("stale:4", "the node has GPUs 0 to 3"),
            ("process-dies:1", "expected a word like process-dies:2@call=10"),
            ("link-damage:0-1", "expected a word like link-damage:0-1=2"),
            ("peer-drop:1-1", "the node has GPUs 0 to 3, and a link joins two"),
        ):
            said = run("broken", VGPU_FAULT=f"alloc:9,{wrong}").stderr
            self.assertIn(f'VGPU_FAULT: "{wrong}": {why}', said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
