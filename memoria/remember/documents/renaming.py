"""Find what was written under the ids that documents had before; see `early_document_id`.

In: planned documents; what is stored of a source. Out: the query that gives them the ids that they
have now, with its parameters; ids. Reads only. Query: ``remember.ids``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memoria._support.foreign import json_map
from memoria.graph.vocabulary import clock_key
from memoria.remember.documents.plan import Planned
from memoria.remember.ids import document_id, document_prefix, early_document_id
from memoria.store import Call, Store
from memoria.store.queries import load
from memoria.types import Document, metadata_pairs


def renaming(scope: str, documents: Iterable[Planned], kind: str) -> Call | None:
    """Return the call of ``remember.rename_documents``; None if no document had another id."""
    rows = {
        (early, now, source)
        for planned in documents
        for name in _names(planned)
        for early, now, source in _moved(planned.document, name)
    }
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: row[:2])
    return load("remember.rename_documents"), {
        "key": clock_key(scope),
        "kind": kind,
        "rows": [list(row) for row in ordered],
        "scope": scope,
    }


def _names(planned: Planned) -> Iterator[str]:
    """Yield the id of a document, and those of the documents that it links to."""
    yield planned.document.id
    for part in planned.parts:
        yield from part.links


def _moved(document: Document, name: str) -> Iterator[tuple[str, str, str | None]]:
    early, now = early_document_id(document.source, name), document_id(document.source, name)
    if early != now:
        own = document.source or document.metadata.get("source")
        yield early, now, None if own is None else metadata_pairs({"source": own})[0]


async def ids_of(store: Store, scope: str, source: str, kind: str) -> list[str]:
    """Return the ids of the memories of a source's documents.

    A document that was not written since has an id of the earlier form. Other sources may have ids
    that begin in the same way, so the metadata decides.
    """
    found: list[str] = []
    for prefix in sorted({document_prefix(source), early_document_id(source, "")}):
        parameters = {"kind": kind, "prefix": prefix, "scope": scope}
        rows: Sequence[tuple[str, str | None]]
        rows = (await store.run(load("remember.ids"), parameters))[0]["rows"]
        found += [id_ for id_, stored in rows if json_map(stored).get("source") == source]
    return found
