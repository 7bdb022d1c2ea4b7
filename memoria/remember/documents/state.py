"""Read the stored state of documents that are to be written, and of what they name.

In: planned documents. Out: a `StoredDocuments`, and the texts that name a title. Reads only.
Queries: ``remember.documents``, ``remember.naming``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoria._support.foreign import json_map
from memoria.graph.vocabulary import documents_key, scope_key
from memoria.remember.documents.plan import MAX_TITLED, Planned, titles_of, without_code
from memoria.remember.documents.titles import bare_title, names_in
from memoria.remember.ids import topic_id
from memoria.store import Store
from memoria.store.queries import load

#: How many of the memories that may name a title are read, at most.
MAX_NAMING = 100
_TITLES_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocuments:
    """Stored state of the documents of one scope.

    Attributes
    ----------
    version
        Counts the writes of documents of the scope.
    titled
        Name of a title -> ids of the documents that have it, at most `MAX_TITLED`.
    titles
        Id of a document that is there -> the names of its titles.
    parts
        Id of a document that is there -> ids of its further parts.
    known
        Which of the documents that are linked to are there.
    """

    version: int
    titled: Mapping[str, Sequence[str]]
    titles: Mapping[str, frozenset[str]]
    parts: Mapping[str, Sequence[str]]
    known: frozenset[str]

    def renamed(self, documents: Iterable[Planned]) -> list[Planned]:
        """Return the documents that are new, or whose titles are others than those that stand."""
        return [each for each in documents if self.titles.get(each.head) != each.titles]


async def read_stored(
    store: Store, scope: str, documents: Sequence[Planned], *, kind: str
) -> StoredDocuments:
    """Read the stored state of documents of a kind, and of what they name; one query."""
    names = {name for each in documents for named in each.named.values() for name in named}
    names.update(name for each in documents for name in each.titles)
    by_id = {topic_id(name): name for name in names}
    parameters = {
        "heads": sorted(each.head for each in documents),
        "key": documents_key(scope),
        "kind": kind,
        "limit": MAX_TITLED + 1,  # one of them may be the document itself
        "scope": scope,
        "titles": sorted(by_id),
        "wanted": sorted({target for each in documents for _, target in each.links}),
    }
    row = (await store.run(load("remember.documents"), parameters))[0]
    return StoredDocuments(
        version=row["version"],
        titled={by_id[id_]: heads for id_, heads in row["titled"]},
        titles={id_: _titles_in(metadata) for id_, metadata, _ in row["stored"]},
        parts={id_: parts for id_, _, parts in row["stored"]},
        known=frozenset(row["known"]),
    )


def _titles_in(metadata: str | None) -> frozenset[str]:
    """Return the names of the titles that a stored document has."""
    found = json_map(metadata)
    try:
        return titles_of(found.get("title"), found.get("aliases") or ())
    except (AttributeError, TypeError, ValueError):
        return frozenset()


async def texts_naming(
    store: Store, scope: str, titles: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Find the memories that name titles.

    Parameters
    ----------
    titles
        Name of a title -> the title.

    Returns
    -------
    dict
        Name of a title -> ids of memories, sorted; of at most `MAX_NAMING` that have its words.
    """
    rows = [
        {"name": name, "lucene": _phrase(title, scope)} for name, title in sorted(titles.items())
    ]
    naming: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(rows), _TITLES_AT_ONCE):
        parameters = {
            "limit": MAX_NAMING,
            "rows": rows[start : start + _TITLES_AT_ONCE],
            "scope": scope,
        }
        found = (await store.run(load("remember.naming"), parameters))[0]["found"]
        texts = {id_: text for _, pairs in found for id_, text in pairs}
        names = {id_: names_in(without_code(text)) for id_, text in texts.items()}
        for name, pairs in found:
            naming[name] = tuple(sorted(id_ for id_, _ in pairs if name in names[id_]))
    return naming


def _phrase(title: str, scope: str) -> str:
    r"""Return a query for Lucene: the words of a title in a row, or with a possessive ending.

    >>> _phrase("Peter Pan (1924 film)", "s").partition(" ")[2]
    '+text:("Peter Pan" "Peter Pan\'s")'
    """
    words = bare_title(title).replace("\\", "\\\\").replace('"', '\\"')
    return f'+scope_key:{scope_key(scope)} +text:("{words}" "{words}\'s")'


def titles_by_name(documents: Iterable[Planned]) -> dict[str, str]:
    """Return the titles of documents by their names."""
    return {
        name: title
        for each in documents
        for title in filter(None, (each.document.title, *each.document.aliases))
        for name in titles_of(title, ())
    }
