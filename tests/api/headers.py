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
# Of these CUDA's have more members than ours, or another order.
OUR_STRUCTURES = r"cuda|CU|u?(char|short|int|long)|float|double|dim3"
WITHOUT_SIZE = {"cudaDeviceProp", "cudaPointerAttributes", "cudaFuncAttributes"}


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
    lines = ["#include <stdio.h>\n", includes(), "int main(void)\n{\n"]
    for name in sorted(set(enumerators(text)) | set(macros(compiler, include))):
        lines.append(f'    printf("{name} %lld\\n", (long long)({name}));\n')
    for name, members in structures(text).items():
        if name not in WITHOUT_SIZE:
            sizes = f"sizeof(struct {name}), _Alignof(struct {name})"
            lines.append(f'    printf("{name} %zu %zu\\n", {sizes});\n')
        for member in members:
            size = f"sizeof(((struct {name} *)0)->{member})"
            lines.append(f'    printf("{name}.{member} %zu\\n", {size});\n')
    for name, (result, parameters) in functions(text).items():
        lines.append(f"    {{ {result} (*same){parameters} = {name}; (void)same; }}\n")
    lines.append("    return 0;\n}\n")
    return "".join(lines)


def answers(compiler: str, include: Path, source: str, folder: Path) -> list[str]:
    """Runs the program. Functions are only compared in type: references are compiled away."""
    file, binary = folder / "ask.c", folder / "ask"
    file.write_text(source)
    options = ["-std=gnu11", "-O1", "-w", "-Werror=incompatible-pointer-types", f"-I{include}"]
    subprocess.run([compiler, *options, str(file), "-o", str(binary)], check=True)
    done = subprocess.run([str(binary)], check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.splitlines()


def main() -> int:
    compiler, ours = sys.argv[1], Path(sys.argv[2])
    source = program(compiler, ours)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here = answers(compiler, ours, source, folder)
        if len(sys.argv) < 4 or not sys.argv[3]:  # CMake found none
            print(f"{len(here)} values compile; no CUDA Toolkit to compare with")
            return SKIP
        there = answers(compiler, Path(sys.argv[3]), source, folder)
    different = [f"ours: {a}   CUDA's: {b}" for a, b in zip(here, there, strict=True) if a != b]
    print("\n".join(different))
    count = len(functions(preprocess(compiler, ours)).keys() - OUR_OWN)
    print(f"{len(here)} values and {count} signatures compared, {len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
