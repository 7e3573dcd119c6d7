# SPDX-License-Identifier: MIT
"""nvcc takes the programs in valid/, so that the dialect here is CUDA's. Without nvcc: skipped;
all of them with PEERLAB_FULL=1, else those with most forms."""

import sys

from rig import FULL, HERE, NVCC, Case, main, run


class Nvcc(Case):
    def test_valid_programs(self) -> None:
        names = {path.stem: path for path in (HERE / "valid").glob("*.cu")}
        del names["older"]  # CUDA 12's names, which nvcc 13 has no more
        programs = sorted(names.values())
        if not FULL:
            programs = [path for path in programs if path.stem in ("idioms", "device_code")]
        for program in programs:
            with self.subTest(program=program.name):
                done = run(
                    [
                        NVCC,
                        "-std=c++17",
                        "-arch=sm_90",
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
