"""Plan what documents become: memories, topics, edges.

In: documents, and the stored state of those that they name and link to. Out: memories and
relations. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memoria.graph.vocabulary import LINKS_TO, MENTIONS, NAMES, NEXT, TITLED, whole_id
from memoria.remember.documents.config import DocumentConfig
from memoria.remember.documents.cutting import Part, cut
from memoria.remember.documents.titles import names_in, title_name
from memoria.remember.ids import document_id
from memoria.remember.mentions import Extractor, Mention, mentions_in
from memoria.remember.topics import topic_of
from memoria.types import Document, Memory, Relation

#: How many documents of one title a text that names it is joined to, at most.
MAX_TITLED = 5
_FENCE = re.compile(r"^[ \t>]*(?P<marks>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A document, and what it says.

    Attributes
    ----------
    document, parts
        The document, and what it is cut into; at least one part.
    titles
        The names of its titles.
    named
        Id of a part -> names in it that may be titles of others.
    mentions
        Id of a part -> what it mentions.
    """

    document: Document
    parts: Sequence[Part]
    titles: frozenset[str]
    named: Mapping[str, frozenset[str]]
    mentions: Mapping[str, Sequence[Mention]]

    @property
    def head(self) -> str:
        """Return the id of the document: that of its first part."""
        return self.parts[0].id

    @property
    def links(self) -> Iterator[tuple[str, str]]:
        """Yield the id of a part, and that of a document that it links to."""
        for part in self.parts:
            for link in part.links:
                yield part.id, document_id(self.document.source, link)

    def memories(self, kind: str) -> Iterator[Memory]:
        """Yield the memories of the parts."""
        document = self.document
        more = {
            "title": document.title,
            "aliases": list(document.aliases),
            "source": document.source,
        }
        for part in self.parts:
            headings = {"headings": list(part.headings)} if part.headings else {}
            yield Memory(
                id=part.id,
                kind=kind,
                text=part.text,
                tags=document.tags,
                created_at=document.created_at,
                valid_until=document.valid_until,
                metadata={
                    **document.metadata,
                    **{name: value for name, value in more.items() if value},
                    **headings,
                },
            )


def plan_document(
    document: Document, *, extractor: Extractor | None, config: DocumentConfig
) -> Planned | None:
    """Read a document; None if it says nothing."""
    parts = cut(document, config.max_chars)
    if not parts:
        return None
    titles = titles_of(document.title, document.aliases)
    said = {part.id: without_code(part.text) for part in parts}
    return Planned(
        document=document,
        parts=parts,
        titles=titles,
        named={id_: frozenset(names_in(text) - titles) for id_, text in said.items()},
        mentions={
            id_: mentions_in(text, extractor) if extractor is not None else ()
            for id_, text in said.items()
        },
    )


def without_code(text: str) -> str:
    r"""Return a text without its blocks of code: names in them are not mentions.

    A text that ends within a block, or begins in one, stays as it is.

    >>> without_code("Ask Ida.\n```python\nTom = 1\n```\nOr Lea.")
    'Ask Ida.\n\nOr Lea.'
    """
    kept, end = list[str](), 0
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence["marks"].startswith(opening["marks"]) and not fence["info"].strip():
            kept.append(text[end : opening.start()])
            opening, end = None, fence.end()
    return text if opening is not None else "".join([*kept, text[end:]])


def titles_of(title: str | None, aliases: Iterable[str]) -> frozenset[str]:
    """Return the names of titles."""
    names = (title_name(each) for each in (title, *aliases) if each)
    return frozenset(name for name in names if name is not None)


def titled_by(
    documents: Iterable[Planned], stored: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the documents of each title: those that are to be written, and those that stand.

    Parameters
    ----------
    stored
        Name of a title -> ids of the documents that have it in the graph.
    """
    documents = list(documents)
    heads = {planned.head for planned in documents}
    titled = {name: set(found) - heads for name, found in stored.items()}
    for planned in documents:
        for name in planned.titles:
            titled.setdefault(name, set()).add(planned.head)
    return {name: sorted(found) for name, found in titled.items() if found}


@dataclass(slots=True)
class Edges:
    """The topics and edges of some documents.

    Attributes
    ----------
    topics
        Id -> topic, as a memory.
    relations
        Source, target, relation -> the edge.
    """

    config: DocumentConfig
    topics: dict[str, Memory] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], Relation] = field(default_factory=dict)

    def add(self, planned: Planned, titled: Mapping[str, Sequence[str]]) -> None:
        """Add the edges of a document, but for its links.

        Parameters
        ----------
        titled
            Name of a title -> ids of the documents that have it.
        """
        config, tags = self.config, planned.document.tags
        for part, following in zip(planned.parts, planned.parts[1:], strict=False):
            self.join(part.id, following.id, NEXT, config.next_weight, tags)
        for name in sorted(planned.titles):
            title = Mention(name=name, kind="phrase", weight=config.name_weight)
            self.join(self._topic(title), planned.head, TITLED, title.weight, tags)
        for part in planned.parts:
            for mention in planned.mentions[part.id]:
                topic = self._topic(mention)
                if (topic, planned.head, TITLED) not in self.relations or part.id != planned.head:
                    self.join(part.id, topic, MENTIONS, mention.weight, tags)
            for name in sorted(planned.named[part.id] & titled.keys()):
                for head in [each for each in titled[name] if each != planned.head][:MAX_TITLED]:
                    self.join(part.id, head, NAMES, config.name_weight, tags)

    def add_naming(self, planned: Planned, naming: Sequence[str], titled: Sequence[str]) -> None:
        """Add the edges from memories that named a title before its document came.

        Parameters
        ----------
        naming
            Ids of the memories.
        titled
            Ids of the documents of this title, which begin with it and mean themselves.
        """
        for id_ in naming:
            if whole_id(id_) not in titled:
                self.join(id_, planned.head, NAMES, self.config.name_weight, planned.document.tags)

    def add_links(self, documents: Iterable[Planned], known: Collection[str]) -> list[Relation]:
        """Add the links to documents that are there; return the others."""
        documents = list(documents)
        there = {*known, *(planned.head for planned in documents)}
        late = Edges(self.config)
        for planned in documents:
            for part, target in planned.links:
                edges = self if target in there else late
                edges.join(part, target, LINKS_TO, self.config.link_weight, planned.document.tags)
        return list(late.relations.values())

    def join(
        self, source: str, target: str, relation: str, weight: float, tags: Sequence[str] = ()
    ) -> None:
        """Add an edge, unless it is one from a memory to itself, or of weight 0."""
        if source != target and weight > 0:
            self.relations[source, target, relation] = Relation(
                source=source, target=target, relation=relation, weight=weight, tags=tags
            )

    def _topic(self, mention: Mention) -> str:
        topic = topic_of(mention, self.topics)
        self.topics[topic.id] = topic
        return topic.id
