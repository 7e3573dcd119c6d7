# SPDX-License-Identifier: MIT
"""What holds for every C source, and for every list of them in CMake.

test_sources.py CC. It needs no build.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CC = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else "cc"
NAMED = ("bench", "harness", "vgpu")  # where comments are held to it
OURS = ("bench", "harness", "labs", "solutions", "tests", "vgpu", "zero-plan")

# Sub-structures of what rooms share, by the names of their fields, and who alone writes to them:
# a room, or one file of it.
OWNERS = {
    "vgpu/node": {
        "check": "check",
        "clock": "clock",
        "device": "graph",
        "heard": "server/request_stream.c",
        "late": "graph/late_issue.c",
        "legacy": "graph",
        "memory": "memory",
        "order": "graph/order.c",
        "server": "server",
        "stores": "server/host_store.c",
        "time": "server/time_bound.c",
        "trace": "trace",
        "wait": "server",
    },
    "vgpu/exec": {
        "bank": "counts",
        "contention": "counts",
        "barrier": "threads",
        "clock": "threads",
        "findings": "context/finding.c",
        "grid_barrier": "threads/barrier.c",
        "hazards": "race/hazard.c",
        "intervals": "race/race.c",
        "lanes": "run/lane_run.c",
        "named": "threads/named_barrier.c",
        "poll": "threads",
        "printed": "threads/print.c",
        "sample": "counts",
        "sampled": "counts/sample.c",
        "shared": "context/shared_memory.c",
        "strays": "access/bounds.c",
        "visibility": "race/release_acquire.c",
        "warp_op": "threads/warp.c",
    },
}
# The structures that rooms share, and where they are declared.
SHARED = {
    "vgpu/node/graph/door/op.h": ("op",),
    "vgpu/node/graph/door/process.h": ("process",),
    "vgpu/node/graph/door/stream.h": ("stream", "event"),
    "vgpu/node/server/connection.h": ("connection",),
    "vgpu/exec/context/door/exec.h": ("thread", "block", "run"),
}
# Fields that are values, and no sub-structures.
ELSEWHERE_NAMED = {"info"}  # has a field of the same name that is no sub-structure
VALUES = {"idx", "bit", "shape", "grid", "dep", "user", "counts", "signals", "threads", "warps"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FILE = re.compile(r"(?<![\w<*/.-])((?:[\w-]+/)*[\w-]+\.(?:c|h|cu|def|py|cmake))\b(?![.\w])")
ELSEWHERE = {"CMakeDetermineCUDACompiler.cmake", "src/sum.cu"}  # CMake's; an example
# Where a static name stands in one file only, so that grep, gdb and perf say which is meant.
UNIQUE = ("vgpu", "harness")
# Fields of struct op_observer, which each observer has functions for, and what each program has.
OBSERVED = {"kernel_ran", "op_follows", "op_is_freed", "op_issued", "process_ends", "print_usage"}
STATIC = re.compile(
    r"^static (?:(?!__attribute__)[\w *]|__attribute__\(\(\w+\)\))*?\b"
    r"(?!__attribute__|_Atomic\b)(\w+)"
    r"(?:\(|\[| ?=|;|,)",
    re.MULTILINE,
)
LIST = re.compile(r"(?:add_library|add_executable|_room)\(([^()]*)\)")
ROW = re.compile(r"^\| `([^`|]+\.\w+)` \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
# In sentences: `node_start` (`node.c`), `run_kernel` in `effect.c`.
IN_SENTENCE = re.compile(r"`(\w+)` (?:in |\()`([\w/]+\.c)`")
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
    """FILE: FUNCTION for each one that a page names and the file does not define."""
    wrong = []
    for place, names in ROW.findall(page):
        path = ROOT / place
        text = path.read_text("utf-8") if path.is_file() else ""
        for name in re.findall(r"\w+", names):
            if not re.search(DEFINES.format(name), text, re.MULTILINE):
                wrong.append(f"{place}: {name}")
    for name, place in IN_SENTENCE.findall(page):
        texts = [path.read_text("utf-8") for path in (ROOT / "vgpu").rglob(place)]
        if not any(re.search(DEFINES.format(name), text, re.MULTILINE) for text in texts):
            wrong.append(f"{place}: {name}")
    return wrong


def without_comments(text: str) -> str:
    return COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def sub_structures(header: str, structure: str) -> set[str]:
    """The fields of a structure that are structures themselves."""
    body = re.search(rf"^struct {structure} \{{\n(.*?)^\}}", without_comments(header), re.M | re.S)
    assert body, structure
    return set(re.findall(r"^    struct \w+ (\w+)(?:\[\w+\])*;", body[1], re.M))


def writes(text: str, fields: Iterable[str]) -> Iterable[tuple[int, str, str]]:
    """Line, field, and the name in front of it, of each assignment to a sub-structure of `fields`,
    or to a member of it."""
    name = rf"(\w+)(?:\[[^\]]*\]|\))?(?:->|\.)({'|'.join(fields)})\b(?:\[[^\]]*\])?"
    member = r"\.\w+(?:(?:\.|->)\w+|\[[^\]]*\])*"
    forms = (
        rf"\b{name}{member} *(?:(?:[-+*/%|&^]|<<|>>)?=(?!=)|\+\+|--)",
        rf"(?:\+\+|--)(?:\w+(?:\.|->|\[[^\]]*\]))*?{name}\.",
        rf"\b{name} *= *\(struct",
    )
    code = without_comments(text)
    for form in forms:
        for one in re.finditer(form, code):
            yield code.count("\n", 0, one.start()) + 1, one[2], one[1]


def foreign_writes(part: str, file: str, text: str) -> list[str]:
    """FILE:LINE: FIELD for each sub-structure that a file of a part writes to and does not own."""
    owners = OWNERS[part]
    return [
        f"{file}:{line}: {field}"
        for line, field, before in sorted(writes(text, owners))
        if not f"{file}/".startswith(owners[field] + "/")
        and before not in owners
        and before not in ELSEWHERE_NAMED
    ]


def static_names(text: str) -> set[str]:
    """The functions and file-scope variables of a C file that no other file can use."""
    return set(STATIC.findall(without_comments(text)))


def names_in_two(texts: dict[str, str]) -> list[str]:
    """NAME: FILE, FILE for each static name that stands in more than one of the files."""
    where: dict[str, list[str]] = {}
    for file, text in texts.items():
        for name in static_names(text) - OBSERVED:
            where.setdefault(name, []).append(file)
    return sorted(f"{name}: {', '.join(at)}" for name, at in where.items() if len(at) > 1)


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
        """With -I of our folder, <signal.h> would find ours. Stand-ins of libraries are to."""
        known = system_headers()
        self.assertIn("stdio.h", known)
        meant = (INCLUDE, ROOT / "tests/foreign/stand_in")
        named = [p for p in files(".h") if p.name in known]
        found = [p for p in named if not any(p.is_relative_to(folder) for folder in meant)]
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
        gone = "| `vgpu/gone.c` | `copy` | x |\n`run_kernel` in `effect.c` and `run` (`effect.c`)"
        self.assertEqual(
            missing_functions(page + gone),
            [f"{here}: effect_gone", f"{here}: tell_begins", "vgpu/gone.c: copy", "effect.c: run"],
        )

    def test_a_file_that_went_is_noticed(self) -> None:
        text = "/* see now.c, node/gone.h\n and <signal.h> */ int x; // and lost.py"
        self.assertEqual(unknown_files(text, {"now.c"}), ["node/gone.h", "lost.py"])

    def test_only_its_owner_writes_to_a_sub_structure(self) -> None:
        found = []
        for part in OWNERS:
            top = ROOT / part
            for path in sorted(top.rglob("*.[ch]")):
                file = str(path.relative_to(top))
                found += foreign_writes(part, file, path.read_text("utf-8"))
        self.assertEqual(found, [])

    def test_every_sub_structure_has_an_owner(self) -> None:
        for header, structures in SHARED.items():
            text = (ROOT / header).read_text("utf-8")
            owners = OWNERS["/".join(header.split("/")[:2])]
            for structure in structures:
                fields = sub_structures(text, structure) - VALUES
                self.assertLessEqual(fields, set(owners), f"{header}: struct {structure}")

    def test_a_write_to_another_room_is_noticed(self) -> None:
        text = """
            c->process->memory.map_version++; /* op->clock.flows = 1; */
            if (op->clock.flows == 1 || --op->clock.flows == 0)
                process->memory.context[device] = false;
            process->late = (struct late_issues){.workers = 1};
            *op = (struct op){.clock = 3};
        """
        self.assertEqual(
            foreign_writes("vgpu/node", "server/request.c", text),
            [
                "server/request.c:2: memory",
                "server/request.c:3: clock",
                "server/request.c:4: memory",
                "server/request.c:5: late",
            ],
        )
        self.assertEqual(len(foreign_writes("vgpu/node", "memory/owner.c", text)), 2)
        self.assertEqual(
            sub_structures("struct a {\n    struct b *x, y;\n    struct b z;\n};", "a"), {"z"}
        )

    def test_a_static_name_stands_in_one_file(self) -> None:
        paths = [path for part in UNIQUE for path in sorted((ROOT / part).rglob("*.c"))]
        self.assertGreater(len(paths), 100)
        self.assertEqual(names_in_two({shown(p): p.read_text("utf-8") for p in paths}), [])

    def test_a_static_name_in_two_files_is_noticed(self) -> None:
        one = "static int find(void)\n{\n}\nstatic const char *kept[2], more;\nint find_all(void);"
        two = """static struct a *find(
            int b);\nstatic inline __attribute__((hot)) void kept(void);
            /*\nstatic int more;\n*/\nstatic void op_issued(void *self);"""
        self.assertEqual(
            names_in_two({"a.c": one, "b.c": two, "c.c": "static void op_issued(void *self);"}),
            ["find: a.c, b.c", "kept: a.c, b.c"],
        )

    def test_graders_tests_lie_in_graders_folders(self) -> None:
        top = ROOT / "grader" / "tests"
        tests = [path.relative_to(top) for path in sorted(top.rglob("test_*.py"))]
        self.assertGreater(len(tests), 30)
        here = [top.parent / str(path.parent) for path in tests if len(path.parts) == 2]
        self.assertEqual(len(here), len(tests), "a test beside the folders, or too deep")
        self.assertEqual([shown(path) for path in here if not path.is_dir()], [])

    def test_lists_of_sources_are_sorted(self) -> None:
        found = [(shown(p), unsorted(p.read_text("utf-8"))) for p in files("CMakeLists.txt")]
        self.assertEqual([one for one in found if one[1]], [])

    def test_an_unsorted_list_is_noticed(self) -> None:
        self.assertEqual(unsorted("add_library(one STATIC b.c a.c)"), ["one"])
        self.assertEqual(unsorted("add_executable(two a.c b.c ../a.c ${more})"), [])


INCLUDE = ROOT / "vgpu" / "include"  # CUDA's headers have CUDA's names


class OpenMP(unittest.TestCase):
    """./lab start installs no libomp, so that nothing it builds may need it."""

    def words(self, clang: str) -> str:
        script = ROOT / "harness" / "cmake" / "openmp.cmake"
        with tempfile.TemporaryDirectory() as folder:
            asks = Path(folder, "asks.cmake")
            asks.write_text(
                f'include({script})\nmessage("${{PEERLAB_OPENMP}}")\n', encoding="utf-8"
            )
            command = ["cmake", f"-DPEERLAB_CLANG={clang}", "-P", asks]
            return subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stderr.strip()

    def test_is_used_where_clang_has_it(self) -> None:
        self.assertEqual(self.words("/bin/true"), "-Xcompiler;-fopenmp")
        self.assertEqual(self.words("/bin/false"), "")

    def test_is_asked_for_in_one_place(self) -> None:
        lists = [path for folder in OURS for path in (ROOT / folder).rglob("CMakeLists.txt")]
        self.assertEqual([path for path in lists if "-fopenmp" in path.read_text("utf-8")], [])


if __name__ == "__main__":
    unittest.main()
