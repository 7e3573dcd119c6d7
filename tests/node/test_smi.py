# SPDX-License-Identifier: MIT
"""vgpu-smi as users of nvidia-smi type it: test_smi.py SMI HOLDS, where HOLDS is holds.cu."""

import os
import re
import subprocess
import sys
import unittest

SMI, HOLDS = sys.argv[1:3]
CONTEXT_MIB, HELD_MIB = 512, 64
ENVIRONMENT = os.environ | {"VGPU_NODE": "pcie-4090-2", "VGPU_NODE_ID": f"smi-{os.getpid()}"}


def smi(line: str, status: int = 0, **more: str) -> str:
    """What `vgpu-smi LINE` prints on standard output."""
    done = subprocess.run(
        [SMI, *line.split()], env=ENVIRONMENT | more, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == status, (line, done)
    return done.stdout


class OfAProgram(unittest.TestCase):
    """Beside a program that has 64 MiB of GPU 1."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.program = subprocess.Popen(
            [HOLDS], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert cls.program.stdout and cls.program.stdout.readline() == "ready\n"
        cls.idle = int(smi("--query-gpu=memory.used --format=csv,noheader,nounits -i 0"))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.program.communicate(timeout=60)
        assert cls.program.returncode == 0

    def test_the_table_has_nvidia_smis_shape(self) -> None:
        table = smi("").splitlines()
        self.assertEqual({len(line) for line in table[1:] if line}, {91})
        self.assertRegex(table[2], r"^\| VGPU-SMI  node pcie-4090-2 .*CUDA Version: 13\.0 +\|$")
        used = f"{self.idle + CONTEXT_MIB + HELD_MIB}MiB / "
        (row,) = [line for line in table if used in line]
        self.assertIn("Default |", row)
        names = [line for line in table if re.match(r"\|   [01]  NVIDIA GeForce RTX 4090 ", line)]
        self.assertEqual(len(names), 2)

    def test_processes_are_those_with_a_context_and_not_the_tool(self) -> None:
        rows = re.findall(r"\|    (\d)   N/A  N/A +(\d+)      C   (\S+) +(\d+)MiB \|", smi(""))
        held = str(CONTEXT_MIB + HELD_MIB)
        self.assertEqual([(g, int(p), m) for g, p, _, m in rows], [("1", self.program.pid, held)])
        self.assertIn("No running processes found", smi("-i 0"))

    def test_fields_of_gpus(self) -> None:
        line = "--query-gpu=index,name,memory.total,memory.used,utilization.gpu --format=csv"
        head, *rows = smi(line).splitlines()
        wanted = "index, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%]"
        self.assertEqual(head, wanted)
        self.assertRegex(rows[1], r"^1, NVIDIA GeForce RTX 4090, \d+ MiB, \d+ MiB, \[N/A\]$")
        bare = smi("--query-gpu index,memory.used --format csv,noheader,nounits --id=1")
        self.assertEqual(bare, f"1, {self.idle + CONTEXT_MIB + HELD_MIB}\n")
        total, used, free = smi(
            "--query-gpu=memory.total,memory.used,memory.free --format=csv,noheader,nounits -i 1"
        ).split(", ")
        self.assertEqual(int(used) + int(free), int(total))

    def test_fields_of_programs(self) -> None:
        said = smi("--query-compute-apps=pid,process_name,used_memory --format=csv").splitlines()
        self.assertEqual(said[0], "pid, process_name, used_memory [MiB]")
        self.assertRegex(said[1], rf"^{self.program.pid}, \S+, {CONTEXT_MIB + HELD_MIB} MiB$")

    def test_the_log(self) -> None:
        log = smi("-q")
        self.assertEqual(len(re.findall(r"^GPU 0000\d+:\w\w:00\.0$", log, re.M)), 2)
        self.assertRegex(log, r"(?m)^Attached GPUs                             : 2$")
        self.assertRegex(
            log, rf"(?m)^        Process ID                        : {self.program.pid}$"
        )
        self.assertRegex(log, r"(?m)^            Used GPU Memory               : 576 MiB$")
        columns = {line.index(" : ") for line in log.splitlines() if " : " in line}
        self.assertEqual(columns, {41})

    def test_a_line_a_second(self) -> None:
        said = smi("dmon -c 2 -d 1 -s mc").splitlines()
        self.assertRegex(said[0], r"^# gpu +fb +bar1 +ccpm +mclk +pclk $")
        rows = [line.split() for line in said if not line.startswith("#")]
        self.assertEqual([row[0] for row in rows], ["0", "1", "0", "1"])
        self.assertEqual(rows[1][1], str(self.idle + CONTEXT_MIB + HELD_MIB))
        self.assertEqual({len(line) for line in said}, {len(said[0])})


class Typed(unittest.TestCase):
    def test_what_is_not_there(self) -> None:
        self.assertIn('"foo" is not a valid field', smi("--query-gpu=foo --format=csv", status=2))
        self.assertIn("--format=csv", smi("--query-gpu=name", status=2))
        self.assertIn("no GPU 7", smi("-i 7", status=6))
        for line in (
            "-x",
            "topo",
            "topo -m now",
            "dmon -c 0",
            "dmon -s x",
            "--query-gpu",
            "-i one",
        ):
            with self.subTest(line):
                self.assertEqual(smi(line, status=2), "")
        for line in ("", "-q"):
            self.assertIn("", smi(line, VGPU_NODE="none", VGPU_NODE_ID=f"none-{os.getpid()}"))

    def test_every_command_is_in_the_help(self) -> None:
        said = smi("--help")
        for word in ("-L", "-q", "--query-gpu", "--query-compute-apps", "dmon", "topo -m", "-i"):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
