"""Every page reads right in both views: on a code host, and in the built site.

The site is built by ``scripts/docs``, which then follows the links of the finished pages as well.
"""

from __future__ import annotations

import re
from pathlib import Path

from scripts import docs_pages
from tests.docs.markdown import code_host_anchors, links_of, site_anchors, without_code
from tests.for_each import for_each

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
IN_SITE = [page for page in PAGES if DOCS in page.parents]
# These committed pages are replaced as the site is built, and so are the links in them.
REPLACED = {DOCS / "changelog.md", *(DOCS / "reference").rglob("*.md")}
# What only one of the two views understands: snippets, directives, admonitions, attribute lists,
# drawings inside the page, and anything that a script would have to draw.
ONE_VIEW_ONLY = re.compile(
    r"--8<--|^:::|^!!!|^\?\?\?|\{[:#.]|<svg|<script|```mermaid", re.MULTILINE
)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def inner_links(page: Path) -> list[tuple[Path, str]]:
    """File and anchor of each link that stays in the repository; of each picture, too."""
    links = [link for link in links_of(page.read_text(encoding="utf-8")) if "://" not in link]
    pairs = [link.partition("#") for link in links]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in pairs]


@for_each("page", PAGES)
def test_every_link_holds_on_a_code_host(page: Path) -> None:
    for target, anchor in inner_links(page):
        assert target.is_relative_to(ROOT), target
        assert target.exists(), target
        if anchor:
            assert anchor in code_host_anchors(target.read_text("utf-8")), f"{target}#{anchor}"


@for_each("page", IN_SITE)
def test_every_link_holds_in_the_site(page: Path) -> None:
    if page in REPLACED:
        return
    for target, anchor in inner_links(page):
        assert target.is_relative_to(DOCS), f"{target} is not part of the site"
        assert target.is_file(), f"{target}: the site shows no folders"
        if anchor:
            assert anchor in site_anchors(target.read_text("utf-8")), f"{target}#{anchor}"


@for_each("page", PAGES)
def test_page_needs_nothing_that_only_one_view_understands(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert ONE_VIEW_ONLY.findall(without_code(text)) == []
    assert "--8<--" not in text
    assert "```mermaid" not in text


@for_each("name", docs_pages.committed_pages())
def test_committed_reference_page_says_what_the_code_says(name: str) -> None:
    page = docs_pages.REFERENCE / f"{name}.md"
    assert page.read_text(encoding="utf-8") == docs_pages.committed_pages()[name], (
        "the reference is out of date: run .venv/bin/python scripts/docs_pages.py"
    )


def test_every_reference_page_is_made_from_the_code() -> None:
    made = {docs_pages.REFERENCE / f"{name}.md" for name in docs_pages.committed_pages()}
    assert set(docs_pages.REFERENCE.rglob("*.md")) == made


@for_each("name", docs_pages.pages())
def test_every_section_of_a_committed_reference_page_is_in_the_site(name: str) -> None:
    """So a link to it holds in both views."""
    headings = re.findall(r"^## (.+)$", docs_pages.committed_pages()[name], re.MULTILINE)
    site = docs_pages.pages()[name]
    for heading in headings:
        anchor = heading.lower().replace(" ", "-")
        assert f"\n## {heading}\n" in site or f"[](){{#{anchor}}}" in site


# `./plugins` in a command, and `scripts/demo` in a sentence; placeholders such as <name> are none.
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND_PATH = re.compile(r"(?<![\w./~-])\./([\w./-]+)")
NAMED_PATH = re.compile(r"(?<![\w./~-])((?:examples|plugins|scripts|clients)/[\w./-]+\w)")


@for_each("page", PAGES)
def test_paths_in_commands_exist_in_the_repository(page: Path) -> None:
    text = page.read_text("utf-8")
    named = [path for block in SHELL.findall(text) for path in COMMAND_PATH.findall(block)]
    named += NAMED_PATH.findall(text)
    assert [path for path in named if not (ROOT / path).exists()] == []
