# SPDX-License-Identifier: MIT
"""Charts of what chapters print and derive: bars have the pages' numbers, formulas give the
tables', timelines are as long as the text says, and descriptions have no number of their own."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

from grader.base.exits import LabError
from grader.book import bars, curves, formulas, memory, outputs, rings, schedules
from grader.book.bandwidth import calls as bench
from grader.book.bandwidth import ring as ring_times
from grader.book.bars import said, shown
from grader.course.project import here

ROOT = here().root
BOOK = ROOT / "docs/book"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
CHARTS = {
    **outputs.CHARTS,
    **formulas.CHARTS,
    **schedules.CHARTS,
    "ring-times": ring_times,
    "bench": bench,
}

# Numbers of descriptions that no page has: the tests of the formulas have them.
COMPUTED = {"overlapping": {3.7}, "tree-or-chain": {24, 36}, "by-gpus": {5.5, 3.75}}
# From a recording: from pageable memory timing.txt has 9.8 to 18.9 GB/s.
MEASURED = {"ways": {"19 GB/s"}}


def numbers(text: str) -> set[float]:
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return {float(number) for number in NUMBER.findall(text)}


def page_of(chart: str) -> str:
    """The page in which a chart stands."""
    texts = (path.read_text(encoding="utf-8") for path in BOOK.glob("*.md"))
    return next(text for text in texts if f"<!-- chart: {chart} -->" in text)


class Bars(unittest.TestCase):
    def test_parts_are_as_long_as_their_values(self) -> None:
        made = bars.chart(
            [bars.Bar("a", [(1, 0), (3, 1)], "4"), bars.Bar("b", [(2, 0)], "2")], "two bars"
        )
        widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', made)]
        self.assertEqual(len(widths), 3)
        for width, wanted in zip(widths, (1, 3, 2), strict=True):
            self.assertAlmostEqual(width / widths[0], wanted, delta=0.01)
        self.assertGreater(sum(widths[:2]), bars.WIDTH / 2, "the longest bar uses the room")
        self.assertLess(sum(widths[:2]), bars.WIDTH)

    def test_a_page_that_changes_changes_its_bars(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            shutil.copytree(BOOK, root / "docs/book", ignore=shutil.ignore_patterns("code", "real"))
            page = root / "docs/book/05-bytes.md"
            text = page.read_text(encoding="utf-8")
            page.write_text(text.replace("374.0 GB/s", "300.0 GB/s"), encoding="utf-8")
            self.assertIn("300 GB/s", outputs.ways(root))
            page.write_text("nothing", encoding="utf-8")
            with self.assertRaises(LabError):
                outputs.ways(root)

    def test_descriptions_have_no_numbers_of_their_own(self) -> None:
        """Each is in the drawing, in the chapter, or computed by a test below."""
        for name, made in CHARTS.items():
            with self.subTest(name):
                drawn = made(ROOT)
                words = re.findall(r"<title>(.*?)</title>", drawn)[0]
                there = numbers(" ".join(re.findall(r"<text[^>]*>(.*?)</text>", drawn)))
                own = numbers(words) - there - numbers(page_of(name))
                self.assertEqual(own, COMPUTED.get(name, set()))


class Drawings(unittest.TestCase):
    def test_their_quantities_are_the_chapters(self) -> None:
        """Times, rates and sizes in a chapter's Graphviz drawings stand in the chapter, too."""
        quantity = re.compile(r"\d+(?:\.\d+)? ?(?:ms|µs|[GM]B(?:/s)?)")
        seen = 0
        for page in BOOK.glob("[01]*.md"):
            text = page.read_text(encoding="utf-8")
            for name in re.findall(r"\(figures/(\w+)\.dot\)", text):
                source = (BOOK / f"figures/{name}.dot").read_text(encoding="utf-8")
                labels = " ".join(re.findall(r'label="([^"]*)"', source)).replace("\\n", " ")
                there = set(quantity.findall(labels))
                seen += len(there)
                own = {number for number in there if number not in text}
                self.assertEqual(own, MEASURED.get(name, set()), f"{page.name}: {name}")
        self.assertGreater(seen, 5)


class Outputs(unittest.TestCase):
    def test_calls_of_a_step(self) -> None:
        launch, wait, record = said(
            ROOT,
            "04-peer-access.md",
            r"counts ([\d.]+) µs for a launch, ([\d.]+) µs for a wait and ([\d.]+) µs for a record",
        )
        for made, wanted in zip(
            curves.calls_of_a_step(4), (4 * launch, 10 * wait, 4 * record), strict=True
        ):
            self.assertAlmostEqual(made, wanted)

    def test_what_the_busiest_rank_sends(self) -> None:
        """As the example says, and as the curves have it."""
        gather, reduce = said(
            ROOT,
            outputs.COLLECTIVES,
            r"an all-gather sends (\d+) MB from each rank, and an all-reduce (\d+)",
        )
        self.assertEqual(64 * outputs.BUSIEST["all-gather"](4), gather)
        self.assertEqual(64 * outputs.BUSIEST["all-reduce"](4), reduce)
        for n in (2, 4, 8):
            self.assertEqual(outputs.BUSIEST["all-reduce"](n), formulas.allreduce_of(n))
            self.assertEqual(outputs.BUSIEST["all-gather"](n), formulas.allgather_of(n))

    def test_ports_share_what_is_sent(self) -> None:
        """The ring's bar is the example's; the naive ranks together send as much as the ring's."""
        notes = [float(n) for n in re.findall(r">(\d+) MB<", outputs.ports(ROOT))]
        self.assertEqual(notes[0] + 3 * notes[1], 4 * notes[2])
        self.assertEqual(notes[2], 96)

    def test_costs_are_the_speed_ups(self) -> None:
        """The longest part determines the speed-up that uneven.c prints."""
        wanted: list[int] = []
        printed = [n for (n,) in shown(ROOT, outputs.DATA, r"^by .* rows, speed-up ([\d.]+)$")]
        for rows, speed_up in zip(shown(ROOT, outputs.DATA, outputs.SPLIT), printed, strict=True):
            begins = [sum(map(int, rows[:part])) for part in range(4)]
            costs = [sum(range(b, b + int(n))) for b, n in zip(begins, rows, strict=True)]
            self.assertAlmostEqual(sum(range(1000)) / max(costs), speed_up, delta=0.02)
            wanted += [round(100 * cost / sum(range(1000))) for cost in costs]
        drawn = re.findall(r">(\d+) %<", outputs.costs(ROOT))
        self.assertEqual([int(share) for share in drawn], wanted)

    def test_no_part_is_negative(self) -> None:
        for name, made in outputs.CHARTS.items():
            self.assertNotIn('width="-', made(ROOT), name)

    def test_traffic_is_what_the_program_prints(self) -> None:
        printed = shown(ROOT, outputs.ZERO, r"^stage (\d): .* (\d) P sent in a step$")
        for stage, sent in printed:
            name = next(name for name in outputs.SENT if f"{stage:g}" in name)
            self.assertEqual(sum(times for _, times in outputs.SENT[name]), sent, name)

    def test_sixteen(self) -> None:
        self.assertIn("together 16", outputs.sixteen(ROOT))


class Formulas(unittest.TestCase):
    def test_chapter_1(self) -> None:
        for gpus, strong, weak in shown(ROOT, formulas.WHY, formulas.SCALED):
            self.assertAlmostEqual(formulas.efficiency(int(gpus), 20, 1), strong, delta=0.006)
            self.assertAlmostEqual(20 / 21, weak, delta=0.006)
        for gpus, c in ((4, 5), (20, 1), (80, 0.25)):
            self.assertAlmostEqual(formulas.efficiency(gpus, 20, c), 0.5)
        for c, _, gain in shown(ROOT, formulas.WHY, formulas.HALOS):
            self.assertAlmostEqual(formulas.with_halos(c), gain, delta=0.06)

    def test_chapter_4(self) -> None:
        rows = shown(ROOT, "04-peer-access.md", formulas.IN_FLIGHT)
        self.assertEqual(len(rows), 4)
        for threads, rate in rows:
            self.assertAlmostEqual(formulas.loaded(threads, 4) / rate, 1, delta=0.03)
        threads = said(ROOT, "04-peer-access.md", r"With a `float4`, ([\d,]+) threads are enough")[
            0
        ]
        self.assertAlmostEqual(formulas.loaded(threads, 16), 375)
        self.assertLess(formulas.loaded(threads - 2, 16), 375)

    def test_chapter_5(self) -> None:
        first, eight = said(
            ROOT, formulas.BYTES, r"9/8 · [\d.]+ = ([\d.]+) ms instead of ([\d.]+) ms"
        )
        self.assertAlmostEqual(formulas.staged(8, formulas.HOP), first, delta=0.06)
        self.assertAlmostEqual(formulas.staged(1, formulas.HOP), eight)
        for chunks, us in shown(ROOT, formulas.BYTES, formulas.CHUNKS):
            self.assertAlmostEqual(
                formulas.staged(int(chunks), *formulas.STAGED) / us, 1, delta=0.001
            )
        latency, bytes_us = formulas.copied(0.66)  # where the chart has its tick
        self.assertAlmostEqual(latency, bytes_us, delta=0.02)
        for size, unit, rate in re.findall(
            r"^\| ([\d.]+) (KB|MB) \| \d+ % \| (\d+) GB/s",
            (BOOK / formulas.BYTES).read_text(),
            re.M,
        ):
            megabytes = float(size) * (0.001 if unit == "KB" else 1)
            got = 1000 * megabytes / sum(formulas.copied(megabytes))
            self.assertAlmostEqual(got, float(rate), delta=0.51)
        more = said(ROOT, formulas.BYTES, r"P is [\d. +]+ = ([\d.]+) µs")[0]
        self.assertEqual(more, formulas.PACKED)
        for cost, pieces in ((4.1, 4), (latency, 8)):
            self.assertLess((pieces - 1) * cost, more + cost)
            self.assertGreater(pieces * cost, more + cost)

    def test_chapter_6(self) -> None:
        row = r"^\| ([\d.]+) µs \| ([\d.]+) µs \| ([\d.]+) µs \| ([\d.]+) \|"
        rows = shown(ROOT, formulas.DATA, row)
        self.assertEqual(len(rows), 3)
        for kernel, each, end, factor in rows:
            self.assertAlmostEqual(formulas.waiting_each_time(kernel), each)
            self.assertAlmostEqual(formulas.waiting_at_the_end(kernel), end)
            self.assertAlmostEqual(each / end, factor, delta=0.051)
        last = formulas.waiting_each_time(500) / formulas.waiting_at_the_end(500)
        self.assertAlmostEqual(last, 3.7, delta=0.051)

    def test_chapters_9_and_10(self) -> None:
        for formula, at, wanted in (
            (formulas.chain_of_eight, 0, 14),
            (formulas.tree_of_eight, 0, 6),
            (formulas.chain_of_eight, 4, 24),
            (formulas.tree_of_eight, 4, 36),
            (formulas.naive_way, 3.7, 128),
            (formulas.star_of, 8, 7),
        ):
            self.assertAlmostEqual(formula(at), wanted, delta=0.5)
        crossing = said(ROOT, outputs.COLLECTIVES, r"B = 395 GB/s that is ([\d.]+) MB")[0]
        apart = formulas.chain_of_eight(crossing) - formulas.tree_of_eight(crossing)
        self.assertLess(abs(apart), 0.2)
        self.assertAlmostEqual(formulas.RATE / formulas.allreduce_of(16), 211, delta=0.5)

    def test_chapter_11(self) -> None:
        printed = shown(ROOT, outputs.ZERO, r"^stage (\d): +([\d.]+) GB on each")[:4]
        for stage, gb in printed:
            self.assertAlmostEqual(7 * formulas.stored(int(stage), 8), gb, delta=0.051)
        self.assertEqual([formulas.stored(s, 8) for s in range(4)], [16, 5.5, 3.75, 2])
        self.assertAlmostEqual(sum(memory.gigabytes(3, 1, 64)), formulas.stored(3, 64))
        peaks = [max(formulas.kept(step)[which] for step in range(65)) for which in (0, 1)]
        self.assertEqual(peaks[0], said(ROOT, outputs.ZERO, r"and 32 layers (\d+) GB")[0])
        self.assertAlmostEqual(peaks[1], 1 + 3.25, delta=0.06)
        self.assertEqual(formulas.kept(64), (0, 0))


class Schedules(unittest.TestCase):
    def test_lengths_are_what_the_chapters_say(self) -> None:
        packed = said(ROOT, formulas.BYTES, r"Of the ([\d.]+) µs, the launch takes")[0]
        for made, wanted in (
            *((schedules.losing(cause), 6) for cause in schedules.CAUSES),
            (schedules.loading(1), 4 * 1),
            (schedules.loading(4), 1),
            (schedules.stepping(in_one_loop=False), 2 * 10.8 + 5),
            (schedules.packed(), packed),
            (schedules.unequal(even=False), 8),
            (schedules.unequal(even=True), (3 * 4 + 8) / 4),
            (schedules.rounds(in_turn=True), 0.34 / 0.17),
            (schedules.rounds(in_turn=False), 0.51 / 0.17),
            (schedules.training(recomputes=False), 1 + 2),
            (schedules.training(recomputes=True), 1 + 1 + 2),
            (schedules.offloading(0.5), 2 * 0.5),
        ):
            with self.subTest(made.title):
                self.assertAlmostEqual(made.length(), wanted, delta=0.051)

    def test_descriptions_have_the_lengths(self) -> None:
        for name, made in schedules.CHARTS.items():
            drawn = made(ROOT)
            words = re.findall(r"<title>(.*?)</title>", drawn)[0]
            for length in re.findall(r">[^<:]+: ([\d.]+) [a-zµ]", drawn):
                self.assertRegex(words, rf"\b{re.escape(length)}\b", name)

    def test_ten_ms_of_work(self) -> None:
        for cause in schedules.CAUSES:
            work = [step.length for step in schedules.losing(cause).steps if step.colour == 0]
            self.assertEqual(sum(work), 10, cause)

    def test_events_in_one_loop_make_gpus_take_turns(self) -> None:
        kernels = [
            (bar.start, bar.end)
            for bar in schedules.stepping(in_one_loop=True).bars()
            if bar.step.label.startswith("step")
        ]
        apart = [(a, b) for a in kernels[:3] for b in kernels[:3] if a < b]
        self.assertEqual(len(apart), 3)
        self.assertTrue(all(a[1] <= b[0] for a, b in apart))

    def test_pieces_are_within_the_bound(self) -> None:
        """T <= W / G + p (G - 1) / G, and all of the work is done."""
        for piece, within in ((4, 8), (0.4, 5.3)):
            made = schedules.taking(piece)
            self.assertAlmostEqual(sum(step.length for step in made.steps), 20)
            self.assertLessEqual(made.length(), 5 + piece * 3 / 4 + 1e-9)
            self.assertLessEqual(made.length(), within + 1e-9)

    def test_the_parts_of_a_packed_copy(self) -> None:
        parts = [step.length for step in schedules.packed().steps]
        launch, kernel, start = said(
            ROOT,
            formulas.BYTES,
            r"launch takes ([\d.]+) and the kernel ([\d.]+)\. The copy starts ([\d.]+) µs after",
        )
        latency, rest = said(
            ROOT, formulas.BYTES, r"([\d.]+) until its first byte .* and ([\d.]+) for its"
        )
        self.assertEqual(parts, [launch, kernel, start, latency, rest])


class Rings(unittest.TestCase):
    def test_each_step_changes_a_chunk_of_every_rank(self) -> None:
        states = rings.states()
        self.assertEqual(len(states), 2 * (rings.N - 1))
        for _, moved in states:
            self.assertEqual(sorted(rank for rank, _ in moved), list(range(rings.N)))

    def test_rank_r_finishes_chunk_r(self) -> None:
        sums, _ = rings.states()[rings.N - 2]
        whole = [[k for k in range(rings.N) if row[k] == rings.N] for row in sums]
        self.assertEqual(whole, [[rank] for rank in range(rings.N)])
        self.assertEqual(rings.states()[-1][0], [[rings.N] * rings.N] * rings.N)

    def test_the_chart_shows_the_sums(self) -> None:
        drawn = rings.chart(ROOT)
        cells = [int(n) for n in re.findall(r'font-size="11"[^>]*>(\d)</text>', drawn)]
        self.assertEqual(cells, [n for sums, _ in rings.states() for row in sums for n in row])


if __name__ == "__main__":
    unittest.main()
