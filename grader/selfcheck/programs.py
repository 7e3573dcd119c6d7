# SPDX-License-Identifier: MIT
"""Checks that build and run: solutions pass, skeletons are "not written", mutants are rejected."""

import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from grader.base.exits import LabError
from grader.base.proc import capture
from grader.building import ctest
from grader.building.ctest import Test
from grader.building.needs import build_env
from grader.building.records import Record, Verdict
from grader.building.variants import Variant
from grader.course.mutants import Mutant, load, student_files
from grader.course.project import Lab, Project
from grader.course.sync import generate
from grader.learning.report import Outcome
from grader.learning.testing import run_tests
from grader.selfcheck.lacking import NOT_EXCUSED, excused
from grader.selfcheck.report import Report, Section
from grader.selfcheck.sources import mutated_source, todo_numbers

Found = tuple[str, bool, str]  # name of a check, whether it holds, and why not
Check = Callable[[], list[Found]]
SANITIZED = "sanitized"  # a label: of layer ci, and all of it is run by the preset asan


@dataclass
class Programs:
    """Data shared by the checks of built programs: the tests, and which of them solutions pass."""

    project: Project
    report: Report
    jobs: int
    passing: dict[str, float] = field(default_factory=dict)  # solutions' tests, and their seconds
    skeletons: dict[Lab, list[Record]] = field(default_factory=dict)  # how public tests ended
    solved: dict[Lab, list[Record]] = field(default_factory=dict)  # the same of solutions
    rejected: dict[Lab, list[Record]] = field(default_factory=dict)  # verdicts on mutants
    chosen: list[tuple[Lab, Mutant]] = field(default_factory=list)  # one mutant per TODO

    @cached_property
    def tests(self) -> list[Test]:
        return ctest.tests(self.project)

    @property
    def tests_at_once(self) -> int:
        """More than there are processors, since most tests wait half of the time."""
        return 2 * self.jobs

    @property
    def long_tests_at_once(self) -> int:
        """More of those of layer ci: they also wait for deadlines, and graders for each other."""
        return 3 * self.jobs

    @property
    def scratch(self) -> Path:
        return self.project.build_dir / "selfcheck"

    def solution_tests(self, lab: Lab) -> list[Test]:
        return [test for test in self.tests if test.name.startswith(f"solution{lab.number}.")]

    def check_layers(
        self, section: Section, layers: str, *, jobs: int = 0, sanitized: bool = True
    ) -> None:
        """The project's own tests of these layers; the solutions' have a separate section. Without
        `sanitized`, those that the preset asan runs are left out."""
        labels = ["^project$", f"^({layers})$"]
        without = "" if sanitized else f"^{SANITIZED}$"
        jobs = jobs or self.tests_at_once
        ended = ctest.run(
            self.project, "", labels=labels, without=without, jobs=jobs, ended=section.done
        )
        left = [test for test in self.tests if not sanitized and SANITIZED in test.labels]
        if left:
            section.say(f"  left to `ctest --preset asan`, which has sanitizers: {len(left)} tests")
        for test in ended.values():
            why = last_line(test.text)
            if test.skipped and excused(why):  # needs a network, say
                section.say(f"  skipped {test.name}: {why}")
            elif test.skipped:
                section.check(test.name, False, NOT_EXCUSED.format(why=why))
            else:
                section.check(test.name, test.passed, test.text)
        section.check("there are tests", section.passed + section.failed > 0, "none ran")

    def check_seed(self, section: Section, labs: list[Lab], seed: int) -> None:
        """Solutions pass with other inputs, too."""
        tests = [test for lab in labs for test in self.solution_tests(lab)]
        self.check_all(section, [partial(self._seed, test, seed) for test in tests])

    def check_solutions(self, section: Section, labs: list[Lab]) -> None:
        outcomes = run_tests(self.project, "^solution", jobs=self.tests_at_once, ended=section.done)
        for outcome in outcomes:
            self._count_solution(section, outcome)
        self._keep_records()
        for lab in labs:
            prefix = f"solution{lab.number}."
            records = [one.record for one in outcomes if one.record.test.startswith(prefix)]
            self.solved[lab] = [one for one in records if ".hidden." not in one.test]
            section.check(f"{lab.name} has tests", bool(records), "no test of its solution ran")

    def check_skeletons(self, section: Section, labs: list[Lab]) -> None:
        self.check_all(section, [partial(self._skeleton, lab) for lab in labs])

    def check_some_mutants(self, section: Section, labs: list[Lab]) -> None:
        """One per TODO: the one whose test took the solution the least time."""
        for lab in labs:
            mutants = self._mutants(lab)
            for todo in sorted(todo_numbers(self.project, lab)):
                of_todo = [mutant for mutant in mutants if mutant.todo == todo]
                name = f"{lab.name} TODO({todo}) has a mutant"
                if section.check(name, bool(of_todo), "tests/mutants has none"):
                    self.chosen.append((lab, min(of_todo, key=partial(self._seconds, lab))))
        self._check_mutants(section, self.chosen)

    def check_other_mutants(self, section: Section, labs: list[Lab]) -> None:
        everyone = [(lab, mutant) for lab in labs for mutant in self._mutants(lab)]
        self._check_mutants(section, [one for one in everyone if one not in self.chosen])

    def _check_mutants(self, section: Section, mutants: Iterable[tuple[Lab, Mutant]]) -> None:
        self.check_all(section, [partial(self._mutant, lab, mutant) for lab, mutant in mutants])

    def _mutants(self, lab: Lab) -> list[Mutant]:
        try:
            return load(self.project, lab)
        except LabError:
            return []  # counted where the mutants' files are read

    def _seconds(self, lab: Lab, mutant: Mutant) -> float:
        return self.passing.get(f"solution{lab.number}.{mutant.case}", float("inf"))

    def _count_solution(self, section: Section, outcome: Outcome) -> None:
        name = outcome.record.test
        good = outcome.verdict is Verdict.PASS
        if good:
            self.passing[name] = outcome.seconds
        section.check(name, good, f"{outcome.verdict.value}, expected pass\n{outcome.text}")

    def _keep_records(self) -> None:
        """Records of what passed, for tests/points/test_shapes.py: other tests run some of these
        again, in other orders or on other nodes, and write over them."""
        folder = self._fresh_folder(self.scratch / "solved")
        for test in self.tests:
            if test.name in self.passing and test.results:
                shutil.copy2(test.results, folder)

    def check_all(self, section: Section, checks: Iterable[Check]) -> None:
        """Runs the checks, a few at a time, and counts them in order."""
        checks = list(checks)
        with ThreadPoolExecutor(self.tests_at_once) as pool:
            for count, found in enumerate(pool.map(lambda check: check(), checks), 1):
                for name, holds, reason in found:
                    section.check(name, holds, reason)
                section.done(count, len(checks))

    def _skeleton(self, lab: Lab) -> list[Found]:
        """The generated skeleton, not the learner's file."""
        name, text = self._generated(lab)
        try:
            records = self._tested(lab, "skeleton", text)
        except LabError as error:
            return [(f"{lab.folder}/{name} compiles", False, str(error))]
        self.skeletons[lab] = [record for record in records if ".hidden." not in record.test]
        todos = sorted(todo_numbers(self.project, lab))
        return [
            (f"{lab.folder}/{name} compiles", True, ""),
            *(_not_written(record) for record in records),
            *(_is_tested(lab, todo, self.skeletons[lab]) for todo in todos),
        ]

    def answered(self, lab: Lab, pattern: str, answer: str) -> list[Record]:
        """The results of the public tests for the skeleton with an answer at the place that
        matches. LabError: it does not compile."""
        _, text = self._generated(lab)
        text = re.sub(pattern, lambda _: answer, text, count=1, flags=re.DOTALL)
        records = self._tested(lab, "answered", text, public=True)
        return [record for record in records if ".hidden." not in record.test]

    def _generated(self, lab: Lab) -> tuple[str, str]:
        """The name and the text of the skeleton's file."""
        (name,) = (path.name for path in student_files(self.project.solutions_dir / lab.folder))
        return name, generate(self.project, lab)[f"{lab.folder}/{name}"].decode()

    def _tested(self, lab: Lab, kind: str, text: str, *, public: bool = False) -> list[Record]:
        """The results of the lab's tests for a file. LabError: it does not compile."""
        name, _ = self._generated(lab)
        variant = Variant(self.project, lab, self._fresh(lab, kind) / name)
        variant.source.write_text(text, encoding="utf-8")
        prefix = variant.build_parts(sorted(todo_numbers(self.project, lab)))
        tests = self.solution_tests(lab)
        wanted = [test for test in tests if not (public and ".hidden." in test.name)]
        return [variant.run(test, prefix) for test in wanted]

    def _mutant(self, lab: Lab, mutant: Mutant) -> list[Found]:
        name = f"{lab.name} mutant {mutant.name}"
        wanted = f"solution{lab.number}.{mutant.case}"
        test = next((test for test in self.tests if test.name == wanted), None)
        if test is None:
            return [(name, False, f"it names {mutant.rejected_by}; there is no test {wanted}")]
        if wanted not in self.passing:
            return [(name, False, f"{wanted} does not even pass with the solution")]
        try:
            file, text = mutated_source(self.project, lab, mutant)
            variant = Variant(self.project, lab, self._fresh(lab, mutant.name) / file)
            variant.source.write_text(text, encoding="utf-8")
            record = variant.run(test, variant.build_whole())
        except LabError as error:
            return [(name, False, str(error))]
        self.rejected.setdefault(lab, []).append(record)
        reason = f"{wanted}: {record.verdict.value}, expected fail ({mutant.why})\n{record.message}"
        return [(name, record.verdict is Verdict.FAIL, reason)]

    def _seed(self, test: Test, seed: int) -> list[Found]:
        words = [word for word in test.command if word != "--results"]
        words = [word for word in words if word != test.option("--results")]
        done = capture([*words, "--seed", str(seed)], env=build_env(self.project))
        return [(f"{test.name} --seed {seed}", done.ok, done.output)]

    def _fresh(self, lab: Lab, name: str) -> Path:
        return self._fresh_folder(self.scratch / lab.folder / name)

    @staticmethod
    def _fresh_folder(folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def last_line(text: str) -> str:
    """The last line of a skipped test's output, which has the reason."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _not_written(record: Record) -> Found:
    holds = record.verdict is Verdict.NOT_WRITTEN
    reason = f"{record.verdict.value}, expected not written\n{record.message}"
    return f"skeleton of {record.test}", holds, reason


def _is_tested(lab: Lab, todo: int, public: list[Record]) -> Found:
    holds = any(record.todo == todo for record in public)
    return f"{lab.name} tests TODO({todo})", holds, "no public case has this TODO"
