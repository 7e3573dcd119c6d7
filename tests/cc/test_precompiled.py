# SPDX-License-Identifier: MIT
"""The precompiled prelude: when it is used, that it changes nothing, and what happens when it does
not fit any more."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from rig import CC, FULL, Case, cc, main, run

BUILD = CC.parent.parent
USUAL = ("-O0", "-O2 -check-indices", "-O2 -std=c++17")
KEPT = 32  # files, of which each header has two
PROGRAM = """\
#include "number.h"
#include <cassert>
__global__ void twice(int *p) { assert(*p > 0); p[threadIdx.x] *= 2; }
int main() { int *p; cudaMalloc(&p, 4); twice<<<1, NUMBER>>>(p); return cudaDeviceSynchronize(); }
"""
LAB = """\
#include <vector>
#include "number.h"
__global__ void twice(int *p) { p[threadIdx.x] *= 2; int unused; }
int main() {
    std::vector<int> all(NUMBER);
    int *p, few[3];
    few[NUMBER] = 1;
    cudaMalloc(&p, 4);
    twice<<<1, NUMBER>>>(p);
    return cudaDeviceSynchronize() + few[1];
}
"""
LAB_OPTIONS = (
    "-std=c++17 -O2 -g -check-indices -Xcompiler -fPIC,-fsemantic-interposition,-Wall,"
    "-ffunction-sections,-ftrivial-auto-var-init=pattern,-fsanitize=bounds"
)
USES = (
    "",
    "-O2 -g",
    "-O3 -DNDEBUG -D_GNU_SOURCE",
    "-O0 -Wall -DNUMBERS=2 -I folder",
    "-D SIZE=3 -w -check-indices",
    "-std=c++17 -O1 -G",
    "-std=c++17 -O3 -Xcompiler -Wall,-ffunction-sections",
    "-std=gnu++17",  # the default
    "-include number.h -isystem folder",
)
FOR_DEVICES = (  # host code has none that fits
    "-std=c++17 -O0",
    "-O2 -Xcompiler -fPIC",
    "-Xcompiler -fopenmp",
    "-O2 -Xcompiler -ffast-math",
    "-Xcompiler -march=native",
)
DOES_NOT = (
    "-std=c++14",  # another language
    "-D_FILE_OFFSET_BITS=64",  # which libc's headers ask for
    "-U __STRICT_ANSI__",
    "--default-stream per-thread",
    "--expt-relaxed-constexpr",
    "-rdc=true",
)


class Away:
    """Files that are not there for a while."""

    def __init__(self, paths: list[pathlib.Path]) -> None:
        self.paths = paths

    def __enter__(self) -> None:
        for path in self.paths:
            path.rename(path.with_suffix(".away"))

    def __exit__(self, *_: object) -> None:
        for path in self.paths:
            path.with_suffix(".away").rename(path)


class Precompiled(Case):
    usual: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        """The headers that most tests only read."""
        cls.usual = pathlib.Path(tempfile.mkdtemp(prefix="cc-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.usual)

    def setUp(self) -> None:
        super().setUp()
        self.write("a.cu", PROGRAM)
        self.write("number.h", "#define NUMBER 1\n")
        self.use_home(self.usual, *USUAL)
        self.made = self.headers()
        self.assertEqual(len(self.made), 6)

    def use_home(self, folder: pathlib.Path, *sets: str) -> None:
        """A toolkit with precompiled headers of its own."""
        self.home = folder / "home"
        if self.home.exists():
            return
        (self.home / "lib/vgpu").mkdir(parents=True)
        include = (BUILD / "toolkit/include").readlink()
        for name, at in (("include", include), ("common", include.parent / "common")):
            (self.home / name).symlink_to(at)
        for library in (BUILD / "lib").glob("lib*vgpu*.a"):
            (self.home / "lib" / library.name).symlink_to(library)
        for options in sets:
            self.precompile(options)

    def precompile(self, options: str) -> None:
        self.good("--precompile", self.home / "lib/vgpu", *options.split())

    def headers(self) -> list[pathlib.Path]:
        return sorted((self.home / "lib/vgpu").glob("*.pch"))

    def good(self, *words: object, **variables: str) -> str:
        done = cc(*words, folder=self.folder, VGPU_HOME=str(self.home), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def commands(self, options: str, show: str = "--dryrun", **variables: str) -> list[str]:
        said = self.good(show, *options.split(), "-c", "a.cu", "-o", "a.o", **variables)
        return [line for line in said.splitlines() if re.search("cuda-(host|device)-only", line)]

    def assert_used(self, options: str, show: str = "-v") -> None:
        """By both passes; -v: and Clang has not rejected it, there is no second round."""
        lines = self.commands(options, show)
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertIn(f"-include-pch -Xclang {self.home}/lib/vgpu/prelude-", line)

    def without(self) -> "Away":
        return Away(self.headers())

    def code(self, *options: str) -> bytes:
        """All of the object but host code's debugging information."""
        self.good(*options, "-c", "a.cu", "-o", "a.o")
        done = run(["objcopy", "-g", "a.o", "b.o"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "b.o").read_bytes()

    def test_used(self) -> None:
        for options in USES:
            with self.subTest(options):
                self.assert_used(options, "-v" if FULL else "--dryrun")
        self.assert_used("-O3 -DNDEBUG -D_GNU_SOURCE -include number.h -isystem folder")

    def test_instantiated_once(self) -> None:
        """What the headers use of their templates is in the header: a small program reads hardly
        any function of it. If it had to instantiate them again it would read a fifth."""
        device, _ = self.commands("")
        words = device.removeprefix("#$ ").rsplit(" -o ", 1)[0].split()
        said = run([*words, "-o", "/dev/null", "-Xclang", "-print-stats"], self.folder).stderr
        read, there = re.findall(r"(\d+)/(\d+) statements read", said)[0]
        self.assertGreater(int(there), 10_000)
        self.assertLess(int(read), int(there) / 20)

    def test_used_for_devices(self) -> None:
        for options in FOR_DEVICES:
            with self.subTest(options):
                device, host = self.commands(options, "-v" if FULL else "--dryrun")
                self.assertIn("-include-pch", device)
                self.assertNotIn("-include-pch", host)

    def test_not_used(self) -> None:
        for options in DOES_NOT:
            with self.subTest(options):
                self.assertNotIn("-include-pch", "".join(self.commands(options)))
                if FULL:
                    self.good(*options.split(), "-c", "a.cu", "-o", "a.o")

    def test_same_code(self) -> None:
        for options in ((), ("-O2", "-DNDEBUG")):
            used = self.code(*options)
            with self.without():
                self.assertEqual(used, self.code(*options))

    def test_labs(self) -> None:
        """What labs are compiled with in this build: harness/cmake/lab_build.cmake."""
        conf = BUILD / "labs/02-peer-access/lab.conf"
        words = re.search(r"^LAB_CUC='([^']*)'", conf.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertIsNotNone(words)
        self.home = BUILD
        self.assert_used(" ".join(words[1].split("\n")[1:]) if words else "")

    def test_options_of_a_lab(self) -> None:
        """Their code, messages and dependencies with and without it."""
        self.write("a.cu", LAB)
        self.use_home(self.folder)
        self.assertNotIn("-include-pch", "".join(self.commands(LAB_OPTIONS)))
        self.precompile(LAB_OPTIONS)
        self.assert_used(LAB_OPTIONS)
        words = [*LAB_OPTIONS.split(), "-MD", "-MF", "a.d"]

        def result() -> tuple[bytes, str, set[pathlib.Path]]:
            code = self.code(*words)
            named = re.findall(r"[^\s\\]+", (self.folder / "a.d").read_text().partition(":")[2])
            files = {(self.folder / name).resolve() for name in named}
            files.discard((self.home / "lib/vgpu/prelude.cu").resolve())
            asked = {file for file in files if "tbb" in file.parts}  # by __has_include, not read
            return code, self.good(*words, "-c", "a.cu", "-o", "a.o"), files - asked

        used = result()
        self.assertIn("a.cu:3:58: warning: unused variable 'unused'", used[1])
        with self.without():
            self.assertEqual(used, result())

    def test_one_set_of_options_each(self) -> None:
        """The same options have the same header; others get another one, in time not too many."""
        self.use_home(self.folder, "-O0", "-O2 -std=c++17")
        made = self.headers()
        self.precompile("-O3 -g -DNDEBUG -std=c++17 -I folder")
        self.assertEqual(self.headers(), made)
        self.assert_used("-O2 -std=c++17")
        self.precompile("-Xcompiler -fopenmp,-DOTHER")
        self.assertEqual(len(self.headers()), 4 + 1)  # device code is as of -O0
        self.write(
            "number.h", "#ifdef OTHER\n#error it was the other file's\n#endif\n#define NUMBER 1\n"
        )
        self.assert_used("-Xcompiler -fopenmp")
        for i in range(KEPT):
            (self.home / f"lib/vgpu/prelude-14-host-{i:016x}.pch").write_text("")
        self.precompile("-std=c++14")
        self.assertEqual(len(list((self.home / "lib/vgpu").glob("prelude-*"))), KEPT)
        self.assert_used("-std=c++14")

    def test_a_folder_hides_a_header(self) -> None:
        for folder in ("mine", "more/bits"):
            (self.folder / folder).mkdir(parents=True)
        self.write("mine/cmath", "#define NUMBER 7\n#include_next <cmath>\n")
        self.write("more/bits/move.h", "#include_next <bits/move.h>\n")
        self.write("number.h", "static_assert(NUMBER == 7);\n")
        self.assert_not_used("-I mine")
        self.assert_not_used("-isystem mine")
        self.write("number.h", "#define NUMBER 1\n")
        self.assert_not_used("-Imore")
        self.assert_not_used("", CPATH="more")
        self.assert_used("-I .")

    def test_a_folder_beside_other_headers(self) -> None:
        """As a Toolkit's include/cccl: what is above a folder is not found in it."""
        (self.folder / "include/cccl").mkdir(parents=True)
        self.write("include/cuda_runtime.h", "#error not this one\n")
        self.assert_used("-isystem include/cccl")

    def assert_not_used(self, options: str, **variables: str) -> None:
        for show in ("--dryrun", "-v"):  # it compiles, too
            self.assertNotIn("-include-pch", "".join(self.commands(options, show, **variables)))

    def test_many_at_once(self) -> None:
        self.use_home(self.folder, "-O2")
        words = [CC, "--precompile", self.home / "lib/vgpu", "-O2"]
        environment = {**os.environ, "VGPU_HOME": str(self.home)}
        makers = [subprocess.Popen(words, env=environment) for _ in range(3)]
        while any(maker.poll() is None for maker in makers):
            self.assert_used("-O2")
        self.assertEqual([maker.returncode for maker in makers], [0, 0, 0])
        self.assertEqual(len(list((self.home / "lib/vgpu").glob("prelude-*"))), 4)

    def test_spoiled(self) -> None:
        spoils = (lambda text: b"", lambda text: text[:3000], lambda text: b"CPCH" + text[200:])
        for path, spoil in zip(self.made, (*spoils, *spoils), strict=False):
            text = path.read_bytes()
            path.write_bytes(spoil(text))
            for level in ("-O0", "-O2"):
                self.assertEqual(self.good(level, "-c", "a.cu", "-o", "a.o"), "", path.name)
            path.write_bytes(text)

    def test_headers_have_changed(self) -> None:
        self.use_home(self.folder, "-O0")
        (self.home / "lib/vgpu/prelude.cu").write_text("#include <vgpu/prelude.h>\n\n\n")
        self.assertEqual(self.good("-c", "a.cu", "-o", "a.o"), "")
        self.assertEqual(len(self.commands("", "-v")), 4)
        self.precompile("-O0")  # the build does it
        self.assert_used("")

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
