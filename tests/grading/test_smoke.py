# SPDX-License-Identifier: MIT
"""A class of two: what is not written gets no points, and a mistake costs those of its test."""

import unittest

from classroom import Classroom, mutant, skeleton


class Smoke(Classroom):
    def test_two_submissions(self) -> None:
        self.hand_in("ada", "01", skeleton("01"))
        self.hand_in("ben", "01", mutant("01", "device_clock_in_khz"))
        self.grade(self.folder / "class", "--seed", "1")
        rows = self.rows()
        self.assertEqual((rows["ada"]["status"], rows["ada"]["mark"]), ("not written", 0))
        self.assertTrue(0 < rows["ben"]["mark"] < 100, rows["ben"]["mark"])


if __name__ == "__main__":
    unittest.main()
