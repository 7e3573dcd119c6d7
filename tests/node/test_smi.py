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
        self.assertEqual(said[0], "# gpu     fb   bar1   ccpm   mclk   pclk ")
        rows = [line.split() for line in said if not line.startswith("#")]
        self.assertEqual([row[0] for row in rows], ["0", "1", "0", "1"])
        self.assertEqual(rows[1][1], str(self.idle + CONTEXT_MIB + HELD_MIB))
        self.assertEqual({len(line) for line in said}, {len(said[0])})

    def test_dmon_has_nvidia_smis_columns(self) -> None:
        head, units, first, _ = smi("dmon -c 1").splitlines()
        names = "pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk "
        self.assertEqual(head, f"# gpu    {names}")
        measures = "W      C      C      %      %      %      %      %      %    MHz    MHz "
        self.assertEqual(units, f"# Idx      {measures}")
        self.assertRegex(first, r"^    0(      -){9} +\d+ +\d+ $")
        head, units, first, _ = smi("dmon --select=vet --count=1 -o T").splitlines()
        self.assertEqual(
            head, "#Time         gpu  pviol  tviol  sbecc  dbecc    pci  rxpci  txpci "
        )
        self.assertRegex(first, r"^ \d\d:\d\d:\d\d       0 (     - ){7}$")
        self.assertEqual({len(line) for line in (head, units, first)}, {len(head)})
        self.assertRegex(smi("dmon -o DT -c 1").splitlines()[2], r"^ \d{8}    \d\d:\d\d:\d\d  ")

    def test_sections_of_the_log(self) -> None:
        log = smi("-q -d memory,PIDS,Power -i 1")
        self.assertIn("FB Memory Usage", log)
        self.assertIn(f": {self.program.pid}\n", log)
        self.assertRegex(log, r"(?m)^    GPU Power Readings +: N/A$")
        self.assertNotIn("Max Clocks", log)
        self.assertNotIn("Product Name", log)
        self.assertIn("Max Clocks", smi("--query --display=CLOCK"))
        self.assertIn("UUID", smi("-q"))

    def test_again_and_again(self) -> None:
        line = "--query-gpu=index,memory.used --format=csv -lms 50"
        with subprocess.Popen(
            [SMI, *line.split()], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
        ) as looping:
            assert looping.stdout
            said = [looping.stdout.readline() for _ in range(7)]
            looping.kill()
        self.assertEqual([text.split(",")[0] for text in said], ["index", *"010101"])


class Typed(unittest.TestCase):
    def test_what_is_not_there(self) -> None:
        self.assertIn('"foo" is not a valid field', smi("--query-gpu=foo --format=csv", status=2))
        self.assertIn("--format=csv", smi("--query-gpu=name", status=2))
        self.assertIn("no GPU 7", smi("-i 0,7", status=6))
        self.assertIn("no GPU one", smi("-i one", status=6))
        for line in (
            "-x",
            "topo",
            "topo -m now",
            "dmon -c 0",
            "dmon -s x",
            "dmon -o X",
            "dmon -L",
            "--query-gpu",
            "-l soon",
            "-q -d MEMORY,TASTE",
        ):
            with self.subTest(line):
                self.assertEqual(smi(line, status=2), "")
        for line in ("", "-q"):
            self.assertIn("", smi(line, VGPU_NODE="none", VGPU_NODE_ID=f"none-{os.getpid()}"))

    def test_gpus_by_number_uuid_and_bus(self) -> None:
        names = smi("--list-gpus").splitlines()
        uuid = names[1].split("UUID: ")[1].rstrip(")")
        bus = smi("--query-gpu=pci.bus_id --format=csv,noheader -i 1").strip()
        self.assertEqual(smi("-L -i 1,0").splitlines(), names)
        for name in (uuid, bus, bus[4:], bus[9:].lower(), "1"):
            self.assertEqual(smi(f"-L --id={name}"), f"{names[1]}\n", name)

    def test_long_spellings(self) -> None:
        self.assertEqual(smi("topo --matrix"), smi("topo -m"))
        self.assertEqual(smi("topo --p2p_capability w"), smi("topo -p2p w"))

    def test_what_can_be_queried(self) -> None:
        fields = smi("--help-query-gpu").splitlines()[2:]
        self.assertIn("memory.used", fields)
        self.assertIn("[pcie.link.gen.max]", fields)
        asked = ",".join(field.strip("[]") for field in fields)
        values = smi(f"--query-gpu={asked} --format=csv,noheader -i 0").split(", ")
        self.assertEqual(len(values), len(fields))
        for field, value in zip(fields, values, strict=True):
            self.assertEqual(field.startswith("["), value.strip() == "[N/A]", field)

    def test_an_option_that_is_not_there_is_named(self) -> None:
        done = subprocess.run([SMI, "nvlink", "-s"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no 'nvlink'", done.stderr)

    def test_every_command_is_in_the_help(self) -> None:
        said = smi("--help")
        for word in (
            "-L",
            "-q",
            "--query-gpu",
            "--query-compute-apps",
            "dmon",
            "topo -m",
            "-i",
            "-l",
        ):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
