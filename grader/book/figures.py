# SPDX-License-Identifier: MIT
"""Figures in pages: an image whose source is a .dot file is drawn while the site is built, and
inserted as SVG, so that it uses the theme's colours. Pictures of rooms are drawn from the object
files of the build, if there is one, and else from the .dot file, which suite.rooms compares.

The text in the brackets describes it for readers who cannot see it; an empty one is an error.
"""

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.base.exits import LabError
from grader.base.proc import capture
from grader.course.project import Project

ROOMS = re.compile(r"rooms-([a-z]+)\.dot")
IMAGE = re.compile(r"^!\[([^\]]*)\]\((\S+)\.(?:svg|dot)\)$", re.MULTILINE)


def draw(project: Project, folder: Path, page: str, text: str) -> str:
    """The page (which lies in `folder`) with its figures drawn."""

    def one(match: re.Match[str]) -> str:
        source = folder / f"{match[2]}.dot"
        if not source.is_file():
            return match[0]
        if len(match[1].split()) < 2:
            raise LabError(f"{page}: the figure {match[2]} has no text for those who do not see it")
        return drawn(_rooms(project, source) or source.read_text(encoding="utf-8"), match[1])

    return IMAGE.sub(one, text)


def _rooms(project: Project, source: Path) -> str:
    """The picture of a part's rooms, as its object files have them; "": it is another figure, or
    the part is not built."""
    part = ROOMS.fullmatch(source.name)
    tool = project.root / "tests" / "suite" / "rooms.py"
    if not part or not tool.is_file() or not (project.build_dir / "rooms.json").is_file():
        return ""
    done = capture([sys.executable, tool, project.build_dir, "--dot", part[1]], timeout=60)
    return done.output if done.ok else ""


def drawn(source: str, words: str, engine: Sequence[str] = ("dot",)) -> str:
    """A figure in Graphviz's language, as HTML that uses the page's colours."""
    with tempfile.TemporaryDirectory(prefix="peerlab-figure-") as folder:
        file = Path(folder) / "figure.dot"
        file.write_text(source, encoding="utf-8")
        done = capture([*engine, "-Tsvg", "-Gbgcolor=transparent", file], timeout=60)
    start = done.output.find("<svg")
    if not done.ok or start < 0:
        raise LabError(f"dot could not draw {words!r}:\n{done.output[:2000]}\n{source}")
    svg = re.sub(r"<!--.*?-->|<title>.*?</title>", "", done.output[start:], flags=re.DOTALL)
    svg = re.sub(r' id="[^"]*"', "", svg)
    svg = re.sub(r'(fill|stroke)="black"', r'\1="currentColor"', svg)
    width = re.search(r'<svg width="(\d+)pt"', svg)
    size = f'style="--width:{width[1]}pt"' if width else ""
    svg = re.sub(r'<svg width="[^"]*" height="[^"]*"', f'<svg role="img" {size}', svg)
    svg = re.sub(r"(<svg[^>]*>)", rf"\1<title>{_escaped(words)}</title>", svg, count=1)
    whole = "".join(line for line in svg.splitlines() if line.strip())
    return f'<figure class="drawn" markdown="0">{whole}</figure>'


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
