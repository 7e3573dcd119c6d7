# SPDX-License-Identifier: MIT
"""Kernels of other languages on two virtual GPUs: programs of languages/, each skipped where the
Python that runs this has no such package (pip install numba-cuda, triton, torch, cupy-cuda13x, or
cupy-cuda12x, which has Toolkit 12's runtime inside). Needs vgpu-run."""

import importlib.util
import pathlib
import re
import sys
import unittest

from rig import CC, HERE, Case, main

WANTED = {
    "cupy_kernels": (
        "cupy",
        "0 1998.0 [0. 0. 0. 0.]\n1 3996.0 [1. 1. 1. 1.]\n9990.0 4.995e+06 [1 1 1]\n",
    ),
    "numba_axpy": ("numba_cuda", "0 1998.0\n1 1999.0\n"),
    "torch_copies": (
        "torch",
        "2 True\ncuda:1 cuda:0 True 262144\nTrue 65535.0 [0.0, 0.0, 0.0]\n[1.0, 2.0, 3.0, 4.0]\n"
        "CUDA error: no kernel image is available for execution on the device\n",
    ),
    "triton_scale": ("triton", "0 1998.0\n1 2997.0\n"),
}
# The book's programs in CuPy: what they print on two GPUs; ZeRO with fewer parameters.
BOOK = HERE.parents[1] / "docs" / "book" / "real"
COMPANIONS = {
    "copy_cupy": "2 GPUs\na is on <CUDA Device 0>, b on <CUDA Device 1>, the same: True\n"
    "the sum over 2 GPUs: 140737479966720, expected 140737479966720\n",
    "allreduce_cupy": "2 GPUs, all right: True\n",
    "zero_cupy": r"100003 parameters, 2 GPUs, 3 steps moved 99\d{3} of them\n"
    r"bytes for each on GPU 0: 16.0\d unsharded, 10.0\d with a shard\n"
    r"bits unlike those of the unsharded steps: \[0, 0\] parameters on each GPU\n",
}


def is_here(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


class Languages(Case):
    def check(self, name: str) -> None:
        package, wanted = WANTED[name]
        self.check_program(package, HERE / "languages" / f"{name}.py", re.escape(wanted))

    def check_program(self, package: str, program: pathlib.Path, wanted: str) -> None:
        if not is_here(package):
            raise unittest.SkipTest(f"there is no {package} here")
        variables = (f"TRITON_CACHE_DIR={self.folder}", f"CUPY_CACHE_DIR={self.folder}")
        variables += ("CUPY_ACCELERATORS=",)
        words = ("env", *variables, CC.parent / "vgpu-run", sys.executable, "-W", "ignore", program)
        done = self.run_command(*words)
        self.assertRegex(done.stdout, rf"\A{wanted}\Z", done.stderr)

    def test_cupy(self) -> None:
        self.check("cupy_kernels")

    def test_the_books_programs_in_cupy(self) -> None:
        for name, wanted in COMPANIONS.items():
            with self.subTest(name=name):
                text = (BOOK / f"{name}.py").read_text("utf-8").replace("100_000_003", "100_003")
                self.check_program("cupy", self.write(f"{name}.py", text), wanted)

    def test_numba(self) -> None:
        self.check("numba_axpy")

    def test_torch(self) -> None:
        self.check("torch_copies")

    def test_triton(self) -> None:
        self.check("triton_scale")


if __name__ == "__main__":
    if not any(is_here(package) for package, _ in WANTED.values()):
        print("there is no CuPy, no Numba, no PyTorch and no Triton here")
        sys.exit(77)
    main()
