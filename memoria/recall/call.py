"""The arguments of one recall, checked once.

In: the arguments of a call. Out: `RecallCall`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from memoria._support.checks import check_kind, check_string, check_strings
from memoria.config import RetrieverConfig
from memoria.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCall:
    """The checked arguments of one recall, made by `checked`; see `GraphRetriever.recall`.

    Attributes
    ----------
    query
        The user's words; not blank.
    query_tags
        Distinct tags of the query.
    kinds
        Kinds of memories to start from and to rank; None for all.
    config
        Settings of the call.
    """

    query: str
    query_tags: tuple[str, ...]
    kinds: tuple[str, ...] | None
    config: RetrieverConfig

    @classmethod
    def checked(
        cls,
        query: str,
        *,
        query_tags: Iterable[str],
        kinds: Iterable[str] | None,
        config: RetrieverConfig,
    ) -> Self:
        """Check and convert the arguments of a caller.

        Raises
        ------
        InvalidInputError
            The query is blank, or a tag or a kind is not valid.
        """
        if not check_string(query, "query").strip():
            raise InvalidInputError("query is blank: say what to recall", field="query")
        return cls(
            query=query,
            query_tags=check_strings(query_tags, "query_tags"),
            kinds=None if kinds is None else _checked_kinds(kinds),
            config=config,
        )


def _checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(check_kind(kind, "kinds") for kind in check_strings(kinds, "kinds"))
    if not checked:
        raise InvalidInputError("kinds is empty: name some kinds, or leave it out", field="kinds")
    return checked
