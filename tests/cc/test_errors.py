# SPDX-License-Identifier: MIT
"""Every marked line in errors/ has its error, at its column, and no other line has one."""

from rig import HERE, Case, cc, main, plain


class Errors(Case):
    def test_marked_lines(self) -> None:
        for path in sorted((HERE / "errors").glob("*.cu")):
            with self.subTest(path=path.name):
                self.check_marked_lines(path)


class Messages(Case):
    def test_a_warning_of_both_passes_is_said_once(self) -> None:
        path = self.write(
            "w.cu",
            "__global__ void k() { int in_kernel; }\nint main() { int in_host; k<<<1, 1>>>(); }\n",
        )
        said = plain(cc("-Wall", "-c", path, folder=self.folder).stderr)
        self.assertEqual(said.count("warning:"), 2, said)
        self.assertIn("w.cu:1:27: warning: unused variable 'in_kernel'", said)
        self.assertIn("w.cu:2:18: warning: unused variable 'in_host'", said)

    def test_a_launch_in_device_code(self) -> None:
        text = (
            "__global__ void child() {}\n__global__ void parent() { child<<<1, 1>>>(); }\n"
            "int main() { parent<<<1, 1>>>(); }\n"
        )
        done = cc("-c", self.write("p.cu", text), folder=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the virtual node has no dynamic parallelism", done.stderr)

    def test_the_line_is_quoted_with_a_caret(self) -> None:
        path = self.write(
            "q.cu",
            "int n;\n__global__ void k(int *p) { *p = n; }\nint main() { k<<<1, 1>>>(&++n); }\n",
        )
        said = cc("-c", path, folder=self.folder).stderr.splitlines()
        self.assertTrue(said[0].startswith(f"{path}:2:34: error: reference to __host__ variable"))
        line, caret = (text.split(" | ")[-1] for text in said[1:3])  # from clang 16 on: "    2 | "
        self.assertEqual(line, "__global__ void k(int *p) { *p = n; }")
        self.assertEqual(caret.index("^"), line.index("n; }"))

    def test_device_variables_in_host_code(self) -> None:
        text = (
            "__device__ int n, m;\nint f(int m) { return m; }\n"
            "int main()\n{\n    int host = 0;\n    n = 3;\n"
            "    cudaMemcpyFromSymbol(&host, n, sizeof(n));\n"
            "    cudaMemcpyToSymbol(n, &host, sizeof n);\n    return f(n);\n}\n"
        )
        done = cc("-c", self.write("a.cu", text), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning:"), 2, done.stderr)
        for place in ("6:7", "9:14"):
            self.assertIn(f"a.cu:{place}: warning: __device__ variable 'n' is used in", done.stderr)

    def test_errors_in_a_header(self) -> None:
        self.write("h.cuh", "#pragma once\n\n__device__ int f() { return missing; }\n")
        path = self.write("a.cu", '#include "h.cuh"\n__global__ void k(int *p) { *p = f(); }\n')
        said = plain(cc("-c", path, folder=self.folder).stderr)
        self.assertIn(f"In file included from {path}:1", said)
        self.assertIn("/h.cuh:3:29: error: use of undeclared identifier 'missing'", said)

    def test_a_header_named_system_is_user_code(self) -> None:
        (self.folder / "sys").mkdir()
        (self.folder / "sys" / "k.cuh").write_text(
            "template <class T> __global__ void k(T *p)\n"
            "{ __shared__ T s[4]; s[0] = 3; *p = s[0]; }\n"
        )
        path = self.write(
            "a.cu", "#include <k.cuh>\nint main() { int *p = nullptr; k<<<1, 1>>>(p); }\n"
        )
        done = cc("-isystem", self.folder / "sys", "-c", path, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_hidden_from_the_device_pass(self) -> None:
        text = (
            "template <class T> __global__ void k(T *p) { *p = 1; }\n"
            "void f(int *p)\n{\n#ifndef __CUDA_ARCH__\n    k<<<1, 1>>>(p);\n#endif\n}\n"
        )
        said = cc("-c", self.write("a.cu", text), folder=self.folder).stderr
        self.assertIn("a.cu:1:1: error: kernel 'k' is in host code, but not in device code", said)

    def test_unbalanced_brackets_are_the_compilers_business(self) -> None:
        done = cc(
            "-c", self.write("a.cu", "__global__ void k() { if (1) {\n}\n"), folder=self.folder
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.cu:2:2: error: expected", done.stderr)


if __name__ == "__main__":
    main()
