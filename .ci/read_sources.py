# SPDX-License-Identifier: MIT
"""Has the compiler read every source of a build tree (-fsyntax-only) and says what it warns of. A
source that is compiled several times, as that of a library and of its unit tests, is read once for
each set of definitions (-D).

read_sources.py COMPILE_COMMANDS: the file that CMake writes. Exit status 1 where it said anything.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def read(entry: dict[str, str]) -> str:
    """What the compiler says about one source; empty where it is content."""
    words = [word for word in shlex.split(entry["command"]) if word != "-c"]
    at = words.index("-o")
    words[at : at + 2] = ["-fsyntax-only"]
    done = subprocess.run(
        words, cwd=entry["directory"], capture_output=True, text=True, check=False, timeout=300
    )
    text = done.stdout + done.stderr
    return text or ("" if done.returncode == 0 else f"{entry['file']}: exit {done.returncode}\n")


def different(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    """One entry for each source and set of definitions."""
    found = {}
    for entry in entries:
        defined = frozenset(w for w in shlex.split(entry["command"]) if w.startswith("-D"))
        found.setdefault((entry["file"], defined), entry)
    return list(found.values())


def main() -> int:
    entries = different(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(read, entries) if text]
    print("".join(said), end="")
    print(f"{len(entries)} sources read, {len(said)} with a warning or an error")
    return 1 if said or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
