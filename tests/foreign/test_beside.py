# SPDX-License-Identifier: MIT
"""What two builds print is compared to the last digit, except for what depends on time; kept wrong
outputs are told."""

import json
import pathlib
import tempfile
import unittest

import beside

RIGHT = (
    "Size = {size}, sum 0.125\nkernel took {time} ms ({rate} GB/s)\nrank 0: 7\nrank 1: 9\n"
    "8 2 float {time} {rate} 0\n512 128 half {time} 0.01 0\nPASSED\n"
)


def output(text: str = RIGHT, files: dict | None = None, **more: object) -> beside.Output:
    values = {"size": 512, "time": 1.5, "rate": 20} | more
    return beside.Output(text.format(**values).encode(), b"", files or {})


class Beside(unittest.TestCase):
    nvcc = (output(), output(time=4, rate=7.5))

    def unlike(self, *ours: beside.Output, in_order: bool = True) -> list[str]:
        return list(map(str, beside.unlike(list(self.nvcc), list(ours), in_order)))

    def test_the_same(self) -> None:
        self.assertEqual(beside.unlike([output()], [output()]), [])
        self.assertEqual(self.unlike(output(time=1.6, rate=19), output(time=9, rate=3)), [])

    def test_times_are_told_apart_by_another_run_only(self) -> None:
        self.assertEqual(len(beside.unlike([output()], [output(time=2)])), 3)

    def test_a_row_of_a_table_has_the_times_of_the_others(self) -> None:
        ours = RIGHT.replace("0.01 0\n", "0.02 0\n")
        self.assertEqual(self.unlike(output(ours), output(ours, time=4)), [])

    def test_wrong_outputs(self) -> None:
        """A changed digit, also where another line's time stands; a line that is missing, or one
        too many; another word; a time that is no number; ranks with each other's numbers."""
        for before, after, told in (
            ("0.125", "0.126", "stdout: Size = 512, sum 0.125 (nvcc), Size = 512, sum 0.126"),
            ("{size}", "513", "sum 0.125 (nvcc), Size = 513,"),
            ("{rate} 0\n", "{rate} 1\n", "8 2 float 1.5 20 0 (nvcc), 8 2 float 1.5 20 1 (vgpu-cc)"),
            ("PASSED\n", "", "PASSED (nvcc), no more lines (vgpu-cc)"),
            ("PASSED\n", "PASSED\nPASSED\n", "no more lines (nvcc), PASSED (vgpu-cc)"),
            ("PASSED", "FAILED", "PASSED (nvcc), FAILED (vgpu-cc)"),
            ("{time} ms", "nan ms", "kernel took 1.5 ms (20 GB/s) (nvcc), kernel took nan ms"),
            ("rank 0: 7\nrank 1: 9", "rank 0: 9\nrank 1: 7", "rank 0: 7 (nvcc), rank 0: 9"),
        ):
            with self.subTest(before=before):
                text = RIGHT.replace(before, after)
                ours = [output(text), output(text, time=4)]
                self.assertIn(told, "\n".join(self.unlike(*ours)))
                self.assertTrue(self.unlike(*ours, in_order=False))

    def test_what_changes_in_one_build_only(self) -> None:
        """Wrong in one of two runs, which is not for the time's sake."""
        text = RIGHT.replace("0.125", "0.126")
        for ours in ([output(text), output(time=4)], [output(), output(text, time=4)]):
            self.assertEqual(bool(self.unlike(*ours)), ours[0] != self.nvcc[0])

    def test_a_line_that_has_moved_does_not_depend_on_time(self) -> None:
        moved = output(RIGHT.replace("rank 0: 7\nrank 1: 9", "rank 1: 9\nrank 0: 7"), time=3)
        wrong = output(RIGHT.replace("rank 0: 7", "rank 0: 8"))
        found = beside.unlike([output(), moved], [wrong, output(time=3)])
        self.assertIn("rank 0: 7 (nvcc), rank 0: 8 (vgpu-cc)", "\n".join(map(str, found)))
        self.assertNotEqual(beside.unlike([output()] * 2, [moved] * 2), [])
        self.assertEqual(beside.unlike([output(), moved], [moved, output()], in_order=False), [])

    def test_files(self) -> None:
        with_file = [output(files={"a.txt": b"3 4\n", "b": b"\0\1"})] * 2
        for files, told in (
            ({"a.txt": b"3 4\n"}, "b: written (nvcc), not written (vgpu-cc)"),
            ({"a.txt": b"3 5\n", "b": b"\0\1"}, "a.txt: 3 4 (nvcc), 3 5 (vgpu-cc)"),
            ({"a.txt": b"3 4\n", "b": b"\0\2"}, "b: 2 bytes (nvcc), 2 bytes, 1 others (vgpu-cc)"),
        ):
            with self.subTest(told=told):
                found = beside.unlike(with_file, [output(files=files)] * 2)
                self.assertEqual(list(map(str, found)), [told])
        self.assertEqual(beside.unlike(with_file, with_file), [])

    def test_numbers(self) -> None:
        tokens = beside.TOKEN.findall("x[3]=-1.5e-07, 0x1f ms/2 a4 7aX/ 2e5 1.5ms 1.2.3 5.")
        wanted = "x [ 3 ] = -1.5e-07 , 0x1f ms / 2 a4 7aX / 2e5 1.5 ms 1.2 . 3 5 ."
        self.assertEqual(tokens, wanted.split())
        kinds = [token for token in tokens if beside.kind(token) == "a number"]
        self.assertEqual(kinds, ["3", "-1.5e-07", "0x1f", "2", "2e5", "1.5", "1.2", "3", "5"])

    def test_the_other_node(self) -> None:
        """Every rate and latency is another, no two by the same factor; all else is as it was."""
        with tempfile.TemporaryDirectory() as folder:
            path = beside.other_node("hgx-h200-4", pathlib.Path(folder))
            other = json.loads(path.read_text())
        node = json.loads((beside.NODES / "hgx-h200-4.json").read_text())
        part = json.loads((beside.NODES / "parts/h200.json").read_text())
        self.assertEqual(other["gpus"], node["gpus"])
        factors = set()
        for name, value in node["calls"].items():
            factors.add(round(other["calls"][name] / value, 6))
        self.assertEqual(len(factors), len(node["calls"]))
        self.assertNotIn(1, factors)
        changed = {name for name in part if other["parts"]["h200"][name] != part[name]}
        self.assertEqual(changed, {"memory_gbs", "processor"})
        self.assertLess(other["parts"]["h200"]["processor"]["slots"], part["processor"]["slots"])


if __name__ == "__main__":
    unittest.main()
