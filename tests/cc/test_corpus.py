# SPDX-License-Identifier: MIT
"""Small programs, right and wrong, and who accepts them: corpus/verdicts.tsv has what nvcc said,
and what vgpu-cc says. Without PEERLAB_FULL=1: those where vgpu-cc differs from nvcc, and every
third of the others. With PEERLAB_NVCC=1 nvcc is asked again; test_corpus.py VGPU_CC REWRITE --write
writes the table anew, nvcc's column if there is one."""

import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
from dataclasses import dataclass

from rig import FULL, HERE, NVCC, Case, cc, main, run

CORPUS = HERE / "corpus"
TABLE = CORPUS / "verdicts.tsv"
COLUMNS = ("nvcc", "vgpu-cc")
HEAD = "\t".join(("program", *COLUMNS)) + "\n"
WORDS = {True: "accepts", False: "refuses"}


@dataclass(frozen=True)
class Verdicts:
    nvcc: str
    ours: str


def table() -> dict[str, Verdicts]:
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()[1:]]
    return {name: Verdicts(*verdicts) for name, *verdicts in rows}


def programs() -> list[pathlib.Path]:
    return sorted(CORPUS.glob("*.cu"))


def options(program: pathlib.Path) -> list[str]:
    found = re.search(r"^// options: (.*)$", program.read_text(), re.MULTILINE)
    return ["-std=c++17", *(found[1].split() if found else [])]


def verdict(by: str, program: pathlib.Path, folder: pathlib.Path) -> str:
    words = [*options(program), "-c", program, "-o", folder / f"{by}-{program.stem}.o"]
    nvcc = [NVCC, "-arch=sm_90", *words]
    done = run(nvcc, folder) if by == "nvcc" else cc(*words, folder=folder)
    return WORDS[done.returncode == 0]


def verdicts(by: str, some: list[pathlib.Path], folder: pathlib.Path) -> dict[str, str]:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda program: verdict(by, program, folder), some)
        return dict(zip((program.stem for program in some), found, strict=True))


class Corpus(Case):
    def compare(self, by: str, some: list[pathlib.Path]) -> None:
        said = table()
        recorded = {
            program.stem: said[program.stem].nvcc if by == "nvcc" else said[program.stem].ours
            for program in some
        }
        self.assertEqual(verdicts(by, some, self.folder), recorded)

    def test_table(self) -> None:
        self.assertEqual([program.stem for program in programs()], list(table()))
        self.assertGreaterEqual(len(table()), 60)
        for program in programs():
            self.assertRegex(program.read_text(), r"^// \S.*\.\n", program.name)

    def test_differences(self) -> None:
        """Fewer than three; they are explained on the page."""
        differing = [name for name, said in table().items() if said.ours != said.nvcc]
        self.assertLess(len(differing), 3, differing)
        page = (HERE.parents[1] / "docs/virtual-node.md").read_text()
        for name in differing:
            self.assertIn(f"`{name}`", page)

    def test_vgpu_cc(self) -> None:
        some = programs()
        if not FULL:
            said = table()
            some = [
                program
                for number, program in enumerate(some)
                if number % 3 == 0 or said[program.stem].ours != said[program.stem].nvcc
            ]
        self.compare("vgpu-cc", some)

    def test_nvcc(self) -> None:
        if NVCC is None or not (FULL or os.environ.get("PEERLAB_NVCC") == "1"):
            self.skipTest("there is no nvcc here, or it is not asked")
        self.compare("nvcc", programs() if FULL else programs()[::10])


def write() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, some, old = pathlib.Path(name), programs(), table() if TABLE.exists() else {}
        said = {"vgpu-cc": verdicts("vgpu-cc", some, folder)}
        said["nvcc"] = (
            verdicts("nvcc", some, folder)
            if NVCC
            else {program.stem: old[program.stem].nvcc for program in some}
        )
    rows = ("\t".join([name, *(said[by][name] for by in COLUMNS)]) for name in said["vgpu-cc"])
    TABLE.write_text(HEAD + "".join(f"{row}\n" for row in rows))


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        main()
