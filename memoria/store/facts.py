"""Facts about a server and its database, and which queries the server can run.

In: the version of a server and the indexes of its database. Out: `ServerFacts`. Touches nothing;
`memoria.graph.server_facts` asks the server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memoria.store.queries import Query, vector_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """The generation of vectors that is not live, while ``memoria reembed`` is under way.

    Attributes
    ----------
    state
        ``filling``: it is being made, to become live. ``sweeping``: it was live until a moment ago,
        and vectors that writers still store there are made again. ``kept``: it was live, and
        everything in it is made again. ``dropping``: it is being deleted.
    generation
        Its number, >= 1.
    embedder, dimensions
        Name of its embedder, and size of its vectors; None if they were never recorded.
    """

    state: Literal["filling", "sweeping", "kept", "dropping"]
    generation: int
    embedder: str | None
    dimensions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server is, and which vectors and indexes its database has.

    Attributes
    ----------
    version, edition
        Version and edition of the server, such as ``2026.08.1`` and ``community``.
    vector_dialect
        ``search`` if the vector index can filter by scope (Neo4j 2026 or later, and an index that
        was created with the scope), else ``procedure``.
    dimensions
        Size of the vectors that the live vector index holds; None without such an index.
    embedder
        Name of the embedder recorded at set-up; None if no embedder was recorded.
    indexes
        Index name -> state: ``ONLINE``, ``POPULATING``, ``FAILED``; or ``OTHER`` for an index
        that has one of memoria's names but covers something else.
    generation
        Number of the generation of vectors that is live, >= 1.
    reembedding
        The other generation, if there is one.
    schema_version
        Version of the schema that the set-up recorded; None if it recorded none.
    """

    version: str
    edition: str
    vector_dialect: Literal["search", "procedure"]
    dimensions: int | None
    embedder: str | None
    indexes: Mapping[str, str]
    generation: int = 1
    reembedding: Reembedding | None = None
    schema_version: int | None = None

    @property
    def vector_index(self) -> str:
        """Name of the live vector index."""
        return vector_index(self.generation)

    def can_run(self, query: Query) -> bool:
        """Tell whether the server meets the needs that the header of a query states."""
        match query.needs:
            case "2026":
                return is_2026_or_later(self.version)
            case "search":
                return self.vector_dialect == "search"
            case "":
                return True


def is_2026_or_later(version: str) -> bool:
    """Tell whether a server of this version has the features after 5.26, such as ``SEARCH``."""
    year = re.match(r"\d+", version)
    return year is not None and int(year[0]) >= 2026
