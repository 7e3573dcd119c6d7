# SPDX-License-Identifier: MIT
"""Pages that ./lab generates for its users, shown unchanged in the book: `<!-- sample: NAME -->`
inserts one into a page. Two are generated with the site, from a program's and a class's output in
docs/samples/, and the others stand there; tests generate all anew and compare
(tests/book/samples.py, grading.instructors, grading.pictures)."""

import json
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from grader.base.exits import LabError
from grader.course.project import Project
from grader.export.outputs import Mistakes
from grader.grade import classreport
from grader.learning import trace

# A picture right below it is for readers of the source: the site has the page itself.
DIRECTIVE = re.compile(
    r"^<!-- sample: (\S+) -->$(?:\n!\[[^\]]*\]\(samples/[^)]*\)$)?", re.MULTILINE
)
FOLDER, DATA = "samples", Path("docs/samples")


def _trace(project: Project) -> str:
    left = trace.read(project.root / DATA / "trace.json")
    return trace.page(project.root / "vgpu" / "nodes", left, "clock-traced")


def _class(project: Project) -> str:
    results = json.loads((project.root / DATA / "class.json").read_text(encoding="utf-8"))
    return classreport.webpage(results, Mistakes(project))


def _kept(name: str) -> Callable[[Project], str]:
    return lambda project: (project.root / DATA / f"{name}.html").read_text(encoding="utf-8")


SAMPLES: dict[str, tuple[Callable[[Project], str], str]] = {
    "trace": (_trace, "The page of ./lab trace: timeline, links, bytes on the topology"),
    "class-report": (_class, "The class report: marks, tasks, frequent mistakes, timing"),
    "feedback": (_kept("feedback"), "A student's feedback: points, what failed and why"),
    "leaderboard": (_kept("leaderboard"), "The leaderboard: times on each node, bests by day"),
    "pairs": (_kept("pairs"), "Pairs that are alike, side by side"),
    "lti-values": (_kept("lti-values"), "What a learning platform asks for, and what to paste"),
}


def insert(place: str, text: str) -> str:
    """The page at `place` in the site, with its samples in frames. LabError: there is no sample of
    that name."""

    def one(match: re.Match[str]) -> str:
        if match[1] not in SAMPLES:
            raise LabError(f"{place} asks for the sample {match[1]}; there are {sorted(SAMPLES)}")
        to = posixpath.relpath(f"{FOLDER}/{match[1]}.html", posixpath.dirname(place) or ".")
        words = SAMPLES[match[1]][1]
        frame = f'<iframe class="sample" src="{to}" title="{words}" loading="lazy"></iframe>'
        return f"{frame}\n\n[This page by itself]({to})"

    return DIRECTIVE.sub(one, text)


def write(project: Project, site: Path) -> None:
    """Writes all samples to the site's folder."""
    (site / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, (make, _) in SAMPLES.items():
        (site / FOLDER / f"{name}.html").write_text(make(project), encoding="utf-8")
