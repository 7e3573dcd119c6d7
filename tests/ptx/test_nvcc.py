# SPDX-License-Identifier: MIT
"""Programs that the real nvcc has compiled, started by vgpu-run: they print what they print when
vgpu-cc has compiled them, with NVIDIA's runtime beside them or inside. Without nvcc: skipped."""

import pathlib
import sys

from rig import CC, HERE, NVCC, Case, main
from test_instructions import PARTS, Part

RUNNER = CC.parent / "vgpu-run"
OWN = ("program", "tensor", "cluster", "texture", "barriers")
MORE = ("builtins", "device_code", "fast_math", "groups", "overloads", "ptx_video", "ptx_warp")


class Nvcc(Case):
    def nvcc(self, source: pathlib.Path, *options: str) -> pathlib.Path:
        program = self.folder / f"{source.stem}{'.o' if '-c' in options else '.nvcc'}"
        done = self.run_command(NVCC, "-std=c++17", "-w", *options, "-o", program, source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return program

    def test_same_output(self) -> None:
        valid = HERE.parent / "cc" / "valid"
        own_ones = [HERE / f"{name}.cu" for name in OWN]
        for source in (*own_ones, *(valid / f"{name}.cu" for name in MORE)):
            with self.subTest(source=source.name):
                own = self.folder / source.stem
                done = self.run_command(CC, "-std=c++17", "-w", "-o", own, source)
                self.assertEqual(done.returncode, 0, done.stderr)
                want = self.run_command(own)
                compiled = self.nvcc(source, "-arch=sm_90", "-c")
                for runtime in ("shared", "static"):
                    program = self.nvcc(compiled, "-arch=sm_90", f"-cudart={runtime}")
                    have = self.run_command(RUNNER, program)
                    self.assertEqual(have.stdout, want.stdout, have.stderr)
                    self.assertEqual(have.returncode, want.returncode)
                    self.assertNotIn("no version information", have.stderr)

    def test_fast_math(self) -> None:
        """Both compilers make the same of functions of float, to the last bit."""
        functions = ("exp", "exp2", "exp10", "log", "log2", "log10", "tan", "tanh", "sin", "cos")
        values = "".join(f"r[{i}] = {name}f(x);\n" for i, name in enumerate(functions))
        source = self.write(
            "fast.cu",
            "#include <cstdio>\n__global__ void k(float *r, float x)\n{\n" + values + "r[10] = "
            "powf(x, 1.7f);\nr[11] = x / 1.7f;\nr[12] = sqrtf(x);\nr[13] = rsqrtf(x);\n}\n"
            "int main()\n{\n    float *r, h[14];\n"
            "    cudaMalloc(&r, sizeof h);\n    for (float x = 0.01f; x < 30; x *= 1.1f) {\n"
            "        k<<<1, 1>>>(r, x);\n        cudaMemcpy(h, r, sizeof h, cudaMemcpyDefault);\n"
            '        for (float value : h)\n            std::printf("%a\\n", value);\n    }\n}\n',
        )
        own = self.folder / "fast"
        done = self.run_command(CC, "-use_fast_math", "-o", own, source)
        self.assertEqual(done.returncode, 0, done.stderr)
        want = self.run_command(own).stdout
        self.assertEqual(len(want.splitlines()), 14 * 85)
        program = self.nvcc(source, "-arch=sm_90", "-use_fast_math", "-fmad=false")
        self.assertEqual(self.run_command(RUNNER, program).stdout, want)

    def test_nccl_h_is_for_nvcc_too(self) -> None:
        """Of the virtual node, beside the Toolkit's headers."""
        source = self.write(
            "ring.cu", '#include "nccl_device.h"\nstatic_assert(sizeof(NCCL_SUFFIX "") == 6);\n'
        )
        self.nvcc(source, "-arch=sm_90", "-c", f"-I{HERE.parent / 'foreign/stand_in/nccl'}")

    def test_nodes(self) -> None:
        """The names that VGPU_NODE takes, from the folder of descriptions."""
        folder = HERE.parent.parent / "vgpu" / "nodes"
        names = {path.stem for path in folder.glob("*.json")} - {"schema"}
        done = self.run_command(RUNNER, "--nodes")
        self.assertEqual({line.split()[0] for line in done.stdout.splitlines()}, names)
        self.assertIn("none                 A machine with a driver and no GPU", done.stdout)
        one = self.write("own.json", '{\n  "name": "own",\n  "about": "One of my own.",\n')
        done = self.run_command("env", f"VGPU_NODES={one.parent}", RUNNER, "--nodes")
        self.assertEqual(done.stdout, "own                  One of my own.\n")

    def test_lines_of_findings(self) -> None:
        source = self.write(
            "late.cu",
            "__global__ void k(int *p)\n{\n    p[threadIdx.x + 1000000] = 1;\n}\n"
            "int main()\n{\n    int *p;\n    cudaMalloc(&p, 64);\n    k<<<1, 1>>>(p);\n"
            "    return cudaDeviceSynchronize();\n}\n",
        )
        program = self.nvcc(source, "-arch=sm_90", "-cudart=shared", "-lineinfo")
        self.assertIn("late.cu:3", self.run_command(RUNNER, program).stderr)

    def test_an_assertion_that_fails(self) -> None:
        source = self.write(
            "claim.cu",
            "#include <cassert>\n__global__ void k(int n)\n{\n    assert((int)threadIdx.x < n);\n"
            "}\nint main()\n{\n    k<<<1, 32>>>(5);\n"
            "    return cudaDeviceSynchronize() != 710;\n}\n",
        )
        done = self.run_command(RUNNER, self.nvcc(source, "-arch=sm_90", "-cudart=shared"))
        self.assertEqual(done.returncode, 0, done.stderr)
        said = "thread: [5,0,0] Assertion `(int)threadIdx.x < n` failed."
        self.assertIn(said, done.stdout + done.stderr)
        self.assertIn("claim.cu:4", done.stderr)

    def test_ptxas_takes_the_program_of_all_instructions(self) -> None:
        for name in PARTS:
            module = self.write(f"{name}.ptx", Part(name).program.ptx())
            done = self.run_command(NVCC, "-arch=sm_90", "-cubin", "-o", "all.cubin", module)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_cannot_be_run(self) -> None:
        source = HERE / "program.cu"
        static = self.nvcc(source, "-arch=sm_90")
        done = self.run_command("env", f"LD_LIBRARY_PATH={CC.parent.parent / 'lib'}", static)
        self.assertIn("cuGetExportTable", done.stderr)  # without vgpu-run
        self.run_command("strip", static)
        done = self.run_command(RUNNER, static)
        self.assertEqual(done.returncode, 125)
        self.assertIn("-cudart shared", done.stderr)
        machine = "-gencode=arch=compute_90,code=sm_90"
        done = self.run_command(RUNNER, self.nvcc(source, machine, "-cudart=shared"))
        self.assertIn("machine code of real GPUs only", done.stderr)
        self.assertIn("code=compute_75", done.stderr)

    def test_kernels_that_do_not_run(self) -> None:
        """One that has machine code only is named, with the driver's error. One that is called like
        a function is said to be, once, whichever compiler made its stub."""
        start = "#include <cstdio>\n__global__ void k(int *p) { *p = 1; }\nint main() { "
        lost = self.write(
            "lost.cu",
            start + "cudaFuncAttributes a; int got = cudaFuncGetAttributes(&a, k);\n"
            'k<<<1, 1>>>(nullptr); std::printf("%d %d\\n", got, cudaGetLastError()); }',
        )
        machine = "-gencode=arch=compute_90,code=sm_90"
        done = self.run_command(RUNNER, self.nvcc(lost, machine, "-cudart=shared"))
        self.assertEqual(done.stdout, "209 209\n", done.stderr)
        self.assertIn("kernel _Z1kPi: the device code of its file cannot be loaded", done.stderr)
        called = self.write(
            "called.cu",
            start + 'void (*f)(int *) = k; f(nullptr); std::printf("%d", cudaGetLastError()); }',
        )
        own = self.folder / "called"
        done = self.run_command(CC, "-o", own, called)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ([own], [RUNNER, self.nvcc(called, "-arch=sm_90")]):
            done = self.run_command(*words)
            self.assertEqual(done.stdout, "52", done.stderr)
            self.assertEqual(done.stderr.count("vgpu: "), 1, done.stderr)

    def test_a_library_with_the_runtime_inside(self) -> None:
        source = self.write(
            "extension.cu",
            "__global__ void k(int *p) { *p = 42; }\n"
            'extern "C" int answer()\n{\n    int *p, is = 0;\n    cudaMalloc(&p, 4);\n'
            "    k<<<1, 1>>>(p);\n    cudaMemcpy(&is, p, 4, cudaMemcpyDefault);\n"
            "    return is;\n}\n",
        )
        library = self.nvcc(source, "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC")
        program = f"import ctypes; print(ctypes.CDLL({str(library)!r}).answer())"
        done = self.run_command(RUNNER, sys.executable, "-c", program)
        self.assertEqual(done.stdout, "42\n", done.stderr)

    def test_a_program_without_the_runtime(self) -> None:
        source = self.write(
            "driver.cpp",
            "#include <cuda.h>\n#include <cstdio>\nint main()\n{\n    int count = 0;\n"
            '    cuInit(0);\n    cuDeviceGetCount(&count);\n    printf("%d\\n", count);\n}\n',
        )
        done = self.run_command(RUNNER, self.nvcc(source, "-arch=sm_90", "-lcuda"))
        self.assertEqual((done.stdout, done.stderr), ("1\n", ""))

    def test_nvrtc_beside_the_program(self) -> None:
        source = self.write(
            "version.cu",
            "#include <cstdio>\n#include <nvrtc.h>\nint main()\n{\n    int major, minor;\n"
            '    nvrtcVersion(&major, &minor);\n    printf("%d\\n", major);\n}\n',
        )
        done = self.run_command(RUNNER, self.nvcc(source, "-arch=sm_90", "-lnvrtc"))
        self.assertEqual((done.stdout, done.stderr), ("13\n", ""))

    def test_code_that_nothing_uses_is_not_translated(self) -> None:
        refused = self.write(
            "refused.cu",
            "__global__ void refused(int *p)\n{\n"
            '    asm volatile("mov.u32 %0, %%pm0;" : "=r"(*p));\n}\n'
            "void use(int *p) { refused<<<1, 1>>>(p); }\n",
        )
        source = self.write(
            "used.cu",
            "#include <cstdio>\nvoid use(int *p);\n__global__ void k(int *p) { *p = 7; }\n"
            "int main(int argc, char **)\n{\n    int *p, is = 0;\n    cudaMalloc(&p, 4);\n"
            "    k<<<1, 1>>>(p);\n    cudaMemcpy(&is, p, 4, cudaMemcpyDefault);\n"
            '    printf("%d\\n", is);\n    if (argc > 1)\n        use(p);\n'
            '    printf("%d\\n", cudaGetLastError());\n}\n',
        )
        program = self.nvcc(source, "-arch=sm_90", refused)
        done = self.run_command(RUNNER, program)
        self.assertEqual((done.stdout, done.stderr), ("7\n0\n", ""))
        done = self.run_command(RUNNER, program, "all")
        self.assertNotEqual(done.stdout.splitlines()[1], "0")
        self.assertIn("%pm0", done.stderr)

    def test_kernels_are_translated_one_by_one(self) -> None:
        kernels = "".join(f"__global__ void k{i}(int *p) {{ *p += {i} + x; }}\n" for i in range(9))
        source = self.write(
            "many.cu",
            f"#include <cstdio>\n__device__ int y = 100;\nstatic const int x = 1;\n{kernels}"
            "__global__ void reads(int *p) { *p += y; }\n"
            "int main()\n{\n    int *p, is = 0, two = 200;\n    cudaMalloc(&p, 4);\n"
            "    cudaMemset(p, 0, 4);\n    k7<<<1, 1>>>(p);\n    k3<<<1, 1>>>(p);\n"
            "    cudaMemcpyToSymbol(y, &two, 4);\n    reads<<<1, 1>>>(p);\n"
            "    cudaMemcpy(&is, p, 4, cudaMemcpyDefault);\n"
            '    printf("%d\\n", is);\n}\n',
        )
        program = self.nvcc(source, "-arch=sm_90")
        for _ in range(2):
            done = self.run_command(RUNNER, program)
            self.assertEqual((done.stdout, done.stderr), ("212\n", ""))
            # the list of parts, k7, k3, and reads with the variable
            self.assertEqual(len(list((self.folder / "cache").iterdir())), 4)

    def test_a_call_that_is_missing_in_the_runtime_inside(self) -> None:
        source = self.write(
            "missing.cu",
            "#include <cstdio>\nint main()\n{\n    cudaGraph_t graph;\n"
            "    cudaGraphCreate(&graph, 0);\n"
            '    printf("%d\\n", cudaGraphDebugDotPrint(graph, "graph.dot", 0));\n}\n',
        )
        done = self.run_command(RUNNER, self.nvcc(source, "-arch=sm_90"))
        self.assertEqual(done.stdout, "801\n")
        self.assertIn("cudaGraphDebugDotPrint: not modelled", done.stderr)


if __name__ == "__main__":
    if NVCC is None:
        print("there is no nvcc here")
        sys.exit(77)
    main()
