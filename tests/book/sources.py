# SPDX-License-Identifier: MIT
"""The book's chapters are whole, its list of what the course covers names what there is, terms are
defined once, lists of all pages are numbered in order, and every command that a page shows is run
by something.

sources.py BUILD
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.book import (  # noqa: E402
    chapters,
    code,
    glossary,
    numbers,
    outside,
    pages,
    recorded,
    seeds,
    shown,
)
from grader.course.project import Project  # noqa: E402

ROWS, CORRECTIONS = 35, 20
# What a chapter shows in both: the copy, the reduction, the all-reduce, a step of ZeRO or FSDP.
PYTHON = {
    "CuPy": ("copy_cupy.py#copy", "copy_cupy.py#sum", "allreduce_cupy.py#", "zero_cupy.py#zero"),
    "PyTorch": (
        "basics_torch.py#copy",
        "basics_torch.py#sum",
        "allreduce_torch.py#",
        "fsdp_torch.py#",
    ),
}


def tests_of(build: str) -> set[str]:
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {test["name"] for test in json.loads(done.stdout)["tests"]}


def lab_code(project: Project) -> list[str]:
    """Lines of C in the labs' pages that no compiled file has."""
    places = [
        project.labs_dir,
        project.solutions_dir,
        ROOT / "docs/book/code",
        ROOT / "tests/programs",
    ]
    known, wrong = code.compiled(places), []
    for page in sorted(project.labs_dir.glob("*/*.md")):
        name, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        wrong += [f"{name}: nothing compiled has `{line}`" for line in code.unknown(text, known)]
    return wrong


def python_missing(found: list[Path]) -> list[str]:
    """Versions in Python that no chapter shows; that each was recorded is another check."""
    shown_code = "".join(chapter.read_text(encoding="utf-8") for chapter in found)
    wanted = [(library, part) for library, parts in PYTHON.items() for part in parts]
    return [
        f"no chapter shows the {library} version {part}"
        for library, part in wanted
        if f"<!-- code: docs/book/real/{part}" not in shown_code
    ]


def misnumbered(project: Project) -> list[str]:
    """Items of numbered lists, in any page, that do not have the next number."""
    found = [page.source for page in pages.pages(project)]
    found += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return [
        f"{source.relative_to(ROOT)}: {why}"
        for source in found
        for why in chapters.misnumbered(source.read_text(encoding="utf-8"))
    ]


def terms(project: Project) -> list[str]:
    """What is wrong with the glossary, or is defined outside of it."""
    texts = {
        str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in shown.sources(project)
    }
    return glossary.problems(ROOT, texts)


def first_steps() -> list[str]:
    """Pages that show `./lab start` say what it says it builds."""
    words = json.loads((ROOT / "grader/words/en.json").read_text(encoding="utf-8"))
    told = f"building    {words['start.building']}\n"
    pages = [ROOT / name for name in ("README.md", "docs/first-lab.md")]
    return [
        f"{page.relative_to(ROOT)}: ./lab start says {told!r}"
        for page in pages
        if told not in page.read_text(encoding="utf-8")
    ]


def main() -> int:
    project = Project(ROOT)
    tests = tests_of(sys.argv[1])
    wrong = seeds.problems(ROOT, tests) + shown.problems(project, tests)
    wrong += outside.problems(project) + lab_code(project) + first_steps()
    wrong += misnumbered(project) + terms(project)
    listed = seeds.load(ROOT)
    for what, count in (("rows", ROWS), ("corrections", CORRECTIONS)):
        if len(listed[what]) != count:
            wrong.append(f"docs/seeds.json has {len(listed[what])} {what}, the course has {count}")
    wrong += recorded.problems(ROOT)
    found = pages.chapters(project)
    wrong += [why for chapter in found for why in chapters.problems(chapter)]
    course_map = ROOT / "docs" / "book" / "figures" / "course.dot"
    wrong += chapters.map_problems(found, course_map.read_text(encoding="utf-8"))
    wrong += numbers.problems(ROOT, found) + python_missing(found)
    still = [r for r in (*listed["rows"], *listed["corrections"]) if r["open"]]
    warned = [f"warning: {why}" for chapter in found for why in chapters.warnings(chapter)]
    print("\n".join([*wrong, *warned]))
    print(f"{len(found)} chapters, {ROWS} rows, {CORRECTIONS} corrections, {len(still)} still open")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
