# SPDX-License-Identifier: MIT
"""The charts of the class report, each as wide as a telephone, drawn by pygal.

Of pygal's SVG the page keeps what is seen: its script, its style, its comment with the date and the
texts for tooltips go, so that the page has no script and is the same on every day. Colours are the
page's (STYLE), in light and in dark; the numbers are in the picture's description, too.
"""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from grader.base.exits import ExitStatus, LabError
from grader.grade.page import Picture
from grader.grade.tasks import Task

WIDTH, _TALL = 340, 150
_ROW, _LEGEND = 26, 54
_BINS = 10
_GAPS = ((1 / 6, "10 min"), (1, "1 h"), (6, "6 h"), (24, "1 day"), (72, "3 days"))
_ATTEMPTS = ("1st attempt", "2nd", "later", "not solved", "not written")
_SVG = "http://www.w3.org/2000/svg"

_SHADES = ("#5a8f5a", "#4a6fa5", "#8a6fb0", "#a54a4a", "#888888")
STYLE = """
.pygal-chart .background { fill: none; }
.pygal-chart path { fill: none; stroke: currentColor; stroke-opacity: .2; }
.pygal-chart text { font: 10px system-ui, sans-serif; text-anchor: middle; }
.pygal-chart .vertical .guide { stroke: none; }
.pygal-chart .horizontal .axis.y text { text-anchor: end; }
.pygal-chart .legend text { text-anchor: start; }
.pygal-chart rect.rect, .pygal-chart .legend rect { fill-opacity: .35; }
""" + "".join(
    f".pygal-chart .color-{at} rect, .pygal-chart .legend rect.color-{at} "
    f"{{ fill: {shade}; stroke: {shade}; }}\n"
    for at, shade in enumerate(_SHADES)
)


def marks(values: Sequence[float], possible: int) -> Picture:
    width = possible / _BINS if possible else 1
    counts = [0] * _BINS
    for mark in values:
        counts[max(0, min(int(mark / width), _BINS - 1))] += 1
    names = [f"{at * width:g}" for at in range(_BINS)]
    names[-1] += f"-{possible:g}"
    return _bars(names, counts, "How many marks fall into each tenth of the points")


def gaps(hours: Sequence[float]) -> Picture:
    """How long it took from one file to the next."""
    counts = [0] * (len(_GAPS) + 1)
    for one in hours:
        counts[sum(one >= most for most, _ in _GAPS)] += 1
    names = [f"< {name}" for _, name in _GAPS] + ["more"]
    return _bars(names, counts, f"Time between two files that a student handed in ({len(hours)})")


def solved(tasks: Sequence[Task]) -> Picture:
    """A bar a task: of the students whose file was run, who solved it and when."""
    names = [task.name for task in tasks]
    shares = [_shares(task) for task in tasks]
    height = _LEGEND + _ROW * len(tasks)
    more = {"legend_at_bottom": True, "legend_at_bottom_columns": 3, "legend_box_size": 9}
    more["margin_bottom"] = 18  # its second line
    chart = _chart("HorizontalStackedBar", height, show_x_labels=False, show_x_guides=False, **more)
    chart.x_labels = names[::-1]  # the first one is drawn at the bottom
    for at, attempt in enumerate(_ATTEMPTS):
        chart.add(attempt, [share[at] for share in reversed(shares)])
    words = "Who solved each task, by the attempt that was the first to do so"
    lines = zip(names, shares, strict=True)
    return _picture(chart, words, [f"{name}: {_told(_ATTEMPTS, share)}" for name, share in lines])


def _shares(task: Task) -> list[int]:
    """At the first attempt, the second, later, not solved, not written: all students of a task. Of
    whom no attempt is known, the one that is there counts as the first."""
    known = sum(task.first.values())
    first = task.first[1] + task.solved - known
    second = task.first[2]
    later = known - task.first[1] - second
    unwritten = min(task.unwritten, task.students - task.solved)
    return [first, second, later, task.students - task.solved - unwritten, unwritten]


def _bars(names: Sequence[str], counts: Sequence[int], words: str) -> Picture:
    chart = _chart("Bar", _TALL, show_legend=False, show_y_labels=False, show_y_guides=False)
    chart.x_labels = names
    chart.add("", counts)
    return _picture(chart, words, [_told(names, counts)])


def _told(names: Sequence[str], counts: Sequence[int]) -> str:
    told = [f"{name} {count}" for name, count in zip(names, counts, strict=True) if count]
    return ", ".join(told)


# ---- pygal ----


def _chart(kind: str, height: int, **more: object) -> Any:  # noqa: ANN401
    try:
        import pygal
        from pygal.etree import etree
    except ImportError as error:
        says = "The class report's charts need the Python package pygal: ./lab start --grader "
        raise LabError(f"{says}installs it.", ExitStatus.MISSING) from error
    etree.to_etree()  # not lxml, where that happens to be: the same everywhere
    style = pygal.style.Style(
        font_family="sans-serif",
        label_font_size=10,
        major_label_font_size=10,
        value_font_size=10,
        legend_font_size=10,
    )
    usual = {"js": (), "css": (), "no_prefix": True, "margin": 2, "spacing": 5, "style": style}
    usual |= {"truncate_label": -1, "truncate_legend": -1}
    shown = {"print_values": True, "print_zeroes": False, "width": WIDTH, "height": height}
    return getattr(pygal, kind)(**usual, **shown, **more)


def _picture(chart: Any, words: str, told: Sequence[str]) -> Picture:  # noqa: ANN401
    tree = chart.render_tree()
    _strip(tree)
    for at, (name, text) in enumerate((("title", words), ("desc", "; ".join(filter(None, told))))):
        found = ElementTree.Element(name)
        found.text = text
        tree.insert(at, found)
    tree.set("role", "img")
    ElementTree.register_namespace("", _SVG)
    return Picture(ElementTree.tostring(tree, "unicode"), words)


def _strip(element: ElementTree.Element) -> None:
    """Of all that is not seen."""
    unseen = ("defs", "title", "desc", "script", "style")
    for name in ("style", "id"):  # of a number's text, for scripts
        element.attrib.pop(name, None)
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in unseen:
            element.remove(child)
        else:
            _strip(child)
