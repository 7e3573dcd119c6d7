# SPDX-License-Identifier: MIT
"""`./lab watch 03`: runs the tests whenever a file of the lab is saved, and shows the changes: the
lines of the file since the last run, and the tests whose results differ. The first test that failed
is built, run and shown before the others. A test that passed is not repeated while its program is
the same (learning/kept.py): an edit in one task runs the tests of that task, of the whole lab, and
of tasks that build on others. `./lab test` runs all.

It polls the files' times a hundred times a second, which costs next to nothing and works on every
file system (inotify reports no changes by other computers). A save is complete when nothing has
changed between two polls. Ctrl-C ends it.
"""

import difflib
import time
from collections.abc import Callable
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.looks import looks
from grader.base.terminal import fold
from grader.building.records import Verdict, words
from grader.course import diagnoses
from grader.course.project import Lab, Project
from grader.learning import standing, testing
from grader.learning.kept import Kept
from grader.learning.report import BAD, in_full, line

LOOK_SECONDS = 0.01
MOST_LINES = 40  # of a diff
_COLORS = {"+": "32", "-": "31"}
Stamps = dict[Path, tuple[int, int]]


def command(project: Project, what: str, sleep: Callable[[float], None] = time.sleep) -> ExitStatus:
    """Runs until it is interrupted, which is its normal end."""
    labs, _ = testing.chosen(project, what)
    files, kept = Files(project, labs), Kept(project)
    tested = files.stamps()
    print(say("watch.begin", folders=", ".join(f"labs/{lab.folder}" for lab in labs)))
    try:
        run(project, what, kept)
        while True:
            tested = wait(files, tested, sleep)
            print(f"\n{files.changed()}")
            run(project, what, kept)
    except KeyboardInterrupt:
        print(f"\n{say('watch.end')}")
        return ExitStatus.OK


class Files:
    """The files of some labs that a learner may edit, with their state at the last poll."""

    def __init__(self, project: Project, labs: list[Lab]) -> None:
        self.project = project
        self.labs = labs
        self._known: dict[Path, tuple[int, list[Path]]] = {}
        self.texts = self._read()

    def stamps(self) -> Stamps:
        """Time and size of each; without files that are missing at this moment."""
        found: Stamps = {}
        for path in self._paths():
            try:
                status = path.stat()
                found[path] = (status.st_mtime_ns, status.st_size)
            except OSError:
                continue
        return found

    def changed(self) -> str:
        """The changes since the last call, as a diff; stores the current contents."""
        before, self.texts = self.texts, self._read()
        lines: list[str] = []
        for path in sorted({*before, *self.texts}):
            name = str(path.relative_to(self.project.root))
            lines += _diff(name, before.get(path, ""), self.texts.get(path, ""))
        if not lines:
            return say("watch.same")
        more = [say("watch.more", count=len(lines) - MOST_LINES)] if len(lines) > MOST_LINES else []
        return "\n".join([*lines[:MOST_LINES], *more])

    def _paths(self) -> list[Path]:
        folders = [self.project.labs_dir / lab.folder for lab in self.labs]
        return [path for folder in folders for path in self._sources(folder)]

    def _sources(self, folder: Path) -> list[Path]:
        """Those of a folder, which is read again when a file has come or gone."""
        try:
            now = folder.stat().st_mtime_ns
        except OSError:
            return []
        when, found = self._known.get(folder, (0, []))
        if when != now:
            found = [path for path in folder.glob("*.*") if path.suffix in (".c", ".cu", ".h")]
            self._known[folder] = (now, found)
        return found

    def _read(self) -> dict[Path, str]:
        texts: dict[Path, str] = {}
        for path in self._paths():
            try:
                texts[path] = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
        return texts


def wait(files: Files, tested: Stamps, sleep: Callable[[float], None]) -> Stamps:
    """Waits until a save is complete; one that came while the tests ran, too. `tested` was there
    when they began. Returns what is there now."""
    while (now := files.stamps()) == tested:
        sleep(LOOK_SECONDS)
    while True:
        sleep(LOOK_SECONDS)
        later = files.stamps()
        if later == now:
            return now
        now = later


def run(project: Project, what: str, kept: Kept) -> None:
    """Runs the tests once and shows what changed. Errors that end `./lab test` do not end this."""
    before = _verdicts(project)
    try:
        testing.command(project, what, told=_first(project, what, kept), kept=kept)
    except LabError as error:
        if error.status is not ExitStatus.BUILD_FAILED:
            raise
        print(error)
        return
    for test, verdict in sorted(_verdicts(project).items()):
        old = before.get(test)
        if old and old is not verdict:
            print(say("watch.now", test=test, now=words(verdict), before=words(old)))


def _first(project: Project, what: str, kept: Kept) -> str:
    """Shows how the first test ends that failed; returns its name if it fails again."""
    outcome = testing.failing_first(project, what, kept)
    if not outcome:
        return ""
    text = line(outcome.record)
    if failed := outcome.verdict in BAD:
        text = "\n".join([text, in_full(outcome, diagnoses.pages(project)), ""])
    print(fold(text).replace(f"{project.root}/", ""), flush=True)
    return outcome.record.test if failed else ""


def _verdicts(project: Project) -> dict[str, Verdict]:
    return {name: record.verdict for name, record in standing.load(project).tests.items()}


def _diff(name: str, old: str, new: str) -> list[str]:
    found = difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, n=1, lineterm="")
    lines = list(found)[2:]  # the names are printed above already
    painted = [looks().paint(line, _COLORS.get(line[:1], "")) for line in lines]
    return [looks().paint(name, "1"), *painted] if lines else []
