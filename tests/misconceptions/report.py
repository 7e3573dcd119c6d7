# SPDX-License-Identifier: MIT
"""Looks what becomes of the misconceptions and writes it down: tests/misconceptions/report.csv, and
the table of docs/misconceptions.md.

    python3 tests/misconceptions/report.py [--build FOLDER] [--lab NN ...] [--open] [--show]
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.building import ctest
from grader.course.misconceptions import load
from grader.course.project import Project, here
from grader.selfcheck.misconceptions import (
    Judged,
    Row,
    judge,
    page_path,
    read,
    report_path,
    table,
    write,
    written_page,
)

Which = tuple[str, str]  # lab and name


def asked_for(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="writes the report on misconceptions anew")
    parser.add_argument("--build", type=Path, help="the build folder, if not build/vgpu")
    parser.add_argument("--lab", action="append", help="only this lab's rows (may be repeated)")
    parser.add_argument("--only", default="", help="only those whose name holds this")
    parser.add_argument("--open", action="store_true", help="only those not named so far")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what is not named")
    return parser.parse_args(words)


def old_rows(project: Project) -> dict[Which, Row]:
    rows = read(project) if report_path(project).is_file() else []
    return {(row.lab, row.name): row for row in rows}


def judged_rows(project: Project, asked: argparse.Namespace) -> Iterator[Judged]:
    tests = ctest.tests(project)
    at = project.build_dir / "selfcheck" / "misconceptions"
    done = {which for which, row in old_rows(project).items() if row.named == "yes"}
    wanted = [
        (lab, one)
        for lab in project.labs()
        for one in load(project, lab)
        if asked.only in one.name
        and (not asked.lab or lab.number in asked.lab)
        and not (asked.open and (lab.name, one.name) in done)
    ]
    with ThreadPoolExecutor(asked.jobs) as pool:
        for judged in pool.map(lambda which: judge(project, *which, tests, at), wanted):
            yield judged
            if asked.show and judged.row.named != "yes":
                print(f"{judged.row}\n{judged.message}\n", flush=True)


def main(words: list[str]) -> int:
    asked = asked_for(words)
    project = here(build=asked.build)
    order = [(lab.name, one.name) for lab in project.labs() for one in load(project, lab)]
    rows = list(old_rows(project).values())
    for judged in judged_rows(project, asked):  # written one by one: it takes long
        known = old_rows(project) | {(judged.row.lab, judged.row.name): judged.row}
        rows = [known[which] for which in order if which in known]
        write(project, rows)
    page = page_path(project)
    text = written_page(project, rows, page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    print(table(rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
