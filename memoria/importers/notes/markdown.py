"""Read Markdown: its sections, what they link to, its tags.

In: the text of a note, without front matter. Out: `MarkdownSection`s and tags. Touches nothing.
Wiki links and tags are those of Obsidian.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MAX_WIKI_LINK_CHARS = 500
#: As in Obsidian: letters, digits, `_`, `-`, `/`, and not digits alone.
_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d])([\w/-]{1,200})(?![\w/-])")
_NOTE = re.compile(r"\.(?:md|markdown)(?:#|\Z)", re.IGNORECASE)
#: In the place of what is not text, so that no tag begins or ends there.
_OTHER = "\ufffc"


@dataclass(slots=True)
class MarkdownSection:
    """What stands below one heading, up to the next.

    Attributes
    ----------
    headings
        The headings above it, the outermost first.
    text
        Its Markdown, without the heading.
    wiki_links
        Targets of its wiki links and embeds, such as ``Note#Heading|alias``.
    links
        Targets of its other links, and of embedded notes, as Markdown gives them: percent-encoded.
    level
        How many number signs its heading has; 0 before the first heading.
    """

    headings: tuple[str, ...] = ()
    level: int = 0
    text: str = ""
    wiki_links: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


def read_markdown(text: str) -> tuple[list[MarkdownSection], list[str]]:
    r"""Return the sections of a note, and its tags, each once.

    Examples
    --------
    >>> sections, tags = read_markdown("# Bread\nSee [[Oven|the oven]]. #baking")
    >>> sections[1].headings, sections[1].wiki_links, tags
    (('Bread',), ['Oven|the oven'], ['baking'])
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    section = MarkdownSection()
    sections, tags = [section], dict[str, None]()
    levels: list[tuple[int, str]] = []
    first = 0
    for place, token in enumerate(tokens := _parser().parse(text)):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            section.text = _body(lines[first : token.map[0]])
            first = token.map[1]
            depth = int(token.tag[1:])
            heading = _plain(tokens[place + 1].children or ())
            levels = [*(pair for pair in levels if pair[0] < depth), (depth, heading)]
            section = MarkdownSection(headings=tuple(name for _, name in levels), level=depth)
            sections.append(section)
        elif token.type == "inline":
            _collect(section, token.children or ())
            tags.update(dict.fromkeys(_tags(token.children or ())))
    section.text = _body(lines[first:])
    return sections, list(tags)


def _body(lines: Sequence[str]) -> str:
    """Return lines without the blank ones at both ends."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", "\n".join(lines)).rstrip()


def _collect(section: MarkdownSection, children: Sequence[Token]) -> None:
    """Add the links of a piece of text to its section."""
    for child in children:
        if child.type == "wiki_link":
            section.wiki_links.append(child.content)
        elif child.type == "link_open":
            section.links.append(str(child.attrs.get("href", "")))
        elif child.type == "image" and _NOTE.search(source := str(child.attrs.get("src", ""))):
            section.links.append(source)


def _plain(children: Sequence[Token]) -> str:
    """Return what a reader sees of a heading."""
    parts = []
    for child in children:
        if child.type == "wiki_link":
            target, _, alias = child.content.partition("|")
            parts.append(alias or target)
        else:
            parts.append(" " if child.type.endswith("break") else child.content)
    return " ".join("".join(parts).split())


def _tags(children: Sequence[Token]) -> Iterator[str]:
    text = "".join(
        child.content if child.type == "text" else "\n" if child.type.endswith("break") else _OTHER
        for child in children
    )
    yield from (match[1].strip("/-") for match in _TAG.finditer(text))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    return parser


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read ``[[target]]``, ``[[target|alias]]`` or ``![[target]]`` as one token."""
    begin = state.pos + (state.src[state.pos] == "!")
    if not state.src.startswith("[[", begin):
        return False
    end = state.src.find("]]", begin + 2, min(state.posMax, begin + 2 + MAX_WIKI_LINK_CHARS))
    inner = state.src[begin + 2 : end]
    if end < 0 or "\n" in inner or "[" in inner:
        return False
    if not silent:
        # In a table, the mark before the alias is escaped.
        state.push("wiki_link", "", 0).content = inner.replace("\\|", "|")
    state.pos = end + 2
    return True
