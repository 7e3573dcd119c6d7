# SPDX-License-Identifier: MIT
"""Programs that print what headers compute: the same against ours and against a CUDA Toolkit's.

    alike.py CXX OUR_INCLUDE OUR_RUNTIME [TOOLKIT_INCLUDE]

Host code only: what the headers do for device code is the same text. Each also includes the headers
that exist to be included, alone, in C where CUDA's are C, and compares their guards: programs test
these (helper_cuda.h of CUDA's samples declares checkCudaErrors where __DRIVER_TYPES_H__ is there).
Exit 77 (skipped) without a Toolkit, after ours was compiled; 0 equal; 1 different.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIP = 77
PROGRAMS = sorted((Path(__file__).parent / "alike").glob("*.cpp"))
IN_C = [
    *("builtin_types.h", "cuComplex.h", "cuda.h", "cudaProfiler.h", "cudaTypedefs.h"),
    *("cuda_bf16.h", "cuda_device_runtime_api.h", "cuda_fp16.h", "cuda_fp8.h"),
    *("cuda_profiler_api.h", "cuda_runtime_api.h", "cuda_stdint.h", "device_types.h"),
    *("crt/host_config.h", "crt/host_defines.h", "crt/math_functions.h"),
    *("driver_functions.h", "driver_types.h", "library_types.h", "math_constants.h"),
    *("surface_types.h", "texture_types.h"),
    *("nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtCuda.h", "nvtx3/nvToolsExtCudaRt.h"),
    *("nvtx3/nvToolsExtSync.h", "vector_functions.h", "vector_types.h"),
]
IN_CXX = [
    *("cooperative_groups.h", "cooperative_groups/memcpy_async.h", "cooperative_groups/reduce.h"),
    *("cooperative_groups/scan.h",),
    *("channel_descriptor.h", "crt/device_functions.h", "crt/sm_90_rt.h", "cuda_runtime.h"),
    *("device_atomic_functions.h", "sm_35_intrinsics.h", "sm_32_atomic_functions.h"),
    *("device_functions.h", "device_launch_parameters.h", "math_functions.h"),
    *("sm_20_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h"),
    *("surface_indirect_functions.h", "texture_indirect_functions.h"),
    *("vector_functions.hpp",),
]


def run(command: list[str], text: str | None = None) -> str:
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def printed(compiler: str, include: str, library: Path, program: Path, out: Path) -> str:
    """What the program prints, compiled against these headers and linked with this runtime."""
    warnings = ["-Wall", "-Wextra", "-Werror"] if "vgpu" in include else ["-w"]
    command = [compiler, "-std=c++17", "-O1", *warnings, "-isystem", include, str(program)]
    libraries = [str(library), "-ldl", "-lpthread", "-lrt", "-lm"] if library.exists() else []
    run([*command, *libraries, "-o", str(out)])
    return run([str(out)])


def macros(compiler: str, include: str, header: str, language: str) -> set[str]:
    """The macros that are defined once this header alone is included."""
    command = [compiler, f"-x{language}", "-E", "-dM", "-isystem", include, "-"]
    return set(re.findall(r"^#define (\w+)", run(command, f"#include <{header}>\n"), re.M))


def own_guard(toolkit: str, header: str) -> str:
    """The macro by which CUDA's header knows that it was included, "" where it has none."""
    text = (Path(toolkit) / header).read_text(encoding="utf-8", errors="replace")
    tested = re.findall(r"^#\s*(?:ifndef |if !defined\()\s*(\w+)", text, re.M)
    defined = re.findall(r"^#\s*define (\w+)", text, re.M)
    return next((name for name in tested if name in defined and "INTERNAL" not in name), "")


def main() -> int:
    compiler, ours, runtime, *rest = sys.argv[1:]
    library = Path(rest[0]) / "../lib64/libcudart_static.a" if rest else Path()
    bad = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for index, program in enumerate(PROGRAMS):
            out = Path(folder) / str(index)
            have = pool.submit(
                printed, compiler, ours, Path(runtime), program, out.with_suffix(".ours")
            )
            want = pool.submit(printed, compiler, rest[0], library, program, out) if rest else have
            pairs = zip(have.result().splitlines(), want.result().splitlines(), strict=False)
            for mine, theirs in pairs:
                if mine != theirs:
                    print(f"{program.name}: here {mine}\n{program.name}: CUDA {theirs}")
                    bad += 1
            if len(have.result().splitlines()) != len(want.result().splitlines()):
                print(f"{program.name} prints another number of lines")
                bad += 1
    for language, headers in (("c", IN_C), ("c++", IN_CXX)):
        for header in headers:
            mine = macros(compiler, ours, header, language)
            guard = own_guard(rest[0], header) if rest else ""
            if guard and guard not in mine:
                print(f"{header}: CUDA's guard {guard} is not defined here")
                bad += 1
    if not rest:
        print("there is no CUDA Toolkit to compare with")
    return 1 if bad else 0 if rest else SKIP


if __name__ == "__main__":
    sys.exit(main())
