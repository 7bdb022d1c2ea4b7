"""A database as a mapping reads it: checked once, before the first query.

In: a mapping, a store. Out: the facts about the server, and the queries of the mapped graph.
Reads only. Queries: ``graph.components``, ``mapping.*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoria._support.checks import check_scopes
from memoria._support.single_flight import SingleFlight
from memoria._support.stems import name_stems
from memoria._support.wording import kind_of
from memoria.errors import DimensionError, MappingError, ScopeError
from memoria.graph.mapping.checking import (
    Problem,
    problems_of,
    raise_first,
    readable,
)
from memoria.graph.mapping.database import Inventory, ask, inventory_for
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import WHOLE_GRAPH
from memoria.graph.mapping.rendering import Translation
from memoria.graph.mapping.sampled import sample_problems
from memoria.graph.server_facts import NamedEmbedder
from memoria.store import ServerFacts, Store
from memoria.store.queries import Query, load

_SAMPLE = 25
_MAX_CHARS = 80


class MappedGraph:
    """What a store with a mapping asks instead of memoria's own queries.

    Nothing is asked before the mapping was compared with the database, so that no lookup ever is a
    scan by accident.
    """

    def __init__(self, mapping: GraphMapping, plain: Store) -> None:
        self.mapping = mapping
        self._plain = plain
        self._facts = SingleFlight[ServerFacts]()
        self._translation = Translation(mapping)
        self.asked_as = [
            (name_stems(name), edge.type) for edge in mapping.edges for name in edge.asked_as
        ]

    def query(self, query: Query) -> Query:
        """Return the query of the mapped graph; see `Translation.query`."""
        return self._translation.query(query)

    def lucene(self, phrases: Sequence[str], *, has_vector: bool) -> str | None:
        """Return the query of its full-text indexes; see `Translation.lucene`."""
        return self._translation.lucene(phrases, has_vector=has_vector)

    @property
    def has_vectors(self) -> bool:
        """Whether there is a vector index to search."""
        return self._translation.mapping.has_vectors

    async def facts(self, until: float | None = None) -> ServerFacts:
        """Return facts about the server; the first time, compare the mapping with the database.

        Notes
        -----
        Three round trips, and two for each label and type of the mapping; later none.

        Raises
        ------
        MappingError
            The mapping does not fit; the message says what to do.
        IndexNotReadyError
            An index of the mapping is being populated.
        """
        return await self._facts.get(self._compared, keep=lambda _: True, until=until)

    async def _compared(self) -> ServerFacts:
        mapping = self.mapping
        inventory = await inventory_for(self._plain, mapping)
        problems = problems_of(mapping, inventory)
        raise_first(problems)
        raise_first(
            [p for n in range(len(mapping.nodes)) for p in await self._sampled(n, inventory)]
        )
        sizes = [
            len(index.properties)
            for index in inventory.indexes
            if index.name in (*mapping.fulltext_indexes, *mapping.fact_indexes)
        ]
        self._translation = Translation(
            readable(mapping, inventory),
            text_properties=max(sizes, default=1),
            missing=[problem.statement for problem in problems if problem.statement],
        )
        return await self._server(inventory)

    async def _sampled(self, number: int, inventory: Inventory) -> list[Problem]:
        found: list[Problem] = []
        for label in self.mapping.nodes[number].labels:
            if inventory.labels.get(label):
                limits = {"limit": _SAMPLE, "max_chars": _MAX_CHARS}
                rows = (await ask(self._plain, "mapping.sample_nodes", limits, label=label))["rows"]
                found += sample_problems(self.mapping, number, label, rows)
        return found

    async def _server(self, inventory: Inventory) -> ServerFacts:
        rows = await self._plain.run(load("graph.components"), {})
        kernel = next((row for row in rows if row["name"] == "Neo4j Kernel"), rows[0])
        names = (*self.mapping.vector_indexes, *self.mapping.fact_vector_indexes)
        vectors = [inventory.index(name) for name in names]
        return ServerFacts(
            version=kernel["versions"][0],
            edition=kernel["edition"],
            # Where there is one scope, an index has found all there is once it finds no more.
            vector_dialect="procedure" if self.mapping.has_scopes else "search",
            dimensions=next((index.dimensions for index in vectors if index), None),
            embedder=None,
            indexes={index.name: index.state for index in inventory.indexes},
        )


def checked(mapping: object) -> GraphMapping:
    """Return a mapping if it is one."""
    if not isinstance(mapping, GraphMapping):
        raise MappingError(
            f"mapping must be a GraphMapping, got {kind_of(mapping)}: GraphMapping.named and "
            "GraphMapping.load make one",
            field="mapping",
        )
    return mapping


def scope_of(mapping: GraphMapping | None, scope: str | None) -> str | None:
    """Return the scope to read; of a mapped graph without scopes, the one that it is."""
    if mapping is None or mapping.has_scopes:
        return scope
    if scope not in (None, WHOLE_GRAPH):
        raise ScopeError(
            f"the mapping {mapping.name!r} names no scope property, so the whole graph is one "
            f"scope and {scope!r} would separate nothing: leave the scope out, or name the property"
        )
    return WHOLE_GRAPH


def scopes_of(
    mapping: GraphMapping | None, scope: str, scopes: Iterable[str], field: str
) -> tuple[str, ...]:
    """Check the scopes that are to be read at once.

    Raises
    ------
    ScopeError
        A scope is not valid or given twice, or a mapped graph is to read others than ``scope``.
    """
    chosen = check_scopes(scopes, field)
    if mapping is not None and chosen != (scope,):
        raise ScopeError(
            "a mapped graph is read one scope at a time: make a retriever for each scope, by "
            "for_scope",
            field=field,
        )
    return chosen


def check_mapped_embedder(
    mapping: GraphMapping, facts: ServerFacts, embedder: NamedEmbedder | None
) -> None:
    """Raise `DimensionError` if the vectors of an embedder have another size than the graph's."""
    if embedder is None or facts.dimensions in (None, embedder.dimensions):
        return
    names = (*mapping.vector_indexes, *mapping.fact_vector_indexes)
    there = next(name for name in names if name in facts.indexes)
    raise DimensionError(
        f"the vectors of the embedder {embedder.name!r} have {embedder.dimensions} dimensions, but "
        f"the index {there!r} holds {facts.dimensions}: use the embedder that made the graph's "
        "vectors (CallableEmbedder), or none, to search by words",
        field="vector_index",
    )
