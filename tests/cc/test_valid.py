# SPDX-License-Identifier: MIT
"""Every program in valid/ compiles without a warning, runs, and prints what its head says, also if
several processes run the blocks of every kernel that allows it."""

import os
import pathlib
import re

from rig import CC, COMPILERS, FULL, HERE, Case, cc, main, run

VALID = HERE / "valid"


def head(path: pathlib.Path, word: str) -> list[str]:
    return re.findall(rf"^// {word}: (.*)$", path.read_text(), re.MULTILINE)


def programs() -> list[pathlib.Path]:
    return sorted(path for path in VALID.glob("*.cu") if head(path, "prints"))


class Valid(Case):
    def check(self, compiler: str, program: pathlib.Path, *flags: str) -> None:
        sources = [program] + [
            VALID / name for names in head(program, "with") for name in names.split()
        ]
        target = self.folder / program.stem
        built = cc(
            "-Wall",
            "-Wextra",
            "-Werror",
            *flags,
            *sources,
            "-o",
            target,
            folder=self.folder,
            VGPU_CXX=compiler,
        )
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        for turn, workers in enumerate(("", "always:3")):
            node = f"valid-{os.getpid()}-{turn}"
            done = run([target], VGPU_WORKERS=workers, VGPU_NODE_ID=node)
            self.assertEqual(done.stdout.splitlines(), head(program, "prints"), done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_programs(self) -> None:
        """All with the first compiler; with the others those that have most forms."""
        many = ("kernels", "shared_forms", "idioms")
        for compiler in COMPILERS:
            for program in programs()[:: 1 if FULL else 2]:
                if compiler != COMPILERS[0] and program.stem not in many and not FULL:
                    continue
                with self.subTest(compiler=compiler, program=program.name):
                    self.check(compiler, program, "-O2", "-g")

    def test_other_flags(self) -> None:
        for flags, name in (
            (["-O0"], "idioms.cu"),
            (["-std=c++20"], "kernels.cu"),
            (["-std=c++14", "-O3"], "shared_forms.cu"),
            (["-Xcompiler", "-fPIC,-fsemantic-interposition"], "kernels.cu"),
            (["-use_fast_math", "-DUSUAL"], "fast_math.cu"),
            (["-use_fast_math", "-DUSUAL", "-G"], "fast_math.cu"),
        ):
            with self.subTest(flags=flags, program=name):
                self.check(COMPILERS[0], VALID / name, *flags)

    def test_what_llvm_cannot_compile_at_once(self) -> None:
        self.check(COMPILERS[0], VALID / "long_vectors.cu", "-O2")


class Objects(Case):
    """What is in an object: the image, and nothing that another object could meet."""

    def image(self, name: str) -> pathlib.Path:
        cc("--keep", "-c", VALID / name, "-o", self.folder / "x.o", folder=self.folder)
        return self.folder / "x.o.vgpu" / "0-device.so"

    def test_image_exports_its_tables_only(self) -> None:
        for name in ("kernels.cu", "host_code.cu"):
            symbols = run(["nm", "-D", "--defined-only", self.image(name)]).stdout.split("\n")
            names = {line.split()[-1] for line in symbols if line}
            tables = {"abi", "kernels", "kernel_count", "vars", "var_count"}
            self.assertEqual(names, {f"vgpu_image_{table}" for table in tables})

    def test_image_needs_no_library(self) -> None:
        needed = run(["readelf", "-d", self.image("host_code.cu")]).stdout
        self.assertNotIn("NEEDED", needed)
        self.assertNotIn("INIT", needed)

    def test_device_accesses_are_watched(self) -> None:
        undefined = run(["nm", "-u", self.image("kernels.cu")]).stdout
        self.assertIn("__tsan_read4", undefined)
        self.assertIn("__tsan_write4", undefined)

    def test_host_code_is_not(self) -> None:
        self.image("host_code.cu")
        self.assertNotIn("__tsan", run(["nm", self.folder / "x.o"]).stdout)

    def test_twice_the_same(self) -> None:
        for turn in "ab":
            cc("-c", VALID / "kernels.cu", "-o", self.folder / f"{turn}.o", folder=self.folder)
        self.assertEqual((self.folder / "a.o").read_bytes(), (self.folder / "b.o").read_bytes())


if __name__ == "__main__":
    assert CC.exists()
    main()
