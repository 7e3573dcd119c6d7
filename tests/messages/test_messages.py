# SPDX-License-Identifier: MIT
"""Each rule of messages.py notices what it is for, and passes what is in order."""

import sys
import unittest
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

import messages  # noqa: E402

GOOD = {
    "verdict": "fail",
    "message": "ring_chunk(1, 2, 0) returned 0 (LAB_OK), expected -1 (LAB_EINVAL)",
    "explained": "",
    "said": "vgpu: cudaSetDevice: there is no device 4; this process sees 4 (0 to 3)",
    "why": "",
    "where": "solutions/07-ring-allreduce/ring.cu:2",
    "ending": "",
    "grave": "",
}
FINDING = "ring.cu:3 writes what nothing orders [order.gpus; ./lab explain order.gpus]"


@dataclass(frozen=True)
class Answer:
    file: Path = Path("ring.cu")
    text: str = "int mine;\nint also_mine;\n"
    case: str = "chunk"


class Rules(unittest.TestCase):
    def found(self, **changed: str) -> list[str]:
        return messages.problems(Answer(), {**GOOD, **changed})

    def notices(self, phrase: str, **changed: str) -> None:
        found = self.found(**changed)
        self.assertTrue(any(phrase in problem for problem in found), found)

    def test_in_order(self) -> None:
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found(explained=FINDING), [])
        self.assertEqual(self.found(message="also_mine is 3, expected 4"), [])

    def test_twice(self) -> None:
        said = GOOD["said"]
        self.notices("said twice", said=f"{said}\n{said.replace('4;', '5;')}")
        self.notices("said twice", explained=FINDING, said=f"vgpu: cudaMemcpy: {FINDING}")

    def test_cut(self) -> None:
        self.notices("no whole word in message: expec", message="it returned 3, must be 4, expec")

    def test_must(self) -> None:
        self.notices("what it must be", message="zero_step made 20 steps")
        self.assertEqual(self.found(message="unit 0 is updated before its gradients are there"), [])

    def test_ours(self) -> None:
        self.notices("explained names runner.c:9", explained="an allocation (made at runner.c:9)")
        self.notices("said names vgpu__ask", said="in vgpu__ask")

    def test_where(self) -> None:
        for where in ("", "labs/07-ring-allreduce/tests/runner.c:2", "x/ring.cu:400"):
            self.notices("where is", where=where)

    def test_why(self) -> None:
        self.notices("beside it why", explained=FINDING, why="check before anything is queued")
        self.notices("a leak, and why", grave="leak", why="check before anything is queued")
        self.notices("never came to", ending="crash", why="check before anything is queued")

    def test_other_verdicts(self) -> None:
        self.notices("chunk: pass", verdict="pass")


if __name__ == "__main__":
    unittest.main()
