# SPDX-License-Identifier: MIT
"""The book's programs are CUDA's: nvcc compiles each. Exit status 77 where there is none."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CODE = Path(__file__).resolve().parent.parent.parent / "docs/book/code"


def main() -> int:
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if nvcc is None:
        print("no nvcc here (the CUDA Toolkit)")
        return 77
    wrong, sources = [], sorted(CODE.glob("*.cu"))
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            command = [nvcc, "-c", "-o", f"{folder}/out.o", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode or "warning" in done.stderr:
                wrong.append(f"{source.name}:\n{done.stderr}")
    print("\n".join([*wrong, f"{len(sources)} programs, {len(wrong)} that nvcc does not like"]))
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
