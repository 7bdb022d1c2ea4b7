"""Give a mapped graph vectors of memoria's own: a property and an index that no other program uses.

In: a store of memoria's own, a mapping, an embedder. Out: how many vectors were made, and the
mapping that reads them. Writes two properties of nodes, and vector indexes; only if asked for.
Queries: ``mapping.ids``, ``mapping.texts``, ``mapping.embed``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder, embed_what_can_be
from memoria.errors import DimensionError
from memoria.graph.mapping.checking import vector_statement
from memoria.graph.mapping.creating import create_index, until_online
from memoria.graph.mapping.database import ask, inventory_of
from memoria.graph.mapping.expressions import quoted, text_of_node
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import NodeMapping
from memoria.store import Store
from memoria.store.queries import load

#: The property with the vectors; ``memoria_embedding_of`` notes text and embedder of each.
VECTORS = "memoria_embedding"
_BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectorised:
    """Counts of one run of `embed_mapped`, and what reads its vectors.

    Attributes
    ----------
    embedded, left
        Nodes that got a vector, and nodes with a text that got none.
    mapping
        The mapping that reads the vectors.
    fault
        Why nodes got none; None if all did.
    """

    embedded: int
    left: int
    mapping: GraphMapping
    fault: str | None = None


def with_vectors(mapping: GraphMapping) -> GraphMapping:
    """Return a mapping that reads memoria's vectors wherever a graph has none of its own.

    A vector index covers one label, so an entry of several labels becomes one for each.
    """
    nodes: list[NodeMapping] = []
    for node in mapping.nodes:
        if node.connector or node.embedding not in (None, VECTORS):
            nodes.append(node)
            continue
        nodes += [
            replace(node, label=label, embedding=VECTORS, vector_index=_index_of(label))
            for label in node.labels
        ]
    return replace(mapping, nodes=tuple(nodes))


async def embed_mapped(
    store: Store,
    mapping: GraphMapping,
    embedder: Embedder,
    announce: Callable[[str], None],
    progress: ProgressCallback = silent,
) -> Vectorised:
    """Make the vectors that are missing, or of another text or embedder, and their indexes.

    Parameters
    ----------
    announce
        Called with the statement of each index before it runs.

    Raises
    ------
    DimensionError
        An index of the graph has vectors of another size: one question has one vector.
    """
    reads = with_vectors(mapping)
    own = [node for node in reads.nodes if node.embedding == VECTORS]
    inventory = await inventory_of(store, [node.labels[0] for node in own], ())
    for name in (*reads.vector_indexes, *reads.fact_vector_indexes):
        index = inventory.index(name)
        if index is not None and index.dimensions not in (None, embedder.dimensions):
            raise DimensionError(
                f"the index {name!r} has vectors of {index.dimensions} dimensions, but those of "
                f"{embedder.name!r} have {embedder.dimensions}, and one question has one vector: "
                "use the embedder of that index, or leave the index out of the mapping",
                field="vector_index",
            )
    patient, embedded, left, fault = store.patient(), 0, 0, None
    for node in own:
        label = node.labels[0]
        if inventory.index(_index_of(label)) is None:
            statement = vector_statement(
                _index_of(label), f"(n:{quoted(label)})", VECTORS, embedder.dimensions
            )
            await create_index(store, statement, announce)
        ids = (await ask(patient, "mapping.ids", {}, label=label))["ids"]
        for start in range(0, len(ids), _BATCH):
            stale = await _stale(patient, node, ids[start : start + _BATCH], embedder.name)
            made = await embed_what_can_be(embedder, [text for _, text in stale])
            rows = [
                [id_, list(vector), _hash(embedder.name, text)]
                for (id_, text), vector in zip(stale, made.vectors, strict=True)
                if vector is not None
            ]
            if rows:
                await patient.run(load("mapping.embed"), {"rows": rows})
            embedded, left = embedded + len(rows), left + len(stale) - len(rows)
            fault = fault or made.fault
            progress(f"embed {label}", min(start + _BATCH, len(ids)), len(ids))
    await until_online(store)
    return Vectorised(embedded=embedded, left=left, mapping=reads, fault=fault)


async def _stale(
    store: Store, node: NodeMapping, ids: Sequence[str], embedder: str
) -> list[tuple[str, str]]:
    """Return the nodes without a vector of this text and embedder: element id and text."""
    query = load("mapping.texts")
    query = query.with_text(query.text.replace("m.text", text_of_node("m", node.text)))
    rows = (await store.run(query, {"ids": list(ids)}))[0]["rows"]
    return [
        (id_, text)
        for id_, text, stored in rows
        if isinstance(text, str) and text.strip() and stored != _hash(embedder, text)
    ]


def _hash(embedder: str, text: str) -> str:
    return hashlib.sha256(f"{embedder}\0{text}".encode("utf-8", "replace")).hexdigest()[:32]


def _index_of(label: str) -> str:
    """Name the index of a label, legibly; the hash tells labels apart that read alike."""
    words = "".join(c if c.isalnum() else "_" for c in label.lower())
    own = hashlib.sha256(label.encode()).hexdigest()[:8]
    return f"memoria_{words[:48]}_{own}_embedding"
