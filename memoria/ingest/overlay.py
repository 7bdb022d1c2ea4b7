"""Copy a mapped graph into memoria's own, where it can be learned from, linked and added to.

In: a store of memoria's own, a mapping. Out: counts. Writes into a scope of its own, through
`BatchWriter`; the graph that is read stays as it is.
Queries: ``graph.page``, ``graph.leaving``, ``ingest.end_edges``.

A run may be repeated, and compares all: no property of a foreign graph says when a node or an edge
was written. A memory whose text is the same keeps its vector, and an edge what it has learned.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from memoria._support import foreign
from memoria._support.checks import MAX_ID_BYTES
from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder
from memoria.errors import InvalidInputError, MappingError
from memoria.graph.connectors import is_connector
from memoria.graph.hydrate import hydrate
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.reading import MappedGraph
from memoria.graph.vocabulary import CONNECTOR_KINDS, ORIGIN_INGEST, RELATED, RESERVED_LABELS
from memoria.ingest.batch_writer import BatchWriter
from memoria.ingest.checks import LeftOut
from memoria.ingest.jsonl import at_place
from memoria.ingest.rows import batches
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Memory, MemoryNode, Relation, WriteReport

T = TypeVar("T")
Built = TypeVar("Built")
#: Source, target and relation, by which memoria knows an edge.
_Edge = tuple[str, str, str]

_PAGE = 500
#: No index gives the order of the ids, so each query for some reads all nodes of the labels.
_IDS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayReport:
    """Counts of one run of an overlay.

    Attributes
    ----------
    written
        Memories and edges written, of which some are new; and those left out, with reasons.
    ended
        Edges that were deleted from the copy, because they are over.
    """

    scope: str
    written: WriteReport
    ended: int


def overlay_scope(mapping: GraphMapping, scope: str) -> str:
    """Return the scope of the copy.

    >>> overlay_scope(GraphMapping.named("graphiti"), "demo")
    'graphiti/demo'
    """
    return f"{mapping.name}/{scope}"


async def overlay(
    store: Store,
    mapping: GraphMapping,
    *,
    scope: str,
    embedder: Embedder | None = None,
    progress: ProgressCallback = silent,
) -> OverlayReport:
    """Bring the copy of a scope into step: write its nodes and edges, delete edges that ended.

    Raises
    ------
    MappingError
        The mapping reads nodes with a label of memoria's own, which copies would join.
    """
    labels = {label for node in mapping.nodes for label in node.labels}
    if shared := sorted(labels & {*RESERVED_LABELS, *CONNECTOR_KINDS}):
        raise MappingError(
            f"the mapping reads nodes with the label {shared[0]}, which memoria's own have, "
            "too: a copy in this database would become part of that graph"
        )
    # The kind of a copy is made of its label, so that the kinds are known before. The type of an
    # edge is its relation in the copy, and no tag.
    mapping = replace(
        mapping,
        nodes=tuple(replace(node, kind=None) for node in mapping.nodes),
        edges=tuple(replace(edge, words=()) for edge in mapping.edges),
    )
    into = overlay_scope(mapping, scope)
    mapped = store.translated(partial(MappedGraph, mapping)).patient()
    writer = BatchWriter(store, scope=into, embedder=embedder, kinds=sorted(map(_kind, labels)))
    report, ended, left_out = WriteReport(), 0, LeftOut(skip_invalid=True)
    async for ids in _pages(mapped, scope):
        nodes = (await hydrate(mapped, ids, scope=scope, until=None)).values()
        with_text = [node for node in nodes if node.text.strip() or is_connector(node)]
        copies = _built(with_text, _copy, lambda node: f"node {_brief(node.id)}", left_out)
        report = report.plus(await writer.write(copies, skip_invalid=True, undated=True))
        progress("nodes", report.memories, None)
    async for ids in _pages(mapped, scope):
        leaving = await mapped.run(load("graph.leaving"), {"ids": ids, "scope": scope})
        hold, over = _by_weight(leaving[0]["rows"])
        edges = _built(hold.items(), _relation, lambda item: _edge_named(item[0]), left_out)
        report = report.plus(await writer.write([], edges, skip_invalid=True))
        for batch in batches(over, writer.batch_size):
            ended += await _end(store, into, batch)
        progress("edges", report.relations, None)
    report = report.plus(WriteReport(skipped=left_out.count, problems=left_out.problems))
    return OverlayReport(scope=into, written=report, ended=ended)


async def _pages(mapped: Store, scope: str) -> AsyncIterator[list[str]]:
    """Yield the ids of a scope, some at a time."""
    page = {"after": "", "limit": _IDS_AT_ONCE, "scope": scope}
    while ids := (await mapped.run(load("graph.page"), page))[0]["ids"]:
        unique = list(dict.fromkeys(ids))
        for start in range(0, len(unique), _PAGE):
            yield unique[start : start + _PAGE]
        page["after"] = ids[-1]


def _by_weight(
    rows: Sequence[Sequence[Any]],
) -> tuple[dict[_Edge, tuple[float, Any, Any]], list[_Edge]]:
    """Return the edges that hold, with weight, tags and time; and those that are over.

    Of parallel edges, the strongest counts, and none is over while another holds. Edges that a
    recall would drop are in neither.
    """
    hold: dict[_Edge, tuple[float, Any, Any]] = {}
    over: dict[_Edge, None] = {}
    for source, edges in rows:
        for target, relation, stored, tags, made in edges:
            weight = 0.01 if stored is None else foreign.number(stored)
            if weight is None or source == target:
                continue
            edge = (source, target, _short(relation) or RELATED)
            if weight < 0:
                over[edge] = None
            elif edge not in hold or hold[edge][0] < weight:
                hold[edge] = (weight, tags, made)
    return hold, [edge for edge in over if edge not in hold]


def _relation(item: tuple[_Edge, tuple[float, Any, Any]]) -> Relation:
    (source, target, relation), (weight, tags, made) = item
    return Relation(
        source=source,
        target=target,
        relation=relation,
        weight=min(weight, 1.0),
        tags=foreign.strings(tags),
        created_at=foreign.moment(made),
    )


async def _end(store: Store, scope: str, edges: Sequence[_Edge]) -> int:
    """Delete edges of the copy, but for those that were not copied."""
    parameters = {
        "ids": sorted({end for source, target, _ in edges for end in (source, target)}),
        "origin": ORIGIN_INGEST,
        "rows": list(map(list, edges)),
        "scope": scope,
    }
    deleted: int = (await store.run(load("ingest.end_edges"), parameters))[0]["deleted"]
    return deleted


def _built(
    items: Iterable[T], build: Callable[[T], Built], name: Callable[[T], str], left_out: LeftOut
) -> list[Built]:
    """Build what can be built; leave out what memoria's own graph could not hold."""
    built: list[Built] = []
    for item in items:
        try:
            built.append(build(item))
        except InvalidInputError as exc:
            left_out.add(at_place(exc, name(item)))
    return built


def _brief(id_: str) -> str:
    return repr(id_[:80])


def _edge_named(edge: _Edge) -> str:
    return f"edge {_brief(edge[0])} to {_brief(edge[1])}"


def _short(relation: str) -> str:
    return relation.encode()[:MAX_ID_BYTES].decode(errors="ignore").strip()


def _copy(memory: MemoryNode) -> Memory:
    joins = is_connector(memory)
    return Memory(
        id=memory.id,
        kind=memory.kind if joins else _kind(memory.kind),
        text=memory.text if memory.text.strip() else memory.id,
        tags=() if joins else memory.tags,
        created_at=memory.created_at,
        metadata=memory.metadata,
        valid_until=memory.valid_until,
    )


def _kind(label: str) -> str:
    """Return the kind of the copies of a label: its own, so that no query for the label finds them.

    >>> _kind("__Entity__")
    'Adopted_Entity'
    """
    words = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_")
    return f"Adopted_{words[:50] or 'Node'}"
