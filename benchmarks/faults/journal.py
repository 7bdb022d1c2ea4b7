"""A journal of writes: what was begun, what was acknowledged, and what the database holds of it.

In: a retriever. Out: what is missing, half written, or applied more than once. Writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from memoria import GraphRetriever, Memory, Relation
from memoria.errors import MemoriaError
from memoria.store.queries import Query, parse

Operation = Literal["write", "remember", "learn"]
OPERATIONS: tuple[Operation, ...] = ("write", "remember", "learn")
# The edge that learning strengthens, and the gain of each time.
ENDS, RELATION, GAIN = ("edge-a", "edge-b"), "leads_to", 0.0001

_KEPT = parse(
    """// name: faults.kept
// mode: read
// params: scope, edge
// returns: ids, texts, pairs, uses
CALL () {
  MATCH (m:Memory {scope: $p.scope})
  RETURN collect(m.id) AS ids, collect(m.text) AS texts
}
CALL () {
  MATCH (a:Memory {scope: $p.scope})-[r:RELATES {relation: 'joins'}]->(:Memory)
  RETURN collect(a.id) AS pairs
}
CALL () {
  OPTIONAL MATCH (:Memory {scope: $p.scope, id: $p.edge[0]})-[r:RELATES {relation: $p.edge[2]}]->()
  RETURN sum(r.uses) AS uses
}
RETURN ids, texts, pairs, uses
""",
    "faults.kept",
)


@dataclass(slots=True)
class Journal:
    """What one writer did.

    Attributes
    ----------
    begun
        Name -> operation, of every write that was begun.
    acknowledged
        Names of the writes that returned.
    """

    begun: dict[str, Operation] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)

    def open(self, operation: Operation) -> tuple[str, ...]:
        """Return the names of an operation that was begun, and not acknowledged."""
        return tuple(
            name
            for name, each in self.begun.items()
            if each == operation and name not in self.acknowledged
        )


async def prepare(memory: GraphRetriever) -> None:
    """Write the edge that is to learn."""
    ends = [Memory(id=id_, kind="Event", text=id_) for id_ in ENDS]
    edge = Relation(source=ENDS[0], target=ENDS[1], relation=RELATION, weight=0.1)
    await memory.writer().write(ends, [edge])


async def _write(memory: GraphRetriever, name: str) -> None:
    memories = [Memory(id=f"{name}-{end}", kind="Event", text=f"{name} {end}") for end in "ab"]
    edge = Relation(source=f"{name}-a", target=f"{name}-b", relation="joins")
    await memory.writer().write(memories, [edge])


async def _remember(memory: GraphRetriever, name: str) -> None:
    await memory.writer().remember(f"remembered {name}", duplicates="keep")


async def _learn(memory: GraphRetriever, name: str) -> None:
    await memory.learner().strengthen_edge(*ENDS, relation=RELATION, increment=GAIN, event_id=name)


_DO: Mapping[Operation, Callable[[GraphRetriever, str], Awaitable[None]]] = {
    "write": _write,
    "remember": _remember,
    "learn": _learn,
}


async def enter(
    memory: GraphRetriever, journal: Journal, operation: Operation, name: str
) -> MemoriaError | None:
    """Do one write, and note how it ended; its error, if it is one of memoria's, is returned."""
    journal.begun[name] = operation
    try:
        await _DO[operation](memory, name)
    except MemoriaError as exc:
        return exc
    journal.acknowledged.add(name)
    return None


async def compare(memory: GraphRetriever, journal: Journal) -> str | None:
    """Return in words what the database should hold and does not, or holds and should not.

    A pair of memories is written first, and their edge after it, in a transaction of its own; so
    an unfinished write may leave two memories without the edge, but never one memory alone.
    Learning that was not acknowledged is sent again: then it must be there, once.
    """
    found = await kept(memory)
    ids, texts, pairs = set(found["ids"]), set(found["texts"]), set(found["pairs"])
    for name, operation in journal.begun.items():
        sure = name in journal.acknowledged
        if operation == "write":
            ends = {f"{name}-a", f"{name}-b"} & ids
            if len(ends) == 1:
                return f"{name}: one memory of a batch of two"
            if sure and (len(ends) < 2 or f"{name}-a" not in pairs):
                return f"{name}: acknowledged, and lost"
        elif operation == "remember" and sure and f"remembered {name}" not in texts:
            return f"{name}: acknowledged, and lost"
    learned = [name for name, operation in journal.begun.items() if operation == "learn"]
    sure_count = len(journal.acknowledged.intersection(learned))
    if not sure_count <= found["uses"] <= len(learned):
        return f"learned {found['uses']} times, but {sure_count} to {len(learned)} were sent"
    for name in journal.open("learn"):
        await _learn(memory, name)
        journal.acknowledged.add(name)
    uses = (await kept(memory))["uses"]
    return None if uses == len(learned) else f"learned {uses} times instead of {len(learned)}"


async def kept(memory: GraphRetriever) -> Mapping[str, Any]:
    """Return the contents of a retriever's scope: ids, texts, pairs, and uses of the edge."""
    query: Query = _KEPT
    parameters = {"scope": memory.scope, "edge": [*ENDS, RELATION]}
    records = await memory.store.run(query, parameters)
    return dict(records[0].data())
