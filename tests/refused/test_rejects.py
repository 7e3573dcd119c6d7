# SPDX-License-Identifier: MIT
"""refused.py finds fault with answers that the other tests of a lab took for right: passages that
stood in the solutions until it was written, and what it says of each."""

import os
import shutil
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "points"), str(ROOT)]

import refused  # noqa: E402

from grader.course.mutants import student_files  # noqa: E402
from grader.course.project import Project  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())

# (lab, case, what stands in the solution, what stood there, the call that fails, what is said)
WRONG = (
    (
        "01",
        "threads",
        "(void)inv_result(cudaSetDevice(before));\n    if (rc)",
        "(void)cudaSetDevice(before);\n    if (rc)",
        "cudaSetDevice",
        "it left error 999 behind",
    ),
    (
        "01",
        "alloc_each",
        "else if (inv_result(error) != LAB_OK)",
        "else if (error != cudaSuccess)",
        "cudaGetDeviceCount",
        "it left error 999 behind",
    ),
    (
        "02",
        "enable",
        "if ((rc = peer_result(cudaGetDevice(&before))) != LAB_OK)\n        return rc;\n    while",
        "rc = LAB_OK;\n    cudaGetDevice(&before);\n    while",
        "cudaGetDevice",
        "GPU 1 was current, and GPU 0 is",
    ),
    (
        "03",
        "stage_no_wait",
        "(void)p2p_result(cudaStreamSynchronize(streams[i]));",
        "(void)cudaStreamSynchronize(streams[i]);",
        "cudaStreamSynchronize",
        "it left error 999 behind",
    ),
)


class Rejects(unittest.TestCase):
    def test_what_stood_in_the_solutions(self) -> None:
        for number, (lab, case, stands, stood, name, said) in enumerate(WRONG):
            with self.subTest(lab=lab, case=case, call=name):
                self.assertIn(said, self._problems(number, lab, case, stands, stood, name))

    def _problems(
        self, number: int, lab: str, case: str, stands: str, stood: str, name: str
    ) -> str:
        where = next(each for each in PROJECT.labs() if each.number == lab)
        (path,) = student_files(PROJECT.solutions_dir / where.folder)
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(stands), 1, stands)
        folder = PROJECT.build_dir / "refused" / f"wrong{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file = folder / path.name
        file.write_text(text.replace(stands, stood), encoding="utf-8")
        asked = refused.Refused(PROJECT, where, file, 1)
        calls = [call for call in asked.learn(case) if call.name == name]
        found = [asked.fail(call) for call in refused.chosen(calls, asked.took, every=False)]
        return "\n".join(problem for outcome in found for problem in outcome.problems)


if __name__ == "__main__":
    unittest.main()
