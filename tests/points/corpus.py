# SPDX-License-Identifier: MIT
"""Answers without work, generated from a lab's declaration and headers: one file for all of them,
which reads from a file beside it which one it is at the moment (to build a file a lab takes longer
than to ask it).

    trivial    every function returns one code; outputs are left alone, or zero, or one; arguments
               are checked, or not
    pairs      two functions of different tasks hand their arguments on to each other: all such
               pairs, several in one answer
    chains     the same with more functions; those that once got points
    forwards   every function hands its arguments on to one of those that come with the lab
    seeks      the same, with what the symbol table of the running program says where the other
               tasks' answers are
    by hand    what no generator finds (by_hand.py)
    usual      every function answers as on the usual node, which it knows by heart (usual.py)
"""

import re
from dataclasses import dataclass
from pathlib import Path

import signatures
from by_hand import BY_HAND
from signatures import Function
from usual import usual

from grader.course.contract import results
from grader.course.mutants import student_files
from grader.course.project import Lab, Project
from grader.course.strip import strip_solution

RESULTS = results(Path(__file__).resolve().parents[2])
_USUAL_RESULTS = ("LAB_OK", "LAB_EINVAL")
_ONE_OF = 8  # that many calls of other functions are asked where not all are
_SCALARS = ("int", "size_t", "double", "float", "uint8_t", "uint32_t", "uint64_t")

_TOP = """#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long long zeros[4096];

/* Which answer it is: the number in a file, read once a process. */
static int nothing_which(void)
{{
    static int which = -1;
    if (which < 0) {{
        FILE *file = fopen("{which}", "r");
        if (!file || fscanf(file, "%d", &which) != 1)
            which = 0;
        if (file)
            fclose(file);
    }}
    return which;
}}

/* Where the running program has a function of this name, or null. */
static void *code_of(const char *name)
{{
    extern const char __executable_start[];
    int fd = open("/proc/self/exe", O_RDONLY);
    off_t bytes = lseek(fd, 0, SEEK_END);
    char *file = (char *)mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(void *)file;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(void *)(file + elf->e_shoff);
    uintptr_t base = elf->e_type == ET_DYN ? (uintptr_t)__executable_start : 0, found = 0;
    for (int i = 0; i < elf->e_shnum; i++) {{
        const Elf64_Sym *symbol = (const Elf64_Sym *)(void *)(file + section[i].sh_offset);
        size_t symbols = section[i].sh_type == SHT_SYMTAB ? section[i].sh_size / sizeof *symbol : 0;
        for (size_t k = 0; k < symbols; k++)
            if (symbol[k].st_value &&
                strcmp(file + section[section[i].sh_link].sh_offset + symbol[k].st_name, name) == 0)
                found = base + symbol[k].st_value;
    }}
    munmap(file, (size_t)bytes);
    close(fd);
    return (void *)found;
}}
"""


@dataclass(frozen=True)
class Answer:
    """One way to do nothing: its name, and what each of the lab's functions does then. `common`:
    one of those that stand for the others of their kind where not all are asked."""

    name: str
    bodies: dict[str, str]
    common: bool = True


@dataclass(frozen=True)
class Declared:
    """What a lab's declaration says: functions by TODO, and which others a TODO may call."""

    functions: dict[str, int]
    needs: frozenset[tuple[int, str]]


def declared(project: Project, lab: Lab) -> Declared:
    conf = project.build_dir / "labs" / lab.folder / "lab.conf"
    text = conf.read_text(encoding="utf-8")

    def pairs(name: str) -> list[tuple[int, str]]:
        line = re.search(rf"^{name}='(.*)'$", text, re.MULTILINE)
        assert line, name
        words = [word.split(":") for word in line[1].split()]
        return [(int(todo), function) for todo, function in words]

    functions = {function: todo for todo, function in pairs("LAB_FUNCTIONS")}
    return Declared(functions, frozenset(pairs("LAB_NEEDS")))


def headers(project: Project, lab: Lab) -> list[Path]:
    """The contract first, then what else the student's file may include."""
    folder = project.labs_dir / lab.folder
    every = sorted(folder.glob("*.h"), key=lambda path: (path.name != f"{lab.name}.h", path.name))
    return [path for path in every if path.name != "data.h"]


def answers(project: Project, lab: Lab) -> list[Answer]:
    known = signatures.read(headers(project, lab))
    mine = {name: known[name] for name in declared(project, lab).functions}
    by_heart = usual(lab.name, list(mine))
    return [
        *trivial(mine),
        *pairs(mine, declared(project, lab)),
        *chains(lab.name, mine),
        *forwards(mine, known),
        *seeks(mine, declared(project, lab)),
        *by_hand(lab.name, list(mine)),
        *([Answer("the usual node by heart", by_heart)] if by_heart else []),
    ]


# ---- trivial ----


def trivial(mine: dict[str, Function]) -> list[Answer]:
    found = []
    for result in RESULTS:
        for checks in (False, True):
            bodies = {
                name: (_checks(f) if checks else "") + f"return {result};"
                for name, f in mine.items()
            }
            name = f"{result}{' after checks' if checks else ''}"
            found.append(Answer(name, bodies, common=result in _USUAL_RESULTS))
    for value in (0, 1):
        bodies = {name: f"{_checks(f)}{_set(f, value)}return LAB_OK;" for name, f in mine.items()}
        found.append(Answer(f"outputs are {value}", bodies))
    return found


def _checks(function: Function) -> str:
    """No pointer may be null, no number negative."""
    every = [
        f"{p.name} == NULL" if p.points_to else f"{p.name} < 0"
        for p in function.parameters
        if p.points_to or p.type == "int"
    ]
    return f"if ({' || '.join(every)}) return LAB_EINVAL; " if every else ""


def _set(function: Function, value: int) -> str:
    words = []
    for p in function.parameters:
        to = p.points_to
        if to in _SCALARS or to.startswith("enum "):
            words.append(f"*({to} *){p.name} = ({to}){value}; ")
        elif to.startswith("struct ") and "*" not in to:
            words.append(f"memset((void *){p.name}, {value}, sizeof *{p.name}); ")
    return "".join(words)


# ---- pairs, chains, forwards ----

# Two unwritten tasks solved each other where each was tested with the reference's answer to the
# other.
CHAINS = {
    "lab04": {"sum_shared": "sum_warp", "sum_warp": "sum_shared"},
    "lab07": {
        "ring_reduce_scatter": "ring_pipelined",
        "ring_all_gather": "ring_pipelined",
        "ring_all_reduce": "ring_pipelined",
        "ring_pipelined": "ring_all_reduce",
    },
}


def pairs(mine: dict[str, Function], says: Declared) -> list[Answer]:
    """Each two functions of different tasks, in one answer that is asked always. As in a tournament
    in which all play each other: one function stays, the others go round."""
    ring: list[str | None] = [*mine, *([None] if len(mine) % 2 else [])]
    found = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        to = {
            name: other
            for a, b in zip(ring[:half], reversed(ring[half:]), strict=True)
            for name, other in ((a, b), (b, a))
            if name and other and says.functions[name] != says.functions[other]
        }
        found.append(_calls("pairs", mine, {name: mine[other] for name, other in to.items()}))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return found


def chains(lab: str, mine: dict[str, Function]) -> list[Answer]:
    if lab not in CHAINS:
        return []
    return [_calls("chain", mine, {name: mine[to] for name, to in CHAINS[lab].items()})]


def forwards(mine: dict[str, Function], known: dict[str, Function]) -> list[Answer]:
    """In the n-th answer every function calls the n-th of those that come with the lab."""
    given = [other for name, other in known.items() if name not in mine]
    return [
        _calls(f"forwards {n}", mine, dict.fromkeys(mine, other), common=n % _ONE_OF == 0)
        for n, other in enumerate(given)
    ]


def _calls(
    kind: str, mine: dict[str, Function], to: dict[str, Function], *, common: bool = True
) -> Answer:
    """Functions that hand their arguments on, and the others, which fail."""
    bodies = {
        name: f"return {signatures.call(to[name], function)};"
        if name in to
        else "return LAB_ECUDA;"
        for name, function in mine.items()
    }
    told = ", ".join(f"{name} calls {other.name}" for name, other in to.items())
    return Answer(f"{kind}: {told}", bodies, common)


# ---- seeks ----


def seeks(mine: dict[str, Function], says: Declared) -> list[Answer]:
    """In the n-th answer every function looks for the n-th one of another task that it may not
    call."""
    others = {
        name: [
            other
            for other in mine.values()
            if says.functions[other.name] != todo and (todo, other.name) not in says.needs
        ]
        for name, todo in says.functions.items()
    }
    found = []
    for n in range(max(len(every) for every in others.values())):
        bodies = {
            name: _sought(every[n], mine[name]) if n < len(every) else "return LAB_ECUDA;"
            for name, every in others.items()
        }
        found.append(Answer(f"seeks {n}: {', '.join(mine)}", bodies, common=n % _ONE_OF == 0))
    return found


def _sought(other: Function, function: Function) -> str:
    arguments = signatures.call(other, function).removeprefix(other.name)
    return (
        f"{{ static __typeof__({other.name}) *code; "
        f'if (!code) code = (__typeof__({other.name}) *)code_of("{other.name}"); '
        f"return code ? code{arguments} : (int)LAB_ECUDA; }}"
    )


# ---- by hand ----


def by_hand(lab: str, names: list[str]) -> list[Answer]:
    return [
        Answer(name, {f: bodies.get(f, "return LAB_ECUDA;") for f in names})
        for name, bodies in BY_HAND.get(lab, {}).items()
    ]


# ---- the file ----


def top(which: Path) -> str:
    """What stands before the functions: which answer it is, and where code lies."""
    return _TOP.format(which=which)


def source(project: Project, lab: Lab, every: list[Answer], which: Path) -> tuple[str, str]:
    """The text of a submission with all these answers, and its file's name."""
    (path,) = student_files(project.solutions_dir / lab.folder)
    text = strip_solution(path.read_text(encoding="utf-8"), path.name)
    for name in declared(project, lab).functions:
        cases = "\n".join(
            f"        case {n}: {answer.bodies[name]}" for n, answer in enumerate(every)
        )
        body = f"    switch (nothing_which()) {{\n{cases}\n    }}\n    return LAB_ECUDA;"
        pattern = rf"(^int {name}\([^;{{]*\)\n\{{\n.*?)^    TODO\(\d+\);"
        text, times = re.subn(
            pattern, lambda m, b=body: m[1] + b, text, count=1, flags=re.DOTALL | re.MULTILINE
        )
        assert times == 1, f"{path.name}: no stub of {name}"
    last = [match.end() for match in re.finditer(r"^#include .*\n", text, re.MULTILINE)][-1]
    extra = "".join(f'#include "{p.name}"\n' for p in headers(project, lab))
    return text[:last] + extra + top(which) + text[last:], path.name
