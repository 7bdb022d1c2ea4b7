"""What is known of a server and its database, and which queries it can run.

In: a version, and the indexes that there are. Out: `ServerFacts`. Touches nothing;
`memoria.graph.server` asks the server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memoria.store.queries import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server is, and what its database has.

    Attributes
    ----------
    version, edition
        Of the server, such as ``2026.08.1`` and ``community``.
    vector_dialect
        ``search`` where the vector index can filter by scope (Neo4j 2026 and later, index set
        up with its scope), else ``procedure``.
    dimensions
        Size of the vectors that the vector index holds; None without such an index.
    embedder
        Name of the embedder recorded at set-up, or None.
    indexes
        Index name -> state: ``ONLINE``, ``POPULATING``, ``FAILED``; or ``OTHER`` for an index
        that has one of memoria's names and covers something else.
    """

    version: str
    edition: str
    vector_dialect: Literal["search", "procedure"]
    dimensions: int | None
    embedder: str | None
    indexes: Mapping[str, str]

    def can_run(self, query: Query) -> bool:
        """Whether the server has what a query needs, as its header says."""
        match query.needs:
            case "2026":
                return is_2026_or_later(self.version)
            case "search":
                return self.vector_dialect == "search"
            case "":
                return True


def is_2026_or_later(version: str) -> bool:
    """Whether a server of this version has what came after 5.26, such as ``SEARCH``."""
    year = re.match(r"\d+", version)
    return year is not None and int(year[0]) >= 2026
