# SPDX-License-Identifier: MIT
"""Every option of nvcc 13.0, in each of its spellings, does what options.tsv says. With
PEERLAB_FULL=1 the real nvcc, where there is one, is asked for the same and for the list of its
options."""

import csv
import re
import shlex
import subprocess
import unittest
from typing import NamedTuple

from rig import CC, FULL, HERE, NVCC, Case, main, run

TAKES_WORD = {"-D", "-U", "-I", "-L", "-include", "-isystem", "-Xlinker"}
JOINED = {"-D", "-U", "-I", "-L", "-l", "-O", "-t"}

ASKS_NVCC = unittest.skipUnless(NVCC and FULL, "no nvcc, or PEERLAB_FULL is not set")


class Row(NamedTuple):
    names: list[str]
    value: str | None
    kind: str
    words: list[str]
    beside: list[str]


def rows() -> list[Row]:
    found = []
    with (HERE / "options.tsv").open() as file:
        for cells in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if cells[0].startswith("#"):
                continue
            names, value, kind, words, beside = (*cells, "-", "-")[:5]
            # quotes are a shell's where they are single ones
            value = None if value == "-" else value.strip("'")
            words = [] if words == "-" else shlex.split(words)
            found.append(
                Row(names.split(), value, kind, words, [] if beside == "-" else beside.split())
            )
    return found


def spellings(row: Row) -> list[list[str]]:
    """The option as nvcc takes it."""
    if row.value is None:
        return [[name] for name in row.names]
    found = [[name, row.value] for name in row.names]
    found += [[f"{name}={row.value}"] for name in row.names]
    return found + [[name + row.value] for name in row.names if name in JOINED]


def words_of(command: str) -> list[str]:
    """One word for each option, in one spelling."""
    words: list[str] = []
    for word in shlex.split(command.removeprefix("#$ ").replace("`", "'")):
        if words and words[-1] in TAKES_WORD:
            words[-1] += f" {word}"
        elif match := re.match(r"(-[DUIL])(.+)", word):
            words.append(f"{match[1]} {match[2]}")
        elif word.startswith("-Wl,"):
            words += [f"-Xlinker {part}" for part in word.split(",")[1:]]
        else:
            words.append(word.replace("-ftemplate-depth-", "-ftemplate-depth="))
    return words


def last_command(said: str) -> str:
    """The one that makes the result."""
    commands = re.findall(r"^#\$ (?![A-Z_]+=)(.*)$", said, re.MULTILINE)
    return next(line for line in reversed(commands) if not re.search(r"bin/nvcc|^rm |^--", line))


class Options(Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("a.cpp", "int main() {}\n")
        self.write("x.opt", "-D A\n")
        self.write("y.opt", "-D B\n")
        self.plain: dict[tuple, list[str]] = {}

    def dry(self, program: object, *arguments: str) -> subprocess.CompletedProcess:
        return run([program, "--dryrun", "a.cpp", *arguments], self.folder)

    def added(self, program: object, *arguments: str) -> list[str]:
        """What the arguments add to the command."""
        done = self.dry(program, *arguments)
        self.assertEqual(done.returncode, 0, f"{program} {arguments}: {done.stderr}")
        key = (program, "-c" in arguments)
        if key not in self.plain:
            plain = self.dry(program, *["-c"] * key[1]).stderr
            self.plain[key] = words_of(last_command(plain))
        left = list(self.plain[key])
        more = []
        for word in words_of(last_command(done.stderr)):
            if word in left:
                left.remove(word)
            elif "/tmp" not in word and ".o" not in word:
                more.append(word)
        return more

    def check(self, program: object, row: Row, option: list[str]) -> None:
        ours = program == CC
        arguments = [*option, *row.beside]
        if row.kind == "compile":
            self.assertEqual(self.added(program, "-c", *arguments), words_of(shlex.join(row.words)))
        elif row.kind == "link":
            self.assertEqual(self.added(program, *arguments), words_of(shlex.join(row.words)))
        elif row.kind == "ignored" and ours:
            self.assertEqual(self.added(program, "-c", *arguments), [])
            self.assertEqual(self.added(program, *arguments), [])
        else:
            done = self.dry(program, *arguments)
            fails = row.kind == "bad" or (row.kind == "refused" and ours)
            self.assertEqual(done.returncode != 0, fails, done.stderr)
            if fails and ours:
                self.assertTrue(any(name in done.stderr for name in row.names), done.stderr)
                self.assertIn("value" if row.kind == "bad" else "not supported", done.stderr)

    def test_every_option(self) -> None:
        for row in rows():
            for option in spellings(row):
                with self.subTest(option=option):
                    self.check(CC, row, option)

    @ASKS_NVCC
    def test_nvcc_does_the_same(self) -> None:
        for row in rows():
            if row.names[-1] in ("-qpp-config", "-run", "-run-args"):
                continue  # runs a compiler of QNX; the program
            for option in spellings(row)[:2]:
                with self.subTest(option=option):
                    self.check(NVCC, row, option)

    @ASKS_NVCC
    def test_every_option_of_nvcc_is_in_the_table(self) -> None:
        text = run([NVCC, "--help"]).stdout
        known = {name for row in rows() for name in row.names}
        offered = set(re.findall(r"^(--\S+) .*?\((-\S+?)\)\s*$", text, re.MULTILINE))
        self.assertGreater(len(offered), 100)
        self.assertEqual({name for pair in offered for name in pair} - known, set())


if __name__ == "__main__":
    main()
