# SPDX-License-Identifier: MIT
"""What vgpu-cc does to the text of a file that Clang has refused: launches that nvcc takes and
Clang does not, and no text brings it down."""

import os
import subprocess

from rig import HERE, REWRITE, Case, main


class Text(Case):
    def rewritten(self, text: str) -> str:
        done = subprocess.run(
            [REWRITE, self.write("t.cu", text)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def test_launches(self) -> None:
        for source, made in (
            ("k<<<{1, 2}, {3}>>>(p)", "k<<<dim3{1, 2}, dim3{3}>>>(p)"),
            ("k<< <1, 1>> >(p)", "k<<< 1, 1>>> (p)"),
            ("auto x = operator<<<int>(a, b);", "auto x = operator<< <int>(a, b);"),
        ):
            with self.subTest(source):
                self.assertIn(made, self.rewritten(f"void f() {{ {source}; }}\n"))

    def test_registers_of_inline_ptx(self) -> None:
        for source, made in (
            ('"mov.u64 %0, %globaltimer;"', '"mov.u64 %0, %%globaltimer;"'),
            ('"mov.u32 %0, %%laneid;"', '"mov.u32 %0, %%laneid;"'),
            ('"{ .reg .pred p; }" "mov.u32 %0, %smid;"', '"mov.u32 %0, %%smid;"'),
        ):
            with self.subTest(source):
                self.assertIn(
                    made, self.rewritten(f'void f() {{ asm volatile({source} : "=r"(x)); }}\n')
                )

    def test_registers_without_outputs(self) -> None:
        text = 'void f() { asm volatile("st.u32 [%0], %laneid;" :: "l"(p)); }\n'
        self.assertIn("[%0], %%laneid", self.rewritten(text))

    def test_weak_aliases(self) -> None:
        text = "extern int a; int b = 1;\n#pragma weak a=b\n#pragma weak c\n"
        lines = self.rewritten(text).splitlines()
        self.assertEqual(lines[1].strip(), "")
        self.assertEqual(lines[2], "#pragma weak c")

    def test_nothing_else_is_a_launch(self) -> None:
        for text in (
            'auto x = "k<<<{1}, 2>>>(a)";',
            'auto x = R"(k<<<{1}, 2>>>(a))";',
            "// k<<<{1}, 2>>>(a)",
            "/* k<<<{1}, 2>>>(a) */ auto x = 1'000 << 2 >> 3;",
            "auto x = a<b<c>>::d >> 2;",
        ):
            with self.subTest(text):
                whole = f"void f() {{ {text}\n}}\n"
                self.assertEqual(self.rewritten(whole), whole)

    def test_damaged_text(self) -> None:
        rounds = os.environ.get("CC_FUZZ_ROUNDS", "40")
        for path in sorted([*(HERE / "valid").glob("*.cu"), *(HERE / "errors").glob("*.cu")]):
            for seed in range(3):
                with self.subTest(path=path.name, seed=seed):
                    done = subprocess.run(
                        [REWRITE, "fuzz", str(seed), rounds, path],
                        capture_output=True,
                        text=True,
                        timeout=300,
                    )
                    self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    main()
