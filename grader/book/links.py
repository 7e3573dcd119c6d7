# SPDX-License-Identifier: MIT
"""Does every link of the built site lead somewhere, and does the site need no network?"""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

NEEDED = {"script": "src", "img": "src", "iframe": "src"}  # what a page loads by itself


class _Page(HTMLParser):
    """The names in a page, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if NEEDED.get(tag, "") in given:
            self.loads.append(given[NEEDED[tag]])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given.get("href", ""))


def broken(site: Path) -> list[str]:
    """One sentence for each link that leads nowhere and each thing that only the network has."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(site)
        wrong += [f"{where} loads {url} from the network" for url in page.loads if _away(url)]
        inside = [url for url in [*page.links, *page.loads] if not _away(url)]
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
    if path.name == "404.html":  # its links begin at the root of whatever serves it
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
