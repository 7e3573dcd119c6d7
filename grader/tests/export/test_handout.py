# SPDX-License-Identifier: MIT
"""./lab handout refuses files that must not be published; tests/grading/test_handout.py makes real
ones"""

import unittest

from grader.base.exits import LabError
from grader.export.handout import check

PLACES = {b"/home/teacher/peerlab"}


class Check(unittest.TestCase):
    def refused(self, name: str, data: bytes) -> str:
        with self.assertRaises(LabError) as caught:
            check({name: (data, 0o644)}, PLACES)
        return str(caught.exception)

    def test_objects_name_no_place_of_this_machine(self) -> None:
        data = b"\x7fELF\0/home/teacher/peerlab/vgpu/include/host_defines.h\0"
        said = self.refused("reference/x86_64/01-enumerate.o", data)
        self.assertIn("01-enumerate.o holds a path of this machine; nothing was written", said)

    def test_no_solutions_and_no_hidden_tests(self) -> None:
        said = self.refused("labs/01-enumerate/x.c", b"// BEGIN SOLUTION(1)")
        self.assertIn("must not be handed out", said)
        self.assertIn("must not be", self.refused("labs/01-enumerate/tests/hidden.c", b""))

    def test_all_else_may(self) -> None:
        text = b"# built in /home/teacher/peerlab-of-old"
        check({"README.md": (text, 0o644), "reference/x86_64/01.o": (b"\x7fELF", 0o644)}, PLACES)


if __name__ == "__main__":
    unittest.main()
