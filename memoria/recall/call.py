"""What a caller asks of one recall, checked once.

In: the arguments of a call. Out: `RecallCall`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memoria._support.checks import check_kind, check_string, check_strings
from memoria.config import RetrieverConfig
from memoria.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCall:
    """What a caller asks of one recall; see `GraphRetriever.recall`."""

    query: str
    query_tags: Iterable[str]
    kinds: Iterable[str] | None
    config: RetrieverConfig

    def __post_init__(self) -> None:
        """Check every argument once."""
        check_string(self.query, "query")
        if not self.query.strip():
            raise InvalidInputError("query is blank: say what to recall", field="query")
        object.__setattr__(self, "query_tags", check_strings(self.query_tags, "query_tags"))
        if self.kinds is not None:
            kinds = tuple(check_kind(kind, "kinds") for kind in check_strings(self.kinds, "kinds"))
            if not kinds:
                raise InvalidInputError("kinds is empty: name some, or leave it out", field="kinds")
            object.__setattr__(self, "kinds", kinds)
