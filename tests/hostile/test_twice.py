# SPDX-License-Identifier: MIT
"""What brings the virtual node down is run once more, alone, and then is the submission's failure;
what we broke ourselves never is. All tests of a submission together have one deadline."""

import os
import tempfile
import unittest
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grader.base.exits import LabError
from grader.grade import classreport, work
from grader.grade.batch import Batch
from grader.grade.journal import opened
from grader.grade.marks import judge
from grader.grade.model import Run, Status, Submission
from grader.sandbox import tier
from tests.hostile.corpus import Attack, compose
from tests.hostile.course import arena

NODE = """#!/bin/sh
dies()
{{
    sleep 1
    for process in /proc/[0-9]*; do
        words=
        read -r words <$process/cmdline # without the zeros between them
        case "$words" in
        "{real}$1$2$3"*) kill -SEGV ${{process#/proc/}} ;;
        esac
    done 2>/dev/null
}}
{before}
exec {real} "$@"
"""
DIES = 'dies "$@" &'
DIES_ONCE = '[ -e {home}/before ] || {{ touch {home}/before; dies "$@" & }}'
BREAKS = "export LD_PRELOAD={library} NODE_BREAKS={how} NODE_BREAKS_AT={at}"
NEVER_STARTS = "exit 3"
WAITS = "AT_START { sleep(2); }"
READS_NOTHING = """@NODE@
AT_START
{
    int fd = next_connection();
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    hello(fd, getpid());
    while (send(fd, &q, sizeof q, MSG_NOSIGNAL) > 0)
        ;
}"""
# Fills of every second byte, row by row: the program waits for the node and does nothing else.
HAS_THE_NODE_WORK = """@NODE@
static uint64_t ask(int fd, const struct vgpu_request *q)
{
    static char room[VGPU_MSG_MAX];
    const struct timeval as_long_as_it_takes = {0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &as_long_as_it_takes, sizeof as_long_as_it_takes);
    int failed = send(fd, q, sizeof *q, MSG_NOSIGNAL) < 0 || recv(fd, room, sizeof room, 0) <= 0;
    return failed ? 0 : ((struct vgpu_reply *)room)->value;
}
AT_START
{
    int fd = next_connection();
    struct vgpu_request memory = {.op = VGPU_OP_MALLOC, .bytes = 1 << 27};
    struct vgpu_request fill = {.op = VGPU_OP_MEMSET, .stream = VGPU_STREAM_LEGACY};
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    hello(fd, getpid());
    fill.u.memset = (struct vgpu_memset){.dst = ask(fd, &memory), .bytes = 1, .rows = 1 << 26,
                                         .pitch = 2, .width = 1};
    for (int i = 0; i < 2; i++) {
        ask(fd, &fill);
        ask(fd, &sync);
    }
    struct vgpu_request give_back = {.op = VGPU_OP_FREE, .ptr = fill.u.memset.dst};
    ask(fd, &give_back);
}"""
DRIPS = 'AT_START { for (;;) { dprintf(1, "x"); usleep(200000); } }'


def breaks(how: str, at: int) -> str:
    """A node that fails with the message of this number (broken_node.c)."""
    return BREAKS.format(library=os.environ["BROKEN_NODE"], how=how, at=at)


class Twice(unittest.TestCase):
    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.top = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hostile-")))
        self.top.chmod(0o711)
        patience = {"LAB_CPU_SECONDS": "5", "LAB_IDLE_SECONDS": "20", "LAB_WALL_SECONDS": "30"}
        patience["LAB_ANSWER_SECONDS"] = "10"
        stack.enter_context(mock.patch.dict(os.environ, patience))
        stack.enter_context(mock.patch.object(tempfile, "tempdir", str(self.top)))
        self.used = tier()
        self.arena = stack.enter_context(arena(self.top, self.used))
        self.lab = self.arena.labs["01"]

    def submission(self, body: str) -> Submission:
        attack = Attack("twice", "mallory", "right01", frozenset(), body + "\n")
        text = compose(attack, self.arena.places, self.arena.bases)
        return Submission("mallory", "", self.lab.lab, self.lab.file, text.encode())

    def node(self, before: str) -> "mock._patch[object]":
        """Nodes of the course are these from here on."""
        home = self.top / "home"
        (home / "bin").mkdir(parents=True, exist_ok=True)
        program = home / "bin" / "vgpu-node"
        real = self.arena.course.project.build_dir / "bin" / "vgpu-node"
        program.write_text(NODE.format(before=before.format(home=home), real=real))
        program.chmod(0o755)
        usual = work._Desk._environment

        def environment(desk: work._Desk, temporary: Path) -> dict[str, str]:
            return {**usual(desk, temporary), "VGPU_HOME": str(home)}

        return mock.patch.object(work._Desk, "_environment", environment)

    def grade(self, body: str, *, alone: bool = False) -> Run:
        return self.worker().grade(self.lab, self.submission(body), alone=alone)

    def worker(self) -> work.Worker:
        return work.worker(self.arena.course, self.used, 7, 1, self.top, 0)

    def test_the_first_time_it_is_nobodys_fault_and_nothing_more_is_run(self) -> None:
        with self.node(DIES):
            run = self.grade(WAITS)
        self.assertIn("the virtual node was ended by signal 11", run.broken)
        self.assertEqual(len(run.cases), 1)

    def test_the_second_time_alone_it_is_the_submissions(self) -> None:
        with self.node(DIES), opened(self.top / "out") as journal:
            batch = Batch(journal, self.worker(), 7, self.used.value, 1, 0)
            task = batch.task(self.lab, self.submission(WAITS))
            self.assertEqual(batch.run([task], lambda *_: None), {})
            run = journal.runs[task.cache]
        self.assertEqual({case.status for case in run.cases}, {Status.CRASH})
        for case in run.cases:
            self.assertRegex(
                case.message, "signal 11 .*while your program ran .*once more, by itself"
            )
        graded = judge(task.submission, run, self.lab.rubric)
        self.assertEqual((graded.status, graded.points), (Status.CRASH, 0))
        self.assertIn("signal 11", run.again)  # and the instructor hears of the first time, too

    def test_what_it_did_is_told(self) -> None:
        with self.node(breaks("segv", 10)):
            run = self.grade(READS_NOTHING, alone=True)
        self.assertEqual({case.status for case in run.cases}, {Status.CRASH})
        for case in run.cases:
            self.assertRegex(
                case.message,
                r"signal 11 while .*; it had sent \d requests without reading a reply; "
                "so it was when this test was run once more, by itself",
            )

    def fails_twice(self, how: str, told: str) -> None:
        """A node that breaks in this way each time: run once more, alone, and then it is the
        submission's failure; the instructor sees which, and how often."""
        with self.node(breaks(how, 3)), opened(self.top / "out") as journal:
            batch = Batch(journal, self.worker(), 7, self.used.value, 1, 0)
            task = batch.task(self.lab, self.submission(""))
            self.assertEqual(batch.run([task], lambda *_: None), {})
            run = journal.runs[task.cache]
        for case in run.cases:
            self.assertEqual(case.status, Status.CRASH, case)
            self.assertRegex(case.message, f"the virtual node {told} while .*once more, by itself")
        graded = judge(task.submission, run, self.lab.rubric)
        self.assertEqual((graded.status, graded.points), (Status.CRASH, 0))
        self.assertIn(f"the virtual node {told}", run.again)
        cases = [case.to_json() for case in run.cases]
        row = {"student": "mallory", "lab": "lab01", "status": "crash", "again": run.again}
        _, table = classreport._twice({"rows": [{**row, "cases": cases}]})
        names = ", ".join(case.case for case in run.cases)
        self.assertEqual(table.rows[0][3:5], [names, str(2 * len(run.cases))])

    def test_a_node_that_stops_answering(self) -> None:
        with mock.patch.dict(os.environ, LAB_ANSWER_SECONDS="1"):
            self.fails_twice("stop", "did not answer any more")

    def test_a_node_that_answers_with_nonsense(self) -> None:
        self.fails_twice("nonsense", "sent the verifier an impossible answer")

    def test_a_node_that_fails_once_costs_nothing(self) -> None:
        with self.node(DIES_ONCE):
            run = self.grade(WAITS, alone=True)
        self.assertEqual({case.status for case in run.cases}, {Status.PASS})
        self.assertEqual([bool(case.node) for case in run.cases], [True, False])

    def test_what_we_broke_is_never_the_submissions(self) -> None:
        with self.node(NEVER_STARTS):
            run = self.grade("", alone=True)
        self.assertIn("cannot start a node", run.broken)

    def test_the_nodes_work_is_charged(self) -> None:
        """A program that only waits for what the node does for it: its own processor time is a
        small part of what counts against its deadline."""
        rubric = replace(self.lab.rubric, rules=self.lab.rubric.rules[:1])
        lab = replace(self.lab, rubric=rubric)
        (count,) = self.worker().grade(lab, self.submission(HAS_THE_NODE_WORK)).cases
        self.assertEqual(count.status, Status.PASS, count)
        self.assertGreater(count.charged_seconds, 0.5)
        self.assertGreater(count.charged_seconds, 3 * count.cpu_seconds)

    def test_all_tests_together_have_one_deadline(self) -> None:
        with mock.patch.object(work, "SUBMISSION_SECONDS", 6.0):
            run = self.grade(DRIPS)
        self.assertEqual({case.status for case in run.cases}, {Status.TIMEOUT})
        self.assertLess(sum(case.charged_seconds for case in run.cases), 10)
        self.assertIn("not run: this submission's tests had taken 6 s", run.cases[-1].message)


class Told(unittest.TestCase):
    """The instructor sees which, and how often."""

    def test_in_the_report_and_on_the_terminal(self) -> None:
        case = {"case": "split", "node": "ended", "status": "crash"}
        row = {"student": "mallory", "lab": "lab03", "status": "crash", "again": "split: ended"}
        results = {"labs": [], "sandbox": "uid", "rows": [{**row, "cases": [case], "mark": 0}]}
        _, table = classreport._twice(results)
        self.assertEqual(table.rows, [["mallory", "lab03", "crash", "split", "2", "split: ended"]])
        try:
            from grader.grade import screen
        except LabError as error:
            raise unittest.SkipTest(str(error)) from error
        said = "\n".join(screen.summary(results))
        self.assertIn("1 graded twice, the second time alone (report.html): mallory", said)


if __name__ == "__main__":
    unittest.main()
