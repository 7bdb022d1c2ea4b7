"""Add to the worth of a memory the worth that paths bring to it.

In: paths, and the worth of memories. Out: their worth, with what links add. Touches nothing.

A memory that answers a question need not share a word with the question: the cause of a cause, the
rule behind an action. Its own relevance is then too low for a small context, however strong the
edges are that lead to it from the best match.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from memoria.graph.vocabulary import says_more
from memoria.types import Hop, Path

# What a hop against the stored direction leaves of the worth: an edge is mostly written at the
# memory that it explains, as in "late, caused by: no delivery".
_AGAINST = 0.4
# Weight of the brought worth, next to a memory's own. A larger share finds more where the answer
# stands several edges away, and loses more where it matches by itself; docs/context.md has figures.
_BROUGHT = 0.25


def with_links(paths: Iterable[Path], worth: Mapping[str, float]) -> dict[str, float]:
    """Return the worth of memories, each with a share of the worth that paths bring to it.

    A memory on a path passes on its own worth or the worth it received, whichever is higher. Each
    hop multiplies it by the weight of the edge, and by 0.4 against the stored direction. An edge
    that says no more than both texts, such as ``next`` or ``similar``, passes on nothing: it is not
    a reason, and the ranking already counts it. A memory gains a quarter of the highest worth
    brought by any path, and less the more it is worth itself, so the best memory stays the best.
    Energy would not do: it is divided among all edges of a memory, and too small after three hops.

    Parameters
    ----------
    paths
        The paths that reached the memories.
    worth
        Id -> worth, 0 to 1, such as the scores of `Recall.ranked`. Memories that are not named,
        such as those that only connect others, get no worth and pass none on.

    Returns
    -------
    dict
        Id -> worth, for the same memories.

    Examples
    --------
    >>> with_links([], {"evt-1": 0.5})
    {'evt-1': 0.5}
    """
    brought = brought_by(paths, worth)
    return {
        id_: own + _BROUGHT * brought.get(id_, 0.0) * max(0.0, 1 - own)
        for id_, own in worth.items()
    }


def brought_by(paths: Iterable[Path], worth: Mapping[str, float]) -> dict[str, float]:
    """Return the highest worth that any path brings to a memory, by id; as for `with_links`."""
    brought: dict[str, float] = {}
    for path in paths:
        carried = worth.get(path.seed_id, 0.0)
        for hop in path.hops:
            carried *= _left(hop)
            brought[hop.target] = max(brought.get(hop.target, 0.0), carried)
            carried = max(carried, worth[hop.target]) if hop.target in worth else 0.0
    return brought


def left_out(paths: Iterable[Path], ranked: Container[str]) -> set[str]:
    """Return the ids of the memories on paths that a recall read, and that its filter left out.

    Parameters
    ----------
    ranked
        Ids of the memories that fit.
    """
    read = (memory.id for path in paths for memory in path.memories)
    return {id_ for id_ in read if id_ not in ranked}


def _left(hop: Hop) -> float:
    """Return the share of the worth that a hop leaves."""
    if not says_more(hop.relation):
        return 0.0
    return min(hop.weight, 1.0) * (1.0 if hop.direction == "out" else _AGAINST)
