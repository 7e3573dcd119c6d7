# SPDX-License-Identifier: MIT
"""grader.course.strip: the skeleton has what a learner needs, and never an answer."""

import unittest

from grader.course.strip import StripError, keep_todos, strip_solution
from grader.tests.fake import SKELETON, SOLUTION

TWO = """\
// BEGIN SOLUTION
static int shared(int x)
{
    return x;
}

template <typename T>
static __global__ void kernel(T *data)
{
    data[0] = 1;
}
// END SOLUTION

int first(int x)
{
    // BEGIN SOLUTION
    return shared(x);
    // END SOLUTION
    // STUB: TODO(1);
}

int second(int x)
{
    // BEGIN SOLUTION
    return 2 * shared(x);
    // END SOLUTION
    // STUB: (void)x;
    // STUB: TODO(2);
}
"""


class KeepSome(unittest.TestCase):
    """The file with which a submission is linked has the answers that its tests need, and no
    other."""

    def test_only_the_other_answers_go(self) -> None:
        text = keep_todos(TWO, "x.cu", frozenset({1}))
        self.assertNotIn("2 * shared", text)
        self.assertIn("    (void)x;\n    TODO(2);\n", text)
        self.assertIn("return shared(x);", text)
        self.assertIn("data[0] = 1;", text)

    def test_what_its_kernels_do_goes_and_helpers_stay(self) -> None:
        text = keep_todos(TWO, "x.cu", frozenset({2}))
        self.assertNotIn("data[0]", text)
        self.assertIn("static __global__ void kernel(T *data)\n{\n}\n", text)
        self.assertIn("return x;", text)
        self.assertIn("    TODO(1);", text)
        self.assertIn("2 * shared", text)

    def test_none_is_a_skeleton_with_helpers(self) -> None:
        text = keep_todos(TWO, "x.cu", frozenset())
        self.assertNotIn("return shared(x);", text)
        self.assertNotIn("2 * shared", text)
        self.assertNotIn("data[0]", text)

    def test_marks_must_fit_here_too(self) -> None:
        with self.assertRaises(StripError):
            keep_todos("// BEGIN SOLUTION\n", "x.c", frozenset())


class Strip(unittest.TestCase):
    def test_answer_goes_and_stub_stays_at_its_indentation(self) -> None:
        self.assertEqual(strip_solution(SOLUTION, "tiny.c"), SKELETON)

    def test_text_without_marks_is_unchanged(self) -> None:
        text = "a\n\n\n\nb  \n  // not a STUB\nEND"
        self.assertEqual(strip_solution(text, "x"), text)

    def test_one_of_two_blank_lines_around_an_answer_goes(self) -> None:
        text = "a\n\n// BEGIN SOLUTION\nx\n// END SOLUTION\n\nb\n"
        self.assertEqual(strip_solution(text, "x"), "a\n\nb\n")

    def test_other_comment_styles(self) -> None:
        text = "<!-- BEGIN SOLUTION -->\nx\n<!-- END SOLUTION -->\n<!-- STUB: y -->\n# STUB: z\n"
        self.assertEqual(strip_solution(text, "x"), "y\nz\n")

    def test_marks_without_partner_are_refused_with_their_line(self) -> None:
        for text, where in (
            ("a\n// BEGIN SOLUTION\n", "f.c:2"),
            ("// END SOLUTION\n", "f.c:1"),
            ("// BEGIN SOLUTION\n// BEGIN SOLUTION\n", "f.c:2"),
            ("// BEGIN SOLUTION\n// STUB: TODO(1);\n// END SOLUTION\n", "f.c:2"),
        ):
            with self.subTest(text), self.assertRaisesRegex(StripError, where):
                strip_solution(text, "f.c")


if __name__ == "__main__":
    unittest.main()
