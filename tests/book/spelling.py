# SPDX-License-Identifier: MIT
"""Words of the book that no dictionary has: Hunspell's British English and docs/book/words.txt.

Exit status 77 where Hunspell is not installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book.pages import chapters  # noqa: E402
from grader.project import Project  # noqa: E402

WORDS = ROOT / "docs/book/words.txt"
# Pages of the book that are no chapters; the others are their writers' own.
BOOK = (
    "book/index.md",
    "diagnoses.md",
    "first-lab.md",
    "glossary.md",
    "nodes.md",
    "real-gpus.md",
    "seeds.md",
)
NOT_PROSE = (
    r"^```.*?^```",  # code
    r"<!--.*?-->",
    r"`[^`]*`",
    r"\]\([^)]*\)",  # where links lead
    r"^ {4}[^A-Z].*$",  # commands
    r"<[^>]*>",
)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def prose(text: str) -> str:
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE | re.DOTALL)
    return text


def unknown(words: set[str]) -> set[str]:
    """Those that Hunspell does not know."""
    command = ["hunspell", "-d", "en_GB", "-l", "-i", "utf-8"]
    done = subprocess.run(
        command, input="\n".join(sorted(words)), text=True, capture_output=True, check=True
    )
    return set(done.stdout.split())


def main() -> int:
    if shutil.which("hunspell") is None:
        print("no Hunspell here (apt-get install hunspell hunspell-en-gb)")
        return 77
    ours = {line for line in WORDS.read_text(encoding="utf-8").split() if line}
    pages = [*chapters(Project(ROOT)), *(ROOT / "docs" / name for name in BOOK)]
    wrong, seen = [], set()
    for page in pages:
        words = set(WORD.findall(prose(page.read_text(encoding="utf-8"))))
        seen |= words
        wrong += [f"{page.name}: {word}" for word in sorted(unknown(words) - ours)]
    wrong += [f"{WORDS.name}: nothing uses {word}" for word in sorted(ours - seen)]
    print("\n".join([*wrong, f"{len(pages)} pages, {len(seen)} words, {len(wrong)} unknown"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
