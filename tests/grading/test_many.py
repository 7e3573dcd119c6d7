# SPDX-License-Identifier: MIT
"""300 submissions and three workers; one of them and who collects are killed: the same bytes as on
one machine, nothing graded twice."""

import json
import subprocess
import sys
import unittest

import measure_real
from classroom import BUILD, ROOT, Classroom
from many import Many
from measure_many import PAGE, written


class Page(unittest.TestCase):
    def test_its_tables(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        self.assertEqual(written(text), text, "measure_many.py --write writes them anew")


class Real(Classroom):
    def test_slices(self) -> None:
        """The second slice of measure_real.py grades the rest, and adds up."""
        script = ROOT / "tests" / "grading" / "measure_real.py"
        command = [sys.executable, "-B", script, BUILD, self.folder, "1", "4", "1"]
        graded = []
        while len(graded) < 4 and graded[-1:] != [4]:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found = json.loads((self.folder / "workers-1" / "figures.json").read_text())
            graded.append(found["graded"])
        self.assertEqual((graded[-1], found["slices"]), (4, len(graded)))
        self.assertLess(graded[0], 4, "the first slice has graded everything")
        self.assertEqual(set(found["seconds_of_one"]), {*measure_real.KINDS, "known mistake"})


class Pool(Many):
    executor = ("--executor", "workers")

    def worker(self, name: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-B", "-m", "grader.cluster.worker"]
        command += [str(self.folder / "there" / "work"), name, "--wait"]
        with (self.folder / "workers.txt").open("ab") as said:
            process = subprocess.Popen(
                command, env=self.environment, cwd=ROOT, stdout=said, stderr=said
            )
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)
        return process

    def test_kills(self) -> None:
        self.grade_here()
        workers = [self.worker(f"w{at}") for at in range(3)]
        collector = self.start("there", *self.executor)
        self.wait_for(0.2)
        self.kill(workers.pop())
        self.wait_for(0.4)
        self.kill(collector)
        early = self.records()
        workers.append(self.worker("another"))
        self.finish(self.start("there", *self.executor), "there")
        self.assertEqual([worker.wait(30) for worker in workers], [0, 0, 0])
        self.assert_nothing_twice(early)
        self.assert_shared(2)
        self.assert_same_bytes()


if __name__ == "__main__":
    unittest.main()
