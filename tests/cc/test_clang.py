# SPDX-License-Identifier: MIT
"""What Clang's CUDA front end refuses or does otherwise than nvcc, and what vgpu-cc makes of it;
what is in the objects."""

import pathlib
import re

from rig import CCBIN_NOTE, COMPILERS, HERE, Case, cc, main, run

RDC = HERE / "rdc"


def head(path: pathlib.Path, word: str) -> list[str]:
    return re.findall(rf"^// {word}: (.*)$", path.read_text(), re.MULTILINE)


class Clang(Case):
    def good(self, *arguments: object, said: str = "") -> None:
        done = cc(*arguments, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, said))

    def test_what_nvcc_takes_and_clang_does_not(self) -> None:
        """It is put differently (compile/rewrite.c): the lines stay, the dependencies too."""
        self.write(
            "h.h", "__device__ inline int one() { __shared__ alignas(16) int s; return s = 1; }\n"
        )
        source = self.write(
            "r.cu",
            '#include "h.h"\n'
            "__global__ void k(int *p) { *p += one(); }\n"
            "template <class... Size> void go(int *p, Size... size)\n"
            "{ k<<<size...>>>(p); k<<<size..., 0, 0>>>(p); }\n"
            "int main()\n{\n    int *p, v;\n    cudaMalloc(&p, 4); cudaMemset(p, 0, 4);\n"
            "    k<<<{1, 1}, {1}>>>(p); k<< <1, 1>> >(p); go(p, 1, dim3(1));\n"
            "    cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);\n    return v - 4;\n}\n",
        )
        self.good("-MD", "-MF", "deps", source, "-c", "-o", "r.o")
        self.assertIn(
            " h.h", (self.folder / "deps").read_text().replace(str(self.folder) + "/", "")
        )
        self.assertNotIn(".ii", (self.folder / "deps").read_text())
        self.good("r.o", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)
        source.write_text(source.read_text() + "int wrong = missing;\n")
        said = cc("-c", source, folder=self.folder).stderr
        self.assertRegex(said, r"r\.cu:13:13: error: use of undeclared identifier 'missing'")
        self.assertNotIn("<<<", said)

    def test_shared_objects(self) -> None:
        """No constructor of theirs runs, as with nvcc, which warns, too."""
        source = self.write(
            "s.cu",
            "struct point { int x; __device__ point() : x(7) {} };\n"
            "template <class T> __global__ void k(int *p)\n"
            "{\n    __shared__ T all[2][32];\n"
            "    all[1][threadIdx.x].x = threadIdx.x;\n    __syncthreads();\n"
            "    p[threadIdx.x] = all[1][31 - threadIdx.x].x;\n}\n"
            "int main()\n{\n    int *p, v[32];\n    cudaMalloc(&p, sizeof v);\n"
            "    k<point><<<1, 32>>>(p);\n"
            "    cudaMemcpy(v, p, sizeof v, cudaMemcpyDefault);\n    return v[1] - 30;\n}\n",
        )
        done = cc(source, "-o", "x", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = re.findall(r"s\.cu:(\d+):(\d+): warning: no constructor runs", done.stderr)
        self.assertEqual(told, [("4", "18")], done.stderr)
        self.assertEqual(run([self.folder / "x"]).returncode, 0)
        self.good("-w", "-c", source)

    def test_host_calls_of_functions_for_both(self) -> None:
        """They are taken as long as only host code calls the function."""
        text = (
            "int square(int x) { return x * x; }\n"
            "#define BOTH __host__ __device__\n"
            "struct s { BOTH s() {} BOTH int f(); static BOTH int g() { return 1; } };\n"
            "BOTH int s::f() { return square(2); }\n"
            "__host__ __device__ int twice(int x) { return 2 * square(x); }\n"
            "BOTH int three() { return 3; }\n"
            "__global__ void k(int *p) { *p = three() + s::g(); }\n"
        )
        source = self.write("b.cu", text + "int main() { return twice(0) + s().f() - 4; }\n")
        self.good(source, "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)
        source.write_text(text + "__global__ void l(int *p) { *p = twice(*p); }\n")
        said = cc("-c", source, folder=self.folder).stderr
        self.assertIn("b.cu:5:51: error: reference to __host__ function 'square'", said)

    def test_a_kernel_that_only_the_host_sees(self) -> None:
        """A launch of it would fail when the program runs."""
        self.write(
            "h.cu",
            "namespace v1 { template <class T> __global__ void fine(T *) {} }\n"
            'extern "C" __global__ void plain() {}\nstatic __global__ void own(int) {}\n'
            "#ifndef __CUDA_ARCH__\n__global__ void hidden(int *p) { *p = 1; }\n#endif\n"
            "template <int N>\n__global__ void launched(int *p) { *p = N; }\n"
            "void go(int *p)\n{\n    v1::fine<<<1, 1>>>(p); plain<<<1, 1>>>(); own<<<1, 1>>>(1);\n"
            "#ifndef __CUDA_ARCH__\n    launched<3><<<1, 1>>>(p);\n#endif\n}\n",
        )
        for flag in ("-c", "-dc"):
            with self.subTest(flag=flag):
                done = cc(flag, "-O2", "h.cu", folder=self.folder)
                self.assertNotEqual(done.returncode, 0)
                told = re.findall(r"h\.cu:(\d+):\d+: error: kernel '(\w+)'", done.stderr)
                self.assertEqual(told, [("5", "hidden"), ("8", "launched")], done.stderr)
                self.assertEqual(self.names(), {"h.cu"})

    def test_names_are_whole_beside_the_working_folder(self) -> None:
        """LLVM's debug information leaves out what a path and the folder have in common."""
        path = self.write("far.cu", "__device__ int f();\n__global__ void k() { f(); }\n")
        (self.folder / "beside").mkdir()
        done = cc("-c", path, folder=self.folder / "beside")
        self.assertTrue(done.stderr.startswith(f"{path}:2:"), done.stderr)

    def test_device_variables_in_host_code(self) -> None:
        self.write(
            "v.cu",
            "__device__ int n;\n__constant__ float table[4];\nint main()\n{\n"
            "    int host = 0;\n    n = 3;\n"
            "    cudaMemcpyFromSymbol(&host, n, sizeof(n));\n"
            "    cudaMemcpyToSymbol(n, &host, sizeof n);\n    return table[host] > 0;\n}\n",
        )
        for flags in (["-c"], ["-dc"]):
            said = cc(*flags, "v.cu", folder=self.folder).stderr
            self.assertEqual(said.count("warning:"), 2, said)
            self.assertIn("v.cu:6:7: warning: __device__ variable 'n' is used in host code", said)
            self.assertIn("v.cu:9:12: warning: __device__ variable 'table' is used", said)
        self.good("-w", "-c", "v.cu")

    def test_a_launch_into_the_threads_own_stream(self) -> None:
        self.write("s.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        self.good("--default-stream", "per-thread", "-c", "s.cu")
        needed = run(["nm", "-u", "s.o"], self.folder).stdout.split()
        self.assertIn("cudaLaunchKernel_ptsz", needed)
        self.assertNotIn("cudaLaunchKernel", needed)

    def test_folders_of_the_host_compiler(self) -> None:
        """-ccbin mpicxx: its headers are found."""
        (self.folder / "more").mkdir()
        (self.folder / "more/of_the_wrapper.h").write_text("enum { SEVEN = 7 };\n")
        wrapper = self.write("mpixx", f'#!/bin/sh\nexec g++ -I{self.folder}/more "$@"\n')
        wrapper.chmod(0o755)
        self.write("m.cu", "#include <of_the_wrapper.h>\nint main() { return SEVEN - 7; }\n")
        self.good("-ccbin", wrapper, "m.cu", "-o", "x", said=CCBIN_NOTE)
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_accesses_of_16_bytes_are_aligned(self) -> None:
        source = HERE.parent / "findings/kernels/misaligned.cu"
        built = cc("-g", "-O2", "-o", "x", source, folder=self.folder)
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        done = run([self.folder / "x", "wide_at_4"], self.folder)
        self.assertIn("misaligned.cu:55): a misaligned load: 16 bytes", done.stderr)

    def test_a_store_to_null_stays(self) -> None:
        self.write(
            "n.cu",
            "__global__ void k() { *(int *)0 = 1; }\n"
            "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }\n",
        )
        self.good("-w", "n.cu", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_a_launch_in_a_loop_is_one_call(self) -> None:
        """What the node advises of a launch counts by its call."""
        self.write(
            "l.cu",
            "__global__ void k() {}\n"
            "int main() { for (int g = 0; g < 2; g++) { cudaSetDevice(g); k<<<1, 1>>>(); } }\n",
        )
        self.good("-O2", "-c", "l.cu")
        code = run(["objdump", "-dr", "l.o"], self.folder).stdout
        self.assertEqual(len(re.findall(r"R_\w+\s+__cudaPushCallConfiguration", code)), 1)

    def test_the_image(self) -> None:
        """It reports accesses, not the reads of threadIdx, and shows its tables only."""
        self.write(
            "i.cu",
            "__global__ void k(int *p)\n"
            "{ p[threadIdx.x + blockIdx.y * blockDim.z + gridDim.x] = 1; }\n",
        )
        self.good("--keep", "-O2", "-c", "i.cu")
        symbols = run(["nm", "-D", "i.o.vgpu/0-device.so"], self.folder).stdout.split("\n")
        wanted = {line.split()[-1] for line in symbols if " U " in line}
        tables = {"abi", "kernels", "kernel_count", "vars", "var_count"}
        self.assertIn("__tsan_write4", wanted)
        self.assertNotIn("__tsan_read4", wanted)
        defined = {line.split()[-1] for line in symbols if line} - wanted
        self.assertEqual(defined, {f"vgpu_image_{table}" for table in tables})

    def test_without_lines(self) -> None:
        """-g0: no line of the source is in the image, and no path."""
        header = self.write("h.h", "__device__ const char *name() { return __FILE__; }\n")
        self.write("g.cu", "__global__ void k(int *p) { *p = name()[*p]; }\n")
        flags = ("-g", "-Xcompiler", "-g0", f"-ffile-prefix-map={self.folder}=.")
        self.good("--keep", *flags, "-include", header, "-c", "g.cu")
        image = self.folder / "g.o.vgpu/0-device.so"
        for word in (str(self.folder), "host_defines.h", ".debug_line"):
            self.assertFalse(word.encode() in image.read_bytes(), word)
        self.good("--keep", "-include", header, "-c", "g.cu")
        for word in (str(self.folder), "host_defines.h", ".debug_line"):
            self.assertTrue(word.encode() in image.read_bytes(), word)

    def test_preprocess(self) -> None:
        self.write("h.h", "#define TWO 2\n")
        self.write("e.cu", '#include "h.h"\nint two = TWO, major = __clang_major__;\n')
        said = cc("-E", "e.cu", folder=self.folder).stdout
        self.assertRegex(said, r"int two = 2, major = \d+;")
        self.good("-E", "e.cu", "-o", "out.ii")
        self.assertIn("int two = 2", (self.folder / "out.ii").read_text())
        said = cc("-M", "e.cu", folder=self.folder).stdout
        self.assertTrue(said.startswith("e.o: e.cu"), said[:80])
        self.assertIn(" h.h", said)

    def test_no_header_of_ours_stands_in_for_the_programs(self) -> None:
        self.write(
            "c.cu", '#if __has_include("check.h") || __has_include("wire.h")\n#error\n#endif\n'
        )
        self.good("-c", "c.cu")

    def test_keep_twice(self) -> None:
        self.write("a.cu", "__global__ void k() {}\n")
        for _ in range(2):
            self.good("--keep", "-c", "a.cu")

    def test_openmp(self) -> None:
        self.write(
            "o.cu",
            "#include <omp.h>\n__global__ void k() {}\nint main()\n{\n    int n = 0;\n"
            "#pragma omp parallel for num_threads(4) reduction(+ : n)\n"
            "    for (int i = 0; i < 8; i++) n += i + 0 * omp_get_thread_num();\n"
            "    return n - 28;\n}\n",
        )
        done = cc("-c", "-Xcompiler", "-fopenmp", "o.cu", folder=self.folder)
        if "'omp.h' file not found" in done.stderr:
            self.skipTest("there is no libomp here")
        for host in COMPILERS:
            with self.subTest(host=host):
                said = "" if host == "clang++" else CCBIN_NOTE
                self.good("-ccbin", host, "-Xcompiler", "-fopenmp", "o.cu", "-o", "x", said=said)
                self.assertEqual(run([self.folder / "x"]).returncode, 0)
                # The runtime's own, which carries virtual clocks into the region and out of it.
                defined = run(["nm", "--defined-only", "x"], self.folder).stdout.split()
                self.assertTrue("__kmpc_fork_call" in defined)

    def test_tables_of_the_host(self) -> None:
        """Clang takes a constant for one of device code's, too; this one holds host functions."""
        self.write(
            "t.cu",
            "static int f() { return 7; }\nextern int (*const table[])();\n"
            "int (*const table[])() = {f};\n__global__ void k(int *p) { *p = 1; }\n"
            "int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
            "return table[0]() - 7 + cudaDeviceSynchronize(); }\n",
        )
        self.good("t.cu", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_separate_compilation(self) -> None:
        for name in "abc":
            self.good("-dc", RDC / f"{name}.cu", "-o", f"{name}.o")
        self.good("-dlink", "a.o", "b.o", "c.o", "-o", "linked.o")
        self.good("a.o", "b.o", "c.o", "linked.o", "-o", "x")
        done = run([self.folder / "x"])
        self.assertEqual(done.stdout.splitlines(), head(RDC / "a.cu", "prints"), done.stderr)
        sections = run(["readelf", "-SW", self.folder / "x"]).stdout
        self.assertNotIn(".vgpu_rdc", sections, "bitcode is left in the program")
        self.assertNotIn("__nv_relfatbin] PROGBITS 0", sections)

    def test_one_source_twice(self) -> None:
        """Different objects of one file are different files; what is static in both is two."""
        self.write(
            "t.cu",
            "static __device__ int v = WHICH;\nnamespace { __device__ int w = WHICH; }\n"
            "static __global__ void k(int *p) { *p = v + w; }\n"
            "#define CAT(a, b) a##b\n#define NAME(n) CAT(f, n)\n"
            "int NAME(WHICH)(int *p) { int h = 10 * WHICH; cudaMemcpyToSymbol(w, &h, 4);\n"
            "k<<<1, 1>>>(p); cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h; }\n",
        )
        self.write(
            "m.cu",
            "int f1(int *), f2(int *);\n"
            "int main() { int *p; cudaMalloc(&p, 4); return f1(p) * 100 + f2(p) - 1122; }\n",
        )
        for number in (1, 2):
            self.good("-dc", f"-DWHICH={number}", "t.cu", "-o", f"t{number}.o")
        self.good("m.cu", "t1.o", "t2.o", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_managed_variables_of_another_file(self) -> None:
        """Its first constructors find it in place, too."""
        self.write(
            "a.cu",
            "__managed__ int n = 3;\n__global__ void k() { n++; }\n"
            "static int early = n;\nint first() { return early; }\n",
        )
        self.write(
            "b.cu",
            "extern __managed__ int n;\nint first();\n__global__ void k();\n"
            "__global__ void twice() { n *= 2; }\n"
            "int main() { k<<<1, 1>>>(); twice<<<1, 1>>>(); cudaDeviceSynchronize();\n"
            "return first() != 3 || n != 8; }\n",
        )
        self.good("-rdc=true", "a.cu", "b.cu", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_files_that_do_not_fit(self) -> None:
        f = "__device__ int f() { return 1; }\n"
        self.write("a.cu", f + "__global__ void k() { f(); }\nint main() {}\n")
        self.write("b.cu", f + "__global__ void k2() { f(); }\n")
        done = cc("-rdc=true", "a.cu", "b.cu", folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(
            "b.cu:1:1: error: __device__ function 'f' is defined here and in", done.stderr
        )
        self.write("b.cu", "__global__ void k2() {}\n")
        self.write("a.cu", "__device__ int f();\n__global__ void k() { f(); }\nint main() {}\n")
        done = cc("-rdc=true", "a.cu", "b.cu", folder=self.folder)
        self.assertIn("a.cu:2:23: error: __device__ function 'f' is used here, but", done.stderr)

    def test_mistakes_are_clangs_to_tell(self) -> None:
        """At the user's line, with a caret; the host's pass and the device's say it once."""
        source = self.write(
            "wrong.cu",
            "int host(int x) { return x + 1; }\n"
            "__global__ void k(int *p) { *p = host(*p); }\n"
            "int main() { k<<<1, 1>>>(nullptr); }\n",
        )
        built = cc("-c", source, "-o", self.folder / "x.o", folder=self.folder)
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
        built = cc("-c", source, "-o", self.folder / "x.o", folder=self.folder)
        self.assertNotEqual(built.returncode, 0)
        self.assertRegex(built.stderr, r"ptx\.cu:2:5: error: inline PTX that the virtual node")


if __name__ == "__main__":
    main()
