"""The last recalls, kept so that an agent can ask about them and say what they were good for.

In: recalls. Out: the same recalls, by scope and recall id; the memory id for a label. Touches
nothing.

The labels of one answer share a letter, ``[b1]``, ``[b2]``, and the next answer uses the next
letter. So a label of an earlier answer still means the same memory, and clients that share a scope
do not confuse each other's labels.

A recall consists of a thousand objects. Recalls are kept as compressed bytes, a tenth of their
size, and only the last one is kept as it is, too. Otherwise the garbage collector would look at the
objects of hundreds of recalls again and again, and each time stop a server for a tenth of a second.
"""

from __future__ import annotations

import asyncio
import pickle
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memoria.errors import InvalidInputError
from memoria.types import Recall

#: Recalls of one scope, and of all scopes that share the place.
MOST = 256
MOST_IN_ALL = 1_024
#: Memories of one recall that may count as used: an agent that opens more has chosen none.
MOST_USED = 8
#: Letters of the labels; hooks have a letter of their own, because they may run in another process.
LETTERS = "abcdefgijklmnopqrstuvwxyz"
HOOK_LETTERS = "h"


#: The scopes that a reader may read: its own, or its own and those that it also reads. A reader
#: finds only the recalls of those who may read the same.
Scopes = str | tuple[str, ...]
#: Scope and id of a memory; the scope is "" where only one was read.
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Kept:
    places: Mapping[str, Place]  # by label
    content: bytes | Recall


class KeptRecalls:
    """The last 256 recalls of each scope; fewer of the busiest one if there are 1,024 in all.

    Where several scopes are read, these count as one more scope.
    """

    def __init__(self, most: int = MOST, in_all: int = MOST_IN_ALL, letters: str = LETTERS) -> None:
        self._most = most
        self._in_all = in_all
        self._letters = letters
        self._begun: dict[Scopes, int] = {}  # number of recalls so far
        self._scopes: dict[Scopes, OrderedDict[str, _Kept]] = {}
        self._used: dict[str, set[str]] = {}  # id of a recall -> memories that were used
        self._last: tuple[Scopes, str, Recall] | None = None  # usually the one that is asked for

    def letter(self, scope: Scopes) -> str:
        """Return the label letter for a new recall."""
        number = self._begun.get(scope, 0)
        self._begun[scope] = number + 1
        return self._letters[number % len(self._letters)]

    def place_of(self, scope: Scopes, name: str, recall_id: str | None = None) -> Place:
        """Return scope and id of the memory with this label; any other name is an id of any scope.

        The scope is "" where it is not known, or where only one was read.

        Parameters
        ----------
        name
            A label from an answer, with or without brackets, or an id.
        recall_id
            The recall whose labels count; None: the last recall with this label.
        """
        bare = _bare(name)
        if recall_id is None:
            kept = [*reversed(self._scopes.get(scope, OrderedDict()).values())]
        else:
            kept = [self._of(scope, recall_id)]
        return next((each.places[bare] for each in kept if bare in each.places), ("", name))

    def labelled(self, scope: Scopes, names: Iterable[str]) -> dict[str, str]:
        """Return name -> id of the memory, for the names that are labels."""
        places: dict[str, Place] = {}
        for kept in self._scopes.get(scope, OrderedDict()).values():
            places |= kept.places
        return {name: places[_bare(name)][1] for name in names if _bare(name) in places}

    def new_uses(
        self, scope: Scopes, names: Iterable[str], *, own: str, are_ids: bool = False
    ) -> dict[str, list[str]]:
        """Return which memories of recalls were used and are not marked as such, by recall id.

        Each name, a label or an id, counts for the last recall that showed its memory; at most
        `MOST_USED` memories of a recall count. Other names are passed over, and so are memories of
        other scopes than ``own``, where nothing may be learned.

        Parameters
        ----------
        are_ids
            Whether the names are ids only.
        """
        left = dict.fromkeys(names if are_ids else map(_bare, names))
        new: dict[str, list[str]] = {}
        for recall_id, kept in reversed(self._scopes.get(scope, OrderedDict()).items()):
            may_learn = {id_ for of, id_ in kept.places.values() if of in ("", own)}
            labels = {} if are_ids else kept.places
            shown = [name for name in left if name in labels or name in may_learn]
            used = {*self._used.get(recall_id, ())}
            ids: list[str] = []
            for name in shown:
                del left[name]  # even if its memory can only be read: it counts nowhere else
                of, id_ = labels.get(name, ("", name))
                if of in ("", own) and id_ not in used and len(used) < MOST_USED:
                    used.add(id_)
                    ids.append(id_)
            if ids:
                new[recall_id] = ids
        return new

    def mark_used(self, scope: Scopes, recall_id: str, ids: Iterable[str]) -> None:
        """Note that memories of a recall were used; of a recall that was dropped nothing is noted.

        Do so once their use is learned, so that an error of the database does not lose it.
        """
        if recall_id in self._scopes.get(scope, ()):
            self._used.setdefault(recall_id, set()).update(ids)

    async def keep(self, recall: Recall, scope: Scopes | None = None) -> None:
        """Keep a recall, and drop the oldest one of its scope, or of the busiest, if need be.

        Without ``scope`` it is kept for those who read the scope of its trace. It is made bytes in
        a thread, because that takes about 50 ms for hundreds of paths.

        Of scopes that are equally busy the one that recalled longest ago gives way, so the recall
        just kept is never dropped.
        """
        content = await asyncio.to_thread(_packed, recall)
        scope = recall.trace.scope if scope is None else scope
        own = self._scopes.pop(scope, OrderedDict())
        self._scopes[scope] = own  # the last one now
        places = {item.label: (item.scope, item.id) for item in reversed(recall.context.items)}
        own[recall.trace.id] = _Kept(places, content)
        self._last = scope, recall.trace.id, recall
        if len(own) > self._most:
            self._drop(own)
        if sum(map(len, self._scopes.values())) > self._in_all:
            busiest = max(self._scopes, key=lambda name: len(self._scopes[name]))  # the first such
            self._drop(self._scopes[busiest])
            if not self._scopes[busiest]:
                del self._scopes[busiest]
                self._begun.pop(busiest, None)

    def _drop(self, recalls: OrderedDict[str, _Kept]) -> None:
        """Drop the oldest recall."""
        recall_id, _ = recalls.popitem(last=False)
        self._used.pop(recall_id, None)

    def get(self, scope: Scopes, recall_id: str) -> Recall:
        """Return a recall of a scope.

        Raises
        ------
        InvalidInputError
            The scope has no such recall, or it was dropped.
        """
        kept = self._of(scope, recall_id).content
        if self._last is not None and self._last[:2] == (scope, recall_id):
            return self._last[2]
        return kept if isinstance(kept, Recall) else _unpacked(kept)

    def _of(self, scope: Scopes, recall_id: str) -> _Kept:
        try:
            return self._scopes[scope][recall_id]
        except KeyError:
            raise InvalidInputError(
                f"a recall with this id is not among the last {self._most}: recall again, and "
                "give the id in its first line",
                field="recall_id",
            ) from None


def _bare(name: str) -> str:
    """Return a label without its brackets."""
    return name.strip().removeprefix("[").removesuffix("]")


def _packed(recall: Recall) -> bytes | Recall:
    """Return a recall as bytes; as it is if its settings hold what has no form as bytes."""
    try:
        return zlib.compress(pickle.dumps(recall, pickle.HIGHEST_PROTOCOL), level=1)
    except (pickle.PicklingError, AttributeError, TypeError):  # such as a class inside a function
        return recall


def _unpacked(content: bytes) -> Recall:
    found: Recall = pickle.loads(zlib.decompress(content))  # noqa: S301 - the bytes of `_packed`
    return found
