# SPDX-License-Identifier: MIT
"""gdb on programs of the virtual node. Kernels run in a process of their own for each GPU
(vgpu-exec), which a node starts (vgpu-node), and a test is several programs: gdb follows all of
them, and breakpoints and crashes stop it in whichever process they happen. `threadIdx`, `blockIdx`,
`blockDim` and `gridDim` are variables; every stop in a kernel says which thread it is.

vgpu-gdb loads this file, and so does gdb itself, if its safe path has the file, for a program that
vgpu-cc has linked with -g or -G.
"""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

import gdb

CRASHES = "SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT"
# A node's signals to a context, and what the runtime asks the kernel for.
QUIET = f"{CRASHES} SIGALRM SIGVTALRM SIGPROF SIGUSR1 SIGUSR2 SIGPIPE"
IS_LOADED = "SETTINGS" in globals()  # by gdb itself, or by vgpu-gdb
FOLDER = globals().get("FOLDER") or tempfile.mkdtemp(prefix="vgpu-gdb-")  # device code, to read
SETTINGS = (
    "set breakpoint pending on",
    "set detach-on-fork off",
    "set schedule-multiple on",
    "set print inferior-events off",
    "set print symbol-loading off",
    f"handle {QUIET} nostop noprint pass",
    # Fewer limits of time, and one process for the blocks of a kernel.
    f"set environment VGPU_DEBUGGER {FOLDER}",
    "set environment VGPU_KERNEL_SECONDS 86400",
    "set environment VGPU_WORKERS 1",
    # A node that runs already was started by somebody else: gdb would not see its contexts.
    f"set environment VGPU_NODE_ID gdb-{os.getpid()}",
)
MOVES = ("run", "continue", "next", "step", "finish")
MAIN = 1  # the inferior that the user has started
STUB = "__device_stub__"  # a kernel's function on the host

_ended: "list[int]" = []  # inferiors since the last stop that somebody was told
_stopped: "gdb.InferiorThread | None" = None
_catch = 0  # the breakpoint at crashes


def _is_caught(pid: int, signal: int) -> bool:
    """Has the process a handler for the signal? The runtime's gives its signal back when it is a
    crash: the same instruction then does it again."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    (mask,) = [int(line[7:], 16) for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(mask >> (signal - 1) & 1)


class Crashes(gdb.Function):
    """$vgpu_crashes(): is the signal at hand the end of its process?"""

    def __init__(self) -> None:
        super().__init__("vgpu_crashes")

    def invoke(self) -> bool:
        signal = int(gdb.parse_and_eval("$_siginfo.si_signo"))
        return not _is_caught(gdb.selected_inferior().pid, signal)


class Gpu(gdb.Function):
    """$vgpu_gpu(): the number of the GPU whose kernels the process runs; -1: it runs none."""

    def __init__(self) -> None:
        super().__init__("vgpu_gpu")

    def invoke(self) -> int:
        return _gpu()


class Index(gdb.Function):
    """$vgpu_thread(3), $vgpu_thread(3, 0, 0), $vgpu_block(1): is it this thread, this block? In a
    kernel, and nowhere else: a breakpoint's condition is evaluated wherever it may be."""

    def __init__(self, name: str, variable: str) -> None:
        super().__init__(name)
        self.variable = variable

    def invoke(self, *wanted: gdb.Value) -> bool:
        return _is_in_kernel() and list(map(int, wanted)) == _index(self.variable)[: len(wanted)]


class Written(gdb.Function):
    """$vgpu_written(): is this where the user has written it? The host has a function for each
    kernel, in which gdb finds the kernel's lines before the kernel is there."""

    def __init__(self) -> None:
        super().__init__("vgpu_written")

    def invoke(self) -> bool:
        return not _frame_name().startswith(STUB)


def _gpu() -> int:
    path = gdb.current_progspace().filename or ""
    if not path.endswith("/vgpu-exec"):
        return -1
    return int(gdb.parse_and_eval("context.device"))


def _frame_name() -> str:
    try:
        return gdb.newest_frame().name() or ""
    except gdb.error:
        return ""


def _index(variable: str) -> "list[int]":
    value = gdb.parse_and_eval(variable)
    return [int(value[axis]) for axis in "xyz"]


def _is_in_kernel() -> bool:
    try:
        library = gdb.solib_name(gdb.newest_frame().pc()) or ""
        return _gpu() >= 0 and library.startswith(FOLDER)
    except gdb.error:
        return False


def _tell_thread(_event: object) -> None:
    global _stopped
    _stopped = gdb.selected_thread()
    if _is_in_kernel():
        block, thread = (tuple(_index(name)) for name in ("blockIdx", "threadIdx"))
        print(f"[GPU {_gpu()}, block {block}, thread {thread}]")


def _keep_off_stubs(breakpoint: gdb.Breakpoint) -> None:
    """One that is pending may have a condition yet."""
    plain = breakpoint.visible and breakpoint.type == gdb.BP_BREAKPOINT
    if plain and not breakpoint.pending and not breakpoint.condition:
        breakpoint.condition = "$vgpu_written()"


def _note_end(event: gdb.ExitedEvent) -> None:
    _ended.append(event.inferior.num)


def _is_dead(pid: int) -> bool:
    """Killed by another process while gdb held it: gdb does not notice by itself."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return True
    return "\nState:\tZ" in status or "\nState:\tX" in status


def _bury_dead() -> None:
    for inferior in gdb.inferiors():
        if inferior.pid and _is_dead(inferior.pid):
            gdb.execute(f"kill inferiors {inferior.num}", to_string=True)


def _go_on() -> bool:
    """Goes on after a stop that is not the user's: another process than the main one has ended.
    False: it is the user's."""
    if not _ended:
        return False
    if MAIN not in _ended:
        _bury_dead()
    ended = set(_ended)
    _ended.clear()
    live = [one for one in gdb.inferiors() if one.pid and one.num not in ended and one.threads()]
    if MAIN in ended:
        for inferior in live:
            gdb.execute(f"detach inferiors {inferior.num}", to_string=True)
    if MAIN in ended or not live:
        return False
    live[0].threads()[0].switch()
    for inferior in gdb.inferiors():
        if inferior.num in ended:
            gdb.execute(f"remove-inferiors {inferior.num}")
    gdb.execute("continue")
    return True


class Stopped(gdb.Command):
    """vgpu-stopped: before gdb tells of a stop. (It runs no hook for a stop inside of a hook.)"""

    def __init__(self) -> None:
        super().__init__("vgpu-stopped", gdb.COMMAND_OBSCURE)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        while _go_on():
            pass


class Select(gdb.Command):
    """vgpu-select: the thread that was told of last. After a hook that went on gdb has another."""

    def __init__(self) -> None:
        super().__init__("vgpu-select", gdb.COMMAND_OBSCURE)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        if _stopped is not None and _stopped.is_valid() and _stopped is not gdb.selected_thread():
            _stopped.switch()


def _catch_crashes() -> None:
    """Creates the breakpoint at crashes, unless it is there."""
    global _catch
    try:
        gdb.execute(f"condition {_catch} $vgpu_crashes()", to_string=True)
    except gdb.error:
        said = gdb.execute(f"catch signal {CRASHES}", to_string=True)
        _catch = int(re.search(r"\d+", said)[0])
        gdb.execute(f"condition {_catch} $vgpu_crashes()")


def _before_prompt() -> None:
    """gdb runs no hook after a command that was typed. The thread of a stop is selected once: then
    the user may select another one. `delete` has deleted every breakpoint."""
    global _stopped
    gdb.execute("vgpu-select")
    _stopped = None
    _catch_crashes()


def start() -> None:
    atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
    Crashes()
    Gpu()
    Index("vgpu_thread", "threadIdx")
    Index("vgpu_block", "blockIdx")
    Written()
    Stopped()
    Select()
    for setting in SETTINGS:
        gdb.execute(setting, to_string=True)
    gdb.execute("define hook-stop\nvgpu-stopped\nend")
    for command in MOVES:
        gdb.execute(f"define hookpost-{command}\nvgpu-select\nend")
    _catch_crashes()
    gdb.events.breakpoint_created.connect(_keep_off_stubs)
    gdb.events.breakpoint_modified.connect(_keep_off_stubs)
    gdb.events.exited.connect(_note_end)
    gdb.events.stop.connect(_tell_thread)
    gdb.events.before_prompt.connect(_before_prompt)


if not IS_LOADED:
    start()
