# SPDX-License-Identifier: MIT
"""Processes that wait for each other as lab 05's do carry their clocks, and have the same times in
every run: test_meet.py PROGRAM VERIFIER RUNNER; PROGRAM is meet.cu, the other two lab 05's.

10 runs of the program and of the lab, some on one processor; 1,000 with PEERLAB_FULL=1, some on a
busy machine."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from test_repeat import RUNS, busy, one_processor

PROGRAM, VERIFIER, RUNNER = sys.argv[1:]
CASES = ("put", "together")
NODES = Path(__file__).parents[2] / "vgpu" / "nodes"
MESSAGE_US, SEND_US, RECEIVE_US = 9.5, 20.0, 30.0


def run(*words: str, **more: str) -> str:
    env = os.environ | {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"meet-{os.getpid()}"} | more
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def lab(case: str) -> int:
    """The end of a case of lab 05, on the clock."""
    said = run(VERIFIER, "--runner", RUNNER, "--case", case, "--json", "/dev/stdout")
    return int(json.loads(said[said.index('{"test"') :].splitlines()[0])["virtual_ps"])


def seen(**more: str) -> dict[tuple[int, int], tuple[int, ...]]:
    """By round and rank: the clock before and after a barrier, and when what goes round the ring
    was heard of and came."""
    rows = [[int(word) for word in line.split()] for line in run(PROGRAM, **more).splitlines()]
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}


def seen_with(**calls_us: float) -> dict[tuple[int, int], tuple[int, ...]]:
    """The same where calls, and what a message takes, have these costs."""
    node = json.loads((NODES / "hgx-h200-4.json").read_text())
    node["calls"] |= calls_us
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "node.json")
        path.write_text(json.dumps(node))
        return seen(VGPU_NODE=str(path))


class Meet(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.first = seen()
        cls.labs = {case: lab(case) for case in CASES}

    def again(self, times: int) -> None:
        for number in range(times):
            self.assertEqual(seen(), self.first, f"run {number}")
        for number in range(times):
            case = CASES[number % 2]
            self.assertEqual(lab(case), self.labs[case], f"run {number} of {case}")

    def test_a_barrier_takes_all_to_the_latest_clock(self) -> None:
        lasts, at_once = set(), seen_with(message_us=0)
        for step in range(5):
            came = [at_once[step, rank][0] for rank in range(4)]
            left = [at_once[step, rank][1] for rank in range(4)]
            self.assertEqual(left, [max(came)] * 4)
            lasts.add(came.index(max(came)))
        self.assertGreater(len(lasts), 1, "always the same rank is the last one")

    def test_who_waits_for_an_event_is_no_earlier(self) -> None:
        """Each puts after it has taken; the next one has heard of that when it waits for it."""
        turns = [(step, rank) for step in range(5) for rank in (1, 2, 3, 0)]
        for before, turn in itertools.pairwise(turns):
            self.assertGreater(self.first[turn][2], self.first[before][3], turn)

    def test_messages_take_what_the_description_says(self) -> None:
        slow = seen_with(message_us=MESSAGE_US)
        takes = int(MESSAGE_US * 1e6)
        for step in range(5):
            came = [slow[step, rank][0] for rank in range(4)]
            for rank in range(4):
                others = max(came[other] for other in range(4) if other != rank)
                self.assertEqual(slow[step, rank][1], max(came[rank], others + takes), rank)
        turns = [(step, rank) for step in range(5) for rank in (1, 2, 3, 0)]
        for before, turn in itertools.pairwise(turns):
            self.assertGreater(slow[turn][2], slow[before][3] + takes, turn)

    def test_who_sends_and_who_receives_pays(self) -> None:
        """Between the end of a rank's wait and the end of the next rank's ring_take, the first
        receives that its last put was drained, if it has put before, and the other one sends that
        it has taken. What the first sends and the other receives is a part of the message."""
        free = seen_with(message_us=0, send_us=0, receive_us=0)
        costly = seen_with(message_us=0, send_us=SEND_US, receive_us=RECEIVE_US)
        turns = [(step, rank) for step in range(5) for rank in (1, 2, 3, 0)]
        for before, turn in itertools.pairwise(turns):
            took, heard = (seen[turn][2] - seen[before][3] for seen in (free, costly))
            more_us = SEND_US + (RECEIVE_US if turn[0] > 0 else 0)
            self.assertEqual(heard - took, int(more_us * 1e6), turn)

    def test_quiet(self) -> None:
        self.again(RUNS * 3 // 5)

    def test_busy(self) -> None:
        with busy():
            self.again(RUNS // 5)

    def test_one_processor(self) -> None:
        with one_processor():
            self.again(RUNS // 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
