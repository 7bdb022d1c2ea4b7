"""Documents to be remembered: notes, articles, pages.

In: values from a caller or an importer, checked once when they are made. Out: frozen data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memoria._support import checks
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.types.conversation import Conversation
from memoria.types.history import aware_time
from memoria.types.memory import Memory, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a document: the text below one heading, up to the next.

    Attributes
    ----------
    text
        Its text, without the heading; up to 1 MB.
    headings
        The headings above it, the outermost first; none for text before the first heading.
    links
        Ids of documents of the same source that it links to.
    """

    text: str
    headings: Sequence[str] = ()
    links: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", checks.mended_text(self.text, "text"))
        headings = _strings(self.headings, "headings", checks.mended_text)
        object.__setattr__(self, "headings", headings)
        object.__setattr__(self, "links", _strings(self.links, "links"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document: a title, and a text or sections.

    Attributes
    ----------
    id
        Identifier within its source.
    title
        Its title, by which other texts name it; None: none does. Text in parentheses, as in
        ``Mercury (planet)``, tells it from others and need not be named.
    text
        Its text, if it has no sections; up to 1 MB.
    sections
        Its sections, in their order, instead of a text.
    source
        Where it comes from, such as ``notes``: the first part of every id that it gets.
    aliases
        Other titles by which texts name it.
    tags
        Tags of its memories and of their edges.
    links
        Ids of documents of the same source that it links to, besides those of its sections.
    created_at
        When it was written; an aware datetime, or a naive one, which counts as UTC. None: unknown.
    valid_until
        When a later revision took its place, likewise; None: it is the last one.
    metadata
        Anything else to be kept with its memories.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the error names the field.
    """

    id: str
    title: str | None = None
    text: str = ""
    sections: Sequence[Section] = ()
    source: str = ""
    aliases: Sequence[str] = ()
    tags: Sequence[str] = ()
    links: Sequence[str] = ()
    created_at: datetime | None = None
    valid_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.check_id(self.id)
        if self.title is not None:
            title = checks.mended_text(self.title, "title", max_bytes=checks.MAX_ID_BYTES)
            object.__setattr__(self, "title", title)
        object.__setattr__(self, "text", checks.mended_text(self.text, "text"))
        checks.check_string(self.source, "source", max_bytes=checks.MAX_ID_BYTES)
        object.__setattr__(self, "sections", self._checked_sections())
        object.__setattr__(self, "aliases", _strings(self.aliases, "aliases"))
        object.__setattr__(self, "tags", checks.check_strings(self.tags, "tags"))
        object.__setattr__(self, "links", _strings(self.links, "links"))
        for name in ("created_at", "valid_until"):
            if (time := getattr(self, name)) is not None:
                object.__setattr__(self, name, aware_time(time, name))
        object.__setattr__(self, "metadata", checks.check_json_map(self.metadata, "metadata"))

    def _checked_sections(self) -> tuple[Section, ...]:
        sections = checks.check_each(self.sections, Section, "sections")
        if sections and self.text:
            raise InvalidInputError(
                "a document has a text or sections, not both: make the text a section",
                field="sections",
            )
        return sections


#: An item that a reader of foreign files yields. A relation comes after both of its ends.
Item = Conversation | Document | Memory | Relation


def _strings(
    values: object, name: str, checked: Callable[[object, str], str] = checks.check_string
) -> tuple[str, ...]:
    """Return a list of strings in its order; raise unless it is one."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidInputError(
            f"{name} must be a list of strings, got {kind_of(values)}", field=name
        )
    return tuple(checked(value, name) for value in values)
