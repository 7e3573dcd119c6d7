# SPDX-License-Identifier: MIT
"""beside.py: do two builds of a program print and write the same?

All must be the same, to the last digit, except for what depends on time. What does is not guessed:
each build runs again, on a node whose rates and latencies are others, each by a factor of its own,
and what this changes at a place of a line depends on time, if it changes the line of nvcc's build,
too. (So do process numbers and names of temporary files.) There, another number is no difference. A
wrong number is told unless it stands where time changes the number.
"""

import argparse
import itertools
import json
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sweep import Program

NODES = pathlib.Path(__file__).resolve().parents[2] / "vgpu" / "nodes"
SAME, TIMES, ORDER, FLAGS, DIFFERS, NOT = (
    "the same",
    "but for times",
    "in another order",
    "with other flags",
    "differs",
    "not compared",
)
RESULTS = (SAME, TIMES, ORDER, FLAGS, DIFFERS, NOT)
NUMBER = r"0x[0-9a-fA-F]+|(?<![\w.])[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?|\d+"
WORD = r"(?!\d+[eE][-+]?\d|0x)\d*[^\W\d]\w*"
TOKEN = re.compile(rf"{WORD}|{NUMBER}|\S")
RATE = re.compile(r"(_us|_ns|_cycles|gbs)$")
ROW = 4
LANES = ("slots", "integers", "doubles", "special")


class Output(NamedTuple):
    """What one run left: what it printed, and the files that it wrote."""

    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]

    def parts(self) -> dict[str, bytes]:
        return {"stdout": self.stdout, "stderr": self.stderr} | self.files


class Unlike(NamedTuple):
    """One place that differs: a line of both builds, or what is there instead."""

    where: str
    nvcc: str
    ours: str
    numbers: bool = False  # they have the same form or length

    def __str__(self) -> str:
        nvcc, ours = (" ".join(text.split())[:90] for text in (self.nvcc, self.ours))
        return f"{self.where}: {nvcc} (nvcc), {ours} (vgpu-cc)"


def kind(token: str) -> str:
    if re.fullmatch(WORD, token):
        return "a word"
    return "a number" if re.fullmatch(NUMBER, token) else token


def form(line: str) -> tuple[str, ...]:
    return tuple(map(kind, TOKEN.findall(line)))


def changed(before: str, after: str) -> set[int]:
    """The places at which a line has other numbers or words; none, if it has another form."""
    if form(before) != form(after):
        return set()
    pairs = zip(TOKEN.findall(before), TOKEN.findall(after), strict=True)
    return {i for i, (one, other) in enumerate(pairs) if one != other}


def table(line: str) -> tuple[str, ...]:
    """What lines have in common whose places have the same meaning: all but the numbers. Rows of a
    table, with four numbers or more, may have other words, too."""
    kinds = form(line)
    if kinds.count("a number") >= ROW:
        return kinds
    words = zip(kinds, TOKEN.findall(line), strict=True)
    return tuple(what if what == "a number" else word for what, word in words)


Places = dict[tuple[str, ...], set[int]]


def depends_on_time(runs: list[list[str]]) -> Places:
    """The places of lines that change from run to run of one build. A line has moved if both
    runs have both lines, which says nothing of its numbers."""
    first, places = runs[0], {}
    for again in runs[1:]:
        if len(again) == len(first):
            for before, after in zip(first, again, strict=True):
                if after not in first or before not in again:
                    places.setdefault(table(before), set()).update(changed(before, after))
    return places


def lines_unlike(
    where: str, nvcc: list[str], ours: list[str], timed: list[Places]
) -> Iterator[Unlike]:
    """`timed`: what depends on time in nvcc's build, and in ours."""
    ends = "no more lines"
    for one, other in itertools.zip_longest(nvcc, ours, fillvalue=ends):
        if one.split() == other.split():
            continue
        places = changed(one, other)
        by_nvcc, by_ours = timed[0].get(table(one), set()), timed[1].get(table(other), set())
        allowed = by_nvcc | by_ours if by_nvcc else set()
        if not places or places - allowed or ends in (one, other):
            yield Unlike(where, one, other, bool(places))


def lines(text: bytes, in_order: bool) -> list[str]:
    found = text.decode("utf-8", "backslashreplace").splitlines()
    return found if in_order else sorted(found, key=lambda line: (form(line), line))


def unlike(nvcc: list[Output], ours: list[Output], in_order: bool = True) -> list[Unlike]:
    """What differs between the first runs of two builds; their other runs show what depends on
    time. Without `in_order` lines may stand in another order."""
    found = []
    for where in sorted(nvcc[0].parts().keys() | ours[0].parts().keys()):
        one, other = (runs[0].parts().get(where) for runs in (nvcc, ours))
        if one == other:
            continue
        if one is None or other is None:
            there = ("not written" if content is None else "written" for content in (one, other))
            found.append(Unlike(where, *there))
        elif b"\0" in one + other:
            count = sum(a != b for a, b in zip(one, other, strict=False))
            texts = f"{len(one)} bytes", f"{len(other)} bytes, {count} others"
            found.append(Unlike(where, *texts, len(one) == len(other)))
        else:
            texts = [
                [lines(run.parts().get(where, b""), in_order) for run in runs]
                for runs in (nvcc, ours)
            ]
            timed = [depends_on_time(runs) for runs in texts]
            found += lines_unlike(where, texts[0][0], texts[1][0], timed)
    return found


Json = dict | list | str | float | bool


def on_another_node(description: Json, factors: Iterator[float], name: str = "") -> Json:
    """A node's description with other rates and latencies; its GPUs' properties stay."""
    if isinstance(description, dict):
        return {key: on_another_node(x, factors, key) for key, x in description.items()}
    if isinstance(description, list):
        return [on_another_node(x, factors, name) for x in description]
    if isinstance(description, int | float) and RATE.search(name):
        return description * next(factors)
    if isinstance(description, int) and name in LANES:
        return max(1, description // 3)
    return description


def other_node(name: str, folder: pathlib.Path) -> pathlib.Path:
    description = json.loads((NODES / f"{name}.json").read_text())
    names = {gpu["part"] for gpu in description["gpus"]}
    parts = {part: json.loads((NODES / "parts" / f"{part}.json").read_text()) for part in names}
    factors = (2 + i * 0.618 % 2 for i in itertools.count())
    path = folder / f"{name}.json"
    path.write_text(json.dumps(on_another_node({"parts": parts} | description, factors)))
    return path


def short(line: str) -> str:
    """Without the folders of this machine."""
    return re.sub(r"(?<![\w.}])/[\w./+-]*/", "", line)[:200]


def first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for pattern in (r"error:|undefined reference|multiple definition", r"rror|not found|vgpu-cc"):
        for line in lines:
            if re.search(pattern, line):
                return short(line)
    return short(lines[-1]) if lines else "no output"


class NotCompared(Exception):
    """Its message says why."""


class Pair:
    """A program, built by nvcc and by vgpu-cc. `run_apart` is sweep.py's."""

    def __init__(
        self, program: "Program", options: argparse.Namespace, run_apart: Callable
    ) -> None:
        self.program, self.options, self.run_apart = program, options, run_apart
        tools = options.build / "bin"
        self.compilers = {"nvcc": options.nvcc, "vgpu-cc": str(tools / "vgpu-cc")}
        self.starts = {"nvcc": [str(tools / "vgpu-run")], "vgpu-cc": []}

    def folder(self, name: str, *flags: str) -> pathlib.Path:
        name += "-alike" if flags else ""
        return self.options.work / name / self.program.repository / self.program.name

    def build(self, name: str, *flags: str) -> None:
        folder = self.folder(name, *flags)
        self.program.prepare(folder, self.options.build / "toolkit")
        if self.options.keep and (folder / "program").exists():
            return
        compiler, seconds = self.compilers[name], self.options.seconds
        status, output = self.program.build(compiler, folder, seconds, *flags)
        if status is None:
            raise NotCompared(f"{' '.join([name, *flags])} was too slow")
        if status != 0:
            raise NotCompared(f"{' '.join([name, *flags])}: {first_error(output)}")

    def output(self, name: str, node: str, *flags: str) -> Output:
        """Of all command lines, each run in a copy of the folder in which it was built."""
        whole = Output(b"", b"", {})
        for i, command in enumerate(self.program.commands(self.starts[name])):
            with tempfile.TemporaryDirectory(prefix="beside-") as place:
                folder = pathlib.Path(place) / "run"
                ignore = shutil.ignore_patterns(".git")
                shutil.copytree(self.folder(name, *flags), folder, ignore=ignore)
                one = self.output_of(command, folder, node)
            named = {f"{path} of run {i + 1}": text for path, text in one.files.items()}
            whole = Output(
                whole.stdout + one.stdout, whole.stderr + one.stderr, whole.files | named
            )
        return whole

    def output_of(self, command: list[str], folder: pathlib.Path, node: str) -> Output:
        before = {path: path.stat().st_mtime_ns for path in files(folder)}
        with tempfile.TemporaryFile() as stderr:
            seconds = self.options.seconds
            status, stdout = self.run_apart(command, folder, seconds, stderr, VGPU_NODE=node)
            stderr.seek(0)
            told = stderr.read(1 << 20)
        verdict, reason = self.program.judge(status, (stdout + told).decode(errors="replace"))
        if verdict != "right":
            raise NotCompared(f"{verdict}: {reason}")
        written = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in files(folder)
            if path.stat().st_mtime_ns != before.get(path)
        }
        place = str(folder).encode()
        return Output(stdout.replace(place, b"."), told.replace(place, b"."), written)

    def result(self) -> tuple[str, str]:
        try:
            return self.compare()
        except NotCompared as why:
            return NOT, str(why)

    def compare(self) -> tuple[str, str]:
        node = self.program.fields["node"]
        for name in self.compilers:
            self.build(name)
        nvcc, ours = ([self.output(name, node)] for name in self.compilers)
        if not unlike(nvcc, ours):
            return SAME, ""
        other = str(other_node(node, self.options.work))
        for _ in range(2):  # in one run, a time may be the same by chance
            nvcc.append(self.output("nvcc", other))
            ours.append(self.output("vgpu-cc", other))
            found = unlike(nvcc, ours)
            if not found:
                return TIMES, ""
        if not unlike(nvcc, ours, in_order=False):
            return ORDER, ""
        text = f"{len(found)}: {found[0]}"
        flags = self.program.words("alike")
        if flags or all(line.numbers for line in found):
            said = " ".join(self.program.fields.get("alike", ["-fmad=false"]))
            flags = flags or ["-fmad=false"]
            self.build("nvcc", *flags)
            alike = [self.output("nvcc", where, *flags) for where in (node, other)]
            if not unlike(alike, ours):
                return FLAGS, f"{said}: {text}"
        return DIFFERS, text


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


# ---- the page ----

SENTENCES = """\
Of the {rows} programs that are right, {compared} were compared. What both builds print and write
is the same for {same}, and the same but for times for {times}; {order} print the same lines in
another order, and {flags} compute the same with other flags for nvcc. {differs} in another way.
"""


def page(rows: dict[str, dict]) -> str:
    """Counts, and a row for each program that needs a word."""
    right = {name: row for name, row in rows.items() if row["verdict"] == "right"}
    known = {name: row["beside"] for name, row in right.items() if "beside" in row}
    count = dict.fromkeys(RESULTS, 0)
    for one in known.values():
        count[one["verdict"]] += 1
    text = SENTENCES.format(
        rows=len(right),
        compared=len(known) - count[NOT],
        same=count[SAME],
        times=count[TIMES],
        order=count[ORDER],
        flags=count[FLAGS],
        differs=f"{count[DIFFERS]} differ" if count[DIFFERS] else "None differs",
    )
    lines = ["", "| program | compared | what differs first, or why not |", "|---|---|---|"]
    for name, one in known.items():
        if one["verdict"] not in (SAME, TIMES):
            reason = one["reason"].replace("`", "'").replace("|", "/")
            lines.append(f"| `{name}` | {one['verdict']} | {reason and f'`{reason}`'} |")
    untried = [f"`{name}`" for name in right if name not in known]
    if untried:
        lines.append(f"| {', '.join(untried)} | {NOT} | not tried yet |")
    return text + "\n".join(lines) + "\n"
