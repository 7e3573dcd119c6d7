# SPDX-License-Identifier: MIT
"""From a line of a student's file to the line of the skeleton that it was written at."""

import re
from collections import Counter
from collections.abc import Sequence


class Places:
    """Lines that stand exactly once in the skeleton lead back to it."""

    def __init__(self, skeleton: str) -> None:
        self.lines = skeleton.splitlines()
        counts = Counter(line.strip() for line in self.lines)
        self.only = {
            line.strip(): number
            for number, line in enumerate(self.lines, 1)
            if counts[line.strip()] == 1 and re.search(r"\w", line)
        }

    def todo(self, number: int) -> int | None:
        """Where TODO(number) stands."""
        pattern = re.compile(rf"\bTODO\({number}\)")
        return next((at for at, line in enumerate(self.lines, 1) if pattern.search(line)), None)

    def line(self, theirs: Sequence[str], where: str, todo: int) -> int | None:
        """Of "labs/03-p2p-copy/p2p_copy.c:41" in a file with these lines: the line itself or the
        nearest above that is the skeleton's; else the TODO's."""
        found = re.search(r":(\d+)$", where)
        if found:
            for at in range(min(int(found[1]), len(theirs)), 0, -1):
                number = self.only.get(theirs[at - 1].strip())
                if number:
                    return number
        return self.todo(todo) if todo else None
