# SPDX-License-Identifier: MIT
"""Builds a student's file that is neither the learner's nor the reference's (a generated skeleton,
a mutant) with the commands of the real build, and runs single tests on it.

harness/cmake/labcc.sh builds; labs/NN-name/lab.conf in the build folder has its parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import LabError
from grader.base.proc import capture
from grader.building.ctest import Test
from grader.building.needs import build_env
from grader.building.records import Record, Verdict, read_record
from grader.course.project import Lab, Project

BUILD_SECONDS = 300.0
TEST_SECONDS = 900.0  # a last resort: the verifier has better deadlines


@dataclass(frozen=True)
class Variant:
    """A student's file in a separate folder."""

    project: Project
    lab: Lab
    source: Path

    def build_whole(self) -> Path:
        """A runner with all functions from this file. LabError: it does not compile."""
        program = self._runner
        self._labcc("mutant", self.source, program)
        return program

    def build_parts(self, todos: Sequence[int]) -> Path:
        """The prefix of runners PREFIX-0 (all functions from this file) and PREFIX-N (those of
        TODO(N) only). A warning is an error. LabError: it does not compile."""
        compiled = self.source.parent / "student.o"
        prefix = self._runner
        self._labcc("strict", self.source, compiled)
        for todo in sorted({0, *todos}):
            self._labcc("runner", compiled, str(todo), f"{prefix}-{todo}")
        return prefix

    def build_debug(self, todo: int, program: Path) -> None:
        """A runner for a debugger: the functions of TODO(todo) come from this file, or all (0)."""
        self._labcc("debug", self.source, str(todo), program)

    def build_submission(self, todos: Sequence[int]) -> Path:
        """The same as built for grading: without answers of the course that N's tests do not need,
        and regardless of warnings."""
        compiled = self.source.parent / "student.o"
        self._labcc("compile", self.source, compiled)
        numbers = [str(todo) for todo in sorted({0, *todos})]
        self._labcc("runners", compiled, str(self._runner), *numbers)
        return self._runner

    @property
    def _runner(self) -> Path:
        """A unique name: labcc.sh keeps parts of several runners in one folder."""
        return self.source.parent / f"{self.source.parent.name}-run"

    def run(
        self,
        test: Test,
        runner: Path,
        extra: Mapping[str, str] | None = None,
        *,
        seconds: float = TEST_SECONDS,
    ) -> Record:
        """Runs one of the reference's tests on this file's runner, `extra` in its environment."""
        results = self.source.parent / "results"
        words = with_option(test.command, "--runner", str(runner))
        words = with_option(words, "--results", str(results))
        env = {**build_env(self.project), **(extra or {})}
        done = capture(words, env=env, timeout=seconds)
        record = read_record(results / f"{test.name}.json")
        if record is None:
            return Record(
                test.name, "", 0, verdict=Verdict.UNKNOWN, message=f"no record\n{done.output}"
            )
        return record

    def _labcc(self, action: str, *words: str | Path) -> None:
        script = self.project.root / "harness" / "cmake" / "labcc.sh"
        conf = self.project.build_dir / "labs" / self.lab.folder / "lab.conf"
        done = capture(
            ["sh", script, conf, action, *words],
            env=build_env(self.project),
            timeout=BUILD_SECONDS,
        )
        if not done.ok:
            raise LabError(f"does not compile ({action}):\n{done.output.rstrip()}")


def with_option(command: Sequence[str], option: str, value: str) -> tuple[str, ...]:
    """The command with another value for one of its options."""
    words = list(command)
    words[words.index(option) + 1] = value
    return tuple(words)
