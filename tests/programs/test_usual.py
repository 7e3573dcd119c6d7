# SPDX-License-Identifier: MIT
"""Multi-GPU programs in the usual style: each compiles unchanged and checks its own answer on 4
virtual GPUs; with PEERLAB_FULL=1 on 1, 2 and 8, too, and with nvcc where there is one."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import ClassVar

BIN = pathlib.Path(sys.argv[1])
USUAL = pathlib.Path(__file__).parent / "usual"
FULL = "PEERLAB_FULL" in os.environ
NODES = {"hgx-h200-4": 4}  # and their GPUs
if FULL:
    NODES |= {"single": 1, "pcie-4090-2": 2, "dgx-a100": 8}
NVCC = FULL and shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
NVCC_HAS_NCCL = bool(NVCC) and (pathlib.Path(NVCC).parents[1] / "include/nccl.h").exists()
# What is asked of the command line, and of the linker; the others take neither.
OPTIONS = {
    "conjugate_gradient": ("-std=c++17", "-arch", "sm_90"),
    "halo_threads": ("-std=c++14", "-Xcompiler", "-pthread"),
    "histogram": ("-O2", "-std=c++11"),
    "nbody": ("-use_fast_math", "-std=c++17"),
    "jacobi_openmp": ("-O2", "-Xcompiler", "-fopenmp"),
    "p2p_bandwidth": ("-O3", "-arch=sm_90", "-lineinfo"),
    "reduction_series": ("-std=c++17", "-gencode", "arch=compute_90,code=sm_90"),
    "templates17": ("-std=c++17", "-g", "--expt-relaxed-constexpr"),
    "thread_per_gpu": ("-std=c++17", "-Xcompiler", "-pthread"),
    "google_test": ("-std=c++17",),
    "mpi_device": ("-ccbin", "mpicxx"),
    "mpi_files": ("-ccbin", "mpicxx"),
    "mpi_jacobi": ("-ccbin", "mpicxx"),
    "mpi_nccl": ("-ccbin", "mpicxx", "-std=c++17"),
    "mpi_requests": ("-ccbin", "mpicxx"),
}
# What vgpu-cc says of -ccbin.
NOTE = (
    "vgpu-cc: note: Clang compiles .cu files; "
    "-ccbin names the compiler of C++ files and of the link\n"
)
LIBRARIES = {
    "google_test": ("-lgtest", "-lpthread"),
    "mpi_nccl": ("-lnccl",),
    "nccl_data_parallel": ("-lnccl",),
}
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root")
# What a program needs of the machine, and the packages that bring it.
NEEDS = {
    "google_test": (pathlib.Path("/usr/include/gtest/gtest.h").exists(), "libgtest-dev"),
    "mpi": (shutil.which("mpicxx") and shutil.which("mpirun"), "libopenmpi-dev, openmpi-bin"),
}
# NCCL has no way between processes whose GPUs have no peer access: docs/virtual-node.md.
LEFT_OUT = {("mpi_nccl", "pcie-4090-2")}

TALKS = {"google_test"}  # makes mistakes on purpose, which are explained on stderr


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=300,
    )


class Usual(unittest.TestCase):
    """One test a program: made below."""

    def check(self, source: pathlib.Path) -> None:
        name = source.stem
        for start, (there, package) in NEEDS.items():
            missing = name.startswith(start) and not there
            if missing and "PEERLAB_LACKING" not in os.environ:  # .ci/run sets it up
                self.skipTest(f"install {package}")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / name
            options = OPTIONS.get(name, ())
            built = run(BIN / "vgpu-cc", *options, "-o", program, source, *LIBRARIES.get(name, ()))
            self.assertEqual((built.returncode, built.stderr), (0, NOTE * ("-ccbin" in options)))
            for node, gpus in NODES.items():
                if (name, node) in LEFT_OUT:
                    continue
                start = (*MPIRUN, "-n", gpus) if name.startswith("mpi") else ()
                node_id = f"usual-{os.getpid()}-{node}"
                done = run(*start, program, VGPU_NODE=node, VGPU_NODE_ID=node_id)
                said = f"{node}: {done.stdout}{done.stderr}"
                self.assertEqual(done.returncode, 0, said)
                if name not in TALKS:
                    self.assertEqual(done.stderr, "", said)
                self.assertIn("PASS", done.stdout, said)
            if NVCC and ("nccl" not in name or NVCC_HAS_NCCL):
                built = run(NVCC, *options, "-c", "-o", f"{folder}/nvcc.o", source)
                self.assertEqual(built.returncode, 0, f"nvcc: {built.stderr}")


class Refused(unittest.TestCase):
    """Calls of MPI that do not take device memory name it: no segmentation fault in the library."""

    CALLS: ClassVar = (
        *("MPI_Put", "MPI_Get", "MPI_Win_create", "MPI_Iallreduce"),
        *("MPI_Neighbor_alltoall", "MPI_Alltoallw", "MPI_Igatherv"),
        *("MPI_File_read_ordered_begin", "MPI_File_write_at_all_begin"),
    )

    def test_pointer_is_named(self) -> None:
        there, package = NEEDS["mpi"]
        if not there and "PEERLAB_LACKING" not in os.environ:
            self.skipTest(f"install {package}")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "refused"
            source = USUAL.parent / "mpi_refused.cu"
            built = run(BIN / "vgpu-cc", "-ccbin", "mpicxx", "-o", program, source)
            self.assertEqual((built.returncode, built.stderr), (0, NOTE))
            for call in self.CALLS:
                done = run(program, call, VGPU_NODE_ID=f"refused-{os.getpid()}-{call}")
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                pointer = re.search(r"^at (0x\w+)$", done.stderr, re.M)
                assert pointer
                said = f"vgpu: {call}: the buffer at {pointer[1]} is device memory"
                self.assertIn(said, done.stderr)


def add_tests() -> None:
    """All of them with PEERLAB_FULL=1, else one in two; under sanitizers, which look at the node
    and the runtime, one in eight."""
    every = 1 if FULL else 8 if "PEERLAB_SANITIZED" in os.environ else 2
    for source in sorted(USUAL.glob("*.cu"))[::every]:
        setattr(Usual, f"test_{source.stem}", lambda self, source=source: self.check(source))


add_tests()
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
