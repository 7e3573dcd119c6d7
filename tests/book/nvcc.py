# SPDX-License-Identifier: MIT
"""The book's programs are CUDA's: nvcc compiles each, those for real GPUs alone, too: device code
to PTX, host code as far as nvcc itself reads it, and with PEERLAB_FULL=1 to objects.

Exit status 77 where there is no nvcc. A library that is not there (NCCL) is told.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent.parent / "docs/book"
FULL = "PEERLAB_FULL" in os.environ
HOW = ("-c",) if FULL else ("-cuda", "-gencode=arch=compute_75,code=compute_75")
NO_HEADER = re.compile(r"fatal error: (nccl\.h)")


def main() -> int:
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    if nvcc is None:
        print("no nvcc here (the CUDA Toolkit)")
        return 77
    wrong, sources = [], sorted([*BOOK.glob("code/**/*.cu"), *BOOK.glob("real/*.cu")])
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            command = [nvcc, *HOW, "-o", f"{folder}/out", str(source)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if missing := NO_HEADER.search(done.stderr):
                print(f"{source.name} was not compiled: there is no {missing[1]}")
            elif done.returncode or "warning" in done.stderr:
                wrong.append(f"{source.name}:\n{done.stderr}")
    print("\n".join([*wrong, f"{len(sources)} programs, {len(wrong)} that nvcc does not like"]))
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
