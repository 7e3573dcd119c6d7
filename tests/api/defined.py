# SPDX-License-Identifier: MIT
"""Every function that the headers declare is in the library, and in the shared one by the name that
a CUDA Toolkit's cuda.h gives it (cuMemAlloc_v2), if there is one.

defined.py COMPILER INCLUDE LIBRARY SHARED [TOOLKIT_INCLUDE]
"""

import re
import subprocess
import sys
from pathlib import Path

from headers import functions, preprocess


def defined(library: Path) -> set[str]:
    words = ["nm", "--defined-only", "--extern-only", "--format=posix", library]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in text.splitlines() if " " in line}


def exported(library: Path) -> set[str]:
    words = ["nm", "--dynamic", "--defined-only", "--format=posix", library]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line.split("@")[0].split()[0] for line in text.splitlines() if line}


def linked_names(compiler: str, toolkit: str, calls: set[str]) -> dict[str, str]:
    """The name by which a program that was compiled with the Toolkit's cuda.h links each call."""
    source = "#include <cuda.h>\n" + "".join(f'"{name}" {name}\n' for name in sorted(calls))
    words = [compiler, "-xc", "-E", "-P", f"-I{toolkit}", "-"]
    done = subprocess.run(words, input=source, text=True, check=True, stdout=subprocess.PIPE)
    return dict(re.findall(r'^"(\w+)" (\w+)$', done.stdout, re.M))


def main() -> int:
    compiler, include, library, shared, *toolkit = sys.argv[1:]
    declared = functions(preprocess(compiler, Path(include)))
    missing = sorted(declared.keys() - defined(Path(library)))
    print(f"{len(declared)} functions are declared")
    for name in missing:
        print(f"{name} is declared, and no file defines it that vgpu/api/CMakeLists.txt names")
    driver = {name for name in declared if re.match("cu[A-Z]", name)}
    names = linked_names(compiler, toolkit[0], driver) if toolkit else {}
    print(f"{len(names)} of them are driver calls that a Toolkit declares, too")
    unlinked = sorted(set(names.values()) - exported(Path(shared)))
    for name in unlinked:
        print(f"{name} is not in {shared}: a line in vgpu/api/driver/linked_names.ld is missing")
    return 1 if missing or unlinked or len(declared) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
