# SPDX-License-Identifier: MIT
"""A lab's contract, sentence by sentence, with the tests that look at each.

The contract is what learners read: the comments of labNN.h (and of run.h in lab 08) before what
comes with the lab, and "before:" and "after:" of each TODO. solutions/NN-NAME/tests/contract.tsv
has one row a sentence:

    id          ipc_export.2: the second sentence about ipc_export; rules.1; ipc_export.after
    tests       the cases that look at it; "-": none can
    mutants     of tests/mutants/ or tests/misconceptions/: answers that break the sentence, each
                rejected by one of these cases, as the selfcheck proves; or why no test can look
    sentence    word by word
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import LabError
from grader.course.project import Lab, Project

COLUMNS = ("id", "tests", "mutants", "sentence")
_GIVEN = re.compile(r"/\* -+ (comes with the lab|given)")
_COMMENT = re.compile(r"^/\*(.*?)\*/", re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"(?:\s*#define .*)*\s*(?:const\s+)?\w[\w\s*]*?\b(\w+)\(")
_END = re.compile(r"(?<=[^.][.!?])\s+")
_TODO = re.compile(r"// TODO\(\d+\):.*\n((?:\s*//   .*\n)+)")
_DEFINED = re.compile(r"^\w[\w\s*]*\b(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One sentence of a contract."""

    id: str
    sentence: str
    tests: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What the sentence is about, and the sentence: its number may change."""
        return self.id.rsplit(".", 1)[0], self.sentence

    @property
    def tested(self) -> bool:
        """A test can look at it."""
        return self.tests != ("-",)


def results(root: Path) -> tuple[str, ...]:
    """Names of the labs' results, as harness/lab.h has them: number I of them has the value -I."""
    text = (root / "harness" / "lab.h").read_text(encoding="utf-8")
    found = re.findall(r"^    (LAB_\w+) = (-?\d+),", text, re.MULTILINE)
    if [int(value) for _, value in found] != [-i for i in range(len(found))]:
        raise LabError("harness/lab.h: the results are not 0, -1, -2, ...")
    return tuple(name for name, _ in found)


def path(project: Project, lab: Lab) -> Path:
    """Where the table is."""
    return project.solutions_dir / lab.folder / "tests" / "contract.tsv"


def load(project: Project, lab: Lab) -> list[Row]:
    """The table's rows; an error names a line that is no row."""
    file = path(project, lab)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise LabError(f"{file}: {error.strerror}") from error
    rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(COLUMNS) or (number == 1 and tuple(cells) != COLUMNS):
            raise LabError(f"{file}:{number}: expected the columns {', '.join(COLUMNS)}")
    return [Row(cells[0], cells[3], *map(_words, cells[1:3])) for cells in rows[1:]]


def store(project: Project, lab: Lab, rows: list[Row]) -> None:
    """Writes the table."""
    lines = ["\t".join(COLUMNS)]
    lines += [
        "\t".join([row.id, " ".join(row.tests), " ".join(row.mutants), row.sentence])
        for row in rows
    ]
    path(project, lab).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _words(cell: str) -> tuple[str, ...]:
    return tuple(cell.split())


def sentences(project: Project, lab: Lab) -> list[Row]:
    """What the contract says, without tests, in the order in which learners read it."""
    found = []
    for file in sorted((project.labs_dir / lab.folder).glob("*.h")):
        text = file.read_text(encoding="utf-8")
        if file.stem == lab.name:
            found = [*_of_header(text, "rules"), *found]
        elif "the contract of" in text.split("*/")[0]:
            found += _of_header(text, f"{file.stem}.rules")
    for file in sorted((project.labs_dir / lab.folder).glob("*.c*")):
        found += _of_todos(file.read_text(encoding="utf-8"))
    return found


def _of_header(header: str, rules: str) -> Iterator[Row]:
    """The first comment's list of rules, and each comment that stands before a function."""
    contract = _GIVEN.split(header)[0]
    for number, comment in enumerate(_COMMENT.finditer(contract)):
        function = _FUNCTION.match(contract[comment.end() :])
        if number and not function:
            continue
        name = function[1] if number and function else rules
        for index, sentence in enumerate(_split(comment[1], rules=not number), 1):
            yield Row(f"{name}.{index}", sentence)


def _split(comment: str, *, rules: bool) -> list[str]:
    """The sentences of a comment; of `rules` those of its list only."""
    text = re.sub(r"\n ?\*", "\n", comment)
    items = re.split(r"^\s*- ", text, flags=re.MULTILINE)
    if rules:
        items = items[1:]
    found = []
    for item in items:
        plain = re.sub(r"^\d+\. ", "", " ".join(item.split()))
        found += [sentence for sentence in _END.split(plain) if sentence]
    return found


def _of_todos(text: str) -> Iterator[Row]:
    for todo in _TODO.finditer(text):
        function, body = _DEFINED.findall(text[: todo.start()])[-1], todo[1]
        plain = " ".join(line.strip().removeprefix("//").strip() for line in body.splitlines())
        parts = re.split(r"\b(before|after|use|note|hint): ", plain)
        for word, said in zip(parts[1::2], parts[2::2], strict=False):
            if word in ("before", "after"):
                yield Row(f"{function}.{word}", said.strip())


def promises(project: Project, lab: Lab) -> dict[str, list[str]]:
    """For each case the sentences that it looks at, in their order; none without a table."""
    found: dict[str, list[str]] = {}
    for row in load(project, lab) if path(project, lab).is_file() else ():
        for case in row.tests if row.tested else ():
            found.setdefault(case, []).append(row.sentence)
    return found
