# SPDX-License-Identifier: MIT
"""Tests as ctest lists them, and running some of them."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture, follow
from grader.building.build import require_configured
from grader.building.machine import cores
from grader.building.needs import build_env
from grader.course.project import Project

Ended = Callable[[int, int], None]


@dataclass(frozen=True)
class Test:
    name: str  # "lab03.split"
    command: tuple[str, ...]
    labels: frozenset[str]

    def option(self, name: str) -> str:
        """The word after `name` in the command, "" if there is none."""
        words = list(self.command)
        return words[words.index(name) + 1] if name in words[:-1] else ""

    @property
    def results(self) -> Path | None:
        """The folder in which its verifier writes the record."""
        folder = self.option("--results")
        return Path(folder) / f"{self.name}.json" if folder else None


def tests(project: Project, pattern: str = "") -> list[Test]:
    """The tests of a configured tree whose names match; runs none. ctest lists them anew after
    CMake has generated the tree, and for a test whose program was not built when it was listed."""
    require_configured(project)
    found = _matching(_kept(project), pattern)
    if not found or not all(test.command for test in found):
        listed = _listed(project)
        _keep(project, listed)
        found = _matching(listed, pattern)
    return found


def _matching(listed: list[Test], pattern: str) -> list[Test]:
    return [test for test in listed if re.search(pattern, test.name)]


def _listed(project: Project) -> list[Test]:
    words: list[str | Path] = ["ctest", "--test-dir", project.build_dir, "--show-only=json-v1"]
    done = capture(words, env=build_env(project))
    start = done.output.find("{")
    if not done.ok or start < 0:
        raise LabError(f"{done.output}\nctest could not list the tests.", ExitStatus.BUILD_FAILED)
    listed, _ = json.JSONDecoder().raw_decode(done.output[start:])
    return [_test(entry) for entry in listed["tests"]]


def _kept(project: Project) -> list[Test]:
    """What `_keep` kept of this tree; nothing if the tree was generated since."""
    try:
        kept = json.loads(_list_file(project).read_text(encoding="utf-8"))
        if kept["of"] != _generated(project):
            return []
        return [
            Test(name, tuple(words), frozenset(labels)) for name, words, labels in kept["tests"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _keep(project: Project, listed: list[Test]) -> None:
    entries = [[test.name, test.command, sorted(test.labels)] for test in listed]
    fresh = _list_file(project).with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"of": _generated(project), "tests": entries}), encoding="utf-8")
    fresh.replace(_list_file(project))


def _list_file(project: Project) -> Path:
    return project.build_dir / "tests.json"


def _generated(project: Project) -> int:
    """When CMake wrote this tree: it always writes this file anew."""
    return (project.build_dir / "CMakeFiles" / "TargetDirectories.txt").stat().st_mtime_ns


@dataclass(frozen=True)
class Finished:
    """How ctest saw a test end. `skipped` is only true if the test itself reported it: a test whose
    program or fixture was missing has failed."""

    name: str
    passed: bool
    skipped: bool
    text: str
    seconds: float = 0.0


def run(
    project: Project,
    pattern: str,
    *,
    labels: Sequence[str] = (),
    without: str = "",
    jobs: int = 0,
    env: Mapping[str, str] | None = None,
    ended: Ended | None = None,
    built: bool = False,
) -> dict[str, Finished]:
    """Runs the matching tests (and their build tests, unless all is `built`), a few at a time, with
    the caller's environment overridden by `env`. A test needs a matching label for each pattern of
    `labels`, and none that matches `without`. `ended` is called after each test with the number of
    ended ones and the total."""
    require_configured(project)
    with TemporaryDirectory(prefix="peerlab-junit-") as folder:
        junit = Path(folder) / "junit.xml"
        words: list[str | Path] = ["ctest", "--test-dir", project.build_dir]
        words += ["-j", str(jobs or cores())]
        words += ["-FA" if built else "-FC", "."]  # never written.labNN: it repeats the records
        words += ["--output-junit", junit, "--test-output-size-passed", "65536"]
        for label in labels:
            words += ["-L", label]
        words += ["-LE", without] if without else []
        names = {**build_env(project), **(env or {})}
        done = follow([*words, *_pattern(pattern)], partial(_line, ended), env=names)
        if not junit.is_file():
            raise LabError(f"{done.output}\nctest ran no test.", ExitStatus.HARNESS_ERROR)
        cases = [_finished(case) for case in ElementTree.parse(junit).getroot().iter("testcase")]
    late = _late(done.output)
    return {case.name: _told_late(case) if case.name in late else case for case in cases}


def _line(ended: Ended | None, line: str) -> None:
    """Of ctest's output: "12/243 Test #512: node.arena ....   Passed    0.01 sec"."""
    found = re.match(r" *(\d+)/(\d+) Test +#\d+: ", line)
    if found and ended:
        ended(int(found[1]), int(found[2]))


def _late(output: str) -> set[str]:
    """The tests that ctest ended at their time limit; its JUnit file does not tell which."""
    return set(re.findall(r"^\t *\d+ - (\S+) \(Timeout\)", output, re.MULTILINE))


def _told_late(case: Finished) -> Finished:
    why = f"still running after {case.seconds:.0f} s, its time limit; ended"
    return replace(case, text=f"{case.text}\n{why}".strip())


def _finished(case: ElementTree.Element) -> Finished:
    skipped = case.find("skipped")
    own = skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", "")
    text = case.findtext("system-out", "")
    unwritten = skipped is not None and "SKIP_REGULAR_EXPRESSION" in skipped.get("message", "")
    if skipped is not None and not own and not unwritten:
        text += f"\n{skipped.get('message', 'not run')}"
    seconds = float(case.get("time", "0"))
    return Finished(case.get("name", ""), case.get("status") == "run", own, text.strip(), seconds)


def exactly(names: Sequence[str]) -> str:
    """A pattern that matches these tests and no other."""
    return "^(" + "|".join(re.escape(name) for name in names) + ")$"


def _pattern(pattern: str) -> list[str]:
    return ["-R", pattern] if pattern else []


def _test(entry: dict[str, object]) -> Test:
    labels: frozenset[str] = frozenset()
    for prop in entry.get("properties", []):  # type: ignore[attr-defined]
        if prop["name"] == "LABELS":
            labels = frozenset(prop["value"])
    command = entry.get("command", [])
    return Test(str(entry["name"]), tuple(command), labels)  # type: ignore[arg-type]
