"""The last recalls, kept so that an agent can ask about them and say what they were good for.

In: recalls. Out: the same, by the scope and the id of the recall. Touches nothing.
"""

from __future__ import annotations

from collections import OrderedDict

from memoria.errors import InvalidInputError
from memoria.types import Recall

#: Recalls of one scope, and of all scopes that share the place.
MOST = 256
MOST_IN_ALL = 1_024


class KeptRecalls:
    """The last 256 recalls of each scope; fewer of the busiest one if there are 1,024 in all."""

    def __init__(self, most: int = MOST, in_all: int = MOST_IN_ALL) -> None:
        self._most = most
        self._in_all = in_all
        self._scopes: dict[str, OrderedDict[str, Recall]] = {}

    def keep(self, recall: Recall) -> None:
        """Keep a recall, and drop the oldest one of its scope, or of the busiest, if need be.

        Of scopes that are equally busy the one that recalled longest ago gives way, so the recall
        just kept is never dropped.
        """
        scope = recall.trace.scope
        own = self._scopes.pop(scope, OrderedDict())
        self._scopes[scope] = own  # the last one now
        own[recall.trace.id] = recall
        if len(own) > self._most:
            own.popitem(last=False)
        if sum(map(len, self._scopes.values())) > self._in_all:
            busiest = max(self._scopes, key=lambda name: len(self._scopes[name]))  # the first such
            self._scopes[busiest].popitem(last=False)
            if not self._scopes[busiest]:
                del self._scopes[busiest]

    def get(self, scope: str, recall_id: str) -> Recall:
        """Return a recall of a scope.

        Raises
        ------
        InvalidInputError
            The scope has no such recall, or it was dropped.
        """
        try:
            return self._scopes[scope][recall_id]
        except KeyError:
            raise InvalidInputError(
                f"a recall with this id is not among the last {self._most}: recall again, and "
                "give the id that stands in its first line",
                field="recall_id",
            ) from None
