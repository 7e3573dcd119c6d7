# SPDX-License-Identifier: MIT
"""Builds the site in build/docs/: `src/` is MkDocs' input, `site/` its output. Needs no network
once its tools are in .venv/ (docs/requirements.txt) and Graphviz is installed."""

import functools
import http.server
import importlib.util
import json
import os
import shutil
import sys
import time
from pathlib import Path

from grader.base.exits import ExitStatus, LabError
from grader.base.proc import capture
from grader.book import links, pages, samples
from grader.course.project import Project

MINUTES = 10.0


def build(project: Project) -> Path:
    """Builds the site; returns its folder. LabError: a page includes something that does not exist,
    MkDocs warned, or a link is broken."""
    work = project.root / "build" / "docs"
    source, site = work / "src", work / "site"
    mkdocs = find_mkdocs(project)
    if shutil.which("dot") is None:
        raise LabError("The figures need Graphviz: apt-get install graphviz", ExitStatus.MISSING)
    stage(project, source)
    (work / "mkdocs.yml").write_text(_configuration(project, source, site), encoding="utf-8")
    words = [
        *mkdocs,
        "build",
        "--strict",
        "--quiet",
        "--clean",
        "--config-file",
        work / "mkdocs.yml",
    ]
    done = capture(words, env={"NO_MKDOCS_2_WARNING": "1"}, timeout=MINUTES * 60)
    if not done.ok or "WARNING" in done.output:
        raise LabError(f"{done.output.rstrip()}\nMkDocs did not make the site.", ExitStatus.FAILED)
    if wrong := links.broken(site):
        raise LabError("\n".join(wrong), ExitStatus.FAILED)
    return site


def find_mkdocs(project: Project) -> list[str | Path]:
    """The command that starts MkDocs with its theme. LabError: it is not installed."""
    own = project.venv / "bin" / "mkdocs"
    if own.exists():
        return [own]
    if importlib.util.find_spec("material") and importlib.util.find_spec("mkdocs"):
        return [sys.executable, "-m", "mkdocs"]
    raise LabError(
        "The book is made with MkDocs and its theme, which are not here. Once, with network:\n"
        "  python3 -m venv .venv && .venv/bin/pip install -r docs/requirements.txt",
        ExitStatus.MISSING,
    )


def stage(project: Project, source: Path) -> None:
    """Writes all pages in the form that MkDocs expects."""
    shutil.rmtree(source, ignore_errors=True)
    for page in pages.pages(project):
        place = source / page.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(pages.render(project, page), encoding="utf-8")
    shutil.copytree(project.root / "docs" / "book" / "assets", source / "assets")
    samples.write(project, source)


def _configuration(project: Project, source: Path, site: Path) -> str:
    """JSON is YAML."""
    own = {
        "INHERIT": str(project.root / "docs" / "book" / "site.yml"),
        "docs_dir": str(source),
        "site_dir": str(site),
        "nav": pages.navigation(project),
    }
    return json.dumps(own, indent=1)


def command(project: Project, *, serve: bool, port: int) -> ExitStatus:
    """`./lab docs`."""
    began = time.monotonic()
    site = build(project)
    count = len(list(site.rglob("*.html")))
    shown = os.path.relpath(site / "index.html")
    print(f"{count} pages in {time.monotonic() - began:.0f} s: {shown}", flush=True)
    if serve:
        _serve(site, port)
    return ExitStatus.OK


def server(site: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Serves the site to this computer only; port 0 takes a free one."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def _serve(site: Path, port: int) -> None:
    """Serves until it is interrupted."""
    with server(site, port) as running:
        print(f"http://127.0.0.1:{running.server_port}/  (Ctrl-C ends it)", flush=True)
        running.serve_forever()
