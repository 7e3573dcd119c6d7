# SPDX-License-Identifier: MIT
"""A work list in a folder that several machines see: who takes a unit of it has it alone.

    open/KEY.N           a unit that waits; N: how often its work was begun before
    held/KEY.N.WORKER    a worker has it, and touches it while it works
    done/KEY             its record, whole; the first one counts
    collector            is there while somebody collects: workers may wait for more

It rests on three promises of the file system, which local ones, NFS (versions 3 and 4), Lustre and
CephFS keep: of several who rename() one file, one succeeds; link() fails where the name is taken;
what was written before close() is read by whoever opens the file afterwards. It needs no locks
between machines, no memory that they share, and no clocks that agree. A listing may be old (NFS
keeps one for up to a minute): then something happens later, and nothing else. An answer of an NFS
server may be lost, so that rename() fails though it was done: then the new name tells, which nobody
else uses.
"""

import contextlib
import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BEAT_SECONDS = 15.0
# Of a unit that nobody touches. NFS tells of a touch after a minute at most.
LEASE_SECONDS = 150.0
STATES = ("open", "held", "done")


@dataclass(frozen=True)
class Unit:
    """A file of the list: KEY.N or KEY.N.WORKER."""

    key: str
    begun: int
    worker: str = ""

    @staticmethod
    def of(name: str) -> "Unit":
        key, begun, *worker = name.split(".")
        return Unit(key, int(begun), *worker)

    @property
    def name(self) -> str:
        return ".".join(filter(None, (self.key, str(self.begun), self.worker)))


class WorkList:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._listed: list[Unit] = []  # what waits: the last is taken first

    def make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # units have the class's seed
        for name in STATES:
            (self.folder / name).mkdir(exist_ok=True)

    @property
    def collector(self) -> Path:
        return self.folder / "collector"

    def units(self, state: str) -> list[Unit]:
        """Those that are "open" or "held"."""
        return [Unit.of(name) for name in self._names(state)]

    def _names(self, state: str) -> list[str]:
        try:
            with os.scandir(self.folder / state) as entries:
                return [entry.name for entry in entries if entry.name[0] != "."]
        except FileNotFoundError:  # nobody has made the list yet
            return []

    def _held(self, unit: Unit) -> Path:
        return self.folder / "held" / unit.name

    # ---- the collector's ----

    def put(self, unit: Unit, text: str) -> None:
        fresh = self.folder / "open" / f".{unit.name}"
        fresh.write_text(text, encoding="utf-8")
        fresh.rename(self.folder / "open" / unit.name)

    def withdraw(self, unit: Unit) -> None:
        """Of those that are open, if nobody has taken it meanwhile."""
        (self.folder / "open" / unit.name).unlink(missing_ok=True)

    def take_back(self, unit: Unit) -> None:
        """Of those that are held: others may take it."""
        with contextlib.suppress(FileNotFoundError):  # it was finished meanwhile
            again = Unit(unit.key, unit.begun + 1)
            self._held(unit).rename(self.folder / "open" / again.name)

    def drop(self, unit: Unit) -> None:
        """Of those that are held, if its record is there."""
        self._held(unit).unlink(missing_ok=True)

    def clear(self) -> None:
        """When all is collected: what was begun and not written by who was killed, and second
        records, of workers that were taken for dead."""
        for state in STATES:
            for path in (self.folder / state).iterdir():
                path.unlink(missing_ok=True)

    def touched(self, unit: Unit) -> int:
        """Differs whenever the worker has touched it; -1: it is no longer held."""
        try:  # opened, not only asked for: so NFS asks its server
            file = os.open(self._held(unit), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return -1
        try:
            return os.fstat(file).st_mtime_ns
        finally:
            os.close(file)

    def records(self) -> list[str]:
        return self._names("done")

    def record(self, key: str) -> Path:
        return self.folder / "done" / key

    # ---- a worker's ----

    def take(self, worker: str) -> Unit | None:
        """One of those whose work was begun least often. None: none waits now."""
        while True:
            if not self._listed:
                self._listed = self.units("open")
                self._listed.sort(key=lambda unit: (-unit.begun, random.random()))
            if not self._listed:
                return None
            unit = self._listed.pop()
            mine = Unit(unit.key, unit.begun, worker)
            try:
                (self.folder / "open" / unit.name).rename(self._held(mine))
            except FileNotFoundError:
                if not self._held(mine).exists():
                    self._listed = []  # another has it: the listing is old
                    continue
            return mine

    def text(self, unit: Unit) -> str:
        return self._held(unit).read_text(encoding="utf-8")

    @contextlib.contextmanager
    def holding(self, unit: Unit) -> Iterator[None]:
        """Touches it until the context ends."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(BEAT_SECONDS):
                with contextlib.suppress(OSError):  # taken back, or the server is away
                    os.utime(self._held(unit))

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def give_back(self, unit: Unit) -> None:
        """Unfinished, as it was taken."""
        if self.record(unit.key).exists():
            self.drop(unit)
            return
        with contextlib.suppress(FileNotFoundError):  # it was taken back
            self._held(unit).rename(self.folder / "open" / Unit(unit.key, unit.begun).name)

    def finish(self, unit: Unit, text: str) -> None:
        """Whoever was there first has written the record: this one is left out then."""
        fresh = self.folder / "done" / f".{unit.name}"
        with fresh.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError, FileNotFoundError):  # or all was cleared
            os.link(fresh, self.record(unit.key))
        fresh.unlink(missing_ok=True)
        self.drop(unit)
