# SPDX-License-Identifier: MIT
"""`./lab debug 04 CASE`: a test under gdb, which stops in the learner's kernels, or in their
functions where there are none (or with --host).

Kernels run in a process of their own, one for each GPU (vgpu-exec), and the test's functions in
another (the runner). VGPU_HALT asks the one that is meant to wait for a debugger and to say its
number (vgpu/common/debugger_wait.h); gdb is attached to it, with a breakpoint on each kernel.
Meanwhile no limit of time holds.
"""

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.building import build, ctest
from grader.building.needs import build_env
from grader.commands.submit import student_file
from grader.course.project import Lab, Project
from grader.learning import testing

HALT_SECONDS = 60.0  # until the process that is meant has said its number
LOOK_SECONDS = 0.05
_BOUNDS = r"__launch_bounds__\s*\([^)]*\)"
_KERNEL = re.compile(
    rf"__global__\s+(?:(?:static|inline|void|{_BOUNDS})\s+)+(\w+)\s*\([^;{{}}]*\)\s*\{{"
)
# No limit of time while somebody thinks.
_LIMITS = ("VGPU_KERNEL_SECONDS", "LAB_CPU_SECONDS", "LAB_IDLE_SECONDS")
# The node's signals to a context: memory touched for the first time, a division, a look at a hang.
_SIGNALS = "SIGSEGV SIGFPE SIGALRM SIGVTALRM SIGPROF SIGUSR1 SIGUSR2 SIGPIPE"


@dataclass(frozen=True)
class Wish:
    """What is to be debugged: the kernels of a GPU, or the host's side. `commands` are gdb's, to
    be carried out at the first stop: then gdb ends by itself."""

    host: bool = False
    gpu: int = 0
    solution: bool = False  # the reference's, not the learner's
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where gdb stops: a kernel or function, and how gdb is told."""

    name: str
    at: str


def command(project: Project, what: str, case: str, wish: Wish) -> ExitStatus:
    build.require_configured(project)
    if shutil.which("gdb") is None:
        raise LabError(say("debug.no-gdb"), ExitStatus.MISSING)
    labs, pattern = testing.chosen(project, f"{what}.{case}" if case else what)
    if not wish.solution:
        testing.rebuild(project, labs)
    root = project.solutions_dir if wish.solution else project.labs_dir
    test = _test(project, pattern.replace("^lab", "^solution") if wish.solution else pattern)
    source = root / labs[0].folder / student_file(project, labs[0])
    places = kernels(source) if not wish.host else []
    wish = wish if places else replace(wish, host=True)
    places = places or functions(project, labs[0])
    return _run(project, test, places, wish)


def kernels(source: Path) -> list[Place]:
    """The kernels of a file, by the line of their brace: so gdb finds those of templates, too."""
    text = source.read_text(encoding="utf-8")
    return [
        Place(found[1], f"{source.name}:{text.count(chr(10), 0, found.end()) + 1}")
        for found in _KERNEL.finditer(text)
    ]


def functions(project: Project, lab: Lab) -> list[Place]:
    """What the TODOs of a lab ask for, as its build knows it."""
    conf = (project.build_dir / "labs" / lab.folder / "lab.conf").read_text(encoding="utf-8")
    found = re.search(r"^LAB_FUNCTIONS='(.*)'$", conf, re.MULTILINE)
    names = [word.split(":")[1] for word in found[1].split()] if found else []
    return [Place(name, name) for name in names]


def script(places: list[Place]) -> str:
    """What gdb is told before anything runs."""
    lines = [
        "set pagination off",
        "set confirm off",
        "set breakpoint pending on",
        "set debuginfod enabled off",
        f"handle {_SIGNALS} nostop noprint pass",
        *(f"break {place.at}" for place in places),
    ]
    return "\n".join(lines) + "\n"


def _test(project: Project, pattern: str) -> ctest.Test:
    found = [test for test in ctest.tests(project, pattern) if re.search(pattern, test.name)]
    if not found:
        raise LabError(testing.no_match(project, pattern), ExitStatus.NO_MATCH)
    if len(found) > 1:
        names = ", ".join(test.name for test in found)
        raise LabError(say("debug.which", tests=names), ExitStatus.USAGE)
    return found[0]


def _run(project: Project, test: ctest.Test, places: list[Place], wish: Wish) -> ExitStatus:
    who = "host" if wish.host else str(wish.gpu)
    with TemporaryDirectory(prefix="peerlab-debug-") as folder:
        number, said = Path(folder) / "pid", Path(folder) / "said"
        commands = Path(folder) / "gdb"
        commands.write_text(script(places), encoding="utf-8")
        env = {**os.environ, **build_env(project), **dict.fromkeys(_LIMITS, "86400")}
        env["VGPU_HALT"] = f"{who}:{number}"
        with said.open("wb") as output:
            running = subprocess.Popen(
                test.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env
            )
        try:
            pid = _halted(running, number)
            print(
                say("debug.stops", test=test.name, places=", ".join(p.name for p in places)),
                flush=True,
            )
            if pid:
                _gdb(pid, commands, wish)
            else:
                print(say("debug.never-there", test=test.name, gpu=wish.gpu))
            running.wait(timeout=HALT_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            running.kill()
        finally:
            running.wait()
        print(said.read_text(encoding="utf-8", errors="replace").rstrip())
        return ExitStatus.OK if pid else ExitStatus.NO_MATCH


def _halted(running: "subprocess.Popen[bytes]", number: Path) -> int:
    """The process that waits for gdb; 0 where the test ended, or took too long, without one."""
    until = time.monotonic() + HALT_SECONDS
    while time.monotonic() < until:
        if number.is_file():
            return int(number.read_text(encoding="utf-8"))
        if running.poll() is not None:
            return 0
        time.sleep(LOOK_SECONDS)
    return 0


def _gdb(pid: int, commands: Path, wish: Wish) -> None:
    """In the foreground. Where it ends before the program, the program goes on alone."""
    words = ["gdb", "-q", "-p", str(pid), "-x", str(commands)]
    if wish.commands:
        words[1:1] = ["-batch", "-nx"]
        words += ["-ex", "continue"]
        words += [word for line in (*wish.commands, "delete", "detach") for word in ("-ex", line)]
    else:
        words += ["-ex", "continue"]
    try:
        subprocess.run(words, check=False)
    except KeyboardInterrupt:
        return
