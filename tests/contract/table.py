# SPDX-License-Identifier: MIT
"""A lab's contract, sentence by sentence, and the tests that look at each: both ways.

python3 tests/contract/table.py 05            each sentence with its tests and mutants, then
                                              each test with its sentences
python3 tests/contract/table.py 05 --write    brings contract.tsv to the sentences of today:
                                              rows of sentences that are there keep what they
                                              say, new sentences come without tests
"""

import argparse
import dataclasses
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.course import contract
from grader.course.contract import Row
from grader.course.project import Lab, Project, here


def renewed(project: Project, lab: Lab) -> list[Row]:
    """The sentences of today, each with what the table says of it."""
    there = contract.path(project, lab).is_file()
    known = {row.key: row for row in contract.load(project, lab)} if there else {}
    return [
        dataclasses.replace(known[row.key], id=row.id) if row.key in known else row
        for row in contract.sentences(project, lab)
    ]


def show(project: Project, lab: Lab) -> None:
    """Prints both directions."""
    for row in contract.load(project, lab):
        print(f"{row.id}: {row.sentence}")
        print(f"    tests: {' '.join(row.tests)}   mutants: {' '.join(row.mutants)}")
    print()
    for case, said in contract.promises(project, lab).items():
        print(case, *(f"    {sentence}" for sentence in said), sep="\n")


def main() -> int:
    """Prints a lab's table, or writes it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lab", help="its number, as in 05")
    parser.add_argument("--write", action="store_true", help="bring contract.tsv up to date")
    arguments = parser.parse_args()
    project = here()
    lab = next(lab for lab in project.labs() if lab.number == arguments.lab)
    if arguments.write:
        contract.store(project, lab, renewed(project, lab))
    else:
        show(project, lab)
    return 0


if __name__ == "__main__":
    sys.exit(main())
