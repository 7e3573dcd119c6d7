# SPDX-License-Identifier: MIT
"""Every header that is offered compiles as the only one of a file, with nothing of a CUDA Toolkit
that this machine may have: in C where CUDA's does, in C++, and in a .cu by both passes. Where there
is a Toolkit, each header of its runtime, driver, NVRTC, NVTX and cooperative groups is offered or
stands in ABSENT."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rig import HERE, NVCC, Case, cc, main, run

OURS = HERE.parents[1] / "vgpu/include"
FOLDERS = ("", "crt", "nvtx3", "cooperative_groups")
ONLY_CU = r"cooperative_groups/|cuda_(awbarrier|pipeline)|vgpu_device|nccl_device"
ONLY_CXX = r"nvtx3/nvtx3\.hpp"

OTHER_LIBRARIES = (
    r"cublas|cudnn|cufft|cupti|curand|cusolver|cusparse|cudss|npp|nvjpeg|nvblas|nvml|nvperf|nvvm"
    r"|nvPTXCompiler|nvFatbin|nvJitLink|nv_decode|cudalibxt|cufile|generated_|nccl|cutensor|Open"
)
ABSENT = {
    "graphics": r"cuda(EGL|GL|VDPAU)|cuda_(egl|gl|vdpau)_interop|cudart_platform",
    "tensor cores": r"cuda_fp[46]\.h|crt/cuda_tile",
    "Blackwell": r"crt/sm_100_rt",
    "what cudaOccupancy... answer, without a GPU": r"cuda_occupancy",
    "cuProfilerInitialize, which CUDA 13 has no more": r"cudaProfilerTypedefs",
    "insides of other headers": r".*\.hpp|.*_helpers\.h|crt/(cudacc_ext|func_macro|storage_class)"
    r"|crt/device_fp128_functions",
    "insides of what nvcc makes": r"fatbinary_section|crt/host_runtime",
    "what only a tool for NVTX reads": r"nvtx3/nvToolsExt(Counters|Mem|Payload|Semantics)",
    "OpenCL": r"nvtx3/nvToolsExtOpenCL",
}


def headers_in(folder: Path) -> list[str]:
    found = [path for name in FOLDERS for path in (folder / name).glob("*.h*")]
    return sorted(str(path.relative_to(folder)) for path in found)


def toolkit_headers(case: Case) -> Path:
    if NVCC is None:
        case.skipTest("there is no CUDA Toolkit here")
    return Path(NVCC).resolve().parents[1] / "include"


class Headers(Case):
    def compiled(self, header: str, language: str) -> subprocess.CompletedProcess:
        """Its standard output names the files that were read."""
        name = re.sub(r"\W", "_", f"{header}_{language}")
        source = self.write(f"{name}.{language}", f"#include <{header}>\n")
        if language == "cu":
            done = cc(*("-c", "-MD", source.name), folder=self.folder, VGPU_CCCL="none")
            if done.returncode == 0:
                done.stdout = (self.folder / f"{name}.d").read_text()
            return done
        compiler, standard = ("gcc", "c11") if language == "c" else ("g++", "c++11")
        flags = ["-Wall", "-Wextra", "-Werror", f"-std={standard}", f"-I{OURS}"]
        done = run([compiler, *flags, "-fsyntax-only", source], self.folder)
        return done if done.returncode else run([compiler, *flags, "-M", source], self.folder)

    def check(self, header: str, language: str) -> str:
        """What is wrong with it."""
        done = self.compiled(header, language)
        if done.returncode != 0:
            return f"{header} in {language}: {done.stderr}"
        files = [Path(name) for name in re.findall(r"[^\s\\]+\.\w+", done.stdout)]
        foreign = [path for path in files if path.exists() and "/cuda-" in str(path.resolve())]
        return f"{header} in {language} reads {foreign}" if foreign else ""

    def test_each_alone(self) -> None:
        jobs = []
        for header in headers_in(OURS):
            languages = ["cu"]
            if not re.match(ONLY_CU, header):
                languages += ["cpp"] if re.match(ONLY_CXX, header) else ["cpp", "c"]
            jobs += [(header, language) for language in languages]
        self.assertGreater(len(jobs), 150)
        with ThreadPoolExecutor(2) as pool:
            wrong = list(filter(None, pool.map(lambda job: self.check(*job), jobs)))
        self.assertEqual(wrong, [])

    def test_curand_in_device_code(self) -> None:
        """cuRAND's headers for device code need no library: they give the numbers of an H200."""
        headers = [path for path in toolkit_headers(self).glob("curand*.h") if path.is_file()]
        if not headers:
            self.skipTest("the CUDA Toolkit here has no cuRAND")
        for path in headers:
            self.write(path.name, path.read_text("latin-1"))
        source = HERE / "curand/numbers.cu"
        done = cc("-w", f"-I{self.folder}", source, "-o", "numbers", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = (HERE.parents[1] / "tests/recorded/hgx-h200-1/curand.txt").read_text("utf-8")
        numbers = run([self.folder / "numbers"], self.folder)
        self.assertEqual(numbers.stdout.splitlines(), recorded.splitlines()[1:], numbers.stderr)

    def test_those_of_a_toolkit(self) -> None:
        toolkit = toolkit_headers(self)
        here = set(headers_in(OURS))
        absent = "|".join([OTHER_LIBRARIES, *ABSENT.values()])
        theirs = headers_in(toolkit)
        missing = [name for name in theirs if name not in here and not re.match(absent, name)]
        self.assertEqual(missing, [])
        for reason, names in ABSENT.items():
            self.assertTrue(any(re.match(names, name) for name in theirs), reason)
        for name in here & set(theirs):  # what CUDA offers C programs, too
            if re.match(f"{ONLY_CU}|{ONLY_CXX}", name):
                source = self.write("a.c", f"#include <{name}>\nint something;\n")
                done = run(["gcc", "-fsyntax-only", "-w", f"-I{toolkit}", source], self.folder)
                self.assertNotEqual(done.returncode, 0, f"{name} is C in CUDA")


if __name__ == "__main__":
    assert shutil.which("gcc")
    main()
