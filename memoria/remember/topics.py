"""Connectors: topics, each in the best of its forms; and how all of them are written.

In: mentions, or connectors of several conversations. Out: connectors; how many were new. Writes in
a transaction of the caller's. Query: ``remember.connectors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from memoria.ingest.rows import utc
from memoria.remember.ids import topic_id
from memoria.remember.mentions import Mention, best_form
from memoria.store import Transaction
from memoria.store.queries import load
from memoria.types import Memory


def topic_of(mention: Mention, topics: Mapping[str, Memory]) -> Memory:
    """Return the topic of a mention; ``topics``, by id, may hold it in another form."""
    id_ = topic_id(mention.name)
    shown = (mention.shown or mention.name).casefold()
    there = topics.get(id_)
    if there is not None and best_form(shown, there.text) == there.text:
        return there
    return Memory(id=id_, kind="Topic", text=shown)


def by_id(connectors: Iterable[Memory]) -> dict[str, Memory]:
    """Return connectors by their ids, each once."""
    found: dict[str, Memory] = {}
    for each in connectors:
        there = found.get(each.id, each)
        if each.kind != "Topic" or best_form(each.text, there.text) == each.text:
            found[each.id] = each
    return found


async def write_connectors(
    transaction: Transaction, scope: str, connectors: Iterable[Memory], *, now: datetime
) -> int:
    """Write connectors; return how many did not exist before."""
    rows = [
        {"id": each.id, "kind": each.kind, "name": each.text, "created_at": utc(each.created_at)}
        for each in sorted(connectors, key=lambda each: each.id)
    ]
    parameters = {"rows": rows, "scope": scope, "now": now}
    created: int = (await transaction.run(load("remember.connectors"), parameters))[0]["created"]
    return created
