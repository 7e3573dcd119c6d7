# SPDX-License-Identifier: MIT
"""Reads a lab's README: its tasks, numbered as the TODOs, and the folded hints below each.

### Task 2: ...            (or `### TODO(2): ...`, at any heading level)
<details><summary>Hint 1</summary>
text
</details>
"""

import re
from dataclasses import dataclass, field

_HEADING = re.compile(r"(#{2,6})\s+(.*?)\s*#*\s*$")
_TASK = re.compile(r"(?:\W*)(?:Task|TODO)\s*\(?(\d+)\)?\W*(.*)", re.IGNORECASE)
_HINT = re.compile(
    r"<details>\s*<summary>\s*(.*?)\s*</summary>(.*?)</details>", re.IGNORECASE | re.DOTALL
)
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass
class Task:
    number: int
    title: str
    body: str = ""
    hints: list[str] = field(default_factory=list)


def tasks(readme: str) -> list[Task]:
    """The tasks in the order of the README; a heading that is no task ends the previous one."""
    found: list[Task] = []
    current: Task | None = None
    level = 0
    for line, heading in _lines(readme):
        if heading and (named := _TASK.match(heading.group(2))):
            level = len(heading.group(1))
            current = Task(int(named.group(1)), named.group(2).strip("*` "))
            found.append(current)
        elif heading and len(heading.group(1)) <= level:
            current = None
        elif current:
            current.body += line + "\n"
    for task in found:
        task.hints = [
            _plain(text) for summary, text in _HINT.findall(task.body) if _is_hint(summary)
        ]
    return found


def _lines(readme: str) -> list[tuple[str, re.Match[str] | None]]:
    """Each line and, outside code fences, its match as a heading."""
    lines: list[tuple[str, re.Match[str] | None]] = []
    fenced = False
    for line in readme.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        lines.append((line, None if fenced else _HEADING.match(line)))
    return lines


def _is_hint(summary: str) -> bool:
    return "hint" in summary.lower()


def _plain(text: str) -> str:
    """A hint for the terminal: without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
