# SPDX-License-Identifier: MIT
"""Every function that the headers declare is in the library.

defined.py COMPILER INCLUDE LIBRARY
"""

import subprocess
import sys
from pathlib import Path

from headers import functions, preprocess


def defined(library: Path) -> set[str]:
    words = ["nm", "--defined-only", "--extern-only", "--format=posix", library]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in text.splitlines() if " " in line}


def main() -> int:
    declared = functions(preprocess(sys.argv[1], Path(sys.argv[2])))
    missing = sorted(declared.keys() - defined(Path(sys.argv[3])))
    print(f"{len(declared)} functions are declared")
    for name in missing:
        print(f"{name} is declared, and no file defines it that vgpu/api/CMakeLists.txt names")
    return 1 if missing or len(declared) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
