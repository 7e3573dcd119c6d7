# SPDX-License-Identifier: MIT
"""Which mutants are made of a small file, and which not."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from operators import mutants
from run import Fate, arguments, is_surprise, known, made_of, reported, sampled, unknown_keys

from grader.course.project import here

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
            self.assertEqual(one.todos, {3})

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
            [
                "if (!(!ring || bytes > room))",
                "if ((!ring || bytes > room), 0)",
                "for (int i = 0; 0; i++)",
            ],
        )

    def test_one_of_several_conditions_is_not_asked(self) -> None:
        self.assertEqual(
            self.becomes("drop_operand"),
            [
                "if (!ring)",
                "if (bytes > room)",
                "for (int i = 0; i < 2; i++)",
                "for (int i = 0; !rc; i++)",
            ],
        )

    def test_operators(self) -> None:
        self.assertEqual(
            self.becomes("replace_operator"),
            [
                "if (!ring && bytes > room)",
                "if (!ring || bytes >= room)",
                "if (!ring || bytes <= room)",
                "for (int i = 0; i <= 2 && !rc; i++)",
                "for (int i = 0; i >= 2 && !rc; i++)",
                "for (int i = 0; i < 2 || !rc; i++)",
                "for (int i = 0; i < 2 && !rc; i--)",
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


SECOND = """\
static int open_one(struct ring *ring, int *gpu, int n)
{
    // TODO(4): open it.
    // BEGIN SOLUTION
    int rc = open_other(ring, n > 3u ? gpu[n] : 0x10);
    double share = 0.5;
    if (rc)
        return rc;
    use(ring->first, ring->stream);
    if (n > 2 && -n < 7)
        break;
    cudaSetDevice(gpu[n - 1]);
    run<<<1, 32, 0, ring->stream>>>(rc, share);
    return rc;
    // END SOLUTION
    // STUB: TODO(4);
}
"""
SECOND_HEADER = """\
struct ring {
    int n, size[4]; /* of each */
    cudaEvent_t first, last;
    cudaStream_t stream;
};
int open_other(struct ring *ring, int n);
"""


class MoreOperators(unittest.TestCase):
    def setUp(self) -> None:
        self.made = mutants(SECOND, SECOND_HEADER)

    def becomes(self, operator: str) -> list[str]:
        return [one.becomes for one in self.made if one.operator == operator]

    def test_only_the_solutions_passages_change(self) -> None:
        self.assertEqual({one.todos for one in self.made}, {frozenset({4})})

    def test_branches(self) -> None:
        (line,) = self.becomes("swap_branches")
        self.assertIn("n > 3u ? 0x10 : gpu[n]", line)

    def test_constants(self) -> None:
        lines = "".join(self.becomes("change_constant"))
        for one in ("n > 4u", "n > 2u", ": 17)", ": 15)", "share = (1 + 0.5)"):
            self.assertIn(one, lines)

    def test_the_next_element(self) -> None:
        lines = "".join(self.becomes("off_by_one"))
        self.assertIn("gpu[n + 1]", lines)
        self.assertIn("gpu[n - 1 + 1]", lines)

    def test_calls_of_functions_with_a_result(self) -> None:
        self.assertIn("int rc = LAB_OK;", self.becomes("skip_call"))
        self.assertIn("cudaSuccess;", self.becomes("skip_call"))

    def test_fields_of_one_type(self) -> None:
        self.assertEqual(self.becomes("replace_field"), ["use(ring->last, ring->stream);"])

    def test_default_stream_and_gpu(self) -> None:
        lines = self.becomes("use_default")
        self.assertEqual(
            lines,
            [
                "use(ring->first, 0);",
                "cudaSetDevice(0);",
                "run<<<1, 32, 0, 0>>>(rc, share);",
            ],
        )

    def test_a_result_is_lost(self) -> None:
        self.assertEqual(self.becomes("lose_result"), ["return LAB_OK;", "return LAB_OK;"])

    def test_two_of_the_same_lines_have_two_keys(self) -> None:
        keys = [one.key for one in self.made if one.operator == "lose_result"]
        self.assertEqual(keys, ["return rc; => return LAB_OK;", "return rc; => return LAB_OK; #2"])

    def test_jumps_move(self) -> None:
        self.assertEqual(
            self.becomes("move_jump"),
            [
                "use(ring->first, ring->stream); if (rc) return rc;",
                "if (n > 2 && -n < 7) break; use(ring->first, ring->stream);",
                "cudaSetDevice(gpu[n - 1]); if (n > 2 && -n < 7) break;",
            ],
        )

    def test_signs(self) -> None:
        self.assertEqual(self.becomes("drop_negation"), ["if (n > 2 && n < 7)"])


HELPED = """\
// BEGIN SOLUTION
static int deep(int a)
{
    return a + 1;
}
// END SOLUTION
// BEGIN SOLUTION
static int helper(int a)
{
    return deep(a) * 2;
}
// END SOLUTION
int one(int a)
{
    // TODO(1): one.
    // BEGIN SOLUTION
    return helper(a);
    // END SOLUTION
}
int two(int a)
{
    // TODO(2): two.
    // BEGIN SOLUTION
    return a < 2;
    // END SOLUTION
}
int three(int a)
{
    // TODO(3), bonus: three.
    //   before: as TODO(2)
    // BEGIN SOLUTION
    return helper(deep(a));
    // END SOLUTION
}
"""


class Helpers(unittest.TestCase):
    def test_a_helpers_tasks_are_those_of_its_callers(self) -> None:
        todos = {one.line: set(one.todos) for one in mutants(HELPED, "")}
        self.assertEqual(todos[4], {1, 3})
        self.assertEqual(todos[10], {1, 3})
        self.assertEqual((todos[17], todos[24], todos[32]), ({1}, {2}, {3}))


class Shares(unittest.TestCase):
    def test_parts_are_the_whole(self) -> None:
        made = mutants(HELPED, "")
        parts = [sampled(made, arguments(["--part", f"{k}/3"])) for k in (1, 2, 3)]
        self.assertEqual(sorted(one.key for part in parts for one in part),
                         sorted(one.key for one in made))  # fmt: skip


class Lists(unittest.TestCase):
    """What lists/ says is of the solutions as they are."""

    def test_every_entry_is_a_mutant_and_equivalent(self) -> None:
        project = here()
        for lab in project.labs():
            made, reasons = made_of(project, lab), known(lab)
            with self.subTest(lab=lab.name):
                self.assertGreater(len(reasons), 0)
                self.assertEqual(unknown_keys(made, reasons), [])
                self.assertEqual([k for k, why in reasons.items() if "equivalent: " not in why], [])
                self.assertEqual(reported().get(lab.name, {}).get("made"), len(made))

    def test_other_lines_are_no_mutant(self) -> None:
        made = mutants(HELPED, "")
        reasons = {one.key: "equivalent: it is" for one in made}
        self.assertEqual(unknown_keys(made, reasons), [])
        other = f"{made[0].key} #9"
        self.assertEqual(unknown_keys(made, {**reasons, other: "equivalent: it is"}), [other])

    def test_what_is_listed_and_seen_is_a_surprise(self) -> None:
        one = mutants(HELPED, "")[0]
        listed = {one.key: "equivalent: it is"}
        for state, as_listed, as_other in (
            ("survived", False, True),
            ("broken", False, True),
            ("public", True, False),
            ("hidden", True, False),
            ("same code", False, False),
        ):
            with self.subTest(state=state):
                self.assertEqual(is_surprise(Fate(one, state), listed), as_listed)
                self.assertEqual(is_surprise(Fate(one, state), {}), as_other)


if __name__ == "__main__":
    unittest.main()
