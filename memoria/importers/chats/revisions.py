"""Documents that were written in the course of a conversation: canvases, artifacts.

In: the calls of a program that wrote or edited them, in their order. Out: `Document`s, and the
edges from the messages that wrote them. Touches nothing.

Each revision is a document, which was valid until the next one was written. Only the last has a
title, so that texts which name the title are joined to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memoria.graph.vocabulary import LINKS_TO
from memoria.remember.ids import document_id, message_id
from memoria.types import Conversation, Document, Item, Message, Relation, Section

LINK_WEIGHT = 1.0
#: When a revision ended that nobody dated: it is not the present one.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
#: Parts of a pattern that stand for any text.
_FLAGS = re.compile(r"\(\?[a-z]+\)")
_ANY = re.compile(r"\(?(?:\.\*\??|\[\\s\\S\]\*\??|\[\\S\\s\]\*\??)\)?")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])|\\(n|t)")
_SPECIAL = re.compile(r"(?<!\\)[\[\](){}+*?|]|\\[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A revision of a document.

    Attributes
    ----------
    name
        Names the document within its conversation.
    node
        Which message wrote it.
    """

    name: str
    title: str | None
    text: str
    node: str
    created_at: datetime | None


def with_documents(
    conversation: Conversation,
    revisions: Sequence[Revision],
    parents: Mapping[str, str | None],
    made: Mapping[str, Sequence[Message]],
) -> Iterator[Item]:
    """Yield a conversation, if it has messages, then its documents, then the edges to them.

    Parameters
    ----------
    parents, made
        The parent of each node, and the messages of those that have any.
    """
    if conversation.messages:
        yield conversation
    names = (conversation.source, conversation.id)
    said = {message.id for message in conversation.messages if message.role != "system"}
    edges = []
    for revision, document in _documents(conversation, revisions):
        yield document
        node = revision.node
        for _ in range(len(parents)):  # they may lead in a circle
            if node not in made and (above := parents.get(node)) is not None:
                node = above
        if node in made and made[node][0].id in said:
            edges.append(
                Relation(
                    source=message_id(*names, str(made[node][0].id)),
                    target=document_id(conversation.source, document.id),
                    relation=LINKS_TO,
                    weight=LINK_WEIGHT,
                )
            )
    yield from edges


def _documents(
    conversation: Conversation, revisions: Sequence[Revision]
) -> Iterator[tuple[Revision, Document]]:
    by_name: dict[str, list[Revision]] = {}
    for revision in revisions:
        known = by_name.setdefault(revision.name, [])
        if revision.text.strip() and (not known or known[-1].text != revision.text):
            known.append(revision)
    for name, found in by_name.items():
        for number, (revision, later) in enumerate(
            zip(found, [*found[1:], None], strict=True), start=1
        ):
            id_ = f"{conversation.id}/{name}" + (f"@{number}" if number > 1 else "")
            title = revision.title or found[0].title or conversation.title or name
            yield (
                revision,
                Document(
                    id=id_,
                    title=title if later is None else None,
                    sections=sections_of(revision.text, () if later is None else (title,)),
                    source=conversation.source,
                    created_at=revision.created_at,
                    valid_until=None if later is None else later.created_at or _LONG_AGO,
                    metadata={"conversation": conversation.id, "revision": number},
                ),
            )


def sections_of(text: str, headings: tuple[str, ...] = ()) -> list[Section]:
    """Return a text as sections that are not too long."""
    size = 200_000
    starts = range(0, len(text), size)
    return [Section(text=text[start : start + size], headings=headings) for start in starts]


def replaced(text: str, old: str, new: str, *, every: bool = False) -> str | None:
    """Replace a text within a text; None if it is not there."""
    if not old or old not in text:
        return None
    return text.replace(old, new) if every else text.replace(old, new, 1)


def replaced_by_pattern(text: str, pattern: str, new: str, *, every: bool) -> str | None:
    r"""Replace what matches a pattern of literal texts with gaps; None if it is another pattern.

    Patterns of others are never run as regular expressions, which may take for ever.

    >>> replaced_by_pattern("a b. c", r"b\.", "x", every=False)
    'a x c'
    >>> replaced_by_pattern("a b. c", "a.*b", "x", every=True)
    'x. c'
    >>> replaced_by_pattern("a", "a+", "", every=True)
    """
    pieces = _ANY.split(_FLAGS.sub("", pattern, count=1).removeprefix("^").removesuffix("$"))
    if any(_SPECIAL.search(_ESCAPED.sub("", piece)) for piece in pieces):
        return None
    literals = [_ESCAPED.sub(_unescaped, piece) for piece in pieces]
    if not any(literals):
        return new
    if len(literals) == 1:
        return replaced(text, literals[0], new, every=every)
    place, begin = 0, -1
    for literal in literals:
        found = text.find(literal, place)
        if found < 0:
            return None
        begin = found if begin < 0 else begin
        place = found + len(literal)
    end = place if literals[-1] else len(text)
    return text[: begin if literals[0] else 0] + new + text[end:]


def _unescaped(match: re.Match[str]) -> str:
    return match[1] or {"n": "\n", "t": "\t"}[match[2]]
