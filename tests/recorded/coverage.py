# SPDX-License-Identifier: MIT
"""Which functions of CUDA that the virtual node offers were asked on real GPUs?  [--write-docs]

Asked is what probes/*.cu, tests/conformance and tests/fuzz call: those programs' answers are
recorded. What the others answer follows NVIDIA's documentation; docs/conformance.md lists them, and
this test holds it to the headers.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
INCLUDE = ROOT / "vgpu/include"
DOCS = ROOT / "docs/conformance.md"
BEGIN, END = "<!-- not asked: begin -->\n", "<!-- not asked: end -->\n"
NAME = re.compile(r"\bcu(?:da)?[A-Z]\w+")


def offered() -> set[str]:
    """Declared, and not only to be refused by name."""
    runtime = "".join(
        (INCLUDE / name).read_text() for name in ("cuda_runtime_api.h", "vgpu/graph_calls.h")
    )
    names = set(re.findall(r"^cudaError_t\s(cuda\w+)\(", runtime, re.M))
    driver = (INCLUDE / "vgpu/driver_calls.h").read_text()
    refused = re.search(r"#define VGPU_DRIVER_REFUSED\(X\)(.*?[^\\])\n", driver, re.S)
    assert refused
    every = set(re.findall(r"X\((cu\w+),", driver))
    return names | (every - set(re.findall(r"X\((cu\w+),", refused[1])))


def asked() -> set[str]:
    sources = [*(HERE / "probes").glob("*.cu"), *(ROOT / "tests/fuzz").glob("*.c*")]
    sources += (ROOT / "tests/conformance").glob("*.cu")
    names = {name for source in sources for name in NAME.findall(source.read_text())}
    if any("<<<" in source.read_text() for source in sources):
        names.add("cudaLaunchKernel")
    return names


def rendered(known: set[str], recorded: set[str]) -> str:
    missing = sorted(known - recorded)
    lead = f"The answers of {len(known & recorded)} of {len(known)} functions were recorded"
    if not missing:
        return lead + ".\n"
    return (
        lead
        + ". None was recorded for these:\n\n"
        + ", ".join(f"`{name}`" for name in missing)
        + "\n"
    )


def main() -> int:
    text = DOCS.read_text()
    head, rest = text.split(BEGIN)
    wanted = head + BEGIN + rendered(offered(), asked()) + END + rest.split(END)[1]
    if "--write-docs" in sys.argv[1:]:
        DOCS.write_text(wanted)
    elif text != wanted:
        print(f"{DOCS.name} lists other functions than the headers and probes have: --write-docs")
        return 1
    print(rendered(offered(), asked()).splitlines()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
