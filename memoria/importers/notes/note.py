"""Make a document of one note in Markdown.

In: the text of a note, its path, when its file was last changed. Out: a `Document`. Touches
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from memoria.importers.notes.front_matter import split_front_matter
from memoria.importers.notes.links import Links
from memoria.importers.notes.markdown import MarkdownSection, read_markdown
from memoria.types import Document, Section

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d)")


def note_of(text: str, path: str, *, source: str, links: Links, changed_at: datetime) -> Document:
    """Read a note.

    Its title is the one in its front matter, else the heading that it begins with, else its name.

    Parameters
    ----------
    path
        Its path in the folder, with slashes.
    links
        Finds the other notes.

    Raises
    ------
    InvalidInputError
        The front matter can't be read, or a field is out of its range.
    """
    front, body = split_front_matter(text)
    sections, tags = read_markdown(body)
    name = path.rpartition("/")[2].rpartition(".")[0]
    title = front.title or _heading_of(sections) or name
    aliases = dict.fromkeys((name, *front.aliases))
    return Document(
        id=path,
        title=title,
        aliases=tuple(alias for alias in aliases if alias != title),
        sections=[_section(section, path, title, links) for section in sections],
        source=source,
        tags=(*front.tags, *tags),
        created_at=front.created_at or _day_of(name) or changed_at,
        metadata={**front.others, "path": path},
    )


def _section(section: MarkdownSection, path: str, title: str, links: Links) -> Section:
    found = [links.of_wiki_link(target, path) for target in section.wiki_links]
    found += [links.of_link(target, path) for target in section.links]
    targets = dict.fromkeys(target for target in found if target is not None and target != path)
    headings = section.headings[1:] if section.headings[:1] == (title,) else section.headings
    return Section(text=section.text, headings=headings, links=tuple(targets))


def _heading_of(sections: Sequence[MarkdownSection]) -> str | None:
    """Return the heading with which a note begins, if there is one."""
    if len(sections) > 1 and not sections[0].text and len(sections[1].headings) == 1:
        return sections[1].headings[0] or None
    return None


def _day_of(name: str) -> datetime | None:
    """Return the day that the name of a daily note begins with."""
    match = _DAY.match(name)
    try:
        return datetime.fromisoformat(match[1]) if match is not None else None
    except ValueError:
        return None
