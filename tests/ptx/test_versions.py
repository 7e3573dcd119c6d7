# SPDX-License-Identifier: MIT
"""PTX of every version from 6.0 to 9.0 loads and runs, with what a version has new where ptxas
confirms that it is (-arch=sm_90; ptxas 13.0). What is no version, or newer than 9, is refused. And
what Clang writes for each of them."""

import functools
import pathlib
import re
import shutil
import subprocess
import unittest

from rig import HERE, NVCC, RUN, Case, main
from test_modules import clang_result

VERSIONS = (
    *(f"6.{minor}" for minor in range(6)),
    *(f"7.{minor}" for minor in range(9)),
    *(f"8.{minor}" for minor in range(9)),
    "9.0",
)
OLDER = ("3.0", "3.2", "4.0", "4.3", "5.0", "5.1")
NEWER = ("9.1", "9.4")  # Toolkits after 13.0; Triton 3.9 writes 9.4
NONE = ("2.3", "3.3", "4.4", "5.2", "6.6", "7.9", "8.9", "10.0", "0.0", "six", "6", "-7.0")
UNKNOWN = 'PTX of this version is not known (3.0 to 9 are): ".version {}"'

# Instructions that are new in a version, and what each lane of a full warp stores then: %a is 5.
NEW = {
    "6.2": ("activemask.b32 %b;", 0xFFFFFFFF),
    "6.3": ("mov.b16 %h, 7; atom.global.cas.b16 %h, [%d], %h, %h; cvt.u32.u16 %b, %h;", 0),
    "6.5": (
        "mov.u32 %b, room; st.shared.u32 [%b], 65; bar.warp.sync -1;"
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b}, [%b];"
        "shfl.sync.idx.b32 %b, %b, 0, 31, -1;",
        65,
    ),
    "7.0": ("redux.sync.add.u32 %b, %a, -1;", 160),
    "7.1": ("mov.b16 %h, 0x3fc0; cvt.f32.bf16 %f, %h; mov.b32 %b, %f;", 0x3FC00000),
    "7.4": ("st.global.u32 [%d], %a; ld.global.L2::128B.u32 %b, [%d];", 5),
    "7.6": ("szext.wrap.s32 %b, %a, 3;", 0xFFFFFFFD),
    "7.8": ("mov.b16 %h, 0x3f80; add.rn.bf16 %h, %h, %h; cvt.u32.u16 %b, %h;", 0x4000),
    "8.0": ("elect.sync %b|%p, -1; add.u32 %b, %b, %a;", 5),
    "8.3": (
        "mov.u64 %e, 83; mov.b128 %q, {%e, %e}; mov.b128 {%e, %g}, %q; cvt.u32.u64 %b, %g;",
        83,
    ),
    "8.6": ("fence.acquire.sync_restrict::shared::cluster.cluster; add.u32 %b, %a, 1;", 6),
}
TARGETS = ((6, "sm_30"), (6.3, "sm_70"), (7.0, "sm_75"), (7.8, "sm_80"), (99, "sm_90"))


def target(version: str) -> str:
    return next(name for before, name in TARGETS if float(version) < before)


def module(version: str, body: str, name: str) -> str:
    wide = ".reg .b128 %q; .reg .b64 %e, %g;" if "b128" in body else ""
    return f"""
.version {version}
.target {name}
.address_size 64
.visible .entry kernel(.param .u64 to, .param .u64 from)
{{
    .shared .align 16 .b8 room[512];
    .reg .b32 %a, %b; .reg .b16 %h; .reg .f32 %f; .reg .b64 %d; .reg .pred %p; {wide}
    ld.param.u64 %d, [to];
    mov.u32 %a, 5;
    {body}
    st.global.u32 [%d], %b;
    ret;
}}
"""


def usual(version: str) -> tuple[str, int]:
    number = round(float(version) * 10)
    return f"mad.lo.u32 %b, %a, {number}, %a;", 5 * number + 5


class Versions(Case):
    def check(self, version: str, body: str, want: int) -> None:
        with self.subTest(version=version, body=body):
            made = self.write("module.ptx", module(version, body, target(version)))
            self.assertEqual(self.launch(made, "kernel", 1, [0], 32), [want])

    def test_every_version(self) -> None:
        for version in (*VERSIONS, *OLDER, *NEWER):
            self.check(version, *usual(version))

    def test_what_is_new(self) -> None:
        for version, (body, want) in NEW.items():
            self.check(version, body, want)

    def test_what_is_no_version(self) -> None:
        for version in NONE:
            with self.subTest(version=version):
                said = self.refused(module(version, usual("6.0")[0], "sm_70"))
                self.assertIn(UNKNOWN.format(version), said)
                self.assertIn("bad.ptx:2:1: error:", said)

    def test_its_error(self) -> None:
        """A driver of CUDA 13.0 on an H200 gave 222 for these, and for 9.1 to 9.9."""
        for version in ("6.6", "7.9", "8.9", "10.0"):
            text = self.write("module.ptx", module(version, usual("6.0")[0], "sm_70"))
            done = self.run_command(RUN, text, "kernel", 1, 1, 1)
            self.assertIn("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", done.stdout)
            self.assertIn(UNKNOWN.format(version), done.stderr)

    def ptxas(self, text: str) -> subprocess.CompletedProcess:
        tool = pathlib.Path(NVCC).resolve().parent / "ptxas"
        made = self.write("module.ptx", text)
        return self.run_command(tool, "-arch", "sm_90", "-o", "module.cubin", made)

    @unittest.skipIf(NVCC is None, "there is no nvcc here")
    def test_ptxas_has_the_same_versions(self) -> None:
        """It takes those, and what is new in one it refuses in the version before."""
        body = usual("6.0")[0]
        for version in (*VERSIONS, *OLDER):
            done = self.ptxas(module(version, body, target(version)))
            self.assertEqual(done.returncode, 0, done.stderr)
        for version in (one for one in NONE if re.fullmatch(r"[3-9]\.\d", one)):
            self.assertIn(
                f"Unsupported .version {version}", self.ptxas(module(version, body, "sm_70")).stderr
            )
        for version, (new, _) in NEW.items():
            with self.subTest(version=version):
                before = VERSIONS[VERSIONS.index(version) - 1]
                self.assertEqual(self.ptxas(module(version, new, target(version))).returncode, 0)
                said = self.ptxas(module(before, new, target(version))).stderr
                self.assertRegex(
                    said, rf"requires (PTX ISA )?\.version {version}|requires \.target"
                )


@functools.cache
def newest_clang() -> str | None:
    names = ["clang++", *(f"clang++-{n}" for n in range(14, 30))]
    found = [path for name in names if (path := shutil.which(name))]
    return found[-1] if found else None


class Clang(Case):
    @unittest.skipIf(newest_clang() is None, "there is no clang++ here")
    def test_what_clang_writes(self) -> None:
        options = "-x cuda --cuda-device-only -nocudainc -nocudalib -S -w -O2"
        numbers = [3, 8, 17, 26, 35, 44, 53, 62]
        want = [clang_result(i, numbers) & 0xFFFFFFFF for i in range(8)]
        written = []
        for version in VERSIONS:
            words = [*options.split(), f"--cuda-feature=+ptx{version.replace('.', '')}"]
            arch = f"--cuda-gpu-arch={target(version)}"
            done = self.run_command(
                newest_clang(), *words, arch, HERE / "clang.cu", "-o", "clang.ptx"
            )
            if "unsupported option" in done.stderr:
                self.skipTest("this Clang writes one version only")
            made = self.folder / "clang.ptx"
            if (
                done.returncode != 0
                or "ignoring" in done.stderr
                or f".version {version}\n" not in made.read_text()
            ):
                continue  # this Clang has no such version
            written.append(version)
            with self.subTest(version=version):
                self.assertEqual(self.launch(made, "kernel", 8, numbers, 8), want)
        self.assertGreater(len(written), 3, written)


if __name__ == "__main__":
    main()
