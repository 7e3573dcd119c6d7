# SPDX-License-Identifier: MIT
"""A node's description as a graph: which components are joined by which links, with the node's
names for these (vgpu/node/machine/route.c), and a drawing of it by Graphviz."""

import itertools
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.learning.placing import Point, Rectangle, place

ENGINE = ("neato", "-n2")  # Graphviz, which draws everything where `dot` puts it


@dataclass(frozen=True)
class Link:
    """A link between two boxes. `forth` and `back` are the node's names of its two directions, for
    from-to and to-from; each carries `gbs` GB/s, 0 if unlimited."""

    a: str
    b: str
    label: str
    gbs: float
    forth: str
    back: str


@dataclass
class Graph:
    name: str
    about: str
    boxes: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: (text, shape)
    links: list[Link] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)  # boxes side by side
    places: dict[str, Point] = field(default_factory=dict)  # centres, by hand; {}: level by level


def describe(folder: Path, name: str) -> dict[str, Any]:
    """The description `name` of `folder`, or the file `name` where that is a path."""
    path = Path(name) if "/" in name else folder / f"{name}.json"
    names = sorted(one.stem for one in folder.glob("*.json") if one.name != "schema.json")
    if "/" not in name and name not in names:
        raise LabError(f"There is no node {name!r}: {', '.join(names)}.", ExitStatus.NO_MATCH)
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: {error}", ExitStatus.NO_MATCH) from error
    return found


def graph(node: Mapping[str, Any]) -> Graph:
    made = Graph(node["name"], node["about"])
    made.places = {name: (x, y) for name, (x, y) in node.get("drawing", {}).items()}
    made.boxes["host"] = ("host memory", "cylinder")
    _add_gpus(made, node)
    _add_nvlink(made, node)
    _add_pcie(made, node)
    return made


def _add_gpus(made: Graph, node: Mapping[str, Any]) -> None:
    for i, gpu in enumerate(node["gpus"]):
        made.boxes[f"GPU{i}"] = (f"GPU {i}\\n{gpu['part']}", "box")


def _add_nvlink(made: Graph, node: Mapping[str, Any]) -> None:
    nvlink = node.get("nvlink")
    if nvlink is None:
        return
    if nvlink["kind"] == "mesh":
        for a, b, count in nvlink["links"]:
            gbs = count * nvlink["link_gbs"]
            names = (f"GPU{a}-GPU{b} NVLink", f"GPU{b}-GPU{a} NVLink")
            made.links.append(Link(f"GPU{a}", f"GPU{b}", f"NV{count}", gbs, *names))
        return
    made.boxes["nvswitch"] = ("NVSwitch", "box")
    for i in range(len(node["gpus"])):
        names = (f"GPU{i} NVLink out", f"GPU{i} NVLink in")
        made.links.append(Link(f"GPU{i}", "nvswitch", nvlink["label"], nvlink["port_gbs"], *names))


def _groups_of(groups: list[list[int]]) -> dict[int, int]:
    return {gpu: number for number, group in enumerate(groups) for gpu in group}


def _add_pcie(made: Graph, node: Mapping[str, Any]) -> None:
    pcie, sockets = node["pcie"], node["sockets"]
    switch_of, socket_of = _groups_of(pcie.get("switches", [])), _groups_of(sockets["groups"])
    for number, _ in enumerate(sockets["groups"]):
        made.boxes[f"socket{number}"] = (f"socket {number}", "box")
        made.rows.append([f"GPU{gpu}" for gpu in sockets["groups"][number]])
    for i in range(len(node["gpus"])):
        above = f"switch{switch_of[i]}" if i in switch_of else f"socket{socket_of.get(i, 0)}"
        made.links.append(
            Link(f"GPU{i}", above, "PCIe", pcie["gbs"], f"GPU{i} PCIe up", f"GPU{i} PCIe down")
        )
    for number, group in enumerate(pcie.get("switches", [])):
        made.boxes[f"switch{number}"] = (f"PCIe switch {number}", "box")
        names = (f"switch {number} up", f"switch {number} down")
        above = (
            f"root{socket_of[group[0]]}" if "root_gbs" in pcie else f"socket{socket_of[group[0]]}"
        )
        made.links.append(Link(f"switch{number}", above, "PCIe", pcie["switch_gbs"], *names))
    _add_host(made, node)


def _add_host(made: Graph, node: Mapping[str, Any]) -> None:
    sockets, root_gbs = node["sockets"], node["pcie"].get("root_gbs", 0)
    for number, _ in enumerate(sockets["groups"]):
        if root_gbs:
            made.boxes[f"root{number}"] = (f"root port {number}", "box")
            names = (f"root complex {number} up", f"root complex {number} down")
            made.links.append(Link(f"root{number}", f"socket{number}", "PCIe", root_gbs, *names))
    for a in range(len(sockets["groups"])):
        for b in range(a + 1, len(sockets["groups"])):
            names = (f"socket {a} to {b}", f"socket {b} to {a}")
            made.links.append(Link(f"socket{a}", f"socket{b}", "sockets", sockets["gbs"], *names))
    if sockets["groups"]:
        made.links.append(
            Link("socket0", "host", "", sockets.get("memory_gbs", 0), "host memory", "host memory")
        )


# ---- drawing ----


def bytes_text(count: float) -> str:
    """4194304 as "4.19 MB"."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:.3g} {units[0]}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\\\\n", "\\n") + '"'


def dot(drawn: Graph, carried: Mapping[str, int] | None = None) -> str:
    """The graph in Graphviz's language, with the places of everything (ENGINE draws them as they
    are). With `carried` (bytes by the links' names) each link is labelled with its bytes, and drawn
    thicker the more of its capacity was used."""
    words = [_words(link, carried) for link in drawn.links]
    ends = [(link.a, link.b, word["label"]) for link, word in zip(drawn.links, words, strict=True)]
    texts = {name: text for name, (text, _) in drawn.boxes.items()}
    placed = place(texts, ends, drawn.rows, drawn.places)
    lines = [
        f"graph {_quoted(drawn.name)} {{",
        f"  label={_quoted(drawn.name)}; labelloc=t; fontname=Helvetica; bgcolor=transparent;",
        '  node [fontname=Helvetica, style="rounded,filled", fillcolor="#eef3f8",',
        '    color="#6c8db3", fixedsize=true];',
        '  edge [fontname=Helvetica, fontsize=10, color="#7a8a99"];',
    ]
    lines += [_box(name, *drawn.boxes[name], placed.boxes[name]) for name in drawn.boxes]
    every = zip(drawn.links, words, placed.lines, placed.labels, strict=True)
    edges = [(link, _edge(link, word, line, at)) for link, word, line, at in every]
    lines += [edge for _, edge in sorted(edges, key=lambda one: one[0].label.startswith("NV"))]
    return "\n".join([*lines, "}"]) + "\n"


def _box(name: str, text: str, shape: str, at: Rectangle) -> str:
    words = {"label": text, "shape": shape, "id": name, "pos": f"{at.x:.1f},{at.y:.1f}"}
    words |= {"width": f"{at.width / 72:.3f}", "height": f"{at.height / 72:.3f}"}
    return f"  {_quoted(name)} [{_attributes(words)}];"


def _attributes(words: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={_quoted(value)}" for key, value in words.items())


def _words(link: Link, carried: Mapping[str, int] | None) -> dict[str, str]:
    """What an edge says and looks like."""
    nv, rate = link.label.startswith("NV"), f"{link.gbs:g} GB/s" if link.gbs else "no limit"
    label, tip = f"{link.label}\\n{rate}" if link.gbs else link.label, f"{link.label} {rate}"
    if link.a.startswith("GPU") and link.b.startswith("GPU"):
        label = link.label
    color, width = ("#3f8f4f" if nv else "#7a8a99"), 1.5 if nv else 1.0
    if carried is not None:
        forth, back = carried.get(link.forth, 0), carried.get(link.back, 0)
        tip = (
            f"{link.forth}: {bytes_text(forth)}, {link.back}: {bytes_text(back)} ({rate} each way)"
        )
        busiest = max(forth, back)
        label = bytes_text(busiest) if busiest else ""
        seconds = busiest / (link.gbs * 1e9) if link.gbs else 0
        most = max(seconds, 1e-12)
        width = 1.0 + min(7.0, 0.8 * max(0.0, _decades(most * 1e9))) if busiest else 0.5
        color = "#c8502d" if busiest else "#c5ccd3"
    return {
        "label": label.removeprefix("\\n"),
        "tooltip": tip,
        "labeltooltip": tip,
        "color": color,
        "penwidth": f"{width:.2f}",
        "id": f"link {link.forth}",
    }


def _edge(link: Link, words: Mapping[str, str], line: list[Point], label: Rectangle) -> str:
    shown = [f"{x:.1f},{y:.1f}" for x, y in line]
    pieces = [f"{a} {b} {b}" for a, b in itertools.pairwise(shown)]
    place = {"pos": " ".join([shown[0], *pieces]), "lp": f"{label.x:.1f},{label.y:.1f}"}
    return f"  {_quoted(link.a)} -- {_quoted(link.b)} [{_attributes({**words, **place})}];"


def _decades(value: float) -> float:
    count = 0.0
    while value >= 10 and count < 12:
        value /= 10
        count += 1
    return count


def draw(source: str) -> str:
    """The SVG that Graphviz makes of `source`."""
    program = shutil.which(ENGINE[0])
    if program is None:
        raise LabError(
            f"Drawing needs Graphviz, and there is no `{ENGINE[0]}` here: "
            "sudo apt-get install graphviz",
            ExitStatus.MISSING,
        )
    done = subprocess.run(
        [program, *ENGINE[1:], "-Tsvg"],
        input=source,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise LabError(
            f"{ENGINE[0]} ended with {done.returncode}: {done.stderr}", ExitStatus.HARNESS_ERROR
        )
    return done.stdout


def command(nodes: Path, name: str, output: Path) -> None:
    """Draws node `name` into the file `output`."""
    svg = draw(dot(graph(describe(nodes, name))))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(svg, encoding="utf-8")
