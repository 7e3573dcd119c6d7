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
Trace = dict[str, Any]


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
            f"{path} is no trace that VGPU_TRACE wrote: {error}", ExitStatus.NO_MATCH
        ) from error
    raise LabError(f"{path} is no trace that VGPU_TRACE wrote", ExitStatus.NO_MATCH)


def _usual_page(project: Project, title: str) -> Path:
    return project.root / "build" / "trace" / f"{title}.html"


def _tell(
    project: Project, trace: Trace, kept: Path, title: str, output: Path | None, source: str = ""
) -> ExitStatus:
    if not _operations(trace):
        raise LabError(
            f"{title} did nothing on a GPU that had ended: there is nothing to show.",
            ExitStatus.NO_MATCH,
        )
    path = output or _usual_page(project, title)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(project.root / "vgpu" / "nodes", trace, title, source), encoding="utf-8")
    print(f"{summary(trace)}\n{path}")
    print(f"in Perfetto: open {kept} at https://ui.perfetto.dev, which runs in your browser")
    return ExitStatus.OK


def _operations(trace: Trace) -> list[dict[str, Any]]:
    """What ran on GPUs; copies stand in two rows, of their stream and of their engine."""
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    return [event for event in slices if event.get("cat") not in ("host", "range")]


def summary(trace: Trace) -> str:
    """ "hgx-h200-4: 6 operations in 95.2 us, 12.6 MB over links"."""
    slices = [event for event in _operations(trace) if event["tid"] < 500]
    begin = min(event["ts"] for event in slices)
    end = max(event["ts"] + event["dur"] for event in slices)
    links = [link for link in trace["otherData"]["links"] if "memory" not in link["name"]]
    moved = sum(link["bytes"] for link in links)
    return (
        f"{trace['otherData']['node']}: {len(slices)} operations in {end - begin:.1f} us, "
        f"{topology.bytes_text(moved)} over links"
    )


def opened(trace: Trace, source: str) -> tuple[float, float]:
    """What the page shows at first, in microseconds: from the first to the last call in the file
    `source` and what it issued; without such operations, from the first one of a GPU to the last.
    The calls before are mostly set-up, which takes longer than the rest."""
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    own = [event for event in slices if event["args"].get("site", "").startswith(f"{source}:")]
    shown = own if source and own else _operations(trace)
    begin = min(event["ts"] for event in shown)
    end = max(event["ts"] + event["dur"] for event in shown)
    return begin, max(end, begin + 1e-6)


def page(nodes: Path, trace: Trace, title: str, source: str = "") -> str:
    """The whole page as HTML, opened on what the file `source` did."""
    begin, end = opened(trace, source)
    what = f"what {source} did" if source else "what the GPUs did"
    carried = {link["name"]: link["bytes"] for link in trace["otherData"]["links"]}
    drawing = topology.draw(_dot(nodes, trace, carried))
    inside = {
        "TITLE": html.escape(title),
        "CSS": (PAGE / "page.css").read_text(encoding="utf-8"),
        "FROM": str(begin),
        "TO": str(end),
        "OPENED": html.escape(f"It opens on {what}."),
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
