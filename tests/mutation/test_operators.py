# SPDX-License-Identifier: MIT
"""Which mutants are made of a small file, and which not."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from operators import mutants

HEADER = "enum { FILLED, DRAINED };\n"
SOURCE = """\
#include "lab99.h"
int given(int a) { return a + 1; } /* not the learner's */
int put(struct ring *ring, size_t bytes, size_t room, int *out)
{
    // TODO(3): put it there.
    // BEGIN SOLUTION
    int rc = LAB_OK;
    if (!ring || bytes > room)
        return LAB_EINVAL;
    for (int i = 0; i < 2 && !rc; i++)
        rc = ring_result(ring, cudaEventRecord(ring->event[FILLED], ring->stream));
    copy(bytes, room);
    *out = rc;
    return rc;
    // END SOLUTION
    // STUB: TODO(3);
}
"""


class Operators(unittest.TestCase):
    def setUp(self) -> None:
        self.made = mutants(SOURCE, HEADER)

    def becomes(self, operator: str) -> list[str]:
        return [one.becomes for one in self.made if one.operator == operator]

    def test_only_the_solutions_passages_change(self) -> None:
        for one in self.made:
            self.assertIn("int given(int a) { return a + 1; } /* not the learner's */", one.text)
            self.assertIn("// STUB: TODO(3);", one.text)
            self.assertEqual(one.todo, 3)

    def test_no_two_are_the_same(self) -> None:
        self.assertEqual(len({one.text for one in self.made}), len(self.made))

    def test_a_line_and_a_key(self) -> None:
        (one,) = (one for one in self.made if one.key == "*out = rc; => ;")
        self.assertEqual((one.line, one.operator), (13, "delete_statement"))

    def test_statements(self) -> None:
        self.assertEqual(self.becomes("delete_statement").count(";"), 5)

    def test_error_checks(self) -> None:
        self.assertEqual(
            self.becomes("change_condition"),
            ["if (!(!ring || bytes > room))", "if ((!ring || bytes > room), 0)"],
        )

    def test_operators(self) -> None:
        self.assertEqual(
            self.becomes("replace_operator"),
            [
                "if (!ring && bytes > room)",
                "if (!ring || bytes >= room)",
                "for (int i = 0; i <= 2 && !rc; i++)",
                "for (int i = 0; i < 2 || !rc; i++)",
            ],
        )

    def test_a_wait_is_left_out(self) -> None:
        self.assertEqual(self.becomes("skip_call"), ["rc = ring_result(ring, cudaSuccess);"])

    def test_arguments_of_one_kind_change_places(self) -> None:
        self.assertIn("copy(room, bytes);", self.becomes("swap_arguments"))

    def test_sizes_lose_their_upper_half(self) -> None:
        self.assertEqual(
            self.becomes("narrow_value"),
            ["copy((size_t)(int)bytes, room);", "copy(bytes, (size_t)(int)room);"],
        )

    def test_names(self) -> None:
        names = self.becomes("replace_name")
        self.assertIn("if (!ring || room > room)", names)
        self.assertIn("return LAB_ENOGPU;", names)
        self.assertIn(
            "rc = ring_result(ring, cudaEventRecord(ring->event[DRAINED], ring->stream));", names
        )


if __name__ == "__main__":
    unittest.main()
