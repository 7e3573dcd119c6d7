# SPDX-License-Identifier: MIT
"""`./lab lti`: serves feedback to a learning platform, or with --push sends it a lab's marks. What
it does is imported when it is typed."""

import argparse
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.building import install
from grader.course.project import Project


def add_words(add: argparse.ArgumentParser) -> None:
    toml = {"type": Path, "default": Path("lti.toml"), "metavar": "TOML"}
    add.add_argument("--config", **toml, help="platforms and settings (default: lti.toml)")
    add.add_argument(
        "--marks",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder that ./lab grade --out wrote",
    )
    add.add_argument(
        "--listen",
        default="127.0.0.1:8070",
        metavar="HOST:PORT",
        help="address to which the reverse proxy connects (default: 127.0.0.1:8070)",
    )
    add.add_argument(
        "--push", default="", metavar="LAB", help="show which marks would be sent, and to whom"
    )
    add.add_argument("--send", action="store_true", help="with --push: send the marks")
    add.add_argument(
        "--context",
        default="",
        metavar="ID",
        help="with --push: the course, if several have a link to the lab",
    )


def command(project: Project, args: argparse.Namespace) -> ExitStatus:
    install.own_packages(project)
    if lacking := install.lacking(install.LTI):
        says = f"./lab lti needs the Python packages {', '.join(lacking)}: ./lab start --lti"
        raise LabError(f"{says} installs them.", ExitStatus.MISSING)
    from grader.grade.term import number_of
    from grader.lti import config, keys, push, service
    from grader.lti.people import People
    from grader.lti.published import Marks

    found = config.read(args.config)
    marks, people = Marks(args.marks), People(found.students, found.match)
    marks.now()  # says now what is wrong with it
    pair = keys.key(found.state)
    if args.push:
        lab = f"lab{number_of(args.push) or args.push}"
        return push.command(found, pair, marks.now(), people, lab, args.context, send=args.send)
    if args.send or args.context:
        raise LabError("--send and --context belong to --push LAB.", ExitStatus.USAGE)
    return service.command(service.Service(found, pair, marks, people), args.listen)
