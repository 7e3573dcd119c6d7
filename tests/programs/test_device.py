# SPDX-License-Identifier: MIT
"""What device code may be written with, a program for each subject: each compiles unchanged (as
C++17; with PEERLAB_FULL=1 also without any option, and with nvcc where there is one) and checks its
own answers."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv[1])
DEVICE = pathlib.Path(__file__).parent / "device"
FULL = "PEERLAB_FULL" in os.environ
WAYS = (*(((),) if FULL else ()), ("-std=c++17", "-O2"))
NVCC = FULL and shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
NODES = {"managed_variables": ("single", "hgx-h200-4"), "grid": ("single", "pcie-4090-2")}


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


class Device(unittest.TestCase):
    """One test a program: made below."""

    def check(self, source: pathlib.Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/{source.stem}"
            for options in WAYS:
                built = run(BIN / "vgpu-cc", "--extended-lambda", *options, "-o", program, source)
                self.assertEqual((built.returncode, built.stderr), (0, ""))
            for node in NODES.get(source.stem, ("hgx-h200-4",)):
                done = run(program, VGPU_NODE=node, VGPU_NODE_ID=f"device-{os.getpid()}-{node}")
                said = f"{node}: {done.stdout}{done.stderr}"
                self.assertEqual((done.returncode, done.stderr), (0, ""), said)
                self.assertIn("PASS", done.stdout, said)
            if NVCC:
                options = ("-std=c++17", "-arch=sm_90", "--extended-lambda", "-w", "-c")
                built = run(NVCC, *options, "-o", f"{folder}/nvcc.o", source)
                self.assertEqual(built.returncode, 0, f"nvcc: {built.stdout}{built.stderr}")


def add_tests() -> None:
    for source in sorted(DEVICE.glob("*.cu")):
        setattr(Device, f"test_{source.stem}", lambda self, source=source: self.check(source))


add_tests()
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
