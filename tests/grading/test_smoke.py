# SPDX-License-Identifier: MIT
"""A class of two: what is not written gets no points, and a mistake costs those of its test. A
submission finds the headers that it found at home."""

import re
import unittest

from classroom import PROJECT, Classroom, mutant, skeleton, solution


class Smoke(Classroom):
    def test_two_submissions(self) -> None:
        self.hand_in("ada", "01", skeleton("01"))
        self.hand_in("ben", "01", mutant("01", "device_clock_in_khz"))
        self.grade(self.folder / "class", "--seed", "1")
        rows = self.rows()
        self.assertEqual((rows["ada"]["status"], rows["ada"]["mark"]), ("not written", 0))
        self.assertTrue(0 < rows["ben"]["mark"] < 100, rows["ben"]["mark"])

    def test_thrust(self) -> None:
        """That of ./lab start --cccl, and not one that the CUDA Toolkit has, too."""
        header = PROJECT.cccl / "nvidia/cuda_cccl/include/thrust/version.h"
        if not header.is_file():
            self.skipTest("CCCL is not here: ./lab start --cccl installs it")
        (version,) = re.findall(r"#define THRUST_VERSION (\d+)", header.read_text())
        asks = f'#include <thrust/version.h>\nstatic_assert(THRUST_VERSION == {version}, "");\n'
        self.hand_in("cy", "04", asks + solution("04"))
        self.grade(self.folder / "class", "--seed", "1")
        self.assertEqual(self.rows()["cy"]["mark"], 100)


if __name__ == "__main__":
    unittest.main()
