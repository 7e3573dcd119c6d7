# SPDX-License-Identifier: MIT
"""`./lab debug 04 CASE`: a test under gdb, which stops in the learner's kernels, or in their
functions where the lab has no kernel (or with --host), and where a process of the test crashes.

The learner's file is compiled once more, for debuggers (labcc.sh debug). gdb starts the verifier
and follows all that it starts: the node, the processes that run kernels, each process of the test
(vgpu/gdb/vgpu_gdb.py). Meanwhile no limit of time holds.
"""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.building import build, ctest
from grader.building.needs import build_env
from grader.building.records import Verdict
from grader.building.variants import Variant, with_option
from grader.commands.submit import student_file
from grader.course.project import Lab, Project
from grader.learning import standing, testing

_BOUNDS = r"__launch_bounds__\s*\([^)]*\)"
_KERNEL = re.compile(
    rf"__global__\s+(?:(?:static|inline|void|{_BOUNDS})\s+)+(\w+)\s*\([^;{{}}]*\)\s*\{{"
)
# No time limits while the user debugs.
_LIMITS = ("LAB_CPU_SECONDS", "LAB_IDLE_SECONDS")


@dataclass(frozen=True)
class Wish:
    """What is to be debugged: the kernels of a GPU, or the host's side. `commands` are for gdb,
    executed at the first stop: then gdb ends by itself."""

    host: bool = False
    gpu: int = 0
    crash: bool = False  # a stop at a crash only
    solution: bool = False  # the reference's, not the learner's
    commands: tuple[str, ...] = ()
    prepare: bool = False  # for an editor, which starts gdb itself: .vscode/launch.json


@dataclass(frozen=True)
class Place:
    """A breakpoint: a kernel or function, and its location for gdb."""

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
    pattern = pattern.replace("^lab", "^solution") if wish.solution else pattern
    test = _failing(project, pattern) if wish.prepare and not case else _test(project, pattern)
    source = root / labs[0].folder / student_file(project, labs[0])
    places = [] if wish.host or wish.crash else kernels(source)
    wish = wish if places else replace(wish, host=True)
    if not places and not wish.crash:
        places = functions(project, labs[0])
    variant = Variant(project, labs[0], source)
    return (prepare if wish.prepare else run)(variant, test, places, wish)


def kernels(source: Path) -> list[Place]:
    """The kernels of a file, by the line of their brace, with which gdb finds templates, too."""
    text = source.read_text(encoding="utf-8")
    return [
        Place(found[1], f"{source.name}:{text.count(chr(10), 0, found.end()) + 1}")
        for found in _KERNEL.finditer(text)
    ]


def functions(project: Project, lab: Lab) -> list[Place]:
    """The functions of a lab's TODOs, from its build. In the learner's file: the node, which gdb
    follows, too, may have some of that name."""
    conf = (project.build_dir / "labs" / lab.folder / "lab.conf").read_text(encoding="utf-8")
    found = re.search(r"^LAB_FUNCTIONS='(.*)'$", conf, re.MULTILINE)
    names = [word.split(":")[1] for word in found[1].split()] if found else []
    at = f"{lab.folder}/{student_file(project, lab)}"
    return [Place(name, f"{at}:{name}") for name in names]


def script(places: list[Place], wish: Wish, stopped: Path) -> str:
    """The script for gdb. It creates `stopped` at a stop."""
    lines = [
        *_settings(places, wish),
        f"python gdb.events.stop.connect(lambda _event: open({str(stopped)!r}, 'w').close())",
        "run",
    ]
    if wish.commands:
        lines += ["python", *_AT_THE_STOP.format(commands=wish.commands).splitlines(), "end"]
    return "\n".join(lines) + "\n"


def _settings(places: list[Place], wish: Wish) -> list[str]:
    where = "" if wish.host else f" if $vgpu_gpu() == {wish.gpu}"
    return [
        "set pagination off",
        "set confirm off",
        "set debuginfod enabled off",
        *(
            f"python gdb.execute({f'break {place.at}{where}'!r}, to_string=True)"
            for place in places
        ),
    ]


# Not created if gdb has not stopped.
_AT_THE_STOP = """\
for command in {commands!r} if gdb.selected_inferior().pid else ():
    try:
        gdb.execute(command)
    except gdb.error as error:
        print(error)
gdb.execute("delete")
if gdb.selected_inferior().pid:
    gdb.execute("continue")
"""


def _test(project: Project, pattern: str) -> ctest.Test:
    found = testing.matching(project, pattern)
    if len(found) > 1:
        names = ", ".join(test.name for test in found)
        raise LabError(say("debug.which", tests=names), ExitStatus.USAGE)
    return found[0]


def _failing(project: Project, pattern: str) -> ctest.Test:
    """The first test that failed when it last ran; or that did not pass; or the first."""
    found = testing.matching(project, pattern)
    known = standing.load(project).tests
    for verdicts in ({Verdict.FAIL}, set(Verdict) - {Verdict.PASS}):
        for test in found:
            if test.name in known and known[test.name].verdict in verdicts:
                return test
    return found[0]


def _intent(test: ctest.Test, places: list[Place], wish: Wish) -> str:
    """One line that announces where gdb will stop."""
    names = ", ".join(place.name for place in places)
    if not places:
        return say("debug.stops-crash", test=test.name)
    if wish.host:
        return say("debug.stops-host", test=test.name, places=names)
    return say("debug.stops", test=test.name, places=names, gpu=wish.gpu)


def _todo(test: ctest.Test) -> int:
    """The reference's runner has all functions of one file: 0."""
    found = [label for label in test.labels if re.fullmatch(r"todo\d+", label)]
    return int(found[0][4:]) if found and test.name.startswith("lab") else 0


def run(variant: Variant, test: ctest.Test, places: list[Place], wish: Wish) -> ExitStatus:
    """The test on this file under gdb."""
    project = variant.project
    print(_intent(test, places, wish), flush=True)
    with TemporaryDirectory(prefix="peerlab-debug-") as folder:
        commands, stopped = Path(folder) / "gdb", Path(folder) / "stopped"
        words = _built(variant, test, Path(folder))
        commands.write_text(script(places, wish, stopped), encoding="utf-8")
        env = {**os.environ, **build_env(project), **dict.fromkeys(_LIMITS, "86400")}
        _gdb(project, words, commands, env, batch=bool(wish.commands))
        if stopped.exists():
            return ExitStatus.OK
        if not places:
            print(say("debug.never-crashed", test=test.name))
        elif wish.host:
            print(say("debug.never-called", test=test.name))
        else:
            print(say("debug.never-there", test=test.name, gpu=wish.gpu))
        return ExitStatus.NO_MATCH


def prepare(variant: Variant, test: ctest.Test, places: list[Place], wish: Wish) -> ExitStatus:
    """Leaves in build/vgpu/debug/ what an editor's gdb starts: `program`, and `start.gdb` with its
    arguments, environment and breakpoints."""
    folder = variant.project.build_dir / "debug"
    folder.mkdir(parents=True, exist_ok=True)
    program, *words = _built(variant, test, folder)
    (folder / "program").unlink(missing_ok=True)
    (folder / "program").symlink_to(program)
    lines = [
        "set breakpoint pending on",
        *_settings(places, wish),
        f"set args {shlex.join(words)}",
        *(f"set environment {name} 86400" for name in _LIMITS),
    ]
    (folder / "start.gdb").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(_intent(test, places, wish))
    return ExitStatus.OK


def _built(variant: Variant, test: ctest.Test, folder: Path) -> list[str]:
    """Builds the test's program into `folder`; returns the command that runs the test with it."""
    variant.build_debug(_todo(test), folder / "run")
    words = with_option(test.command, "--runner", str(folder / "run"))
    words = with_option(words, "--results", str(folder))  # not part of the results
    return [*words, "--orders", "0"]


def _gdb(
    project: Project, test: list[str], commands: Path, env: dict[str, str], *, batch: bool
) -> None:
    """In the foreground."""
    words = ["gdb", "-q", "-x", str(project.root / "vgpu" / "gdb" / "vgpu_gdb.py")]
    words += [*(["-batch", "-nx"] if batch else []), "-x", str(commands), "--args", *test]
    try:
        subprocess.run(words, check=False, env=env)
    except KeyboardInterrupt:
        return
