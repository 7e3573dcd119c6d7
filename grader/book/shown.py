# SPDX-License-Identifier: MIT
"""Every command that a page shows in a block is run by something: docs/commands.json says by what.

    {"page": "docs/virtual-node.md", "command": "./hello", "by": "typed"}

The console blocks of chapters are typed by book.commands and need no entry. For all others `by` is
`typed` (book.shown types it, and compares what is printed), `full` (the same, at full length only),
`test:NAME` (that test of ctest runs it), `selfcheck` (`./lab selfcheck` runs it, or compares what
stands below it), `ci` (.ci/run types it: it takes long, or belongs to the checkout), `asan` and
`nvcc` (the same, in steps of their own), or `recorded: FILE` (it ran on real GPUs; FILE says on
which, and has the lines that the page shows). `"order": "any"` is for lines that come as processes
come.

    python3 -m grader.book.shown WAY      the commands of that way, a line each
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from grader.book import pages
from grader.course.project import Project

PLACE = Path("docs/commands.json")
MORE = (
    "README.md",
    "bench/README.md",
    "bench/allreduce/README.md",
)  # that are no pages of the site
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TERMINALS = ("", "console", "text", "bash", "sh")
PROGRAMS = re.compile(
    r"(?:\./lab|ctest|cmake|git|export|python3|nsys|ncu|mpirun|zero-plan|nvidia-smi|sudo|apt-get|cp"
    r"|build/\S+) [^─]*$"
)
WAYS = re.compile(r"typed|full|selfcheck|ci|asan|nvcc|test:(\S+)|recorded: (\S+)")
TYPED_BY_CI = ("ci", "asan", "nvcc")


class Entry(TypedDict):
    page: str
    command: str
    by: str
    order: NotRequired[str]


@dataclass(frozen=True)
class Command:
    """A command that a page shows, and the lines below it; None if it shows no output."""

    page: str
    command: str
    output: str | None


def load(root: Path) -> list[Entry]:
    entries: list[Entry] = json.loads((root / PLACE).read_text(encoding="utf-8"))
    return entries


def sources(project: Project) -> list[Path]:
    """All pages whose commands count."""
    listed = [page.source for page in pages.pages(project)]
    return [*(project.root / name for name in MORE), *listed]


def commands(project: Project) -> list[Command]:
    """The commands of all pages, except the console blocks of chapters."""
    chapters = set(pages.chapters(project))
    found = []
    for path in sources(project):
        name = str(path.relative_to(project.root))
        text = path.read_text(encoding="utf-8")
        found += commands_of(name, text, chapter=path in chapters)
    return found


def commands_of(page: str, text: str, *, chapter: bool = False) -> list[Command]:
    found = []
    for language, block in FENCE.findall(text):
        if language in TERMINALS and not (chapter and language == "console"):
            found += _fenced(page, block)
    for line in FENCE.sub("", text).splitlines():
        command = re.sub(r"\s+#.*$", "", line[4:])
        if line.startswith("    ") and PROGRAMS.match(command + " "):
            found.append(Command(page, command, None))
    return found


def _fenced(page: str, block: str) -> list[Command]:
    if re.search(r"^\$ ", block, re.MULTILINE):
        parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        split = [part.partition("\n") for part in parts]
        return [Command(page, command, output.rstrip("\n")) for command, _, output in split]
    lines = [re.sub(r"\s+#.*$", "", line) for line in block.splitlines()]
    return [Command(page, line, None) for line in lines if PROGRAMS.match(line + " ")]


def problems(project: Project, tests: set[str]) -> list[str]:
    """Commands that nothing runs, and wrong entries."""
    shown = {(found.page, found.command) for found in commands(project)}
    listed = {(entry["page"], entry["command"]): entry for entry in load(project.root)}
    wrong = [
        f"{page}: nothing runs `{command}`: {PLACE}" for page, command in shown - listed.keys()
    ]
    wrong += [f"{PLACE}: {page} shows no `{command}`" for page, command in listed.keys() - shown]
    for entry in listed.values():
        way = WAYS.fullmatch(entry["by"])
        if way is None:
            wrong.append(f"{PLACE}: {entry['command']}: {entry['by']!r} is not a way to run it")
        elif way[1] and way[1] not in tests:
            wrong.append(f"{PLACE}: {entry['command']}: there is no test {way[1]}")
        elif way[2] and not (project.root / way[2]).is_file():
            wrong.append(f"{PLACE}: {entry['command']}: there is no file {way[2]}")
        elif entry["by"] in TYPED_BY_CI:
            wrong += _not_typed(project.root, entry["by"])
    return sorted({*wrong, *_other_lines(project, listed)})


def _not_typed(root: Path, way: str) -> list[str]:
    ci = root / ".ci/run"  # not in a handout
    if not ci.is_file() or re.search(rf"\btype_shown {way}\b", ci.read_text(encoding="utf-8")):
        return []
    return [f".ci/run does not type the commands that {PLACE} leaves to it as {way!r}"]


def _other_lines(project: Project, listed: dict[tuple[str, str], Entry]) -> list[str]:
    """Output below a command that its recording does not have; "..." stands for any lines."""
    wrong = []
    for found in commands(project):
        entry = listed.get((found.page, found.command))
        way = WAYS.fullmatch(entry["by"]) if entry and found.output else None
        if not way or not way[2] or not (project.root / way[2]).is_file():
            continue
        text = (project.root / way[2]).read_text(encoding="utf-8")
        known = {" ".join(line.split()) for line in text.splitlines()} | {"..."}
        lines = [line for line in (found.output or "").splitlines() if line.strip()]
        wrong += [
            f"{found.page}: {way[2]} has no line {line!r}"
            for line in lines
            if " ".join(line.split()) not in known
        ]
    return wrong


if __name__ == "__main__":
    for line in dict.fromkeys(one["command"] for one in load(Path()) if one["by"] == sys.argv[1]):
        print(line)
