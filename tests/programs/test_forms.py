# SPDX-License-Identifier: MIT
"""Both forms of kernels (docs/virtual-node.md) do the same: test_forms.py BIN, where vgpu-cc lies.

Random kernels and usual programs run once with VGPU_FORM=careful and once with fast. What they
print, what is said of them, how they end and what VGPU_TRACE has of them, virtual times and bytes
on every link, must be the same, but for the form. With PEERLAB_FULL=1 there are 10,000 kernels in
100 files, of which PEERLAB_JOBS run at once; PEERLAB_SEED is the first file's number (0):

    PEERLAB_FULL=1 PEERLAB_JOBS=16 python3 tests/programs/test_forms.py build/vgpu/bin \\
        Forms.test_random_kernels
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import random_kernels
from test_usual import LIBRARIES, OPTIONS, USUAL

BIN = pathlib.Path(sys.argv[1])
FORMS = pathlib.Path(__file__).parent / "forms"
FULL = bool(os.environ.get("PEERLAB_FULL"))
# Those that print the same in every run.
PROGRAMS = (
    "conjugate_gradient",
    "histogram",
    "jacobi_peer_store",
    "jacobi_single_thread",
    "managed_add",
    "nbody",
    "pipeline",
    "reduction_series",
    "scan",
    "transpose",
    "vmm_vector_add",
)
# Blocks one after another: random ones use what others write. Advice has conflicts of banks.
ORDERED = {"VGPU_WORKERS": "1", "VGPU_CHECK": "api,advice"}
FILES, KERNELS = (100, 100) if FULL else (2, 40)
JOBS = int(os.environ.get("PEERLAB_JOBS", "1"))
FIRST = int(os.environ.get("PEERLAB_SEED", "0"))
KINDS = ("without barriers", "with barriers", "with operations of warps")
PARTED = "whose threads part"  # few of them have a fast form


def compile_program(source: pathlib.Path, *options: str) -> pathlib.Path:
    program = source.with_suffix("")
    subprocess.run([BIN / "vgpu-cc", "-g", "-w", *options, "-o", program, source], check=True)
    return program


def kind_of(kernel: random_kernels.Kernel) -> str:
    if kernel.parts:
        return PARTED
    if "__syncthreads" not in kernel.code:
        return KINDS[0]
    return KINDS[2] if "lane" in kernel.code else KINDS[1]


class Run:
    """What a program has done in one form."""

    def __init__(
        self, form: str | None, program: pathlib.Path, *arguments: str, **more: str
    ) -> None:
        environment = {n: v for n, v in os.environ.items() if n != "VGPU_FORM"}
        if form:
            environment["VGPU_FORM"] = form
        trace = program.with_suffix(".json")
        trace.unlink(missing_ok=True)
        self.ended = subprocess.run(
            [program, *arguments],
            env=dict(
                environment,
                VGPU_NODE="hgx-h200-4",
                VGPU_NODE_ID=f"forms-{os.getpid()}-{threading.get_ident()}",
                VGPU_TRACE=str(trace),
                **more,
            ),
            capture_output=True,
            text=True,
            timeout=300,
        )
        text = trace.read_text() if trace.exists() else '{"traceEvents": []}'
        self.forms = [
            (event["name"], event["args"]["form"])
            for event in json.loads(text)["traceEvents"]
            if "form" in event.get("args", {})
        ]
        self.trace = re.sub(r',"form":"[^"]*"', "", text)

    def all(self) -> tuple[str, str, int, str]:
        return self.ended.stdout, self.ended.stderr, self.ended.returncode, self.trace


def difference(careful: Run, fast: Run) -> str:
    """The first line that is not the same."""
    for one, other in zip(careful.all(), fast.all(), strict=True):
        lines = (str(text).splitlines() for text in (one, other))
        for a, b in itertools.zip_longest(*lines, fillvalue=""):
            if a != b:
                return f"careful: {a[:400]!r}, fast: {b[:400]!r}"
    return ""


class Forms(unittest.TestCase):
    maxDiff = 4000

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compiled(self, name: str) -> pathlib.Path:
        """Of the folder forms/."""
        source = self.folder / f"{name}.cu"
        source.write_text((FORMS / source.name).read_text())
        return compile_program(source)

    def cases_of(self, name: str) -> list[str]:
        text = (FORMS / f"{name}.cu").read_text()
        return re.findall(r"^KERNEL\((\w+)\)", text, flags=re.MULTILINE)

    def alike(self, program: pathlib.Path, *arguments: str, **more: str) -> list[tuple[str, str]]:
        """Its kernels' forms, where it may have the fast one."""
        careful, fast = (Run(form, program, *arguments, **more) for form in ("careful", "fast"))
        for one, other in zip(careful.all(), fast.all(), strict=True):
            self.assertEqual(one, other, f"{program.name} {arguments}")
        self.assertFalse([form for _, form in careful.forms if form.startswith("fast")])
        return fast.forms

    def code_of(self, name: str) -> dict[str, str]:
        """The program's functions in this processor's code."""
        with unittest.mock.patch.dict(os.environ, VGPU_CC_IMAGES=str(self.folder / "image")):
            self.compiled(name)
        command = ["objdump", "-d", "--no-show-raw-insn", self.folder / "image0"]
        text = subprocess.check_output(command, text=True)
        parts = re.split(r"^[0-9a-f]+ <(.*)>:$", text, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))

    def random_file(self, seed: int) -> tuple[dict[str, list[str]], list[str]]:
        """The forms of the file's right kernels by their kind, and how its runs differ."""
        source = self.folder / f"random{seed}.cu"
        text, wrong = random_kernels.source(seed, KERNELS)
        source.write_text(text)
        program = compile_program(source)
        kind = {f"k{k.number}": kind_of(k) for k in random_kernels.kernels(seed, KERNELS)}
        right = [str(number) for number in range(KERNELS) if number not in wrong]
        forms: dict[str, list[str]] = {kind: [] for kind in (*KINDS, PARTED)}
        differences = []
        for arguments in (right, *([str(number)] for number in wrong)):
            careful, fast = (Run(f, program, *arguments, **ORDERED) for f in ("careful", "fast"))
            if careful.all() != fast.all():
                which = " ".join(arguments)
                differences.append(f"seed {seed}, kernels {which}: {difference(careful, fast)}")
            for name, form in fast.forms if arguments is right else ():
                forms[kind[name]].append(form)
        program.unlink()
        return forms, differences

    def test_random_kernels(self) -> None:
        forms: dict[str, list[str]] = {kind: [] for kind in (*KINDS, PARTED)}
        seeds = range(FIRST, FIRST + FILES)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for seed, (of_file, differences) in zip(
                seeds, pool.map(self.random_file, seeds), strict=True
            ):
                for kind in forms:
                    forms[kind] += of_file[kind]
                for one in differences:
                    print(one, file=sys.stderr, flush=True)  # the test may go on for hours
                    with self.subTest(seed=seed):
                        self.fail(one)
        for kind in forms:
            fast = sum(form.startswith("fast") for form in forms[kind])
            print(
                f"right kernels {kind}: {fast} of {len(forms[kind])} in the fast form",
                file=sys.stderr,
            )
            few = len(forms[kind]) < 20  # as many as one file has: chance decides much
            if kind != PARTED:
                self.assertGreater(fast, len(forms[kind]) // (4 if few else 2))

    def test_barriers_are_counted(self) -> None:
        """Of each block once; alike() compares the counts of all kernels in both forms."""
        program = self.compiled("barriers")
        self.assertEqual(
            self.alike(program), [("rounds", "fast: 7 blocks"), ("sort", "fast: 7 blocks")]
        )
        for form in ("careful", "fast"):
            trace = Run(form, program).trace
            self.assertEqual(re.findall(r'"barriers":(\d+)', trace), ["48", "176"])

    def test_rounds_of_all_threads_together(self) -> None:
        """lane_split.c: where the accesses of different threads may not change places, and where
        they may."""
        forms = self.alike(self.compiled("rounds"), **ORDERED)
        self.assertTrue(all(form.startswith("fast") for _, form in forms), forms)

    @unittest.skipUnless(platform.machine() == "x86_64", "looks at this processor's code")
    def test_square_roots_of_several_threads(self) -> None:
        """The float4 of a thread is no vector: threads are one."""
        code = "".join(self.code_of("rounds").values())
        self.assertTrue("vsqrtps" in code, "each thread takes its root by itself")

    def test_unrolled_loops(self) -> None:
        names = ("added", "by_fours", "long_rounds", "middle", "middle", "passed_on", "steps")
        blocks = (8, 8, 4, 4, 4, 4, 8)
        self.assertEqual(
            self.alike(self.compiled("unrolled"), **ORDERED),
            [(n, f"fast: {b - 1} blocks") for n, b in zip(names, blocks, strict=True)],
        )

    @unittest.skipUnless(platform.machine() == "x86_64", "looks at this processor's code")
    def test_unrolled_loops_are_vectors(self) -> None:
        code = self.code_of("unrolled")
        for number, name in enumerate(("added", "by_fours")):
            with self.subTest(name=name):  # lane_series.c: each loop loads vectors
                wide = code[f"vgpu_lanes_{number}_wide"]
                vectors = len(re.findall(r"vsqrtps [^%]*\(%", wide))
                self.assertGreater(vectors, 0)
                self.assertGreaterEqual(vectors, len(re.findall("vsqrtss", wide)), "the rests")
        for number, name in ((2, "long_rounds"), (3, "middle"), (4, "passed_on")):
            with self.subTest(name=name):  # lane_ends.c
                self.assertRegex(code[f"vgpu_lanes_{number}_wide"], r"vsqrtps")
        one_more = r"(?:add\w* +\$0x1,|inc\w* +)-?\w*\(%rsp\)"
        inside = re.findall(one_more, code["vgpu_lanes_5_wide"])
        self.assertEqual(inside, [], "counters in memory, lane_regions.c")

    def test_sweeps(self) -> None:
        """The careful form by itself, where the accesses of a loop are counted and checked together
        (lower_sweeps.c), and where a call reports each of them."""
        cases = self.cases_of("sweeps")
        program = self.compiled("sweeps")
        self.assertEqual(len(cases), 17)
        for case in cases:
            with self.subTest(case=case):
                self.assertEqual([name for name, _ in self.alike(program, case, **ORDERED)], [case])
        ended = {case: Run("fast", program, case, **ORDERED).ended for case in cases}
        wrong = {case for case, one in ended.items() if "cudaSuccess" not in one.stdout}
        self.assertEqual(wrong, {"crooked", "outside", "null"})
        self.assertIn("past the end of an allocation", ended["beyond"].stderr)

    @unittest.skipUnless(platform.machine() == "x86_64", "looks at this processor's code")
    def test_sweeps_are_found(self) -> None:
        code = self.code_of("sweeps")
        found = {
            name
            for symbol, text in code.items()
            for name in re.findall(r"^_Z\d+([a-z]+)9argumentsPVi$", symbol)
            if "<vgpu_sweep_holds>" in text
        }
        # of each thread; an odd width; a constant address; two conditions
        by_itself = {"local", "odd", "null", "endless"}
        self.assertEqual(set(self.cases_of("sweeps")) - found, by_itself)

    def test_atomics(self) -> None:
        self.assertEqual(self.alike(self.compiled("atomics")), [("histogram", "fast: 6 blocks")])

    def test_objects(self) -> None:
        forms = self.alike(self.compiled("objects"), **ORDERED)
        fast = ("weighted", "marked", "visited", "parted", "beside")
        self.assertEqual(
            dict(forms),
            dict.fromkeys(fast, "fast: 7 blocks")
            | {"changed": "careful: it changes an argument or a constant"},
        )

    def test_edges(self) -> None:
        """All blocks but the first are fast, where threads that leave miss no barrier."""
        self.assertEqual(
            self.alike(self.compiled("edges"), **ORDERED),
            [
                ("halved", "fast: 119 blocks"),
                ("turned", "fast: 7 blocks"),
                ("left", "fast: 6 blocks"),
            ],
        )

    def test_cases(self) -> None:
        """What lane_cases.c proves, and what it must not."""
        names = ("pairs", "divided", "outside")
        self.assertEqual(
            self.alike(self.compiled("cases"), **ORDERED),
            [(name, "fast: 63 blocks") for name in names]
            + [("outside", "careful: its accesses may leave allocated memory")],
        )

    def test_divisions(self) -> None:
        """lane_divide.c, with divisors that are zero, and without; lane_calls.c: `made`."""
        program = self.compiled("divisions")
        for arguments in ((), ("none",)):
            self.assertEqual(
                self.alike(program, *arguments),
                [(name, "fast: 3 blocks") for name in ("halves", "signs", "made")],
            )
        told = Run("fast", program).ended.stderr
        self.assertEqual(told.count("division by zero in divisions.cu:"), 2, told)

    def test_first_use_of_memory(self) -> None:
        """Also where the limit is near, or does not suffice."""
        program = self.compiled("fresh")
        self.assertEqual(self.alike(program), [("fill", "fast: 31 blocks")])
        for limit in ("24M", "8M"):
            self.assertNotEqual(
                self.alike(program, VGPU_MEMORY_LIMIT=limit), [("fill", "fast: 31 blocks")]
            )

    def test_managed_variables_are_counted(self) -> None:
        """marked: 512 threads load and store a number of a __managed__ array, and store another."""
        program = self.compiled("objects")
        for form in ("careful", "fast"):
            trace = Run(form, program, **ORDERED).trace
            self.assertRegex(trace, r'"name":"marked","args":\{"bytes":6144,')

    def test_warps(self) -> None:
        forms = self.alike(self.compiled("warps"))
        all_lanes = ("reduce", "votes", "scan", "tiles", "more", "teams")
        some = "careful: only some lanes of a warp work together in it"
        self.assertEqual(
            forms,
            [(name, "fast: 3 blocks") for name in all_lanes]
            + [("small_tiles", some), ("lanes", some)]
            + [("votes", "careful: its warps are not 32 threads in a row (blockDim.x)")],
        )

    def test_the_fast_form_is_the_default(self) -> None:
        self.assertEqual(Run(None, self.compiled("add")).forms, [("add", "fast: 3 blocks")])

    def test_promises_that_do_not_hold(self) -> None:
        reason = "careful: some threads may come to other barriers than others"
        self.assertEqual(
            self.alike(self.compiled("promises")), [("behind", "fast: 7 blocks"), ("apart", reason)]
        )

    def test_usual_programs(self) -> None:
        sources = sorted(USUAL.glob("*.cu"))
        for source in [s for s in sources if s.stem in PROGRAMS]:
            with self.subTest(source=source.name):
                here = self.folder / source.name
                here.write_text(source.read_text())
                options = (f"-I{USUAL}", *OPTIONS.get(source.stem, ()))
                self.alike(compile_program(here, *options, *LIBRARIES.get(source.stem, ())))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
