# SPDX-License-Identifier: MIT
"""docs/security.md: every statement names tests that there are, or says that it has none."""

import re
import unittest
from collections.abc import Iterator
from pathlib import Path

from grader.course.mutants import load as load_mutants
from grader.course.project import here
from tests.hostile.corpus import groups, load
from tests.hostile.ingest import CASES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
TESTS = re.compile(r"\(tests?: ([^()]+)\)")
NONE = re.compile(r"\(no test\b[^()]*\)")
FOLDERS = {
    "grader": "grader/tests",
    **{one: f"tests/{one}" for one in ("sandbox", "hostile", "lti")},
}


def statements(page: str) -> Iterator[str]:
    """The paragraphs, list items and rows of tables from the first heading on; no code."""
    body = page[page.index("\n## ") :]
    body = re.sub(r"(?m)^ {4}.*\n", "", body)
    for block in re.split(r"\n\s*\n", body):
        for part in re.split(r"\n(?=- |\||#)", block.strip()):
            one = " ".join(part.split())
            if one and not one.startswith("#") and not re.match(r"\|[-:| ]*$", one):
                yield one


def without_heads(found: list[str]) -> list[str]:
    """Rows of a table but the first, which says what the columns are."""
    return [
        one
        for at, one in enumerate(found)
        if not one.startswith("|") or (at > 0 and found[at - 1].startswith("|"))
    ]


def declared() -> list["re.Pattern[str]"]:
    """The names of ctest's tests, as CMake's files have them."""
    found = set()
    for path in (*ROOT.glob("tests/**/CMakeLists.txt"), ROOT / "CMakeLists.txt"):
        text = path.read_text(encoding="utf-8")
        items = dict(re.findall(r"foreach\((\w+) IN ITEMS ([^)]*)\)", text))
        names = re.findall(r"\w*_tests?\(\s*((?:[\w.-]|\$\{\w+\})+)", text)
        found |= {_pattern(name, items) for name in names}
    return [re.compile(one) for one in found]


def _pattern(name: str, items: dict[str, str]) -> str:
    """A variable of a loop is one of the loop's words, another one any word."""

    def word(match: "re.Match[str]") -> str:
        words = items.get(match[1], "").split()
        return f"({'|'.join(map(re.escape, words))})" if words else r"[\w-]+"

    pieces = re.split(r"(\$\{\w+\})", name)
    return "".join(
        re.sub(r"\$\{(\w+)\}", word, one) if one.startswith("$") else re.escape(one)
        for one in pieces
    )


class Page(unittest.TestCase):
    def test_every_statement_has_a_test_or_says_that_it_has_none(self) -> None:
        found = without_heads(list(statements(PAGE)))
        self.assertGreater(len(found), 40)
        for one in found:
            with self.subTest(one[:80]):
                self.assertTrue(TESTS.search(one) or NONE.search(one) or one.endswith(":"), one)

    def test_the_tests_that_it_names_are_there(self) -> None:
        known = declared()
        for names in TESTS.findall(" ".join(PAGE.split())):
            for name in re.findall(r"`([^`]+)`", names):
                with self.subTest(name):
                    self.assertTrue(self.is_there(name, known), name)

    def is_there(self, name: str, known: list["re.Pattern[str]"]) -> bool:
        test, _, part = name.partition("/")
        folder, _, word = test.partition(".")
        if folder == "grader":
            return (ROOT / FOLDERS[folder] / f"{word.replace('.', '/')}.py").is_file()
        if not any(one.fullmatch(test.removesuffix(".full")) for one in known):
            return False
        if not part:
            return True
        if folder == "hostile" and word in groups():
            return part in {attack.name for attack in load(word)}
        if test == "hostile.ingest":
            return part in CASES
        source = ROOT / FOLDERS[folder] / f"test_{word}.py"
        return f"def {part}(" in source.read_text(encoding="utf-8")


# Of each lab, mutants whose result is right: the host does a GPU's work, another copy is made, or a
# call of CUDA is replaced in the program's own process.
ELSEWHERE = {
    "01": {"mem_of_a_replaced_call", "alloc_on_the_host"},
    "02": {"enable_in_name_only", "probe_by_a_copy"},
    "03": {"clock_replaced", "peer_copy_by_the_host"},
    "04": {"shared_added_by_the_host", "peer_added_by_the_host", "scale_never_measured"},
    "05": {"put_through_the_host"},
    "06": {
        "import_is_a_copy",
        "share_in_name_only",
        "fault_in_name_only",
        "fault_of_another_launch",
    },
    "07": {"reduce_on_the_host", "scatter_through_the_host", "gather_by_a_replaced_call"},
    "08": {"reduce_on_the_host", "gather_through_the_host", "memory_in_name_only"},
}
# What one thread does for all.
ALONE = {
    "04": {"shared_by_one_thread", "shared_reads_for_show", "shared_without_a_tree"},
    "07": {"reduce_by_one_thread", "reduce_by_a_grid_of_one"},
}


class Mutants(unittest.TestCase):
    def test_each_lab_has_mutants_that_do_work_elsewhere(self) -> None:
        labs = here().labs()
        self.assertEqual([lab.number for lab in labs], sorted(ELSEWHERE))
        for lab in labs:
            with self.subTest(lab.name):
                names = {mutant.name for mutant in load_mutants(here(), lab)}
                self.assertTrue(ELSEWHERE[lab.number])
                self.assertLessEqual(ELSEWHERE[lab.number], names)

    def test_kernels_of_one_thread_are_mutants(self) -> None:
        for lab in (lab for lab in here().labs() if lab.number in ALONE):
            names = {mutant.name for mutant in load_mutants(here(), lab)}
            self.assertLessEqual(ALONE[lab.number], names)


class Checks(unittest.TestCase):
    """What the page must not be able to do."""

    def test_a_statement_without_a_test_is_seen(self) -> None:
        page = "# x\n\n## y\n\n- It holds (tests: `a.b`).\n- And this.\n\n| h |\n|---|\n| row |\n"
        found = without_heads(list(statements(page)))
        self.assertEqual(
            [one for one in found if not TESTS.search(one)], ["- And this.", "| row |"]
        )

    def test_a_name_of_nothing_is_seen(self) -> None:
        page, known = Page(), declared()
        for name in ("hostile.leek", "hostile.leak/flies", "sandbox.run/test_x", "grader.test_x"):
            self.assertFalse(page.is_there(name, known), name)


if __name__ == "__main__":
    unittest.main()
