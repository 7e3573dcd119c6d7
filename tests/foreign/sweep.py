#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sweep.py: builds and runs other people's CUDA programs, and judges what they do.

    sweep.py --from CHECKOUTS [--only PATTERN] [--jobs N] [--compile-only] [--record] [--nvcc NVCC]
    sweep.py --from CHECKOUTS --usual [--only PATTERN] [--record]
    sweep.py --from CHECKOUTS --nvcc NVCC --beside [--keep] [--only PATTERN] [--record]
    sweep.py --page

CHECKOUTS holds one folder for each file *.toml beside this one, under the name that it gives as
`folder`. A file names the repository, the commit, and for every program how it is built, its
arguments and what shows that it was right. Nothing is written into the checkouts. --record enters
the verdicts in table.json, and --page writes docs/foreign-programs.md's tables from that. With
--jobs N programs run at a time, each on two processors of its own. With --nvcc NVCC that compiler
takes the place of vgpu-cc, vgpu-run starts what it has made, and the table is nvcc.json, on
docs/ptx.md. --usual builds and runs in their own sizes those that are otherwise run with smaller
ones, and enters how that went beside their verdicts. --beside builds each program with both
compilers, and compares what the two print and which files they write (beside.py); --keep takes what
an earlier call has built in the folder of --work.

A program (`[programs]`; the defaults of its repository are under `[defaults]`):
    at          its folder in the checkout; {name} is the program's name
    sources     patterns of its source files, beside `at`; without: *.cu *.cpp *.c
    flags       for vgpu-cc; {root} is the checkout, {at} the program's folder, {here} this one's
    shared      sources that it has in common with others of its repository: compiled once
    smaller     regular expressions and what takes their place in its sources, for smaller sizes
    modules     files that it loads when it runs: name = source, compiled by vgpu-cc -fatbin (-ptx)
    headers     of CUDA's, which its own build copies beside it
    runs        its command lines; the verdict is the worst of all. Without: one, with no arguments
    usual       what the program computes by itself, where `smaller` or `runs` ask for less
    usual_runs  its command lines for that, without: one, with no arguments
    ranks       under mpirun, with so many processes
    node        VGPU_NODE
    right       a regular expression that its output must match; its exit status must be 0, too
    needs       what it asks for and the virtual node does not have: its output must name it
    mistake     one of its own, for which it may give another answer, on hardware, too
    alike       flags for nvcc with which its build must compute what vgpu-cc's does, where numbers
                differ without them; without: -fmad=false
    marks       words to choose it by, with --only
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import fnmatch
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from typing import IO, NamedTuple

import beside
from beside import first_error, short

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE, NVCC_TABLE = HERE / "table.json", HERE / "nvcc.json"
PAGES = {TABLE: ROOT / "docs" / "foreign-programs.md", NVCC_TABLE: ROOT / "docs" / "ptx.md"}
MACHINE = "2 processors, no GPU"
BEGIN, END = "<!-- sweep: begin -->\n", "<!-- sweep: end -->\n"
# From best to worst: of several runs the worst is the program's verdict.
VERDICTS = ("right", "needs", "own mistake", "slow", "does not compile", "crashed", "wrong")
EXTRA = (
    "usual",
    "beside",
)  # how it went in its own size; whether both compilers' builds say the same
FIELDS = frozenset(
    word
    for words in (
        ("at", "sources", "flags", "shared", "smaller", "modules", "headers"),
        ("usual", "usual_runs", "runs", "ranks", "node", "right", "needs", "mistake", "marks"),
        ("alike",),
    )
    for word in words
)
MPIRUN = "mpirun --oversubscribe --bind-to none --allow-run-as-root -n {}"
SHARED = threading.Lock()  # one program at a time compiles what its repository's others use, too
# What no check of a program would notice: kernels that were never launched.
NOT_LOADED = re.compile(r"device code that nvcc compiled cannot be loaded: (.*)")
NOT_MODELLED = re.compile(r"(\w+): not modelled by the virtual node")
ABORTED = {134: "SIGABRT", 136: "SIGFPE", 139: "SIGSEGV"}  # as mpirun and shells pass them on


class Outcome(NamedTuple):
    verdict: str
    seconds: float
    reason: str = ""


def manifests() -> dict[str, dict]:
    return {path.stem: tomllib.loads(path.read_text()) for path in sorted(HERE.glob("*.toml"))}


def run_apart(
    words: list[str],
    folder: pathlib.Path,
    seconds: float,
    stderr: IO[bytes] | None = None,
    **more: str,
) -> tuple[int | None, bytes]:
    """The exit status, or None when time was up, and stdout; stderr is there, too, unless it has a
    file of its own. Ends what it started, too."""
    node = {"VGPU_NODE_ID": f"foreign-{os.getpid()}-{threading.get_native_id()}"}
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            words,
            cwd=folder,
            env=os.environ | node | more,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=stderr or subprocess.STDOUT,
            start_new_session=True,
        )
        status: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = child.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        output.seek(0)
        return status, output.read(1 << 20)


def run(
    words: list[str], folder: pathlib.Path, seconds: float, **more: str
) -> tuple[int | None, str]:
    status, output = run_apart(words, folder, seconds, **more)
    return status, output.decode(errors="replace")


class Program:
    def __init__(self, repository: str, root: pathlib.Path, name: str, fields: dict) -> None:
        self.repository, self.root, self.name, self.fields = repository, root, name, fields
        self.at = root / fields.get("at", "{name}").format(name=name)

    def words(self, key: str) -> list[str]:
        places = {"root": self.root, "at": self.at, "here": HERE, "name": self.name}
        return [str(word).format(**places) for word in self.fields.get(key, [])]

    def chosen(self, pattern: str) -> bool:
        names = [f"{self.repository}/{self.name}", *self.fields.get("marks", [])]
        return any(fnmatch.fnmatchcase(name, pattern) for name in names)

    def sources(self, folder: pathlib.Path) -> list[str]:
        found: list[pathlib.Path] = []
        for pattern in self.words("sources") or ["*.cu", "*.cpp", "*.c"]:
            found += sorted(self.at.glob(pattern))
        return [str(self.smaller(path, folder)) for path in found]

    def smaller(self, path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
        """The source, or a copy of it with smaller sizes."""
        text = path.read_text(errors="replace")
        changed = text
        for pattern, replacement in self.fields.get("smaller", {}).items():
            changed = re.sub(pattern, replacement, changed)
        if changed == text:
            return path
        copy = folder / path.name
        copy.unlink(missing_ok=True)
        copy.write_text(changed)
        return copy

    def prepare(self, folder: pathlib.Path, toolkit: pathlib.Path) -> None:
        """The program's own files, for what it reads when it runs: copies, over which it may
        write, and in one of whose folders another program may be built."""
        folder.mkdir(parents=True, exist_ok=True)
        headers = [toolkit / "include" / name for name in self.fields.get("headers", [])]
        for path in [*self.at.iterdir(), *headers]:
            if path.is_dir() and path.name != ".git":
                shutil.copytree(path, folder / path.name, dirs_exist_ok=True)
            elif path.is_file() and not (folder / path.name).exists():
                shutil.copy(path, folder)

    def build(
        self, compiler: str, folder: pathlib.Path, seconds: float, *more: str
    ) -> tuple[int | None, str]:
        flags, commands = [*self.words("flags"), *more], []
        with SHARED:
            status, output, objects = self.build_shared(compiler, folder, seconds, flags)
        if status != 0:
            return status, output
        for module, source in self.fields.get("modules", {}).items():
            kind = "-ptx" if module.endswith(".ptx") else "-fatbin"
            commands.append([compiler, kind, *flags, "-o", module, str(self.at / source)])
        commands.append([compiler, "-o", "program", *self.sources(folder), *objects, *flags])
        for command in commands:
            status, output = run(command, folder, seconds)
            if status != 0:
                return status, output
        return 0, output

    def build_shared(
        self, compiler: str, folder: pathlib.Path, seconds: float, flags: list[str]
    ) -> tuple[int | None, str, list[str]]:
        shared, objects = folder.parent / "shared", []
        shared.mkdir(exist_ok=True)
        for source in self.words("shared"):
            made = shared / (pathlib.Path(source).stem + ".o")
            objects.append(str(made))
            if not made.exists():
                words = ["-c", *flags, "-o", str(made), str(self.root / source)]
                status, output = run([compiler, *words], folder, seconds)
                if status != 0:
                    return status, output, objects
        return 0, "", objects

    def commands(self, start: list[str]) -> list[list[str]]:
        ranks = self.fields.get("ranks")
        start = [*shlex.split(MPIRUN.format(ranks)), *start] if ranks else start
        return [[*start, "./program", *shlex.split(words)] for words in self.words("runs") or [""]]

    def runs(self, start: list[str], folder: pathlib.Path, seconds: float) -> list[Outcome]:
        node, done = self.fields.get("node", ""), []
        for command in self.commands(start):
            began = time.monotonic()
            status, output = run(command, folder, seconds, VGPU_NODE=node)
            with (folder / "run.txt").open("a") as log:
                log.write(output)
            verdict, reason = self.judge(status, output)
            done.append(Outcome(verdict, time.monotonic() - began, reason))
        return done

    def judge(self, status: int | None, output: str) -> tuple[str, str]:
        if refused := NOT_LOADED.search(output):
            return "needs", short(refused[1])
        if status == 0 and re.search(self.fields.get("right", ""), output, re.MULTILINE):
            return "right", ""
        if self.names_need(output):
            return "needs", self.fields["needs"]
        if missing := NOT_MODELLED.search(output):
            return "needs", missing[1]
        if status is None:
            return "slow", "not done when time was up"
        if status < 0 or status in ABORTED:
            return "crashed", ABORTED.get(status) or signal.Signals(-status).name
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        if "mistake" in self.fields:
            return "own mistake", self.fields["mistake"]
        told = [line for line in lines if re.search(r"rror|FAIL|ail", line)] or lines
        return "wrong", f"status {status}: {short(told[0]) if told else 'no output'}"

    def names_need(self, output: str) -> bool:
        needs = self.fields.get("needs")
        return needs is not None and needs.lower() in output.lower()

    def sweep(self, options: argparse.Namespace) -> Outcome:
        folder = options.work / self.repository / self.name
        self.prepare(folder, options.build / "toolkit")
        (folder / "run.txt").unlink(missing_ok=True)
        began = time.monotonic()
        compiler = options.nvcc or str(options.build / "bin/vgpu-cc")
        status, output = self.build(compiler, folder, options.seconds)
        (folder / "build.txt").write_text(output)
        seconds = time.monotonic() - began
        if status is None:
            return Outcome("slow", seconds, "not compiled when time was up")
        if status != 0 and self.names_need(output):
            return Outcome("needs", seconds, self.fields["needs"])
        if status != 0:
            return Outcome("does not compile", seconds, first_error(output))
        if options.compile_only:
            return Outcome("compiles", seconds)
        start = [str(options.build / "bin/vgpu-run")] if options.nvcc else []
        done = self.runs(start, folder, options.seconds)
        return max(done, key=lambda one: VERDICTS.index(one.verdict))


def merged(defaults: dict, fields: dict) -> dict:
    both = defaults | fields
    if "flags" in defaults and "flags" in fields:
        both["flags"] = defaults["flags"] + fields["flags"]
    return both


def in_its_own_size(fields: dict) -> dict:
    same = {name: value for name, value in fields.items() if name not in ("smaller", "runs")}
    return same | {"runs": fields.get("usual_runs", [""])}


def choose(options: argparse.Namespace) -> list[Program]:
    programs = []
    for repository, manifest in manifests().items():
        root = options.checkouts / manifest["folder"]
        if not root.exists():
            print(f"{root} is not there: git clone {manifest['repository']}", file=sys.stderr)
            continue
        for name, fields in manifest["programs"].items():
            whole = merged(manifest.get("defaults", {}), fields)
            if options.usual and "usual" not in whole:
                continue
            whole = in_its_own_size(whole) if options.usual else whole
            programs.append(Program(repository, root, name, whole))
    patterns = options.only or ["*"]
    return [program for program in programs if any(map(program.chosen, patterns))]


def compared(program: Program, options: argparse.Namespace) -> Outcome:
    began = time.monotonic()
    result, reason = beside.Pair(program, options, run_apart).result()
    return Outcome(result, time.monotonic() - began, short(reason))


def judged(program: Program, options: argparse.Namespace) -> tuple[str, dict]:
    outcome = compared(program, options) if options.beside else program.sweep(options)
    whole = f"{program.repository}/{program.name}"
    print(f"{outcome.verdict:16} {outcome.seconds:5.1f} s  {whole}  {outcome.reason}")
    sys.stdout.flush()
    return whole, {
        "verdict": outcome.verdict,
        "seconds": round(outcome.seconds, 1),
        "date": str(datetime.datetime.now(datetime.UTC).date()),
        "reason": outcome.reason,
    }


def sweep(options: argparse.Namespace) -> dict[str, dict]:
    """By several threads, each of which keeps to its own processors: so do its programs."""
    free: queue.SimpleQueue[set[int]] = queue.SimpleQueue()
    here = sorted(os.sched_getaffinity(0))
    for job in range(options.jobs):
        free.put(set(here[2 * job : 2 * job + 2]) or set(here))
    with concurrent.futures.ThreadPoolExecutor(
        options.jobs, initializer=lambda: os.sched_setaffinity(0, free.get())
    ) as pool:
        return dict(pool.map(lambda program: judged(program, options), choose(options)))


# ---- the table ----


def read_table(path: pathlib.Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {"machine": MACHINE, "rows": {}}


def record(path: pathlib.Path, rows: dict[str, dict], what: str | None = None) -> None:
    """Enters verdicts, or what else (EXTRA) is kept beside them."""
    table = read_table(path)
    for name, row in rows.items():
        old = table["rows"].get(name, {})
        kept = {key: old[key] for key in EXTRA if key in old}
        table["rows"][name] = old | {what: row} if what else row | kept
    table["rows"] = dict(sorted(table["rows"].items()))
    lines = ",\n".join(f'  "{name}": {json.dumps(row)}' for name, row in table["rows"].items())
    machine = json.dumps(table["machine"])
    path.write_text(f'{{\n "machine": {machine},\n "rows": {{\n{lines}\n }}\n}}\n')


def tables(path: pathlib.Path = TABLE) -> str:
    """Counts by repository, and a row for each program that is not right."""
    rows = read_table(path)["rows"]
    head = " | ".join(VERDICTS)
    numbers = "--:|" * (1 + len(VERDICTS))
    lines = [f"| repository | programs | {head} | recorded |", f"|---|{numbers}---|"]
    wrong = []
    for repository, manifest in manifests().items():
        mine = {name: rows.get(f"{repository}/{name}") for name in manifest["programs"]}
        known = [row for row in mine.values() if row]
        counts = [sum(row["verdict"] == verdict for row in known) for verdict in VERDICTS]
        dates = sorted({row["date"] for row in known})
        cells = " | ".join(str(count) if count else "" for count in counts)
        address = f"[`{repository}`]({manifest['repository']})"
        when = " to ".join(dates[:: max(1, len(dates) - 1)]) if dates else "not yet"
        lines.append(f"| {address} | {len(mine)} | {cells} | {when} |")
        wrong += [
            f"| `{repository}/{name}` | {row['verdict']} | {escaped(row['reason'])} |"
            for name, row in mine.items()
            if row and row["verdict"] != "right"
        ]
    return "\n".join([*lines, "", "| not right | how | why |", "|---|---|---|", *wrong]) + "\n"


def how_at_its_own_size(rows: list[dict]) -> str:
    """right in 12 s; or of several programs: right 2, slow 3, not tried 10"""
    if len(rows) == 1 and "usual" in rows[0]:
        usual = rows[0]["usual"]
        return f"{usual['verdict']}, {usual['seconds']:.0f} s"
    found = [row.get("usual", {}).get("verdict", "not tried") for row in rows]
    return ", ".join(f"{word} {found.count(word)}" for word in sorted(set(found)))


def own_sizes() -> str:
    """A row for each program, or repository, that is run with smaller sizes than its own."""
    rows = read_table(TABLE)["rows"]
    lines = [
        "| run with smaller sizes | what it computes with its own sizes | result with these |",
        "|---|---|---|",
    ]
    for repository, manifest in manifests().items():
        whole = manifest.get("defaults", {}).get("usual")
        names = [name for name in manifest["programs"] if f"{repository}/{name}" in rows]
        groups = [("*", whole, names)] if whole else []
        groups += [
            (name, manifest["programs"][name]["usual"], [name])
            for name in names
            if "usual" in manifest["programs"][name]
        ]
        for name, text, members in groups:
            how = how_at_its_own_size([rows[f"{repository}/{one}"] for one in members])
            lines.append(f"| `{repository}/{name}` | {text} | {how} |")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    return f"`{text.replace('`', chr(39)).replace('|', '/')}`" if text else ""


def page_with_tables(page: str, path: pathlib.Path = TABLE) -> str:
    before, rest = page.split(BEGIN)
    more = own_sizes() if path == TABLE else beside.page(read_table(path)["rows"])
    return f"{before}{BEGIN}{tables(path)}\n{more}{END}{rest.split(END)[1]}"


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--from", dest="checkouts", type=pathlib.Path, help="where they lie")
    parser.add_argument("--only", action="append", help="REPOSITORY/PROGRAM or a mark; wildcards")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--usual", action="store_true", help="programs in their own sizes")
    parser.add_argument("--record", action="store_true", help="enter the verdicts in table.json")
    parser.add_argument("--seconds", type=float, default=100, help="for each build and each run")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "vgpu")
    parser.add_argument("--work", type=pathlib.Path, help="where to build; else a temporary folder")
    parser.add_argument("--nvcc", help="NVIDIA's compiler, in place of vgpu-cc")
    parser.add_argument("--beside", action="store_true", help="compare what both compilers' do")
    parser.add_argument("--keep", action="store_true", help="with --beside: build what is missing")
    parser.add_argument("--page", action="store_true", help="write the page's tables")
    options = parser.parse_args()
    if options.page:
        for path, page in PAGES.items():
            page.write_text(page_with_tables(page.read_text(), path))
        return 0
    if not options.checkouts:
        parser.error("--from CHECKOUTS is missing")
    if options.beside and not options.nvcc:
        parser.error("--beside needs --nvcc NVCC")
    with tempfile.TemporaryDirectory() as temporary:
        options.work = (options.work or pathlib.Path(temporary)).resolve()
        options.build, options.checkouts = options.build.resolve(), options.checkouts.resolve()
        rows = sweep(options)
    if options.record and not options.compile_only:
        what = [key for key in EXTRA if getattr(options, key)]
        record(NVCC_TABLE if options.nvcc else TABLE, rows, *what)
    return 0


if __name__ == "__main__":
    sys.exit(main())
