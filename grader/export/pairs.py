# SPDX-License-Identifier: MIT
"""The pairs that JPlag found most alike, side by side on one page, without JPlag's own viewer.

Its result (JPlag 6.2 and later) is a zip that ends in .jplag:

    topComparisons.json       pairs of ids, with similarities
    submissionMappings.json   ids to names, and each pair to the name of its comparison
    FIRST-SECOND.json         matches: file, first and last line in both
    files/ID/...              what was compared

JPlag leaves out matches that are in the base code, too. Here a line that the skeleton has, or that
has no word in it, is grey and counts for nothing: pairs are in the order of what is alike of the
lines that learners wrote.
"""

import html
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grader.base.exits import ExitStatus, LabError
from grader.export.jplag import SOLUTION
from grader.grade.archive import printable
from grader.grade.page import frame

Json = dict[str, Any]
_OLD = "overview.json"  # of JPlag 6.1 and before
_LISTED = "topComparisons.json"
_MAPPINGS = "submissionMappings.json"
LEFT_OUT = "These were not compared: JPlag could not read them, or they are too short:"
_TINTS = 6  # that matches take turns with


@dataclass(frozen=True)
class Side:
    """One file of a pair: `own` says of each line whether its author wrote it."""

    who: str
    lines: tuple[str, ...]
    own: tuple[bool, ...]

    def mine(self, spans: Iterable[tuple[int, int]]) -> int:
        """How many own lines are in these spans (first and last line, from 1)."""
        covered = {at for first, last in spans for at in range(first, last + 1)}
        return sum(self.own[at - 1] for at in covered if 1 <= at <= len(self.own))


@dataclass(frozen=True)
class Pair:
    """`matches` are spans of the first file and of the second."""

    first: Side
    second: Side
    jplag: float  # its own average similarity
    matches: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @property
    def alike(self) -> float:
        """Which share of the lines that both wrote is in a match; 0 where nobody wrote any."""
        written = sum(self.first.own) + sum(self.second.own)
        one = self.first.mine(match[0] for match in self.matches)
        return (one + self.second.mine(match[1] for match in self.matches)) / max(1, written)


def write(folder: Path, most: int) -> tuple[Path, list[Pair], list[str]]:
    """Makes pairs.html of the result in `folder`, which is one lab's of --jplag. Returns also whom
    JPlag did not compare with anybody."""
    result = folder / "result.jplag"
    if not result.is_file():
        raise LabError(
            f"{result} is not there: JPLAG=jplag.jar {folder}/run.sh makes it.", ExitStatus.MISSING
        )
    names = _students(folder.parent / "students.json")
    base = "\n".join(path.read_text(encoding="utf-8") for path in (folder / "base").glob("*"))
    try:
        read = _Result(result, names, base)
        found, left_out = read.pairs(), read.left_out(folder / "submissions")
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(
            f"{result} cannot be read as a result of JPlag 6.2 or later ({error!r}). Remove it "
            f"and run {folder}/run.sh again.",
            ExitStatus.USAGE,
        ) from error
    shown = sorted(found, key=lambda pair: (-pair.alike, -pair.jplag, pair.first.who))[:most]
    target = folder / "pairs.html"
    target.write_text(_page(folder.name, shown, len(found), left_out), encoding="utf-8")
    return target, shown, left_out


def _students(path: Path) -> dict[str, str]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


class _Result:
    def __init__(self, path: Path, names: dict[str, str], base: str) -> None:
        self.zip = zipfile.ZipFile(path)
        self.members = [name for name in self.zip.namelist() if not name.endswith("/")]
        self.names = {**names, SOLUTION: "the published solution"}
        self.base = {line.strip() for line in base.splitlines()}

    def pairs(self) -> list[Pair]:
        if self.has(_OLD) and not self.has(_LISTED):
            raise ValueError("JPlag 6.1 or before wrote it")
        files = self.json(_MAPPINGS)["submissionIdsToComparisonFileName"]
        listed = [(one["firstSubmission"], one["secondSubmission"]) for one in self.json(_LISTED)]
        return [self.pair(self.json(files[first][second])) for first, second in listed]

    def left_out(self, submissions: Path) -> list[str]:
        """Who has a folder there and is compared with nobody."""
        compared = self.json(_MAPPINGS)["submissionIdsToComparisonFileName"]
        folders = sorted(path.name for path in submissions.glob("*"))
        return [self.names.get(name, name) for name in folders if not compared.get(name)]

    def pair(self, found: Json) -> Pair:
        """Its matches in the one file that a lab has."""
        matches = [
            (
                (one["startInFirst"]["line"], one["endInFirst"]["line"]),
                (one["startInSecond"]["line"], one["endInSecond"]["line"]),
            )
            for one in found["matches"]
        ]
        similar = float(found["similarities"]["AVG"])
        sides = [self.side(found[key]) for key in ("firstSubmissionId", "secondSubmissionId")]
        return Pair(sides[0], sides[1], similar, tuple(sorted(matches)))

    def side(self, who: str) -> Side:
        folder = [name for name in self.members if f"/files/{who}/" in f"/{name}"]
        text = self.zip.read(min(folder)).decode("utf-8", "replace") if folder else ""
        lines = tuple(text.splitlines())
        own = tuple(
            line.strip() not in self.base and bool(re.search(r"\w", line)) for line in lines
        )
        return Side(self.names.get(who, who), lines, own)

    def has(self, name: str) -> bool:
        return any(PurePosixPath(member).name == name for member in self.members)

    def json(self, name: str) -> Any:  # noqa: ANN401
        """Of the member with that name, in whatever folder but that of the files."""
        found = [
            member
            for member in self.members
            if PurePosixPath(member).name == name and not f"/{member}".startswith("/files/")
        ]
        if not found:
            raise ValueError(f"it holds no {name}")
        return json.loads(self.zip.read(found[0]))


# ---- the page ----


def _page(lab: str, pairs: Sequence[Pair], of: int, left_out: Sequence[str]) -> str:
    words = (
        f"{len(pairs)} of {of} pairs, the most alike first. The column “alike” says which share of"
        " the lines that both wrote is in a match; lines of the skeleton are grey and do not count."
        " A high share is not a proof: a task of three lines has few solutions. Look at the"
        " mistakes that both made."
    )
    rows = "".join(
        f'<tr><td><a href="#pair{at}">{_text(pair.first.who)} and {_text(pair.second.who)}</a></td>'
        f'<td class="n">{pair.alike:.0%}</td><td class="n">{pair.jplag:.0%}</td>'
        f'<td class="n">{len(pair.matches)}</td></tr>'
        for at, pair in enumerate(pairs, 1)
    )
    head = "<tr><th>pair</th><th>alike</th><th>JPlag's average</th><th>matches</th></tr>"
    body = f"<h1>{lab}: pairs that are alike</h1><p>{words}</p>"
    if left_out:
        body += f"<p>{LEFT_OUT} {_text(', '.join(left_out))}.</p>"
    body += f'<div class="wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    body += "".join(_pair(at, pair) for at, pair in enumerate(pairs, 1))
    return frame(f"{lab}: pairs", body, _STYLE)


def _pair(at: int, pair: Pair) -> str:
    parts = [f'<h2 id="pair{at}">{_text(pair.first.who)} and {_text(pair.second.who)}</h2>']
    for number, (left, right) in enumerate(pair.matches):
        tint = number % _TINTS
        columns = [_code(pair.first, [(*left, tint)], left)]
        columns.append(_code(pair.second, [(*right, tint)], right))
        parts.append(f'<div class="two">{"".join(columns)}</div>')
    tinted = [(left, right, at % _TINTS) for at, (left, right) in enumerate(pair.matches)]
    whole = _code(pair.first, [(*left, tint) for left, _, tint in tinted])
    whole += _code(pair.second, [(*right, tint) for _, right, tint in tinted])
    parts.append(f'<details><summary>Both files</summary><div class="two">{whole}</div></details>')
    return "".join(parts)


def _code(
    side: Side, tinted: Sequence[tuple[int, int, int]], span: tuple[int, int] | None = None
) -> str:
    """The lines of a span, or all of them, each with its number and the tint of its match."""
    first, last = span or (1, len(side.lines))
    shown = []
    for at in range(max(1, first), min(last, len(side.lines)) + 1):
        tint = next((one for start, end, one in tinted if start <= at <= end), None)
        classes = [] if side.own[at - 1] else ["grey"]
        classes += [] if tint is None or span else [f"t{tint}"]
        kind = f' class="{" ".join(classes)}"' if classes else ""
        line = _text(side.lines[at - 1].expandtabs(4))
        shown.append(f"<span{kind}><i>{at:>4}</i> {line}</span>")
    kind = f' class="t{tinted[0][2]}"' if span else ""
    return f"<div><h3>{_text(side.who)}</h3><pre{kind}>{chr(10).join(shown)}</pre></div>"


def _text(text: str) -> str:
    return html.escape(printable(text))


_STYLE = """
main { max-width: 90rem; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
.two > div { min-width: 0; } .two h3 { margin: .6rem 0 0; } .two pre { margin: .3rem 0; }
@media (max-width: 700px) { .two { grid-template-columns: 1fr; } }
pre i { font-style: normal; opacity: .5; } .grey { opacity: .5; }
span.t0, pre.t0 { background: #4a7fb533; } span.t1, pre.t1 { background: #c0782f33; }
span.t2, pre.t2 { background: #5a8f5a33; } span.t3, pre.t3 { background: #a54a4a33; }
span.t4, pre.t4 { background: #8a6fb033; } span.t5, pre.t5 { background: #80808033; }
"""
