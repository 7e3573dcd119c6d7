# SPDX-License-Identifier: MIT
"""Types every command that the book shows, and compares what it prints.

    pages.py BIN [--write] [PAGE...]

BIN holds vgpu-cc and vgpu-smi. --write puts what was printed into the pages.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import commands  # noqa: E402
from grader.book.pages import chapters  # noqa: E402
from grader.building import needs  # noqa: E402
from grader.course.project import Project  # noqa: E402


def outputs_of(shown: list[commands.Shown], page: Path, path: str) -> list[str]:
    """What the page's commands print, in a folder that holds the book's code."""
    with tempfile.TemporaryDirectory(prefix="book-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "docs/book/code", folder, dirs_exist_ok=True)
        ident = f"{page.stem}-{os.getpid()}"
        return [
            commands.printed(each.command, folder, path, f"{ident}-{number}")
            for number, each in enumerate(shown)
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=Path)
    parser.add_argument("pages", nargs="*", help="of these chapters only: 02-node")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    path, count, wrong = commands.search_path(options.bin.resolve()), 0, []
    slack = commands.slack(needs.clang_release(Project(ROOT)))
    for page in chapters(Project(ROOT)):
        if options.pages and page.stem not in options.pages:
            continue
        text = page.read_text(encoding="utf-8")
        shown = commands.shown_in(text)
        outputs = outputs_of(shown, page, path)
        count += len(shown)
        pairs = zip(shown, outputs, strict=True)
        differ = [commands.differences(one, output, slack) for one, output in pairs]
        if options.write:
            page.write_text(commands.with_outputs(text, outputs), encoding="utf-8")
        else:
            wrong += [f"{page.name}:\n{why}" for why in differ if why]
    print("\n".join([*wrong, f"{count} commands typed, {len(wrong)} print something else"]))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
