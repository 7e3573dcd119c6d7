# SPDX-License-Identifier: MIT
"""Modules of several parts: what is translated when, what parts share, and what is refused when the
module is loaded. The cache has a file for the list of parts, and one for each part translated."""

import concurrent.futures
import pathlib
import subprocess
import sys

from rig import CC, HEAD, Case, main

LOAD = pathlib.Path(sys.argv[3]).resolve()

KERNEL = """
.visible .entry {name}(.param .u64 out)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    {body}
    st.global.u32 [%rd1], %r1;
    ret;
}}
"""

# A function with a static variable; strings and comments with what ends directives elsewhere.
SHARED = """
.pragma "nounroll; }";
.global .u32 total = 5; // }
.global .u32 other = 7;
.const .b64 table[2] = {generic(other), 0}; /* { */
.extern .func (.param .b32 r) missing(.param .b32 a);

.func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}

.func (.param .b32 r) counted()
{
    .global .u32 times = 40;
    .reg .b32 %r<3>;
    atom.global.add.u32 %r1, [times], 1;
    add.u32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
}
"""

CALL_TWICE = """{
    .param .b32 a; .param .b32 r;
    st.param.b32 [a], VALUE;
    call.uni (r), twice, (a);
    ld.param.b32 %r1, [r];
    }"""
CALL_COUNTED = """{
    .param .b32 r;
    call.uni (r), counted, ();
    ld.param.b32 %r1, [r];
    }"""


def kernel(name: str, body: str) -> str:
    return KERNEL.format(name=name, body=body)


def numbers(count: int) -> str:
    """Kernels add, k1, k2 ..., each of which stores its number."""
    return HEAD + "".join(
        kernel(f"k{i}" if i else "add", f"mov.u32 %r1, {i};") for i in range(count)
    )


class Parts(Case):
    def load(self, module: pathlib.Path, *words: str) -> subprocess.CompletedProcess:
        return self.run_command(LOAD, module, *words)

    def answers(self, module: pathlib.Path, *words: str) -> list[str]:
        done = self.load(module, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        first, *rest = done.stdout.splitlines()
        self.assertEqual(first, "loaded")
        return rest

    def kept(self) -> set[str]:
        return {path.name for path in (self.folder / "cache").glob("*")}

    def count(self, text: str) -> str:
        """What vgpu-cc says of a part that there is not."""
        module = self.write("parts.ptx", text)
        done = self.run_command(CC, "-fatbin", "-ptx-part", 999, module, "-o", "x")
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_loading_translates_nothing(self) -> None:
        module = self.write("many.ptx", numbers(20))
        bounded = self.write(
            "bounded.ptx",
            numbers(20)
            + kernel("b", "mov.u32 %r1, s;").replace(
                "(.param .u64 out)\n{",
                "(.param .u64 out)\n.maxntid 64, 1, 1\n{\n.shared .b8 s[48];",
            ),
        )
        self.assertEqual(self.answers(module), [])
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(self.answers(module, "about", "k19"), ["20 1024 0"])
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(self.answers(bounded, "about", "b"), ["21 64 48"])
        self.assertEqual(len(self.kept()), 2)

    def test_what_is_used_is_translated_and_kept(self) -> None:
        module = self.write("many.ptx", numbers(20))
        used = ["launch", "k7", "launch", "k19", "launch", "k7"]
        self.assertEqual(self.answers(module, *used), ["7", "19", "7"])
        kept = self.kept()
        self.assertEqual(len(kept), 3)
        self.assertEqual(self.answers(module, *used), ["7", "19", "7"])
        self.assertEqual(self.kept(), kept)
        self.assertEqual(self.answers(module, "launch", "add"), ["0"])
        self.assertEqual(len(self.kept()), 4)

    def test_eager(self) -> None:
        module = self.write("many.ptx", numbers(5))
        words = [LOAD, module, "launch", "k3", "launch", "k4"]
        done = self.run_command("env", "CUDA_MODULE_LOADING=EAGER", *words)
        self.assertEqual(done.stdout.split(), ["loaded", "3", "4"], done.stderr)
        self.assertEqual(len(self.kept()), 1)

    def test_few_kernels_are_translated_at_once(self) -> None:
        module = self.write("few.ptx", numbers(4))
        self.assertEqual(self.answers(module, "launch", "k3", "launch", "k1"), ["3", "1"])
        self.assertEqual(len(self.kept()), 1)

    def test_kernels_that_share_a_variable(self) -> None:
        more = "atom.global.add.u32 %r1, [total], 1;"
        text = HEAD + SHARED
        text += kernel("adds", more) + kernel("adds_too", more) + kernel("ret", "mov.u32 %r1, 3;")
        text += kernel("c", CALL_COUNTED) + kernel("d", CALL_COUNTED)
        text += kernel("e", CALL_TWICE.replace("VALUE", "4")) + kernel(
            "f", CALL_TWICE.replace("VALUE", "5")
        )
        # {adds, adds_too, total}, {ret}, {c, d, counted}, {e}, {f}, {other, table}
        self.assertIn("the module has 6 parts", self.count(text))
        module = self.write("shared.ptx", text)
        words = [
            "launch",
            "adds",
            "launch",
            "adds_too",
            "read",
            "total",
            "launch",
            "c",
            "launch",
            "d",
        ]
        self.assertEqual(self.answers(module, *words), ["5", "6", "7", "41", "42"])
        self.assertEqual(len(self.kept()), 3)
        words = ["read", "total", "read", "other", "launch", "adds", "launch", "e", "launch", "f"]
        self.assertEqual(self.answers(module, *words), ["5", "7", "5", "8", "10"])
        self.assertEqual(len(self.kept()), 6)

    def test_variables_that_lead_to_each_other(self) -> None:
        chain = HEAD + ".global .u32 first = 1;\n.global .u64 second = first;\n"
        chain += kernel("a", "ld.global.u32 %r1, [first];")
        chain += kernel("b", "ld.global.u64 %rd2, [second]; ld.u32 %r1, [%rd2+0];")
        self.assertIn("the module has 1 parts", self.count(chain))
        managed = chain.replace(".global .u32 first", ".global .attribute(.managed) .u32 first")
        managed += kernel("ret", "mov.u32 %r1, 3;")
        self.assertIn("the module has 1 parts", self.count(managed))
        self.assertIn("the module has 2 parts", self.count(chain + kernel("k", "mov.u32 %r1, 3;")))

    def test_refused_at_load(self) -> None:
        text = numbers(20)
        line = text.count("\n", 0, text.index("mov.u32 %r1, 17")) + 1
        for wrong in ("frob.u32 %r1, 17;", "mov.u32 %r9, 17;", "mov.u32 %r1, nothing;"):
            with self.subTest(wrong=wrong):
                bad = self.write("bad.ptx", text.replace("mov.u32 %r1, 17;", wrong))
                done = self.load(bad)
                self.assertEqual(done.returncode, 1)
                self.assertIn("CUDA_ERROR_INVALID_PTX", done.stdout)
                self.assertIn(f"module.ptx:{line}:1", done.stderr)
                self.assertIn(wrong[:-1], done.stderr)
        call = CALL_TWICE.replace("VALUE", "4").replace("twice", "missing")
        done = self.load(self.write("bad.ptx", text + SHARED + kernel("g", call)))
        self.assertIn("CUDA_ERROR_INVALID_PTX", done.stdout)
        self.assertIn("'missing'", done.stderr)
        self.assertEqual(self.kept(), set())

    def test_refused_alike(self) -> None:
        """A module that is translated at once, and one that is divided."""
        missing = CALL_TWICE.replace("VALUE", "4").replace("twice", "missing")
        never = "mov.u32 %r1, 1; setp.eq.u32 p, %r1, 1; @p bra done; " + missing + " done:"
        large = "a variable of 512 MiB or more"
        for wrong, said in (
            (SHARED + kernel("g", ".reg .pred p; " + never), "'missing'"),
            (SHARED + ".global .u32 total = 6;\n", "the second definition of this name"),
            (SHARED + kernel("total", "mov.u32 %r1, 1;"), "the second definition of this name"),
            (kernel("k1", "mov.u32 %r1, 1;"), "the second definition of this name"),
            (".global .b8 large[1073741824];\n", large),
            (".global .u64 large[2305843009213693953] = {1, 2};\n", large),
            (".global .u32 short[2] = {1, ", "a variable that the virtual node does not know"),
        ):
            for count in (3, 6):
                with self.subTest(said=said, kernels=count):
                    module = self.write("bad.ptx", numbers(count) + wrong)
                    for flags in ([], ["-ptx-part", "all"]):
                        made = self.run_command(CC, "-fatbin", *flags, module, "-o", "x")
                        self.assertEqual(made.returncode, 1)
                        self.assertIn(said, made.stderr)

    def test_lines_of_a_part(self) -> None:
        text = numbers(9) + kernel("wrong", "mov.u64 %rd1, 8;\n    mov.u32 %r1, 1;")
        line = text.count("\n", 0, text.rindex("st.global")) + 1
        done = self.load(self.write("wrong.ptx", text), "launch", "wrong")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"module.ptx:{line}", done.stderr)

    def test_unloaded(self) -> None:
        module = self.write("many.ptx", numbers(5))
        done = self.load(module, "launch", "k1", "unload", "launch", "k2")
        self.assertIn("CUDA_ERROR_INVALID_HANDLE", done.stdout)
        self.assertEqual(len(self.kept()), 2)

    def test_many_kernels_in_fewer_parts(self) -> None:
        module = self.write("many.ptx", numbers(300))
        self.assertIn("the module has 128 parts", self.count(numbers(300)))
        self.assertEqual(self.answers(module, "launch", "k299", "launch", "k298"), ["299", "298"])
        self.assertEqual(len(self.kept()), 2)

    def test_processes_at_the_same_time(self) -> None:
        module = self.write("many.ptx", numbers(6))
        words = [word for i in range(1, 6) for word in ("launch", f"k{i}")]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for answers in pool.map(lambda _: self.answers(module, *words), range(3)):
                self.assertEqual(answers, [str(i) for i in range(1, 6)])
        self.assertEqual(len(self.kept()), 6)


if __name__ == "__main__":
    main()
