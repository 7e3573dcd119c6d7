# SPDX-License-Identifier: MIT
"""Where the chapters' numbers come from: docs/numbers.json, shown folded at each chapter's end.

    {"sources": {"timing": {"file": "...", "what": "machine, date, script"}},
     "numbers": [{"chapter": "02-node.md", "number": "395 GB/s", "of": "a peer copy of 1 GiB",
                  "measured": "timing", "find": "395\\\\.3 GB/s total"},
                 {"chapter": "...", "number": "660 KB", "of": "...", "computed": "1.66 * 395",
                  "gives": 656},
                 {"chapter": "...", "number": "...", "of": "...", "cited": "..."}]}

A test looks for each number in its chapter, for what was measured in its file, and computes what is
computed; and a sentence of a chapter that speaks of H200s or of measuring may have no other time,
rate or share.
"""

import ast
import json
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import NotRequired, TypedDict

PLACE = Path("docs/numbers.json")
QUANTITY = re.compile(r"\d[\d,.]*(?:\d|(?<=\d)) ?(?:[GTMK]B/s|µs|ms|%)")
SPOKEN = re.compile(r"\bH200|\bmeasured\b|\brecorded\b")
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class Source(TypedDict):
    file: str
    what: str


class Number(TypedDict):
    chapter: str
    number: str
    of: str
    measured: NotRequired[str]
    find: NotRequired[str]
    computed: NotRequired[str]
    gives: NotRequired[float]
    cited: NotRequired[str]


class Numbers(TypedDict):
    sources: dict[str, Source]
    numbers: list[Number]


def load(root: Path) -> Numbers:
    read: Numbers = json.loads((root / PLACE).read_text(encoding="utf-8"))
    return read


def box(root: Path, chapter: Path) -> str:
    """The list for the end of the chapter's page; "" if it has none of these numbers."""
    if not (root / PLACE).is_file():
        return ""
    listed = load(root)
    mine = [entry for entry in listed["numbers"] if entry["chapter"] == chapter.name]
    lines = [
        f"    - **{entry['number']}**, {entry['of']}: {_from(entry, listed)}" for entry in mine
    ]
    return '\n??? info "Where the numbers come from"\n\n' + "\n".join(lines) + "\n" if lines else ""


def _from(entry: Number, listed: Numbers) -> str:
    if "measured" in entry:
        source = listed["sources"][entry["measured"]]
        return f"measured, `{source['file']}` ({source['what']})"
    if "computed" in entry:
        return f"computed, {entry['computed'].replace('**', '^').replace('*', '·')}"
    return f"cited, {entry['cited']}"


def problems(root: Path, chapters: list[Path]) -> list[str]:
    listed = load(root)
    texts = {path.name: path.read_text(encoding="utf-8") for path in chapters}
    wrong = []
    for entry in listed["numbers"]:
        where = f"{PLACE}: {entry['chapter']}: {entry['number']}"
        if entry["number"] not in texts.get(entry["chapter"], ""):
            wrong.append(f"{where} does not stand there")
        elif why := _unproved(root, entry, listed):
            wrong.append(f"{where}: {why}")
    known = {(entry["chapter"], entry["number"]) for entry in listed["numbers"]}
    for name, text in texts.items():
        wrong += [
            f"{name}: where is {n} from? {PLACE}" for n in spoken(text) if (name, n) not in known
        ]
    return wrong


def _unproved(root: Path, entry: Number, listed: Numbers) -> str:
    """Why the number does not match its source; "" if it does."""
    if "measured" in entry:
        source = listed["sources"].get(entry["measured"])
        if source is None or not (root / source["file"]).is_file():
            return f"there is no source {entry['measured']}"
        text = (root / source["file"]).read_text(encoding="utf-8")
        return "" if re.search(entry["find"], text) else f"{source['file']} has no {entry['find']}"
    if "computed" in entry:
        value, gives = compute(entry["computed"]), entry["gives"]
        near = abs(value - gives) <= 0.03 * abs(gives)
        return "" if near else f"{entry['computed']} is {value:g}, not {gives:g}"
    return "" if entry.get("cited") else "it is neither measured, computed nor cited"


def spoken(text: str) -> list[str]:
    """The quantities in sentences about measurements: prose, no code, tables or answers."""
    text = re.sub(r"^```.*?^```$|^<!--.*?-->$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not re.match(r"[#|!?>]|\s{4}", line)]
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    sentences = [s for p in paragraphs for s in re.split(r"(?<=[.:;])\s+", " ".join(p.split()))]
    return [n for s in sentences if SPOKEN.search(s) for n in QUANTITY.findall(s)]


def compute(formula: str) -> float:
    """Evaluates arithmetic on numbers. ValueError: it is something else."""

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(formula)

    return value(ast.parse(formula, mode="eval").body)
