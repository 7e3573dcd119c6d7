# SPDX-License-Identifier: MIT
"""vgpu-cc's command line: nvcc's spellings, dependency files, what is left on disk."""

import os
import re
import shutil
import stat
import subprocess

from rig import CCBIN_NOTE, HERE, Case, cc, main, run

KERNEL = """\
__global__ void k(int *p) { *p = VALUE; }
int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); }
"""


class Command(Case):
    def good(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
        done = cc(*arguments, folder=self.folder, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bad(self, *arguments: object) -> str:
        done = cc(*arguments, folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_values_in_every_spelling(self) -> None:
        self.write("a.cu", KERNEL)
        for flags in (
            ["-DVALUE=3"],
            ["-D", "VALUE=3"],
            ["--define-macro=VALUE=3"],
            ["--define-macro", "VALUE=3"],
        ):
            self.good("-c", "a.cu", *flags)
            self.assertEqual(self.names(), {"a.cu", "a.o"})
        for flags in (
            ["-o", "b.o"],
            ["-o=b.o"],
            ["-ob.o"],
            ["--output-file", "b.o"],
            ["--output-file=b.o"],
        ):
            self.good("--compile", "a.cu", "-DVALUE=1", *flags)
            (self.folder / "b.o").unlink()

    def test_what_means_nothing_here(self) -> None:
        self.write("a.cu", KERNEL)
        flags = (
            "-arch=sm_90 -arch native -gencode arch=compute_90,code=sm_90 "
            "--generate-code=arch=compute_80,code=sm_80 -rdc=false -lineinfo -G "
            "-Xptxas -v -maxrregcount=64 -std c++20 -O3 --expt-relaxed-constexpr "
            "-Wno-deprecated-gpu-targets -allow-unsupported-compiler "
            "-cudart static -t=4 -diag-suppress=20012 -m64 "
            "-Xcudafe --display_error_number -extended-lambda -forward-unknown-to-host-compiler "
            "--machine 64 -compress-mode=size --static-global-template-stub false -time=t.csv "
            "-split-compile-extended=0 --display-error-number --brief-diagnostics true"
        )
        self.good("a.cu", "-c", "-DVALUE=1", *flags.split())

    def test_folder_of_objects(self) -> None:
        (self.folder / "out").mkdir()
        self.write("a.cu", KERNEL)
        self.good("-c", "-DVALUE=1", "a.cu", "--output-directory=out", "-MD")
        self.assertEqual({path.name for path in (self.folder / "out").iterdir()}, {"a.o"})
        self.assertTrue((self.folder / "a.d").read_text().startswith("out/a.o:"))

    def test_a_toolkits_headers_come_after_ours(self) -> None:
        toolkit = self.folder / "toolkit" / "include"
        (toolkit / "crt").mkdir(parents=True)
        (toolkit / "crt" / "func_macro.h").touch()
        (toolkit / "cuda_fp16.h").write_text("#error not ours\n")
        (toolkit / "more.h").write_text("#define MORE 1\n")
        source = self.write("t.cu", "#include <cuda_fp16.h>\n#include <more.h>\nint main() {}\n")
        for words in ((f"-I{toolkit}",), ("-I", toolkit), ("-isystem", toolkit)):
            done = cc("-c", *words, source, folder=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_streams_of_threads(self) -> None:
        """By option or by macro, in both spellings: launches, too."""
        self.write("a.cu", KERNEL)
        macro = "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"
        for flags in (["--default-stream=per-thread"], [f"-D{macro}"], ["-D", macro]):
            self.good("-c", "-DVALUE=1", "a.cu", *flags)
            symbols = run(["nm", "a.o"], self.folder).stdout
            self.assertIn("U cudaLaunchKernel_ptsz", symbols, flags)

    def test_cudas_libraries_are_in_the_runtime(self) -> None:
        self.write("d.c", "#include <cuda.h>\nint main(void) { return cuInit(1) != 1; }\n")
        files = ["none/libcudart.so", "stubs/libcuda.so.1", "libcudadevrt.a"]  # as CMake names them
        self.good("d.c", "-o", "d", "-lcuda", "-lcudart", *files)
        self.assertEqual(run(["./d"], folder=self.folder).returncode, 0)

    def test_host_compiler_options(self) -> None:
        self.write("a.cu", "int main() { int unused; }\n")
        self.assertIn(
            "unused variable", self.good("-c", "a.cu", "-Xcompiler", "-fPIC,-Wall").stderr
        )
        self.assertIn("unused variable", self.good("-c", "a.cu", "--compiler-options=-Wall").stderr)
        self.assertIn(
            "unused variable", self.good("-c", "a.cu", "--compiler-options", "-fPIC -Wall").stderr
        )
        self.assertIn(
            "unused", self.bad("-c", "a.cu", "-Xcompiler", "-Wall", "-Werror", "all-warnings")
        )
        self.assertEqual(self.good("-c", "a.cu", "-Wall", "-w").stderr, "")

    def test_options_from_files_and_variables(self) -> None:
        self.write("a.cu", KERNEL)
        self.write("more.rsp", "-DVALUE=3 '-DTEXT=\"a b\"' @deeper.rsp\n")
        self.write("deeper.rsp", "-o\n  b.o\n")
        self.write("none.rsp", "")
        self.write("round.rsp", "-c @round.rsp")
        for flags in (
            ["--options-file", "more.rsp"],
            ["-optf", "more.rsp,none.rsp"],
            ["@more.rsp"],
        ):
            self.good("-c", "a.cu", *flags)
            (self.folder / "b.o").unlink()
        self.good("-c", "a.cu", NVCC_APPEND_FLAGS="-DVALUE=1", NVCC_PREPEND_FLAGS="-o c.o")
        self.assertIn("c.o", self.names())
        self.assertIn("'no.rsp': No such file", self.bad("a.cu", "@no.rsp"))
        self.assertIn("without end", self.bad("a.cu", "@round.rsp"))

    def test_keep_dir(self) -> None:
        self.write("a.cu", KERNEL)
        self.good("-c", "a.cu", "-DVALUE=1", "--keep", "--keep-dir", "kept")
        self.assertIn("kept", self.names())
        self.assertNotIn("a.o.vgpu", self.names())

    def test_where_the_toolkit_lies(self) -> None:
        """As CMake reads it of nvcc; what links the objects again is shown, and does."""
        self.write("a.cu", KERNEL)
        self.good("-c", "a.cu", "-DVALUE=1")
        shown = self.good("--dryrun", "a.o", "-o", "a").stderr
        top = re.search(r"^#\$ TOP=(.*)$", shown, re.M)[1]
        self.assertIn(f'#$ LIBRARIES=  "-L{top}/lib64"\n', shown)
        link = next(line for line in shown.splitlines() if line.startswith(f"#$ {top}/bin/nvcc"))
        done = run(["sh", "-c", link.removeprefix("#$ ")], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(["./a"], self.folder).returncode, 0)

    def test_languages(self) -> None:
        self.write("a.txt", KERNEL)
        self.good("-x", "cu", "-DVALUE=2", "a.txt", "-c", "-o", "a.o")
        self.write("c.c", 'int class; _Static_assert(1, "C"); int main(void) { return class; }\n')
        self.write("p.cpp", "#ifdef __CUDACC__\n#error\n#endif\nclass c {};\n")
        self.good("c.c", "p.cpp", "-std=c++17", "-o", "program")
        self.assertEqual(run([self.folder / "program"]).returncode, 0)

    def test_language_behind_the_file(self) -> None:
        """As nvcc: -x is of all files; an object stays one."""
        self.write("a.txt", KERNEL)
        self.write("b.cpp", "int b;\n")
        self.good("-c", "b.cpp")
        self.good("a.txt", "b.o", "-x", "cu", "-DVALUE=2", "-o", "program")
        self.assertEqual(run([self.folder / "program"]).returncode, 0)

    def test_the_oldest_dialect(self) -> None:
        """nvcc's -std=c++03: programs from before C++11 compile."""
        old = "#include <vector>\nstd::vector<std::vector<int> > v(0);\nint x = int('a');\n"
        self.write("a.cu", old + KERNEL)
        self.write("b.cpp", "#if __cplusplus >= 201103\n#error\n#endif\n")
        self.good("-std=c++03", "-DVALUE=1", "a.cu", "b.cpp", "-o", "a")
        self.assertEqual(run([self.folder / "a"]).returncode, 0)

    def test_archives_and_relocatable_objects(self) -> None:
        self.write("a.cu", KERNEL.replace("int main", "int in_library"))
        self.write("b.cpp", "int b() { return 0; }\n")
        self.write("m.cpp", "int in_library();\nint b();\nint main() { return b(); }\n")
        self.good("-dc", "a.cu", "-DVALUE=1")
        self.good("-lib", "a.o", "b.cpp", "-o", "lib.a", "-Xarchive", "--target=default")
        self.assertEqual(run(["ar", "t", "lib.a"], self.folder).stdout.split(), ["a.o", "1-b.o"])
        self.good("-r", "a.o", "b.cpp", "-o", "both.o")
        for objects in (["lib.a"], ["both.o"]):
            self.good("m.cpp", *objects, "-o", "m")
            self.assertEqual(run([self.folder / "m"]).returncode, 0)
        self.assertIn("vgpu_device_link_of_", self.bad("m.cpp", "both.o", "-nodlink"))

    def test_run(self) -> None:
        """The program's exit status is that of the command."""
        self.write("a.cpp", "int main(int count, char **) { return count; }\n")
        done = cc("-run", "a.cpp", "-run-args", "1,2", "-run-args=3 4", folder=self.folder)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(cc("-run", "a.cpp", "-o", "b", folder=self.folder).returncode, 1)

    def test_profile(self) -> None:
        """gprof's file is written if the compiler and the linker were told."""
        self.write("a.cu", KERNEL)
        for flag in ("--profile", "-pg"):
            self.good(flag, "a.cu", "-DVALUE=1", "-o", "a")
            self.assertEqual(run(["./a"], self.folder).returncode, 0)
            (self.folder / "gmon.out").unlink()

    def test_shared_library(self) -> None:
        self.write("a.cu", KERNEL.replace("int main", "void in_library"))
        self.write(
            "m.cu",
            "void in_library();\nint main() { in_library(); return cudaDeviceSynchronize(); }\n",
        )
        self.good("-shared", "-Xcompiler", "-fPIC", "-DVALUE=1", "a.cu", "-o", "liba.so")
        self.good("m.cu", "-L.", "-la", "-Xlinker", f"-rpath,{self.folder}", "-o", "m")
        self.assertEqual(run([self.folder / "m"]).returncode, 0)

    def test_dependencies(self) -> None:
        self.write("h.h", "#define VALUE 3\n")
        self.write("a.cu", '#include "h.h"\n#include <stdio.h>\n' + KERNEL)
        self.good("-c", "a.cu", "-MD", "-MF", "deps", "-MT", "target", "-o", "x.o")
        text = (self.folder / "deps").read_text()
        self.assertTrue(text.startswith("target:"))
        for name in (" a.cu", " h.h", "vgpu/prelude.h", "cuda_runtime.h"):
            self.assertIn(name, text)
        self.good("-c", "a.cu", "-MMD", "-o", "x.o")
        self.assertTrue((self.folder / "x.d").read_text().startswith("x.o:"))
        users = self.good("-MM", "a.cu").stdout
        self.assertTrue(users.startswith("a.o:") and " h.h" in users)
        every = self.good("-M", "a.cu").stdout
        self.assertTrue(every.startswith("a.o:") and "/stdio.h" in every)
        for text in (users, (self.folder / "x.d").read_text()):  # as nvcc: without the system's
            self.assertNotIn("/stdio.h", text)
        self.assertEqual(self.names(), {"h.h", "a.cu", "deps", "x.o", "x.d"})

    def test_preprocess(self) -> None:
        self.write("a.cu", "#define TWO 2\nint two = TWO;\n__global__ void k() {}\n")
        self.assertIn("int two = 2;", self.good("-E", "a.cu").stdout)
        self.good("-E", "a.cu", "-o", "out.ii")
        self.assertIn("int two = 2;", (self.folder / "out.ii").read_text())

    def test_images_are_kept_for_a_grader(self) -> None:
        """Those that are in the object."""
        made = self.folder / "image-"
        path = self.write("k.cu", "__global__ void k(int *p) { *p = 1; }\n")
        done = cc("-c", path, folder=self.folder, VGPU_CC_IMAGES=str(made))
        self.assertEqual(done.returncode, 0, done.stderr)
        (image,) = self.folder.glob("image-*")
        self.assertIn(image.read_bytes(), (self.folder / "k.o").read_bytes())

    def test_dryrun_makes_nothing(self) -> None:
        self.write("a.cu", KERNEL)
        said = self.good("--dryrun", "a.cu", "-o", "a").stderr
        self.assertEqual(self.names(), {"a.cu"})
        self.assertGreaterEqual(said.count("#$ "), 7)
        self.assertIn("-D__CUDA_ARCH__=900", said)

    def test_verbose_and_keep(self) -> None:
        self.write("a.cu", KERNEL)
        said = self.good("-v", "--keep", "-c", "a.cu", "-DVALUE=1").stderr
        self.assertIn("#$ ", said)
        kept = {path.name for path in (self.folder / "a.o.vgpu").iterdir()}
        self.assertIn("0-device.bc", kept)
        self.assertIn("0-device.so", kept)

    def test_refusals_say_why(self) -> None:
        self.write("a.cu", KERNEL)
        self.assertIn("-rdc yes: the value must be one of true", self.bad("-rdc=yes", "-c", "a.cu"))
        self.assertIn("'-cuda' is not supported: there is no", self.bad("--cuda", "a.cu"))
        self.assertIn("not a CUDA file", self.bad("-fatbin", "-x", "c++", "a.cu"))
        self.assertIn("unknown option '--nonsense'", self.bad("--nonsense", "a.cu"))
        self.assertIn("needs a value", self.bad("a.cu", "-o"))
        self.assertIn("no input files", self.bad("-c"))
        self.assertIn(
            "one of legacy null per-thread", self.bad("-default-stream=own", "-c", "a.cu")
        )
        self.assertIn("-x fortran", self.bad("-x", "fortran", "a.cu"))
        self.assertIn("names one object", self.bad("-c", "a.cu", "a.cu", "-o", "x.o"))
        self.assertIn("missing.cu", self.bad("-c", "missing.cu"))
        said = self.bad("-fatbin", "-DVALUE=1", "a.cu", "-o", "none/a.fatbin")
        self.assertIn("cannot write 'none/a.fatbin': No such file", said)
        done = cc("-c", "-DVALUE=1", "a.cu", folder=self.folder, VGPU_CXX="no-such-compiler")
        self.assertIn("cannot run 'no-such-compiler'", done.stderr)
        self.assertEqual(self.names(), {"a.cu"})

    def test_help_names_every_option(self) -> None:
        text = self.good("--help").stdout
        for line in (HERE / "options.tsv").read_text().splitlines():
            short = line.partition("\t")[0].split()[-1]
            if short[0] == "-" and short[:2] != "-W" and short not in ("-dw", "-link"):
                self.assertTrue(short[1:] in text, f"{short} is not in --help")
        self.assertIn("release 13.0", self.good("--version").stdout)

    def test_lone_quotes_in_skipped_text(self) -> None:
        """gcc's -fdirectives-only would lose what stands between them."""
        prose = "#if 0\nthis isn't code\n#endif\n"
        lines = KERNEL.splitlines(keepends=True)
        self.write("a.cu", f"{prose}#define VALUE 3\n{lines[0]}{prose}{lines[1]}")
        self.good("a.cu", "-o", "a")
        self.assertEqual(run([self.folder / "a"]).returncode, 0)

    def test_names_with_blanks_and_quotes(self) -> None:
        for name in ('a "b" c.cu', "it's.cu", "dir, with/x y.cu"):
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(KERNEL)
            self.good(path, "-DVALUE=1", "-o", self.folder / "p q")
            self.assertEqual(run([self.folder / "p q"]).returncode, 0)

    def test_a_device_is_not_removed(self) -> None:
        """Like -o /dev/null, which root could remove where the compilation fails."""
        null = self.folder / "null"
        try:
            os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("only root makes devices")
        self.write("a.cu", "__device__ int *f() { return new int[n]; }\n")
        self.bad("-c", "a.cu", "-o", "null")
        self.write("b.cu", KERNEL)
        self.good("-c", "-DVALUE=1", "b.cu", "-o", "/dev/null")
        self.assertTrue(null.is_char_device())

    def test_speed(self) -> None:
        """A lab's file in well under 5 s, even on a loaded machine: CPU time is what is limited."""
        lab = HERE / "../../labs/04-reduction"
        source = HERE / "../../solutions/04-reduction/reduction.cu"
        if not source.exists():
            self.skipTest("lab 04 is not there")
        before = os.times()
        self.good("-O2", "-g", "-I", HERE / "../../harness", "-I", lab, "-c", source, "-o", "x.o")
        after = os.times()
        spent = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        self.assertLess(spent, 4.0)


class Clang(Case):
    def test_ccbin(self) -> None:
        self.write("a.cu", KERNEL)
        done = cc("-ccbin", "clang++", "-v", "-DVALUE=1", "a.cu", "-o", "a", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#$ clang++", done.stderr)
        self.assertNotIn("note:", done.stderr)
        (self.folder / "tools").mkdir()
        (self.folder / "tools/g++").symlink_to(shutil.which("g++"))
        done = cc("-ccbin", "tools", "-v", "-DVALUE=1", "a.cu", "-o", "a", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("#$ tools/g++", done.stderr)

    def test_ccbin_is_not_for_cuda_files(self) -> None:
        """Which is said, once a command, but not where others read the output."""
        self.write("a.cu", KERNEL)
        self.write("b.cu", "int b;\n")
        self.write("c.cpp", "int c;\n")
        ccbins = (
            ["-ccbin", "g++"],
            ["-ccbin=g++"],
            ["--compiler-bindir", "g++"],
            ["--compiler-bindir=/usr/bin"],
        )
        for ccbin in ccbins:
            with self.subTest(ccbin=ccbin):
                done = cc("-c", "-DVALUE=1", "a.cu", "b.cu", *ccbin, folder=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, CCBIN_NOTE))
        for silent in (
            ["-c", "c.cpp"],
            ["a.o", "-o", "a"],
            ["-w", "-c", "b.cu"],
            ["-E", "b.cu"],
            ["-MM", "b.cu"],
        ):
            with self.subTest(silent=silent):
                done = cc("-ccbin", "g++", *silent, folder=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = cc("--dryrun", "-ccbin", "g++", "a.cu", folder=self.folder)
        self.assertTrue(all(line.startswith("#$ ") for line in done.stderr.splitlines()))
        self.assertEqual(cc("-c", "b.cu", folder=self.folder, VGPU_CXX="g++").stderr, "")

    def test_without_clang(self) -> None:
        """What to install is said."""
        self.write("a.cu", KERNEL)
        done = cc("-c", "a.cu", folder=self.folder, PATH=str(self.folder), VGPU_CLANG="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none in PATH; Debian and Ubuntu have it in the package clang", done.stderr)
        self.assertEqual(self.names(), {"a.cu"})


if __name__ == "__main__":
    main()
