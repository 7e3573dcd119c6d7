# SPDX-License-Identifier: MIT
"""The learner's commands as `./lab` lists them; each has a module of its own, which is imported
when the command is typed."""

import argparse
from pathlib import Path

from grader.base.exits import ExitStatus
from grader.base.language import say
from grader.commands.words import CASES, LAB, Commands, add_command
from grader.course.project import Project


def add_commands(commands: Commands) -> None:
    add = add_command(
        commands, "start", "install what is missing, build, run the labs, show the scoreboard"
    )
    add.add_argument("--no-install", action="store_true", help="only print what is missing")
    add.add_argument("--only-setup", action="store_true", help="only install what is missing")
    add.add_argument("--grader", action="store_true", help="also install what ./lab grade needs")
    add.add_argument(
        "--lti", action="store_true", help="also install what ./lab lti needs, from PyPI"
    )
    add.add_argument(
        "--cccl", action="store_true", help="also install Thrust, CUB and libcu++, from PyPI"
    )
    add.set_defaults(run=_start)
    _add_running(commands)
    _add_reading(commands)
    _add_files(commands)


def _add_running(commands: Commands) -> None:
    add = add_command(
        commands,
        "test",
        "rebuild and run your tests: all, 03 or 03.CASE",
        details="If no test has exactly the name 03.CASE, all whose names begin with it run.",
    )
    add.add_argument("what", nargs="?", default="", metavar="LAB[.CASE]", help=CASES)
    add.add_argument(
        "-v", "--verbose", action="store_true", help="also show the output of tests that passed"
    )
    add.set_defaults(run=_test)

    add = add_command(
        commands,
        "watch",
        "run the tests whenever you save a file; Ctrl-C ends it",
        details="The test that failed first runs first, and then the others. A test that passed is"
        " not repeated as long as the program that it runs is the same: after an edit in one task,"
        " the tests of that task, of the whole lab, and of tasks that build on others are run."
        " ./lab test runs all.",
    )
    add.add_argument("what", nargs="?", default="", metavar="LAB[.CASE]", help=CASES)
    add.set_defaults(run=_watch)
    add = add_command(
        commands,
        "debug",
        "run a test under gdb, which stops in your kernels and at crashes",
        details="Your file is compiled without optimisation, so that gdb can show every variable."
        " gdb stops at the start of your kernels (or functions), and where a process of the test"
        " crashes. docs/virtual-node.md lists gdb's commands for kernels.",
    )
    add.add_argument("what", metavar="LAB[.CASE]", help="a test, such as 03.path")
    add.add_argument(
        "case",
        nargs="?",
        default="",
        metavar="CASE",
        help="the name of the test, if the first word is a lab",
    )
    add.add_argument("--host", action="store_true", help="stop in your functions on the host")
    add.add_argument("--crash", action="store_true", help="stop only where a process crashes")
    add.add_argument("--gpu", type=int, default=0, help="stop in kernels on this GPU (default: 0)")
    add.add_argument(
        "--solution", action="store_true", help="run the course's solution instead of yours"
    )
    add.add_argument(
        "--prepare",
        action="store_true",
        help="only build what .vscode/launch.json starts; without CASE, for the first failing test",
    )
    add.add_argument(
        "-x",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a command for gdb, which ends after the last one (may be repeated)",
    )
    add.set_defaults(run=_debug)


def _add_reading(commands: Commands) -> None:
    add = add_command(commands, "status", "show the scoreboard of the last run, and the next step")
    add.set_defaults(run=status)
    add = add_command(
        commands, "list", "list every lab: progress, points, lines, level; needs no build"
    )
    add.set_defaults(run=_list)
    add = add_command(commands, "hint", "show the next of a task's three hints: ./lab hint 03 2")
    add.add_argument("lab", metavar="LAB", help=LAB)
    add.add_argument(
        "task", type=int, nargs="?", default=0, metavar="TASK", help="number of the task"
    )
    add.add_argument(
        "which", type=int, nargs="?", default=0, metavar="N", help="show hint N (1 to 3) again"
    )
    add.set_defaults(run=_hint)
    add = add_command(
        commands, "explain", "explain a diagnosis: ./lab explain 700; without CODE: list them all"
    )
    add.add_argument(
        "code",
        nargs="?",
        default="",
        metavar="CODE",
        help="a number, a name or a code: 700, order.gpus",
    )
    add.set_defaults(run=_explain)


def _add_files(commands: Commands) -> None:
    add = add_command(commands, "reset", "put a lab's skeleton back; your file is kept as .bakN")
    add.add_argument("lab", metavar="LAB", help=LAB)
    add.set_defaults(run=_reset)
    add = add_command(commands, "solution", "show the course's solution, once yours passes")
    add.add_argument("lab", metavar="LAB", help=LAB)
    add.add_argument("--yes", action="store_true", help="show it although yours does not pass yet")
    add.add_argument("--diff", action="store_true", help="show the difference to yours")
    add.set_defaults(run=_solution)
    add = add_command(commands, "submit", "pack what is graded of a lab, list it, and test it")
    add.add_argument("lab", metavar="LAB", help=LAB)
    add.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT.zip",
        help="the archive to write (default: in build/submit/)",
    )
    add.add_argument("--no-test", action="store_true", help="only pack and list")
    add.add_argument("--hints", action="store_true", help="also pack how many hints you asked for")
    add.set_defaults(run=_submit)


def _start(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import start

    more = {"grader": args.grader, "lti": args.lti, "cccl": args.cccl}
    start.set_up(project, may_install=not args.no_install, **more)
    return ExitStatus.OK if args.only_setup else start.first_run(project)


def _test(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.learning import testing

    return testing.command(project, args.what, verbose=args.verbose)


def _watch(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import watch

    return watch.command(project, args.what)


def _debug(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import debug

    wish = debug.Wish(args.host, args.gpu, args.crash, args.solution, tuple(args.x), args.prepare)
    return debug.command(project, args.what, args.case, wish)


def _solution(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import solution

    return solution.command(project, project.lab(args.lab), yes=args.yes, diff=args.diff)


def status(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import start

    return start.status(project)


def _list(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import contents
    from grader.learning import standing

    print(contents.render(contents.entries(project, standing.current(project))))
    return ExitStatus.OK


def _hint(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import hints

    return hints.command(project, args.lab, args.task, args.which)


def _explain(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import explain

    return explain.command(project, args.code)


def _reset(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.course.sync import reset

    lab = project.lab(args.lab)
    kept = reset(project, lab)
    for path, copy in sorted(kept.items()):
        print(say("reset.kept", path=f"labs/{path}", copy=f"labs/{copy}"))
    if not kept:
        print(say("reset.nothing", folder=f"labs/{lab.folder}"))
    return ExitStatus.OK


def _submit(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import submit

    lab, test = project.lab(args.lab), not args.no_test
    return submit.command(project, lab, args.output, test=test, hints=args.hints)
