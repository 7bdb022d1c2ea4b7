"""Follow what the seeds need, as far as relations say so, whatever energy comes that way.

In: seeds. Out: the memories that they need, and how each needs the next. Reads only. Query:
``recall.needs``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memoria.errors import MemoriaError
from memoria.ranking.needs import HOPS, NEED_WORDS
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Hop, Path
from memoria.types.validity import Validity

# Memories with more outgoing edges are not asked what they need; of one memory, and in all, no more
# needs are followed: what needs everything says nothing.
_EDGES = 400
_NEEDS = 50
_MEMORIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsRequest:
    """Whose needs are asked for.

    Attributes
    ----------
    ids
        Ids of the memories whose needs are followed.
    scope
        Scope of the memories.
    validity
        Which memories may be needed.
    max_weight
        A larger weight of an edge counts as this one.
    until
        Time of the loop's clock at which the queries must be over; seconds. None: the time limit of
        the store.
    """

    ids: Sequence[str]
    scope: str
    validity: Validity
    max_weight: float
    until: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What memories need, and what that needs in turn.

    Attributes
    ----------
    paths
        One for each memory that is needed: a chain of needs that leads to it, over as few edges as
        possible. No energy came that way, so its energies are 0.
    needs
        Id -> id of each memory that it needs -> weight of the edge.
    error
        Why needs were not followed to the end; None if they were.
    """

    paths: tuple[Path, ...] = ()
    needs: dict[str, dict[str, float]] = field(default_factory=dict)
    error: MemoriaError | None = None


NOTHING_NEEDED = Needed()


async def follow_needs(store: Store, request: NeedsRequest) -> Needed:
    """Follow needs over at most four edges, or up to the first query that fails.

    Notes
    -----
    One round trip where nothing is needed; otherwise one for each hop, and one that finds no more.
    """
    chains: dict[str, Path] = {
        id_: Path(seed_id=id_, hops=(), memories=(), end_reason="not_explored", energy=0.0)
        for id_ in request.ids
    }
    needs: dict[str, dict[str, float]] = {}
    frontier = list(chains)
    error: MemoriaError | None = None
    for _ in range(HOPS):
        parameters = {
            "held": request.validity.held,
            "ids": frontier,
            "limit": _NEEDS,
            "max_edges": _EDGES,
            "max_weight": request.max_weight,
            "scope": request.scope,
            "words": NEED_WORDS,
        }
        try:
            found = (await store.run(load("recall.needs"), parameters, until=request.until))[0]
        except MemoriaError as exc:
            error = exc
            break
        reached: dict[str, Path] = {}
        rows = {source: (degree, edges) for source, degree, edges in found["needs"]}
        for source in frontier:
            degree, edges = rows.get(source, (0, ()))
            for target, weight, relation, tags in edges:
                needs.setdefault(source, {})[target] = weight
                if target not in chains and target not in reached:
                    hop = _hop(source, target, relation, weight, tags, degree)
                    chain = chains[source]
                    reached[target] = replace(chain, hops=(*chain.hops, hop))
        chains |= reached
        frontier = list(reached)
        if not frontier or len(chains) > _MEMORIES:
            break
    paths = [chain for chain in chains.values() if chain.hops]
    return Needed(paths=tuple(paths[:_MEMORIES]), needs=needs, error=error)


def _hop(
    source: str, target: str, relation: str, weight: float, tags: Sequence[str], degree: int
) -> Hop:
    return Hop(
        source=source,
        target=target,
        relation=relation,
        direction="out",
        weight=weight,
        tags=tuple(tags),
        tag_similarity=1.0,
        degree=degree,
        energy_in=0.0,
        energy_out=0.0,
    )
