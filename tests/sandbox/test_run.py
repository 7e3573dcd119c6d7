# SPDX-License-Identifier: MIT
"""What `run` promises, on every tier: how a program ends is told, what it may not see is not there,
and nothing of it is left."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from unittest import mock

from grader.sandbox import (
    Limits,
    Outcome,
    Request,
    SandboxError,
    Tier,
    cgroups,
    held,
    run,
    slots,
    sweep,
)
from grader.sandbox.launch import PREFIX
from grader.sandbox.policy import uid_of
from tests.sandbox.tiers import available

ROOT = Path(__file__).parent.parent.parent
NOBODY = 65534
TIERS = "from tests.sandbox.tiers import available; print(*available())"
QUICK = Limits(wall_seconds=20)


def shell(tier: Tier, script: str, **changes: object) -> Outcome:
    request = Request(argv=("/bin/sh", "-c", script), limits=QUICK)
    return run(replace(request, **changes), tier)


def running(marker: str) -> list[str]:
    """PIDs of processes with `marker` among their words."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if marker.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return [pid for pid in found if pid != str(os.getpid())]


def _is_sleep(pid: str) -> bool:
    with suppress(OSError):
        return Path("/proc", pid, "cmdline").read_bytes().startswith(b"sleep\0")
    return False


def _oom_score(pid: str) -> str:
    return Path("/proc", pid, "oom_score_adj").read_text(encoding="ascii").strip()


# How many files in memory it can send that nobody receives; and what a larger file is answered.
FLIES = f"""
import errno, os, socket
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
sent = 0
for most in (100, 100, 56, 244, 100, 10, 1):
    fds = [os.memfd_create("x") for _ in range(most)]
    try:
        socket.send_fds(pair[0], [b"x"], fds)
        sent += most
    except OSError:
        pass
    for fd in fds:
        os.close(fd)
print(sent)
fd = os.memfd_create("x")
os.ftruncate(fd, {QUICK.file_bytes})
for more in (
    lambda: os.ftruncate(fd, {QUICK.file_bytes} + 1),
    lambda: os.posix_fallocate(fd, 0, {QUICK.file_bytes} + 1),
    lambda: os.pwrite(fd, b"x", {QUICK.file_bytes}),
):
    try:
        more()
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that every uid may look into."""
    with tempfile.TemporaryDirectory(prefix="sandbox-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


class EveryTier(unittest.TestCase):
    def each(self) -> Iterator[Tier]:
        for tier in available():
            with self.subTest(tier=tier.value):
                yield tier

    def test_status_and_output_are_told(self) -> None:
        for tier in self.each():
            outcome = shell(tier, "echo out; echo err >&2; exit 7")
            self.assertEqual((outcome.status, outcome.text), (7, "out\nerr\n"))
            self.assertIs(outcome.tier, tier)
            self.assertFalse(outcome.ok)

    def test_a_grader_may_have_many_descriptors_open(self) -> None:
        """One that grades eight submissions at a time has, and lab-jail is given one of its own."""
        for tier in self.each():
            held = [os.dup(0) for _ in range(300)]
            try:
                self.assertEqual(shell(tier, "exit 3").status, 3)
            finally:
                for fd in held:
                    os.close(fd)

    def test_a_signal_is_told(self) -> None:
        for tier in self.each():
            self.assertEqual(shell(tier, "kill -SEGV $$").signal, 11)

    def test_the_environment_is_the_request_and_nothing_else(self) -> None:
        os.environ["CANARY"] = "tweet"
        self.addCleanup(os.environ.pop, "CANARY")
        for tier in self.each():
            text = shell(tier, "cat /proc/*/environ | tr '\\0' '\\n'; env").text
            self.assertNotIn("tweet", text)
            self.assertIn("A=b c", shell(tier, "env", environment={"A": "b c"}).text)

    def test_only_what_is_named_is_there(self) -> None:
        with folder() as top:
            (top / "seen").mkdir()
            (top / "seen" / "file").write_text("shown\n")
            (top / "hidden").write_text("secret\n")
            for tier in self.each():
                script = f"cat {top}/seen/file {top}/hidden /etc/passwd; ls /home /root {top}"
                outcome = shell(tier, script, read_only=(top / "seen",))
                self.assertIn("shown", outcome.text)
                self.assertNotIn("secret", outcome.text)
                self.assertNotIn("root:", outcome.text)

    def test_writing_only_where_it_was_allowed(self) -> None:
        with folder() as top:
            for name in ("in", "out"):
                (top / name).mkdir()
            for tier in self.each():
                script = f"echo x >{top}/out/{tier}; echo x >{top}/in/{tier}; echo x >/usr/lab-x"
                shell(tier, script, read_only=(top / "in",), read_write=(top / "out",))
                self.assertTrue((top / "out" / str(tier)).exists())
                self.assertEqual(list((top / "in").iterdir()), [])
                self.assertFalse(Path("/usr/lab-x").exists())

    def test_output_is_cut_and_its_program_ended(self) -> None:
        for tier in self.each():
            outcome = shell(tier, "yes", limits=replace(QUICK, output_bytes=1000))
            self.assertTrue(outcome.flooded)
            self.assertEqual(len(outcome.output), 1000)

    def test_time_runs_out(self) -> None:
        for tier in self.each():
            began = time.monotonic()
            outcome = shell(tier, "sleep 1000", limits=replace(QUICK, wall_seconds=0.5))
            self.assertTrue(outcome.timed_out)
            self.assertLess(time.monotonic() - began, 10)

    def test_nothing_is_left_running(self) -> None:
        for tier in self.each():
            marker = f"123456{os.getpid()}{list(Tier).index(tier)}"
            script = f"(setsid sleep {marker} &); (trap '' TERM HUP; sleep {marker}) & "
            shell(tier, script + "exit 0")
            self.assertEqual(running(marker), [])
            shell(tier, script + "wait", limits=replace(QUICK, wall_seconds=0.5))
            self.assertEqual(running(marker), [])

    def test_it_goes_first_where_memory_runs_out(self) -> None:
        for tier in self.each():
            marker = f"98765{os.getpid()}{list(Tier).index(tier)}"
            with ThreadPoolExecutor(1) as pool:
                pool.submit(
                    shell, tier, f"sleep {marker}; :", limits=replace(QUICK, wall_seconds=2)
                )
                scores = set()
                deadline = time.monotonic() + 20
                while not scores and time.monotonic() < deadline:
                    scores = {_oom_score(pid) for pid in running(marker) if _is_sleep(pid)}
                self.assertEqual(scores, {"500"})

    def test_processes_are_limited_in_each_slot_by_itself(self) -> None:
        few = replace(QUICK, processes=24)
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 2 & done; echo started; wait"
        bomb = "n=0; while [ $n -lt 200 ]; do sleep 2 & n=$((n+1)); done; echo all"
        for tier in self.each():
            with slots.claim() as one, slots.claim() as other:
                self.assertNotIn("all", shell(tier, bomb, limits=few, slot=one).text)
                self.assertIn("started", shell(tier, script, limits=few, slot=other).text)

    def test_no_sockets_to_anything(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            script = (
                "import socket,sys\n"
                "for f in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n"
                "  for k in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):\n"
                "    try: socket.socket(f, k); print('open', f, k)\n"
                "    except OSError: pass\n"
                f"try: socket.create_connection(('127.0.0.1', {port})); print('open')\n"
                "except OSError: print('closed')\n"
            )
            for tier in self.each():
                request = Request(argv=("/usr/bin/python3", "-c", script), limits=QUICK)
                self.assertEqual(run(request, tier).text, "closed\n")

    def test_a_slot_is_no_other_user(self) -> None:
        for tier in self.each():
            with slots.claim() as slot:
                uid = uid_of(slot) or os.getuid()
                self.assertEqual(shell(tier, "id -u", slot=slot).text.strip(), str(uid))

    def test_memory_is_limited(self) -> None:
        script = "import sys\nx = bytearray(3 << 30)\nprint('had it')"
        for tier in self.each():
            request = Request(argv=("/usr/bin/python3", "-c", script), limits=QUICK)
            outcome = run(request, tier)
            self.assertNotIn("had it", outcome.text)
            self.assertFalse(outcome.ok)

    def test_files_on_their_way_through_a_socket_have_a_bound(self) -> None:
        """Without control groups nobody counts them: each is as large as a file may be, and a user
        has no more of them on their way than a program descriptors, and one message's besides."""
        for tier in self.each():
            outcome = run(Request(argv=("/usr/bin/python3", "-c", FLIES), limits=QUICK), tier)
            sent, *larger = outcome.text.split()
            self.assertEqual(larger, ["EFBIG"] * 3, outcome.text)
            self.assertLess(int(sent), 2 * QUICK.descriptors, tier)
            self.assertGreater(int(sent), QUICK.descriptors, tier)


class Leftovers(unittest.TestCase):
    def test_what_killed_graders_left_is_swept_and_nothing_else(self) -> None:
        gone = subprocess.Popen(["/bin/true"])
        gone.wait()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(tempfile, "tempdir", folder),
            mock.patch.object(cgroups, "YOUNG_SECONDS", 0.0),
        ):
            old = time.time() - 2 * held.YOUNG_SECONDS
            left, other = Path(folder, f"{PREFIX}left"), Path(folder, "somebody's")
            for path in (left, other):
                path.mkdir()
                os.utime(path, (old, old))
            with mock.patch.object(os, "getpid", return_value=gone.pid):
                theirs = cgroups.make(0, Limits())
            with mock.patch.object(cgroups, "_started", return_value="1"):
                earlier = cgroups.make(0, Limits())  # of one that had the PID that is ours now
            ours = cgroups.make(0, Limits())
            with held.held(PREFIX, 0o700) as mine:
                sweep()
                self.assertEqual({*Path(folder).iterdir()}, {mine, other})
            for group in (theirs, earlier):
                self.assertFalse(group and any(path.exists() for path in group.folders))
            self.assertTrue(ours is None or all(path.exists() for path in ours.folders))
            if ours:
                ours.remove()


class Tiers(unittest.TestCase):
    def test_who_cannot_keep_submissions_apart_has_one_at_a_time(self) -> None:
        self.assertEqual(Tier.LANDLOCK.slots(8), 1)
        self.assertEqual(Tier.UID.slots(8), 8)
        self.assertEqual(Tier.BUBBLEWRAP.slots(8), 8)


class Capabilities(unittest.TestCase):
    def test_a_plain_user_who_has_some_has_the_same_tiers(self) -> None:
        """As in a container with --cap-add."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can give a user capabilities, by setpriv")
        some = ["--inh-caps=+sys_ptrace", "--ambient-caps=+sys_ptrace"]
        without, tiers = self.tiers([]), self.tiers(some)
        if "Permission denied" in without:
            self.skipTest(f"user {NOBODY} cannot read this checkout")
        self.assertIn("landlock", without)
        self.assertEqual(tiers, without)

    def tiers(self, options: list[str]) -> str:
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *options]
        words += [sys.executable, "-B", "-c", TIERS]
        with tempfile.TemporaryDirectory(prefix="lab-plain-") as there:
            os.chown(there, NOBODY, NOBODY)
            env = {**os.environ, "TMPDIR": there, "HOME": there, "XDG_RUNTIME_DIR": there}
            done = subprocess.run(
                words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
            )
        return done.stdout + done.stderr


class Broken(unittest.TestCase):
    """What we did wrong is never a student's failure."""

    def test_a_path_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(SandboxError, "/nowhere"):
            run(Request(argv=("/bin/true",), read_only=(Path("/nowhere"),)), available()[0])

    @unittest.skipUnless(os.geteuid() == 0, "as an ordinary user there is no other one")
    def test_a_folder_that_the_slots_user_cannot_enter(self) -> None:
        with folder() as top:
            (top / "closed" / "course").mkdir(parents=True)
            (top / "closed").chmod(0o700)
            request = Request(argv=("/bin/true",), read_only=(top / "closed" / "course",))
            with self.assertRaisesRegex(SandboxError, "closed is closed to others"):
                run(request, available()[0])

    def test_a_program_by_relative_path(self) -> None:
        with self.assertRaisesRegex(SandboxError, "absolute"):
            run(Request(argv=("true",)), available()[0])

    def test_a_path_with_a_line_end(self) -> None:
        with folder() as top:
            odd = top / "a\nuid 0"
            odd.mkdir()
            with self.assertRaisesRegex(SandboxError, "line's end"):
                run(Request(argv=("/bin/true",), read_only=(odd,)), available()[0])


if __name__ == "__main__":
    unittest.main()
