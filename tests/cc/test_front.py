# SPDX-License-Identifier: MIT
"""vgpu-cc's front end alone: what the edited text looks like, and that no text brings it down."""

import os
import re
import subprocess

from rig import FRONT, HERE, Case, main


class Text(Case):
    def edited(self, side: str, text: str) -> str:
        done = subprocess.run(
            [FRONT, side, self.write("t.cu", f'# 1 "t.cu"\n{text}')],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertIn(done.returncode, (0, 1))
        self.errors = done.stderr
        return done.stdout

    def flat(self, side: str, text: str) -> str:
        """Without line markers, white space as one blank."""
        lines = [line for line in self.edited(side, text).splitlines() if not line.startswith("# ")]
        return re.sub(r"\s+", " ", " ".join(lines))

    def test_launch(self) -> None:
        for kernel, configuration, rest in (
            ("k", "1, 2", "(a)"),
            ("n::k<int, 2>", "g, b, 3, s", "()"),
            ("::k", "f<a<b<c>>>(1), 2", "(x)"),
            ("k", "1, f<a<b>>", "(x)"),
            ("k", "a < b ? 1 : 2, 3", "(x)"),
            ("t[1].k->m", "1, n >> 2", "(x)"),
            ("(*p)", "1, 2", "(x)"),
            ("t.template k<1>", "1, 2", "(x)"),
        ):
            with self.subTest(kernel=kernel, configuration=configuration):
                flat = self.flat("host", f"void f() {{ {kernel}<<<{configuration}>>>{rest}; }}\n")
                made = f"(vgpu_push_call( {configuration}) ? (void)0 : {kernel} {rest})"
                self.assertIn(made, flat)

    def test_nothing_else_is_a_launch(self) -> None:
        for text in (
            "auto x = operator<<<int>(a, b);",
            'auto x = "k<<<1, 2>>>(a)";',
            'auto x = R"(k<<<1, 2>>>(a))";',
            "// k<<<1, 2>>>(a)",
            "/* k<<<1, 2>>>(a) */ auto x = 1'000 << 2 >> 3;",
            "auto x = a<b<c>>::d >> 2;",
        ):
            with self.subTest(text):
                self.assertIn(text, self.edited("host", f"void f() {{ {text}\n}}\n"))
                self.assertEqual(self.errors, "")

    def test_columns_come_back(self) -> None:
        text = self.edited("host", "void f() { k<<<1,\n   2>>>(a); int after; }\n")
        self.assertRegex(text, r'\n# 2 "t.cu"\n {7}\(a\)\)\n# 2 "t.cu"\n {10}; int after; }\n')

    def test_macros_are_seen_through(self) -> None:
        text = "#define KERNEL(name) __global__ void name\nKERNEL(k)(int *p)\n{\n    *p = 1;\n}\n"
        self.assertIn("VGPU_STUB_MARK", self.flat("host", text))
        self.assertIn("VGPU_KERNEL_ENTRY", self.flat("device", text))
        text = "#define L(...) k<<<1, 2>>>(__VA_ARGS__)\nvoid f() { L(a, b); g(L(c)); }\n"
        self.assertEqual(
            self.flat("host", text).count("(vgpu_push_call(1, 2) ? (void)0 : k (a, b))"), 1
        )
        self.assertEqual(
            self.flat("host", text).count("(vgpu_push_call(1, 2) ? (void)0 : k (c))"), 1
        )
        self.assertIn("#define L(...) k<<<1, 2>>>(__VA_ARGS__)", self.edited("host", text))

    def test_macro_rules(self) -> None:
        defines = (
            "#define STR(x) #x\n#define CAT(a, b) a##b\n#define EMPTY()\n#define SELF SELF + 1\n"
            "#define F(x) x G\n#define G(y) [y]\n"
            "#define OPT(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\n"
            "#define GNU(a, ...) f(a, ##__VA_ARGS__)\n#define KEEP(x) __shared__ int x\n"
        )
        for source, made in {
            "CAT(x, 1)": "x1",
            'STR( a  "b\\n" )': '"a \\"b\\\\n\\""',
            "SELF": "SELF + 1",
            "F(1)(2)": "1 [2]",
            "OPT(1) OPT(1, 2)": "f(1 ) f(1 , 2)",
            "GNU(1) GNU(1, 2, 3)": "f(1 ) f(1, 2, 3)",
            "G(G(2)) EMPTY() F": "[[2]] F",
        }.items():
            with self.subTest(source):
                # The declaration in the same macro makes it be written out.
                text = f"{defines}#define ALL {source}; __shared__ int n\n"
                text += "__global__ void k() { ALL; }\n"
                flat = self.flat("device", text)
                self.assertIn(re.sub(r"\s", "", made) + ";typedefint", re.sub(r"\s", "", flat))

    def test_shared(self) -> None:
        flat = self.flat(
            "device",
            "__global__ void k() { __shared__ float a[4], *b; extern __shared__ int c[]; }\n",
        )
        self.assertRegex(flat, r"typedef float vgpu_shared_\d+_a \[4\], \*\s*vgpu_shared_\d+_b ;")
        self.assertRegex(flat, r"VGPU_SHARED\(\d+, \d+, a, vgpu_shared_\d+_a, \(1\)\);")
        self.assertRegex(flat, r"VGPU_DYNAMIC_SHARED\(c, vgpu_shared_\d+_c\);")

    def test_host_text_has_no_device_code(self) -> None:
        flat = self.flat(
            "host",
            "__global__ void k(int *p, float) { *p = secret1(); }\n"
            "static __device__ inline int f() { return secret2(); }\n"
            "struct s { __device__ s() : n(secret3()) { secret4(); } int n; };\n"
            "__host__ __device__ int both() { return 5; }\n",
        )
        self.assertNotIn("secret", flat)
        self.assertIn("both() { return 5; }", flat)
        self.assertIn("float vgpu_param_1", flat)

    def test_damaged_text(self) -> None:
        rounds = os.environ.get("CC_FUZZ_ROUNDS", "40")
        for path in sorted([*(HERE / "valid").glob("*.cu"), *(HERE / "errors").glob("*.cu")]):
            for seed in range(3):
                with self.subTest(path=path.name, seed=seed):
                    done = subprocess.run(
                        [FRONT, "fuzz", str(seed), rounds, path],
                        capture_output=True,
                        text=True,
                        timeout=300,
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    main()
