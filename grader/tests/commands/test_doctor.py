# SPDX-License-Identifier: MIT
"""grader.commands.doctor: its report on the node's own sandbox."""

import unittest

from grader.commands.doctor import of_the_node


class OfTheNode(unittest.TestCase):
    def test_what_it_lacks_is_said(self) -> None:
        self.assertEqual(of_the_node(is_root=True, groups=True), [])
        for is_root in (False, True):
            for groups in (False, True):
                said = " ".join(of_the_node(is_root, groups))
                self.assertEqual("your user" in said, not is_root)
                self.assertEqual("limit of its own" in said, not groups)


if __name__ == "__main__":
    unittest.main()
