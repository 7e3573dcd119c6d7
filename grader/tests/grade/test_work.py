# SPDX-License-Identifier: MIT
"""What feedback says is the same in every run."""

import unittest

from grader.grade.work import without_host_addresses


class Addresses(unittest.TestCase):
    def test_a_programs_are_left_out(self) -> None:
        for at in ("0x55d0c0ffee00", "0x7ffe12345678", "0xaaaadeadbeef", "0xffffa1b2c3d4"):
            self.assertEqual(without_host_addresses(f"at {at}, read"), "at 0x..., read")

    def test_a_gpus_are_not(self) -> None:
        for at in ("0x200000000000", "0x340000001000", "0x7f", "0xaaaadeadbeef0"):
            self.assertEqual(without_host_addresses(at), at)


if __name__ == "__main__":
    unittest.main()
