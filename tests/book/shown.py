# SPDX-License-Identifier: MIT
"""Types what pages show but the consoles of the book's chapters, and compares what it prints.

    shown.py BUILD [--write] [PAGE...]

Which commands: those that docs/commands.json has as "typed", and with PEERLAB_FULL=1 (as
`./lab selfcheck --full` sets it) those that it has as "full". Each page gets a folder that looks
like a checkout with its build in build/vgpu, where the labs' programs are the reference's. A shell
reads the commands, as it would a reader's. `<this repository>` is one that holds what lies here.
--write puts what was printed into the pages.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import pages, shown  # noqa: E402
from grader.course.project import Project  # noqa: E402

FULL = os.environ.get("PEERLAB_FULL") == "1"
WAYS = ("typed", "full") if FULL else ("typed",)
SECONDS = 1500 if FULL else 120
REPOSITORY = "<this repository>"
LINKED = ("tests", "labs", "solutions", "vgpu", "docs", "grader")


def checkout(folder: Path, build: Path) -> None:
    """What a reader has: sources, and a build whose programs have the labs' names."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    for path in (ROOT / "docs/book/code").iterdir():
        (folder / path.name).symlink_to(path)
    tools = folder / "build" / "vgpu" / "bin"
    tools.mkdir(parents=True)
    for path in sorted(build.iterdir()):
        if path.name != "bin":
            (tools.parent / path.name).symlink_to(path)
    programs = {path.name: path for path in (build / "bin").iterdir()}
    for name, path in sorted(programs.items()):
        short = re.sub(r"^solution\d\d-", "", name)
        if short not in (name, "run"):  # in place of a learner's, where one was built
            programs[short] = path
    for name, path in programs.items():
        (tools / name).symlink_to(path)


def repository(folder: Path) -> Path:
    """What lies here, as a repository with one commit: what somebody gets who clones it."""
    made = folder / "peerlab.git"
    git = ["git", f"--git-dir={made}", f"--work-tree={ROOT}"]
    who = ["-c", "user.name=peerlab", "-c", "user.email=peerlab@localhost"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "as it lies here"]):
        subprocess.run([*git, *words], cwd=ROOT, check=True, timeout=SECONDS)
    return made


def typed(command: str, folder: Path, ident: str) -> str:
    """What a command prints; a status other than 0 is its last line."""
    tools = folder / "build" / "vgpu" / "bin"
    if REPOSITORY in command:
        command = command.replace(REPOSITORY, str(repository(folder)))
    path = f"{tools}:{os.environ['PATH']}"
    # git clone shows its progress where it takes seconds: on a busy machine.
    quiet = {"GIT_PROGRESS_DELAY": "3600"}
    extra = {"PATH": path, "HOME": str(folder), "VGPU_NODE_ID": ident, **quiet}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, **extra},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    status = [f"(status {done.returncode})"] if done.returncode else []
    return "\n".join([*(line.rstrip() for line in done.stdout.splitlines()), *status])


def differences(command: shown.Command, printed: str, *, any_order: bool) -> str:
    """How what was printed differs from what the page shows; "" where it does not."""
    if command.output is None:
        return "" if "(status " not in printed else f"$ {command.command}\n{printed}"
    wanted, got = command.output.splitlines(), printed.splitlines()
    if any_order:
        wanted, got = sorted(wanted), sorted(got)
    lines = list(difflib.unified_diff(wanted, got, "shown", "printed", lineterm=""))
    return "\n".join([f"$ {command.command}", *lines]) if lines else ""


def written(text: str, command: shown.Command, printed: str) -> str:
    """The page with what was printed below the command."""
    old = f"$ {command.command}\n" + (f"{command.output}\n" if command.output else "")
    return text.replace(old, f"$ {command.command}\n" + (f"{printed}\n" if printed else ""))


def page_problems(page: str, build: Path, *, write: bool) -> tuple[int, list[str]]:
    """How many commands of a page were typed, and how they differ from it."""
    by = {e["command"]: e for e in shown.load(ROOT) if e["page"] == page and e["by"] in WAYS}
    text = (ROOT / page).read_text(encoding="utf-8")
    chapter = pages.chapter_number(Path(page)) is not None  # whose console is book.commands'
    all_of = shown.commands_of(page, text, chapter=chapter)
    mine = [found for found in all_of if found.command in by]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="book-shown-") as name:
        folder = Path(name)
        checkout(folder, build)
        for number, command in enumerate(mine):
            printed = typed(command.command, folder, f"shown-{os.getpid()}-{number}")
            any_order = by[command.command].get("order") == "any"
            why = differences(command, printed, any_order=any_order)
            if why and write:
                text = written(text, command, printed)
            elif why:
                wrong.append(f"{page}:\n{why}")
    if write:
        (ROOT / page).write_text(text, encoding="utf-8")
    return len(mine), wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("pages", nargs="*", help="only these: docs/virtual-node.md")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    listed = {entry["page"] for entry in shown.load(ROOT) if entry["by"] in WAYS}
    known = [str(path.relative_to(ROOT)) for path in shown.sources(Project(ROOT))]
    count, wrong = 0, []
    for page in [page for page in known if page in listed and page in (options.pages or listed)]:
        found, why = page_problems(page, options.build.resolve(), write=options.write)
        count += found
        wrong += why
    print("\n".join([*wrong, f"{count} commands typed, {len(wrong)} print something else"]))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
