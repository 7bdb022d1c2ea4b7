"""Cut a document into parts: memories that can be read by themselves.

In: a document. Out: its `Part`s, in their order. Touches nothing.

A document that is short enough is one part. A longer one has a part for each section, and several
for a long section. Every part begins with a line that says where it stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoria.remember.ids import document_id, section_id
from memoria.remember.parts import parts_of
from memoria.types import Document, Section

#: Stands between title and headings.
_BELOW = " › "


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a document.

    Attributes
    ----------
    id
        Id of its memory; that of the first part is the id of the document.
    text
        Its text, after a line with title and headings.
    headings
        The headings above it; none in a document that is one part.
    links
        What it links to, as in `Document`.
    """

    id: str
    text: str
    headings: tuple[str, ...]
    links: tuple[str, ...]


def cut(document: Document, max_chars: int) -> list[Part]:
    """Return the parts of a document; none if it has neither title nor text.

    Parameters
    ----------
    max_chars
        Length of the longest part, without its first line.

    Notes
    -----
    The id of a part is made of its headings: what is added elsewhere in a document does not change
    it, so the part keeps its vector and what was learned of it.
    """
    sections = document.sections or (Section(text=document.text),)
    whole = _whole(sections)
    head = document_id(document.source, document.id)
    if len(whole) <= max_chars:
        text = _under(document.title, (), whole)
        linked = [link for each in sections for link in each.links]
        return [_part(head, text, (), [*document.links, *linked])] if text else []
    parts: list[Part] = []
    numbers: Counter[str] = Counter()
    for section in sections:
        headings = tuple(section.headings)
        for text in parts_of(section.text, max_chars):
            numbers[name := "/".join(headings)] += 1
            id_ = section_id(head, name, numbers[name]) if parts else head
            links = [*(() if parts else document.links), *section.links]
            parts.append(_part(id_, _under(document.title, headings, text), headings, links))
    return parts


def _part(id_: str, text: str, headings: tuple[str, ...], links: Sequence[str]) -> Part:
    return Part(id=id_, text=text, headings=headings, links=tuple(dict.fromkeys(links)))


def _whole(sections: Sequence[Section]) -> str:
    """Return the text of all sections, with their headings."""
    return "\n\n".join(filter(None, ("\n".join(_lines(each)) for each in sections))).strip()


def _lines(section: Section) -> Iterator[str]:
    if section.headings:
        yield f"{'#' * min(len(section.headings), 6)} {section.headings[-1]}"
    if section.text:
        yield section.text


def _under(title: str | None, headings: Sequence[str], text: str) -> str:
    """Return a text below the line that says where it stands."""
    line = _BELOW.join(filter(None, (title, *headings)))
    return "\n".join(filter(None, (line, text)))
