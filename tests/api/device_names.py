# SPDX-License-Identifier: MIT
"""Are the functions of device code that a CUDA Toolkit's headers declare offered here too?

    device_names.py VGPU_CC [TOOLKIT_INCLUDE]

Names only: tests/programs/device checks values. What is not offered stands below with its reason,
and must not be offered, so that the list stays true. Exit 77 (skipped) without a Toolkit.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
HEADERS = (
    "crt/device_functions.h",
    "crt/math_functions.h",
    "crt/device_double_functions.h",
    "device_atomic_functions.h",
    "sm_20_atomic_functions.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_atomic_functions.h",
    "sm_32_intrinsics.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_61_intrinsics.h",
    "crt/sm_70_rt.h",
    "crt/sm_80_rt.h",
    "crt/sm_90_rt.h",
)
# A pattern of names: why they are not here.
NOT_OFFERED = {
    r"__(all|any|ballot)": "without _sync: gone since compute capability 7.0, an error with nvcc",
    r"__u128Atomic\w+": "the virtual node's atomics have at most 8 bytes",
    r"__nv_(aligned|associate|memcpy|isC)\w+|__isCtaShared|__isClusterShared|__cluster\w*": "the"
    " Toolkit's own, for clusters and asynchronous copies",
    r"__cuda\w+|__prof_trigger|__pm[0-3]": "launches' insides; counters of the profiler",
    r"_\w*[Dd]sign|_F[A-Z]\w+|_hypotf?|_Pow_int|__(DOUBLE|FLOAT)_BITS|__cmath_power|__pow_helper"
    r"|__has_trivial_copy|__signbitd?|__NV_ATOMIC\w+|__isnand|__isinfd|__is?finited|__isfinite\w?"
    r"|__signbitl|__isinfl|__isnanl": "insides of the Toolkit's headers for other C libraries",
    r"(float|double|int|uint|ll|ull)2\w+|d(add|mul|sub)|f(divide|add|mul)": "old names in device"
    " emulation",
    r"__(shfl|shfl_up|shfl_down|shfl_xor)": "without _sync: gone since 7.0",
}
NO_FUNCTION = {"if", "while", "for", "switch", "return", "defined", "sizeof", "static_assert"}


def declared(toolkit: Path) -> set[str]:
    """Names in front of a parameter list that ends a declaration."""
    names = set()
    for header in HEADERS:
        text = (toolkit / header).read_text(errors="replace")
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S).replace("\\\n", " ")
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        pattern = r"([\w\s*]+?)\b(\w+)\s*\([^()]*\)\s*(?:__THROW|noexcept|\s)*[;{]"
        for before, name in re.findall(pattern, text):
            if name not in NO_FUNCTION and "return" not in before and "asm" not in name:
                names.add(name)
    return names


def offered(vgpu_cc: str) -> set[str]:
    """Every name in what a .cu file reads: functions, and macros that stand for one."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cu"
        source.write_text("")
        words = set()
        for more in ([], ["-Xcompiler", "-dM"]):
            command = [vgpu_cc, "-E", *more, source]
            done = subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE)
            words |= set(re.findall(r"\w+", done.stdout))
    return words


def main() -> int:
    if len(sys.argv) < 3:
        print("there is no CUDA Toolkit to compare with")
        return SKIP
    there = declared(Path(sys.argv[2]))
    here = offered(sys.argv[1])
    exception = re.compile("|".join(f"(?:{pattern})" for pattern in NOT_OFFERED))
    missing = sorted(name for name in there - here if not exception.fullmatch(name))
    for name in missing:
        print(f"{name} is in CUDA's headers, and neither here nor among the exceptions")
    left = sum(1 for name in there - here if exception.fullmatch(name))
    print(f"{len(there & here)} names offered, {left} not, with a reason, {len(missing)} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
