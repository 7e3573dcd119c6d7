# SPDX-License-Identifier: MIT
"""What CUDA 12 spells differently: C++ takes it with a warning, C what the docs say."""

import re

from rig import COMPILERS, HERE, Case, cc, main, run

OLDER = HERE / "valid" / "older.cu"
SAYS = ["properties 1 1", "prefetch 0 0 101 advise 0 101", "edges 1 of them 1 then 0", "context 0"]
DOCS = (HERE / "../../docs/virtual-node.md").read_text()


class Older(Case):
    def test_cxx_takes_it_with_warnings(self) -> None:
        marked = {
            number: found.group(1)
            for number, line in enumerate(OLDER.read_text().splitlines(), 1)
            if (found := re.search(r"// 12: (.*)$", line))
        }
        self.assertGreater(len(marked), 15)
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                done = cc(OLDER, "-o", "x", folder=self.folder, VGPU_CXX=compiler)
                self.assertEqual(done.returncode, 0, done.stderr)
                warned = {
                    int(line): text
                    for line, text in re.findall(r"older\.cu:(\d+):\d+: warning: (.*)", done.stderr)
                }
                self.assertEqual(set(warned), set(marked), done.stderr)
                for line, instead in marked.items():
                    self.assertIn("CUDA 13 has dropped this", warned[line])
                    self.assertIn(instead, warned[line])
                self.assertEqual(run([self.folder / "x"]).stdout.splitlines(), SAYS)

    def test_c_takes_contexts(self) -> None:
        self.write(
            "a.c",
            "#include <cuda.h>\nint main(void) { CUcontext a, b; cuInit(0);\n"
            "return cuCtxCreate(&a, 0, 0) || cuCtxCreate(&b, NULL, 0, 0); }\n",
        )
        done = cc("a.c", "-o", "x", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning: "), 1, done.stderr)
        self.assertEqual(run([self.folder / "x"]).returncode, 0)

    def test_what_c_does_not_take(self) -> None:
        for call, sentence in (
            ("cudaMemPrefetchAsync(p, 4, 0, 0)", "too few arguments to function"),
            (
                "cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, 0)",
                "incompatible type for argument 4",
            ),
            ("cudaGraphAddDependencies(0, 0, 0, 1)", "too few arguments to function"),
        ):
            with self.subTest(call=call):
                self.write(
                    "a.c", f"#include <cuda_runtime.h>\nint f(void *p) {{ return {call}; }}\n"
                )
                said = cc("-c", "a.c", folder=self.folder).stderr
                self.assertIn(f"error: {sentence}", said)
                self.assertIn(call.split("(")[0], said)
                self.assertIn(f"`{sentence}", DOCS)


if __name__ == "__main__":
    main()
