"""The states of a reembedding, in the one node that records the set-up, and the moves among them.

A *generation* is what one embedder has made of all memories: a property and an index, named by its
number (`memoria.store.queries.vector_property`). The record says which generation is live, and at
most one other::

    none --begin--> filling --swap--> sweeping --advance--> kept --advance--> dropping --end--> none
                       |                  |                  |                   ^
                       |                  +------ swap ------+--- (roll back) ---+
                       +---------------- advance ------------------ (roll back) -+

``filling``
    The other generation is new. Reads and writes use the live one, as before.
``sweeping``
    The other generation is the old one. Writers of the old embedder are refused, in the transaction
    of their write; what such a transaction left just before is embedded now.
``kept``
    As before; every memory that has an old vector has a new one. Readers that were open before the
    swap go on with the old one.
``dropping``
    The other generation is the old one, or after a roll-back the new one: first its index goes, so
    that its readers notice, then its vectors.

Each move is one transaction on one node, which is locked before it is read, and which changes
nothing unless the state and the number are those that the caller expects. What is done between two
moves may be done again, by the same process after a kill or by two at once, and only ever adds what
is missing. A number is never given twice, so a process that slept through everything finds no name
that means something else by now: it finds no index, or its write is refused.

In: a store, the expected state. Out: whether the move was made. Writes the record.
Queries: ``ingest.reembed.begin``, ``.advance``, ``.swap``, ``.end``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from memoria.graph.server_facts import NamedEmbedder
from memoria.store import Store
from memoria.store.queries import load

State: TypeAlias = Literal["filling", "sweeping", "kept", "dropping"]


async def begin(store: Store, live: int, embedder: NamedEmbedder) -> bool:
    """Move from none to ``filling``; the record then has the number of the new generation."""
    parameters = {"dimensions": embedder.dimensions, "embedder": embedder.name, "generation": live}
    rows = await store.run(load("ingest.reembed.begin"), parameters)
    return bool(rows[0]["begun"])


async def advance(store: Store, other: int, states: Sequence[State], to: State) -> bool:
    """Move on from one of ``states``; the live generation stays."""
    return await _move(store, "advance", other, states, to)


async def swap(store: Store, other: int, states: Sequence[State], to: State) -> bool:
    """Move on from one of ``states``; the other generation becomes the live one."""
    return await _move(store, "swap", other, states, to)


async def end(store: Store, other: int) -> bool:
    """Move from ``dropping`` to none."""
    rows = await store.run(load("ingest.reembed.end"), {"generation": other})
    return bool(rows[0]["ended"])


async def _move(store: Store, how: str, other: int, states: Sequence[State], to: State) -> bool:
    parameters = {"generation": other, "next": to, "states": list(states)}
    rows = await store.run(load(f"ingest.reembed.{how}"), parameters)
    return bool(rows[0]["moved"])
