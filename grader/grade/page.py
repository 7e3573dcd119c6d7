# SPDX-License-Identifier: MIT
"""Pages in two forms. A page is a list of blocks; what a student could have written is text in
them, and comes out as text: no markup of theirs survives in either form."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str
    kind: str = ""  # a class of the style sheet


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int] = field(default_factory=frozenset)  # columns of numbers
    stacked: bool = False  # on a telephone: a row is a list, each cell below its heading


@dataclass(frozen=True)
class Picture:
    """An SVG of ours; in Markdown only its title."""

    svg: str
    title: str


@dataclass(frozen=True)
class Pictures:
    """Beside each other where there is room."""

    each: Sequence[Picture]


Block = Heading | Paragraph | Code | Table | Picture | Pictures


def markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_escaped(block.text)}"
    if isinstance(block, Paragraph):
        return "  \n".join(_escaped(line) for line in block.text.splitlines())
    if isinstance(block, Code):
        longest = max((len(run) for run in re.findall(r"`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}text\n{block.text}\n{fence}"
    if isinstance(block, Picture):
        return f"*{_escaped(block.title)}*"
    if isinstance(block, Pictures):
        return "\n\n".join(_markdown(one) for one in block.each)
    return _markdown_table(block)


def _markdown_table(table: Table) -> str:
    lines = ["| " + " | ".join(_cell(text) for text in table.head) + " |"]
    dashes = ["---:" if at in table.right else "---" for at in range(len(table.head))]
    lines.append("|" + "|".join(dashes) + "|")
    lines += ["| " + " | ".join(_cell(text) for text in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(_escaped(text).split())


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)


def webpage(title: str, blocks: Sequence[Block], style: str = "") -> str:
    return frame(title, "\n".join(_html(block) for block in blocks), style)


def frame(title: str, body: str, style: str = "") -> str:
    """One file that needs no other: its style is in it, and there are no scripts."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        kind = f' class="{html.escape(block.kind)}"' if block.kind else ""
        return f"<p{kind}>" + "<br>\n".join(map(html.escape, block.text.splitlines())) + "</p>"
    if isinstance(block, Code):
        return f"<pre>{html.escape(block.text)}</pre>"
    if isinstance(block, Picture):
        return f"<figure>{block.svg}<figcaption>{html.escape(block.title)}</figcaption></figure>"
    if isinstance(block, Pictures):
        return f'<div class="beside">{"".join(map(_html, block.each))}</div>'
    return _html_table(block)


def _html_table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(cell(at, text, tag) for at, text in enumerate(cells)) + "</tr>"

    def cell(at: int, text: str, tag: str) -> str:
        kind = ' class="n"' if at in table.right else ""
        if table.stacked and tag == "td":
            kind += f' data-head="{html.escape(table.head[at])}"'
        return f"<{tag}{kind}>{html.escape(text)}</{tag}>"

    head = row(table.head, "th")
    body = "\n".join(row(cells, "td") for cells in table.rows)
    whole = f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="wide{" stacked" if table.stacked else ""}">{whole}</div>'


STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
h3 { font-size: 1.05rem; margin-top: 1.6rem; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; vertical-align: top; }
th { border-bottom: 2px solid #8888; } td { border-bottom: 1px solid #8884; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.wide { overflow-x: auto; }
pre { background: #8881; padding: .7rem; overflow-x: auto; font-size: .85rem; }
figure { margin: 1rem 0; } figcaption { font-size: .85rem; opacity: .75; }
svg { max-width: 100%; height: auto; } svg text { fill: currentColor; }
.beside { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.beside figure { flex: 0 1 300px; } .beside svg { width: 100%; }
@media (max-width: 640px) {
.stacked thead { display: none; } .stacked tr { display: block; padding: .6rem 0; }
.stacked tr { border-bottom: 1px solid #8888; } .stacked table { width: 100%; }
.beside figure { flex-basis: 340px; }
.stacked td { display: block; border: 0; padding: .1rem 0; text-align: left; }
.stacked td:empty { display: none; } .stacked td { overflow-wrap: anywhere; }
.stacked td[data-head]:not([data-head=""])::before { content: attr(data-head) ": "; opacity: .7; }
}
.mark { font-size: 1.3rem; font-weight: 600; } .ours { color: #a0a; }
"""
