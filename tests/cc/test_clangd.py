# SPDX-License-Identifier: MIT
"""clangd finds no error in files of the labs, nor in a user's own .cu, and finds those that
vgpu-cc finds. PEERLAB_FULL=1: in every file of labs/ and solutions/, else in what learners edit
and in all .cu files."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

from rig import CC, FULL, HERE, Case, cc, main

ROOT = HERE.parent.parent
CLANGD = shutil.which("clangd")
PROGRAM = """\
#include <cstdio>
#include "mine.h"
__global__ void add(int *p, int n)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = n;
    __syncthreads();
    atomicAdd(p, tile[threadIdx.x]);
}
int main()
{
    int *p;
    cudaMalloc(&p, sizeof *p);
    add<<<1, 32>>>(p, MINE);
    std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


def errors(path: pathlib.Path) -> list[str]:
    """What an editor would mark as an error in the file."""
    done = subprocess.run(
        [CLANGD, f"--check={path}", "--check-lines=1-1"],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "All checks completed" not in done.stderr:
        return [f"{path}: clangd does not come to an end:\n{done.stderr}"]
    return [f"{path}: {line}" for line in done.stderr.splitlines() if line.startswith("E[")]


def files_of_labs() -> list[pathlib.Path]:
    found = [path for folder in ("labs", "solutions") for path in (ROOT / folder).rglob("*.*")]
    found = [path for path in found if path.suffix in (".c", ".h", ".cu", ".cuh")]
    if FULL:
        return found
    return [path for path in found if path.suffix == ".cu" or path.parent.parent == ROOT / "labs"]


class Editor(Case):
    def test_labs(self) -> None:
        if not (ROOT / ".clangd").exists():
            self.skipTest("the editor's files are those of build/vgpu, which is not built")
        files = files_of_labs()
        self.assertGreater(len(files), 30)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [line for lines in pool.map(errors, files) for line in lines]
        self.assertEqual(found, [], "\n".join(found))

    def test_other_sources(self) -> None:
        """compile_commands.json is found."""
        if not (ROOT / "compile_commands.json").exists():
            self.skipTest("the editor's files are those of build/vgpu, which is not built")
        self.assertEqual(errors(ROOT / "vgpu/cc/main.c"), [])

    def user(self, text: str) -> pathlib.Path:
        """A program outside the checkout, with a folder of headers."""
        (self.folder / "more").mkdir(exist_ok=True)
        (self.folder / "more/mine.h").write_text("#define MINE 3\nint host(int);\n")
        return self.write("mine.cu", text)

    def clangd(self, *arguments: str) -> None:
        done = cc("--clangd", *arguments, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.write(".clangd", done.stdout)

    def test_a_users_own_file(self) -> None:
        path = self.user(PROGRAM)
        self.clangd(f"-I{self.folder}/more")
        self.assertEqual(errors(path), [])
        path.write_text(PROGRAM.replace("atomicAdd(p, tile", "atomicAdd(q, host(3) + tile"))
        found = errors(path)
        self.assertEqual(len(found), 2, found)
        self.assertIn("Line 8: use of undeclared identifier 'q'", "\n".join(found))
        self.assertIn("Line 8: no matching function for call to 'host'", "\n".join(found))

    def test_a_users_project(self) -> None:
        """Built by CMake, which says how: options of nvcc's are taken out, folders stay."""
        path = self.user(PROGRAM)
        self.clangd()
        said = (
            f"{CC} -forward-unknown-to-host-compiler -DNDEBUG --options-file x.rsp "
            f'-I{self.folder}/more "--generate-code=arch=compute_75,code=[compute_75,sm_75]" '
            "-std=c++17 -Xcompiler=-fPIC --expt-relaxed-constexpr -rdc=true -x cu -c mine.cu "
            "-o mine.o"
        )
        entry = {"directory": str(self.folder), "command": said, "file": str(path)}
        self.write("compile_commands.json", json.dumps([entry]))
        self.assertEqual(errors(path), [])


if __name__ == "__main__":
    if CLANGD is None:
        print("there is no clangd here")
        sys.exit(77)
    main()
