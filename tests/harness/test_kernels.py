# SPDX-License-Identifier: MIT
"""What becomes of a learner whose kernel is wrong, crashes or never ends; on either back end.

On real GPUs the verifier asks them after it has ended a program by force; so does this test.
"""

import os
import re
import subprocess
import unittest

from toy import BUILD, FAIL, KERNEL, PASS, SKIPPED, Result

RUNNER = BUILD / "tests/runners/solution92-run"
VIRTUAL = (BUILD / "bin/vgpu-node").exists()


def variant(name: str, old: str, new: str) -> Result:
    source = KERNEL.solution()
    assert old in source, old
    return KERNEL.check(
        KERNEL.build(name, source.replace(old, new, 1), ".cu"), "doubles", VGPU_KERNEL_SECONDS="2"
    )


@unittest.skipIf(
    KERNEL.check(RUNNER, "doubles").status == SKIPPED, "cannot run here: this machine has no GPU"
)
class Kernels(unittest.TestCase):
    def test_right(self) -> None:
        self.assertEqual(KERNEL.check(RUNNER, "doubles").status, PASS)

    def test_wrong(self) -> None:
        got = variant("kernel-wrong", "*= 2", "*= 3")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("elements are wrong", got.text)

    def test_host_crash(self) -> None:
        got = variant(
            "kernel-crash", "int *there = NULL;", "int *there = NULL; *(volatile int *)8 = n;"
        )
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("ended by signal 11 (invalid memory access)", got.text)
        self.assertIn("address 0x8: a field or an element of a null pointer", got.text)

    def test_device_fault(self) -> None:
        got = variant("kernel-fault", "data[i] *= 2", "data[i + (1ll << 40)] *= 2")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertIn("kernel_double returned", got.text)

    def test_hang(self) -> None:
        """An endless kernel: the runner is ended, and the next one finds the GPU as it was."""
        got = variant(
            "kernel-hang", "if (i < n)", "while (*(volatile int *)data != -1)\n;if (i < n)"
        )
        self.assertEqual(got.status, FAIL, got.text)
        if not VIRTUAL:
            self.assertIn("without coming to an end", got.text)
        self.assertEqual(KERNEL.check(RUNNER, "doubles").status, PASS)

    @unittest.skipUnless(VIRTUAL, "real GPUs take the order that they like")
    def test_right_in_the_usual_order_only(self) -> None:
        """No race, and yet block 0 must be the first one: another order finds it."""
        source = KERNEL.solution().replace(
            "if (i < n)",
            "int was = atomicCAS(&first, -1, (int)blockIdx.x);\n"
            "    if (i < n && (was < 0 ? (int)blockIdx.x : was) == 0)",
        )
        source = source.replace("static __global__", "static __device__ int first = -1;\n"
                                "static __global__", 1)  # fmt: skip
        got = KERNEL.check(KERNEL.build("kernel-order", source, ".cu"), "doubles")
        self.assertEqual(got.status, FAIL, got.text)
        self.assertRegex(got.text, r"\(VGPU_SCHEDULE=[123]; the usual one was right\): ")
        runner = KERNEL.build("kernel-order", source, ".cu")
        told = {}
        for orders in (0, 1):
            for seed in (1, 2, 3):
                got = KERNEL.check(runner, "doubles", "--orders", orders, "--seed", seed)
                told[orders, seed] = re.findall(r"VGPU_SCHEDULE=\d", got.text)
        self.assertEqual([told[0, seed] for seed in (1, 2, 3)], [[], [], []])
        self.assertEqual(len({tuple(told[1, seed]) for seed in (1, 2, 3)}), 3)  # another one each

    def test_no_context_is_left(self) -> None:
        if VIRTUAL:
            self.skipTest("nvidia-smi lists real GPUs' processes")
        listed = subprocess.run(
            ["nvidia-smi", "--query-compute-apps=pid,name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        self.assertNotIn("kernel-hang", listed.stdout)


if __name__ == "__main__":
    unittest.main()
