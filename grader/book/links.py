# SPDX-License-Identifier: MIT
"""Checks that every link of the built site resolves, that the site needs no network, and that no
Markdown syntax is left in the text of pages."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MARKDOWN = re.compile(r"\{:|\]\(|<!-- \w+:")  # of a link, its title, a directive
VERBATIM = ("code", "pre", "script", "style")
NEEDED = {"script": "src", "img": "src", "iframe": "src"}  # what a page loads by itself


class _Page(HTMLParser):
    """The anchors of a page, its links, what it loads, and Markdown syntax left in its text."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.left: list[str] = []
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._verbatim += tag in VERBATIM
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if NEEDED.get(tag, "") in given:
            self.loads.append(given[NEEDED[tag]])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        self._verbatim -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        if not self._verbatim and (found := MARKDOWN.search(data)):
            self.left.append(data[max(0, found.start() - 30) : found.end() + 30].strip())


def broken(site: Path) -> list[str]:
    """One message for each broken link and each resource that needs the network."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(site)
        wrong += [f"{where} loads {url} from the network" for url in page.loads if _away(url)]
        inside = [url for url in [*page.links, *page.loads] if not _away(url)]
        wrong += [f"{where} shows Markdown: {text!r}" for text in page.left]
        wrong += [f"{where}: {why}" for url in inside if (why := _leads_nowhere(path, url, pages))]
    return wrong


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _away(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.scheme or parts.netloc)


def _leads_nowhere(path: Path, url: str, pages: dict[Path, _Page]) -> str:
    parts = urlsplit(url)
    if path.name == "404.html":  # its links are relative to the server's root
        return ""
    to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if to.is_dir():
        to /= "index.html"
    if not to.is_file():
        return f"the link {url} leads to no file"
    name = unquote(parts.fragment)
    if name and to in pages and name not in pages[to].names:
        return f"the link {url} leads to a page without #{name}"
    return ""
