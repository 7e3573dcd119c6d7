# SPDX-License-Identifier: MIT
"""Separate compilation of device code: -rdc=true, -dc and -dlink, as nvcc and CMake use them."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from rig import CC, COMPILERS, HERE, Case, cc, main, run

RDC = HERE / "rdc"
FILES = ("a", "b", "c")
PRINTS = re.findall(r"^// prints: (.*)$", (RDC / "a.cu").read_text(), re.MULTILINE)
CACHE = tempfile.TemporaryDirectory(prefix="cc-rdc-")
LAUNCHER = "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"


class Rdc(Case):
    def good(self, *arguments: object, **environment: str) -> str:
        done = cc(*arguments, folder=self.folder, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def bad(self, *arguments: object) -> str:
        done = cc(*arguments, folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def objects(self, *names: str) -> list[str]:
        """Objects of those files, each of which is compiled once for all tests."""
        for name in names:
            made = pathlib.Path(CACHE.name) / f"{name}.o"
            if not made.exists():
                self.good("-dc", "-O2", "-Xcompiler", "-fPIC", RDC / f"{name}.cu", "-o", made)
            shutil.copy(made, self.folder)
        return [f"{name}.o" for name in names]

    def test_lambdas_in_two_files_that_name_the_thread(self) -> None:
        for name in ("k", "other"):
            self.write(
                f"{name}.cu",
                f"__global__ void {name}() {{ auto f = [](int i) {{ return i + threadIdx.x; }};"
                " if (f(1) != 1) __trap(); }\n" + (LAUNCHER if name == "k" else ""),
            )
        self.good("-rdc=true", "k.cu", "other.cu", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def prints_right(self, program: str = "x") -> None:
        done = run([self.folder / program])
        self.assertEqual(done.stdout.splitlines(), PRINTS, done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def archive(self, name: str, *objects: str) -> None:
        subprocess.run(["ar", "rc", name, *objects], cwd=self.folder, check=True)


class Programs(Rdc):
    def test_in_one_command(self) -> None:
        sources = [RDC / f"{name}.cu" for name in FILES]
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                flags = ["-Wall", "-Wextra", "-Werror", "-std=c++14"]
                self.good("-rdc=true", *flags, *sources, "-o", "x", VGPU_CXX=compiler)
                self.prints_right()
        self.assertEqual(self.names(), {"x"})

    def test_device_link_by_itself(self) -> None:
        """CMake's way: -dc, -dlink, and the host's linker; vgpu-cc as the linker links nothing
        twice."""
        objects = self.objects(*FILES)
        self.good("-dlink", *objects, "-lcudadevrt", "-o", "linked.o")
        self.good(*objects, "linked.o", "-o", "x")
        self.prints_right()
        shown = cc("-v", *objects, "linked.o", "-o", "y", folder=self.folder).stderr
        library = re.search(r"(\S+)/libvgpurt\.a", shown).group(1)
        toolkit = re.search(r"(\S*toolkit\.s)", shown).group(1)
        self.assertIn(str(self.folder), toolkit)
        runtime = [f"{library}/libvgpurt.a", f"{library}/libvgpu_common.a"]
        host = ["g++", *objects, "linked.o", "-Wl,--start-group", *runtime, "-Wl,--end-group"]
        host += ["-lpthread", "-ldl", "-lm", "-lrt", "-o", "z"]
        self.assertEqual(run(host, self.folder).returncode, 0)
        home = str(CC.parent.parent)
        done = run([self.folder / "z"], VGPU_HOME=home)
        self.assertEqual(done.stdout.splitlines(), PRINTS, done.stderr)
        without = run([word for word in host if word != "linked.o"], self.folder)
        self.assertIn("vgpu_device_link_of_b_cu_", without.stderr)
        self.good("-dlink", *objects)
        self.assertIn("a_dlink.o", self.names())

    def test_static_libraries(self) -> None:
        main_object, b, c = self.objects(*FILES)
        self.archive("libbc.a", b, c)
        self.good(main_object, "libbc.a", "-o", "x")
        self.prints_right()
        self.good(main_object, "-L.", "-lbc", "-lbc", "-o", "x")
        self.prints_right()

    def test_a_library_that_was_linked_already(self) -> None:
        self.write(
            "lib.cu",
            "__device__ int own;\nextern __device__ int other;\n"
            "__global__ void k(int *p) { *p = ++own + other; }\n"
            "int f(int *p) { k<<<1, 1>>>(p); int v;\n"
            "cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v; }\n",
        )
        self.write("other.cu", "__device__ int other = 40;\n")
        self.write(
            "m.cu",
            "extern __device__ int mine; int f(int *);\n"
            "__global__ void k2(int *p) { *p = ++mine; }\n"
            "int main() { int *p; cudaMalloc(&p, 4); f(p); k2<<<1, 1>>>(p);\n"
            "return f(p) == 42 ? 0 : 1; }\n",
        )
        self.write("mine.cu", "__device__ int mine;\n")
        self.good("-dc", "lib.cu", "other.cu", "m.cu", "mine.cu")
        self.good("-dlink", "lib.o", "other.o", "-o", "linked.o")
        self.archive("libf.a", "lib.o", "other.o", "linked.o")
        self.good("m.o", "mine.o", "libf.a", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_a_partial_link_keeps_all_parts(self) -> None:
        objects = self.objects(*FILES)
        subprocess.run(["ld", "-r", *objects[1:], "-o", "bc.o"], cwd=self.folder, check=True)
        self.good("a.o", "bc.o", "-o", "x")
        self.prints_right()
        sections = run(["readelf", "-SW", self.folder / "x"]).stdout
        self.assertNotIn(".vgpu_rdc", sections, "device objects are left in the program")

    def test_beside_files_without(self) -> None:
        """One program, one image for the files with -rdc and one for each of the others."""
        objects = self.objects(*FILES)
        self.write(
            "d.cu",
            "__global__ void report(int *p) { *p = 0; }\n__device__ int total = 7;\n"
            "static int f() { report<<<1, 1>>>(nullptr); return 0; }\n"
            "int (*keep)() = f;\n".replace("__device__ int", "static __device__ int"),
        )
        self.good("-c", "d.cu", "-o", "d.o")
        self.good(*objects, "d.o", "-o", "x")
        self.prints_right()

    def test_shared_library(self) -> None:
        objects = self.objects("b", "c")
        self.write(
            "m.cu",
            "void run_b(int *);\nint main() { int *p, v[4]; cudaMalloc(&p, 64);\n"
            "run_b(p); cudaMemcpy(v, p, 16, cudaMemcpyDeviceToHost); return v[3] - 4; }\n",
        )
        self.good("-shared", *objects, "-o", "libbc.so")
        self.good("m.cu", "-L.", "-lbc", "-Xlinker", f"-rpath,{self.folder}", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_faults_know_the_other_file(self) -> None:
        self.write(
            "a.cu", "__device__ void f(int *);\n__global__ void k() { f((int *)64); }\n" + LAUNCHER
        )
        self.write("f.cu", "\n\n__device__ void f(int *p)\n{\n    *p = 1;\n}\n")
        self.good("-rdc=true", "-g", "a.cu", "f.cu", "-o", "x")
        done = run([self.folder / "x"])
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("f.cu:5", done.stderr)

    def test_one_source_twice(self) -> None:
        """Different objects of one file are different files."""
        self.write(
            "t.cu",
            "static __device__ int v = WHICH;\n"
            "static __global__ void k(int *p) { *p = v; }\n"
            "#define CAT(a, b) a##b\n#define NAME(n) CAT(f, n)\n"
            "int NAME(WHICH)(int *p) { k<<<1, 1>>>(p); int h;\n"
            "cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h; }\n",
        )
        self.write(
            "m.cu",
            "int f1(int *), f2(int *);\n"
            "int main() { int *p; cudaMalloc(&p, 4); return f1(p) * 10 + f2(p) - 12; }\n",
        )
        for number in (1, 2):
            self.good("-dc", f"-DWHICH={number}", "t.cu", "-o", f"t{number}.o")
        self.good("m.cu", "t1.o", "t2.o", "-o", "x")
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_long_paths(self) -> None:
        """A variable's name at the node does not grow with the path of its file."""
        folder = self.folder / ("long" * 20) / ("path" * 20)
        folder.mkdir(parents=True)
        (folder / "v.cu").write_text(
            "__device__ int a_variable = 5;\n__global__ void k() { a_variable++; }\n"
            "int main() { int h = 0; k<<<1, 1>>>();\n"
            "cudaMemcpyFromSymbol(&h, a_variable, 4); return h - 6; }\n"
        )
        for flags in ([], ["-rdc=true"]):
            self.good(*flags, folder / "v.cu", "-o", "x")
            self.assertEqual(run([self.folder / "x"]).returncode, 0, flags)


class Wrong(Rdc):
    def pair(self, a: str, b: str) -> str:
        self.write("a.cu", a + LAUNCHER)
        self.write("b.cu", b)
        said = self.bad("-rdc=true", "a.cu", "b.cu", "-o", "x")
        self.assertNotIn("x", self.names())
        return said

    def test_nobody_defines_it(self) -> None:
        use = "__device__ int f(int);\nextern __device__ int v;\n"
        use += "__global__ void k()\n{\n    v = f(1);\n}\n"
        said = self.pair(use, "__device__ int f(float) { return 1; }\nint v;\n")
        self.assertIn("a.cu:5:9: error: __device__ function 'f' is used here, but none of", said)
        self.assertIn("a.cu:5:7: error: __device__ variable 'v' is used here, but none of", said)
        self.assertIn("    5 |     v = f(1);", said)

    def test_it_is_a_host_function(self) -> None:
        use = "__device__ int f();\n__global__ void k() { f(); }\n"
        said = self.pair(use, "int f() { return 1; }\n")
        self.assertIn("__device__ function 'f' is used here", said)

    def test_it_is_another_files_own(self) -> None:
        use = "__device__ int f();\n__global__ void k() { f(); }\n"
        said = self.pair(
            use, "static __device__ int f() { return 1; }\n__global__ void k2() { f(); }\n"
        )
        self.assertIn("__device__ function 'f' is used here", said)

    def test_two_define_it(self) -> None:
        f = "__device__ int f() { return 1; }\n"
        said = self.pair(
            f + "__global__ void k() { f(); }\n", f + "__global__ void k2() { f(); }\n"
        )
        self.assertIn("b.cu:1:1: error: __device__ function 'f' is defined here and in a.cu", said)
        self.assertIn("cannot be linked together", said)

    def test_mistakes_in_functions_for_others_are_found_in_their_file(self) -> None:
        """No kernel of the file reaches them."""
        self.write(
            "f.cu", "int host(int v) { return v; }\n__device__ int f()\n{\n    return host(1);\n}\n"
        )
        said = self.bad("-dc", "f.cu")
        self.assertIn("f.cu:4:12: error: no matching function for call to 'host'", said)
        self.assertEqual(self.names(), {"f.cu"})

    def test_without_rdc(self) -> None:
        self.write(
            "a.cu",
            "extern __device__ int v;\n__device__ int f();\n__global__ void k() { v = f(); }\n",
        )
        said = self.bad("-c", "a.cu")
        self.assertIn("a.cu:3:27: error: __device__ function 'f' is declared but not", said)
        self.assertIn("a.cu:3:25: error: __device__ variable 'v' is declared but not", said)
        self.assertIn("-rdc=true", said)

    def test_damaged_objects_are_the_linkers_business(self) -> None:
        (name,) = self.objects("b")
        whole = (self.folder / name).read_bytes()
        at = whole.index(b"vgpurdc3")
        for place, value in ((at + 8, b"\xff" * 8), (at + 16, b"\xff" * 40), (at, b"x")):
            (self.folder / "bad.o").write_bytes(whole[:place] + value + whole[place + len(value) :])
            done = cc("-dlink", "bad.o", "-o", "d.o", folder=self.folder)
            self.assertGreaterEqual(done.returncode, 0, "ended by a signal")
        (self.folder / "bad.o").write_bytes(whole[: len(whole) // 2])
        self.assertGreaterEqual(cc("-dlink", "bad.o", folder=self.folder).returncode, 0)


if __name__ == "__main__":
    if shutil.which("ar") is None:
        raise SystemExit("there is no ar here")
    main()
