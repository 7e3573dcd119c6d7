# SPDX-License-Identifier: MIT
"""Random programs on two back ends: run, compared, made smaller.

fuzz.py run PROGRAM FIRST COUNT --jobs N --seconds S     `SEED HASH OPERATIONS` lines, sorted
fuzz.py compare A B FIRST COUNT --jobs N --seconds S --out FILE [--together] [--groups N]
fuzz.py replay PROGRAM FOLDER [--most-programs N] [--sample N]

PROGRAM, A and B are tests/fuzz compiled for a back end (fuzz.h). `compare` runs B's seeds (within
the time), then A's, takes the seeds whose answers differ, sorts them by the first answer that
does, and removes operations from one of each sort for as long as it still differs. Where B differs
once and not when it is asked again, what it answered first is kept. FILE is JSON; beside it,
FILE.hashes has what B answered. With `--together` A and B run at one time (B has the
GPUs, A the processors); `--groups 2` has B's shares take turns at two sets of GPUs.

`replay` asks PROGRAM what a real machine answered (tests/recorded/hgx-h200-4): fuzz.txt has `SEED
HASH` lines of 4 GPUs, fuzz_2.txt those of 2; fuzz_cases.json the programs that once differed, made
small, with the whole answers. Of fuzz_big*.txt.gz it takes a sample, but for the seeds that
fuzz_big.json names, with what is known of them.
"""

import argparse
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NOT_AGAIN = ("not again", "")
SAMPLE, MOST_PROGRAMS = (10000, 1 << 30) if os.environ.get("PEERLAB_FULL") else (100, 300)


def environment(tag: str, gpus: int, group: int = 0) -> dict[str, str]:
    """A node of its own for each (real GPUs do not mind), and no more GPUs than asked for."""
    mine = range(group * gpus, (group + 1) * gpus)
    ident, visible = f"fuzz-{os.getpid()}-{tag}", ",".join(map(str, mine))
    return dict(os.environ, VGPU_QUIET="1", VGPU_NODE_ID=ident, CUDA_VISIBLE_DEVICES=visible)


shards = itertools.count()  # two at one time may have the same seeds, and not one node


def shard(
    program: str,
    gpus: int,
    first: int,
    count: int,
    seconds: float,
    group: int = 0,
    text: bool = False,
) -> list[str]:
    """The complete lines of the seeds first, first + 1, ... as far as the time allows."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            [program, "--gpus", str(gpus), *["--text"] * text, str(first), str(count)],
            stdout=out,
            stderr=subprocess.DEVNULL,
            env=environment(f"{next(shards)}-{first}", gpus, group),
            start_new_session=True,
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        out.seek(0)
        return [line.rstrip("\n") for line in out if line.endswith("\n")]


def run_shares(
    program: str, options: argparse.Namespace, groups: int = 1, text: bool = False
) -> list[str]:
    """The lines of all seeds."""
    jobs = max(1, min(options.jobs, options.count))
    share = -(-options.count // jobs)
    ends = options.first + options.count
    starts = range(options.first, ends, share)

    def part(at: int) -> list[str]:
        group = (at - options.first) // share % groups
        count = min(share, ends - at)
        return shard(program, options.gpus, at, count, options.seconds, group, text)

    with ThreadPoolExecutor(jobs) as pool:
        return [line for part in pool.map(part, starts) for line in part]


def run(program: str, options: argparse.Namespace) -> dict[int, str]:
    """{seed: its hash and number of operations}"""
    lines = (line.split(" ", 1) for line in run_shares(program, options))
    return {int(seed): rest for seed, rest in lines}


def run_text(
    program: str, options: argparse.Namespace, groups: int
) -> tuple[dict[int, str], dict[int, list[str]]]:
    """{seed: its hash and number of operations}, {seed: its answers}"""
    hashes: dict[int, str] = {}
    answers: dict[int, list[str]] = {}
    seed, said = 0, []
    for line in run_shares(program, options, groups, text=True):
        if line.endswith(" {"):
            seed, said = int(line[:-2]), []
        elif line.startswith("} "):
            hashes[seed], answers[seed] = line[2:], said
        else:
            said.append(line)
    return hashes, answers


class Server:
    """A process that carries out chosen operations of chosen programs."""

    def __init__(self, program: str, gpus: int, tag: str) -> None:
        self.process = subprocess.Popen(
            [program, "--gpus", str(gpus), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(tag, gpus),
        )

    def ask(self, seed: int, keep: list[int] | None) -> list[str]:
        kept = "" if keep is None else " " + ",".join(map(str, keep))
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{seed}{kept}\n")
        self.process.stdin.flush()
        lines: list[str] = []
        for line in self.process.stdout:
            if line.startswith("} "):
                break
            lines.append(line.rstrip("\n"))
        return lines[1:]

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def difference(ours: list[str], theirs: list[str]) -> tuple[str, str] | None:
    """The first answers that differ, without the operation's number."""
    for a, b in zip([*ours, ""], [*theirs, ""], strict=False):
        if a != b:
            return tuple(re.sub(r"^\d+ |[0-9a-f]{8}$|(?<= b)\d+", "", x) for x in (a, b))
    return None if len(ours) == len(theirs) else ("longer", "shorter")


def smaller(a: Server, b: Server, seed: int, wanted: tuple[str, str], deadline: float) -> list[int]:
    """As few operations as still give that difference."""
    keep = list(range(64))
    step = 16
    while step:
        at = 0
        while at < len(keep) and time.monotonic() < deadline:
            fewer = keep[:at] + keep[at + step :]
            if difference(a.ask(seed, fewer), b.ask(seed, fewer)) == wanted:
                keep = fewer
            else:
                at += step
        step //= 2
    return keep


def shown(program: str, gpus: int, seed: int, keep: list[int]) -> list[str]:
    kept = ",".join(map(str, keep))
    done = subprocess.run(
        [program, "--gpus", str(gpus), "--show", "--keep", kept, str(seed), "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def sorts(a: Server, b: Server, seeds: list[int], deadline: float) -> dict:
    """{difference: its seeds}"""
    found: dict[tuple[str, str], list[int]] = {}
    for seed in seeds:
        if time.monotonic() > deadline:
            break
        first = difference(a.ask(seed, None), b.ask(seed, None)) or NOT_AGAIN
        found.setdefault(first, []).append(seed)
    return found


def once(options: argparse.Namespace, seeds: list[int], words: dict[int, list[str]]) -> dict:
    """Those that did not differ again: what A says, and what B said at first."""
    a = Server(options.a, options.gpus, "once")
    every = range(64)
    entries = [
        {
            "seed": seed,
            "program": shown(options.a, options.gpus, seed, list(every)),
            "a": a.ask(seed, None),
            "b": words[seed],
        }
        for seed in seeds
    ]
    a.close()
    return {"difference": NOT_AGAIN, "seeds": seeds, "count": len(seeds), "once": entries}


def explained(
    options: argparse.Namespace, item: tuple, deadline: float, words: dict[int, list[str]]
) -> dict:
    """One sort of difference, with its smallest program and what both say to it."""
    wanted, seeds = item
    if wanted == NOT_AGAIN:
        return once(options, seeds, words)
    a = Server(options.a, options.gpus, f"a{seeds[0]}")
    b = Server(options.b, options.gpus, f"b{seeds[0]}")
    keep = smaller(a, b, seeds[0], wanted, deadline)
    entry = {
        "difference": wanted,
        "seeds": seeds[:50],
        "count": len(seeds),
        "keep": keep,
        "program": shown(options.a, options.gpus, seeds[0], keep),
        "a": a.ask(seeds[0], keep),
        "b": b.ask(seeds[0], keep),
    }
    a.close()
    b.close()
    return entry


def spans(seeds: list[int]) -> list[tuple[int, int]]:
    """Sorted seeds as runs: (first, how many)."""
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and seed == sum(found[-1]):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


def read_hashes(text: str) -> dict[int, str]:
    lines = [x.split() for x in text.splitlines() if not x.startswith("#")]
    return {int(words[0]): words[1] for words in lines}


def sampled(folder: Path, count: int) -> dict[int, str]:
    """So many of the big run, from all parts of it, none of those known to differ."""
    every: dict[int, str] = {}
    for part in folder.glob("fuzz_big*.txt.gz"):
        every |= read_hashes(gzip.decompress(part.read_bytes()).decode())
    for sort in json.loads((folder / "fuzz_big.json").read_text())["differ"]:
        for seed in sort["seeds"]:
            del every[seed]
    seeds = sorted(every)
    return {
        seeds[i * len(seeds) // count]: every[seeds[i * len(seeds) // count]] for i in range(count)
    }


def replay_hashes(
    program: str, wanted: dict[int, str], gpus: int, options: argparse.Namespace
) -> list[str]:
    seeds = sorted(wanted)[: options.most_programs]
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = pool.map(
            lambda at: shard(program, gpus, at[0], at[1], options.seconds), spans(seeds)
        )
        ours = {int(x.split()[0]): x.split()[1] for part in parts for x in part}
    bad = [seed for seed in seeds if ours.get(seed) != wanted[seed]]
    good = len(seeds) - len(bad)
    print(f"{good} of {len(seeds)} random programs on {gpus} GPUs answer as the machine did")
    return [
        f"seed {seed}: answers {ours.get(seed)}, recorded {wanted[seed]}; "
        f"{program} --gpus {gpus} --text {seed} 1 shows them"
        for seed in bad
    ]


def replay_cases(program: str, cases: Path) -> list[str]:
    wrong = []
    entries = json.loads(cases.read_text())["cases"]
    for gpus in sorted({entry["gpus"] for entry in entries}):
        server = Server(program, gpus, f"cases{gpus}")
        for entry in entries:
            if entry["gpus"] != gpus:
                continue
            ours = server.ask(entry["seed"], entry["keep"])
            if ours != entry["answers"]:
                first = difference(ours, entry["answers"])
                wrong.append(f"case {entry['seed']} (once `{entry['once']}`): {first}")
        server.close()
    print(
        f"{len(entries) - len(wrong)} of {len(entries)} minimised cases answer as the machine did"
    )
    return wrong


def replay(options: argparse.Namespace) -> int:
    program, folder = options.programs[0], Path(options.programs[1])
    wrong = replay_hashes(program, read_hashes((folder / "fuzz.txt").read_text()), 4, options)
    wrong += replay_hashes(program, read_hashes((folder / "fuzz_2.txt").read_text()), 2, options)
    if options.sample:
        wrong += replay_hashes(program, sampled(folder, options.sample), 2, options)
    wrong += replay_cases(program, folder / "fuzz_cases.json")
    print("\n".join(wrong))
    return 1 if wrong else 0


def both(
    options: argparse.Namespace,
) -> tuple[dict[int, str], tuple[dict[int, str], dict[int, list[str]]]]:
    """What A and B answer to their seeds: A's hashes; B's, and its words."""
    with ThreadPoolExecutor(2) as pool:
        theirs = pool.submit(run_text, options.b, options, options.groups)
        if not options.together:
            theirs.result()
        ours = pool.submit(run, options.a, options)
        return ours.result(), theirs.result()


def compare(options: argparse.Namespace) -> int:
    begin = time.monotonic()
    ours, (theirs, words) = both(options)
    print(f"{len(theirs)} programs, {len(ours)} in {time.monotonic() - begin:.0f} s")
    differ = sorted(s for s in theirs if s in ours and theirs[s] != ours[s])
    print(f"{len(differ)} differ", flush=True)
    deadline = time.monotonic() + options.minimise
    found: dict[tuple[str, str], list[int]] = {}
    with ThreadPoolExecutor(options.servers) as pool:
        parts = [differ[i :: options.servers] for i in range(options.servers)]

        def part(seeds: list[int]) -> dict:
            if not seeds:
                return {}
            a = Server(options.a, options.gpus, f"a{seeds[0]}")
            b = Server(options.b, options.gpus, f"b{seeds[0]}")
            result = sorts(a, b, seeds, deadline - options.minimise / 2)
            a.close()
            b.close()
            return result

        for result in pool.map(part, parts):
            for key, seeds in result.items():
                found.setdefault(key, []).extend(seeds)
        biggest = sorted(found.items(), key=lambda item: -len(item[1]))[: options.most]
        entries = list(pool.map(lambda item: explained(options, item, deadline, words), biggest))
    Path(options.out).write_text(json.dumps({"differ": differ, "sorts": entries}, indent=1))
    for entry in entries:
        print(entry["count"], entry["difference"], entry["seeds"][0])
    hashes = "".join(f"{s} {theirs[s]}\n" for s in sorted(theirs))
    Path(options.out).with_suffix(".hashes").write_text(hashes)
    return 1 if differ else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["run", "compare", "replay"])
    parser.add_argument("programs", nargs="+", help="see above")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--gpus", type=int, default=4)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--groups", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--minimise", type=float, default=120, help="seconds")
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--most", type=int, default=60, help="sorts of difference to make smaller")
    parser.add_argument("--most-programs", type=int, default=MOST_PROGRAMS, help="of a record")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="of the big record")
    parser.add_argument("--out", default="fuzz.json")
    options = parser.parse_args()
    if options.command == "replay":
        return replay(options)
    *programs, first, count = options.programs
    options.first, options.count = int(first), int(count)
    if options.command == "run":
        for seed, rest in sorted(run(programs[0], options).items()):
            print(seed, rest)
        return 0
    options.a, options.b = programs
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
