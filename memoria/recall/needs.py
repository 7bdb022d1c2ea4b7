"""Follow what the seeds need, as far as relations say so, whatever energy comes that way.

In: seeds. Out: the memories that they need, and how each needs the next. Reads only. Query:
``recall.needs``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from neo4j import Record

from memoria.errors import MemoriaError
from memoria.graph.vocabulary import OWN_RELATIONS, USUAL_ORDER, roles_key
from memoria.recall.ranking.needs import HOPS, USUAL_NEED, MayNeed, is_usual, undeclared_needs
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Hop, Path, RelationRoles
from memoria.types.validity import Validity

# Memories with more outgoing edges are not asked what they need; of one memory, and in all, no more
# needs are followed: what needs everything says nothing.
_EDGES = 400
_NEEDS = 50
_MEMORIES = 100
# Most incoming edges of a memory to count: fifty are enough to show that many memories need it.
_IN_DEGREE = 50
# Factor on the weight of a need that only the shape of the graph suggests, because it may be wrong.
_SEEMING = 0.15
# Relations that never say a need.
_OTHERS = sorted({*OWN_RELATIONS, *USUAL_ORDER})

# [id of the target, weight, relation, tags, incoming edges of the relation or None]
_Edge = tuple[str, float, str, list[str], int | None]
# Id of the source -> its degree, and its edges.
_Rows = Mapping[str, tuple[int, list[_Edge]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsRequest:
    """Whose needs are asked for.

    Attributes
    ----------
    ids
        Ids of the memories whose needs are followed.
    validity
        Which memories may be needed.
    max_weight
        A larger weight of an edge counts as this one.
    roles
        Roles of relations; a role that is None is taken from the scope's declaration.
    until
        Time of the loop's clock at which the queries must be over; seconds. None: the time limit of
        the store.
    """

    ids: Sequence[str]
    scope: str
    validity: Validity
    max_weight: float
    roles: RelationRoles = field(default_factory=RelationRoles)
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
    order
        The relations between neighbours in a text or talk, which are read with the needs.
    error
        Why needs were not followed to the end; None if they were.
    """

    paths: tuple[Path, ...] = ()
    needs: dict[str, dict[str, float]] = field(default_factory=dict)
    order: Sequence[str] = USUAL_ORDER
    error: MemoriaError | None = None


NOTHING_NEEDED = Needed()


async def follow_needs(store: Store, request: NeedsRequest) -> Needed:
    """Follow needs over at most four edges, or up to the first query that fails.

    Notes
    -----
    One round trip if nothing is needed or seems to be needed; otherwise one for each hop, and one
    that finds nothing more.
    """
    rows: dict[str, tuple[int, list[_Edge]]] = {}
    frontier, seen = list(request.ids), {*request.ids}
    order, error = request.roles.order, None
    for _ in range(HOPS):
        try:
            found = await _ask(store, request, frontier)
        except MemoriaError as exc:
            error = exc
            break
        order = found["declared_order"] if order is None else order
        rows |= {source: (degree, edges) for source, degree, edges in found["needs"]}
        says = _saying_need(rows, perhaps=True)
        edges = [edge for source in frontier if source in rows for edge in rows[source][1]]
        ends = dict.fromkeys(edge[0] for edge in edges if edge[2] in says)
        frontier = [id_ for id_ in ends if id_ not in seen]
        seen.update(frontier)
        if not frontier or len(seen) > _MEMORIES:
            break
    says = _saying_need(rows, perhaps=False)
    needs = {
        source: {edge[0]: _weight(edge) for edge in reversed(edges) if edge[2] in says}  # the best
        for source, (_, edges) in rows.items()
    }
    return Needed(
        paths=_chains(request.ids, rows, says),
        needs={source: targets for source, targets in needs.items() if targets},
        order=USUAL_ORDER if order is None else order,
        error=error,
    )


async def _ask(store: Store, request: NeedsRequest, ids: Sequence[str]) -> Record:
    """Query the needs of some memories."""
    parameters = {
        "held": request.validity.held,
        "ids": ids,
        "in_degree": _IN_DEGREE,
        "limit": _NEEDS,
        "max_edges": _EDGES,
        "max_weight": request.max_weight,
        "need": request.roles.need,
        "others": _OTHERS,
        "roles_key": roles_key(request.scope),
        "scope": request.scope,
        "usual_need": USUAL_NEED,
    }
    return (await store.run(load("recall.needs"), parameters, until=request.until))[0]


def _saying_need(rows: _Rows, *, perhaps: bool) -> set[str]:
    """Return the relations that say needs, by declaration or by the shape of the graph."""
    edges = [(source, edge) for source, (_, found) in rows.items() for edge in found]
    declared = {edge[2] for _, edge in edges if edge[4] is None}
    undeclared = (
        MayNeed(source=source, relation=edge[2], incoming=max(edge[4], 1))
        for source, edge in edges
        if edge[4] is not None
    )
    return declared | undeclared_needs(undeclared, perhaps=perhaps)


def _weight(edge: _Edge) -> float:
    """Return the weight of an edge as a need; lower if neither the scope nor its name says so."""
    said = edge[4] is None or is_usual(edge[2])
    return edge[1] if said else _SEEMING * edge[1]


def _chains(ids: Sequence[str], rows: _Rows, says: Set[str]) -> tuple[Path, ...]:
    """Return the shortest chain of needs to each needed memory."""
    chains: dict[str, Path] = {
        id_: Path(seed_id=id_, hops=(), memories=(), end_reason="not_explored", energy=0.0)
        for id_ in ids
    }
    frontier = list(chains)
    while frontier:
        reached: dict[str, Path] = {}
        for source in frontier:
            degree, edges = rows.get(source, (0, []))
            for target, weight, relation, tags, _ in edges:
                if relation in says and target not in chains and target not in reached:
                    hop = _hop(source, target, relation, weight, tags, degree)
                    reached[target] = replace(chains[source], hops=(*chains[source].hops, hop))
        chains |= reached
        frontier = list(reached)
    return tuple(chain for chain in chains.values() if chain.hops)[:_MEMORIES]


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
