# SPDX-License-Identifier: MIT
"""Words of the site and of README.md that no dictionary has: Hunspell's British English and
docs/book/words.txt. CUDA's own names are none. A word of that list that no page uses any more does
no harm.

Exit status 77 where Hunspell is not installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import shown  # noqa: E402
from grader.course.project import Project  # noqa: E402

WORDS = ROOT / "docs/book/words.txt"
NOT_PROSE = (
    r"^```.*?^```",  # code
    r"<!--.*?-->",
    r"`[^`]*`",
    r"\]\([^)]*\)",  # where links lead
    r"^ {4}[^A-Z\n][^\n]*$",  # commands
    r"<[^>]*>",
    r"\bcuda[A-Z]\w*",
    r"https?://\S+",
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


def wrong(pages: dict[str, str], ours: set[str]) -> list[str]:
    """The words of these texts that nobody knows, a line each."""
    found = {name: set(WORD.findall(prose(text))) for name, text in pages.items()}
    nobody_knows = unknown(set().union(*found.values()) - ours)
    return [
        f"{name}: {word}" for name, words in found.items() for word in sorted(words & nobody_knows)
    ]


def main() -> int:
    if shutil.which("hunspell") is None:
        print("no Hunspell here (apt-get install hunspell hunspell-en-gb)")
        return 77
    ours = {line for line in WORDS.read_text(encoding="utf-8").split() if line}
    pages = {
        str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
        for page in shown.sources(Project(ROOT))
    }
    said = wrong(pages, ours)
    print("\n".join([*said, f"{len(pages)} pages, {len(said)} unknown words"]))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
