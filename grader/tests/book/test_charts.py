# SPDX-License-Identifier: MIT
"""The book's charts match its chapters: the schedules are as long as the formulas, no two steps use
one port at once, memory is what the chapter's program prints, matrices are the nodes'."""

import json
import re
import unittest
from itertools import combinations, pairwise

from grader.base.exits import LabError
from grader.book import algorithms, charts, curves, matrices, memory, traced
from grader.book.timelines import Timeline, chart
from grader.course.project import here
from grader.learning.topology import describe

ROOT = here().root
N = algorithms.RANKS


class Schedules(unittest.TestCase):
    def test_lengths_are_the_formulas(self) -> None:
        for made, wanted in (
            (algorithms.staging(4), 1 + 1 / 4),
            (algorithms.ranges("two H200s", at_once=False), 2 * (0.182 + 0.683)),
            (algorithms.ranges("virtual node", at_once=True), 0.168 + 0.683),
            (algorithms.sharing(at_once=False), 2 * 1000 / 25),
            (algorithms.sharing(at_once=True), 1000 / (25 / 2)),
            (algorithms.star(), N - 1),
            (algorithms.chain(1), N - 1),
            (algorithms.chain(4), (N - 1 + 4 - 1) / 4),
            (algorithms.tree(), 2),  # log2 N
            (algorithms.naive(), 2 * (N - 1)),
            (algorithms.ring(), 2 * (N - 1) / N),
            (algorithms.direct(), 2 * (N - 1) / N),
            (algorithms.one_step(), N - 1),
        ):
            with self.subTest(made.title):
                self.assertAlmostEqual(made.length(), wanted)

    def test_bubbles_are_the_formula(self) -> None:
        for m in (1, 4, 8):
            made = algorithms.pipeline(m)
            self.assertAlmostEqual(algorithms.bubble(made), (N - 1) / (m + N - 1))

    def test_nothing_is_used_twice_at_once(self) -> None:
        for made in (algorithms.naive(), algorithms.ring(), algorithms.direct(), algorithms.tree()):
            for a, b in combinations(made.bars(), 2):
                shared = {a.step.row, *a.step.uses} & {b.step.row, *b.step.uses}
                apart = a.end <= b.start + 1e-9 or b.end <= a.start + 1e-9
                self.assertTrue(apart or not shared, f"{made.title}: {a} and {b}")

    def test_a_ring_passes_on_what_it_got(self) -> None:
        """Simulated: after the schedule's sends every rank has every chunk's whole sum."""
        sums = [[1] * N for _ in range(N)]
        steps = algorithms.ring().steps
        for number in range(0, len(steps), N):
            sent = [(r, int(s.label)) for r, s in enumerate(steps[number : number + N])]
            values = [sums[r][chunk] for r, chunk in sent]
            for (r, chunk), value in zip(sent, values, strict=True):
                to = (r + 1) % N
                gathering = number >= (N - 1) * N
                sums[to][chunk] = value if gathering else sums[to][chunk] + value
            if number == (N - 2) * N:
                whole = [[chunk for chunk in range(N) if row[chunk] == N] for row in sums]
                self.assertEqual(whole, [[r] for r in range(N)], "rank r finishes chunk r")
        self.assertEqual(sums, [[N] * N] * N)

    def test_waiting_is_waited_for(self) -> None:
        made = Timeline("t", ["a", "b"])
        first = made.add("a", 2)
        made.add("b", 1, after=(first,))
        made.add("b", 1, uses=("a",))
        self.assertEqual([bar.start for bar in made.bars()], [0, 2, 3])

    def test_bars_too_small_for_a_label_have_none(self) -> None:
        made = Timeline("t", ["a"])
        for label, length in (("7", 2), ("8", 2), ("9", 96)):
            made.add("a", length, label)
        shown = re.findall(r">(\d)</text>", chart([made], "us", "three pieces"))
        self.assertEqual(shown, ["9"])


class Figures(unittest.TestCase):
    def test_all_are_drawn_and_say_what_they_show(self) -> None:
        for name in charts.CHARTS:
            with self.subTest(name):
                shown = charts.insert(ROOT, "p.md", f"<!-- chart: {name} -->")
                title = re.search(r"<title>(.*?)</title>", shown)
                self.assertGreater(len(title[1].split()) if title else 0, 12)
                self.assertIn('role="img"', shown)
                self.assertNotIn('fill="black"', shown)

    def test_each_has_its_place(self) -> None:
        pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
        for name in charts.CHARTS:
            self.assertEqual(pages.count(f"<!-- chart: {name} -->"), 1, name)

    def test_words_have_the_schedules_lengths(self) -> None:
        """Numbers of the alternative text are those of the titles beside the bars."""
        for name in (
            "ranges",
            "sharing",
            "launching",
            "overlap",
            "callers",
            "broadcast",
            "allreduce",
            "backward",
        ):
            shown = charts.CHARTS[name](ROOT)
            words = re.search(r"<title>(.*?)</title>", shown)
            for length in re.findall(r">[^<:]+: ([\d.]+) [a-zµ]", shown):
                self.assertRegex(words[1] if words else "", rf"\b{re.escape(length)}\b", name)

    def test_memory_is_what_the_program_prints(self) -> None:
        page = (ROOT / "docs/book/11-zero.md").read_text(encoding="utf-8")
        runs = re.findall(r"([\d.]+) billion parameters on (\d+) GPUs\n((?:stage.*\n)+)", page)
        shown = {(float(p), int(n)) for p, n, _ in runs}
        self.assertLessEqual(set(memory.MODELS), shown)  # an exercise prints one that is not drawn
        for p, n, lines in runs:
            for stage, gb in enumerate(re.findall(r"stage \d: +([\d.]+) GB", lines)):
                drawn = sum(memory.gigabytes(stage, float(p), int(n)))
                self.assertAlmostEqual(drawn, float(gb), delta=0.051)


class Curves(unittest.TestCase):
    """What is drawn is what the chapters say and their programs print."""

    def rows(self, chapter: str, pattern: str) -> list[tuple[str, ...]]:
        text = (ROOT / "docs/book" / chapter).read_text(encoding="utf-8")
        return re.findall(pattern, text, re.MULTILINE)

    def test_speed_ups(self) -> None:
        rows = self.rows("01-why.md", r"^ +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+$")
        self.assertEqual(len(rows), 5)
        for gpus, shown in rows:
            self.assertAlmostEqual(curves.speed_up(int(gpus), 20, 1), float(shown), delta=0.006)

    def test_limits(self) -> None:
        """The table's calls are the formula's, and each run is above both limits, by 4 µs at most:
        the wait at the end."""
        rows = self.rows("04-peer-access.md", r"^\| (\d)" + r" \| ([\d.]+) µs" * 4)
        self.assertEqual([row[0] for row in rows], ["2", "3", "4"])
        node = json.loads((ROOT / "vgpu/nodes/hgx-h200-4.json").read_text(encoding="utf-8"))
        self.assertEqual(node["edges"]["stream"]["other_gpu_us"], 5)  # what an event takes longer
        for gpus, kernel, both, calls, step in rows:
            self.assertAlmostEqual(curves.host_calls(int(gpus)), float(calls), delta=0.051)
            self.assertAlmostEqual(float(kernel) + 5, float(both))
            least = max(float(both), float(calls))
            self.assertGreater(float(step), least)
            self.assertLess(float(step), least + 4)
        ran = dict(
            curves.printed(ROOT, "04-peer-access.md", r"^(\d) GPUs, 2048 x 2048: ([\d.]+) us")
        )
        self.assertEqual(ran, {float(row[0]): float(row[4]) for row in rows})

    def test_shares(self) -> None:
        """The shares are the formula's; a link of 55 GB/s is half used at 91 KB."""
        rows = self.rows("05-bytes.md", r"^\| ([\d.]+) (KB|MB) \| (\d+) %")
        self.assertEqual(len(rows), 5)
        for size, unit, shown in rows:
            megabytes = float(size) * (0.001 if unit == "KB" else 1)
            self.assertAlmostEqual(curves.share(megabytes, 395), float(shown), delta=0.51)
        self.assertAlmostEqual(curves.share(0.091, 55), 50, delta=0.3)
        self.assertAlmostEqual(curves.share(4, 55), 98, delta=0.5)

    def test_breakeven(self) -> None:
        """Lines cross where T is c · G / (G - 1)."""
        for gpus in (2, 4):
            work = 20 * gpus / (gpus - 1)
            self.assertAlmostEqual(curves.divided(work, gpus), curves.divided(work, 1))

    def test_pieces(self) -> None:
        for k, ms in curves.printed(
            ROOT, "09-collectives.md", r"^chain, (\d+) pieces +([\d.]+) ms"
        ):
            least = max(curves.on_the_wire(int(k)), k * 15.9) / 1000
            self.assertLess(abs(ms - least), 0.06, f"{k} pieces")

    def test_versions(self) -> None:
        found = curves.speed_up_table(ROOT)
        self.assertEqual(len(found), 7)
        best = {name: max(points, key=lambda point: point[1])[0] for name, points in found.items()}
        wanted = {"graph": 8, "ipc": 8, "peer": 4, "copies": 4, "host": 2}
        self.assertLessEqual(wanted.items(), best.items(), "as the chart's words say")

    def test_a_chapter_that_prints_nothing(self) -> None:
        with self.assertRaises(LabError):
            curves.printed(ROOT, "01-why.md", curves.CHAINS)


class Traced(unittest.TestCase):
    def test_overlap_is_to_be_seen(self) -> None:
        """The chapter's statements about the two ways hold for the chart."""
        found = traced.kernels(ROOT)
        together, turns = found[: len(found) // 2], found[len(found) // 2 :]
        self.assertEqual(sorted(gpu for gpu, _, _ in together), [0, 1, 2, 3])
        self.assertLess(max(s for _, s, _ in together), min(e for _, _, e in together))
        for (_, _, end), (_, start, _) in pairwise(turns):
            self.assertGreaterEqual(start, end)

    def test_words_of_the_axis_are_apart(self) -> None:
        shown = traced.chart(ROOT)
        places = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>\d+ ms<', shown)]
        self.assertGreater(len(places), 2)
        self.assertGreater(min(b - a for a, b in pairwise(places)), 40)

    def test_a_chapter_without_a_trace(self) -> None:
        with self.assertRaises(OSError):
            traced.kernels(ROOT / "docs")


class Matrices(unittest.TestCase):
    def node(self, name: str) -> matrices.Node:
        return describe(ROOT / "vgpu" / "nodes", name)

    def test_who_may_use_whose(self) -> None:
        self.assertEqual(matrices.may(self.node("oneway-2")), {(0, 1)})
        self.assertEqual(matrices.may(self.node("pcie-4090-2")), set())
        self.assertEqual(len(matrices.may(self.node("hgx-h200-4"))), 12)
        self.assertNotIn((0, 5), matrices.may(self.node("dgx1-v100")))

    def test_what_is_between(self) -> None:
        self.assertEqual(matrices.links(self.node("dgx1-v100"))[3, 0], "NV2")
        self.assertIn("every GPU every other's", matrices.told(self.node("dgx-a100")))
        self.assertEqual(matrices.told(self.node("oneway-2")), "oneway-2: 0 1's")

    def test_a_machine_without_pairs_has_none(self) -> None:
        self.assertEqual(matrices.of(self.node("single")), "")


if __name__ == "__main__":
    unittest.main()
