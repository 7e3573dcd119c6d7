# SPDX-License-Identifier: MIT
"""The recorded run: README.md shows its tables, and README.md's claims about it hold."""

import unittest
from pathlib import Path

import table

HERE = Path(__file__).resolve().parent
ROWS = table.read(HERE.parent / "results" / "allreduce-h200-4.csv")
README = (HERE / "README.md").read_text(encoding="utf-8")
KI, MI, GI = 1 << 10, 1 << 20, 1 << 30


class Results(unittest.TestCase):
    def test_readme_shows_the_tables(self) -> None:
        for gpus in (2, 4):
            self.assertIn(table.table(ROWS, gpus, table.LAB), README)

    def test_the_book_shows_the_table_of_four(self) -> None:
        chapter = HERE.parents[1] / "docs" / "book" / "10-allreduce.md"
        self.assertIn(table.table(ROWS, 4), chapter.read_text(encoding="utf-8"))

    def test_no_size_is_slower(self) -> None:
        for gpus in (2, 4):
            for size in table.sizes(ROWS, gpus):
                self.assertGreaterEqual(table.ratio(ROWS, gpus, size), 1.0, (gpus, size))

    def test_the_second_run_on_two(self) -> None:
        """Another machine, a later NCCL."""
        text = (HERE.parent / "results" / "allreduce-h200-2.txt").read_text(encoding="utf-8")
        rows = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
        ratios = [row[-1] for row in rows if row[1] != "GPUs"]
        self.assertEqual(len(ratios), 11)
        self.assertGreaterEqual(min(map(float, ratios)), 1.0)
        self.assertIn(f"ours {', '.join(ratios)} from 1 KiB", README)

    def test_goals_on_four(self) -> None:
        self.assertGreaterEqual(table.geometric_mean(ROWS, 4, KI, 16 * MI), 1.25)
        goals = {256 * KI: 1.3, MI: 1.3, 64 * MI: 1.06, GI: 1.03}
        for size, goal in goals.items():
            self.assertGreaterEqual(table.ratio(ROWS, 4, size), goal, size)

    def test_geometric_mean_as_said(self) -> None:
        mean = table.geometric_mean(ROWS, 4, KI, 16 * MI)
        self.assertIn(f"geometric mean from 1 KiB to 16 MiB: {mean:.2f}", README)

    def test_all_ways_were_measured(self) -> None:
        self.assertEqual(table.sizes(ROWS, 4), [4**k * KI for k in range(11)])
        for key in (
            (4, GI, way, style)
            for way in (*table.PEERS, table.OURS, table.LAB)
            for style in ("calls", "graph")
        ):
            self.assertIn(key, ROWS)


if __name__ == "__main__":
    unittest.main()
