# SPDX-License-Identifier: MIT
"""grader.cluster.worklist and pool: one worker for a unit, one record of it, no unit forgotten."""

import json
import os
import tempfile
import threading
import unittest
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.cluster import pool, worker
from grader.cluster.pool import MOST_BEGUN, PoolBatch
from grader.cluster.worklist import Unit, WorkList
from grader.course.project import Project
from grader.grade.journal import opened
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.tests.grade.test_journal import GRADED, LAB, FakeWorker

GOOD = json.dumps(Run(cases=(CaseRun("one", Status.PASS),)).to_json())


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)
        self.list = WorkList(self.out / "work")
        self.list.make()

    def files(self) -> list[str]:
        return sorted(str(p.relative_to(self.list.folder)) for p in self.list.folder.rglob("*.*"))


class Lists(InFolder):
    def test_each_unit_has_one_worker(self) -> None:
        for at in range(200):
            self.list.put(Unit(f"key{at}", 0), str(at))
        taken: list[str] = []

        def work(name: str) -> None:
            mine = WorkList(self.list.folder)
            while unit := mine.take(name):
                taken.append(mine.text(unit))
                mine.finish(unit, name)

        threads = [threading.Thread(target=work, args=(f"w{at}",)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(Counter(taken), Counter(str(at) for at in range(200)))
        self.assertEqual((len(self.list.records()), self.files()), (200, []))

    def test_what_was_begun_least_often_comes_first(self) -> None:
        for key, begun in (("a", 2), ("b", 0), ("c", 1)):
            self.list.put(Unit(key, begun), "")
        order = []
        while unit := self.list.take("w"):
            order.append(unit.key)
        self.assertEqual(order, ["b", "c", "a"])

    def test_the_first_record_counts(self) -> None:
        """A worker that was taken for dead comes back."""
        self.list.put(Unit("key", 0), "")
        slow = self.list.take("slow")
        assert slow
        self.list.take_back(slow)
        other = self.list.take("other")
        self.assertEqual(other, Unit("key", 1, "other"))
        assert other
        self.list.finish(other, "first")
        self.list.finish(slow, "second")
        self.assertEqual((self.list.record("key").read_text(), self.files()), ("first", []))

    def test_who_stops_gives_it_back(self) -> None:
        self.list.put(Unit("key", 1), "")
        unit = self.list.take("w")
        assert unit
        self.list.give_back(unit)
        self.assertEqual(self.files(), ["open/key.1"])
        unit = self.list.take("w")
        assert unit
        self.list.finish(unit, "")
        self.list.give_back(unit)  # stopped right after that
        self.assertEqual(self.files(), [])

    def test_a_lost_answer(self) -> None:
        """The server has renamed it, and says that there is no such file."""
        self.list.put(Unit("key", 0), "text")
        rename = Path.rename

        def lossy(path: Path, target: Path) -> Path:
            rename(path, target)
            raise FileNotFoundError

        with mock.patch.object(Path, "rename", lossy):
            unit = self.list.take("w")
        assert unit
        self.assertEqual(self.list.text(unit), "text")


class Shift(worker.Shift):
    """Ends when it has nothing to do, and remembers what was open then."""

    def _may_come(self) -> bool:
        self.was_open = len(self.list.units("open"))
        return False


class Shifts(InFolder):
    def test_nobody_waits_while_there_is_work(self) -> None:
        """Four workers of one list; another one is often faster than they."""
        for at in range(400):
            self.list.put(Unit(f"key{at}", 0), "{}")
        desk = mock.Mock()
        desk.grade.return_value = Run(cases=(CaseRun("one", Status.PASS),))
        shifts = [Shift(WorkList(self.list.folder), f"w{at}", waits=True) for at in range(4)]
        threads = [threading.Thread(target=shift.work, args=(desk,)) for shift in shifts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.list.records()), 400)
        self.assertEqual([shift.was_open for shift in shifts], [0, 0, 0, 0])


class FakeWorkers:
    """Each that is started takes a unit and does with it what `does` does; then it has ended."""

    def __init__(self, work: WorkList, does: Callable[[WorkList, Unit], None]) -> None:
        self.list, self.does = work, does
        self.started = 0
        self.lives: set[str] = set()

    def alive(self) -> set[str] | None:
        return self.lives

    def start(self, count: int) -> None:
        for _ in range(count):
            self.started += 1
            if unit := WorkList(self.list.folder).take(f"w{self.started}"):
                self.does(self.list, unit)

    def stop(self) -> None:
        self.lives = set()


def right(work: WorkList, unit: Unit) -> None:
    work.finish(unit, GOOD)


@mock.patch.object(pool, "ASK_SECONDS", 0.0)
@mock.patch.object(pool, "POLL_SECONDS", 0.0)
class Pools(InFolder):
    def graded(
        self, does: Callable[[WorkList, Unit], None], students: str = "abcdef", jobs: int = 2
    ) -> tuple[dict[str, Run], int, FakeWorkers]:
        """What broke, how many have a result, and the workers."""
        self.workers = FakeWorkers(self.list, does)
        with opened(self.out) as journal:
            pieces = (journal, FakeWorker(), 1, "bare", jobs, 1)
            batch = PoolBatch(*pieces, Project(self.out), self.list, self.workers)
            tasks = [
                batch.task(GRADED, Submission(s, "", LAB, "tiny.c", s.encode())) for s in students
            ]
            with batch.collecting():
                broken = batch.run(batch.to_do(tasks, lambda _: False), lambda task, run: None)
            return broken, len(journal.runs), self.workers

    def test_all_is_graded(self) -> None:
        broken, runs, workers = self.graded(right)
        self.assertEqual((broken, runs, workers.started, self.files()), ({}, 6, 6, []))
        self.assertEqual(self.graded(right)[2].started, 0)

    def test_a_dead_worker(self) -> None:
        """Its submission is another's, as soon as it is known to be dead."""
        dead: list[Unit] = []

        def dies_once(work: WorkList, unit: Unit) -> None:
            if not dead:
                dead.append(unit)
            else:
                right(work, unit)

        broken, runs, workers = self.graded(dies_once)
        self.assertEqual((broken, runs, workers.started, self.files()), ({}, 6, 7, []))

    def test_the_controller_is_away(self) -> None:
        """For a while, and for longer than anybody waits."""
        gone = LabError("no controller")
        with mock.patch.object(FakeWorkers, "alive", side_effect=[gone, gone, set(), set(), set()]):
            self.assertEqual(self.graded(right, "ab")[:2], ({}, 2))
        with (
            mock.patch.object(FakeWorkers, "alive", side_effect=gone),
            mock.patch.object(pool, "ANSWER_SECONDS", 0.0),
            self.assertRaisesRegex(LabError, "no controller"),
        ):
            self.graded(right)

    def test_a_silent_worker(self) -> None:
        """It is alive, says Slurm, and does not touch what it holds."""
        silent: list[Unit] = []

        def hangs_once(work: WorkList, unit: Unit) -> None:
            if not silent:
                silent.append(unit)
                self.workers.lives.add(unit.worker)
            else:
                right(work, unit)

        with mock.patch.object(pool, "LEASE_SECONDS", 0.3):
            broken, runs, _ = self.graded(hangs_once)
        self.assertEqual((broken, runs), ({}, 6))

    def test_who_is_slow_keeps_it(self) -> None:
        """A touch now and then, for longer than a lease."""
        looks = iter(range(1000))

        def alive(workers: FakeWorkers) -> set[str]:
            at = next(looks)
            for unit in self.list.units("held"):
                os.utime(self.list.folder / "held" / unit.name, (at, at))
                if at == 50:
                    right(self.list, unit)
            return {"w1"}

        with (
            mock.patch.object(pool, "LEASE_SECONDS", 0.02),
            mock.patch.object(pool, "POLL_SECONDS", 0.005),
            mock.patch.object(FakeWorkers, "alive", alive),
        ):
            _, runs, workers = self.graded(lambda work, unit: None, "a", jobs=2)
        self.assertEqual((runs, workers.started), (1, 1))

    def test_what_kills_its_worker_is_given_up(self) -> None:
        broken, runs, workers = self.graded(lambda work, unit: None, "a")
        self.assertIn(f"lost {MOST_BEGUN} times", next(iter(broken.values())).broken)
        self.assertEqual((runs, workers.started, self.files()), (0, MOST_BEGUN, []))

    def test_what_breaks_is_tried_again(self) -> None:
        texts = []

        def breaks(work: WorkList, unit: Unit) -> None:
            texts.append(json.loads(work.text(unit))["before"])
            work.finish(unit, json.dumps(Run(broken="no luck").to_json()))

        broken, runs, _ = self.graded(breaks, "a")
        self.assertEqual((texts, len(broken), runs), (["", "no luck", "no luck"], 1, 0))
        self.assertEqual(self.graded(right, "a")[:2], ({}, 1))

    def test_a_torn_record_is_none(self) -> None:
        texts = iter([GOOD[:30], GOOD])
        broken, runs, _ = self.graded(lambda work, unit: work.finish(unit, next(texts)), "a")
        self.assertEqual((broken, runs), ({}, 1))

    def test_workers_that_do_nothing(self) -> None:
        with (
            mock.patch.object(FakeWorkers, "start", lambda self, count: None),
            self.assertRaisesRegex(LabError, "none had graded anything"),
        ):
            self.graded(right)

    def test_the_collector_is_killed(self) -> None:
        """After a record came, and while its neighbour is held: neither is graded again."""
        held: list[Unit] = []

        def ends(work: WorkList, unit: Unit) -> None:
            if held:
                right(work, unit)
                raise KeyboardInterrupt
            held.append(unit)

        with self.assertRaises(KeyboardInterrupt):
            self.graded(ends, "ab")
        self.assertEqual(len(self.list.records()), 1)
        right(self.list, held[0])
        broken, runs, workers = self.graded(right, "ab")
        self.assertEqual((broken, runs, workers.started), ({}, 2, 0))


if __name__ == "__main__":
    unittest.main()
