# SPDX-License-Identifier: MIT
"""`./lab grade PATHS... --out DIR`, from the words that were typed to the files in DIR."""

import argparse
import json
import os
import secrets
import unicodedata
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.base.exits import ExitStatus, LabError
from grader.course.project import Lab, Project
from grader.export import formats, outputs
from grader.grade import contract, course, late, results, screen, work
from grader.grade.batch import Batch, Task
from grader.grade.diff import changes, read_results
from grader.grade.ingest import Intake, merged
from grader.grade.journal import Journal, opened, write_whole
from grader.grade.layouts import compile_pattern, read_roster, read_table
from grader.grade.model import Package, Run, Submission
from grader.grade.proof import prove
from grader.grade.results import Settings
from grader.grade.scratch import scratch
from grader.grade.slurm import SlurmBatch
from grader.sandbox import slots

Json = dict[str, Any]
BESIDE = "public and hidden tests ran beside that user's (docs/security.md, Two users' graders)"


def grade(project: Project, args: argparse.Namespace) -> ExitStatus:
    os.environ["PEERLAB_BUILD"] = str(project.build_dir)  # the sandbox takes its programs there
    console = screen.console()
    wanted = formats(args.export)
    old = read_results(args.diff) if args.diff else None
    times = late.read_times(args.times)
    packages = _packages(project, args)
    labs = _labs(project, args.labs, packages)
    if not args.no_build:
        course.build_trusted(project, labs)
    tier = _tier(args)
    with opened(args.out) as journal, scratch() as here:
        sandbox.sweep()
        settings = _settings(args, tier)
        trusted = course.prepare(project, labs, here)
        graded = [
            course.graded_lab(trusted, lab, contract.file_of(project, lab), args.rubric)
            for lab in labs
        ]
        grades = work.worker(trusted, tier, settings.seed, args.jobs, here, args.orders)
        local = Batch(journal, grades, settings.seed, tier.value, args.jobs, args.orders)
        batch = _batch(args, project, local)
        submissions = [
            (lab, _timed(contract.submission(package, lab.lab, lab.file, len(labs) == 1), times))
            for lab in graded
            for package in packages
        ]
        asked = bool(args.labs) or len(labs) == 1
        tasks = [batch.task(*one) for one in submissions if contract.counts(one[1], asked=asked)]
        prove(batch, trusted, graded)
        known = {one.student for _, one in submissions}
        broken = _run(batch, tasks, known, args, console)
        handed_in = (task.submission for task in tasks)
        spent = settings.late.slips((one.student, one.lab, one.submitted) for one in handed_in)
        settings = replace(settings, slips=spent)
        head = results.header(trusted, graded, settings, [one for _, one in submissions])
        rows = [_row(task, journal, settings, broken) for task in tasks]
    whole = results.text(head, rows)
    outputs.write(project, json.loads(whole), args.out, wanted)
    if args.jplag:
        outputs.write_jplag(project, graded, [one for _, one in submissions], args.out)
    return _tell(args, whole, old, console)


# ---- what was handed in ----


def _packages(project: Project, args: argparse.Namespace) -> list[Package]:
    files = {contract.file_of(project, lab) for lab in project.labs()}
    asked = project.some_labs(args.labs)
    loose = tuple(sorted({Path(contract.file_of(project, lab)).suffix for lab in asked}))
    intake = Intake(
        lambda path: any(contract.is_named(path, file) for file in files),
        compile_pattern(args.pattern),
        loose if len(asked) == 1 else (".c", ".cu"),
    )
    packages = intake.packages(args.paths, one=args.one)
    return _with_roster(packages, read_roster(args.students))


def _timed(submission: Submission, times: dict[tuple[str, str], float]) -> Submission:
    for key in ((submission.student, submission.lab.number), (submission.student, "")):
        if key in times:
            return replace(submission, submitted=times[key])
    return submission


def _with_roster(packages: list[Package], roster: dict[str, dict[str, str]]) -> list[Package]:
    """Names and ids of the class; whoever is in it has a package, if an empty one."""
    ids = {row.get("match") or student: student for student, row in roster.items()}
    for package in packages:
        package.student = ids.get(package.student, ids.get(package.name, package.student))
        package.name = roster.get(package.student, {}).get("name") or package.name
    there = {package.student for package in packages}
    absent = [student for student in roster if student not in there]
    return merged([*packages, *(Package(one, roster[one].get("name", "")) for one in absent)])


def _labs(project: Project, words: str, packages: list[Package]) -> list[Lab]:
    """Those asked for, else those that somebody handed in; each then counts for who did."""
    if asked := project.some_labs(words):
        return asked
    paths = [path for package in packages for path in package.files]
    found = [
        lab
        for lab in project.labs()
        if any(contract.is_named(path, contract.file_of(project, lab)) for path in paths)
    ]
    if not found:
        names = ", ".join(contract.file_of(project, lab) for lab in project.labs())
        raise LabError(
            f"{len(packages)} submissions, and no lab's file among them ({names}). Say which lab "
            "it is with --labs, and every student gets a row.",
            ExitStatus.NO_MATCH,
        )
    return found


# ---- grading ----


def _tier(args: argparse.Namespace) -> sandbox.Tier:
    """SandboxError where there is none, and nobody said to do without."""
    return sandbox.Tier.BARE if args.unsafe_no_sandbox else sandbox.tier()


def _batch(args: argparse.Namespace, project: Project, local: Batch) -> Batch:
    """The same on the cluster, where that was asked for."""
    if args.executor == "local":
        return local
    folder = (args.out / "slurm").resolve()
    return SlurmBatch(
        **vars(local), project=project, folder=folder, rubric=args.rubric, words=tuple(args.sbatch)
    )


def _settings(args: argparse.Namespace, tier: sandbox.Tier) -> Settings:
    seed = _seed(args.out / "class.json", args.seed)
    questions = _questions(args.questions)
    return Settings(seed, args.orders, tier.value, _policy(args), questions=questions)


def _policy(args: argparse.Namespace) -> late.LatePolicy:
    """Of the term's file; what is typed counts in its place."""
    term = late.read_term(args.course)

    def either(typed: float | None, name: str, otherwise: float) -> float:
        return typed if typed is not None else term.get(name, otherwise)

    return late.LatePolicy(
        late.when(args.deadline) if args.deadline else None,
        either(args.grace, "grace_minutes", 0.0),
        either(args.late, "late", 0.0),
        either(args.late_cap, "late_cap", 100.0),
        late.read_extensions(args.extensions),
        {} if args.deadline else term["deadlines"],
        term.get("slip_days", 0),
        term.get("slip_days_a_lab", 0),
    )


def _seed(path: Path, given: int | None) -> int:
    """One for the class: drawn once, then kept beside the results."""
    try:
        kept = int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (OSError, ValueError, KeyError, TypeError):
        kept = None
    seed = given if given is not None else kept
    if seed is None:
        seed = secrets.randbits(work.SEED_BITS)
    if seed != kept:
        write_whole(path, json.dumps({"seed": seed}) + "\n")
    return seed


def _questions(path: Path | None) -> dict[tuple[str, str], tuple[Decimal, str]]:
    if path is None:
        return {}
    found = {}
    for row in read_table(path, ("student", "lab", "points")):
        try:
            points = Decimal(row["points"])
            if not points.is_finite():
                raise InvalidOperation(points)
        except InvalidOperation as error:
            who = f"{row['student']}, lab {row['lab']}"
            message = f"{path}: {who}: {row['points']!r} is no number"
            raise LabError(message, ExitStatus.USAGE) from error
        number = "".join(c for c in row["lab"] if c.isdigit()).zfill(2)
        found[row["student"], number] = (points, row.get("comment", ""))
    return found


def _run(
    batch: Batch,
    tasks: list[Task],
    known: set[str],
    args: argparse.Namespace,
    console: screen.Console,
) -> dict[str, Run]:
    """`known`: everybody's ids, also of those who handed in nothing."""
    only = {unicodedata.normalize("NFC", student) for student in args.only}
    unknown = only - known
    if unknown:
        raise LabError(
            f"--only: nobody is called {', '.join(sorted(unknown))}", ExitStatus.NO_MATCH
        )
    chosen = [task for task in tasks if not only or task.submission.student in only]
    open_tasks = batch.to_do(chosen, lambda submission: args.regrade)
    console.print(f"{len(tasks)} submissions, {len(open_tasks)} to grade", highlight=False)
    if torn := batch.journal.damaged:
        said = f"{torn} lines of the journal are torn; what they said is graded again"
        console.print(said, highlight=False)
    others = slots.other_users()
    with screen.progress(console, len(open_tasks)) as tick:
        runs = batch.run(open_tasks, lambda task, run: tick(task.submission.key))
    for user in sorted(others | slots.other_users()):
        said = f"user {user} was grading on this machine, too: {BESIDE}"
        console.print(said, highlight=False, soft_wrap=True)
    return runs


def _row(task: Task, journal: Journal, settings: Settings, broken: dict[str, Run]) -> Json:
    """From the journal; a run that broke is shown only where there is no earlier result of the very
    same file, which it never replaces."""
    run = journal.runs.get(task.cache)
    at, note = journal.at.get(task.cache), ""
    failed = broken.get(task.cache)
    if run is None and task.submission.contents is not None:
        run = journal.before(task.submission.key, task.submission.digest)
        note = "graded before, by another course, seed or sandbox" if run else ""
    if failed is not None:
        note = f"the latest grading broke, so an earlier one stands: {failed.broken}" if run else ""
        run = run or failed
    return results.row(task.lab, task.submission, run, settings, at, note)


# ---- telling ----


def _tell(
    args: argparse.Namespace, whole: str, old: Json | None, console: screen.Console
) -> ExitStatus:
    found = json.loads(whole)
    write_whole(args.out / "results.json", whole)
    console.print(screen.table(found))
    for line in ["", *screen.summary(found), f"results: {args.out}"]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if old is not None:
        lines = changes(old, found) or ["no mark changed"]
        text = "\n".join(["", f"since {args.diff}:", *lines])
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    missing = any(row["mark"] is None for row in found["rows"])
    return ExitStatus.HARNESS_ERROR if missing else ExitStatus.OK
