# SPDX-License-Identifier: MIT
"""How a node begins and ends on a machine that is busy with others.

test_start.py BIN SLOW_EXIT.so LARGE_PAGES.so [TEST...]
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BIN, SLOW_EXIT, LARGE_PAGES = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
# Room for the shadow memory of a node that is built with AddressSanitizer, too.
JAIL = f"cpu-seconds 600\ndata-bytes {1 << 47}\ndescriptors 4096"
SECONDS = 60
LATER_SECONDS = 0.7  # than a process that takes its time to leave
SILENT = 64  # connections
MOST_KIB = 24  # of memory for each, until it is used; there is room for two messages of 40


class Start(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="vgpu-")
        self.addCleanup(folder.cleanup)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": folder.name, "VGPU_NODE_ID": "start"}
        self.path = f"{folder.name}/vgpu/start.sock"

    def start(self, says: str = "ok", **env: str) -> None:
        """A node, until it says that it is ready, or why it is not."""
        reader, writer = os.pipe()
        words = [BIN / "vgpu-node", "--id", "start", "--ready-fd", str(writer)]
        started = subprocess.Popen(words, env={**self.env, **env}, pass_fds=(writer,))
        os.close(writer)
        with os.fdopen(reader) as ready:
            self.assertEqual(ready.readline(), f"{says}\n")
        started.wait(SECONDS)

    def test_other_pages_are_refused(self) -> None:
        why = "this system's memory pages have 16384 bytes, and the virtual node needs a kernel"
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        says = f"vgpu-node: cannot start: {why} with pages of 4096 bytes"
        self.start(says, LD_PRELOAD=LARGE_PAGES, ASAN_OPTIONS=asan)

    def connect(self) -> tuple[socket.socket, int]:
        """A program that says nothing, and the PID of its node."""
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(one.close)
        one.connect(self.path)
        found = one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return one, struct.unpack("iii", found)[0]

    def memory_kib(self, node: int) -> int:
        status = Path(f"/proc/{node}/status").read_text(encoding="ascii")
        return int(status.partition("RssAnon:")[2].split()[0])

    def listed(self, node: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [BIN / "vgpu-smi", "-L"],
            env={**self.env, "VGPU_NODE": node},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test_a_jailed_node_outlives_the_process_that_made_it(self) -> None:
        """Its parent-death signal is tied to the process that started the node, and not to the
        intermediate process, which ends at once."""
        # A node that is built with ASan wants ASan's library to be the first of all.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.start(VGPU_NODE_JAIL=JAIL, LD_PRELOAD=SLOW_EXIT, ASAN_OPTIONS=asan)
        one, _ = self.connect()
        one.settimeout(LATER_SECONDS)
        with self.assertRaises(TimeoutError, msg="the node has ended"):
            one.recv(1)

    @unittest.skipIf("PEERLAB_SANITIZED" in os.environ, "sanitizers take memory of their own")
    def test_a_connection_that_says_nothing_takes_no_memory(self) -> None:
        """lab-jail makes 32 for each program, most of which are never used."""
        self.start()
        _, node = self.connect()
        before = self.memory_kib(node)
        for _ in range(SILENT):
            last, _ = self.connect()
        last.send(b"no request")
        last.settimeout(SECONDS)
        self.assertEqual(last.recv(1), b"", "the last, and so all, are there when it is closed")
        self.assertLess(self.memory_kib(node) - before, SILENT * MOST_KIB)

    def test_a_program_after_the_last_has_ended_gets_another_node(self) -> None:
        """Programs that run one after the other under one VGPU_NODE_ID, each with a VGPU_NODE of
        its own: the node sees at once that the first has gone and that the second has come."""
        self.start(VGPU_NODE="none")
        one, node = self.connect()
        time.sleep(LATER_SECONDS)  # it is heard
        os.kill(node, signal.SIGSTOP)
        try:
            one.close()
            second = self.listed("single")
            time.sleep(LATER_SECONDS)
        finally:
            os.kill(node, signal.SIGCONT)
        said = second.communicate(timeout=SECONDS)[0]
        self.assertEqual(said.count("GPU 0:"), 1, said)
        self.assertNotIn("GPU 1:", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
