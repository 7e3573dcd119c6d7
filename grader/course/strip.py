# SPDX-License-Identifier: MIT
"""Generates a skeleton from a solution's file.

    // BEGIN SOLUTION      this line, the answer and
    ...
    // END SOLUTION        this line are removed;
    // STUB: TODO(1);      becomes `TODO(1);`, with the same indentation.

The marks may also be written as `#` or `<!-- -->` comments. Anything doubtful (a mark without its
partner, a STUB inside of an answer) is an error: a leaked answer cannot be recalled. If an answer
stood between two blank lines, one of them is removed, too.

    python3 -m grader.course.strip KEEP FILE OUTPUT    FILE with the answers to TODOs KEEP only

A submission's TODO is linked with the output (KEEP is "1,4", or "none"): its tests need these
answers of the course, but a program can call any machine code that it contains. An answer belongs
to the next `STUB: TODO(n)` after it. In an answer outside of functions only the bodies of kernels
are removed: the rest may belong to others as well, and the linker drops it if it is unused.
"""

import re
import sys
from pathlib import Path

from grader.base.exits import LabError

_MARK = re.compile(r"\s*(?://|#|<!--)\s*(BEGIN|END) SOLUTION\b")
_STUB = re.compile(r"(\s*)(?://|#|<!--)\s*STUB:[ ]?(.*?)(?:\s*-->)?\s*$")
_NUMBER = re.compile(r"STUB:.*\bTODO\((\d+)\)")
_KERNEL = re.compile(r"(static )?__global__\b.*")


class StripError(LabError):
    """A solution's marks do not match; the message has the place."""


def strip_solution(text: str, name: str) -> str:
    """The skeleton of `text`; `name` is only for errors."""
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


def keep_todos(text: str, name: str, keep: frozenset[int]) -> str:
    """`text` with the answers to these TODOs only."""
    strip_solution(text, name)  # checks that its marks match
    kept: list[str] = []
    top = inside = False  # at the left margin; in an answer
    kernel = ""  # how far into a kernel of such an answer: "head" or "body"
    for line, belongs in _with_owners(text.splitlines()):
        mark = _MARK.match(line)
        if mark:
            inside, top = mark.group(1) == "BEGIN", not line[0].isspace()
        if belongs in keep or (mark and top):
            kept.append(line)
        elif top and inside:
            kept += [line] if kernel != "body" or line == "}" else []
            kernel = _next_of_kernel(kernel, line)
        elif not mark and not inside:
            kept.append(_unstub(line))
    return "\n".join(kept) + "\n"


def _next_of_kernel(now: str, line: str) -> str:
    """The state after `line`: a kernel's body lies between two braces at the margin."""
    if line == "}":
        return ""
    if now == "head" and line == "{":
        return "body"
    return "head" if not now and _KERNEL.match(line) else now


def _with_owners(lines: list[str]) -> list[tuple[str, int]]:
    """Each line with the number of the next `STUB: TODO(n)`."""
    owned: list[tuple[str, int]] = []
    number = 0
    for line in reversed(lines):
        stub = _NUMBER.search(line)
        number = int(stub.group(1)) if stub else number
        owned.append((line, number))
    return owned[::-1]


def as_read(text: str) -> str:
    """A solution's file without the marks that the skeleton is made from."""
    marks = ("// BEGIN SOLUTION", "// END SOLUTION", "// STUB:")
    lines = [line for line in text.splitlines() if not line.strip().startswith(marks)]
    return "\n".join(lines) + "\n"


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


def _main(words: list[str]) -> int:
    keep, path, output = words[0], Path(words[1]), Path(words[2])
    numbers = frozenset(int(number) for number in keep.split(",") if keep != "none")
    text = keep_todos(path.read_text(encoding="utf-8"), path.name, numbers)
    output.parent.mkdir(exist_ok=True)
    output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
