"""Put documents together that are written in one transaction.

In: documents. Out: groups of them. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.types import Document

#: Documents and characters in one transaction, at most; a longer document has one to itself.
MAX_DOCUMENTS = 128
MAX_CHARS = 500_000


def groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Put documents together that fit into one transaction; no two of a group are the same."""
    group: dict[tuple[str, str], Document] = {}
    held = 0
    for document in documents:
        if not isinstance(document, Document):
            raise InvalidInputError(
                f"documents must contain Document, got {kind_of(document)}", field="documents"
            )
        name = (document.source, document.id)
        size = len(document.text) + sum(len(section.text) for section in document.sections)
        if group and (name in group or len(group) == MAX_DOCUMENTS or held + size > MAX_CHARS):
            yield list(group.values())
            group, held = {}, 0
        group[name] = document
        held += size
    if group:
        yield list(group.values())
