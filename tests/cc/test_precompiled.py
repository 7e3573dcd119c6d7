# SPDX-License-Identifier: MIT
"""The precompiled prelude: when it is used, that it changes nothing, and what happens when it does
not fit any more."""

import re

from rig import CC, FULL, Case, cc, main, run

BUILD = CC.parent.parent
PROGRAM = """\
#include "number.h"
#include <cassert>
__global__ void twice(int *p) { assert(*p > 0); p[threadIdx.x] *= 2; }
int main() { int *p; cudaMalloc(&p, 4); twice<<<1, NUMBER>>>(p); return cudaDeviceSynchronize(); }
"""
USES = (
    "",
    "-O2 -g",
    "-O3 -DNDEBUG -D_GNU_SOURCE",
    "-O0 -Wall -DNUMBERS=2 -I folder",
    "-D SIZE=3 -w -check-indices",
)
DOES_NOT = (
    "-std=c++14",  # another language
    "-Xcompiler -fopenmp",
    "-O2 -Xcompiler -ffast-math",
    "-Xcompiler -march=native",
    "-D_FILE_OFFSET_BITS=64",  # which libc's headers ask for
    "-U __STRICT_ANSI__",
    "--default-stream per-thread",
    "--expt-relaxed-constexpr",
    "-rdc=true",
)


class Precompiled(Case):
    def setUp(self) -> None:
        super().setUp()
        self.write("a.cu", PROGRAM)
        self.write("number.h", "#define NUMBER 1\n")
        self.home = self.folder / "home"  # a toolkit with a precompiled prelude of its own
        (self.home / "lib/vgpu").mkdir(parents=True)
        include = (BUILD / "toolkit/include").readlink()
        for name, at in (("include", include), ("common", include.parent / "common")):
            (self.home / name).symlink_to(at)
        for library in (BUILD / "lib").glob("lib*vgpu*.a"):
            (self.home / "lib" / library.name).symlink_to(library)
        self.good("--precompile", self.home / "lib/vgpu")
        self.made = sorted((self.home / "lib/vgpu").glob("*.pch"))
        self.assertEqual(len(self.made), 4)

    def good(self, *words: object) -> str:
        done = cc(*words, folder=self.folder, VGPU_HOME=str(self.home))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def commands(self, options: str) -> list[str]:
        said = self.good("--dryrun", *options.split(), "-c", "a.cu", "-o", "a.o")
        return [line for line in said.splitlines() if re.search("cuda-(host|device)-only", line)]

    def code(self, *options: str) -> bytes:
        self.good(*options, "-c", "a.cu", "-o", "a.o")
        done = run(["objdump", "-d", "--no-show-raw-insn", "a.o"], self.folder)
        self.assertIn("<main>:", done.stdout)
        return done.stdout

    def test_used(self) -> None:
        for options in USES:
            with self.subTest(options):
                lines = self.commands(options)
                self.assertEqual(len(lines), 2)
                for line in lines:
                    self.assertIn(f"-include-pch -Xclang {self.home}/lib/vgpu/prelude-", line)

    def test_not_used(self) -> None:
        for options in DOES_NOT:
            with self.subTest(options):
                self.assertNotIn("-include-pch", "".join(self.commands(options)))
                if FULL:
                    self.good(*options.split(), "-c", "a.cu", "-o", "a.o")

    def test_same_code(self) -> None:
        for options in ((), ("-O2", "-DNDEBUG")):
            used = self.code(*options)
            for path in self.made:
                path.rename(path.with_suffix(".away"))
            self.assertEqual(used, self.code(*options))
            for path in self.made:
                path.with_suffix(".away").rename(path)

    def test_spoiled(self) -> None:
        spoils = (lambda text: b"", lambda text: text[:3000], lambda text: b"CPCH" + text[200:])
        for path, spoil in zip(self.made, (*spoils, *spoils), strict=False):
            text = path.read_bytes()
            path.write_bytes(spoil(text))
            for level in ("-O0", "-O2"):
                self.assertEqual(self.good(level, "-c", "a.cu", "-o", "a.o"), "", path.name)
            path.write_bytes(text)

    def test_headers_have_changed(self) -> None:
        (self.home / "lib/vgpu/prelude.cu").write_text("#include <vgpu/prelude.h>\n\n\n")
        self.assertEqual(self.good("-c", "a.cu", "-o", "a.o"), "")

    def test_an_error_is_told_once(self) -> None:
        self.write("a.cu", "__global__ void k() { wrong(); }\n")
        done = cc("-c", "a.cu", folder=self.folder, VGPU_HOME=str(self.home))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

    def test_dependencies(self) -> None:
        self.good("-c", "a.cu", "-MD", "-MF", "a.d", "-o", "a.o")
        for name in (" a.cu", " number.h", "vgpu/prelude.h", "cuda_runtime.h", "/bits/c++config.h"):
            self.assertIn(name, (self.folder / "a.d").read_text())


main()
