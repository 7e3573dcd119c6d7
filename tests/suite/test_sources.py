# SPDX-License-Identifier: MIT
"""What holds for every C source, and for every list of them in CMake.

test_sources.py CC. It needs no build.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CC = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else "cc"
NAMED = ("bench", "harness", "vgpu")  # where comments are held to it
OURS = ("bench", "harness", "solutions", "tests", "vgpu", "zero-plan")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FILE = re.compile(r"(?<![\w<*/.-])((?:[\w-]+/)*[\w-]+\.(?:c|h|cu|def|py|cmake))\b(?![.\w])")
ELSEWHERE = {"CMakeDetermineCUDACompiler.cmake", "src/sum.cu"}  # CMake's; an example
LIST = re.compile(r"(?:add_library|add_executable|_room)\(([^()]*)\)")
ROW = re.compile(r"^\| `([^`|]+\.\w+)` \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
# A definition begins in the first column: of C, of CMake, of a shell script.
DEFINES = (
    r"^(?:[a-z_][^;(]*?[ *])?{0}\((?![^()]*\)(?: __attribute__.*)?;)"
    r"|^(?:function|macro)\({0}\b|^{0}\(\) {{"
)


def files(*suffixes: str) -> list[Path]:
    return [p for top in OURS for s in suffixes for p in sorted((ROOT / top).rglob(f"*{s}"))]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def system_headers() -> set[str]:
    """What `#include <NAME>` finds without our folders."""
    words = [CC, "-xc", "-E", "-v", "/dev/null"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    _, _, rest = said.partition("#include <...> search starts here:\n")
    folders = rest.partition("End of search list.")[0].split()
    return {header.name for folder in folders for header in Path(folder).glob("*.h")}


def unsorted(text: str) -> list[str]:
    """The targets of a CMake file whose sources do not stand in order: those beside it, then
    others'."""
    wrong = []
    for body in LIST.findall(text):
        target, *words = re.sub(r"#.*", "", body).split()
        sources = [word for word in words if word.endswith(".c") and word[0] not in "$/"]
        if sources != sorted(sources, key=lambda word: (word.startswith(".."), word)):
            wrong.append(target)
    return wrong


def unknown_files(text: str, known: set[str]) -> list[str]:
    """The files that comments name and that are none of `known`: names, and paths' last parts."""
    named = (name for comment in COMMENT.findall(text) for name in FILE.findall(comment))
    return [name for name in named if name not in known]


def missing_functions(page: str) -> list[str]:
    """FILE: FUNCTION for each one that a table of a page names and the file does not define."""
    wrong = []
    for place, names in ROW.findall(page):
        path = ROOT / place
        text = path.read_text("utf-8") if path.is_file() else ""
        for name in re.findall(r"\w+", names):
            if not re.search(DEFINES.format(name), text, re.MULTILINE):
                wrong.append(f"{place}: {name}")
    return wrong


def known_files() -> set[str]:
    """All ways to name a file of the project: by its name, and with any of the folders above."""
    words = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")
    parts = (Path(line).parts for line in listed if line and (ROOT / line).exists())
    return ELSEWHERE | {"/".join(one[i:]) for one in parts for i in range(len(one))}


class Sources(unittest.TestCase):
    def test_gnu_source_is_said_once(self) -> None:
        """harness/cmake/setup.cmake says it for all targets, lab_build.cmake there for the labs."""
        define = re.compile(r"^\s*#\s*define\s+_GNU_SOURCE\b", re.MULTILINE)
        found = [shown(p) for p in files(".c", ".h") if define.search(p.read_text("utf-8"))]
        self.assertEqual(found, [])

    def test_no_header_hides_a_system_header(self) -> None:
        """With -I of our folder, <signal.h> would find ours."""
        known = system_headers()
        self.assertIn("stdio.h", known)
        found = [p for p in files(".h") if p.name in known and not p.is_relative_to(INCLUDE)]
        self.assertEqual([shown(p) for p in found], [])

    def test_files_that_comments_name_exist(self) -> None:
        known = known_files()
        paths = [p for p in files(".c", ".h", ".def") if p.parts[len(ROOT.parts)] in NAMED]
        found = [(shown(p), unknown_files(p.read_text("utf-8"), known)) for p in paths]
        self.assertEqual([one for one in found if one[1]], [])

    def test_walks_name_functions_that_exist(self) -> None:
        page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
        self.assertGreater(len(ROW.findall(page)), 40)
        self.assertEqual(missing_functions(page), [])

    def test_files_that_pages_name_exist(self) -> None:
        """A path in `code` with a folder in front; capitals stand for a name of the reader's."""
        for page in ("CONTRIBUTING.md", "docs/architecture.md"):
            named = re.findall(
                r"`((?:vgpu|harness|tests|grader|docs)/[a-z0-9_./]+\.[a-z]+)`",
                (ROOT / page).read_text("utf-8"),
            )
            self.assertGreater(len(named), 10, page)
            self.assertEqual([name for name in named if not (ROOT / name).is_file()], [], page)

    def test_a_function_that_went_is_noticed(self) -> None:
        here = "vgpu/node/graph/effect.c"  # calls tell_begins, which is elsewhere
        page = f"| `{here}` | `effect_apply`, `effect_gone`, `tell_begins` | x |\n"
        gone = "| `vgpu/gone.c` | `copy` | x |\n"
        self.assertEqual(
            missing_functions(page + gone),
            [f"{here}: effect_gone", f"{here}: tell_begins", "vgpu/gone.c: copy"],
        )

    def test_a_file_that_went_is_noticed(self) -> None:
        text = "/* see now.c, node/gone.h\n and <signal.h> */ int x; // and lost.py"
        self.assertEqual(unknown_files(text, {"now.c"}), ["node/gone.h", "lost.py"])

    def test_lists_of_sources_are_sorted(self) -> None:
        found = [(shown(p), unsorted(p.read_text("utf-8"))) for p in files("CMakeLists.txt")]
        self.assertEqual([one for one in found if one[1]], [])

    def test_an_unsorted_list_is_noticed(self) -> None:
        self.assertEqual(unsorted("add_library(one STATIC b.c a.c)"), ["one"])
        self.assertEqual(unsorted("add_executable(two a.c b.c ../a.c ${more})"), [])


INCLUDE = ROOT / "vgpu" / "include"  # CUDA's headers have CUDA's names


if __name__ == "__main__":
    unittest.main()
