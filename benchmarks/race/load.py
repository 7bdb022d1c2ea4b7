"""Bring a graph into Neo4j: through transactions, or as tables for the offline import.

In: a graph. Out: what was written, where. Writes to a database, or files.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.race.graphs import CHUNK, Graph
from memoria._support.progress import ProgressCallback
from memoria.ingest import LIST_DELIMITER, Tables
from memoria.ingest.rows import memory_row, relation_row
from memoria.local import ImportFiles
from memoria.store import Store
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter

SCOPE = "benchmark"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def write(graph: Graph, store: Store, progress: ProgressCallback) -> None:
    """Write through transactions, as an application does."""
    writer = GraphWriter(store, scope=SCOPE, kinds=graph.kinds, batch_size=2_000, clock=lambda: NOW)
    written = 0
    for chunk in memories(graph):
        await writer.write(chunk)
        written += len(chunk)
        progress("memories", written, len(graph.ids))
    written = 0
    for edges in relations(graph):
        await writer.write([], edges)
        written += len(edges)
        progress("relations", written, len(graph.source))


def write_tables(graph: Graph, folder: Path, progress: ProgressCallback) -> ImportFiles:
    """Write the tables of the offline import."""
    with Tables(folder, scope=SCOPE, now=NOW) as tables:
        written = 0
        for chunk in memories(graph):
            for memory in chunk:
                tables.add_memory(memory_row(memory, memory.embedding))
            written += len(chunk)
            progress("table of memories", written, len(graph.ids))
        written = 0
        for edges in relations(graph):
            for edge in edges:
                tables.add_relation(relation_row(edge))
            written += len(edges)
            progress("table of relations", written, len(graph.source))
        tables.arrange(graph.source, graph.target, progress=progress)
    return ImportFiles(
        memories=tables.memories,
        relations=tables.relations,
        list_delimiter=LIST_DELIMITER,
        multiline=tables.multiline,
    )


def memories(graph: Graph) -> Iterator[list[Memory]]:
    """Yield all memories, in chunks."""
    for start in range(0, len(graph.ids), CHUNK):
        stop = min(start + CHUNK, len(graph.ids))
        with_vector = max(0, min(stop, graph.embedded) - start)
        vectors = graph.vectors(start, start + with_vector).tolist() if with_vector else []
        yield [
            Memory(
                id=graph.ids[node],
                kind=graph.kind_of(node),
                text=text,
                embedding=vectors[node - start] if node < graph.embedded else None,
            )
            for node, text in enumerate(graph.texts(start, stop), start)
        ]


def relations(graph: Graph) -> Iterator[list[Relation]]:
    """Yield all relations, in chunks."""
    columns = (graph.source, graph.target, graph.relation, graph.weight, graph.tags)
    for start in range(0, len(graph.source), CHUNK):
        rows = zip(*(column[start : start + CHUNK].tolist() for column in columns), strict=True)
        yield [
            Relation(
                source=graph.ids[source],
                target=graph.ids[target],
                relation=graph.relations[relation],
                weight=weight,
                tags=graph.tag_sets[tags],
            )
            for source, target, relation, weight, tags in rows
        ]
