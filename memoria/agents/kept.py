"""The last recalls, kept so that an agent can ask about them and say what they were good for.

In: recalls. Out: the same recalls, by scope and recall id; the memory id for a label. Touches
nothing.

The labels of one answer share a letter, ``[b1]``, ``[b2]``, and the next answer uses the next
letter. So a label of an earlier answer still means the same memory, and clients that share a scope
do not confuse each other's labels.
"""

from __future__ import annotations

from collections import OrderedDict

from memoria.errors import InvalidInputError
from memoria.types import Recall

#: Recalls of one scope, and of all scopes that share the place.
MOST = 256
MOST_IN_ALL = 1_024
#: Letters of the labels; hooks have a letter of their own, because they may run in another process.
LETTERS = "abcdefgijklmnopqrstuvwxyz"
HOOK_LETTERS = "h"


class KeptRecalls:
    """The last 256 recalls of each scope; fewer of the busiest one if there are 1,024 in all."""

    def __init__(self, most: int = MOST, in_all: int = MOST_IN_ALL, letters: str = LETTERS) -> None:
        self._most = most
        self._in_all = in_all
        self._letters = letters
        self._begun: dict[str, int] = {}  # scope -> number of recalls so far
        self._scopes: dict[str, OrderedDict[str, Recall]] = {}

    def letter(self, scope: str) -> str:
        """Return the label letter for a new recall."""
        number = self._begun.get(scope, 0)
        self._begun[scope] = number + 1
        return self._letters[number % len(self._letters)]

    def id_of(self, scope: str, name: str, recall_id: str | None = None) -> str:
        """Return the id of the memory with this label; any other name is returned as an id.

        Parameters
        ----------
        name
            A label from an answer, with or without brackets, or an id.
        recall_id
            The recall whose labels count; None: the last recall with this label.
        """
        bare = name.strip().removeprefix("[").removesuffix("]")
        if recall_id is None:
            recalls = [*reversed(self._scopes.get(scope, OrderedDict()).values())]
        else:
            recalls = [self.get(scope, recall_id)]
        for recall in recalls:
            for item in recall.context.items:
                if item.label == bare:
                    return item.id
        return name

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
                self._begun.pop(busiest, None)

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
                "give the id in its first line",
                field="recall_id",
            ) from None
