"""neo4j-graphrag: a retriever for its ``GraphRAG``, and for tools made of retrievers.

In: questions. Out: results with the texts of memories. Reads only. Needs the extra
``neo4j-graphrag``.
"""

from __future__ import annotations

from collections.abc import Sequence

import neo4j

import memoria.sync
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.integrations._calls import Calls, missing
from memoria.integrations._found import find, metadata_of
from memoria.recall.call import QueryTags

try:
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as exc:
    raise missing("neo4j-graphrag", exc) from exc

__all__ = ["MemoriaRetriever"]


class MemoriaRetriever(Retriever):
    """Returns the best memories of a recall, best first.

    Parameters
    ----------
    retriever
        A retriever of `memoria.sync`, as neo4j-graphrag does not await. It has a connection of its
        own; the retrievers of neo4j-graphrag may use the same database through theirs.
    query_tags
        As in `GraphRetriever.recall`.
    also_read
        Further scopes that are read, instead of those that the retriever also reads; None for
        these.

    Raises
    ------
    InvalidInputError
        ``retriever`` is not one of `memoria.sync`.
    """

    def __init__(
        self,
        retriever: memoria.sync.GraphRetriever,
        *,
        query_tags: QueryTags = (),
        also_read: Sequence[str] | None = None,
    ) -> None:
        # Without the constructor of the base class, which takes a driver and asks its server.
        if not isinstance(retriever, memoria.sync.GraphRetriever):
            raise InvalidInputError(
                f"retriever must be of memoria.sync.connect, got {kind_of(retriever)}",
                field="retriever",
            )
        self._calls = Calls(retriever, also_read)
        self._query_tags = query_tags

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        """Recall for the words of a question.

        Parameters
        ----------
        query_text
            The user's words.
        top_k
            Number of results, 1 to 1,000. There are fewer only if fewer memories were found.

        Returns
        -------
        RawSearchResult
            Records of ``content`` and ``metadata``, and as metadata of the whole the id of the
            recall and its scope.
        """
        recall, found = self._calls.wait(
            lambda: find(self._calls.memory, query_text, k=top_k, query_tags=self._query_tags)
        )
        records = [
            neo4j.Record(  # type: ignore[no-untyped-call]
                {"content": each.memory.said, "metadata": metadata_of(recall, each)}
            )
            for each in found
        ]
        about = {"memoria_recall_id": recall.trace.id, "memoria_scope": recall.trace.scope}
        return RawSearchResult(records=records, metadata=about)

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return a record as a result."""
        return RetrieverResultItem(content=record["content"], metadata=record["metadata"])
