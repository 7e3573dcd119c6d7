# SPDX-License-Identifier: MIT
"""Checks the output that pages show: the lists of ctest and the failures in the labs' READMEs, and
the first quarter of an hour (docs/first-lab.md).

A shown failure must be that of a mistake in tests/mutants. The first lab's answers are taken from
the page, inserted into the skeleton, and tested.
"""

import re
from dataclasses import replace

from grader.base.exits import LabError
from grader.building.records import Record, Verdict
from grader.course.project import Lab
from grader.learning.report import Outcome, tell
from grader.selfcheck.programs import Programs
from grader.selfcheck.report import Section
from grader.selfcheck.shown import as_learner, board_of

FIRST = "docs/first-lab.md"
LISTED = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (\S+) \.+ +Passed", re.MULTILINE)
FAILED = re.compile(r"^fail  lab\d\d\.(\S+)  .*\n  what   (.*(?:\n {9}.*)*)", re.MULTILINE)
# May differ: times of the virtual clock; which of several processes is too early, and its values.
TIME = re.compile(r"\d+\.\d us")
FIRST_RANK = re.compile(r"^rank \d+( of \d+), round \d+, byte \d+: got 0x\w+, expected 0x\w+")
ANSWER = re.compile(r"^```c\n(int inv_count.*?)^```\n.*^```c\n(.*?)^```\n", re.M | re.DOTALL)


def check_pages(programs: Programs, section: Section, labs: list[Lab]) -> None:
    for lab in labs:
        text = (programs.project.labs_dir / lab.folder / "README.md").read_text("utf-8")
        _check_list(section, programs, lab, text)
        _check_failures(section, lab, text, programs.rejected.get(lab, []))
    _check_first(section, programs, labs[0])


def _check_list(section: Section, programs: Programs, lab: Lab, text: str) -> None:
    """Compares the output of `ctest -R labNN` in the README, if shown: names, order and count."""
    shown = LISTED.findall(text)
    if not shown:
        return
    prefix = f"solution{lab.number}."
    public = [t.name.replace(prefix, f"{lab.name}.") for t in programs.solution_tests(lab)]
    wanted = [f"build.{lab.name}", *(name for name in public if ".hidden." not in name)]
    wanted.append(f"written.{lab.name}")
    counts = [(str(k + 1), str(len(wanted))) for k in range(len(wanted))]
    holds = [name for _, _, name in shown] == wanted and [s[:2] for s in shown] == counts
    section.check(f"{lab.folder}/README.md: ctest", holds, f"ctest lists {', '.join(wanted)}")


def _check_failures(section: Section, lab: Lab, text: str, rejected: list[Record]) -> None:
    for case, what in FAILED.findall(text):
        lines = [line.strip() for line in what.splitlines()]
        real = [record.message.splitlines() for record in rejected if record.case == case]
        holds = any(_same(lines, [line.strip() for line in message]) for message in real)
        seen = "\n".join(line for message in real for line in message[:1])
        reason = f"no mistake of tests/mutants gives what is shown; they give\n{seen}"
        section.check(f"{lab.folder}/README.md: the failure of {case}", holds, reason)


def _same(shown: list[str], real: list[str]) -> bool:
    """A last line of "..." stands for more."""
    shown, real = (
        [FIRST_RANK.sub(r"rank #\1", TIME.sub("# us", one)) for one in ones]
        for ones in (shown, real)
    )
    if shown[-1] == "...":
        return real[: len(shown) - 1] == shown[:-1]
    return shown == real


# ---- docs/first-lab.md ----


def _check_first(section: Section, programs: Programs, lab: Lab) -> None:
    text = (programs.project.root / FIRST).read_text(encoding="utf-8")
    board = board_of(programs.project, programs.skeletons)
    section.check(f"{FIRST}: start", board in text, f"its board is not this one:\n{board}")
    answer = ANSWER.search(text)
    if not section.check(f"{FIRST}: answers", answer is not None, "it has no two blocks of C"):
        return
    assert answer is not None
    first, repaired = answer[1], _repaired(answer[1], answer[2])
    for name, code in (("first", first), ("repaired", repaired)):
        told = _told(programs, lab, code)
        passed = "\n".join(line for line in told.splitlines() if line.startswith("●"))
        count = told.splitlines()[-1]
        holds = (
            passed in text and count in text and (name != "first" or told[: -len(count)] in text)
        )
        section.check(f"{FIRST}: the {name} answer", holds, f"its tests say\n{told}")
    solved = [_outcome(lab, record) for record in programs.solved.get(lab, [])]
    told = tell(solved)
    section.check(f"{FIRST}: the end", told in text, f"its tests say\n{told}")


def _repaired(first: str, change: str) -> str:
    """The page's second block replaces the line that its last line repeats."""
    last = change.rstrip("\n").splitlines()[-1].strip().removeprefix("else ")
    old = next((line for line in first.splitlines() if line.strip() == last), "")
    return first.replace(f"{old}\n", change) if old else ""


def _told(programs: Programs, lab: Lab, answer: str) -> str:
    """The output of `./lab test` for the skeleton with this answer: one line per test, and the
    counts."""
    try:
        records = programs.answered(lab, r"int inv_count\(int \*n\)\n\{.*?\n\}\n", answer)
    except LabError as error:
        return str(error)
    lines = tell([_outcome(lab, record) for record in records]).splitlines()
    return "\n".join(line for line in lines if re.match(r"[●✗○–!·]|.*: \d+ of \d+ points$", line))


def _outcome(lab: Lab, record: Record) -> Outcome:
    learner = as_learner(lab, record)
    if record.verdict is Verdict.NOT_WRITTEN:
        learner = replace(learner, message="")
    return Outcome(learner, record.message)
