# SPDX-License-Identifier: MIT
"""Programs with Thrust, CUB and libcu++ run right: cccl/, and with PEERLAB_FULL cccl/more/, too.
Exit status 77 where CCCL is not installed."""

import os
import pathlib
import re
import shutil
import sys

from rig import CC, FULL, HERE, Case, cc, main, plain, run

PROGRAMS = HERE / "cccl"
ASKED = {"VGPU_CCCL": os.environ.get("VGPU_CCCL", "")}  # "": what vgpu-cc finds itself
CLANGS = [name for at in range(14, 20) if shutil.which(name := f"clang++-{at}")]


def found() -> str:
    """The folder of CCCL that vgpu-cc takes; "": there is none."""
    said = run([CC, "--dryrun", "-c", "x.cu"], PROGRAMS, **ASKED).stderr
    folders = re.findall(r"-isystem '?([^' ]+)", said)
    return next((f for f in folders if pathlib.Path(f, "thrust/version.h").exists()), "")


class Programs(Case):
    def check(self, name: str, *flags: str, checks: str = "kernels", **environment: str) -> None:
        source = PROGRAMS / f"{name}.cu"
        wanted = re.findall(r"^// prints: (.*)$", source.read_text(), re.MULTILINE)
        target = self.folder / "program"
        built = cc(*flags, source, "-o", target, folder=self.folder, **{**ASKED, **environment})
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertNotIn("error", built.stderr)
        done = run([target], VGPU_NODE="hgx-h200-4", VGPU_CHECK=checks)
        self.assertEqual(done.stdout.splitlines(), wanted, done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_the_issue_names(self) -> None:
        for name in ("thrust", "cub", "libcu"):
            with self.subTest(program=name):
                self.check(name, "-O2")

    def test_the_newest_clang(self) -> None:
        if len(CLANGS) < 2:
            self.skipTest("there are no two releases of Clang here")
        for name in ("thrust", "cub", "libcu") if FULL else ("libcu",):
            with self.subTest(program=name):
                self.check(name, "-O2", VGPU_CLANG=CLANGS[-1])

    def test_more(self) -> None:
        for path in sorted((PROGRAMS / "more").glob("*.cu")) if FULL else ():
            with self.subTest(program=path.name):
                self.check(f"more/{path.stem}", "-std=c++17", "--extended-lambda", checks="api")


class Finding(Case):
    """Which headers are taken."""

    def folder_with(self, version: int, *files: str) -> str:
        place = self.folder / "other"
        (place / "thrust").mkdir(parents=True)
        (place / "thrust/version.h").write_text(f"#define THRUST_VERSION {version}\n")
        for name in files:
            (place / name).write_text("")
        return str(place)

    def refused(self, **environment: str) -> str:
        self.write("t.cu", "#include <thrust/sort.h>\nint main() {}\n")
        done = cc("-c", "t.cu", folder=self.folder, **environment)
        self.assertNotEqual(done.returncode, 0)
        return plain(done.stderr)

    def test_without_it_the_command_that_installs_it_is_named(self) -> None:
        said = self.refused(VGPU_CCCL="none")
        self.assertIn("t.cu:1:10: fatal error: 'thrust/sort.h' file not found", said)
        self.assertIn("./lab start --cccl", said)

    def test_other_releases_are_refused(self) -> None:
        said = self.refused(VGPU_CCCL=self.folder_with(101702))
        self.assertIn("CCCL 1.17.2 in", said)
        self.assertIn("2.5.0 to 3.0", said)

    def test_a_folder_without_it(self) -> None:
        self.assertIn("no thrust/version.h", self.refused(VGPU_CCCL=str(self.folder)))

    def test_a_folder_with_cudas_headers_too(self) -> None:
        said = self.refused(VGPU_CCCL=self.folder_with(200802, "cuda_runtime.h"))
        self.assertIn("holds CUDA's own headers", said)

    def test_its_atomics_and_ours_do_the_same(self) -> None:
        for place in (ASKED["VGPU_CCCL"], "none"):
            source = HERE.parent / "programs" / "cuda_atomic.cu"
            target = self.folder / "atomics"
            built = cc("-w", "-DNDEBUG", source, "-o", target, folder=self.folder, VGPU_CCCL=place)
            self.assertEqual(built.returncode, 0, built.stderr)
            done = run([target], VGPU_NODE="hgx-h200-4")
            self.assertEqual((done.returncode, done.stderr), (0, ""), place)

    def test_ptx_that_is_not_known_is_named(self) -> None:
        self.write(
            "p.cu",
            "#include <cuda/ptx>\n__global__ void k(int *p, cuda::std::uint64_t *barrier)\n{\n"
            "    namespace ptx = cuda::ptx;\n    int at[1] = {0};\n"
            "    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,\n"
            "                              p, p, at, barrier);\n}\nint main() {}\n",
        )
        done = cc("-c", "p.cu", folder=self.folder, **ASKED)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(
            plain(done.stderr),
            r"cp_async_bulk_tensor.h:\d+:\d+: error: inline PTX .* not know: "
            r'"cp.async.bulk.tensor.1d.shared::cluster',
        )


if __name__ == "__main__":
    if not found():
        print("CCCL (Thrust, CUB, libcu++) is not here: ./lab start --cccl installs it")
        sys.exit(77)
    main()
