# SPDX-License-Identifier: MIT
"""Who uses whom: the parts of peerlab by the symbols of their object files, and by imports.

rooms.py BUILD [--wrong] [PART ...]: figures for each part, and what is not allowed. Exit status 1
when rooms use those above them, or files each other in a circle, more than the part's limits allow.

--circle PART: the files of its largest circle, and which of them uses which, by what.
--variables PART: its variables that can change (file scope, static in a function, of a thread).
--dot PART: the picture of its rooms in Graphviz's language, for the documentation (./lab docs).
--write: writes docs/figures/rooms-PART.dot and .svg anew, which readers of the files see.
--wrong: the examples that must be rejected (test_rooms.py).

Parts, rooms and limits are declared by peerlab_part() in harness/cmake/rooms.cmake, nowhere else.
"""

import argparse
import ast
import html
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (".c", ".h", ".py", ".awk", ".sh", ".cpp")
UNDEFINED, VARIABLES = "Uwv", "bdBD"
CONSTANT = ".data.rel.ro"  # tables with addresses: written by the linker alone
OUTSIDE = "(in no room)"

Uses = dict[str, dict[str, set[str]]]  # file -> file -> the names that it uses there


@dataclass
class Part:
    """What peerlab_part() declares."""

    name: str
    folder: Path  # of the project
    rooms: list[str]  # highest first; none: not divided yet
    largest: int  # circle that is allowed
    targets: dict[str, list[Path]]  # object files; none: a Python package


@dataclass
class Seen:
    """What the symbols say. Files by their names in the part's folder."""

    uses: Uses
    variables: dict[str, list[str]] = field(default_factory=dict)  # file -> those that can change
    missing: list[Path] = field(default_factory=list)


def declared(build: Path, wrong: bool) -> list[Part]:
    file = build / ("rooms-wrong.json" if wrong else "rooms.json")
    parts = []
    for part in json.loads(file.read_text(encoding="utf-8")):
        targets = {
            name: [build / object_ for object_ in objects if object_]
            for name, objects in part["targets"].items()
        }
        rooms = [room for room in part["rooms"] if room]
        parts.append(Part(part["name"], Path(part["folder"]), rooms, part["largest"], targets))
    return parts


# ---- C: symbols of object files ----


def source_of(object_: Path, build: Path) -> Path:
    """The source of BUILD/folder/CMakeFiles/target.dir/file.c.o: folder/file.c."""
    words = object_.relative_to(build).parts
    at = words.index("CMakeFiles")
    inside = [".." if word == "__" else word for word in words[at + 2 :]]
    return Path(
        *(ROOT.joinpath(*words[:at], *inside).resolve().relative_to(ROOT)).parts
    ).with_suffix("")


def symbols(objects: list[Path]) -> dict[Path, list[tuple[str, str]]]:
    """Kind and name of each symbol of each object file; a constant's kind is "r" or "R"."""
    found: dict[Path, list[tuple[str, str]]] = {object_: [] for object_ in objects}
    if not objects:
        return found
    words = ["nm", "--print-file-name", "--format=sysv", *objects]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != 7:  # a heading
            continue
        file, _, name = cells[0].rpartition(":")
        kind = cells[2]
        if cells[6].startswith(CONSTANT):
            kind = "r" if kind.islower() else "R"
        found[Path(file)].append((kind, name))
    return found


def seen_in_objects(part: Part, build: Path) -> Seen:
    inside: dict[str, dict[str, list[tuple[str, str]]]] = {}
    missing = []
    for target, objects in part.targets.items():
        named = {object_: source_of(object_, build) for object_ in objects}
        wanted = [o for o, source in named.items() if source.is_relative_to(part.folder)]
        missing += [o for o in wanted if not o.is_file()]
        read = symbols([o for o in wanted if o.is_file()])
        inside[target] = {str(named[o].relative_to(part.folder)): read[o] for o in read}
    return Seen(_uses(inside), _variables(inside), missing)


def _uses(inside: Mapping[str, Mapping[str, list[tuple[str, str]]]]) -> Uses:
    """A name is looked up in the file's own target first, as the linker does."""
    makers: dict[str, dict[str, str]] = {
        target: {
            name: file
            for file, all_ in files.items()
            for kind, name in all_
            if kind.isupper() and kind not in UNDEFINED
        }
        for target, files in inside.items()
    }
    everywhere = {name: file for made in makers.values() for name, file in made.items()}
    uses: Uses = {}
    for target, files in inside.items():
        for file, all_ in files.items():
            to = uses.setdefault(file, {})
            for kind, name in all_:
                maker = makers[target].get(name, everywhere.get(name))
                if kind in UNDEFINED and maker and maker != file:
                    to.setdefault(maker, set()).add(name)
    return uses


def _variables(inside: Mapping[str, Mapping[str, list[tuple[str, str]]]]) -> dict[str, list[str]]:
    return {
        file: names
        for files in inside.values()
        for file, all_ in sorted(files.items())
        if (names := sorted(name for kind, name in all_ if kind in VARIABLES))
    }


# ---- Python: imports ----


def seen_in_package(part: Part) -> Seen:
    folder = ROOT / part.folder
    files = {
        ".".join((folder.name, *file.relative_to(folder).with_suffix("").parts)): file
        for file in sorted(folder.rglob("*.py"))
        if "tests" not in file.relative_to(folder).parts
    }
    modules = {name.removesuffix(".__init__"): name for name in files}
    uses: Uses = {}
    for name, file in files.items():
        to = uses.setdefault(_shown(name), {})
        package = name.split(".")[:-1]
        for used in imported(ast.parse(file.read_text(encoding="utf-8")), package):
            found = modules.get(used) or modules.get(used.rpartition(".")[0])
            if found and found not in (name, f"{folder.name}.__init__"):
                to.setdefault(_shown(found), set()).add(used)
    return Seen(uses)


def imported(tree: ast.AST, package: list[str]) -> Iterable[str]:
    """Names of all that is imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _shown(module: str) -> str:
    return "/".join(module.split(".")[1:]) + ".py"


# ---- what follows ----


def largest_circle(uses: Uses) -> list[str]:
    """The largest strongly connected component (Tarjan); no file: nothing goes in a circle."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    largest: list[str] = []

    def visit(file: str) -> None:
        nonlocal largest
        number[file] = low[file] = len(number)
        stack.append(file)
        for used in sorted(uses.get(file, {})):
            if used not in number:
                visit(used)
            if used in stack:
                low[file] = min(low[file], low[used])
        if low[file] != number[file]:
            return
        at = stack.index(file)
        circle = sorted(stack[at:])
        del stack[at:]
        if len(circle) > max(1, len(largest)):
            largest = circle

    for file in sorted(uses):
        if file not in number:
            visit(file)
    return largest


def room_of(part: Part, file: str) -> str:
    first = file.split("/")[0]
    return first if first in part.rooms else OUTSIDE


def between_rooms(part: Part, uses: Uses) -> dict[tuple[str, str], list[str]]:
    """For each pair of rooms, what files of the one use in files of the other."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file, to in sorted(uses.items()):
        for used, names in sorted(to.items()):
            pair = room_of(part, file), room_of(part, used)
            if pair[0] != pair[1]:
                found[pair].append(f"{file} uses {', '.join(sorted(names))} of {used}")
    return found


def upward(part: Part, uses: Uses) -> list[str]:
    """References from a room to one above it, each with its names."""
    if not part.rooms:
        return []
    height = {OUTSIDE: 0, **{room: 1 + i for i, room in enumerate(part.rooms)}}
    return [
        text
        for (user, used), texts in sorted(between_rooms(part, uses).items())
        if height[used] < height[user]
        for text in texts
    ]


def seen_in(part: Part, build: Path) -> Seen:
    return seen_in_objects(part, build.resolve()) if part.targets else seen_in_package(part)


def complaints(part: Part, seen: Seen) -> list[str]:
    if seen.missing:
        return [f"{part.name}: not built: {', '.join(str(o) for o in seen.missing[:3])} ..."]
    found = [f"{part.name}: upward: {text}" for text in upward(part, seen.uses)]
    circle = largest_circle(seen.uses)
    if len(circle) > part.largest:
        found.append(
            f"{part.name}: {len(circle)} files use each other in a circle, and {part.largest} may: "
            + ", ".join(circle)
        )
    folders = {room for room in part.rooms if not (ROOT / part.folder / room).is_dir()}
    return found + [f"{part.name}: the room {room} has no folder" for room in sorted(folders)]


# ---- figures ----


def files_of(part: Part) -> list[Path]:
    """Sources of the part, without tests of a package."""
    folder = ROOT / part.folder
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in SOURCES and "tests" not in file.relative_to(folder).parts
    ]


def upward_includes(text: str) -> list[str]:
    """The lines that include a header by a path with "../"."""
    return re.findall(r'^\s*(#\s*include\s*"(?:[^"]*/)?\.\./[^"]*")', text, re.MULTILINE)


def row(part: Part, seen: Seen) -> list[str]:
    files = files_of(part)
    lines = sum(len(file.read_bytes().splitlines()) for file in files)
    folder, most = Counter(file.parent for file in files).most_common(1)[0]
    circle = len(largest_circle(seen.uses))
    return [
        part.name,
        str(len(files)),
        f"{most} in {folder.relative_to(ROOT)}",
        str(len(seen.uses)),
        f"{circle} (limit {part.largest})",
        str(len(upward(part, seen.uses))) if part.rooms else "no rooms",
        str(sum(map(len, seen.variables.values()))) if part.targets else "-",
        str(lines),
    ]


HEAD = ["part", "files", "largest folder", "objects", "circle", "upward", "variables", "lines"]


def print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    for cells in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        )


def figure_of(part: Part) -> Path:
    return ROOT / "docs" / "figures" / f"rooms-{part.name}.dot"


def edges(part: Part, uses: Uses) -> list[tuple[str, str]]:
    """The arrows of the figure: rooms that use each other."""
    return [pair for pair in sorted(between_rooms(part, uses)) if OUTSIDE not in pair]


def drawn(svg: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The rooms and the arrows that an SVG of Graphviz's shows, by their titles."""
    titles = re.findall(r'<g id="[^"]*" class="(node|edge)">\s*<title>([^<]*)</title>', svg)
    shown = [(kind, html.unescape(title)) for kind, title in titles]
    rooms = {title for kind, title in shown if kind == "node"}
    arrows = [title.partition("->") for kind, title in shown if kind == "edge"]
    return rooms, {(user, used) for user, _, used in arrows}


def picture(part: Part, uses: Uses) -> str:
    """The rooms of a part in Graphviz's language: which of them uses which."""
    source = "the symbols of its object files" if part.targets else "its modules' imports"
    lines = [
        f"// The rooms of {part.folder}, by {source}. Written by",
        "// tests/suite/rooms.py BUILD --write",
        f"digraph rooms_{part.name} {{",
        '  graph [rankdir=TB, fontname="Helvetica", nodesep=0.15, ranksep=0.35]',
        '  node [shape=box, style="rounded,filled", fillcolor="#eef3fb", color="#4a6fa5", '
        'fontname="Helvetica", fontsize=11]',
        '  edge [color="#555555", arrowsize=0.7]',
    ]
    lines += [f'  "{room}"' for room in part.rooms]
    lines += [f'  "{user}" -> "{used}"' for user, used in edges(part, uses)]
    return "\n".join([*lines, "}", ""])


def write_figure(part: Part, uses: Uses) -> None:
    figure = figure_of(part)
    figure.write_text(picture(part, uses), encoding="utf-8")
    subprocess.run(["dot", "-Tsvg", "-o", figure.with_suffix(".svg"), figure], check=True)


def print_circle(uses: Uses) -> None:
    circle = largest_circle(uses)
    for file in circle:
        for used in circle:
            if used in uses[file]:
                print(f"{file} -> {used}: {', '.join(sorted(uses[file][used]))}")


def print_variables(variables: dict[str, list[str]]) -> None:
    for file, names in variables.items():
        print(f"{file}: {', '.join(names)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--circle", metavar="PART")
    parser.add_argument("--variables", metavar="PART")
    parser.add_argument("--dot", metavar="PART")
    parser.add_argument("--write", action="store_true")
    words = parser.parse_intermixed_args()
    build = words.build.resolve()
    asked = words.circle or words.variables or words.dot
    only = [asked] if asked else words.parts
    parts = [p for p in declared(build, words.wrong) if not only or p.name in only]
    found = [(p, seen_in(p, build)) for p in parts]
    if words.circle:
        print_circle(found[0][1].uses)
        return 0
    if words.variables:
        print_variables(found[0][1].variables)
        return 0
    if (words.dot or words.write) and any(seen.missing for _, seen in found):
        print("not everything is built")
        return 1
    if words.dot:
        print(picture(found[0][0], found[0][1].uses), end="")
        return 0
    if words.write:
        for part, seen in found:
            write_figure(part, seen.uses)
        return 0
    print_table([HEAD, *(row(part, seen) for part, seen in found)])
    wrong = [text for part, seen in found for text in complaints(part, seen)]
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
