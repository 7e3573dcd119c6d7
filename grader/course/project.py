# SPDX-License-Identifier: MIT
"""Paths of a checkout, and its labs."""

import re
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say

LAB_FOLDER = re.compile(r"(\d\d)-[a-z0-9-]+")


@dataclass(frozen=True)
class Lab:
    """One lab: `folder` is "03-p2p-copy", `number` "03", its tests are named `lab03.*`."""

    folder: str

    @property
    def number(self) -> str:
        return self.folder[:2]

    @property
    def name(self) -> str:
        return f"lab{self.number}"

    @property
    def title(self) -> str:
        return self.folder[3:].replace("-", " ")


@dataclass(frozen=True)
class Project:
    root: Path
    preset: str = "vgpu"
    build: Path | None = None  # another folder than the preset's

    @property
    def labs_dir(self) -> Path:
        """A folder a lab, with all that learners get: page, header, given files, public tests, and
        the skeleton of the one file that they edit."""
        return self.root / "labs"

    @property
    def solutions_dir(self) -> Path:
        """A folder a lab, with what learners do not get: the answer, hidden tests, rubric,
        contract. In a handout, instead of these, `skeletons`: what `./lab reset` puts back."""
        skeletons = self.root / "skeletons"
        return skeletons if skeletons.is_dir() else self.root / "solutions"

    @property
    def build_dir(self) -> Path:
        return self.build or self.root / "build" / self.preset

    @property
    def cccl(self) -> Path:
        """Where `./lab start --cccl` puts Thrust, CUB and libcu++, and vgpu-cc looks for them
        (vgpu/cc/compile/places.c): beside the build."""
        return self.build_dir.parent / "cccl"

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def deps(self) -> Path:
        return self.root / ".deps"

    def require_whole(self, what: str) -> None:
        """LabError in a handout, which lacks what maintainers and instructors need."""
        if self.solutions_dir.name != "solutions":
            raise LabError(f"{what}, and not part of a handout.", ExitStatus.MISSING)

    def configured(self) -> bool:
        """CMake has finished: it writes its cache before, also where it fails."""
        return (self.build_dir / "CMakeFiles" / "TargetDirectories.txt").is_file()

    def labs(self) -> list[Lab]:
        """Every lab that has a solution, in order."""
        return _labs_in(self.solutions_dir)

    def lab(self, number: str) -> Lab:
        """The lab that "03", "3", "lab03" or "03-p2p-copy" names."""
        digits = re.match(r"(?:lab)?(\d{1,2})\b", number)
        for lab in self.labs():
            if digits and lab.number == digits.group(1).zfill(2):
                return lab
        have = ", ".join(lab.number for lab in self.labs()) or "none"
        raise LabError(say("lab.none", lab=number, labs=have), ExitStatus.NO_MATCH)

    def some_labs(self, words: str) -> list[Lab]:
        """ "1,3-5" as labs; none for no words."""
        chosen: list[Lab] = []
        for word in filter(None, words.replace(" ", "").split(",")):
            first, dash, last = word.partition("-")
            if dash and last.isdigit() and first.isdigit():
                numbers = [str(number) for number in range(int(first), int(last) + 1)]
            else:
                numbers = [word]
            chosen += [self.lab(number) for number in numbers]
        return sorted(set(chosen), key=lambda lab: lab.number)


def _labs_in(folder: Path) -> list[Lab]:
    if not folder.is_dir():
        return []
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    return [Lab(name) for name in names if LAB_FOLDER.fullmatch(name)]


def here(preset: str = "vgpu", build: Path | None = None) -> Project:
    """The checkout of this package, with the selected build tree."""
    root = Path(__file__).resolve().parents[2]
    return Project(root, preset, build.resolve() if build else None)
