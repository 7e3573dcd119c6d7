# SPDX-License-Identifier: MIT
"""`./lab grade PATHS... --out DIR`, from the words that were typed to the files in DIR."""

import argparse
import contextlib
import json
import os
import secrets
import time
import unicodedata
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader import sandbox
from grader.base.exits import ExitStatus, LabError
from grader.building.machine import cores
from grader.cluster.pool import Others, PoolBatch
from grader.cluster.slurm import MOST_ELEMENTS, Slurm
from grader.cluster.worklist import WorkList
from grader.commands import closing_lines
from grader.course.project import Lab, Project
from grader.export import formats, outputs
from grader.grade import (
    contract,
    course,
    groups,
    late,
    published,
    results,
    screen,
    term,
    work,
)
from grader.grade.batch import Batch, Task
from grader.grade.diff import read_results
from grader.grade.ingest import Intake, merged
from grader.grade.journal import Journal, opened, write_whole
from grader.grade.layouts import compile_pattern
from grader.grade.model import Package, Run, Submission
from grader.grade.proof import prove
from grader.grade.results import Settings
from grader.grade.scratch import scratch
from grader.leaderboard import pseudonyms
from grader.leaderboard.board import Board, Timing
from grader.sandbox import slots

Json = dict[str, Any]
BESIDE = "public and hidden tests ran beside that user's (docs/security.md, Two users' graders)"


@dataclass(frozen=True)
class Said:
    """What was typed and what stands in files, read and checked before anything is built."""

    exports: list[str]
    old: Json | None  # what these results are compared with
    before: Json | None  # what is published
    term: term.Term
    tables: term.Tables
    policy: late.LatePolicy
    grave_cap: float
    now: float


@dataclass(frozen=True)
class Graded:
    results: Json
    labs: list[course.GradedLab]
    submissions: list[Submission]  # one for each student and lab
    tasks: list[Task]  # of those that count
    board: Board | None


def grade(project: Project, args: argparse.Namespace) -> ExitStatus:
    os.environ["PEERLAB_BUILD"] = str(project.build_dir)  # the sandbox takes its programs there
    console = screen.console()
    said = _said(project, args)
    packages = _packages(project, args, said.tables.roster)
    labs = _labs(project, args.labs, packages)
    for line in said.tables.check((package.student for package in packages), said.policy):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if not args.no_build:
        names = ", ".join(lab.name for lab in labs)
        with screen.patience(console, f"building the course for {names}: minutes the first time"):
            course.build_trusted(project, labs)
    with opened(args.out) as journal:
        done = _graded(project, args, said, packages, labs, journal, console)
        if args.preview:
            return closing_lines.preview(args, said.old, done.results, console)
        return _publish(project, args, said, done, journal, console)


def _publish(
    project: Project,
    args: argparse.Namespace,
    said: Said,
    done: Graded,
    journal: Journal,
    console: screen.Console,
) -> ExitStatus:
    held = closing_lines.held(said.term, said.policy, done.tasks, said.now)
    named = _leaderboard(args.out, done)
    roster = said.tables.roster
    outputs.write(project, done.results, args.out, said.exports, held, named, roster)
    if args.jplag:
        outputs.write_jplag(project, done.labs, done.submissions, args.out)
    published.publish(journal.base, done.results)
    status = closing_lines.print_changes(args, done.results, said.old, console)
    if done.board is not None:
        closing_lines.print_board(done.board, args.out, console)
    closing_lines.print_requests(said.before, done.results, said.tables.requests, console)
    closing_lines.print_held(held, console)
    return status


def _said(project: Project, args: argparse.Namespace) -> Said:
    exports = formats(args.export)
    labs = [lab.number for lab in project.labs()]
    the_term = term.read(args.course, labs)
    tables = term.read_tables(_files(args, the_term), labs)
    policy = term.policy(the_term, _typed(args), tables.extensions)
    cap = term.grave_cap(the_term, _typed(args))
    before = _published(args.out)
    now = late.when(args.now) if args.now else time.time()
    return Said(exports, _compared(args, before), before, the_term, tables, policy, cap, now)


def _graded(
    project: Project,
    args: argparse.Namespace,
    said: Said,
    packages: list[Package],
    labs: list[Lab],
    journal: Journal,
    console: screen.Console,
) -> Graded:
    tier = _tier(args)
    with scratch() as here:
        sandbox.sweep()
        settings = _settings(args, tier, said)
        trusted = course.prepare(project, labs, here)
        graded = [
            course.graded_lab(trusted, lab, contract.file_of(project, lab), args.rubric)
            for lab in labs
        ]
        jobs = args.jobs or (cores() if args.executor == "local" else MOST_ELEMENTS)
        grades = work.worker(trusted, tier, settings.seed, jobs, here, args.orders)
        local = Batch(journal, grades, settings.seed, tier.value, jobs, args.orders)
        submissions = _submissions(packages, graded, said.tables)
        tasks = [
            local.task(lab, one)
            for lab, one in submissions
            if contract.counts(one, asked=_is_asked(args, said, labs, one))
        ]
        everybody = [one for _, one in submissions]
        known = {one.student for one in everybody}
        with _batch(args, project, local) as batch:
            with screen.progress(console, len(graded), "solutions tried:") as tick:
                prove(batch, trusted, graded, tick)
            broken = _run(batch, tasks, known, args, console, said.tables)
        _note_attempts(journal, tasks)
        mine = (task.submission for task in tasks)
        spent = said.policy.slips((one.student, one.lab, one.submitted) for one in mine)
        settings = replace(settings, slips=spent)
        head = results.header(trusted, graded, settings, everybody)
        tasks.sort(key=lambda task: (task.submission.student, task.submission.lab.name))
        rows = (_row(task, journal, settings, broken) for task in tasks)
        found = published.write(journal.base, head, rows)
        board = _board(Timing(local, trusted, said.tables.withdrawn.keys()), args, said, tasks)
    return Graded(found, graded, everybody, tasks, board)


def _board(timing: Timing, args: argparse.Namespace, said: Said, tasks: list[Task]) -> Board | None:
    if not (args.leaderboard or said.term.leaderboard):
        return None
    labs = {task.lab.lab.number: task.lab for task in tasks}
    return timing.board([labs[number] for number in sorted(labs)], tasks)


def _leaderboard(out: Path, done: Graded) -> dict[str, str]:
    """Writes it, where there is one; the students' names on it."""
    if done.board is None:
        return {}
    everybody = {one.student for one in done.submissions}
    everybody |= {mark.student for race in done.board.races for mark in race.marks + race.below}
    names = pseudonyms.pseudonyms(everybody, pseudonyms.key(out / "class.json"))
    outputs.write_leaderboard(done.board, names, out)
    return names


def _is_asked(args: argparse.Namespace, said: Said, labs: list[Lab], one: Submission) -> bool:
    """Whether the lab counts for this student also when nothing is handed in."""
    everybody = bool(args.labs) or len(labs) == 1
    return everybody and not said.tables.excused(said.policy, one.student, one.lab)


def _published(out: Path) -> Json | None:
    """None where nothing is, or nothing that can be read: it is written anew all the same."""
    try:
        return read_results(out)
    except LabError:
        return None


def _compared(args: argparse.Namespace, before: Json | None) -> Json | None:
    """The results that these are compared with: those typed, or for a preview the published."""
    if args.diff:
        return read_results(args.diff)
    if args.preview and before is None:
        raise LabError(
            f"--preview compares with what is published, and in {args.out} nothing is that can "
            "be read: grade once without --preview.",
            ExitStatus.USAGE,
        )
    return before


def _files(args: argparse.Namespace, the_term: term.Term) -> dict[str, Path]:
    """Of the tables, those typed count in place of those that the term's file names."""
    typed = {name: getattr(args, name) for name in term.FILES if getattr(args, name)}
    return {**the_term.files, **typed}


def _typed(args: argparse.Namespace) -> dict[str, float | None]:
    return {
        "deadline": late.when(args.deadline) if args.deadline else None,
        "grace_minutes": args.grace,
        "late": args.late,
        "late_cap": args.late_cap,
        "grave_cap": args.grave_cap,
    }


# ---- what was handed in ----


def _packages(
    project: Project, args: argparse.Namespace, roster: Mapping[str, Mapping[str, str]]
) -> list[Package]:
    files = {contract.file_of(project, lab) for lab in project.labs()}
    asked = project.some_labs(args.labs)
    loose = tuple(sorted({Path(contract.file_of(project, lab)).suffix for lab in asked}))
    intake = Intake(
        lambda path: (
            contract.is_hints(path) or any(contract.is_named(path, file) for file in files)
        ),
        compile_pattern(args.pattern),
        loose if len(asked) == 1 else (".c", ".cu"),
    )
    packages = intake.packages(args.paths, one=args.one)
    return _with_roster(packages, roster)


def _submissions(
    packages: list[Package], labs: list[course.GradedLab], tables: term.Tables
) -> list[tuple[course.GradedLab, Submission]]:
    """One for each student and lab: what counts as handed in, by whom and when."""
    of = {lab.lab.number: lab for lab in labs}
    found = []
    for lab in labs:
        for package in packages:
            own = contract.submission(package, lab.lab, lab.file, len(labs) == 1)
            found.append(groups.without_withdrawn(_timed(own, tables.times), tables.withdrawn))
    return [(of[one.lab.number], one) for one in groups.shared(found, tables.groups)]


def _timed(submission: Submission, times: dict[tuple[str, str], float]) -> Submission:
    if not contract.is_handed_in(submission):
        return submission
    for key in ((submission.student, submission.lab.number), (submission.student, "")):
        if key in times:
            return replace(submission, submitted=times[key])
    return submission


def _with_roster(packages: list[Package], roster: Mapping[str, Mapping[str, str]]) -> list[Package]:
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


def _batch(
    args: argparse.Namespace, project: Project, local: Batch
) -> AbstractContextManager[Batch]:
    """The same on other machines, where that was asked for."""
    if args.executor == "local":
        return nullcontext(local)
    folder = (args.out / "work").resolve()
    of_slurm = args.executor == "slurm"
    workers = Slurm(project, folder, tuple(args.sbatch)) if of_slurm else Others()
    more = {"project": project, "list": WorkList(folder), "rubric": args.rubric}
    return PoolBatch(**vars(local), **more, workers=workers).collecting()


def _settings(args: argparse.Namespace, tier: sandbox.Tier, said: Said) -> Settings:
    seed = _seed(args.out / "class.json", args.seed)
    more = {"questions": said.tables.questions, "requests": said.tables.requests}
    return Settings(seed, args.orders, tier.value, said.policy, grave_cap=said.grave_cap, **more)


def _seed(path: Path, given: int | None) -> int:
    """One for the class: drawn once, then kept beside the results."""
    there, kept = {}, None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        there = dict(json.loads(path.read_text(encoding="utf-8")))
        kept = int(there["seed"])
    seed = given if given is not None else kept
    if seed is None:
        seed = secrets.randbits(work.SEED_BITS)
    if seed != kept:
        write_whole(path, json.dumps({**there, "seed": seed}) + "\n")
    return seed


def _run(
    batch: Batch,
    tasks: list[Task],
    known: set[str],
    args: argparse.Namespace,
    console: screen.Console,
    tables: term.Tables,
) -> dict[str, Run]:
    """`known`: everybody's ids, also of those who handed in nothing."""
    only = {unicodedata.normalize("NFC", student) for student in args.only}
    unknown = only - known
    if unknown:
        raise LabError(
            f"--only: no student is called {', '.join(sorted(unknown))}", ExitStatus.NO_MATCH
        )
    chosen = [task for task in tasks if not only or task.submission.student in only]
    cache_of = {(task.submission.student, task.submission.lab): task.cache for task in tasks}

    def again(submission: Submission) -> bool:
        """All of them, or those that asked since they were graded last."""
        request = tables.requests.get((submission.student, submission.lab.number))
        at = batch.journal.at.get(cache_of[submission.student, submission.lab], 0.0)
        return args.regrade or (request is not None and at < request.asked)

    open_tasks = batch.to_do(chosen, again)
    console.print(f"{len(tasks)} submissions, {len(open_tasks)} to grade", highlight=False)
    if torn := batch.journal.damaged:
        said = f"{torn} results were damaged on the disk; they are graded again"
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
    tries = [
        results.attempt(task.lab, journal.runs[one.cache], one)
        for one in journal.attempts(task.submission.key)
        if one.cache in journal.runs
    ]
    return results.row(task.lab, task.submission, run, settings, at, note, tries)


def _note_attempts(journal: Journal, tasks: list[Task]) -> None:
    with journal.base.together():
        for task in tasks:
            one = task.submission
            if one.contents is not None and task.cache in journal.runs:
                journal.seen(one.key, one.digest, task.cache, one.submitted)
