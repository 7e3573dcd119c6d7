# SPDX-License-Identifier: MIT
"""The book becomes a site: without a warning, every link leads somewhere, nothing comes from the
network. Exit status 77 where MkDocs or Graphviz is not installed."""

import json
import sys
import threading
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from grader.base.exits import ExitStatus, LabError  # noqa: E402
from grader.book import pages, site  # noqa: E402
from grader.course.project import Project  # noqa: E402

WANTED = (
    "first-lab",
    "diagnoses",
    "nodes",
    "virtual-time",
    "real-gpus",
    "instructors",
    "architecture",
    "style",
    "glossary",
    "references",
    "seeds",
)


def served(made: Path) -> str:
    """What is wrong with `./lab docs --serve`; "" where it answers."""
    with site.server(made, 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/index.html"
        with urllib.request.urlopen(address, timeout=30) as answer:
            text = answer.read()
        running.shutdown()
    same = text == (made / "index.html").read_bytes()
    return "" if same else f"{address} is not the site's first page"


def problems(project: Project, made: Path) -> list[str]:
    wrong = [f"there is no page {n}" for n in WANTED if not (made / f"{n}.html").is_file()]
    if why := served(made):
        wrong.append(why)
    if (count := len(list((made / "labs").glob("*/index.html")))) != len(project.labs()):
        wrong.append(f"{count} pages of labs, there are {len(project.labs())} labs")
    for page in pages.pages(project):
        place = made / page.place.replace(".md", ".html")
        if not place.is_file():
            wrong.append(f"{page.place} did not become a page")
    index = json.loads((made / "search/search_index.json").read_text(encoding="utf-8"))
    if not any("current device" in entry["text"] for entry in index["docs"]):
        wrong.append("the search does not find “current device”")
    gallery = (made / "nodes.html").read_text(encoding="utf-8")
    for node in (project.root / "vgpu/nodes").glob("*.json"):
        if node.stem != "schema" and f'id="{node.stem}"' not in gallery:
            wrong.append(f"{node.name} is not in the gallery")
    return wrong


def main() -> int:
    project = Project(ROOT)
    try:
        made = site.build(project)
    except LabError as error:
        print(error)
        return 77 if error.status is ExitStatus.MISSING else 1
    wrong = problems(project, made)
    print("\n".join([*wrong, f"{len(list(made.rglob('*.html')))} pages, {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
