# SPDX-License-Identifier: MIT
"""Lab 05 under Open MPI: its program and its tests' ranks do what they do when the lab starts them
itself, and what the tests reject is rejected here too."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ["PEERLAB_BUILD"])
LAB = ROOT / "solutions/05-ipc"
sys.path.insert(0, str(ROOT))
from grader.course.mutants import Mutant, load  # noqa: E402
from grader.course.project import Project  # noqa: E402
from grader.selfcheck.lacking import needs  # noqa: E402

# Root may run it in a container; more ranks than processors; no questions about sockets of hosts.
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WHERE = (("hgx-h200-4", 2), ("hgx-h200-4", 3), ("hgx-h200-4", 4), ("dgx-a100", 8), ("single", 3))
RUNS = 0


def run(*command: object, node: str = "hgx-h200-4") -> subprocess.CompletedProcess[str]:
    global RUNS
    RUNS += 1
    names = {"VGPU_NODE": node, "VGPU_NODE_ID": f"mpirun-{os.getpid()}-{RUNS}", "VGPU_QUIET": "1"}
    return subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **AS_ROOT, **names},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def labcc(*words: object) -> None:
    conf = BUILD / "labs/05-ipc/lab.conf"
    done = run("sh", ROOT / "harness/cmake/labcc.sh", conf, *words)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)


def wrong(name: str) -> str:
    """The solution with one of lab 05's mistakes."""
    project = Project(ROOT)
    (mutant,) = (m for m in load(project, project.lab("05")) if m.name == name)
    assert isinstance(mutant, Mutant)
    text = (LAB / "ipc.cu").read_text(encoding="utf-8")
    assert mutant.find in text
    return text.replace(mutant.find, mutant.replace)


@needs(shutil.which("mpirun"), "no mpirun here (openmpi-bin)")
class UnderMpirun(unittest.TestCase):
    def setUp(self) -> None:
        self.work = Path(tempfile.mkdtemp(prefix="mpirun-", dir=BUILD / "labs"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def ring(self, source: str) -> Path:
        """The tests' ring with this learner's file."""
        file, main, program = self.work / "ipc.cu", self.work / "main.o", self.work / "ring"
        file.write_text(source, encoding="utf-8")
        labcc("strict", file, self.work / "ipc.o")
        labcc("strict", HERE / "ring_under_mpi.cu", main)
        labcc("program", self.work / "ipc.o", main, program)
        return program

    def test_the_program_says_the_same(self) -> None:
        around = BUILD / "bin/solution05-around"
        for node, ranks in WHERE:
            alone = run(around, ranks, node=node)
            mpi = run(*MPIRUN, "-n", ranks, around, node=node)
            self.assertEqual((alone.returncode, mpi.returncode), (0, 0), mpi.stderr)
            self.assertEqual(len(mpi.stdout.splitlines()), ranks)
            self.assertEqual(sorted(mpi.stdout.splitlines()), sorted(alone.stdout.splitlines()))

    def test_the_ranks_of_the_tests(self) -> None:
        program = self.ring((LAB / "ipc.cu").read_text(encoding="utf-8"))
        for node, ranks in WHERE:
            done = run(*MPIRUN, "-n", ranks, program, node=node)
            expected = [f"rank {r} of {ranks}: 6 rounds right" for r in range(ranks)]
            self.assertEqual(sorted(done.stdout.splitlines()), expected, done.stderr)
            self.assertEqual(done.returncode, 0)

    def test_mistakes_are_seen(self) -> None:
        for name in ("put_missing_event", "take_does_not_wait"):
            done = run(*MPIRUN, "-n", 4, self.ring(wrong(name)))
            self.assertNotEqual(done.returncode, 0, f"{name}: {done.stdout}")
            self.assertIn("other bytes", done.stdout, name)


if __name__ == "__main__":
    unittest.main()
