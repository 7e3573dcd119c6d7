# SPDX-License-Identifier: MIT
"""The table of tests in docs/testing.md, from what ctest lists: a row for each layer of each group.

table.py BUILD: says what the table lacks. table.py BUILD --write: writes it anew; what a row's
tests are about is kept, seconds are those of the build tree's last runs.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "testing.md"
LAYERS = ("unit", "selfcheck", "ci", "docs", "full", "learner")
MARKS = ("<!-- tests -->\n", "<!-- /tests -->")
HEAD = "| layer | tests | what | seconds |\n|---|---|---|--:|\n"
ROW = re.compile(r"\| `(\w+)` \| `([^`]+)` \| (.*?) \| ([\d.]*) ?\|")

BUILDS = "build.*"  # their seconds depend on what was built before

Key = tuple[str, str]  # layer, group


@dataclass(frozen=True)
class Listed:
    """A test as ctest lists it."""

    name: str
    labels: frozenset[str]

    @property
    def layers(self) -> list[str]:
        return [layer for layer in LAYERS if layer in self.labels]

    @property
    def group(self) -> str:
        """node.arena and node.flow are of one group; so are the tests of all solutions."""
        lab = re.match(r"(solution|lab)\d\d\.", self.name)
        if lab:
            return f"{lab[1]}NN.*"
        first, dot, _ = self.name.partition(".")
        return f"{first}{'.*' if dot else ''}"


@dataclass(frozen=True)
class Row:
    what: str = ""
    seconds: str = ""


def listed(build: Path) -> list[Listed]:
    words = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    tests, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return [Listed(test["name"], _labels(test)) for test in tests["tests"]]


def _labels(test: dict) -> frozenset[str]:
    found = [prop["value"] for prop in test.get("properties", []) if prop["name"] == "LABELS"]
    return frozenset(found[0] if found else ())


def keys(tests: Iterable[Listed]) -> list[Key]:
    """Layers in their order, groups by name; a test `truth` has the row of `truth.*`."""
    found = {(layer, test.group) for test in tests for layer in test.layers}
    merged = {(layer, f"{group}.*") for layer, group in found} & found
    found -= {(layer, group.removesuffix(".*")) for layer, group in merged}
    return sorted(found, key=lambda key: (LAYERS.index(key[0]), key[1]))


def rows(text: str) -> dict[Key, Row]:
    _, _, rest = text.partition(MARKS[0])
    inside, _, _ = rest.partition(MARKS[1])
    return {(m[1], m[2]): Row(m[3], m[4]) for m in ROW.finditer(inside)}


def lacking(wanted: list[Key], have: dict[Key, Row]) -> list[str]:
    """What is wrong with the table, a line each."""
    added, gone = set(wanted) - set(have), set(have) - set(wanted)
    empty = [key for key, row in have.items() if not row.what]
    said = [f"no row for {group} in layer {layer}" for layer, group in added]
    said += [f"no test of {group} is in layer {layer}" for layer, group in gone]
    said += [f"{group} in layer {layer}: say what" for layer, group in empty]
    return sorted(said)


def written(text: str, wanted: list[Key], seconds: dict[Key, float]) -> str:
    have = rows(text)
    lines = []
    for key in wanted:
        row = have.get(key, Row())
        time = f"{seconds[key]:.1f}" if key in seconds else row.seconds
        if key[1] == BUILDS:
            time = ""
        lines.append(f"| `{key[0]}` | `{key[1]}` | {row.what} | {time} |\n")
    before, _, rest = text.partition(MARKS[0])
    return before + MARKS[0] + HEAD + "".join(lines) + MARKS[1] + rest.partition(MARKS[1])[2]


def measured(build: Path, tests: list[Listed]) -> dict[Key, float]:
    """By row, the seconds that its tests took when they were run last; rows with a test that never
    was are left out."""
    path = build / "Testing" / "Temporary" / "CTestCostData.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    words = [line.split() for line in lines]
    cost = {w[0]: float(w[2]) for w in words if len(w) == 3 and w[1] != "0"}
    found: dict[Key, float] = {}
    wanted = set(keys(tests))
    incomplete = set()
    for test in tests:
        for layer in test.layers:
            key = (layer, test.group)
            key = key if key in wanted else (layer, f"{test.group}.*")
            found[key] = found.get(key, 0.0) + cost.get(test.name, 0.0)
            if test.name not in cost:
                incomplete.add(key)
    return {key: seconds for key, seconds in found.items() if key not in incomplete}


def main() -> int:
    build = Path(sys.argv[1])
    tests = listed(build)
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv[2:]:
        text = written(text, keys(tests), measured(build, tests))
        PAGE.write_text(text, encoding="utf-8")
    said = lacking(keys(tests), rows(text))
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
