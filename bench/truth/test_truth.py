# SPDX-License-Identifier: MIT
"""truth.py reports when the table is out of date, and when its errors are too large: with programs
that print what a test needs. The rounds of predictions are compared with the right machine."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TRUTH = Path(__file__).with_name("truth.py")
sys.path.insert(0, str(TRUTH.parent))

import nccl  # noqa: E402
import rounds  # noqa: E402

CSV = "# 2 x GPU, driver 1\nfigure,recorded,modelled\na.b.us,10,9\na.c[0;1].gbs,20,21\n"


class Truth(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = Path(folder.name)
        self.csv = self.bin / "rows.csv"

    def run_with(self, printed: str, csv: str = CSV, *words: str) -> tuple[int, str]:
        program = self.bin / "truth-copies"
        program.write_text(f"#!/bin/sh\ncat <<'E'\n{printed}E\n", encoding="utf-8")
        program.chmod(0o755)
        self.csv.write_text(csv, encoding="utf-8")
        command = [sys.executable, TRUTH, self.bin, self.csv, *(words or ("--check", "copies"))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_what_the_csv_says_is_right(self) -> None:
        status, text = self.run_with("a.b.us 9\na.c[0,1].gbs 21\n")
        self.assertEqual(status, 0, text)
        self.assertIn("2 figures, median error 7.5%, 2 within 10 %", text)

    def test_another_value_is_told(self) -> None:
        status, text = self.run_with("a.b.us 9.2\n")
        self.assertEqual(status, 1)
        self.assertIn("a.b.us is 9.2, the CSV says 9: --update", text)

    def test_a_figure_nobody_recorded_is_told(self) -> None:
        status, text = self.run_with("a.d.us 1\n")
        self.assertEqual(status, 1)
        self.assertIn("a.d.us is not in the CSV: record it on real GPUs", text)

    def test_a_model_that_is_far_off_fails(self) -> None:
        status, text = self.run_with("a.b.us 5\n", CSV.replace("10,9", "10,5").replace("21", "10"))
        self.assertEqual(status, 1)
        self.assertIn("median error 50.0%", text)

    def test_another_node_answers(self) -> None:
        says = '#!/bin/sh\necho "a.b.us $(test "$VGPU_NODE" = ./own.json && echo 12 || echo 9)"\n'
        (self.bin / "truth-copies").write_text(says, encoding="utf-8")
        (self.bin / "truth-copies").chmod(0o755)
        self.csv.write_text(CSV, encoding="utf-8")
        command = [sys.executable, TRUTH, self.bin, self.csv, "--check", "copies", "--node"]
        for node, error in (("./own.json", "+20.0%"), ("hgx-h200-4", "-10.0%")):
            done = subprocess.run(
                [*command, node], capture_output=True, text=True, timeout=60, check=False
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(error, done.stdout)
            self.assertIn("1 figures, median error", done.stdout)
        self.assertEqual(self.csv.read_text(encoding="utf-8"), CSV)

    def test_another_machine_beside(self) -> None:
        other = self.bin / "other.csv"
        other.write_text(CSV.replace("a.b.us,10", "a.b.us,15"), encoding="utf-8")
        status, text = self.run_with("", CSV, "--beside", str(other))
        self.assertEqual(status, 0, text)
        self.assertIn("+50.0%", text)
        self.assertIn("2 figures, median error 25.0%, 1 within 10 %", text)

    def test_medians_of_several_recordings(self) -> None:
        others = [self.bin / "one.csv", self.bin / "two.csv"]
        for other, recorded in zip(others, ("12", "15"), strict=True):
            text = CSV.replace("a.b.us,10", f"a.b.us,{recorded}")
            other.write_text(text, encoding="utf-8")
        status, text = self.run_with("", CSV, "--medians", *map(str, others))
        self.assertEqual(status, 0, text)
        self.assertIn("the medians of 3 recordings", text)
        self.assertRegex(text, r"a\.b\.us +9 +12 +-25\.0%")

    def test_a_program_that_fails_is_told(self) -> None:
        (self.bin / "truth-copies").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        (self.bin / "truth-copies").chmod(0o755)
        self.csv.write_text(CSV, encoding="utf-8")
        command = [sys.executable, TRUTH, self.bin, self.csv, "--check", "copies"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("truth-copies ended with 3", done.stderr)


class Rounds(unittest.TestCase):
    """rounds.py compares what was predicted with what a machine said, and overwrites neither."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        text = "# predicted 2000-01-01\nfigure,hgx-h200-4,dgx-h100\na.us,9,20\nb.us,10,30\n"
        (self.folder / "07-predicted.csv").write_text(text, encoding="utf-8")

    def shown(self) -> str:
        command = [sys.executable, TRUTH.with_name("rounds.py"), self.folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    def measured(self, machine: str) -> None:
        text = f"# {machine}\nfigure,measured\na.us,10\nb.us,8\n"
        (self.folder / "07-measured-h200.csv").write_text(text, encoding="utf-8")

    def test_a_round_that_waits(self) -> None:
        self.assertIn("round 07: predicted 2000-01-01\nnot measured yet", self.shown())

    def test_errors_are_those_of_the_cards_node(self) -> None:
        self.measured("2 x NVIDIA H200, driver 1, measured 2000-01-02")
        text = self.shown()
        self.assertRegex(text, r"b.us +10 +8 +\+25.0%\na.us +9 +10 +-10.0%\n")
        self.assertIn("2 figures, median error 17.5%, 1 within 10 %, worst 25.0%", text)

    def test_a_card_without_a_node_is_told(self) -> None:
        self.measured("2 x NVIDIA B200, driver 1")
        self.assertIn(
            '"2 x NVIDIA B200, driver 1" names none of the cards H200, H100', self.shown()
        )

    def test_no_file_is_overwritten(self) -> None:
        path = self.folder / "07-predicted.csv"
        with self.assertRaises(FileExistsError):
            rounds.write(path, rounds.read(path))


class Collectives(unittest.TestCase):
    """nccl.py tells which collectives are too far off what was recorded."""

    def setUp(self) -> None:
        self.name = "nccl.all_reduce.4.graph.{}.us"
        self.recorded = {self.name.format(size): 10.0 for size in (8, 16, 32)}

    def test_small_errors_pass(self) -> None:
        found = dict.fromkeys(self.recorded, 10.4)
        self.assertEqual(nccl.complaints(found, self.recorded), [])
        self.assertIn("all_reduce, 4 GPUs, graph", nccl.table(found, self.recorded, ["graph"])[1])

    def test_one_size_far_off_is_told(self) -> None:
        found = self.recorded | {self.name.format(16): 7.4}
        told = nccl.complaints(found, self.recorded)
        self.assertEqual(told[0], "nccl.all_reduce.4.graph.16.us: 7.4, recorded 10")

    def test_a_mean_too_large_is_told(self) -> None:
        found = dict.fromkeys(self.recorded, 10.6)
        told = nccl.complaints(found, self.recorded)
        self.assertEqual(told, ["all_reduce on 4 GPUs: mean error 6.0%, at most 5%"])

    def test_calls_are_not_limited(self) -> None:
        name = self.name.replace("graph", "calls").format(8)
        self.assertEqual(nccl.complaints({name: 30.0}, {name: 10.0}), [])


if __name__ == "__main__":
    unittest.main()
