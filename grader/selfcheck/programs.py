# SPDX-License-Identifier: MIT
"""Checks that build and run: solutions pass, skeletons are not written, mutants are rejected."""

import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader import ctest
from grader.ctest import Test
from grader.exits import LabError
from grader.mutants import Mutant, load, student_files
from grader.needs import build_env
from grader.proc import capture
from grader.project import Lab, Project
from grader.records import Record, Verdict
from grader.selfcheck.report import Report, Section
from grader.selfcheck.sources import mutated_source, todo_numbers
from grader.sync import generate
from grader.testing import Outcome, run_tests
from grader.variants import Variant

Found = tuple[str, bool, str]  # name of a check, whether it holds, and why not
Check = Callable[[], list[Found]]


@dataclass
class Programs:
    """What the checks of built programs share: the tests, and which of them solutions pass."""

    project: Project
    report: Report
    tests: list[Test]
    jobs: int
    passing: set[str] = field(default_factory=set)
    skeletons: dict[Lab, list[Record]] = field(default_factory=dict)  # how public tests ended
    solved: dict[Lab, list[Record]] = field(default_factory=dict)  # the same of solutions
    rejected: dict[Lab, list[Record]] = field(default_factory=dict)  # what mutants were told

    @property
    def scratch(self) -> Path:
        return self.project.build_dir / "selfcheck"

    def solution_tests(self, lab: Lab) -> list[Test]:
        return [test for test in self.tests if test.name.startswith(f"solution{lab.number}.")]

    def check_units(self) -> None:
        """The project's own tests: of the node, the compiler, the harness and this package."""
        with self.report.section("unit tests of the project") as section:
            for test in ctest.run(self.project, "", label="^project$", jobs=self.jobs).values():
                if not test.skipped:
                    section.check(test.name, test.passed, test.text)
            section.check("there are unit tests", section.passed + section.failed > 0, "none ran")

    def check_full(self) -> None:
        """The unit tests that can do more: as often, and as large, as it takes."""
        with self.report.section("unit tests at full length") as section:
            full = {"PEERLAB_FULL": "1"}
            for test in ctest.run(self.project, "", label="^full$", jobs=1, env=full).values():
                if test.skipped:  # said aloud: what it needs is not here, as a network is not
                    print(f"  skipped {test.name}: {test.text.strip()}")
                else:
                    section.check(test.name, test.passed, test.text)
            section.check("there are some", section.passed + section.failed > 0, "none ran")

    def check_seeds(self, labs: list[Lab], seeds: Iterable[int]) -> None:
        """Solutions pass with other inputs, too."""
        for seed in seeds:
            with self.report.section(f"solutions pass with seed {seed}") as section:
                tests = [test for lab in labs for test in self.solution_tests(lab)]
                self.check_all(section, [partial(self._seed, test, seed) for test in tests])

    def check_solutions(self, labs: list[Lab]) -> None:
        for lab in labs:
            with self.report.section(f"solution {lab.number} passes, hidden tests too") as section:
                outcomes = run_tests(self.project, f"^solution{lab.number}\\.")
                for outcome in outcomes:
                    self._count_solution(section, outcome)
                records = [outcome.record for outcome in outcomes]
                self.solved[lab] = [one for one in records if ".hidden." not in one.test]

    def check_skeletons(self, labs: list[Lab]) -> None:
        with self.report.section("skeletons compile cleanly and are 'not written'") as section:
            self.check_all(section, [partial(self._skeleton, lab) for lab in labs])

    def check_mutants(self, labs: list[Lab]) -> None:
        for lab in labs:
            with self.report.section(f"mutants of lab {lab.number} are rejected") as section:
                try:
                    mutants = load(self.project, lab)
                except LabError:
                    continue  # counted where the mutants' files are read
                self.check_all(section, [partial(self._mutant, lab, mutant) for mutant in mutants])

    def _count_solution(self, section: Section, outcome: Outcome) -> None:
        name = outcome.record.test
        good = outcome.verdict is Verdict.PASS
        if good:
            self.passing.add(name)
        section.check(name, good, f"{outcome.verdict.value}, expected pass\n{outcome.text}")

    def check_all(self, section: Section, checks: Iterable[Check]) -> None:
        """Runs the checks, a few at a time, and counts in order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            for found in pool.map(lambda check: check(), checks):
                for name, holds, reason in found:
                    section.check(name, holds, reason)

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
        """How the public tests end for the skeleton with an answer in the place that matches.
        LabError: it does not compile."""
        _, text = self._generated(lab)
        text = re.sub(pattern, lambda _: answer, text, count=1, flags=re.DOTALL)
        records = self._tested(lab, "answered", text, public=True)
        return [record for record in records if ".hidden." not in record.test]

    def _generated(self, lab: Lab) -> tuple[str, str]:
        """The name and the text of the skeleton's file."""
        (name,) = (path.name for path in student_files(self.project.solutions_dir / lab.folder))
        return name, generate(self.project, lab)[f"{lab.folder}/{name}"].decode()

    def _tested(self, lab: Lab, kind: str, text: str, *, public: bool = False) -> list[Record]:
        """How the lab's tests end for a file. LabError: it does not compile."""
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
        folder = self.scratch / lab.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def _not_written(record: Record) -> Found:
    holds = record.verdict is Verdict.NOT_WRITTEN
    reason = f"{record.verdict.value}, expected not written\n{record.message}"
    return f"skeleton of {record.test}", holds, reason


def _is_tested(lab: Lab, todo: int, public: list[Record]) -> Found:
    holds = any(record.todo == todo for record in public)
    return f"{lab.name} tests TODO({todo})", holds, "no public case has this TODO"
