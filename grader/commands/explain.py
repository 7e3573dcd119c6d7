# SPDX-License-Identifier: MIT
"""`./lab explain 700`: shows the page of a diagnosis; without a code, lists all of them."""

from grader.base.exits import ExitStatus
from grader.base.language import say
from grader.base.looks import looks
from grader.base.terminal import show
from grader.building import install
from grader.course.diagnoses import Page, find, pages
from grader.course.project import Project


def command(project: Project, code: str) -> ExitStatus:
    install.own_packages(project)
    print(show(find(project, code).text, looks()) if code else contents(pages(project)))
    return ExitStatus.OK


def contents(found: list[Page]) -> str:
    """Three lists: errors of CUDA, findings of the virtual node, verdicts of the tests."""
    kinds = (
        (say("explain.errors"), [page for page in found if page.code.isdigit()]),
        (say("explain.findings"), [page for page in found if "." in page.code]),
        (say("explain.verdicts"), [p for p in found if not p.code.isdigit() and "." not in p.code]),
    )
    lines = []
    for head, some in kinds:
        if some:
            lines += [looks().paint(head, "1"), *map(_line, some), ""]
    return "\n".join([*lines, say("explain.how")])


def _line(page: Page) -> str:
    name = f"{page.name}: " if page.name else ""
    return f"  {page.code:<24}{name}{page.title}"
