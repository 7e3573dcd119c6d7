# SPDX-License-Identifier: MIT
"""Does `./lab conformance` record what a machine says, and find one that says something else?

test_conformance.py PROGRAM. The machine is the virtual node, with two GPUs and then with one; the
answers that are not its own are changed by hand.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = sys.argv[1]
NODE = {"VGPU_NODE": "hgx-h200-4", "VGPU_QUIET": "1", "CUDA_VISIBLE_DEVICES": "0,1"}


def lab(*words: str, **more: str) -> tuple[int, str]:
    ident = f"conformance-tool-{os.getpid()}"
    done = subprocess.run(
        [ROOT / "lab", "conformance", *words, "--jobs", "2"],
        env={**os.environ, "VGPU_NODE_ID": ident, **NODE, **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


class Conformance(unittest.TestCase):
    folder: Path
    record: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="conformance-"))
        status, said = lab("--record", str(cls.folder), "--program", PROGRAM)
        assert status == 0, said
        cls.record = cls.folder / "conformance.txt"
        cls.text = cls.record.read_text()

    def replayed(self, text: str) -> tuple[int, str]:
        self.record.write_text(text)
        return lab("--records", str(self.folder), "--program", PROGRAM)

    def test_same(self) -> None:
        status, said = self.replayed(self.text)
        self.assertEqual(status, 0, said)
        self.assertIn(" 0 wrong", said)

    def test_machine_is_named(self) -> None:
        for line in ("# machine: 2 NVIDIA H200", "# gpus: 2", "# runtime: 13000", "# driver: "):
            self.assertIn(line, self.text)

    def test_other_answer(self) -> None:
        asked = "cudaInitDevice(99, 0, 0) -> 101 cudaErrorInvalidDevice"
        self.assertEqual(self.text.count(asked), 1)
        status, said = self.replayed(self.text.replace(asked, asked.replace("101", "1")))
        self.assertEqual(status, 1)
        self.assertIn("1 wrong", said)
        self.assertIn('"case": "init_device"', said)

    def test_case_left_out(self) -> None:
        head, rest = self.text.split("[init_device]")
        status, said = self.replayed(head + rest[rest.index("[") :])
        self.assertEqual(status, 1)
        self.assertIn("case init_device: never asked", said)

    def test_crash_is_an_answer(self) -> None:
        crash = self.folder / "crash"
        crash.write_text(
            '#!/bin/sh\ncase $1 in --list) echo bad good;; bad) echo "  said"; kill -11 $$;;\n'
            "--machine) echo 'machine: none'; echo 'gpus: 1';; *) echo fine;; esac\n"
        )
        crash.chmod(0o755)
        status, said = lab("--record", str(self.folder / "crash.d"), "--program", str(crash))
        self.assertEqual(status, 0, said)
        text = (self.folder / "crash.d/conformance.txt").read_text()
        self.assertIn("[bad]\n    said\n    (killed by signal 11)\n[good]\n    fine\n", text)

    def test_no_gpu(self) -> None:
        status, said = lab(
            "--record", str(self.folder / "none"), "--program", PROGRAM, CUDA_VISIBLE_DEVICES=""
        )
        self.assertEqual(status, 77, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
