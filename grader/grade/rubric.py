# SPDX-License-Identifier: MIT
"""What a case is worth, what it depends on, and what a student reads when it fails.

Cases, their TODO and points come from the lab's tests/rubric.json (the selfcheck proves that the
verifiers agree with it). A task's first test opens its others' points: what an answer without work
could pass (refusing everything, say) counts for those who have done the work. tests/rubric.toml
beside it adds what only grading needs, and an instructor's own file (`--rubric FILE`) changes any
of it:

    [lab03.stage_copy_bad]
    depends = ["stage_copy"]       # not run, and no points, unless all of these pass; in place of
                                   # the task's first test
    feedback = "..."               # shown when the case fails
    [lab03."hidden.p2p_shapes"]
    category = "odd sizes"         # what a student learns of a hidden test, beside the sentences of
                                   # the contract that it looks at (tests/contract.tsv)
    points = 2
    hidden = false
"""

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.course import contract
from grader.course.project import Lab, Project

_KINDS: dict[str, type] = {
    "points": int,
    "hidden": bool,
    "depends": list,
    "feedback": str,
    "category": str,
}


@dataclass(frozen=True)
class Rule:
    case: str  # "split" or "hidden.split"
    todo: int
    points: int
    hidden: bool
    depends: tuple[str, ...] = ()
    feedback: str = ""
    category: str = ""
    promises: tuple[str, ...] = ()  # of a hidden case: the sentences that it looks at


@dataclass(frozen=True)
class Rubric:
    """Rules stand after what they depend on, else in the order of the lab's tests."""

    lab: Lab
    rules: tuple[Rule, ...]

    @property
    def possible(self) -> int:
        return sum(rule.points for rule in self.rules)


def load(project: Project, lab: Lab, own: Path | None = None) -> Rubric:
    folder = project.solutions_dir / lab.folder / "tests"
    rules = {rule.case: rule for rule in _base(folder / "rubric.json")}
    said: set[str] = set()  # what depends on what is said for them
    for path in (folder / "rubric.toml", own):
        if path is not None and (path == own or path.is_file()):
            section = _section(path, lab)
            _refine(rules, section, str(path))
            said |= {case for case, changes in section.items() if "depends" in changes}
    _open(rules, said)
    _promise(rules, contract.promises(project, lab))
    return Rubric(lab, _ordered(rules, lab))


def _open(rules: dict[str, Rule], said: set[str]) -> None:
    """The first test of a task opens the task's others, but for those in `said`."""
    first: dict[int, str] = {}
    for rule in rules.values():
        if rule.todo and rule.case not in said:
            opener = first.setdefault(rule.todo, rule.case)
            if opener != rule.case:
                rules[rule.case] = replace(rule, depends=(opener,))


def _promise(rules: dict[str, Rule], promises: dict[str, list[str]]) -> None:
    """What a hidden case looks at, in the contract's words: public ones say what happened."""
    for rule in rules.values():
        if rule.hidden:
            rules[rule.case] = replace(rule, promises=tuple(promises.get(rule.case, ())))


def _base(path: Path) -> list[Rule]:
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
        return [_rule(case["case"], int(case["todo"]), int(case["points"])) for case in cases]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} is not a rubric: {error!r}. ./lab selfcheck shows more.") from error


def _rule(case: str, todo: int, points: int) -> Rule:
    category = f"task {todo}" if todo else "the lab as a whole"
    return Rule(case, todo, points, case.startswith("hidden."), category=category)


def _section(path: Path, lab: Lab) -> dict[str, Any]:
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: {error}", ExitStatus.USAGE) from error
    return dict(whole.get(lab.name, {}))


def _refine(rules: dict[str, Rule], section: dict[str, Any], path: str) -> None:
    """Changes rules in place; a name that means nothing is an error, not a rule without effect."""
    for case, changes in section.items():
        if case not in rules:
            known = ", ".join(rules)
            raise LabError(f"{path}: there is no case {case!r}. There are: {known}.", _USAGE)
        for key, value in changes.items():
            if key not in _KINDS or type(value) is not _KINDS[key]:
                kinds = ", ".join(f"{name} ({kind.__name__})" for name, kind in _KINDS.items())
                raise LabError(f"{path}: {case}: {key} = {value!r}; known are {kinds}.", _USAGE)
        fresh = {key: tuple(v) if isinstance(v, list) else v for key, v in changes.items()}
        rules[case] = replace(rules[case], **fresh)


_USAGE = ExitStatus.USAGE


def _ordered(rules: dict[str, Rule], lab: Lab) -> tuple[Rule, ...]:
    placed: dict[str, Rule] = {}
    waiting = list(rules.values())
    while waiting:
        ready = [rule for rule in waiting if all(name in placed for name in rule.depends)]
        if not ready:
            names = ", ".join(f"{rule.case} on {' and '.join(rule.depends)}" for rule in waiting)
            raise LabError(f"{lab.name}: depending on what can never run: {names}", _USAGE)
        placed[ready[0].case] = ready[0]
        waiting.remove(ready[0])
    return tuple(placed.values())
