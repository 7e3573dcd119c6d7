# SPDX-License-Identifier: MIT
"""The site's pages: the list, and how each is generated from its source."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import LabError
from grader.book import charts, code, figures, glossary, nodes, numbers, recorded, samples, seeds
from grader.course.project import Lab, Project

CHAPTER = re.compile(r"\d\d-[a-z0-9-]+\.md")
# Pages besides chapters and labs: below docs/, in the order of the menu; then all others there.
REFERENCE = (
    "first-lab.md",
    "session-lab03.md",
    "diagnoses.md",
    "nodes.md",
    "virtual-node.md",
    "virtual-time.md",
    "virtual-time-details.md",
    "virtual-time-ring.md",
    "real-gpus.md",
    "zero-plan.md",
    "conformance.md",
    "instructors.md",
    "architecture.md",
    "style.md",
    "glossary.md",
    "references.md",
    "seeds.md",
)
# Groups of their own in the menu, since learners do not need them.
INSTRUCTORS = (
    "instructors.md",
    "cluster.md",
    "leaderboard.md",
    "lti.md",
    "grading.md",
    "results.md",
    "security.md",
)
MAINTAINERS = ("architecture.md", "conformance.md", "seeds.md", "style.md", "testing.md")
WIDEST = 150  # characters of a line in a block; about 100 fit on the page
NUMBERED = re.compile(r"\b([Cc]hapter )(\d{1,2})\b")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Page:
    """`place` is its path in the site, `source` the file from which it is generated."""

    place: str
    source: Path


def chapters(project: Project) -> list[Path]:
    """The book's chapters in their order."""
    folder = project.root / "docs" / "book"
    return sorted(path for path in folder.glob("*.md") if CHAPTER.fullmatch(path.name))


def chapter_number(source: Path) -> int | None:
    """The number of a chapter's page, from 0 on; None for any other page."""
    return int(source.name[:2]) if CHAPTER.fullmatch(source.name) else None


def pages(project: Project) -> list[Page]:
    docs = project.root / "docs"
    found = [Page("index.md", docs / "book" / "index.md")]
    found += [Page(f"book/{path.name}", path) for path in chapters(project)]
    for lab in project.labs():
        found += _lab_pages(project, lab)
    others = sorted(path.name for path in docs.glob("*.md") if path.name not in REFERENCE)
    names = [name for name in (*REFERENCE, *others) if (docs / name).is_file()]
    found += [Page(name, docs / name) for name in names]
    diagnoses = sorted(docs.glob("diagnoses/*.md"), key=_by_code)
    return found + [Page(f"diagnoses/{path.name}", path) for path in diagnoses]


def _by_code(path: Path) -> tuple[int, str]:
    """Errors of CUDA by number, then the course's own by name."""
    return (int(path.stem), "") if path.stem.isdigit() else (1 << 30, path.stem)


def _lab_pages(project: Project, lab: Lab) -> list[Page]:
    """The chapters to read before a lab, and its README."""
    folder = project.labs_dir / lab.folder
    before = [path for path in sorted(folder.glob("*.md")) if path.name != "README.md"]
    found = [Page(f"labs/{lab.folder}/{path.name}", path) for path in before]
    return [*found, Page(f"labs/{lab.folder}/index.md", folder / "README.md")]


def navigation(project: Project) -> list[object]:
    """MkDocs' `nav`; titles are the pages' own. Pages for instructors and for maintainers are
    separate from those for learners."""
    made = pages(project)

    def below(folder: str) -> list[str]:
        return [page.place for page in made if page.place.startswith(folder)]

    flat = [page.place for page in made if "/" not in page.place and page.place != "index.md"]
    teaching = [place for place in flat if place in INSTRUCTORS]
    working = [place for place in flat if place in MAINTAINERS]
    reference = [place for place in flat if place not in teaching + working]
    return [
        {"Start": "index.md"},
        {"The book": below("book/")},
        {"Labs": below("labs/")},
        {"Reference": reference},
        {"Diagnoses": below("diagnoses/")},
        {"For instructors": teaching},
        {"For maintainers": working},
    ]


def render(project: Project, page: Page) -> str:
    """The Markdown for MkDocs. LabError: something that the page includes does not exist."""
    name = str(page.source.relative_to(project.root))
    text = page.source.read_text(encoding="utf-8")
    if CHAPTER.fullmatch(page.source.name):
        text += numbers.box(project.root, page.source)
    text = code.include(project.root, name, text)
    text = figures.draw(project, page.source.parent, name, text)
    text = charts.insert(project.root, name, text)
    text = nodes.insert(project.root, text)
    text = recorded.insert(project.root, name, text)
    text = seeds.insert(project.root, name, text)
    text = text.replace("<details><summary>", '<details markdown="1"><summary>')
    text = text.replace("<details>\n<summary>", '<details markdown="1">\n<summary>')
    if page.source == project.root / glossary.PLACE:
        text = glossary.anchored(text)
    if CHAPTER.fullmatch(page.source.name):
        text = glossary.linked(project.root, text, glossary="../glossary.md")
    made = _prose(text, lambda part: _chapters(project, page, _relink(project, page, part)))
    if (number := chapter_number(page.source)) is not None:
        made = re.sub(r"^# ", f"# {number}. ", made, count=1)
    return samples.insert(page.place, made)


def _prose(text: str, change: Callable[[str], str]) -> str:
    """Applies `change` to all but figures and fenced blocks."""
    kept = r"(^```.*?^```$|^<figure.*?</figure>$)"
    parts = re.split(kept, text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        _fixed(part) if re.match("```|<figure", part) else change(part) for part in parts
    )


def _fixed(part: str) -> str:
    """A figure or a block, whose tabs become spaces: MkDocs would expand them to multiples of four.
    Lines far wider than the page are sentences that a program prints: book.css wraps them."""
    part = part.expandtabs(8)
    if max(map(len, part.splitlines())) <= WIDEST:
        return part
    return re.sub(r"^```(\w*)\n", lambda m: f"``` {{ .{m[1] or 'text'} .wrapped }}\n", part)


def _chapters(project: Project, page: Page, text: str) -> str:
    """ "chapter 5" becomes a link, outside the book, too."""
    places = {int(path.name[:2]): path for path in chapters(project)}

    def one(match: re.Match[str]) -> str:
        to = places.get(int(match[2]))
        if to is None or to == page.source:
            return match[0]
        target = posixpath.relpath(f"book/{to.name}", posixpath.dirname(page.place) or ".")
        return f"[{match[1]}{match[2]}]({target})"

    return NUMBERED.sub(one, text)


def _relink(project: Project, page: Page, text: str) -> str:
    """Links between sources become links between pages; links to other files become their paths."""
    places = {made.source.resolve(): made.place for made in pages(project)}

    def one(match: re.Match[str]) -> str:
        path, hash_, fragment = match[2].partition("#")
        if re.match(r"[a-z]+:", match[2]) or not path:
            return match[0]
        to = (page.source.parent / path).resolve()
        if not to.exists():
            raise LabError(f"{page.source}: the link {match[2]} leads to nothing")
        if to not in places:
            return f"{match[1]} (`{to.relative_to(project.root.resolve())}`)"
        target = posixpath.relpath(places[to], posixpath.dirname(page.place) or ".")
        return f"[{match[1]}]({target}{hash_}{fragment})"

    return LINK.sub(one, text)
