# SPDX-License-Identifier: MIT
"""Descriptors of the node and its contexts: what a context has, and a node that has none left; and
which GPU's context it was that ended.

test_descriptors.py BIN
"""

import contextlib
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUSY = pathlib.Path(sys.argv.pop(1)) / "program-busy"
FEW = 40
USUAL = 256  # a soft limit below the hard one: where both are the same there is nothing to raise


def start(ident: str, *arguments: str, few: int = 0, **more: str) -> subprocess.Popen[str]:
    """A program on the node of that name; `few`: how many descriptors that node may have."""

    def limit() -> None:
        hard = few or resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (few or USUAL, hard))

    return subprocess.Popen(
        [BUSY, *arguments],
        env=os.environ | {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": ident} | more,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )


def processes(ident: str, program: str) -> list[pathlib.Path]:
    """The running processes of this node that are that program, as folders of /proc."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            if (entry / "comm").read_text().strip() != program:
                continue
        except OSError:
            continue
        if f"VGPU_NODE_ID={ident}".encode() in environment:
            found.append(entry)
    return found


def wait_for(ident: str, program: str) -> list[pathlib.Path]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = processes(ident, program)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {program} of {ident}")


def cpu_seconds(process: pathlib.Path) -> float:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Descriptors(unittest.TestCase):
    def test_context_has_no_file(self) -> None:
        ident = f"files-{os.getpid()}"
        with tempfile.NamedTemporaryFile() as trace:
            program = start(ident, VGPU_TRACE=trace.name)
            try:
                context = wait_for(ident, "vgpu-exec")[0]
                time.sleep(0.2)
                names = [str(fd.readlink()) for fd in (context / "fd").iterdir()]
            finally:
                program.kill()
                program.communicate()
        files = [n for n in names if n.startswith("/") and not n.startswith(("/memfd:", "/dev/"))]
        self.assertEqual(files, [])

    def test_context_that_ends_is_named(self) -> None:
        ident = f"ended-{os.getpid()}"
        program = start(ident)
        context = wait_for(ident, "vgpu-exec")[0]
        time.sleep(0.2)
        os.kill(int(context.name), signal.SIGKILL)
        _, err = program.communicate(timeout=60)
        self.assertRegex(err, r"the context of GPU [0-3] ended unexpectedly")

    def test_node_may_have_many(self) -> None:
        ident = f"many-{os.getpid()}"
        program = start(ident, "hold")
        self.assertEqual(program.stdout.readline(), "held\n")  # the node has started
        node = wait_for(ident, "vgpu-node")[0]
        limits = (node / "limits").read_text()
        program.communicate("\n", timeout=60)
        soft, hard = next(
            line.split()[3:5] for line in limits.splitlines() if line.startswith("Max open files")
        )
        self.assertEqual(soft, hard)
        self.assertNotEqual(soft, str(USUAL))

    def fill(self, few: int) -> str:
        """Programs on a node with that few descriptors until it has none for the next one. What
        that one says."""
        ident = f"few-{few}-{os.getpid()}"
        programs = [start(ident, "hold", few=few)]
        err = ""
        try:
            self.assertEqual(programs[0].stdout.readline(), "held\n")
            while not err and len(programs) < few:
                program = start(ident, "hold")
                programs.append(program)
                if program.stdout.readline() != "held\n":
                    _, err = program.communicate(timeout=60)
        finally:
            for program in programs:
                program.kill()
                program.communicate()
        return err

    def test_node_without_any(self) -> None:
        """The next program is told why. The node has three descriptors for a program: the limits
        leave it none, one and two."""
        for few in range(FEW, FEW + 3):
            with self.subTest(few):
                err = self.fill(few)
                self.assertRegex(err, r"descriptors|open files")
                self.assertNotIn("protocol", err)

    def test_node_without_any_for_a_connection(self) -> None:
        """A newcomer that cannot be taken in is told so, and not left in the queue, which would
        wake the node without an end."""
        ident = f"queue-{os.getpid()}"
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            program = start(ident, "hold", few=FEW, XDG_RUNTIME_DIR=folder)
            stack.callback(program.communicate)
            stack.callback(program.kill)
            self.assertEqual(program.stdout.readline(), "held\n")
            node = wait_for(ident, "vgpu-node")[0]
            for _ in range(FEW):
                newcomer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                stack.enter_context(newcomer)
                newcomer.settimeout(60)
                newcomer.connect(f"{folder}/vgpu/{ident}.sock")
            self.assertIn(b"no descriptors left", newcomer.recv(1 << 17))
            before = cpu_seconds(node)
            time.sleep(1)
            self.assertLess(cpu_seconds(node) - before, 0.3, "the node spins")


if __name__ == "__main__":
    unittest.main()
