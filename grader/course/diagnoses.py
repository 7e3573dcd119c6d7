# SPDX-License-Identifier: MIT
"""The pages that explain diagnoses: docs/diagnoses/CODE.md, one each; the book shows them, too.

A page begins `# CODE: title` or `# CODE name: title` (`# 700 cudaErrorIllegalAddress: ...`) and has
the sections of SECTIONS in their order. Its wrong program is the first block of code in WRONG; a
block of `diff` in MEND says how it becomes right. tests/diagnoses compiles and runs both.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.course.project import Project

MEANS, WRONG, WHY, MEND, HARDWARE, READ = SECTIONS = (
    "What it means",
    "A program that gets it",
    "Why it is wrong",
    "How to fix it",
    "What real GPUs do",
    "Where to read more",
)
TITLE = re.compile(r"# (?P<code>[\w.-]+)(?: (?P<name>[A-Za-z]\w*))?: (?P<title>.+)")
_FOUND = re.compile(
    r'^DIAGNOSIS\(\w+, \w+,\s*"(?P<code>[\w.-]+)",\s*"(?P<title>[^"]+)"\)',
    re.M,
)
_BLOCK = re.compile(r"^```(?P<kind>\w*)[^\n]*\n(?P<code>.*?)^```$", re.M | re.S)
# The forms in which a message names a diagnosis: an error's name, its number, or a code in
# brackets.
_NAMED = re.compile(
    r"\b(?P<name>cudaError[A-Z]\w+)|\berror (?P<number>\d{1,3})\b|explain (?P<code>[\w.-]+[\w-])"
)


@dataclass(frozen=True)
class Page:
    code: str  # "700", "order.streams", "crash"
    name: str  # "cudaErrorIllegalAddress", or ""
    title: str
    text: str
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """The wrong program, "" if the page has none."""
        found = _BLOCK.search(self.sections.get(WRONG, ""))
        return found["code"] if found else ""

    @property
    def mended(self) -> str:
        """The program with the page's diff applied. ValueError: it does not apply."""
        text = self.program
        for block in _BLOCK.finditer(self.sections.get(MEND, "")):
            if block["kind"] == "diff":
                text = apply_diff(text, block["code"])
        return text


def pages(project: Project) -> list[Page]:
    """Errors by number, then findings, then verdicts, by name."""
    folder = project.root / "docs" / "diagnoses"
    found = [parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.md")]
    return sorted(
        found, key=lambda page: (not page.code.isdigit(), "." not in page.code, _key(page))
    )


def parse(text: str) -> Page:
    """ValueError: the first line is not that of a page."""
    head, _, rest = text.partition("\n")
    title = TITLE.fullmatch(head)
    if not title:
        raise ValueError(f"not the first line of a page: {head!r}")
    parts = re.split(r"^## (.+)\n", rest, flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return Page(title["code"], title["name"] or "", title["title"], text, sections)


def table(project: Project) -> dict[str, str]:
    """The findings of the virtual node: code to title."""
    path = project.root / "vgpu" / "common" / "diagnoses.def"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return {found["code"]: found["title"] for found in _FOUND.finditer(text)}


def find(project: Project, asked: str) -> Page:
    """The page of a number, an error's name, a finding's code or a verdict. LabError: there is
    none; it names those that are spelled similarly."""
    known = {word: page for page in pages(project) for word in _words(page)}
    if page := known.get(asked.strip("[]().,:;").lower()):
        return page
    near = difflib.get_close_matches(asked.lower(), known, n=3)
    names = sorted({known[word].name or known[word].code for word in near})
    more = say("explain.near", near=", ".join(names)) if names else ""
    raise LabError(f"{say('explain.unknown', code=asked)} {more}".rstrip(), ExitStatus.NO_MATCH)


def named_in(known: Iterable[Page], text: str) -> Page | None:
    """The first diagnosis that a message names and that has a page."""
    words = {word: page for page in known for word in _words(page)}
    for found in _NAMED.finditer(text):
        word = found["name"] or found["number"] or found["code"]
        if page := words.get(word.lower()):
            return page
    return None


def _words(page: Page) -> list[str]:
    short = page.name.removeprefix("cudaError") if page.name else ""
    return [word.lower() for word in (page.code, page.name, short) if word]


def _key(page: Page) -> tuple[int, str]:
    return (int(page.code), "") if page.code.isdigit() else (0, page.code)


def apply_diff(text: str, diff: str) -> str:
    """Applies a diff without line numbers: its old lines must occur in `text` exactly once."""
    lines = [line for line in diff.splitlines() if line[:1] in ("+", "-", " ")]
    old = "\n".join(line[1:] for line in lines if line[0] != "+")
    new = "\n".join(line[1:] for line in lines if line[0] != "-")
    if text.count(old) != 1:
        raise ValueError(f"these lines stand {text.count(old)} times in the program:\n{old}")
    return text.replace(old, new)


def path_of(project: Project, page: Page) -> Path:
    return project.root / "docs" / "diagnoses" / f"{page.code}.md"
