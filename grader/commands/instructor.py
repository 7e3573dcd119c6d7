# SPDX-License-Identifier: MIT
"""The instructor's commands as `./lab` lists them. What they do is imported when one is typed, so
that learners need none of its packages."""

import argparse
import platform
from pathlib import Path

from grader.base.exits import ExitStatus
from grader.building import install
from grader.course.project import Project

EXPORTS = (
    "gradescope, classroom50, prairielearn, autolab, coderunner, junit; for gradebooks moodle, "
    "canvas, blackboard, ilias; or all"
)


def add_words(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="folder or archive of submissions"
    )
    add.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the results"
    )
    add.add_argument(
        "--labs", default="", metavar="1,3-5", help="labs to grade (default: those handed in)"
    )
    add.add_argument(
        "--jobs",
        type=int,
        help="submissions graded at a time (default: cores, or 1000 for workers)",
    )
    add.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STUDENT",
        help="grade only this student (may be repeated)",
    )
    add.add_argument("--regrade", action="store_true", help="grade again what already has a result")
    add.add_argument(
        "--diff",
        type=Path,
        metavar="OLD",
        help="print which marks changed since these results, and why",
    )
    add.add_argument(
        "--seed", type=int, help="seed of the tests' inputs (default: the class's own)"
    )
    add.add_argument(
        "--orders",
        type=int,
        default=1,
        choices=range(4),
        help="number of other orders in which a passed test is repeated (default: 1)",
    )
    add.add_argument("--rubric", type=Path, metavar="TOML", help="changes to the labs' rubrics")
    add.add_argument(
        "--preview", action="store_true", help="publish nothing, and show whose marks would change"
    )
    add.add_argument(
        "--students",
        type=Path,
        metavar="CSV",
        help="table of the class: student, name, match, joined",
    )
    add.add_argument("--one", action="store_true", help="take each PATH as one submission")
    add.add_argument(
        "--pattern",
        default="",
        metavar="REGEX",
        help="finds the student in the name of a file, as (?P<student>...)",
    )
    add.add_argument(
        "--course", type=Path, metavar="TOML", help="settings of the term, with the tables below"
    )
    add.add_argument(
        "--deadline", metavar="WHEN", help="deadline of the labs, such as 2026-11-20T23:59"
    )
    add.add_argument(
        "--grace",
        type=float,
        metavar="MINUTES",
        help="minutes after the deadline that are not late",
    )
    add.add_argument(
        "--late", type=float, metavar="PERCENT", help="per cent taken off for each day late"
    )
    add.add_argument(
        "--late-cap",
        type=float,
        metavar="PERCENT",
        help="largest percentage taken off for lateness",
    )
    add.add_argument(
        "--grave-cap",
        type=float,
        metavar="PERCENT",
        help="highest percentage that a lab with a grave mistake gets",
    )
    add.add_argument(
        "--extensions", type=Path, metavar="CSV", help="later deadlines: student, until, lab"
    )
    add.add_argument(
        "--times", type=Path, metavar="CSV", help="times of handing in: student, submitted, lab"
    )
    add.add_argument(
        "--groups", type=Path, metavar="CSV", help="groups of two: student, partner, lab"
    )
    add.add_argument(
        "--withdrawn", type=Path, metavar="CSV", help="labs without a mark: student, lab, why"
    )
    add.add_argument(
        "--requests",
        type=Path,
        metavar="CSV",
        help="who asked to be graded again: student, lab, asked, why, answer",
    )
    add.add_argument("--now", metavar="WHEN", help="write feedback as if this were the time")
    add.add_argument(
        "--questions",
        type=Path,
        metavar="CSV",
        help="points for word questions: student, lab, points, comment",
    )
    add.add_argument("--export", action="append", default=[], metavar="FORMAT", help=EXPORTS)
    add.add_argument(
        "--leaderboard",
        action="store_true",
        help="also time labs 03, 04, 07 and 08, for a page with pseudonyms",
    )
    add.add_argument(
        "--jplag", action="store_true", help="also write the files that JPlag compares"
    )
    add.add_argument(
        "--no-build", action="store_true", help="do not build: the course is up to date"
    )
    executors = ("local", "slurm", "workers")
    add.add_argument(
        "--executor",
        choices=executors,
        default="local",
        help="what runs the tests: docs/cluster.md",
    )
    add.add_argument(
        "--sbatch",
        action="append",
        default=[],
        metavar="WORD",
        help="an option for sbatch (may be repeated)",
    )
    add.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run submissions without a sandbox, with your own rights",
    )


def add_packing_words(add: argparse.ArgumentParser) -> None:
    add.add_argument("target", type=Path, metavar="OUT.zip", help="the archive to write")
    add.add_argument("--labs", default="", metavar="1,3-5", help="labs to pack (default: all)")
    add.add_argument(
        "--no-build", action="store_true", help="do not build: the course is up to date"
    )


def run(project: Project, args: argparse.Namespace) -> ExitStatus:
    _needs_all(project)
    install.grader(project, lambda word: print(f"installing {word}"))
    from grader.commands.grade import grade

    return grade(project, args)


def handout(project: Project, args: argparse.Namespace) -> ExitStatus:
    _needs_all(project)
    from grader.export import handout

    labs = project.some_labs(args.labs) or project.labs()
    count = handout.handout(project, args.target, labs, build=not args.no_build)
    print(f"{args.target}: {len(labs)} labs, {count} files, without solutions and hidden tests")
    return ExitStatus.OK


def pack(project: Project, args: argparse.Namespace) -> ExitStatus:
    _needs_all(project)
    from grader.export import pack

    labs = project.some_labs(args.labs) or project.labs()
    files, objects = pack.pack(project, args.target, labs, ready=args.no_build)
    least = ".".join(map(str, pack.GLIBC))
    print(f"{args.target}: a handout of {len(labs)} labs, {files} files; {objects} objects of the")
    print(f"virtual node, to be linked with glibc {least} or newer on {platform.machine()}")
    return ExitStatus.OK


def gradescope(project: Project, args: argparse.Namespace) -> ExitStatus:
    _needs_all(project)
    from grader.export import gradescope_zip

    labs = project.some_labs(args.labs) or project.labs()
    count = gradescope_zip.write(project, args.target, labs, args.seed)
    print(f"{args.target}: an autograder for {len(labs)} labs; {count} files, the solutions too")
    return ExitStatus.OK


def add_pairs_words(add: argparse.ArgumentParser) -> None:
    add.add_argument(
        "folder", type=Path, metavar="OUT/jplag/labNN", help="the folder in which JPlag has run"
    )
    add.add_argument(
        "--most", type=int, default=30, metavar="N", help="most pairs on the page (default: 30)"
    )


def pairs(project: Project, args: argparse.Namespace) -> ExitStatus:
    _needs_all(project)
    from grader.export import pairs
    from grader.grade.archive import printable

    page, shown, left_out = pairs.write(args.folder, args.most)
    for pair in shown[:10]:
        print(f"{pair.alike:4.0%}  {printable(pair.first.who)}, {printable(pair.second.who)}")
    if left_out:
        print(pairs.LEFT_OUT, printable(", ".join(left_out)))
    print(page)
    return ExitStatus.OK


def _needs_all(project: Project) -> None:
    project.require_whole("That is an instructor's command")
    install.require_whole_python()
    install.own_packages(project)
