# SPDX-License-Identifier: MIT
"""nvcc takes every program in valid/, so that the dialect here is CUDA's. Without nvcc: skipped."""

import sys

from rig import HERE, NVCC, Case, main, run


class Nvcc(Case):
    def test_valid_programs(self) -> None:
        for program in sorted((HERE / "valid").glob("*.cu")):
            with self.subTest(program=program.name):
                done = run(
                    [
                        NVCC,
                        "-std=c++17",
                        "-arch=sm_80",
                        "-w",
                        "-c",
                        program,
                        "-o",
                        self.folder / "x.o",
                    ],
                    self.folder,
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if NVCC is None:
        print("there is no nvcc here")
        sys.exit(77)
    main()
