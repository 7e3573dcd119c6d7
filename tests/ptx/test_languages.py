# SPDX-License-Identifier: MIT
"""Kernels of other languages on two virtual GPUs: programs of languages/, each skipped where the
Python that runs this has no such package (pip install numba-cuda, triton, cupy-cuda13x, or
cupy-cuda12x, which has Toolkit 12's runtime inside). Needs vgpu-run."""

import importlib.util
import sys
import unittest

from rig import CC, HERE, Case, main

WANTED = {
    "cupy_kernels": (
        "cupy",
        "0 1998.0 [0. 0. 0. 0.]\n1 3996.0 [1. 1. 1. 1.]\n9990.0 4.995e+06 [1 1 1]\n",
    ),
    "numba_axpy": ("numba_cuda", "0 1998.0\n1 1999.0\n"),
    "triton_scale": ("triton", "0 1998.0\n1 2997.0\n"),
}


def is_here(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


class Languages(Case):
    def check(self, name: str) -> None:
        package, wanted = WANTED[name]
        if not is_here(package):
            raise unittest.SkipTest(f"there is no {package} here")
        variables = (f"TRITON_CACHE_DIR={self.folder}", f"CUPY_CACHE_DIR={self.folder}")
        variables += ("CUPY_ACCELERATORS=",)
        program = HERE / "languages" / f"{name}.py"
        words = ("env", *variables, CC.parent / "vgpu-run", sys.executable, "-W", "ignore", program)
        done = self.run_command(*words)
        self.assertEqual(done.stdout, wanted, done.stderr)

    def test_cupy(self) -> None:
        self.check("cupy_kernels")

    def test_numba(self) -> None:
        self.check("numba_axpy")

    def test_triton(self) -> None:
        self.check("triton_scale")


if __name__ == "__main__":
    if not any(is_here(package) for package, _ in WANTED.values()):
        print("there is no CuPy, no Numba and no Triton here")
        sys.exit(77)
    main()
