# SPDX-License-Identifier: MIT
"""The installed toolkit works from any folder, without the sources and the build."""

import os
import pathlib
import re
import shutil
import subprocess

from rig import CC, Case, main, run

BUILD = CC.parent.parent
PROGRAM = """\
#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main()
{
    int *p, h[3] = {1, 2, 3}, n;
    cudaGetDeviceCount(&n);
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    twice<<<1, 3>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%d GPUs: %d %d %d\\n", n, h[0], h[1], h[2]);
}
"""
NCCL = """\
#include <cstdio>
#include <cuda_runtime.h>
#include <nccl.h>
int main()
{
    int h[2] = {1, 20}, *p[2], version;
    ncclComm_t comm[2];
    ncclGetVersion(&version);
    ncclCommInitAll(comm, 2, nullptr);
    for (int g = 0; g < 2; g++) {
        cudaSetDevice(g);
        cudaMalloc(&p[g], 4);
        cudaMemcpy(p[g], &h[g], 4, cudaMemcpyHostToDevice);
    }
    ncclGroupStart();
    for (int g = 0; g < 2; g++)
        ncclAllReduce(p[g], p[g], 1, ncclInt, ncclSum, comm[g], 0);
    ncclGroupEnd();
    for (int g = 0; g < 2; g++) {
        cudaSetDevice(g);
        cudaMemcpy(&h[g], p[g], 4, cudaMemcpyDeviceToHost);
    }
    std::printf("%d: %d %d\\n", version == NCCL_VERSION_CODE, h[0], h[1]);
}
"""


class Install(Case):
    def toolkit(self, name: str) -> pathlib.Path:
        """Installed to one folder, moved to another of this name."""
        first = self.folder / "first"
        done = subprocess.run(
            [os.environ.get("CMAKE_COMMAND", "cmake"), "--install", BUILD, "--prefix", first],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return first.rename(self.folder / name)

    def test_moved_toolkit(self) -> None:
        home = self.toolkit("toolkit \u00e9 2")
        self.write("a.cu", PROGRAM)
        # -v shows every command: nothing of the build or source tree is in them.
        built = run([home / "bin/vgpu-cc", "-v", "-o", "a", "a.cu"], self.folder)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertNotIn(str(BUILD), built.stdout + built.stderr)
        for node, gpus in (("single", 1), ("dgx-a100", 8)):
            identity = f"install-{os.getpid()}-{gpus}"
            done = run(["./a"], self.folder, VGPU_NODE=node, VGPU_NODE_ID=identity)
            self.assertEqual(done.stdout, f"{gpus} GPUs: 2 4 6\n", done.stderr)
        listed = run([home / "bin/vgpu-smi", "-L"], self.folder, VGPU_NODE_ID=f"smi-{os.getpid()}")
        self.assertEqual(listed.stdout.count("GPU 0"), 1, listed.stderr)
        names = run([home / "bin/vgpu-run", "--nodes"], self.folder)
        self.assertRegex(names.stdout, r"(?m)^dgx-a100 +DGX A100: ", names.stderr)

    def test_a_program_finds_the_toolkit_that_linked_it(self) -> None:
        home = self.toolkit("here")
        self.write("a.cu", PROGRAM)
        self.assertEqual(run([home / "bin/vgpu-cc", "-o", "a", "a.cu"], self.folder).returncode, 0)
        # A description that only this toolkit has: the node that starts is the toolkit's own.
        shutil.copy(home / "share/vgpu/nodes/dgx-a100.json", home / "share/vgpu/nodes/mine.json")
        own = {"VGPU_NODE": "mine", "VGPU_NODE_ID": f"own-{os.getpid()}"}
        self.assertEqual(run(["./a"], self.folder, **own).stdout, "8 GPUs: 2 4 6\n")
        there = home.rename(self.folder / "there")
        own["VGPU_NODE_ID"] += "-moved"
        moved = run(["./a"], self.folder, VGPU_HOME=str(there), **own)
        self.assertEqual(moved.stdout, "8 GPUs: 2 4 6\n", moved.stderr)

    def needs(self, program: str) -> list[str]:
        said = run(["readelf", "-dW", program], self.folder).stdout
        return re.findall(r"Shared library: \[(lib(?:nccl|cudart)[^]]*)", said)

    def test_nccl(self) -> None:
        """libnccl.so for g++; what vgpu-cc links has both inside, by whatever name."""
        home = self.toolkit("nccl")
        self.write("n.cpp", NCCL)
        at = ["-I", home / "include", "-L", home / "lib64", f"-Wl,-rpath,{home}/lib64"]
        cases = {
            "shared": ["g++", "n.cpp", *at, "-lnccl", "-lcudart"],
            "inside": [home / "bin/vgpu-cc", "-x", "cu", "n.cpp", "-x", "none", "-lnccl"],
            "by_path": [home / "bin/vgpu-cc", "n.cpp", home / "lib64/libnccl.so"],
        }
        for name, command in cases.items():
            with self.subTest(name=name):
                built = run([*command, "-o", name], self.folder)
                self.assertEqual((built.returncode, built.stderr), (0, ""))
                shared = ["libnccl.so.2", "libcudart.so.13"] if name == "shared" else []
                self.assertEqual(self.needs(name), shared)
                own = {"VGPU_NODE": "dgx-a100", "VGPU_NODE_ID": f"nccl-{name}-{os.getpid()}"}
                done = run([f"./{name}"], self.folder, **own)
                self.assertEqual(done.stdout, "1: 21 21\n", done.stderr)


main()
