"""Say which names of a filter no memory of a scope has: they may be mistyped.

In: a filter that nothing fitted. Out: sentences. Reads only. Queries: ``graph.stats_memories``,
``graph.stats_tags``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoria._support.nearest import did_you_mean
from memoria.graph.mapping.reading import MappedGraph
from memoria.graph.server_facts import current_facts
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter

# Tags that a wrong one is compared with: the most frequent ones.
_TAGS = 1_000


async def unknown_names(
    store: Store, scope: str, where: MemoryFilter, *, until: float | None = None
) -> tuple[str, ...]:
    """Return a sentence for each kind and tag of a filter that no memory of the scope has.

    In a mapped graph also for each key of ``metadata`` that the mapping does not read.

    Parameters
    ----------
    until
        Time of the loop's clock at which the names must be read; seconds.

    Notes
    -----
    One round trip for kinds and one for tags, each of which reads all memories of the scope: call
    it only where nothing was found.
    """
    said: list[str] = []
    if where.kinds:
        query = load("graph.stats_memories").at((await current_facts(store)).generation)
        row = (await store.run(query, {"scope": scope}, until=until))[0]
        known = [kind for kind, _ in (*row["kinds"], *row["connectors"])]
        said += _unknown("kind", where.kinds, known)
    if where.tags:
        given = {"scope": scope, "limit": _TAGS}
        row = (await store.run(load("graph.stats_tags"), given, until=until))[0]
        said += _unknown("tag", where.tags, [tag for tag, _ in row["tags"]])
    if where.metadata and isinstance(store.translation, MappedGraph):
        said += _unread(where.metadata, store.translation.mapping.properties)
    return tuple(said)


def _unread(keys: Iterable[str], read: Sequence[str] | bool) -> list[str]:
    known = () if isinstance(read, bool) else read
    return [
        f"the mapping does not read the property {key!r}: add it to properties in the mapping"
        f"{did_you_mean(key, known)}"
        for key in keys
        if read is not True and key not in known
    ]


def _unknown(what: str, names: Iterable[str], known: list[str]) -> list[str]:
    return [
        f"no memory of the scope has the {what} {name!r}{did_you_mean(name, known)}"
        for name in names
        if name not in known
    ]
