# SPDX-License-Identifier: MIT
"""bench/kernels with tiny sizes: test_kernels.py PROGRAM. Every kernel computes the same in both
forms; a peer that computes something else is named, and one that is not here, too."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import compare

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
NVCC = pathlib.Path("/usr/local/cuda/bin/nvcc")


class Kernels(unittest.TestCase):
    def test_every_kernel_runs_in_both_forms(self) -> None:
        here = pathlib.Path(__file__).parent
        done = subprocess.run(
            [sys.executable, here / "compare.py", "--tiny", "--careful", "--rounds", "1", PROGRAM],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[2:]}
        for kernel in compare.KERNELS:
            self.assertTrue(all(float(word) >= 0 for word in rows[kernel][1:5]), rows[kernel])
        self.assertIn(
            f"HIP-CPU is not here: git clone {'https://github.com/ROCm/HIP-CPU'}", done.stdout
        )

    @unittest.skipIf(not (shutil.which("nvcc") or NVCC.exists()), "there is no nvcc here")
    def test_the_same_compiled_by_nvcc(self) -> None:
        here = pathlib.Path(__file__).parent
        vgpu_run = PROGRAM.parent.parent.parent / "bin" / "vgpu-run"
        options = ["--tiny", "--rounds", "1", "--vgpu-run", vgpu_run]
        done = subprocess.run(
            [sys.executable, here / "compare.py", *options, PROGRAM, "saxpy", "tree", "scan"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(
            done.stdout, r"compiled by nvcc over vgpu-cc, wall time: geometric mean \d"
        )

    def test_the_same_without_counts(self) -> None:
        here = pathlib.Path(__file__).parent
        vgpu_cc = PROGRAM.parent.parent.parent / "bin" / "vgpu-cc"
        options = ["--tiny", "--rounds", "1", "--uncounted", vgpu_cc]
        done = subprocess.run(
            [sys.executable, here / "compare.py", *options, PROGRAM, "saxpy", "product"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"with counts over without, .*: geometric mean \d")

    def test_a_wrong_result_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder, "wrong")
            wrong.write_text("#!/bin/sh\nprintf '%s\\t1\\t1\\t7\\n' $2\n")
            wrong.chmod(0o755)
            program = (
                "import sys, compare; sys.exit(compare.compare({'here': [sys.argv[1], '--tiny'], "
                "'PoCL': [sys.argv[2], '--tiny']}, ['scan'], 1))"
            )
            done = subprocess.run(
                [sys.executable, "-c", program, PROGRAM, wrong],
                cwd=pathlib.Path(__file__).parent,
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("scan: PoCL has computed something else", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
