# SPDX-License-Identifier: MIT
"""Checks the form of chapters: reading time and prerequisites, an opening question, a figure, code,
common mistakes, its lab, three questions with folded answers, two exercises with folded solutions
that are run; short sentences; and readable words. In any page: the numbers of lists."""

import re
from pathlib import Path

WANTED = (
    (
        r"\A# .+\n\n\*\*Time\*\* .+ · \*\*You need\*\* .+$",
        "its first line after the title: Time, You need",
    ),
    (r"^> \*\*.+\?\*\*", "a question to begin with: > **...?**"),
    (r"^!\[[^\]]+\]\(figures/", "a figure"),
    (
        r"^<!-- code: docs/book/(code|real)/\w+\.cu?\b|^\$ (vgpu-)?cc .*\.cu?$",
        "a companion in C or CUDA",
    ),
    (r"^## What goes wrong$", "## What goes wrong"),
    (r"^## The lab$", "## The lab"),
    (r"^## Questions$", "## Questions"),
    (r"^## Exercises$", "## Exercises"),
)
ANSWERS = 3
SOLUTION, SOLUTIONS = r"<details><summary>Solution</summary>\n\n(.*?)^</details>", 2
LONGEST = 45  # words; more than that is two sentences
USUAL = 22.0  # words per sentence, on average
SCHOOL = 6.0  # years of school (Flesch and Kincaid) below which there is no warning


def problems(chapter: Path) -> list[str]:
    text = chapter.read_text(encoding="utf-8")
    found = [what for pattern, what in WANTED if not re.search(pattern, text, re.MULTILINE)]
    found = [f"it lacks {what}" for what in found]
    answers = len(re.findall(r'^\?\?\? question ".+\?"$', text, re.MULTILINE))
    if answers != ANSWERS:
        found.append(f"{answers} questions with folded answers, expected {ANSWERS}")
    solutions = re.findall(SOLUTION, text, re.MULTILINE | re.DOTALL)
    if len(solutions) != SOLUTIONS:
        found.append(f"{len(solutions)} exercises with folded solutions, expected {SOLUTIONS}")
    if not all(re.search(r"^\$ ", solution, re.MULTILINE) for solution in solutions):
        found.append("an exercise whose solution shows no command: it is not tested")
    lengths = [len(sentence.split()) for sentence in sentences(text)]
    found += [f"a sentence of {n} words, at most {LONGEST}" for n in lengths if n > LONGEST]
    if lengths and sum(lengths) / len(lengths) > USUAL:
        found.append(f"{sum(lengths) / len(lengths):.1f} words a sentence, at most {USUAL}")
    return [f"{chapter.name}: {what}" for what in found]


def map_problems(chapters: list[Path], dot: str) -> list[str]:
    """Arrows between chapters on the map of the course that are not in the chapters' first lines,
    or the other way round. `dot`: its source; invisible arrows are not looked at."""
    seen = re.sub(r"c\d\d -> c\d\d \[style=invis\]", "", dot)
    drawn = set(re.findall(r"c(\d\d) -> c(\d\d)", seen))
    said = set()
    for chapter in chapters:
        first = re.search(r"^\*\*Time\*\*.*$", chapter.read_text(encoding="utf-8"), re.MULTILINE)
        before = first[0].split("**Before**")[-1].split("**Lab**")[0] if first else ""
        numbers = re.findall(r"chapter (\d+)", before)
        said |= {(f"{int(number):02}", chapter.name[:2]) for number in numbers}
    wrong = {pair: "missing" if pair in said else "too much" for pair in said ^ drawn}
    return [
        f"the map: an arrow from {a} to {b} is {what}" for (a, b), what in sorted(wrong.items())
    ]


def misnumbered(text: str) -> list[str]:
    """Lines that Markdown reads as items of a numbered list and that lack the next number. Markdown
    numbers the items itself, so a sentence that begins with "18." loses its number."""
    last: dict[int, int] = {}  # the last number, by indentation
    wrong, apart = [], True
    for line in re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        item = re.match(r"( *)(\d+)\. ", line)
        if apart and re.match(r"\S", line) and not item:
            last.clear()  # a paragraph ends the list
        apart = not line.strip()
        if item:
            before, last[len(item[1])] = last.get(len(item[1]), 0), int(item[2])
            if int(item[2]) not in (1, before + 1):
                wrong.append(f"Markdown makes a list's item of `{line.strip()[:40]}`")
    return wrong


def grade(text: str) -> float:
    """The years of school that the prose requires, by Flesch and Kincaid's formula; a syllable is a
    group of vowels."""
    found = [s for s in sentences(text) if len(s.split()) > 2]
    words = [w for s in found for w in re.findall(r"[A-Za-z']+", s)]
    if not words:
        return 0.0
    syllables = sum(
        max(1, len(re.findall(r"[aeiouy]+", w.lower().removesuffix("e")))) for w in words
    )
    return 0.39 * len(words) / len(found) + 11.8 * syllables / len(words) - 15.59


def warnings(chapter: Path) -> list[str]:
    """A warning for a chapter that is harder to read than the limit; not a failure."""
    years = grade(chapter.read_text(encoding="utf-8"))
    harder = f"{chapter.name}: reads like year {years:.1f} of school, at most {SCHOOL:g} is wanted"
    return [harder] if years > SCHOOL else []


def sentences(text: str) -> list[str]:
    """The sentences of plain paragraphs: no code, tables, headings or figures."""
    text = re.sub(r"^```.*?^```$|^<!--.*?-->$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not re.match(r"\s*([#|!?>-]|\d+\.)|\s{4}", line)]
    words = re.sub(r"`[^`]*`", "code", "\n".join(lines))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", words)]
    return [s for p in paragraphs if p for s in re.split(r"(?<=[.!?:;])\s+", p)]
