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
    "message": "ring_chunk(1, 2, 0) returned 0 (LAB_OK), expected -5 (LAB_ECUDA)",
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
        self.notices("said twice", said=f"{said}\n{said.replace('4', '99')}")
        clears = "cudaGetLastError clears it"
        self.notices("said twice", message=f"the last error is 1, expected 0: {clears}", why=clears)
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

    def test_refused(self) -> None:
        late = f"cudaMemcpy at ring.cu:2 reads {FINDING}"
        returned = "ring_chunk(1, 0, 0) returned -5 (LAB_ECUDA), expected -1 (LAB_EINVAL)"
        self.notices("had to be refused", message=returned, explained=late, said="")
        self.assertEqual(self.found(message=returned, said=""), [])

    def test_names_call(self) -> None:
        how = "your program was ended by signal 11 (invalid memory access) at ring.cu:2, in "
        self.notices("no call", ending="crash", message=f"{how}'rings': address 0, a null pointer")
        self.assertEqual(
            self.found(ending="crash", message=f"{how}ring_chunk(NULL): address 0, a null pointer"),
            [],
        )
        self.notices("told as a number", message="rank 0 ended with status 0xb, expected 0")

    def test_tells_finding(self) -> None:
        self.notices("without a sentence", explained="it found kernels.mask; ./lab explain it")
        said = "vgpu: cudaMalloc: {} bytes asked for, GPU 0 has 4096 free"
        self.notices("not to fit", said=said.format(512))
        self.assertEqual(self.found(said=said.format(8192)), [])

    def test_other_verdicts(self) -> None:
        self.notices("chunk: pass", verdict="pass")


if __name__ == "__main__":
    unittest.main()
