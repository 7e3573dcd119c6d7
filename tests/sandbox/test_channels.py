# SPDX-License-Identifier: MIT
"""Two submissions that run at the same time tell each other nothing: tests/hostile/pair.c tries
each channel that is known here, on every tier. What stays open is listed here and in
docs/security.md."""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader.sandbox import Limits, Request, Tier, prepare, run, slots
from grader.sandbox.programs import programs
from tests.sandbox.tiers import available

SOURCE = Path(__file__).parents[1] / "hostile" / "pair.c"
FILES = ("lock", "record", "watch", "notice/inside", "futex", "thread", "atime", "cache")
HEAD_START = 3.0  # of the listener
OLD = 3 * 86400
LIMITS = Limits(wall_seconds=60)

# Without a sandbox; atime and cache need a file system on a disk.
HEARD_OUTSIDE = {
    *("lock", "record", "watch", "notice", "futex", "thread"),
    *("load", "clock", "ask", "pid"),
}
# The end of a thread wakes who waits at a library's page: pthread_join lives on that.
OPEN = {
    Tier.BUBBLEWRAP: {"thread"},
    Tier.UID: {"thread", "pid"},  # numbers of processes: without a namespace they are one row
    Tier.LANDLOCK: {"thread", "pid", "atime"},
}
# Processes that run kernels: on every tier in place, so that the node knows their numbers; they may
# read their helpers' clocks, and so those of others.
OPEN_TO_KERNELS = {
    Tier.UID: {"thread", "pid", "clock"},
    Tier.LANDLOCK: {"thread", "pid", "clock", "atime"},
}
# Two users' graders at once, each with its own slots: what one's submission hears of the other's.
USERS = (65533, 65534)
AS_USER = """
import sys
from pathlib import Path
from grader.sandbox import Limits, Request, Tier, run
program, word, top = sys.argv[2:]
shown = (Path(program), Path(top))
request = Request(argv=(program, word, top), read_only=shown, limits=Limits(wall_seconds=60))
print(run(request, Tier(sys.argv[1])).text)
"""


class Channels(unittest.TestCase):
    """Marks go by the pair's own words: what it heard."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.place = tempfile.TemporaryDirectory(prefix="channels-", dir="/var/tmp")
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = Path(cls.place.name)
        cls.folder.chmod(0o755)
        cls.program = cls.folder / "pair"
        words = ["cc", "-std=gnu11", "-D_GNU_SOURCE=", "-O1", "-w", "-o", cls.program, SOURCE]
        subprocess.run(words, check=True)

    def heard(self, start: Callable[[str, Path], str]) -> set[str]:
        """`start` runs the program with a word in a folder and gives what it printed."""
        top = Path(tempfile.mkdtemp(dir=self.folder))
        top.chmod(0o755)
        for name in FILES:
            path = top / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x" * 8192)
            with path.open("rb") as file:
                os.fsync(file.fileno())
            os.utime(path, (time.time() - OLD, time.time() - OLD))
        with ThreadPoolExecutor(2) as pool:
            listens = pool.submit(start, "listen", top)
            time.sleep(HEAD_START)
            talks = pool.submit(start, "talk", top)
            text = talks.result() + listens.result()
        self.assertIn("listened", text)
        return {line.removeprefix("heard ") for line in text.splitlines() if "heard" in line}

    def test_without_a_sandbox_it_is_heard(self) -> None:
        def start(word: str, top: Path) -> str:
            done = subprocess.run([self.program, word, top], capture_output=True, check=True)
            return done.stdout.decode()

        self.assertLessEqual(HEARD_OUTSIDE, self.heard(start))

    def test_in_it_nothing_is_heard_but_what_the_page_lists(self) -> None:
        for tier in available():

            def start(word: str, top: Path, tier: Tier = tier) -> str:
                with slots.claim() as slot:
                    argv = (str(self.program), word, str(top))
                    shown = (self.program, top)
                    request = Request(argv=argv, read_only=shown, limits=LIMITS, slot=slot)
                    return run(request, tier).text

            with self.subTest(tier=tier.value):
                self.assertLessEqual(self.heard(start), OPEN[tier])

    @unittest.skipIf(os.geteuid() != 0, "who is not root cannot be two users")
    def test_two_users_hear_nothing_but_what_the_page_lists(self) -> None:
        """Their graders take no notice of each other's locks; the walls are the same."""
        for tier in (tier for tier in available() if tier is not Tier.UID):

            def start(word: str, top: Path, tier: Tier = tier) -> str:
                user = USERS[word == "talk"]
                words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
                words += [sys.executable, "-B", "-c", AS_USER, tier.value, self.program, word, top]
                home = {"HOME": str(self.folder), "TMPDIR": "/tmp"}
                done = subprocess.run(
                    words,
                    capture_output=True,
                    check=False,
                    cwd=Path(__file__).parents[2],
                    env={**os.environ, **home},
                    timeout=60,
                )
                return (done.stdout + done.stderr).decode()

            with self.subTest(tier=tier.value):
                self.assertLessEqual(self.heard(start), OPEN[tier])

    def test_kernels_hear_nothing_but_what_the_page_lists(self) -> None:
        """The same pair where submissions run their kernels, by the policy that the node is given.
        It is one policy on all tiers but for the user."""
        tier = Tier.UID if os.geteuid() == 0 else Tier.LANDLOCK

        def start(word: str, top: Path) -> str:
            with prepare(Request(argv=(), limits=LIMITS), tier) as launch:
                words = launch.environment["VGPU_EXEC_LAUNCHER"].splitlines()
                with Path(words[-1]).open("a", encoding="utf-8") as policy:
                    policy.write(f"read {self.program}\nread {top}\n")
                words += [str(self.program), word, str(top)]
                done = subprocess.run(words, capture_output=True, check=False, timeout=60)
                return (done.stdout + done.stderr).decode()

        self.assertLessEqual(self.heard(start), OPEN_TO_KERNELS[tier])


# Ways to name a file in a submission. FILE is its path.
NAMING = {
    "include": '#include "FILE"\n',
    "include_by_macro": '#define NAME "FILE"\n#include NAME\n',
    "has_include": '#if __has_include("FILE")\n#error there\n#endif\n',
    "has_include_by_macro": "#define NAME <FILE>\n#if __has_include(NAME)\n#error there\n#endif\n",
    "include_next": '#include_next "FILE"\n',
    "import": '#import "FILE"\n',
    "embed": 'const char bytes[] = {\n#embed "FILE"\n};\n',
    "has_embed": '#ifdef __has_embed\n#if __has_embed("FILE")\n#error there\n#endif\n#endif\n',
    "dependency": '#pragma GCC dependency "FILE"\n',
    "line": '#line 1 "FILE"\nwrong\n',
    "incbin": '__asm__(".incbin \\"FILE\\"");\n',
    "assembler_include": '__asm__(".include \\"FILE\\"");\n',
}
EACH = 'for s in *.c*; do echo "== $s"; "$0" -c -o "$1/x.o" "$s"; echo "status $?"; done 2>&1'
RANDOM = re.compile(r"/(cc|vgpu-cc-)[A-Za-z0-9]{6}\b")  # names of temporary files


class Compilers(unittest.TestCase):
    """A student reads what a compiler says of the files that the submission names. Of those that it
    may not read it says the same whether they exist or not, a process's in /proc among them."""

    @classmethod
    def setUpClass(cls) -> None:
        place = tempfile.TemporaryDirectory(prefix="compiled-", dir="/var/tmp")
        cls.addClassCleanup(place.cleanup)
        cls.folder = Path(place.name)
        cls.folder.chmod(0o755)
        (cls.folder / "closed").mkdir()
        (cls.folder / "closed" / "there").write_text("int secret;\n")

    def test_a_path_that_it_may_not_read_is_as_one_that_does_not_exist(self) -> None:
        for tier in available():
            for there, absent in self.paths(tier):
                with self.subTest(f"{tier}: {there}"):
                    self.assertEqual(self.said(tier, "c", there), self.said(tier, "c", absent))
            with self.subTest(f"{tier}: kernels"):
                there, absent = self.paths(tier)[:2][-1]
                self.assertEqual(self.said(tier, "cu", there), self.said(tier, "cu", absent))

    def test_what_it_may_read_is_there(self) -> None:
        for tier in available():
            said = self.said(tier, "c", "/usr/include/errno.h")
            self.assertEqual(said.count("error: #error there"), 2, said)

    def paths(self, tier: Tier) -> list[tuple[str, str]]:
        """Of what exists, each with one as long of what does not. In a box processes have other
        numbers, so that ours may be one of its own."""
        pid = str(os.getpid())
        numbers = range(10 ** (len(pid) - 1), 10 ** len(pid))
        none = next(str(n) for n in numbers if not Path(f"/proc/{n}").exists())
        closed = f"{self.folder}/closed/"
        files = [(f"{closed}there", f"{closed}their")]
        if tier is Tier.BUBBLEWRAP:
            return files
        return [
            *files,
            (f"/proc/{pid}/stat", f"/proc/{none}/stat"),
            (f"/proc/{pid}/stat/x", f"/proc/{none}/stat/x"),
            (f"../../../../proc/{pid}", f"../../../../proc/{none}"),
        ]

    def said(self, tier: Tier, suffix: str, path: str) -> str:
        """What the compiler says of each way to name that path, and its status."""
        bin_folder, root = programs(), Path(__file__).parents[2]
        compiler = "/usr/bin/cc" if suffix == "c" else str(bin_folder / "vgpu-cc")
        vgpu = (root / "vgpu/include", root / "vgpu/common", bin_folder.parent / "lib")
        own = (bin_folder / "vgpu-cc", bin_folder / "vgpu-exec")
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            sources, out = Path(name, "sources"), Path(name, "out")
            Path(name).chmod(0o755)
            sources.mkdir()
            out.mkdir()
            for way, text in NAMING.items():
                (sources / f"{way}.{suffix}").write_text(text.replace("FILE", path))
            request = Request(
                argv=("/bin/sh", "-c", EACH, compiler, str(out)),
                read_only=(sources, *vgpu, *own),
                read_write=(out,),
                environment={"TMPDIR": str(out)},
                folder=sources,
                limits=LIMITS,
                compiles=True,
            )
            said = run(request, tier).text
        self.assertEqual(said.count("status "), len(NAMING), said)
        return RANDOM.sub(r"/\1XXXXXX", said.replace(name, "").replace(path, "FILE"))


if __name__ == "__main__":
    unittest.main()
