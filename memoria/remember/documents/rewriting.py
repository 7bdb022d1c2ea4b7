"""Make room for documents that are written again.

In: planned documents, what is stored of them, the edges that they will have. Out: the parameters
of the query that deletes the edges that they will no longer have. Touches nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from memoria.graph.vocabulary import LINKS_TO, MENTIONS, NAMES, NEXT
from memoria.remember.documents.plan import Edges, Planned
from memoria.remember.documents.state import StoredDocuments
from memoria.remember.ids import topic_id

_OWN = [NEXT, MENTIONS, NAMES, LINKS_TO]


def rewriting(
    scope: str, edges: Edges, documents: Sequence[Planned], stored: StoredDocuments
) -> dict[str, Any]:
    """Return the parameters of ``remember.rewrite``, which runs before anything is written."""
    keep: defaultdict[str, list[list[str]]] = defaultdict(list)
    for source, target, relation in edges.relations:
        keep[source].append([relation, target])
    there = [each for each in documents if each.head in stored.titles]
    return {
        "parts": [{"id": p.id, "keep": keep[p.id]} for each in there for p in each.parts],
        "relations": _OWN,
        "renamed": [
            {"id": each.head, "keep": [topic_id(name) for name in sorted(each.titles)]}
            for each in stored.renamed(there)
        ],
        "scope": scope,
        "stay": sorted(edges.topics),
    }
