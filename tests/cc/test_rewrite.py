# SPDX-License-Identifier: MIT
"""What vgpu-cc does to a file where Clang has refused what nvcc takes: launches, inline PTX,
__shared__ variables. Nothing else in the file changes, and no text brings it down."""

import os
import shutil
import subprocess

from rig import HERE, REWRITE, Case, cc, main

BEFORE = """\
#include <cuda_runtime.h>
struct point { float x; __device__ point() : x(1) {} };
struct some { template <class T> friend int operator<<(some, T) { return 1; } };
template <class T> int operator<<(some, some) { return 1; }
template <class T> struct two { T of[2]; __device__ two() { of[0] = 0; } };
__global__ void k(int *p) {}
"""


class Text(Case):
    def rewritten(self, text: str, *flags: str) -> str:
        """Of a file that compiles so: the text behind BEFORE that Clang read at last."""
        shutil.rmtree(self.folder / "t.o.vgpu", ignore_errors=True)
        source = self.write("t.cu", BEFORE + text)
        done = cc("-c", "-w", "--keep", *flags, source, "-o", "t.o", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        copies = sorted((self.folder / "t.o.vgpu").glob("0-changed-*.cu"))
        made = (copies[0] if copies else source).read_text()
        self.assertTrue(made.startswith(BEFORE))
        self.assertEqual(made.count("\n"), source.read_text().count("\n"))
        return made.removeprefix(BEFORE)

    def check(self, text: str, *pairs: tuple[str, str]) -> None:
        """One file with a text for each pair; # is its number, @ what is refused and then taken."""
        texts = [text.replace("#", str(i)) for i in range(len(pairs))]
        refused, taken = (
            "".join(text.replace("@", part) for text, part in zip(texts, side, strict=True))
            for side in zip(*pairs, strict=True)
        )
        self.assertEqual(self.rewritten(refused), taken)

    def test_launches(self) -> None:
        self.check(
            "void f#(int *p) { @; }\n",
            ("k<<<{1, 2}, {3}>>>(p)", "k<<<dim3{1, 2}, dim3{3}>>>(p)"),
            ("k<<<1, {3}, 0>>>(p)", "k<<<1, dim3{3}, 0>>>(p)"),
            ("k<<<\n{1,\n2}, 3>>>(p)", "k<<<\ndim3{1,\n2}, 3>>>(p)"),
            ("k<< <1, 1>> >(p)", "k<<<1, 1>>>(p)"),
            ("k << < 1, dim3(1) >> > (p)", "k <<< 1, dim3(1) >>> (p)"),
            ("k<<<1, 1>> >(p)", "k<<<1, 1>>>(p)"),
            (
                "k<< <{1}, {2}>> >(p), k<<<{1}, 1>>>(p)",
                "k<<<dim3{1}, dim3{2}>>>(p), k<<<dim3{1}, 1>>>(p)",
            ),
        )

    def test_a_pack_of_arguments(self) -> None:
        made = "vgpu_grid({0}), vgpu_block({0}), vgpu_shared_bytes({0}), vgpu_stream({0})"
        self.check(
            "template <class... A> void f#(int *p, A... size)\n{\n    k<<<@>>>(p);\n}\n",
            ("size...", made.format("size...")),
            ("1, size...", made.format("1, size...")),
            (
                "size...,\n 0, 0",
                made.format("size...,  0, 0").replace(",  0", ",\n 0", 1),
            ),
        )

    def test_operators(self) -> None:
        text = "int f(some a) {{ return operator{}<some>(a, a); }}\n"
        self.assertEqual(self.rewritten(text.format("<<")), text.format("<< "))

    def test_registers_of_inline_ptx(self) -> None:
        self.check(
            '__global__ void c#(unsigned long long *p) { asm volatile(@ : "=l"(*p)); }\n',
            ('"mov.u64 %0, %globaltimer;"', '"mov.u64 %0, %%globaltimer;"'),
            ('"mov.u64 %0, %%globaltimer;"', '"mov.u64 %0, %%globaltimer;"'),
            (
                '"{ .reg .u64 p; mov.u64 p, %clock64;\\n\\t"\n"mov.u64 %0, %globaltimer; }"',
                '"{ .reg .u64 p; mov.u64 p, %%clock64;\\n\\t"\n"mov.u64 %0, %%globaltimer; }"',
            ),
        )

    def test_registers_without_outputs(self) -> None:
        text = '__global__ void c(int *p) {{ asm volatile("st.u32 [%0], {}laneid;" :: "l"(p)); }}\n'
        done = cc("-c", "--keep", self.write("t.cu", text.format("%")), folder=self.folder)
        self.assertIn('virtual node does not know: "st.u32 [$0], %laneid', done.stderr)
        made = (self.folder / "t.o.vgpu/0-changed-0.cu").read_text()
        self.assertEqual(made, text.format("%%"))

    def test_shared_variables(self) -> None:
        made = (
            "typedef {0} vgpu_type_a{1}; "
            "__shared__ __attribute__((aligned(__alignof__(vgpu_type_a)))) "
            "unsigned char vgpu_bytes_a[sizeof(vgpu_type_a)]; "
            "vgpu_type_a &a = *(vgpu_type_a *)vgpu_bytes_a;"
        )
        self.check(
            "__global__ void s#(float *p)\n{\n    @\n    *p = *(float *)&a;\n}\n",
            ("__shared__ point a[4];", made.format("point", "[4]")),
            ("__shared__ point\n a[4];", made.format("point\n", "[4]")),
            (
                "volatile int x = 1; __shared__ point a[2 * 2] ;",
                "volatile int x = 1; " + made.format("point", "[2 * 2] "),
            ),
            ("__shared__ two<float> a;", made.format("two<float>", "")),
        )

    def test_alignas_of_shared_variables(self) -> None:
        text = "__global__ void s(int *p) {{ __shared__ {}(16) int a[4]; *p = a[threadIdx.x]; }}\n"
        taken = [text.format(word) for word in ("_Alignas", "alignas")]  # as Clang 21 takes it
        self.assertIn(self.rewritten(taken[1]), taken)

    def test_weak_aliases(self) -> None:
        text = "extern int a;\nint g() {{ return a; }}\nint b = 1;\n{}\n#pragma weak c\n"
        self.assertEqual(
            self.rewritten(text.format("#pragma weak a=b")),
            text.format('VGPU_HOST_PRAGMA("weak a=b")'),
        )
        symbols = subprocess.run(
            ["nm", self.folder / "t.o"], capture_output=True, text=True, check=True
        ).stdout
        self.assertRegex(symbols, r"[VW] a\n")

    def test_files_that_are_included(self) -> None:
        inner = self.write("h.h", "inline void g(int *p) { k<<<{1}, 1>>>(p); }\n")
        self.rewritten('#include "h.h"\nvoid f(int *p) { k<<<1, {1}>>>(p); }\n')
        made = {path.read_text() for path in (self.folder / "t.o.vgpu").glob("0-changed-*.cu")}
        self.assertIn(inner.read_text().replace("{1}", "dim3{1}"), made)
        self.assertEqual(len(made), 2)

    def test_nothing_else_is_a_launch(self) -> None:
        texts = (
            'auto x = "k<<<{1}, 2>>>(a)";',
            'auto x = R"(k<<<{1}, 2>>>(a))";',
            "// k<<<{1}, 2>>>(a)",
            "/* k<<<{1}, 2>>>(a) */ auto x = 1'000 << 2 >> 3;",
            "auto x = 1 << 2 >> 1; int y[] = {1, {2}};",
        )
        whole = "".join(f"void f{i}() {{ {text}\n}}\n" for i, text in enumerate(texts))
        refused = "void l(int *p) { k<<<{1}, 2>>>(p); }\n"
        self.assertEqual(self.rewritten(whole), whole)
        self.assertEqual(self.rewritten(whole + refused), whole + refused.replace("{1}", "dim3{1}"))

    def test_what_is_wrong_for_nvcc_too_is_told_as_it_stands(self) -> None:
        """Clang's own messages come back, and no change is made for them."""
        text = "void f(int a, int) {\n    f(1, {2, 3});\n    f({,);\n}\n"
        self.write("w.cu", text)
        done = cc("-c", "--keep", "w.cu", folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("w.cu:3:8: error: expected expression", done.stderr)
        self.assertIn("w.cu:3:9: error: expected expression", done.stderr)
        self.assertEqual(list((self.folder / "w.o.vgpu").glob("0-changed-*")), [])

    def test_damaged_text(self) -> None:
        rounds = os.environ.get("CC_FUZZ_ROUNDS", "40")
        for path in sorted([*(HERE / "valid").glob("*.cu"), *(HERE / "errors").glob("*.cu")]):
            for seed in range(3):
                with self.subTest(path=path.name, seed=seed):
                    done = subprocess.run(
                        [REWRITE, str(seed), rounds, path],
                        capture_output=True,
                        text=True,
                        timeout=300,
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    main()
