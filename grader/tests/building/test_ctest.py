# SPDX-License-Identifier: MIT
"""building.ctest: how tests ended."""

import unittest
from pathlib import Path
from unittest import mock

from grader.base.proc import Done
from grader.building import ctest
from grader.tests.fake import FakeCheckout

SAID = """\
The following tests FAILED:
\t  1 - a.slow (Timeout)                                     quick
\t 12 - a.wrong (Failed)                                     quick
"""
JUNIT = """\
<testsuite><testcase name="a.slow" time="60.02" status="fail"><failure message=""/>
<system-out>begun
</system-out></testcase>
<testcase name="a.wrong" time="60.01" status="fail"><failure message=""/>
<system-out></system-out></testcase></testsuite>
"""


class Ended(FakeCheckout):
    def test_a_time_limit_is_a_reason(self) -> None:
        def follow(words: list[str | Path], *_: object, **__: object) -> Done:
            Path(words[words.index("--output-junit") + 1]).write_text(JUNIT, encoding="utf-8")
            return Done(8, SAID)

        with (
            mock.patch.object(ctest, "follow", follow),
            mock.patch.object(ctest, "require_configured"),
        ):
            ended = ctest.run(self.project, "")
        late = ended["a.slow"]
        self.assertFalse(late.passed)
        self.assertEqual(late.text, "begun\nstill running after 60 s, its time limit; ended")
        self.assertEqual(ended["a.wrong"].text, "")


if __name__ == "__main__":
    unittest.main()
