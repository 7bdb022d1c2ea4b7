"""Explain the limits of a call that no memory fits, and the labels among its excluded ids.

In: a filter, an earlier time, a situation. Out: sentences. Reads only, and only to say why nothing
was found.
Queries: ``graph.scope_size``, ``seeds.fits``, and those of `unknown_names`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from memoria._support.wording import cut, number_of, one_line
from memoria.graph.naming import unknown_names
from memoria.graph.stats import count_memories
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds import SeedRequest
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter

#: How the note on labels among ``exclude_ids`` begins.
LABELS_FOR_IDS = "exclude_ids takes"

_MOST_CHARS = 100
# In a scope with more memories nothing is said, because telling that none fits means to read all.
_MOST_READ = 20_000
_LABEL = re.compile(r"\[[a-z]{0,9}\d+\]")


async def why_unfound(
    store: Store, request: SeedRequest, config: RetrieverConfig, *, most: int = _MOST_READ
) -> tuple[str, ...] | None:
    """Say which names of the filter may be mistyped, or else that no memory fits the limits.

    Parameters
    ----------
    most
        Most memories that the scope may have; in a larger one, the reason is not looked for.

    Returns
    -------
    tuple
        Sentences; none for a scope without memories. None if the question is the reason, because
        some memory fits, or if it is not known.

    Notes
    -----
    No round trip if the call sets no limit but ``exclude_ids``; otherwise up to four, each of which
    reads at most the scope's connectors and ``most`` memories. Call it only where nothing was
    found.
    """
    where, scope, until = request.where, request.scope, request.until
    limits = limits_of(where, config)
    if not limits_of(replace(where, exclude_ids=()), config):
        return None
    memories = await count_memories(store, scope, limit=most + 1, until=until)
    if not memories or memories > most:
        return None if memories else ()
    kinds = MemoryFilter(kinds=where.kinds)  # one wrong name among others is worth a word
    wrong = await unknown_names(store, scope, kinds, until=until)
    if await _any_fits(store, request):
        return wrong or None
    if wrong := (
        *wrong,
        *await unknown_names(store, scope, replace(where, kinds=None), until=until),
    ):
        return wrong
    one = "it" if len(limits) == 1 else "one of these limits"
    return (f"no memory of the scope fits ({'; '.join(limits)}): widen {one}, or leave it out",)


async def _any_fits(store: Store, request: SeedRequest) -> bool:
    parameters = {
        **request.where.parameters,
        "held": request.validity.held,
        "scope": request.scope,
    }
    record = (await store.run(load("seeds.fits"), parameters, until=request.until))[0]
    fits: bool = record["fits"]
    return fits


def limits_of(where: MemoryFilter, config: RetrieverConfig) -> tuple[str, ...]:
    """Describe the limits that a call sets to the memories that may be found.

    >>> limits_of(MemoryFilter(kinds=["Event"], exclude_ids=["a", "b"]), RetrieverConfig())
    ('kinds: Event', 'all but 2 ids')
    """
    limits = {
        "kinds": _listed(where.kinds or ()),
        "tags": _listed(where.tags),
        "made from": where.created_from and where.created_from.isoformat(),
        "made before": where.created_before and where.created_before.isoformat(),
        "metadata": _listed(where.metadata),
        "as of": config.as_of and config.as_of.isoformat(),
        "situation": _listed(config.situation),
    }
    ids = number_of(len(where.exclude_ids), "id")
    return (
        *(f"{name}: {limit}" for name, limit in limits.items() if limit),
        *([f"all but {ids}"] if where.exclude_ids else []),
    )


def _listed(names: Collection[str]) -> str:
    return cut(one_line(", ".join(sorted(names))), _MOST_CHARS)


def labels_for_ids(where: MemoryFilter) -> list[str]:
    """Say which ids of a filter look like labels, by which nothing is excluded.

    >>> labels_for_ids(MemoryFilter(exclude_ids=["[b3]", "b3"]))
    ["exclude_ids takes '[b3]' for an id, but it looks like a label: give the id of the memory"]
    """
    labels = [repr(id_) for id_ in where.exclude_ids if _LABEL.fullmatch(id_)]
    if not labels:
        return []
    one = len(labels) == 1
    form = "an id, but it looks like a label" if one else "ids, but they look like labels"
    give = "the id of the memory" if one else "the ids of the memories"
    return [f"{LABELS_FOR_IDS} {_listed(labels)} for {form}: give {give}"]
