# SPDX-License-Identifier: MIT
"""The command line of `./lab`. Each command is a function that gets the checkout and the parsed
words, and says how it ended."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader import grading, start, testing, topology, trace
from grader.exits import ExitStatus, LabError
from grader.hints import hint
from grader.project import Lab, Project, here
from grader.sync import State, SyncReport, compare, reset, sync

Command = Callable[[Project, argparse.Namespace], ExitStatus]

EPILOG = """\
exit status: 0 all is well, 1 a test or check failed, 2 wrong use, 3 only TODOs are left to write,
4 harness error, 5 nothing is built yet, 6 no such test, lab, task or hint, 7 does not compile,
8 the machine lacks something, 77 cannot run here
"""


def main(words: Sequence[str]) -> int:
    args = parser().parse_args(list(words))
    command: Command = args.run
    try:
        status = command(here(args.preset, args.build), args)
        sys.stdout.flush()  # a reader who has left is noticed here, not while Python ends
        return status
    except BrokenPipeError:
        return _nobody_reads()
    except LabError as error:
        print(error, file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return ExitStatus.INTERRUPTED


def _nobody_reads() -> ExitStatus:
    """`./lab status | head -3`: nothing is wrong, and what is still to be flushed goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitStatus.OK


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="./lab",
        description="The course's front door: set up, test, see where you stand, get a hint.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--preset", choices=("vgpu", "cuda"), default="vgpu", help="cuda: real GPUs")
    top.add_argument("--build", type=Path, metavar="DIR", help="another build tree than build/vgpu")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    _learner_commands(commands)
    _instructor_commands(commands)
    _seeing_commands(commands)
    _maintainer_commands(commands)
    return top


def _learner_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = commands.add_parser("start", help="install what is missing, build, run, show the board")
    add.add_argument("--no-install", action="store_true", help="only say what is missing")
    add.add_argument("--only-setup", action="store_true", help="install what is missing, no more")
    add.add_argument("--grader", action="store_true", help="also what ./lab grade needs")
    add.set_defaults(run=_start)
    add = commands.add_parser("test", help="rebuild and run your tests: all, 03 or 03.CASE")
    add.add_argument("what", nargs="?", default="", metavar="LAB[.CASE]")
    add.add_argument("-v", "--verbose", action="store_true", help="show passed tests' output too")
    add.set_defaults(run=_test)
    add = commands.add_parser("status", help="the scoreboard as of the last run")
    add.set_defaults(run=_status)
    add = commands.add_parser("hint", help="one hint of a task: ./lab hint 03 2, then ... 03 2 2")
    add.add_argument("lab", metavar="LAB")
    add.add_argument("task", type=int, metavar="TASK")
    add.add_argument("which", type=int, nargs="?", default=1, metavar="N")
    add.set_defaults(run=_hint)
    add = commands.add_parser("reset", help="put a lab's skeleton back; your copy is kept as .bakN")
    add.add_argument("lab", metavar="LAB")
    add.set_defaults(run=_reset)


def _instructor_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = commands.add_parser("grade", help="submissions to marks: folders, archives, downloads")
    grading.add_words(add)
    add.set_defaults(run=grading.run)
    add = commands.add_parser("doctor", help="what this machine lacks, and how well it can grade")
    add.set_defaults(run=_doctor)
    add = commands.add_parser("handout", help="the students' copy: no solutions, no hidden tests")
    grading.add_packing_words(add)
    add.set_defaults(run=grading.handout)
    add = commands.add_parser("gradescope", help="an autograder to upload to Gradescope")
    grading.add_packing_words(add)
    add.add_argument("--seed", type=int, help="of the tests' inputs (default: drawn)")
    add.set_defaults(run=grading.gradescope)


def _seeing_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = commands.add_parser("topo", help="draw a node: ./lab topo dgx1-v100")
    add.add_argument("node", nargs="?", default="hgx-h200-4", metavar="NODE")
    add.add_argument("-o", "--output", type=Path, help="the SVG to write (default: build/topo/)")
    add.set_defaults(run=_topo)
    add = commands.add_parser("trace", help="run a test and show what happened: 03, 03.CASE")
    add.add_argument("what", metavar="LAB[.CASE]|TRACE.json")
    add.add_argument("--solution", action="store_true", help="run the reference's, not yours")
    add.add_argument("-o", "--output", type=Path, help="the page to write (default: build/trace/)")
    add.set_defaults(run=_trace)


def _maintainer_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    add = commands.add_parser("sync", help="write labs/ from solutions/; edited files stay")
    add.add_argument("labs", nargs="*", metavar="LAB")
    add.add_argument("--check", action="store_true", help="write nothing, say what would change")
    add.add_argument("--force", action="store_true", help="overwrite edited files, too")
    add.set_defaults(run=_sync)
    add = commands.add_parser("selfcheck", help="prove this checkout sound")
    add.add_argument("--full", action="store_true", help="the longer drills, too")
    add.add_argument("-j", "--jobs", type=int, default=0, help="at a time (default: cores)")
    add.set_defaults(run=_selfcheck)
    add = commands.add_parser("docs", help="build the book as a site in build/docs/site")
    add.add_argument("--serve", action="store_true", help="and serve it to this computer")
    add.add_argument("--port", type=int, default=8000, help="where to (default: 8000)")
    add.set_defaults(run=_docs)


def _start(project: Project, args: argparse.Namespace) -> ExitStatus:
    start.set_up(project, may_install=not args.no_install, grader=args.grader)
    return ExitStatus.OK if args.only_setup else start.first_run(project)


def _test(project: Project, args: argparse.Namespace) -> ExitStatus:
    return testing.command(project, args.what, verbose=args.verbose)


def _status(project: Project, args: argparse.Namespace) -> ExitStatus:
    return start.status(project)


def _hint(project: Project, args: argparse.Namespace) -> ExitStatus:
    print(hint(project, project.lab(args.lab), args.task, args.which))
    return ExitStatus.OK


def _topo(project: Project, args: argparse.Namespace) -> ExitStatus:
    output = args.output or project.root / "build" / "topo" / f"{Path(args.node).stem}.svg"
    topology.command(project.root / "vgpu" / "nodes", args.node, output)
    print(output)
    return ExitStatus.OK


def _trace(project: Project, args: argparse.Namespace) -> ExitStatus:
    return trace.command(project, args.what, args.output, solution=args.solution)


def _reset(project: Project, args: argparse.Namespace) -> ExitStatus:
    lab = project.lab(args.lab)
    kept = reset(project, lab)
    for path, copy in sorted(kept.items()):
        print(f"labs/{path}: the skeleton again; yours is now labs/{copy}")
    if not kept:
        print(f"labs/{lab.folder}: nothing was edited")
    return ExitStatus.OK


def _sync(project: Project, args: argparse.Namespace) -> ExitStatus:
    labs: list[Lab] = [project.lab(name) for name in args.labs] or project.labs()
    if args.check:
        return _tell_check(compare(project, labs))
    return _tell_sync(sync(project, labs, force=args.force), force=args.force)


def _tell_sync(report: SyncReport, *, force: bool) -> ExitStatus:
    for state, words in (
        (State.MISSING, "written"),
        (State.STALE, "brought up to date"),
        (State.GONE, "deleted: nothing generates it any more"),
        (State.EDITED, "overwritten" if force else "edited, left alone (--force overwrites)"),
    ):
        for path in report.those(state):
            print(f"labs/{path}: {words}")
    print(f"{len(report.those(State.CURRENT))} files were up to date")
    return ExitStatus.OK


def _tell_check(report: SyncReport) -> ExitStatus:
    """Edited files are a learner's right and fail nothing; files that ./lab sync would write do."""
    behind = [s for s in (State.MISSING, State.STALE, State.GONE) if report.those(s)]
    for state in (*behind, State.EDITED):
        for path in report.those(state):
            print(f"labs/{path}: {state.value}")
    print("labs/ is behind solutions/: run ./lab sync" if behind else "labs/ is up to date")
    return ExitStatus.FAILED if behind else ExitStatus.OK


def _doctor(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.doctor import doctor

    return doctor(project)


def _selfcheck(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.selfcheck import selfcheck

    return selfcheck(project, full=args.full, jobs=args.jobs)


def _docs(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.book import site

    return site.command(project, serve=args.serve, port=args.port)
