# SPDX-License-Identifier: MIT
"""Compares every name the headers declare with a CUDA Toolkit's: values, fields, signatures.

    headers.py COMPILER OUR_INCLUDE [TOOLKIT_INCLUDE]

What is asked comes from our own headers, preprocessed; a small C program made of it is compiled
against both. Without a Toolkit only ours is compiled. Exit 77 (skipped) then, 0 equal, 1 different.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
HEADERS = ["cuda_runtime_api.h", "driver_functions.h", "cuda.h", "vector_functions.h"]
OUR_OWN = {"vgpu_push_call", "vgpu_pop_call"}
OUR_STRUCTURES = r"cuda|CU|u?(char|short|int|long)|float|double|dim3"
# The driver calls that they hand out have no second form.
WITHOUT_FORM = {
    *("cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion"),
}
WITHOUT_OVERLOAD = {"cudaStreamAttachMemAsync"}  # it takes pointers to any type as it is


def includes() -> str:
    return "".join(f"#include <{name}>\n" for name in HEADERS)


def preprocess(compiler: str, include: Path, *options: str) -> str:
    command = [compiler, "-xc", "-std=gnu11", "-E", "-P", *options, f"-I{include}", "-"]
    done = subprocess.run(command, input=includes(), text=True, check=True, stdout=subprocess.PIPE)
    return done.stdout


def enumerators(text: str) -> list[str]:
    """Names in all enumerations whose names are CUDA's."""
    bodies = re.findall(r"enum\s+(?:cuda|CU)\w+\s*\{([^}]*)\}", text)
    pattern = r"\b((?:cuda|CUDA|CU)\w+)\b\s*(?==|,|$)"
    return [name for body in bodies for name in re.findall(pattern, body)]


def macros(compiler: str, include: Path) -> list[str]:
    """Object-like macros with a value: flags and special handles."""
    text = preprocess(compiler, include, "-dM")
    found = re.findall(r"^#define ((?:cuda|CUDA|CUDART_|CU_)\w+) \S", text, re.M)
    return [name for name in found if name != "CUDARTAPI"]


def structures(text: str) -> dict[str, list[str]]:
    """Structures with their members; a dim3-like `x, y` declares two."""
    older = r"\w+\s+\w+\s+__attribute__\(\(deprecated\((?:\"[^\"]*\"\s*)+\)\)\)\s*;"
    text = re.sub(older, "", text)  # CUDA 12's: 13 has them no more
    found = {}
    for name, body in re.findall(r"struct\s+(?:__attribute__\S+\s+)?(\w+)\s*\{([^{}]*)\}", text):
        if re.match(OUR_STRUCTURES, name):
            found[name] = re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?=[;,])", body)
    return found


def functions(text: str) -> dict[str, tuple[str, str]]:
    """Prototypes: name -> (result, parameters)."""
    result = r"\b(cudaError_t|CUresult|const char \*)\s*"
    pattern = result + r"(cu[a-zA-Z]\w+)\s*(\((?:[^()]|\([^()]*\))*\))\s*;"
    return {name: (result, parameters) for result, name, parameters in re.findall(pattern, text)}


def program(compiler: str, include: Path) -> str:
    text = preprocess(compiler, include)
    lines = ["#include <stddef.h>\n#include <stdio.h>\n", includes(), "int main(void)\n{\n"]
    for name in sorted(set(enumerators(text)) | set(macros(compiler, include))):
        lines.append(f'    printf("{name} %lld\\n", (long long)({name}));\n')
    for name, members in structures(text).items():
        sizes = f"sizeof(struct {name}), _Alignof(struct {name})"
        lines.append(f'    printf("{name} %zu %zu\\n", {sizes});\n')
        for member in members:
            if member == "reserved":  # as long as CUDA 12's members that ours has there leave it
                continue
            place = f"sizeof(((struct {name} *)0)->{member}), offsetof(struct {name}, {member})"
            lines.append(f'    printf("{name}.{member} %zu %zu\\n", {place});\n')
    lines.append("    return 0;\n}\n")
    return "".join(lines)


def own_streams(compiler: str, include: Path) -> set[str]:
    """Calls with a second form, for programs that have a default stream for each thread."""
    text = preprocess(compiler, include, "-dM", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
    return set(re.findall(r"^#define (cuda\w+) .*_pt[ds][sz]", text, re.M | re.I))


def disagreements(
    compiler: str, toolkit: Path, lines: dict[str, str], header: str = ""
) -> list[str]:
    """The compiler's message for each of the lines that does not go with the Toolkit's headers."""
    options = ["-std=gnu11", "-fsyntax-only", "-Werror=incompatible-pointer-types"]
    command = [compiler, "-xc", *options, f"-I{toolkit}", "-"]
    source = includes() + header + "\n" + "\n".join(lines.values())
    done = subprocess.run(command, input=source, text=True, check=False, stderr=subprocess.PIPE)
    errors = re.findall(r"^<stdin>:(\d+):\d+: error: (.*)", done.stderr, re.M)
    if done.returncode != 0 and not errors:
        sys.exit(done.stderr)
    names, first = list(lines), len(HEADERS) + 2
    return [f"{names[int(line) - first]}: {message}" for line, message in errors]


def other_signatures(compiler: str, ours: Path, toolkit: Path) -> list[str]:
    """Our declarations that the Toolkit's do not agree with, and our types of pointers to calls."""
    declared = functions(preprocess(compiler, ours))
    own = {n: f"{r} (*our_{n}){' '.join(p.split())}" for n, (r, p) in declared.items()}
    calls = {name: f"{pointer} = {name};" for name, pointer in own.items()}
    listed = re.findall(r"VGPU_PFN\((\w+), (\d+)\)", (ours / "cudaTypedefs.h").read_text())
    types = {f"PFN_{n}_v{v}": f"{own[n]} = (PFN_{n}_v{v})0;" for n, v in listed}
    header = "#include <cudaTypedefs.h>"
    return [
        *disagreements(compiler, toolkit, calls),
        *disagreements(compiler, toolkit, types, header),
    ]


def other_forms(compiler: str, ours: Path, toolkit: Path) -> list[str]:
    have, want = own_streams(compiler, ours), own_streams(compiler, toolkit)
    want &= functions(preprocess(compiler, ours)).keys() - WITHOUT_FORM
    more = [
        f"{name}: CUDA has no form of it for a default stream per thread" for name in have - want
    ]
    fewer = [
        f"{name}: its form for a default stream per thread is missing: a line in"
        " vgpu/include/vgpu/per_thread.h, a FORM in vgpu/api/runtime/per_thread.c"
        for name in want - have
    ]
    return sorted(more + fewer)


def other_overloads(compiler: str, ours: Path, toolkit: Path) -> list[str]:
    """Calls that CUDA has for pointers to any type, too."""
    form = r"\bcudaError_t\s+(cuda\w+)\("
    have = set(re.findall(form, (ours / "vgpu/typed_calls.h").read_text()))
    want = set(re.findall(f"__host__.*{form}", (toolkit / "cuda_runtime.h").read_text()))
    want &= functions(preprocess(compiler, ours)).keys() - WITHOUT_OVERLOAD
    return [
        f"{name}: its C++ form is missing in vgpu/include/vgpu/typed_calls.h"
        for name in sorted(want - have)
    ]


def answers(compiler: str, include: Path, source: str, folder: Path) -> list[str]:
    file, binary = folder / "ask.c", folder / "ask"
    file.write_text(source)
    options = ["-std=gnu11", "-O1", "-w", f"-I{include}"]
    subprocess.run([compiler, *options, str(file), "-o", str(binary)], check=True)
    done = subprocess.run([str(binary)], check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.splitlines()


def main() -> int:
    compiler, ours = sys.argv[1], Path(sys.argv[2])
    source = program(compiler, ours)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here = answers(compiler, ours, source, folder)
        if len(sys.argv) < 4:  # CMake found none
            print(f"{len(here)} values compile; no CUDA Toolkit to compare with")
            return SKIP
        there = answers(compiler, Path(sys.argv[3]), source, folder)
    different = [f"ours: {a}   CUDA's: {b}" for a, b in zip(here, there, strict=True) if a != b]
    different += other_signatures(compiler, ours, Path(sys.argv[3]))
    different += other_forms(compiler, ours, Path(sys.argv[3]))
    different += other_overloads(compiler, ours, Path(sys.argv[3]))
    print("\n".join(different))
    count = len(functions(preprocess(compiler, ours)).keys() - OUR_OWN)
    print(f"{len(here)} values and {count} signatures compared, {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
