# SPDX-License-Identifier: MIT
"""gdb on kernels and on what crashes, with a real gdb. ./lab debug: of the reference's code, and of
such with a mistake. gdb and vgpu-gdb on a program outside of the labs. Exit status 77 without gdb.

    test_debugger.py ROOT BUILD [TEST...]
"""

import contextlib
import json
import os
import pty
import queue
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
SOURCE = ROOT / "solutions" / "04-reduction" / "reduction.cu"
SECONDS = 120
SILENCE = 30  # of gdb, while its processes run
PRESSES = 6  # of Continue
NOBODY = 65534
CHILD = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int child(int which)
{
    int *nowhere = NULL;
    return which == 1 ? *nowhere : 0;
}
int main(void)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            exit(child(i));
    while (wait(NULL) > 0)
        continue;
    return 0;
}
"""
# Runs a case of a lab, of whose file one line has another one in front of it.
WRONG = """
import sys
from pathlib import Path
from grader.building import ctest
from grader.building.variants import Variant
from grader.commands import debug
from grader.course.project import Project
root, build, lab, case, file, line, wrong = sys.argv[1:]
project = Project(Path(root), Path(build))
(test,) = [t for t in ctest.tests(project) if t.name == f"solution{lab[:2]}.{case}"]
source = Path(file)
text = (project.solutions_dir / lab / source.name).read_text(encoding="utf-8")
assert text.count(line) == 1
source.write_text(text.replace(line, wrong + "\\n" + line), encoding="utf-8")
variant = Variant(project, project.lab(lab[:2]), source)
wish = debug.Wish(host=True, commands=("bt 1", "info args", "info locals"))
sys.exit(debug.run(variant, test, [], wish))
"""


def run(words: "list[str | Path]", **how: object) -> tuple[int, str]:
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False, **how
    )
    return done.returncode, done.stdout + done.stderr


def as_somebody(folder: Path) -> "dict[str, object]":
    """Root may debug what others may not: in its place somebody else does, if they can read this
    checkout. How subprocess.run is told."""
    folders = [folder, BUILD, *BUILD.parents]
    if os.geteuid() != 0 or not all(one.stat().st_mode & 0o001 for one in folders):
        return {}
    kept = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": [], "env": {**kept, "HOME": "/"}}


def typed(words: "list[str | Path]", *lines: str) -> str:
    """What a program says on a terminal where somebody types a line at each of gdb's prompts."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "dumb"
        os.execvp(words[0], list(map(str, words)))
    said, answered, left = "", 0, list(lines)
    with contextlib.suppress(OSError):  # the end, on Linux
        while select.select([terminal], [], [], SECONDS)[0]:
            said += os.read(terminal, 65536).decode(errors="replace")
            if left and said[answered:].endswith("(gdb) "):
                answered = len(said)
                os.write(terminal, f"{left.pop(0)}\n".encode())
    os.close(terminal)
    os.waitpid(process, 0)
    return said.replace("\r", "")


def debug(*words: str) -> tuple[int, str]:
    return run([sys.executable, ROOT / "lab", "--build", BUILD, "debug", *words, "--solution"])


def line_of(text: str, source: Path = SOURCE) -> int:
    """The only line of a source with this text."""
    lines = source.read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line]
    return number


class Editor(unittest.TestCase):
    """.vscode/launch.json, with gdb told what cppdbg tells it. VS Code itself is not run."""

    def filled(self, text: str) -> str:
        text = text.replace("${workspaceFolder}/build/vgpu", str(BUILD))
        return text.replace("${workspaceFolder}", str(ROOT))

    def until_it_stops(self, gdb: "subprocess.Popen[str]") -> list[str]:
        """What gdb says, until the user's breakpoint or an error. Now and then it also stops where
        a process that the test has forked ends: the user presses Continue (lab-commands.md)."""
        assert gdb.stdin and gdb.stdout
        said: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=lambda: [*map(said.put, gdb.stdout or ())], daemon=True).start()
        read: list[str] = []
        for _ in range(PRESSES):
            with contextlib.suppress(queue.Empty):
                while not read or not read[-1].startswith(("*stopped", "^error")):
                    read.append(said.get(timeout=SILENCE))
                if "exited-normally" not in read[-1]:
                    return read
            read.append("silent, or a process has ended: continue\n")
            gdb.stdin.write("-exec-continue\n")
            gdb.stdin.flush()
        gdb.kill()
        raise AssertionError("gdb does not stop:\n" + "".join(read)[-3000:])

    def test_f5_stops_in_a_kernel_of_the_failing_test(self) -> None:
        launch = json.loads((ROOT / ".vscode/launch.json").read_text(encoding="utf-8"))
        (one,) = launch["configurations"]
        status, said = debug("04-reduction", "shared", "--prepare")
        self.assertEqual(status, 0, said)
        lines = [given["text"] for given in one["setupCommands"]]
        lines = [s if s[0] == "-" else f'-interpreter-exec console "{s}"' for s in lines]
        lines += [f"-environment-cd {one['cwd']}", f"-file-exec-and-symbols {one['program']}"]
        gdb = subprocess.Popen(
            [self.filled(one["miDebuggerPath"]), "--interpreter=mi"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
        )
        assert gdb.stdin
        gdb.stdin.write("\n".join(map(self.filled, [*lines, "-exec-run"])) + "\n")
        gdb.stdin.flush()
        read = self.until_it_stops(gdb)
        gdb.stdin.write("kill inferiors 1\n-gdb-exit\n")
        gdb.stdin.close()
        gdb.wait(SECONDS)
        self.assertIn('reason="breakpoint-hit"', read[-1], "".join(read)[-3000:])
        self.assertIn('func="shared_kernel"', read[-1])

    def test_every_program_task_and_command_of_the_settings_is_there(self) -> None:
        read = {
            path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in (ROOT / ".vscode").glob("*.json")
        }
        tasks = {task["label"]: task for task in read["tasks"]["tasks"]}
        for one in read["launch"]["configurations"]:
            self.assertEqual((one["type"], one["MIMode"]), ("cppdbg", "gdb"))
            self.assertIn(one["preLaunchTask"], tasks)
            self.assertTrue(os.access(self.filled(one["miDebuggerPath"]), os.X_OK))
        for task in tasks.values():
            words = [self.filled(task["command"]), *task["args"]]
            self.assertTrue(os.access(words[0], os.X_OK), words)
            said = run([words[0], task["args"][0], "--help"])
            self.assertEqual(said[0], 0, words)
            for option in task["args"][1:]:
                self.assertTrue(option[0] != "-" or option in said[1], option)
        container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
        wanted = container["customizations"]["vscode"]["extensions"]
        self.assertEqual(wanted, read["extensions"]["recommendations"])
        presets = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))["testPresets"]
        self.assertTrue(presets and read["settings"]["cmake.useCMakePresets"] == "always")


class Labs(unittest.TestCase):
    def test_it_stops_in_a_kernel_with_arguments_and_locals(self) -> None:
        where = line_of("sum[threadIdx.x] = own_elements(data, n);")
        status, said = debug(
            "04", "shared", "-x", "bt", "-x", "info args", "-x", "info locals", "-x", "p blockDim"
        )
        self.assertEqual(status, 0, said)
        told = "stops in kernels on GPU 0 (shared_kernel, warp_kernel, total_kernel) and where"
        self.assertIn(told, said)
        at = rf"(?m)^#0 .*\bshared_kernel \(data=0x2\w+, n=1, .* at .*/reduction\.cu:{where}$"
        self.assertRegex(said, at)
        self.assertRegex(said, r"(?m)^data = 0x2\w+\nn = 1\npartials = 0x2\w+$")
        self.assertRegex(said, r"(?m)^sum = \{.*<repeats 25\d times>")
        self.assertIn("{x = 256, y = 1, z = 1}", said)
        self.assertIn("[GPU 0, block (0, 0, 0), thread (0, 0, 0)]", said)
        self.assertIn("pass  solution04.shared", said)

    def test_another_gpus_kernels_and_a_step(self) -> None:
        status, said = debug("04.scale", "--gpu", "1", "-x", "next", "-x", "bt")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"(?m)^#0 .* at .*/reduction\.cu:\d+$")
        self.assertIn("[GPU 1, block", said)
        self.assertIn("pass  solution04.scale", said)

    def test_functions_of_the_host(self) -> None:
        status, said = debug("01", "count", "-x", "bt")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"(?m)^#0 +inv_count .* at .*/enumerate\.c:\d+$")
        self.assertRegex(said, r"(?m)^#\d+ .*main \(")
        self.assertIn("pass  solution01.count", said)

    def test_a_function_that_the_node_has_one_of_the_same_name_of(self) -> None:
        status, said = debug("05", "export", "--host", "-x", "info breakpoints")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"ipc_export\(.* at .*/ipc\.cu:\d+")
        self.assertNotIn("/vgpu/node/", said)
        self.assertNotIn("pending", said)

    def test_nothing_crashes(self) -> None:
        status, said = debug("01", "count", "--crash", "-x", "bt")
        self.assertEqual(status, 6, said)
        self.assertIn("runs under gdb, which stops where a process crashes.\n", said)
        self.assertIn("ended, and no process of it crashed", said)

    def test_a_gpu_without_a_kernel_and_a_test_that_is_not_there(self) -> None:
        status, said = debug("04", "shared_rounding", "--gpu", "3", "-x", "bt")
        self.assertEqual(status, 6, said)
        self.assertIn("ended without a kernel on GPU 3", said)
        status, said = debug("04", "nonsense")
        self.assertEqual(status, 6, said)
        status, said = debug("04")
        self.assertEqual(status, 2, said)
        self.assertIn("solution04.shared", said)


class Crashes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="peerlab-debugger-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def crash(self, lab: str, case: str, name: str, line: str, wrong: str) -> str:
        """What gdb says; it has stopped at the wrong line."""
        file = self.folder / name
        words = [ROOT, BUILD, lab, case, file, line, wrong]
        status, said = run([sys.executable, "-c", WRONG, *words])
        self.assertEqual(status, 0, said)
        self.assertIn("signal SIGSEGV", said)
        where = line_of(wrong, file)
        self.assertRegex(said, rf"(?m)^#0 .* at {re.escape(str(file))}:{where}$")
        self.assertRegex(said, r"(?m)^nowhere = 0x0$")
        return said

    def test_the_process_of_a_test(self) -> None:
        said = self.crash(
            "01-enumerate",
            "count",
            "enumerate.c",
            "    if (!n)",
            "    int *nowhere = NULL; *nowhere = 1;",
        )
        self.assertRegex(said, r"(?m)^n = 0x\w+$")
        self.assertIn("fail  solution01.count", said)

    def test_another_process_of_a_test(self) -> None:
        said = self.crash(
            "05-ipc",
            "together",
            "ipc.cu",
            "    if (!ring || !ring->inbox || !dst",
            "    int *nowhere = NULL; if (ring && ring->peers->rank == 2) *nowhere = 1;",
        )
        self.assertRegex(said, r"(?m)^ring = 0x\w+\ndst = 0x\w+\nroom = \d+$")
        self.assertIn("fail  solution05.together", said)


class Programs(unittest.TestCase):
    """A program outside of the labs."""

    folder: Path
    program: Path
    source = ROOT / "tests" / "debugger" / "sum.cu"

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="peerlab-debugger-")
        cls.addClassCleanup(folder.cleanup)
        Path(folder.name).chmod(0o755)
        cls.program = cls.compile(Path(folder.name) / "sum", "clang++")

    @classmethod
    def compile(cls, program: Path, clang: str) -> Path:
        subprocess.run(
            [BUILD / "bin" / "vgpu-cc", "-g", "-G", cls.source, "-o", program],
            env={**os.environ, "VGPU_CLANG": shutil.which(clang) or ""},
            check=True,
        )
        return program

    def gdb(self, start: "list[str | Path]", program: Path, *commands: str, word: str = "") -> str:
        """What gdb says; the program is started with the word, if there is one."""
        words = [*start, "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off"]
        words += [part for command in commands for part in ("-ex", command)]
        words += ["--args", program, *([word] if word else [])]
        return run(words, **as_somebody(program.parent))[1]

    def stops_in_the_kernel(self, start: "list[str | Path]", program: Path) -> None:
        line = line_of("// every thread has stored", self.source)
        said = self.gdb(
            start,
            program,
            f"break sum.cu:{line} if $vgpu_thread(1) && $vgpu_block(1)",
            "run",
            "info args",
            "info locals",
            "print tile",
            "print more[2]",
            "print scale.by",
            "print factor",
            "print threadIdx",
            "print blockIdx",
            "continue",
        )
        self.assertRegex(said, rf"hit Breakpoint \d.* sum \(in=0x2\w+, .* at .*sum\.cu:{line}\n")
        self.assertIn("[GPU 0, block (1, 0, 0), thread (1, 0, 0)]", said)
        self.assertRegex(said, r"(?m)^n = 8\nscale = \{by = 3, offset = 0\.5\}$")
        self.assertRegex(said, r"(?m)^me = 5\nmine = 5$")
        printed = re.findall(r"(?m)^\$\d+ = (.*)$", said)
        wanted = [
            "{4, 5, 6, 7}",
            "-6",
            "3",
            "2.5",
            "{x = 1, y = 0, z = 0}",
            "{x = 1, y = 0, z = 0}",
        ]
        self.assertEqual(printed, wanted, said)
        self.assertIn("45.5 165.5", said)
        self.assertNotIn("__device_stub__", said)

    def test_gdb_that_trusts_the_toolkits_script(self) -> None:
        trust = f"add-auto-load-safe-path {BUILD}/lib/vgpu"
        self.stops_in_the_kernel(["gdb", "-iex", trust], self.program)

    def test_gdb_that_does_not_says_which_line_is_missing(self) -> None:
        said = self.gdb(["gdb"], self.program, "info breakpoints")
        self.assertRegex(said, r"add-auto-load-safe-path /.*/vgpu/vgpu_gdb\.py")

    def test_vgpu_gdb_and_the_newest_clang(self) -> None:
        clangs = [f"clang++-{n}" for n in range(19, 14, -1) if shutil.which(f"clang++-{n}")]
        if not clangs:
            self.skipTest("no other Clang")
        program = self.compile(self.program.with_name("newer"), clangs[0])
        self.stops_in_the_kernel([BUILD / "bin" / "vgpu-gdb"], program)

    def test_a_crash_of_the_host(self) -> None:
        said = self.gdb(
            [BUILD / "bin" / "vgpu-gdb"], self.program, "run", "bt 1", "info args", word="wrong"
        )
        where = line_of("return *where;", self.source)
        self.assertRegex(said, rf"(?m)^#0 .* finish \(.* at .*/sum\.cu:{where}$")
        self.assertRegex(said, r"(?m)^where = 0x0$")

    def test_a_crash_of_a_child_at_the_prompt_after_delete(self) -> None:
        source = self.program.with_name("child.c")
        source.write_text(CHILD, encoding="utf-8")
        program = source.with_suffix("")
        subprocess.run(["cc", "-g", "-o", program, source], check=True)
        said = typed(
            [BUILD / "bin" / "vgpu-gdb", "-q", "-nx", "-ex", "set confirm off", program],
            *("break main", "run", "delete", "continue", "bt", "info locals", "quit"),
        )
        self.assertIn("signal SIGSEGV", said)
        self.assertRegex(said, r"(?m)^#0 .* child \(which=1\)")
        self.assertRegex(said, r"(?m)^nowhere = 0x0$")


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("no gdb here (apt-get install gdb)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
