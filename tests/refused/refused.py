# SPDX-License-Identifier: MIT
"""Each call of CUDA in a lab's functions fails once, and the lab's contract holds.

    refused.py --build build/vgpu --lab NN [--file FILE] [--case NAME ...] [--every] [--jobs N]

Links the solution (or FILE, in its place) with wrappers around each function of the lab and each
call of CUDA (calls.c). Of every case it learns first which calls of CUDA the functions make, then
runs the case once for each of them, in which that call fails: of each place in the source the first
one in the case that takes least (--every, or PEERLAB_FULL=1: of each function that is called, in
each case, the first, the middle one and the last).

The function in which it failed must then

  * return LAB_OK, and the whole case pass: the failure did not matter; or
  * return an error of CUDA's (LAB_ECUDA and the like), with its outputs as they were, the current
    device as it was and no last error left; called once more in the same way it succeeds, and the
    whole case passes, with nothing left behind. Functions whose cases cannot pass then are in ENDS
    (exceptions.py): they are not called once more and the case may fail, but nothing crashes or
    hangs. The same holds for a call that returns an error even where nothing else fails.

Anything else is printed, and the exit status is 1. exceptions.py names what may be otherwise, with
the reason.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "points"), str(ROOT)]

import wrappers  # noqa: E402
from exceptions import ENDS, PASSED  # noqa: E402

from grader.base.proc import capture  # noqa: E402
from grader.building.needs import build_env  # noqa: E402
from grader.course.contract import results  # noqa: E402
from grader.course.mutants import student_files  # noqa: E402
from grader.course.project import Lab, Project  # noqa: E402

LIMITS = {"LAB_CPU_SECONDS": "20", "LAB_WALL_SECONDS": "90", "LAB_IDLE_SECONDS": "30"}
CASE_SECONDS = 120.0
RESULTS = results(ROOT)
COUNTS = ("cudaGetDeviceCount", "cuInit", "cuDeviceGetCount")  # where they fail there is no GPU
OF_CUDA = ("LAB_ENOPEER", "LAB_ENOMEM", "LAB_ECUDA", "LAB_EPEER")
FEWEST = 5  # calls that fail, of a lab; fewer, and the wrappers are not at work


@dataclass(frozen=True)
class Call:
    """A call of CUDA in a run of a case."""

    case: str
    run: int
    process: int
    number: int
    function: str
    name: str
    place: str
    usual: str  # what the function returns where nothing fails
    device: int  # the current device before it

    @property
    def least(self) -> tuple[bool, bool]:
        """Last comes that of which least is seen: an error in any case, a GPU that is usual."""
        return self.usual != "LAB_OK", self.device == 0


@dataclass
class Outcome:
    call: Call
    problems: list[str] = field(default_factory=list)


class Stage:
    """A folder in which one case runs at a time: the runner, and the two files beside it."""

    def __init__(self, folder: Path, runner: Path, check: Path, env: dict[str, str]) -> None:
        self.folder, self.check, self.env = folder, check, env
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.runner = folder / "run"
        os.link(runner, self.runner)
        self.log = folder / "log"

    def ask(self, case: str, *failing: int) -> tuple[dict, list[str]]:
        """The record of a case, and the log's lines. `failing`: which call fails, and whether the
        function in which it does is called once more; nothing: none fails."""
        (self.folder / "state").write_bytes(struct.pack("5i", 0, *(failing or (0, 0, 0, 0))))
        self.log.write_bytes(b"")
        record = self.folder / "record.json"
        record.unlink(missing_ok=True)
        words = [self.check, "--runner", self.runner, "--case", case]
        words += ["--orders", "0", "--json", record]
        capture([str(word) for word in words], env=self.env, timeout=CASE_SECONDS)
        text = (
            record.read_text(encoding="utf-8") if record.is_file() else '{"verdict": "no record"}'
        )
        return json.loads(text), self.log.read_text(encoding="utf-8").splitlines()


class Refused:
    """A lab, built, and what is asked of it."""

    def __init__(self, project: Project, lab: Lab, file: Path | None, jobs: int) -> None:
        self.project, self.lab = project, lab
        self.folder = (
            project.build_dir / "refused" / f"{lab.name}{'-' + file.parent.name if file else ''}"
        )
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        source = file or student_files(project.solutions_dir / lab.folder)[0]
        self.runner = wrappers.build(project, lab, source, self.folder)
        self.stages: Queue[Stage] = Queue()
        env = {**build_env(project), **LIMITS}
        self.check = project.build_dir / "bin" / f"{lab.name}-check"
        for number in range(jobs):
            self.stages.put(Stage(self.folder / str(number), self.runner, self.check, env))
        self.took: dict[str, float] = {}  # seconds of each case

    def cases(self) -> list[str]:
        """The public cases, in their order."""
        listed = subprocess.run([self.check, "--list-json"], capture_output=True, check=True)
        return [entry["case"] for entry in json.loads(listed.stdout)]

    def learn(self, case: str) -> list[Call]:
        stage, start = self.stages.get(), time.monotonic()
        try:
            record, lines = stage.ask(case)
            self.took[case] = time.monotonic() - start
        finally:
            self.stages.put(stage)
        if record["verdict"] != "pass":
            raise SystemExit(f"{self.lab.name}: {case} does not pass: {record.get('message')}")
        calls = list(_calls(case, lines))
        where = wrappers.places(self.runner, {call.place for call in calls})
        return [call for call in calls if "/tests/" not in where[call.place]]  # an adapter's own

    def fail(self, call: Call) -> Outcome:
        stage = self.stages.get()
        try:
            again = call.usual == "LAB_OK" and call.function not in ENDS
            record, lines = stage.ask(call.case, call.run, call.process, call.number, again)
        finally:
            self.stages.put(stage)
        return Outcome(call, list(self._problems(call, record, lines)))

    def _problems(self, call: Call, record: dict, lines: list[str]) -> Iterable[str]:
        told = f"{record['verdict']}: {record.get('message', '')}".split("\n")[0]
        said = {kind: [line.split()[1:] for line in lines if line[0] == kind] for kind in "HRX"}
        if not said["H"]:
            if not call.process:  # several processes need not come to the same calls
                yield f"the call was not made again ({told})"
            return
        ended = record["verdict"] in ("pass", "fail") and not record.get("ending")
        if not ended and not (said["R"] and self._may(call, "waits")):
            yield f"{told} ({record.get('ending')})"
        if not said["R"]:
            yield f"the function did not come back ({told})"
            return
        returned = [_result(words[1]) for words in said["R"]]
        expected = {call.usual, *OF_CUDA} | ({"LAB_ENOGPU"} if call.name in COUNTS else set())
        if returned[0] not in expected and not self._may(call, "result"):
            yield f"it returned {returned[0]}"
        if returned[1:] not in ([], [call.usual]) and not self._may(call, "again"):
            yield f"called once more, it returned {returned[1]}, not {call.usual} ({told})"
        yield from self._left(call, [list(map(int, words[2:])) for words in said["R"]])
        for _, parameter in said["X"]:
            if not self._may(call, f"*{parameter}"):
                yield f"it returned {returned[0]} and wrote to *{parameter}"
        ends = returned[0] != call.usual and (call.function in ENDS or call.usual != "LAB_OK")
        what = "success" if returned[0] == "LAB_OK" else "case"
        if record["verdict"] == "fail" and not ends and not self._may(call, what):
            yield f"it returned {', then '.join(returned)}; {told}"

    def _left(self, call: Call, after: list[list[int]]) -> Iterable[str]:
        for again, device_before, device, error_before, error in after:
            when = " when it was called once more" if again else ""
            if device != device_before and not self._may(call, "device"):
                yield f"GPU {device_before} was current, and GPU {device} is{when}"
            if error != 0 and error_before == 0 and not self._may(call, "error"):
                yield f"it left error {error} behind{when}"

    def _may(self, call: Call, what: str) -> bool:
        for functions, names, whats, _ in PASSED:
            if (
                call.function in functions.split()
                and (names == "any" or call.name in names.split())
                and what in whats.split()
            ):
                return True
        return False


def _result(number: str) -> str:
    known = -int(number)
    return RESULTS[known] if 0 <= known < len(RESULTS) else number


def _calls(case: str, lines: list[str]) -> Iterable[Call]:
    """The calls that the log has, each with the usual result of the function in which it is."""
    under_way: dict[tuple[str, str], list[list[str]]] = {}
    for line in lines:
        kind, *words = line.split()
        if kind == "C":
            under_way.setdefault((words[0], words[1]), []).append(words)
        if kind == "F":
            mine = under_way.pop((words[0], words[1]), [])
            usual, device = _result(words[3]), int(words[4])
            for run, process, number, *rest in mine:
                yield Call(case, int(run), int(process), int(number), *rest, usual, device)


def chosen(calls: list[Call], took: dict[str, float], every: bool) -> list[Call]:
    """Of what was made from one place one, in the case that takes least; for `every`: the first,
    the middle one and the last of each case and function."""
    made: dict[tuple[object, ...], list[Call]] = {}
    for call in sorted(calls, key=lambda call: (*call.least, took[call.case])):
        kind = (call.name, call.place)
        if every:
            kind = (*kind, call.function, call.case, call.usual == "LAB_OK")
        made.setdefault(kind, []).append(call)
    if not every:
        return [same[0] for same in made.values()]
    return [
        same[number]
        for same in made.values()
        for number in sorted({0, len(same) // 2, len(same) - 1})
    ]


def show(refused: Refused, outcomes: list[Outcome]) -> int:
    bad = [outcome for outcome in outcomes if outcome.problems]
    where = wrappers.places(refused.runner, {outcome.call.place for outcome in bad})
    where = {place: line.rsplit("/", 1)[-1] for place, line in where.items()}
    for outcome in bad:
        call = outcome.call
        at = f"run {call.run}" + (f", process {call.process}" if call.process else "")
        print(
            f"{call.function}, {where[call.place]}: {call.name} fails "
            f"({call.case}, {at}, call {call.number})"
        )
        for problem in outcome.problems:
            print(f"    {problem}")
    lab = refused.lab.name
    functions = {outcome.call.function for outcome in outcomes}
    places = {(outcome.call.name, outcome.call.place) for outcome in outcomes}
    print(
        f"{lab}: {len(outcomes)} calls from {len(places)} places in {len(functions)} functions "
        f"failed, {len(bad)} were not taken as the contract says"
    )
    return len(bad)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--lab", required=True)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--case", action="append")
    parser.add_argument("--every", action="store_true", default="PEERLAB_FULL" in os.environ)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    project = Project(ROOT, build=options.build.resolve())
    lab = next(lab for lab in project.labs() if lab.number == options.lab)
    refused = Refused(project, lab, options.file, options.jobs)
    with ThreadPoolExecutor(options.jobs) as pool:
        learnt = list(pool.map(refused.learn, options.case or refused.cases()))
        calls = [call for each in learnt for call in each]
        outcomes = list(pool.map(refused.fail, chosen(calls, refused.took, options.every)))
    return int(show(refused, outcomes) > 0 or len(outcomes) < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
