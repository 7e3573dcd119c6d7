# SPDX-License-Identifier: MIT
"""Does the virtual node answer as 4 H200s did?  conformance.py VGPU_CC PROGRAM [--write-docs]

PROGRAM names one of probes/*.cu, which asked real hardware; hgx-h200-4/PROGRAM.txt is what it
said, or that of another folder (ASKED). The same program is compiled with vgpu-cc, unchanged, run
on the node `hgx-h200-4`, and compared line by line. Where the virtual node answers otherwise on
purpose, exceptions.json says what and why; an exception that nothing needs any more is an error
too, and docs/conformance.md must hold them all (--write-docs makes it so).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from grader.commands.conformance import Answers, cases, compare

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs" / "conformance.md"
BEGIN, END = "<!-- exceptions: begin -->\n", "<!-- exceptions: end -->\n"


@dataclass(frozen=True)
class Asked:
    """Which machine a program asked, and how the same is asked here."""

    folder: str = "hgx-h200-4"
    environment: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    by_chance: str = r"$^"  # lines that depend on which of two threads was first


ASKED = {
    "frees": Asked("hgx-h200-1", {"CUDA_VISIBLE_DEVICES": "0"}, ("-DNO_MANAGED",), " after it ")
}


def compiled(vgpu_cc: str, program: str, folder: str) -> str:
    output = str(Path(folder) / program)
    source = str(HERE / "probes" / f"{program}.cu")
    flags = ASKED.get(program, Asked()).flags
    subprocess.run([vgpu_cc, *flags, "-o", output, source, "-lcuda"], check=True)
    return output


def answers(binary: str, more: dict[str, str]) -> Answers:
    ident = f"conformance-{os.getpid()}"
    environment = {**os.environ, "VGPU_NODE": "hgx-h200-4", "VGPU_QUIET": "1", **more}
    environment["VGPU_NODE_ID"] = ident
    done = subprocess.run(
        [binary], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    return cases(done.stdout)


def rendered(known: dict) -> str:
    """The exceptions as docs/conformance.md shows them: those of one reason together."""
    out, before = [], None
    for program, entry in known.items():
        for exception in entry:
            reason = (program, exception["case"], exception["why"])
            if reason != before:
                out.append(f"- `{program}`, case `{exception['case']}`: {exception['why']}\n")
            said = " / ".join(exception["recorded"]) or "nothing"
            ours = " / ".join(exception["ours"]) or "nothing"
            out.append(f"    - Recorded: `{said}`. Here: `{ours}`.\n")
            before = reason
    return "".join(out)


def check_docs(known: dict, write: bool) -> list[str]:
    text = DOCS.read_text()
    head, rest = text.split(BEGIN)
    wanted = head + BEGIN + rendered(known) + END + rest.split(END)[1]
    if write:
        DOCS.write_text(wanted)
    elif text != wanted:
        return [f"{DOCS.name} does not list what exceptions.json has: --write-docs"]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vgpu_cc")
    parser.add_argument("program")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    known = json.loads((HERE / "exceptions.json").read_text())
    mine = known[options.program]
    problems = check_docs(known, options.write_docs)
    asked = ASKED.get(options.program, Asked())
    recorded = cases((HERE / asked.folder / f"{options.program}.txt").read_text())
    with tempfile.TemporaryDirectory() as folder:
        ours = answers(compiled(options.vgpu_cc, options.program, folder), asked.environment)
    for said in (recorded, ours):
        for case, lines in said.items():
            said[case] = [line for line in lines if not re.search(asked.by_chance, line)]
    lines = sum(len(said) for said in recorded.values())
    problems += compare(recorded, ours, mine)
    print("\n".join(problems))
    print(f"{len(recorded)} cases, {lines} lines, {len(mine)} exceptions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
