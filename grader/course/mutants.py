# SPDX-License-Identifier: MIT
"""Mutants: realistic mistakes, each with the test that must reject it.

tests/mutants/labNN.py holds `MUTANTS`, a list of `Mutant`. A mutant is the solution's file with one
passage replaced; the selfcheck builds it in place of the solution's and runs just `rejected_by`.
"""

import re
import runpy
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import LabError
from grader.course.project import Lab, Project


@dataclass(frozen=True)
class Mutant:
    """`find` occurs exactly once in the solution's student file (`file`, needed only where a lab
    has several); `rejected_by` is the name of a case, with or without `solutionNN.`."""

    name: str
    todo: int
    find: str
    replace: str
    rejected_by: str
    why: str
    file: str = ""
    grave: str = ""  # the kind of grave mistake that it is (grave.py), by reading it

    @property
    def case(self) -> str:
        """The part after `solutionNN.` in the name of the test: "split" or "hidden.split"."""
        return re.sub(r"^(lab|solution)\d\d\.", "", self.rejected_by)


def load(project: Project, lab: Lab) -> list[Mutant]:
    """The mutants of a lab, in the order of their file; an error names what is wrong in it."""
    path = project.root / "tests" / "mutants" / f"{lab.name}.py"
    if not path.is_file():
        raise LabError(
            f"{path.relative_to(project.root)} is missing: lab {lab.number} has no mutants"
        )
    found = runpy.run_path(str(path)).get("MUTANTS")
    if not isinstance(found, list) or not all(isinstance(entry, Mutant) for entry in found):
        raise LabError(f"{path.relative_to(project.root)} defines no MUTANTS, a list of Mutant")
    names = [mutant.name for mutant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LabError(f"{path.relative_to(project.root)}: used twice: {', '.join(twice)}")
    return found


def mutate(mutant: Mutant, text: str, name: str) -> str:
    """The file with the mistake in it. `text` is the solution's file, `name` is for errors."""
    times = text.count(mutant.find)
    if times != 1:
        raise LabError(
            f"mutant {mutant.name}: its `find` stands {times} times in {name}, expected once"
        )
    mutated = text.replace(mutant.find, mutant.replace)
    if mutated == text:
        raise LabError(f"mutant {mutant.name}: `replace` changes nothing in {name}")
    return mutated


_PATCH = """\
__attribute__((constructor)) static void replace_{call}(void)
{{
    unsigned char *at = (unsigned char *)(uintptr_t){call};
    uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095, to = (uintptr_t){stand_in};
    if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
#ifdef __x86_64__
    static const unsigned char jump[] = {{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}};
    __builtin_memcpy(at, jump, sizeof jump);
    __builtin_memcpy(at + 2, &to, sizeof to);
#else
    (void)at, (void)to;
#endif
}}
"""


def patched(stand_in: str, *calls: str) -> str:
    """C text for a mutant that replaces CUDA calls in its whole process: also in the runner, which
    checks through CUDA what the student's functions did. `stand_in` defines own_NAME for each of
    `calls`."""
    top = "#include <stdint.h>\n#include <sys/mman.h>\n\n"
    ends = [_PATCH.format(call=call, stand_in=f"own_{call}") for call in calls]
    return "\n".join([top + stand_in, *ends])


def student_files(folder: Path) -> list[Path]:
    """The files of a solution that learners edit: those with a BEGIN SOLUTION mark."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.suffix in (".c", ".cu") and "BEGIN SOLUTION" in path.read_text(encoding="utf-8")
    ]
