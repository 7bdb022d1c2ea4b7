"""Make a document of one note in Markdown.

In: the text of a note, its path, what is known of its folder. Out: a `Document`. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoria.importers.notes.cleaning import cleaned, pieces, words_of_drawing
from memoria.importers.notes.front_matter import Warn, split_front_matter
from memoria.importers.notes.links import LINK_TO, NOWHERE, Links, unresolved
from memoria.importers.notes.markdown import MarkdownSection, read_markdown
from memoria.remember.parts import parts_of
from memoria.types import Document, Section

#: A section of a document may have 1 MB.
MAX_SECTION_CHARS = 200_000
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d)")
_WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,500})\]\]")
_LINK = re.compile(
    r"(!?)\[([^\[\]\n]{0,1000})\]\([ \t]*(?:<([^<>\n]*)>|([^()\s<>]+(?:\([^()\s<>]*\)[^()\s<>]*)*))"
    r"(?:[ \t]+[\"'][^\"'\n]*[\"'])?[ \t]*\)"
)
#: Between the memories that a bundle of memanto keeps in one file.
_ENTRY = "<!-- okf-entry -->"
_NOTE_ENDING = re.compile(r"\.(md|markdown)\Z", re.IGNORECASE)
#: Metadata of a document that are made of it, and not of its front matter.
_OWN = frozenset({"front_matter", "headings", "path", "source"})
_FILE = re.compile(r"\.[A-Za-z0-9]{2,5}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What the notes of a folder share.

    Attributes
    ----------
    links
        Finds the other notes.
    left_out
        Called with the reason for each part of a note that is left out.
    """

    source: str
    links: Links
    left_out: Callable[[str], None]


def notes_of(
    text: str, path: str, folder: Folder, *, warn: Warn, added_at: datetime | None = None
) -> Iterator[Document]:
    """Read a file: one note, but several where it is a part of an open Markdown bundle.

    The parameters are those of `note_of`. The pages of contents of such a bundle are left out.
    """
    for number, entry in enumerate(text.split(_ENTRY), start=1):
        name = path if number == 1 else f"{path}#{number}"
        note = note_of(entry.lstrip("\n"), name, folder, warn=warn, added_at=added_at)
        if note.metadata.get("type") == "index":
            folder.left_out("page of contents")
        else:
            yield note


def note_of(
    text: str, path: str, folder: Folder, *, warn: Warn, added_at: datetime | None = None
) -> Document:
    """Read a note.

    Its title is the one in its front matter, else the ``# `` heading that it begins with, else its
    name. A note that has neither a title nor a text gets no title: writers leave it out.

    Parameters
    ----------
    path
        Its path in the folder, with slashes.
    warn
        Called with what is wrong with its front matter.
    added_at
        When it was added to the folder; counts if the note does not say when it was written.

    Raises
    ------
    InvalidInputError
        A field is out of its range.
    """
    front, body = split_front_matter(text, warn)
    if "excalidraw-plugin" in front.others or path.lower().endswith(".excalidraw.md"):
        body = words_of_drawing(body, folder.left_out)
    sections, tags = read_markdown(cleaned(body, folder.left_out))
    name = _NOTE_ENDING.sub("", path.rpartition("/")[2])
    title = front.title or _heading_of(sections)
    if title is None and any(each.text.strip() or each.headings for each in sections):
        title = name
    aliases = dict.fromkeys((name, *front.aliases) if title else ())
    found = (folder.links.of_wiki_link(target, path) for target in front.links)
    return Document(
        id=path,
        title=title,
        aliases=tuple(alias for alias in aliases if alias != title),
        sections=[
            part for each in sections for part in _sections(each, path, title or name, folder)
        ],
        source=folder.source,
        tags=(*front.tags, *tags)[:256],
        links=tuple(dict.fromkeys(each for each in found if each is not None and each != path)),
        created_at=front.created_at or _day_of(name) or added_at,
        metadata=_metadata(front.others, path),
    )


def _metadata(others: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the metadata of a note; fields that memoria has, too, are kept apart."""
    own = {name: value for name, value in others.items() if name in _OWN}
    kept = {name: value for name, value in others.items() if name not in _OWN}
    return {**kept, "path": path, **({"front_matter": own} if own else {})}


def _sections(section: MarkdownSection, path: str, title: str, folder: Folder) -> Iterator[Section]:
    """Yield a section as a document has it; several if it is longer than one may be."""
    found = dict.fromkeys(_targets(section, path, folder))
    headings = section.headings[1:] if section.headings[:1] == (title,) else section.headings
    text = shown(section.text, path, folder)
    for part in [text] if len(text) <= MAX_SECTION_CHARS else parts_of(text, MAX_SECTION_CHARS):
        yield Section(text=part, headings=headings, links=tuple(found))


def _targets(section: MarkdownSection, path: str, folder: Folder) -> Iterator[str]:
    """Yield the notes that a section links to, and report the links that lead elsewhere."""
    for target in section.wiki_links:
        found = folder.links.of_wiki_link(target, path)
        name = target.partition("|")[0].partition("#")[0].strip()
        if found is not None and found != path:
            yield found
        elif found is None and name and not _FILE.search(name):
            folder.left_out(LINK_TO + NOWHERE)
    for target in section.links:
        found = folder.links.of_link(target, path)
        if found is not None and found != path:
            yield found
        elif found is None and (host := unresolved(target)) is not None:
            folder.left_out(LINK_TO + (host or NOWHERE))


def shown(text: str, path: str, folder: Folder) -> str:
    """Return a text as a reader sees it: without the targets of links to notes and pictures."""

    def wiki_link(match: re.Match[str]) -> str:
        target, _, alias = match[2].replace("\\|", "|").partition("|")
        name, _, heading = target.partition("#")
        if match[1] and _FILE.search(name) and not _NOTE_ENDING.search(name):
            folder.left_out("file")
            return ""
        name = _NOTE_ENDING.sub("", name.rpartition("/")[2]).strip()
        meant = " › ".join(filter(None, (name, heading.strip("#^ ").replace("#", " › "))))
        if not alias or match[1] or meant.casefold() in alias.casefold():
            return meant if match[1] else alias.strip() or meant
        return f"{alias.strip()} ({meant})"

    def link(match: re.Match[str]) -> str:
        if match[1]:
            folder.left_out("file")
            return match[2]
        target = match[3] or match[4]
        return match[0] if folder.links.of_link(target, path) is None else match[2]

    return "".join(
        _LINK.sub(link, _WIKI_LINK.sub(wiki_link, piece)) if kind == "text" else piece
        for kind, piece in pieces(text)
    ).strip("\n")


def _heading_of(sections: Sequence[MarkdownSection]) -> str | None:
    """Return the heading of the first level with which a note begins, if there is one."""
    if len(sections) > 1 and not sections[0].text and sections[1].level == 1:
        return sections[1].headings[0] or None
    return None


def _day_of(name: str) -> datetime | None:
    """Return the day that the name of a daily note begins with."""
    match = _DAY.match(name)
    try:
        return datetime.fromisoformat(match[1]) if match is not None else None
    except ValueError:
        return None
