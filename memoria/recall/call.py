"""The input of one recall: its arguments, checked once, and the parts of the retriever.

In: the arguments of a call. Out: `RecallCall`, `Engine`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self

from memoria._support.checks import check_strings, mended_text
from memoria.embed import Embedder
from memoria.errors import InvalidInputError
from memoria.recall.asides import Asides
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import CountTokens
from memoria.recall.probing import Subjects
from memoria.store.facts import ServerFacts
from memoria.types import MemoryFilter, Seeds

#: Instead of tags: those of the edges around the hits whose words occur in the question.
AUTO: Literal["auto"] = "auto"
QueryTags = Iterable[str] | Literal["auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCall:
    """The checked arguments of one recall, made by `checked`; see `GraphRetriever.recall`.

    Attributes
    ----------
    query
        The user's words; not blank.
    query_tags
        Distinct tags of the query.
    auto_tags
        Whether the question itself says which tags it has.
    starts_anywhere
        Whether kinds, tags and metadata of ``where`` choose only what is returned, so that "Which
        films did Ada act in?" may start from Ada, who is not a film.
    scopes
        The scopes to read; empty where only that of the retriever is read.
    on_seeds
        Called with the seeds once they are found, before the first path.
    """

    query: str
    query_tags: tuple[str, ...]
    auto_tags: bool
    where: MemoryFilter
    config: RetrieverConfig
    scopes: tuple[str, ...] = ()
    starts_anywhere: bool = False
    on_seeds: Callable[[Seeds], None] = lambda _: None

    @property
    def has_tags(self) -> bool:
        """Whether the caller gave tags, or asked for those of the question."""
        return bool(self.query_tags) or self.auto_tags

    @property
    def starts_where(self) -> MemoryFilter:
        """Return the filter of the memories to start from and to rank with."""
        if not self.starts_anywhere:
            return self.where
        return replace(self.where, kinds=None, tags=(), metadata={})

    @classmethod
    def checked(
        cls,
        query: str,
        query_tags: QueryTags,
        where: MemoryFilter,
        config: RetrieverConfig,
    ) -> Self:
        """Check and convert the arguments of a caller.

        Raises
        ------
        InvalidInputError
            The query is blank, or a tag is not valid.
        """
        query = mended_text(query, "query")
        if not query:
            raise InvalidInputError("query is blank: say what to recall", field="query")
        auto = isinstance(query_tags, str) and query_tags == AUTO
        return cls(
            query=query,
            query_tags=() if auto else check_strings(query_tags, "query_tags"),
            auto_tags=auto,
            where=where,
            config=config,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The parts of a retriever that its recalls use.

    Attributes
    ----------
    scope
        Scope of the memories, unless a call reads several.
    embedder
        Makes the query's vector, or None.
    facts
        Returns the facts about the server by a given time of the loop's clock; checks the embedder.
    asides
        The examples of small talk by the embedder, or None without one.
    subjects
        The examples of facts by the embedder, or None without one.
    count_tokens
        Counts the tokens of a context, or None for the estimate.
    """

    scope: str
    embedder: Embedder | None
    asides: Asides | None
    subjects: Subjects | None
    facts: Callable[[float | None], Awaitable[ServerFacts]]
    count_tokens: CountTokens | None
