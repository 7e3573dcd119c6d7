# SPDX-License-Identifier: MIT
"""grader.commands.doctor: what it says of the node's own sandbox, and why one does not start."""

import unittest

from grader.commands.doctor import of_the_node
from grader.sandbox import SandboxError
from grader.sandbox.supervise import _check_started, _Watched


class OfTheNode(unittest.TestCase):
    def test_what_it_lacks_is_said(self) -> None:
        self.assertEqual(of_the_node(is_root=True, groups=True), [])
        for is_root in (False, True):
            for groups in (False, True):
                said = " ".join(of_the_node(is_root, groups))
                self.assertEqual("your user" in said, not is_root)
                self.assertEqual("limit of its own" in said, not groups)


class DoesNotStart(unittest.TestCase):
    def said(self, report: bytes, output: bytes) -> str:
        with self.assertRaises(SandboxError) as caught:
            _check_started(_Watched(bytearray(output), bytearray(report)), 1)
        return str(caught.exception)

    def test_what_bwrap_writes_goes_before_what_it_reports(self) -> None:
        said = self.said(b'{ "child-pid": 52 }', b"bwrap: Can't mount proc on /newroot/proc\n")
        self.assertIn("Can't mount proc", said)
        self.assertNotIn("child-pid", said)

    def test_what_the_jail_reports_goes_before_what_was_written(self) -> None:
        self.assertIn("no such folder", self.said(b"failed: no such folder\n", b"words\n"))
        self.assertIn("child-pid", self.said(b'{ "child-pid": 52 }', b""))


if __name__ == "__main__":
    unittest.main()
