# SPDX-License-Identifier: MIT
"""One submission from its text to the verdicts of its cases.

    build   the student's file over the pristine tree, compiled and linked inside the sandbox;
            the trusted objects are those of the course's build, made once
    run     each case of the rubric is asked by the lab's verifier, which stays outside, holds the
            expected values and starts the student's program in the sandbox

Nothing that the submission prints or leaves behind counts: a case that the verifier did not report
is our error, never a pass.
"""

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Semaphore

from grader.base.exits import LabError
from grader.building.needs import build_env
from grader.grade import images, own
from grader.grade.course import HIDDEN, Course, GradedLab, split
from grader.grade.model import CaseRun, Run, Status, Submission
from grader.grade.rubric import Rule
from grader.sandbox import Launch, Limits, Outcome, Request, Tier, prepare, run, slots

CASE_SECONDS = 1300.0  # of this computer's clock, a last resort: the verifier has better deadlines
# Of all of a submission's cases together: processor time, and time in which none was wanted. The
# solutions take up to 60.
SUBMISSION_SECONDS = 300.0
MOST_TIMEOUTS = 2  # of a TODO; its other cases are not waited for
NODE = "node"  # a verifier's word for an ending: the node's
KEPT_OUTPUT = 8000  # characters of the compiler's

_STATUS = {
    "pass": Status.PASS,
    "fail": Status.FAIL,
    "not written": Status.NOT_WRITTEN,
    "cannot run": Status.CANNOT_RUN,
    "harness error": Status.INFRASTRUCTURE,
}
_BUILDING = Limits(wall_seconds=90, cpu_seconds=60, output_bytes=256 << 10, file_bytes=64 << 20)
_ROOM = 64 << 20  # bytes: a disk with less is full
# Another one in every run, on x86-64 and on arm64; addresses on GPUs are not.
_HOST_ADDRESS = re.compile(r"0x(?:5[56]|7[ef]|a[ab]|f[ef])[0-9a-f]{10}\b")
_ENDING = {"crash": Status.CRASH, "timeout": Status.TIMEOUT}


# A program can find out of which seed its inputs were made; what it does not see comes from all of
# the class's seed (LAB_SECRET), of which this is the smaller part.
PUBLIC_SEEDS = 1 << 31
SEED_BITS = 96  # as many as nobody tries


def secret_of(seed: int, contents: bytes) -> str:
    """For one submission: what it prints of its numbers tells nothing about another's."""
    whole = hashlib.sha256(f"{seed}\n".encode() + contents).digest()
    return str(int.from_bytes(whole[:8], "big"))


@dataclass(frozen=True)
class Worker:
    """What grades, several at a time: each takes a free slot of the sandbox."""

    course: Course
    tier: Tier
    seed: int
    slot: Callable[[], AbstractContextManager[int]]  # takes a free one
    scratch: Path  # a folder to work in; slots' users may go through it
    orders: int

    def grade(self, lab: GradedLab, submission: Submission, *, alone: bool = False) -> Run:
        """Never raises for anything that a submission does. `alone`: once more, and nothing else
        is at work; a node that fails now fails because of the submission."""
        started = time.monotonic()
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        folder.chmod(0o711)  # a slot's user goes through it to what the sandbox shows
        try:
            with self.slot() as slot:
                contents = submission.contents or b""
                secret = secret_of(self.seed, contents)
                desk = _Desk(self, lab, folder, slot, alone, secret)
                found = _with_broken(desk.grade(contents))
        except (OSError, LabError) as error:
            found = Run(broken=f"grading could not go on: {error}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return replace(found, seconds=round(time.monotonic() - started, 3))


def _with_broken(run: Run) -> Run:
    """A case of which we cannot say how it ended breaks the whole."""
    failed = [case for case in run.cases if case.status is Status.INFRASTRUCTURE]
    if failed and not run.broken:
        return replace(run, broken=f"{failed[0].case}: {failed[0].message}")
    return run


def worker(course: Course, tier: Tier, seed: int, jobs: int, scratch: Path, orders: int) -> Worker:
    turn = Semaphore(tier.slots(jobs))

    @contextmanager
    def slot() -> Iterator[int]:
        with turn, slots.claim(tier.slots(slots.MOST)) as claimed:
            yield claimed

    return Worker(course, tier, seed, slot, scratch, orders)


@dataclass(frozen=True)
class _Desk:
    """A folder that exists for one submission."""

    worker: Worker
    lab: GradedLab
    folder: Path
    slot: int
    alone: bool
    secret: str

    @property
    def source(self) -> str:
        """As the compiler is told, and so as diagnostics say it."""
        return f"labs/{self.lab.lab.folder}/{self.lab.file}"

    @property
    def work(self) -> Path:
        """All that the submission's build may write in. Results lie elsewhere."""
        return self.folder / "work"

    def grade(self, contents: bytes) -> Run:
        for path in (
            "run",
            "results",
            "work/compile",
            "work/build",
            f"work/{Path(self.source).parent}",
        ):
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        (self.folder / "results").chmod(0o700)
        (self.work / self.source).write_bytes(contents)
        with slots.asking(self.slot, "public"):  # students read what compilers say, too
            built = self._build()
        said = self._clean(built.text)
        if built.timed_out:
            said += "\nThe compiler did not come to an end and was stopped."
        if built.flooded:
            said += "\nThe compiler printed too much and was stopped."
        if built.status != 0 or built.timed_out or built.flooded:
            full = shutil.disk_usage(self.work).free < _ROOM  # what was said, anybody can say
            broken = f"the disk of {self.work} is full\n{said}" if full else ""
            return Run(compiled=False, compiler_output=said, broken=broken)
        return Run(compiler_output=said, cases=tuple(self._cases()))

    # ---- building ----

    def _build(self) -> Outcome:
        """Compiles, then links, each with only what it needs; what both said."""
        compiled = self.work / "compile" / "submission.o"
        built = self._labcc(
            compiled.parent, (self.work / "labs",), "compile", self.source, compiled
        )
        if not built.ok:
            return built
        library = self.worker.course.project.build_dir / "lib"
        course = (*self._objects(), *sorted(library.glob("*.a")))
        self._images.write_bytes(images.listing(compiled.parent, course))
        todos = [str(todo) for todo in sorted({0, *self.lab.todos})]
        parts = (compiled, *self._objects())
        linked = self._labcc(self._runner.parent, parts, "runners", compiled, self._runner, *todos)
        return replace(linked, output=built.output + linked.output)

    def _labcc(self, writable: Path, seen: tuple[Path, ...], *words: str | Path) -> Outcome:
        conf = self._conf()
        argv = [
            "/bin/sh",
            self.worker.course.project.root / "harness" / "cmake" / "labcc.sh",
            conf,
            *words,
        ]
        request = Request(
            argv=tuple(str(word) for word in argv),
            read_only=(conf, *self._trusted(), *seen),
            read_write=(writable,),
            environment=self._environment(writable)
            | {"VGPU_CC_IMAGES": str(writable / images.NAME)},
            folder=self.work,
            limits=_BUILDING,
            slot=self.slot,
            compiles=True,
        )
        return run(request, self.worker.tier)

    def _conf(self) -> Path:
        """The course's, with the pristine tree for the labs and our folder for its parts."""
        course, lab = self.worker.course, self.lab.lab
        text = course.conf(lab).read_text(encoding="utf-8")
        text = text.replace(f"{course.project.labs_dir}/", f"{course.pristine}/labs/")
        work = str(course.conf(lab).parent)
        text = text.replace(f"LAB_FOLDER='{work}'", f"LAB_FOLDER='{self.work}/build'")
        conf = self.folder / "lab.conf"
        conf.write_text(text, encoding="utf-8")
        return conf

    def _trusted(self) -> tuple[Path, ...]:
        """What every build may read: no solution, no hidden test is among it."""
        course = self.worker.course
        return (
            *(course.pristine / "labs" / name for name in course.folders(self.lab.lab)),
            course.project.root / "harness",
            course.project.root / "vgpu" / "include",
            course.project.root / "vgpu" / "common",
            course.project.build_dir / "lib",
            *([course.project.cccl] if course.project.cccl.is_dir() else []),
            *(course.project.build_dir / "bin" / name for name in ("vgpu-cc", "vgpu-exec")),
        )

    def _objects(self) -> list[Path]:
        """What goes with a submission, for the linker only: an assembler would put it into the
        student's program for the asking. The solution as a whole is not among it."""
        folder = self.worker.course.conf(self.lab.lab).parent
        every = [*folder.glob("*.o"), folder / "doors"]
        return sorted(path for path in every if path.name not in ("reference.o", "student.o"))

    @property
    def _runner(self) -> Path:
        return self.work / "build" / "run"

    @property
    def _images(self) -> Path:
        """The device images that the node takes: nothing of a submission can write there."""
        return self.folder / "images"

    def _environment(self, temporary: Path) -> dict[str, str]:
        """Made, not inherited."""
        place = str(temporary)
        path = build_env(self.worker.course.project)["PATH"]
        return {
            "PATH": path,
            "HOME": place,
            "TMPDIR": place,
            "LC_ALL": "C.UTF-8",
        }

    # ---- running ----

    def _cases(self) -> list[CaseRun]:
        """The public ones first, then the hidden ones, which nobody is asked meanwhile (slots.py);
        each kind in the rubric's order, so that what a case depends on has been run before it."""
        done: dict[str, CaseRun] = {}
        request = Request(
            argv=(),
            read_only=(self.work / "build",),
            environment=self._environment(self.folder / "run")
            | {
                "XDG_RUNTIME_DIR": str(self.worker.course.nodes),
                "VGPU_IMAGES": str(self._images),
            },
            slot=self.slot,
            node=True,
        )
        spent = _Spent()
        with prepare(request, self.worker.tier) as launch:
            for kind in ("public", "hidden"):
                with slots.asking(self.slot, kind):
                    self._ask_all(kind, done, launch, spent)
        settled = own.settled(self.lab.rubric.rules, done)
        return [self._titled(run) for run in settled]

    def _titled(self, run: CaseRun) -> CaseRun:
        """What must hold is told of a case that was not asked, too."""
        return run if run.title else replace(run, title=self.lab.titles.get(run.case, ""))

    def _ask_all(
        self, kind: str, done: dict[str, CaseRun], launch: Launch, spent: "_Spent"
    ) -> None:
        hidden = _hidden(self.lab.rubric.rules)
        for rule in self.lab.rubric.rules:
            if (rule.case in hidden) != (kind == "hidden") or spent.over:
                continue
            limited = _within(launch, spent.left) if spent.left > 0 else None
            ran = self._case(rule, done, limited, spent.slow.get(rule.todo, 0))
            done[rule.case] = ran
            spent.left -= ran.charged_seconds
            if ran.status is Status.TIMEOUT or (ran.node and ran.status is Status.CRASH):
                spent.slow[rule.todo] = spent.slow.get(rule.todo, 0) + 1
            spent.over = bool(ran.node) and not self.alone  # all of it is run again

    def _case(
        self, rule: Rule, done: dict[str, CaseRun], launch: Launch | None, timeouts: int
    ) -> CaseRun:
        """`launch` is None where the submission's time is over."""
        lacking = [name for name in rule.depends if done[name].status is not Status.PASS]
        if lacking:
            names = " and ".join(name.removeprefix(HIDDEN) for name in lacking)
            return CaseRun(rule.case, Status.NOT_RUN, message=f"{names} must pass first")
        if timeouts >= MOST_TIMEOUTS:
            why = f"not waited for: {timeouts} tests of the same task did not come to an end"
            return CaseRun(rule.case, Status.TIMEOUT, message=why)
        if launch is None:
            why = f"not run: this submission's tests had taken {SUBMISSION_SECONDS:.0f} s together"
            return CaseRun(rule.case, Status.TIMEOUT, message=why)
        ran = self._ask(rule, launch)
        return self._again(rule, launch, ran) if ran.node and self.alone else ran

    def _again(self, rule: Rule, launch: Launch, first: CaseRun) -> CaseRun:
        """Once more, alone. What brings the node down a second time is the submission."""
        second = self._ask(rule, launch)
        charged = first.charged_seconds + second.charged_seconds
        if not second.node:
            return replace(second, charged_seconds=charged, node=first.node)
        message = f"{second.node}; so it was when this test was run once more, by itself"
        return replace(second, status=Status.CRASH, message=message, charged_seconds=charged)

    def _ask(self, rule: Rule, launch: Launch) -> CaseRun:
        kind, case = split(rule.case)
        name = ".".join(word for word in (self.lab.lab.name, kind) if word)
        results = self.folder / "results"
        words = [self.worker.course.verifier(self.lab.lab, rule.case), "--runner", self._runner]
        words += ["--case", case, "--as", name, "--source", self.work / self.source]
        words += ["--results", results, "--seed", self.worker.seed % PUBLIC_SEEDS]
        words += ["--die-with-parent"]
        words += ["--orders", self.worker.orders]
        words += launch.options
        environment = launch.environment | {"LAB_SECRET": self.secret}
        said = _quiet([str(word) for word in words], environment, self.folder)
        if said is None:
            message = f"this test had not come to an end after {CASE_SECONDS:.0f} s"
            charged = SUBMISSION_SECONDS
            return CaseRun(rule.case, Status.TIMEOUT, message=message, charged_seconds=charged)
        return self._read(rule, results / f"{name}.{case}.json", said)

    def _read(self, rule: Rule, path: Path, said: str) -> CaseRun:
        try:
            data = json.loads(path.read_text(encoding="utf-8", errors="replace"))
            status = _STATUS[data["verdict"]]
            if data["case"] != split(rule.case)[1] or data["todo"] != rule.todo:
                raise ValueError(f"it is about {data['case']}, TODO({data['todo']})")
        except (OSError, ValueError, KeyError) as error:
            message = f"the test left no result ({error})\n{said}"
            return CaseRun(rule.case, Status.INFRASTRUCTURE, message=self._clean(message))
        if status is Status.FAIL:
            status = _ENDING.get(data["ending"], status)
        builds_on = tuple(data.get("builds_on", ()))
        if builds_on:  # for now: other tests tell whether it counts
            status = Status.PASS
        texts = ("title", "message", "why", "where", "next", "said", "explained")
        return CaseRun(
            rule.case,
            status,
            grave=str(data.get("grave", "")),
            virtual_ps=data["virtual_ps"],
            timed_ps=data.get("timed_ps", 0),
            payload=data.get("payload", 0),
            cpu_seconds=data["cpu_seconds"],
            charged_seconds=data["charged_seconds"],
            node=self._clean(str(data["message"])) if data["ending"] == NODE else "",
            builds_on=builds_on,
            **{key: self._clean(str(data[key])) for key in texts},
        )

    def _clean(self, text: str) -> str:
        """Without this run's folders, which mean nothing to anybody."""
        for folder in (
            self.work,
            self.folder,
            self.worker.course.pristine,
            self.worker.course.project.root,
        ):
            text = text.replace(f"{folder}/", "")
        text = without_host_addresses(text)
        text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text).strip()
        return text if len(text) <= KEPT_OUTPUT else text[:KEPT_OUTPUT] + "\n[cut here]"


def without_host_addresses(text: str) -> str:
    return _HOST_ADDRESS.sub("0x...", text)


def _hidden(rules: Iterable[Rule]) -> set[str]:
    """The hidden cases, and what depends on one, if a rubric has that."""
    found: set[str] = set()
    for rule in rules:
        if rule.case.startswith(HIDDEN) or found.intersection(rule.depends):
            found.add(rule.case)
    return found


@dataclass
class _Spent:
    """Of a submission's time: what is left, how often each TODO's tests did not come to an end."""

    left: float = field(default_factory=lambda: SUBMISSION_SECONDS)
    slow: dict[int, int] = field(default_factory=dict)
    over: bool = False


def _within(launch: Launch, seconds: float) -> Launch:
    """The same for a case of a submission that has so many left."""
    most = min(float(launch.environment["LAB_WALL_SECONDS"]), max(0.0, seconds))
    return replace(launch, environment={**launch.environment, "LAB_WALL_SECONDS": f"{most:.3g}"})


def _quiet(words: list[str], env: dict[str, str], cwd: Path) -> str | None:
    """Runs a verifier in a session of its own; what it says matters when it left no record. One
    that takes too long is asked to end, for it knows what it has started, and None comes back."""
    with subprocess.Popen(
        words,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as verifier:
        try:
            said = verifier.communicate(timeout=CASE_SECONDS)[0]
            return said[-2000:].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            verifier.terminate()
            return None
