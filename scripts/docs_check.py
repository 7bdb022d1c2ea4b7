"""Follow every link of the built documentation, and see that its search works from disk.

    python scripts/docs_check.py site

In: the folder that mkdocs has built. Out: exit status 1, with a line for each fault.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

INDEX = "search/search_index.js"
INDEX_BEGINS = "var __index = "
# It stands in for the Web Worker of the search, which a page that is read from disk can't have.
WORKER = "javascripts/iframe-worker.js"


@dataclass
class Page:
    """What a page holds: anchors, links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.page.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.page.links.add(values["href"])
        if tag == "link" and "href" in values and values.get("rel") != "canonical":
            self.page.loaded.add(values["href"])
        if tag in ("img", "script", "iframe", "source", "video", "audio") and "src" in values:
            self.page.loaded.add(values["src"])


def read_page(text: str) -> Page:
    """Read the HTML of one page."""
    reader = _Reader()
    reader.feed(text)
    return reader.page


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site, a sentence each."""
    pages = {file: read_page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} holds no pages"
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        for address in sorted(page.loaded):
            if urlsplit(address).scheme != "data" and urlsplit(address).netloc:
                yield f"{name} loads {address} from elsewhere"
        for address in sorted(page.links | page.loaded):
            if reason := _broken(address, file, site, pages):
                yield f"{name}: {address}: {reason}"
        if not any(address.endswith(WORKER) for address in page.loaded):
            yield f"{name} has no {WORKER}: the search can't run from disk"
    yield from _faults_of_search(site)


def _broken(address: str, file: Path, site: Path, pages: dict[Path, Page]) -> str:
    """Say why a link leads nowhere, or "" if it holds or leaves the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    path = unquote(parts.path)
    start = site if path.startswith("/") else file.parent
    target = Path(start, path.lstrip("/")).resolve() if path else file
    if target.is_dir():
        # Read from disk, a link to a folder shows a list of its files.
        return "a folder" if path != "/" else ""
    if not target.is_file():
        return "no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return ""


def _faults_of_search(site: Path) -> Iterator[str]:
    index = site / INDEX
    if not index.is_file():
        yield f"{INDEX} is missing: the search can't run from disk"
        return
    text = index.read_text(encoding="utf-8")
    if not text.startswith(INDEX_BEGINS):
        yield f"{INDEX} does not begin with {INDEX_BEGINS!r}"
    elif not json.loads(text.removeprefix(INDEX_BEGINS)).get("docs"):
        yield f"{INDEX} is empty"


def main() -> int:
    """Check the folder that is named; print the faults."""
    found = list(faults(Path(sys.argv[1]).resolve()))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
