"""Ask the database how alike statements are, to tell which of them are about the same thing.

In: memories, and their cosines with the question. Out: cosines between statements. Reads only; the
vectors stay in the database. Query: ``ranking.alike``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from memoria._support.sentences import asks
from memoria.graph.vocabulary import REMEMBERED
from memoria.recall.ranking.candidates import FactsRequest
from memoria.recall.ranking.substance import substance
from memoria.recall.ranking.talk import ASSISTANT, USER, role_of
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryNode

#: How many statements, the nearest to the question, are compared with the others.
MOST_COMPARED = 16
# Who states something: the user, and the assistant on their behalf. In a group ("other"), people
# speak about the same subjects without changing the facts.
_STATING = frozenset({USER, ASSISTANT})
# So do a memory of the first kind, and one of the second that was remembered without a kind. Other
# memories without a role report events of different times, which don't replace each other.
_PREFERENCE, _UNSPECIFIED = "UserPreference", "Event"

#: Id of a statement -> id of another one -> cosine of their vectors.
Alike = Mapping[str, Mapping[str, float]]
#: Id of a statement -> cosine of its vector with the probe.
Probed = Mapping[str, float]


def statements(memories: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Return the memories that state something at a known time.

    Questions, thanks, the messages of a group, and events that were not remembered one by one do
    not.
    """
    return [
        memory
        for memory in memories
        if memory.created_at is not None
        and _states(memory)
        and not asks(memory.text)
        and substance(memory.text) > 0
    ]


def _states(memory: MemoryNode) -> bool:
    if role_of(memory) in _STATING or memory.kind == _PREFERENCE:
        return True
    return memory.kind == _UNSPECIFIED and memory.metadata.get(REMEMBERED) is True


def of_user(memories: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Return the statements that may be newer than others: all but the assistant's."""
    return [one for one in statements(memories) if role_of(one) != ASSISTANT]


def to_compare(
    memories: Sequence[MemoryNode], cosines: Mapping[str, float]
) -> tuple[list[str], list[str]]:
    """Return the ids of the statements that may be outdated, and of those that may replace them.

    The first are those nearest to the question. The assistant's may be outdated, but replace
    nothing. Both are empty if all have the same time.
    """
    found = [one for one in statements(memories) if one.id in cosines]
    newer = [one.id for one in of_user(found)]
    if len({one.created_at for one in found}) < 2 or not newer:
        return [], []
    found.sort(key=lambda one: (-cosines[one.id], one.id))
    return [one.id for one in found[:MOST_COMPARED]], newer


async def ask_alike(
    store: Store,
    request: FactsRequest,
    memories: Sequence[MemoryNode],
    cosines: Mapping[str, float],
) -> tuple[Alike, Probed]:
    """Read the cosines between the statements nearest to the question and all other statements.

    With a probe, also the cosine of each of them with it; without one, this map is empty.

    Notes
    -----
    One round trip; none unless at least two statements have a vector and different times. At most
    16 cosines per statement.
    """
    ids, others = to_compare(memories, cosines)
    if not ids:
        return {}, {}
    parameters = {
        "ids": ids,
        "others": others,
        "probe": None if request.probe is None else list(request.probe),
        "scope": request.scope,
    }
    query = load("ranking.alike").at(request.generation)
    found = await store.run(query, parameters, until=request.until)
    if not found:  # the statements were deleted meanwhile
        return {}, {}
    alike = {id_: dict(row) for id_, row in found[0]["rows"]}
    return alike, {id_: cosine for id_, cosine in found[0]["probed"] if math.isfinite(cosine)}
