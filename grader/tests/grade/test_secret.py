# SPDX-License-Identifier: MIT
"""What a submission's GPUs work on is drawn for it alone, and not from what programs find out."""

import unittest

from grader.grade.work import PUBLIC_SEEDS, SEED_BITS, secret_of


class Secret(unittest.TestCase):
    def test_the_same_submission_has_the_same(self) -> None:
        self.assertEqual(secret_of(7, b"a"), secret_of(7, b"a"))
        self.assertLess(int(secret_of(7, b"a")), 1 << 64)

    def test_another_submission_has_another(self) -> None:
        self.assertNotEqual(secret_of(7, b"a"), secret_of(7, b"b"))

    def test_the_seed_of_the_inputs_does_not_tell_it(self) -> None:
        other = 7 + (1 << (SEED_BITS - 1))
        self.assertEqual(7, other % PUBLIC_SEEDS)
        self.assertNotEqual(secret_of(7, b"a"), secret_of(other, b"a"))


if __name__ == "__main__":
    unittest.main()
