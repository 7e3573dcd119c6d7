# SPDX-License-Identifier: MIT
"""Spelling of the site, README.md and CONTRIBUTING.md: words that neither Hunspell's British
English nor docs/book/words.txt has (CUDA's own names are left out), and American spellings.
Hunspell's British English takes -ize as well as -ise; here -ise is the spelling. American spellings
are looked for in the texts that programs print, too. A word of the list that no page uses any more
does no harm.

Exit status 77 where Hunspell is not installed."""

import ast
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
AMERICAN = re.compile(
    r"(?<![\w-])(?:[a-z]+[iy]z(?:e[drs]?|ers|ing|ations?|able)"
    r"|(?:behavi|fav|flav|hon|lab|neighb)or(?:s|ed|ing|al|ite|able)?|color(?:s|ed)?(?!:)"
    r"|gray|centers?|centered|catalogs?|fulfills?|defense)(?![\w=-])",
    re.IGNORECASE,
)
# No American spelling, or not ours: terms of the field and of OpenID Connect, CUDA's and Clang's
# texts.
THEIRS = re.compile(
    r"\w*siz(?:e[ds]?|ing)\b|(?:seiz|priz)\w+|optimizers?\b|saniti[sz]\w+|authorized party"
    r"|unrecognized error code|system not yet initialized|initialization is not supported for",
    re.IGNORECASE,
)
BEGINS = re.compile(r"(?:[.:;?!)] |(?:^|\n)(?:[#*>|\d.-]+ )?)\Z")  # what stands before a sentence
PRINTS = ("vgpu", "harness", "labs", "solutions", "zero-plan", "grader", "bench/truth")
C = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)


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
    not_known = unknown(set().union(*found.values()) - ours)
    return [
        f"{name}: {word}" for name, words in found.items() for word in sorted(words & not_known)
    ]


def american(texts: dict[str, str]) -> list[str]:
    """American spellings, a line each. In a title the words begin with capitals: it is a name."""
    said = []
    for name, text in texts.items():
        for found in AMERICAN.finditer(text):
            word = found[0][1:].islower() and not THEIRS.match(text, found.start())
            if word and (found[0].islower() or BEGINS.search(text[: found.start()])):
                said.append(f"{name}: {found[0]} is American")
    return said


def strings(path: Path) -> str:
    """What a source may print: its strings of several words without docstrings, a line each."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = list(ast.walk(ast.parse(text)))
        heads = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        texts = (n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
        found = [n.value for n in texts if id(n) not in heads]
    else:
        found = [m[1].replace("\\n", " ") for m in C.finditer(text) if m[1]]
    return "\n".join(one for one in found if " " in one.strip())


def printed() -> dict[str, str]:
    kinds = (".c", ".h", ".cu", ".def", ".py")
    paths = (path for part in PRINTS for path in sorted((ROOT / part).rglob("*")))
    return {
        str(path.relative_to(ROOT)): strings(path)
        for path in paths
        if path.suffix in kinds and ROOT / "vgpu/include" not in path.parents  # CUDA's own words
    }


def main() -> int:
    if shutil.which("hunspell") is None:
        print("no Hunspell here (apt-get install hunspell hunspell-en-gb)")
        return 77
    ours = {line for line in WORDS.read_text(encoding="utf-8").split() if line}
    pages = {
        str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
        for page in [*shown.sources(Project(ROOT)), ROOT / "CONTRIBUTING.md"]
    }
    sources = printed()
    said = wrong(pages, ours)
    texts = {name: prose(text) for name, text in pages.items()}
    said += american(texts | sources)
    print(
        "\n".join(
            [*said, f"{len(pages)} pages and {len(sources)} sources, {len(said)} wrong words"]
        )
    )
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
