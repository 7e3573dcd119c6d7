# SPDX-License-Identifier: MIT
"""`./lab trace`: runs a test of a lab, and shows the activity of the GPUs on one self-contained
page: the timeline, the bytes on each link, and on the topology."""

import html
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.building import build, ctest
from grader.course.project import Project
from grader.learning import testing, topology

PAGE = Path(__file__).parent / "page"
FIRST_ENGINE = 10000  # rows: vgpu/node/trace/timeline_json.c
IDLE_US = 100.0  # without work, after which another part begins
MARGIN = 0.03  # of a part, before and after it
Trace = dict[str, Any]
Slice = dict[str, Any]


def command(project: Project, what: str, output: Path | None, *, solution: bool) -> ExitStatus:
    """`what` is a lab, a test of one, or a trace that VGPU_TRACE wrote (a path ending in .json)."""
    if what.endswith(".json"):
        return _tell(project, read(Path(what)), Path(what), Path(what).stem, output)
    build.require_configured(project)
    test = _test(project, what, solution=solution)
    name = test.name
    with TemporaryDirectory(prefix="peerlab-trace-") as folder:
        path = Path(folder) / "trace.json"
        ended = ctest.run(project, ctest.exactly([name]), env={"VGPU_TRACE": str(path)})
        if name in ended and not ended[name].passed:
            print(f"{name} did not pass; this is what it did up to there.")
        if not path.is_file():
            raise LabError(f"{name} used no GPU: there is nothing to show.", ExitStatus.NO_MATCH)
        kept = (output or _usual_page(project, name)).with_suffix(".json")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept)
        return _tell(project, read(kept), kept, name, output, Path(test.option("--source")).name)


def _test(project: Project, what: str, *, solution: bool) -> ctest.Test:
    """The test that "03.curve" names; for "03" the one with everything together, or the last."""
    labs, pattern = testing.chosen(project, what)
    lab = labs[0]
    if solution:
        pattern = pattern.replace("^lab", "^solution")
    else:
        testing.rebuild(project, [lab])
    tests = [test for test in testing.matching(project, pattern) if ".hidden." not in test.name]
    tests = [test for test in tests if not test.name.startswith("build.")]
    if not tests:
        raise LabError(testing.no_match(project, pattern), ExitStatus.NO_MATCH)
    together = [test for test in tests if test.name.endswith(".together")]
    return (together or tests)[-1]


def read(path: Path) -> Trace:
    try:
        trace: Trace = json.loads(path.read_text(encoding="utf-8"))
        if trace["traceEvents"] is not None and trace["otherData"]["links"] is not None:
            return trace
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{path} is not a trace that VGPU_TRACE wrote: {error}", ExitStatus.NO_MATCH
        ) from error
    raise LabError(f"{path} is not a trace that VGPU_TRACE wrote", ExitStatus.NO_MATCH)


def _usual_page(project: Project, title: str) -> Path:
    return project.root / "build" / "trace" / f"{title}.html"


def _tell(
    project: Project, trace: Trace, kept: Path, title: str, output: Path | None, source: str = ""
) -> ExitStatus:
    if not _slices(trace):
        raise LabError(
            f"{title} made no call that reached a GPU: there is nothing to show.",
            ExitStatus.NO_MATCH,
        )
    path = output or _usual_page(project, title)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(project.root / "vgpu" / "nodes", trace, title, source), encoding="utf-8")
    print(f"{summary(trace)}\n{path}")
    print(f"in Perfetto: open {kept} at https://ui.perfetto.dev, which runs in your browser")
    print("             (Open trace file; then click on host or on a GPU to see its rows)")
    return ExitStatus.OK


def _slices(trace: Trace) -> list[Slice]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def _operations(trace: Trace) -> list[Slice]:
    """What ran on GPUs; copies stand in two rows, of their stream and of their engine."""
    return [one for one in _slices(trace) if one.get("cat") not in ("host", "range")]


def summary(trace: Trace) -> str:
    """ "hgx-h200-4: 6 operations in 95.2 us, 12.6 MB over links"."""
    node = trace["otherData"]["node"]
    slices = [event for event in _operations(trace) if event["tid"] < FIRST_ENGINE]
    if not slices:
        return f"{node}: {len(_slices(trace))} calls of the host, no operation on a GPU"
    begin = min(event["ts"] for event in slices)
    end = max(event["ts"] + event["dur"] for event in slices)
    links = [
        link
        for link in trace["otherData"]["links"]
        if not link["name"].endswith((" both ways", "memory", " written", " read"))
    ]
    moved = sum(link["bytes"] for link in links)
    return (
        f"{node}: {len(slices)} operations in {end - begin:.1f} us, "
        f"{topology.bytes_text(moved)} over links"
    )


def parts(trace: Trace, source: str) -> list[tuple[float, float]]:
    """From when to when, in microseconds, GPUs worked for the file `source`: each part begins with
    the call that started its first operation, and between two parts lie more than IDLE_US without
    such work, which is mostly set-up. Of all files, if that one started nothing; of calls, if no
    file did."""
    found = _operations(trace) or _slices(trace)
    marked = {(one["pid"], one["tid"], one["ts"]) for one in _findings(trace)}
    own = [
        one
        for one in found
        if one["args"].get("site", "").startswith(f"{source}:")
        or (one["pid"], one["tid"], one["ts"]) in marked
    ]
    made: list[tuple[float, float]] = []
    for one in sorted(own if source and own else found, key=_begin):
        begin, end = _begin(one), one["ts"] + one["dur"]
        if made and begin <= made[-1][1] + IDLE_US:
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((begin, end))
    return [(a - _margin(a, b), b + _margin(a, b)) for a, b in made]


def _begin(one: Slice) -> float:
    return float(min(one["ts"], one["args"].get("issued", one["ts"])))


def _margin(begin: float, end: float) -> float:
    return MARGIN * max(end - begin, 1e-3)


def _findings(trace: Trace) -> list[Slice]:
    return [event for event in trace["traceEvents"] if event.get("cat") == "finding"]


def opened(trace: Trace, among: list[tuple[float, float]]) -> int:
    """Which of these parts is shown at first: the one with the first finding, or the last."""
    for finding in sorted(_findings(trace), key=_begin):
        for number, (begin, end) in enumerate(among):
            if begin <= finding["ts"] <= end:
                return number
    return len(among) - 1


def page(nodes: Path, trace: Trace, title: str, source: str = "") -> str:
    """The whole page as HTML, opened on what the file `source` did."""
    among = parts(trace, source)
    carried = {link["name"]: link["bytes"] for link in trace["otherData"]["links"]}
    drawing = topology.draw(_dot(nodes, trace, carried))
    inside = {
        "TITLE": html.escape(title),
        "CSS": (PAGE / "page.css").read_text(encoding="utf-8"),
        "PARTS": json.dumps(among),
        "PART": str(opened(trace, among)),
        "WHOSE": html.escape(source or "the program"),
        "SUMMARY": html.escape(summary(trace)),
        "TOPOLOGY": drawing[drawing.index("<svg") :],
        "TRACE": json.dumps(trace).replace("<", "\\u003c"),
        "SCRIPT": (PAGE / "page.js").read_text(encoding="utf-8"),
    }
    head, *rest = (PAGE / "page.html").read_text(encoding="utf-8").split("@")
    made = [head]
    for piece in rest:  # pieces alternate: a name, then text
        made.append(inside.get(piece, piece))
    return "".join(made)


def _dot(nodes: Path, trace: Trace, carried: dict[str, int]) -> str:
    """A user's own description is not in `nodes`: its links are listed without a drawing."""
    try:
        node = topology.describe(nodes, trace["otherData"]["node"])
    except LabError:
        return 'graph { label="a node of one\'s own: see Links" }'
    return topology.dot(topology.graph(node), carried)
