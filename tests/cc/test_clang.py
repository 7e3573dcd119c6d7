# SPDX-License-Identifier: MIT
"""Clang's own CUDA front end (VGPU_FRONT=clang): what compiles with it prints the same as with the
usual one. What does not yet is listed with its reason, and fails here as soon as it does."""

import pathlib
import re

from rig import HERE, Case, cc, main, run

VALID = HERE / "valid"
DEVICE = HERE.parent / "programs/device"
NOT_YET = {
    "launch_forms.cu": "no pack in <<<...>>>",
    "lexing.cu": "operator<<<int> is the operator << there, and <",
    "shared_forms.cu": "alignas behind __shared__",
    "managed_variables.cu": "__managed__",
}


def head(path: pathlib.Path, word: str) -> list[str]:
    return re.findall(rf"^// {word}: (.*)$", path.read_text(), re.MULTILINE)


class Clang(Case):
    def prints(self, program: pathlib.Path) -> str:
        """What the program does: "" when it is right."""
        target = self.folder / program.stem
        others = [VALID / name for line in head(program, "with") for name in line.split()]
        options = ("-w", "-O2", "-g", "-o", target)
        built = cc(*options, program, *others, folder=self.folder, VGPU_FRONT="clang")
        if built.returncode != 0:
            return built.stderr or "the compiler fails without a word"
        done = run([target], VGPU_NODE="single" if program.parent == VALID else "hgx-h200-4")
        expected = head(program, "prints")
        right = done.stdout.splitlines() == expected if expected else "PASS" in done.stdout
        if right and done.returncode == 0:
            return ""
        return f"exit {done.returncode}: {done.stdout}{done.stderr}"

    def test_programs(self) -> None:
        programs = [path for path in sorted(VALID.glob("*.cu")) if head(path, "prints")]
        programs += sorted(DEVICE.glob("*.cu"))
        self.assertGreater(len(programs), 20)
        self.assertLessEqual(set(NOT_YET), {path.name for path in programs})
        for program in programs:
            with self.subTest(program=program.name):
                said = self.prints(program)
                if program.name in NOT_YET:
                    self.assertNotEqual(said, "", f"it is right now: take it out of {NOT_YET}")
                else:
                    self.assertEqual(said, "")

    def test_mistakes_are_clangs_to_tell(self) -> None:
        """At the user's line, with a caret; the host's pass and the device's say it once."""
        source = self.write(
            "wrong.cu",
            "int host(int x) { return x + 1; }\n"
            "__global__ void k(int *p) { *p = host(*p); }\n"
            "int main() { k<<<1, 1>>>(nullptr); }\n",
        )
        built = cc("-c", source, "-o", self.folder / "x.o", folder=self.folder, VGPU_FRONT="clang")
        self.assertNotEqual(built.returncode, 0)
        self.assertEqual(
            len(re.findall(r"wrong\.cu:2:34: error: no matching function for call", built.stderr)),
            1,
            built.stderr,
        )
        self.assertFalse((self.folder / "x.o").exists())

    def test_assembly_that_nobody_knows(self) -> None:
        source = self.write(
            "ptx.cu", '__global__ void k() {\n    asm("bra.uni somewhere;");\n}\nint main() {}\n'
        )
        built = cc("-c", source, "-o", self.folder / "x.o", folder=self.folder, VGPU_FRONT="clang")
        self.assertNotEqual(built.returncode, 0)
        self.assertRegex(built.stderr, r"ptx\.cu:2:5: error: inline PTX that the virtual node")


if __name__ == "__main__":
    main()
