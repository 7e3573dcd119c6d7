# SPDX-License-Identifier: MIT
"""Mutants that allreduce-check must reject: test_mutants.py VGPU-CC WORK

Each mutant is the sources with one passage replaced, built in WORK and run on virtual GPUs.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).resolve().parent
SOURCES = ("one_shot", "two_shot", "engines", "group", "team", "data", "check")


class Mutants(unittest.TestCase):
    cc: ClassVar[str]
    work: ClassVar[Path]

    def rejected(self, way: str, file: str, find: str, replace: str, gpus: int = 3) -> None:
        room = self.work / self._testMethodName
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(parents=True)
        for source in [*HERE.glob("*.cu"), *HERE.glob("*.h")]:
            shutil.copy(source, room)
        text = (room / file).read_text(encoding="utf-8")
        self.assertEqual(text.count(find), 1, f"{find!r} in {file}")
        (room / file).write_text(text.replace(find, replace), encoding="utf-8")
        names = [f"{name}.cu" for name in SOURCES]
        subprocess.run([self.cc, "-O1", "-o", "check", *names], cwd=room, check=True, timeout=300)
        done = self.run_check(room / "check", way, gpus)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("floats are wrong", done.stderr)

    def run_check(self, program: Path, way: str, gpus: int) -> subprocess.CompletedProcess[str]:
        words = f"--gpus {gpus} --calls 16 --most 65536 --seed 5 --way {way}".split()
        env = {**os.environ, "VGPU_NODE": "dgx-a100", "VGPU_NODE_ID": f"ar-{os.getpid()}"}
        return subprocess.run(
            [program, *words], env=env, capture_output=True, text=True, timeout=120, check=False
        )

    def test_each_rank_adds_in_its_own_order(self) -> None:
        find = "            if ((d.me + k) % N == r)\n                in_order[r] = v[k];"
        self.rejected("one-shot", "words.h", find, "            in_order[k] = v[k];")

    def test_the_tail_is_dropped(self) -> None:
        find = "    if (count % 4 > 1)\n        tail[1] = v.y;"
        self.rejected("two-shot", "device.h", find, "")

    def test_the_longer_parts_lose_a_vector(self) -> None:
        find = "there[k] = i < ar_length(j.parts, (d.me + k) % N);"
        self.rejected("two-shot", "two_shot.cu", find, "there[k] = i < j.parts.least;")

    def test_the_flag_is_not_waited_for(self) -> None:
        find = "    hear(d, FLAG_SLICE + slice, d.call[0]);\n"
        self.rejected("engines", "engines.cu", find, "")

    def test_a_slice_is_sent_to_the_wrong_place(self) -> None:
        find = "(size_t)d->me * ar_length(parts, 0) + s.first"
        self.rejected("engines", "engines.cu", find, find.replace("parts, 0", "parts, r"))


if __name__ == "__main__":
    Mutants.cc, Mutants.work = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
