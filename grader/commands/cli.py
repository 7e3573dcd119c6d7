# SPDX-License-Identifier: MIT
"""The command line of `./lab`. Each command is a function of the checkout and the parsed arguments
that returns the exit status. What only one command needs is imported when that one is typed."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.base import looks
from grader.base.exits import ExitStatus, LabError
from grader.base.language import ASKED, say, there, use
from grader.commands import instructor as grading
from grader.commands import learner as learning
from grader.commands import lti
from grader.commands.words import LAB, Commands, add_command
from grader.course.project import Lab, Project, here
from grader.course.sync import MANIFEST, State, SyncReport, compare, sync

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
        looks.choose(args.plain)
        use(args.language)
        status = command(here(args.preset, args.build), args)
        sys.stdout.flush()  # so that a closed pipe is noticed here, not at Python's exit
        return status
    except BrokenPipeError:
        return _nobody_reads()
    except LabError as error:
        print(error, file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print(f"\n{say('interrupted')}", file=sys.stderr)
        return ExitStatus.INTERRUPTED


def _nobody_reads() -> ExitStatus:
    """`./lab status | head -3`: a closed pipe is no error; discards output that is still
    buffered."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitStatus.OK


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="./lab",
        description="Sets up the course, tests what you write, shows your progress, gives hints."
        " Without a command: ./lab status.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    presets = ("vgpu", "cuda", "nvcc-vgpu")
    words = "cuda: real GPUs; nvcc-vgpu: virtual ones, and NVIDIA's nvcc"
    top.add_argument("--preset", choices=presets, default="vgpu", help=words)
    top.add_argument("--plain", action="store_true", help="words in place of signs and colours")
    spoken = f"language of the messages: {', '.join(there())}, or a file of your own"
    name = "NAME|FILE.json"
    top.add_argument("--language", nargs="?", default="", const=ASKED, metavar=name, help=spoken)
    top.add_argument(
        "--build", type=Path, metavar="DIR", help="use another build folder than build/vgpu"
    )
    commands = top.add_subparsers(metavar="COMMAND")
    top.set_defaults(run=learning.status)
    learning.add_commands(commands)
    _instructor_commands(commands)
    _seeing_commands(commands)
    _maintainer_commands(commands)
    return top


def _instructor_commands(commands: Commands) -> None:
    add = add_command(
        commands,
        "grade",
        "turn submissions (folders, archives, downloads) into marks",
        epilog="Run ./lab start --grader once on each machine. docs/instructors.md has all steps.",
    )
    grading.add_words(add)
    add.set_defaults(run=grading.run)
    add = add_command(
        commands, "doctor", "check what this machine lacks, and how safely it can grade"
    )
    add.set_defaults(run=_doctor)
    add = add_command(
        commands, "handout", "pack the students' copy, without solutions and hidden tests"
    )
    grading.add_packing_words(add)
    add.set_defaults(run=grading.handout)
    add = add_command(
        commands,
        "pack",
        "pack a handout with the virtual node compiled, so that students only link it",
    )
    grading.add_packing_words(add)
    add.set_defaults(run=grading.pack)
    add = add_command(
        commands,
        "lti",
        "show feedback and marks inside Moodle, Canvas, Blackboard or ILIAS",
        epilog="Run ./lab start --lti once on the machine. docs/lti.md has all steps.",
    )
    lti.add_words(add)
    add.set_defaults(run=lti.command)
    add = add_command(commands, "pairs", "make a page of the pairs that JPlag found, side by side")
    grading.add_pairs_words(add)
    add.set_defaults(run=grading.pairs)
    add = add_command(commands, "gradescope", "make an autograder to upload to Gradescope")
    grading.add_packing_words(add)
    add.add_argument("--seed", type=int, help="seed of the tests' inputs (default: random)")
    add.set_defaults(run=grading.gradescope)


def _seeing_commands(commands: Commands) -> None:
    add = add_command(commands, "topo", "draw a node: ./lab topo dgx1-v100")
    add.add_argument(
        "node",
        nargs="?",
        default="hgx-h200-4",
        metavar="NODE",
        help="a name or a file (default: hgx-h200-4)",
    )
    add.add_argument("-o", "--output", type=Path, help="the SVG to write (default: build/topo/)")
    add.set_defaults(run=_topo)
    add = add_command(
        commands,
        "trace",
        "run a test, and draw what happened on the GPUs: 03, 03.CASE",
        details="The page shows kernels, copies, calls of the host, NVTX ranges, findings, and "
        "what each link carried. The trace is also kept for Perfetto.",
    )
    what = "a lab or a test, or a file that VGPU_TRACE=FILE wrote"
    add.add_argument("what", metavar="LAB[.CASE]|TRACE.json", help=what)
    add.add_argument(
        "--solution", action="store_true", help="run the course's solution instead of yours"
    )
    add.add_argument("-o", "--output", type=Path, help="the page to write (default: build/trace/)")
    add.set_defaults(run=_trace)
    add = add_command(
        commands,
        "calibrate",
        "measure this machine's GPUs, and describe it for VGPU_NODE",
        details="At most 16 GPUs are measured, for at most five minutes. A node description is "
        "fitted to the measurements, and the virtual node with that description is measured in the "
        "same way, to show the error of each figure.",
    )
    add.add_argument(
        "--name", default="my-machine", help="the description's name (default: my-machine)"
    )
    add.add_argument("--program", type=Path, help="the measuring program, already built")
    add.add_argument("--answers", type=Path, help="what that program printed, instead of measuring")
    add.add_argument(
        "--out", type=Path, help="the file to write (default: build/calibrate/NAME.json)"
    )
    add.set_defaults(run=_calibrate)


def _maintainer_commands(commands: Commands) -> None:
    add = add_command(
        commands, "sync", "write the skeletons in labs/ from solutions/; keeps edited files"
    )
    add.add_argument("labs", nargs="*", metavar="LAB", help=f"{LAB} (default: all)")
    add.add_argument("--check", action="store_true", help="write nothing, print what would change")
    add.add_argument("--force", action="store_true", help="overwrite edited files, too")
    add.set_defaults(run=_sync)
    add = add_command(commands, "selfcheck", "check that this checkout is complete and correct")
    add.add_argument(
        "--ci", action="store_true", help="also check what must hold before a change lands"
    )
    add.add_argument(
        "--full", action="store_true", help="also check everything that takes long (hours)"
    )
    add.add_argument(
        "-j", "--jobs", type=int, default=0, help="tests at a time (default: number of cores)"
    )
    add.set_defaults(run=_selfcheck)
    add = add_command(
        commands, "conformance", "compare the virtual node's answers with those of real GPUs"
    )
    _conformance_words(add)
    add.set_defaults(run=_conformance)
    add = add_command(commands, "docs", "build the book as a site in build/docs/site")
    add.add_argument("--serve", action="store_true", help="also serve it to this computer")
    add.add_argument("--port", type=int, default=8000, help="port to serve it on (default: 8000)")
    add.add_argument(
        "--links",
        action="store_true",
        help="only try the links that lead out of the book, and write docs/links.json",
    )
    add.set_defaults(run=_docs)


def _conformance_words(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "--record",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FOLDER",
        help="ask this machine's GPUs and write their answers (default: the folder of records)",
    )
    add.add_argument("--records", type=Path, metavar="FOLDER", help="compare with these records")
    add.add_argument("--program", type=Path, help="the program with the cases, already built")
    add.add_argument(
        "-j", "--jobs", type=int, default=0, help="cases at a time (default: number of cores)"
    )


def _topo(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.learning import topology

    output = args.output or project.root / "build" / "topo" / f"{Path(args.node).stem}.svg"
    topology.command(project.root / "vgpu" / "nodes", args.node, output)
    print(output)
    return ExitStatus.OK


def _trace(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.learning import trace

    return trace.command(project, args.what, args.output, solution=args.solution)


def _calibrate(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.calibrate import command

    return command.command(
        project, args.name, program=args.program, answers=args.answers, out=args.out
    )


def _sync(project: Project, args: argparse.Namespace) -> ExitStatus:
    labs: list[Lab] = [project.lab(name) for name in args.labs] or project.labs()
    if args.check:
        return _tell_check(compare(project, labs))
    return _tell_sync(sync(project, labs, force=args.force), force=args.force)


def _tell_sync(report: SyncReport, *, force: bool) -> ExitStatus:
    for state, words in (
        (State.MISSING, "written"),
        (State.STALE, "brought up to date"),
        (State.EDITED, "overwritten" if force else "edited, left alone (--force overwrites)"),
    ):
        for path in report.those(state):
            print(f"labs/{path}: {words}")
    print(f"{len(report.those(State.CURRENT))} files were up to date")
    return ExitStatus.OK


def _tell_check(report: SyncReport) -> ExitStatus:
    """Files that a learner edited are no failure; files that ./lab sync would write are."""
    behind = [s for s in (State.MISSING, State.STALE) if report.those(s)]
    for state in (*behind, State.EDITED):
        for path in report.those(state):
            print(f"labs/{path}: {state.value}")
    if report.list_is_old:
        print(f"labs/{MANIFEST}: not the hashes of what is handed out now")
    old = behind or report.list_is_old
    print("labs/ is behind solutions/: run ./lab sync" if old else "labs/ is up to date")
    return ExitStatus.FAILED if old else ExitStatus.OK


def _doctor(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands.doctor import doctor

    return doctor(project)


def _selfcheck(project: Project, args: argparse.Namespace) -> ExitStatus:
    project.require_whole("That proves a whole checkout")
    from grader.selfcheck import Depth, selfcheck

    depth = Depth.FULL if args.full else Depth.CI if args.ci else Depth.BASIC
    return selfcheck(project, depth, jobs=args.jobs)


def _conformance(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.commands import conformance

    project.require_whole("That asks the cases of tests/conformance")
    return conformance.command(project, args)


def _docs(project: Project, args: argparse.Namespace) -> ExitStatus:
    from grader.book import site, tried

    if args.links:
        return tried.command(project)
    return site.command(project, serve=args.serve, port=args.port)
