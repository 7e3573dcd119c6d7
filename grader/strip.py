# SPDX-License-Identifier: MIT
"""Makes a skeleton out of a solution's file.

    // BEGIN SOLUTION      this line, the answer and
    ...
    // END SOLUTION        this line go;
    // STUB: TODO(1);      becomes `TODO(1);`, indented as it stood.

The marks may also be written as `#` or `<!-- -->` comments. Anything doubtful (a mark without its
partner, a STUB that would go with the answer) is an error: a leaked answer cannot be called back.
Where an answer stood between two blank lines, one of them goes too.
"""

import re

from grader.exits import LabError

_MARK = re.compile(r"\s*(?://|#|<!--)\s*(BEGIN|END) SOLUTION\b")
_STUB = re.compile(r"(\s*)(?://|#|<!--)\s*STUB:[ ]?(.*?)(?:\s*-->)?\s*$")
_SOLUTION_ONLY = re.compile(r"\bSOLUTION-ONLY\b")


class StripError(LabError):
    """A solution's marks do not fit together; the message says where."""


def strip_solution(text: str, name: str) -> str:
    """The skeleton of `text`; `name` is used in errors only."""
    kept: list[str] = []
    begun = 0
    seam = False  # the line before this one was an END
    for number, line in enumerate(text.splitlines(), start=1):
        mark = _MARK.match(line)
        if mark:
            begun = _next_state(mark.group(1), begun, f"{name}:{number}", number)
        elif begun:
            _refuse_stub(line, begun, f"{name}:{number}")
        elif line.strip() or not (seam and kept and not kept[-1].strip()):
            kept.append(_unstub(line))
        seam = bool(mark) and not begun
    if begun:
        raise StripError(f"{name}:{begun}: BEGIN SOLUTION has no END SOLUTION")
    return "\n".join(kept) + ("\n" if text.endswith("\n") else "")


def is_solution_only(text: str) -> bool:
    """Says whether one of the first five lines marks the file as not for learners."""
    return any(_SOLUTION_ONLY.search(line) for line in text.splitlines()[:5])


def _next_state(word: str, begun: int, where: str, number: int) -> int:
    if word == "BEGIN" and begun:
        raise StripError(f"{where}: BEGIN SOLUTION inside the one of line {begun}")
    if word == "END" and not begun:
        raise StripError(f"{where}: END SOLUTION without a BEGIN SOLUTION before it")
    return number if word == "BEGIN" else 0


def _refuse_stub(line: str, begun: int, where: str) -> None:
    if _STUB.match(line):
        raise StripError(
            f"{where}: STUB inside the solution that begins in line {begun} would be dropped"
        )


def _unstub(line: str) -> str:
    stub = _STUB.match(line)
    return stub.group(1) + stub.group(2) if stub else line
