"""Read the LoCoMo evaluation set: a graph of conversations, and questions about it.

The folder holds ``nodes.dev.jsonl.gz``, ``edges.dev.jsonl.gz``, ``emb_nodes.dev.f16.npy``,
``questions.dev.jsonl`` and ``emb_questions.dev.f16.npy``. Each conversation is a scope of its own.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

import memoria
from memoria.local import LocalNeo4j
from memoria.store import Target, open_driver

DATABASE = "neo4j"
LOAD_TIMEOUT_S = 120.0  # of each query: a server that has just started on a busy machine is slow
KINDS = ("Utterance", "Session", "Speaker", "Entity", "Keyword")
EMBEDDER = "all-MiniLM-L6-v2"  # made the supplied vectors
DIMENSIONS = 384


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def scope_of(node_id: str) -> str:
    """Conversation that a node belongs to: the part of its id before the first colon."""
    return node_id.partition(":")[0]


def memories(folder: Path) -> dict[str, list[memoria.Memory]]:
    """Read the nodes, by scope; the vectors belong to the first nodes of the file."""
    vectors = np.load(folder / "emb_nodes.dev.f16.npy").astype(float)
    found = defaultdict(list)
    for row, node in enumerate(lines(folder / "nodes.dev.jsonl.gz")):
        time = node.get("time")
        found[scope_of(node["id"])].append(
            memoria.Memory(
                id=node["id"],
                kind=node["kind"].capitalize(),
                text=node.get("text") or node.get("name") or node.get("time_text") or node["id"],
                created_at=datetime.fromisoformat(time).replace(tzinfo=UTC) if time else None,
                embedding=vectors[row] if row < len(vectors) else None,
            )
        )
    return found


def relations(folder: Path) -> dict[str, list[memoria.Relation]]:
    """Read the edges, by scope."""
    found = defaultdict(list)
    for edge in lines(folder / "edges.dev.jsonl.gz"):
        if edge["s"] != edge["t"]:
            found[scope_of(edge["s"])].append(
                memoria.Relation(
                    source=edge["s"], target=edge["t"], relation=edge["type"], weight=edge["w"]
                )
            )
    return found


def questions(folder: Path) -> list[dict[str, Any]]:
    """Read the questions."""
    return list(lines(folder / "questions.dev.jsonl"))


def question_embedder(folder: Path) -> memoria.CallableEmbedder:
    """Embed the questions of the set, and nothing else, with the vectors supplied."""
    vectors = np.load(folder / "emb_questions.dev.f16.npy").astype(float)
    known = dict(zip((entry["question"] for entry in questions(folder)), vectors, strict=True))
    return memoria.CallableEmbedder(
        lambda texts: [known[text].tolist() for text in texts],
        dimensions=DIMENSIONS,
        name=EMBEDDER,
    )


@asynccontextmanager
async def served(folder: Path, embedder: memoria.Embedder) -> AsyncIterator[neo4j.AsyncDriver]:
    """Start a throw-away Neo4j that holds the graph."""
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth, database=DATABASE)
        async with open_driver(target, memoria.StoreConfig()) as driver:
            await _load(driver, folder, embedder)
            yield driver


async def _load(driver: neo4j.AsyncDriver, folder: Path, embedder: memoria.Embedder) -> None:
    """Write the graph."""
    config = memoria.StoreConfig(query_timeout_s=LOAD_TIMEOUT_S)
    store = memoria.Store(driver, database=DATABASE, config=config)
    await memoria.apply_schema(store, embedder=embedder)
    edges = relations(folder)
    for scope, supplied in memories(folder).items():
        nodes = supplied
        if embedder.name != EMBEDDER:
            nodes = await _embedded_anew(supplied, embedder)
        writer = memoria.GraphWriter(store, scope=scope, kinds=KINDS)
        report = await writer.write(nodes, edges[scope])
        print(f"{scope}: {report.memories} memories, {report.relations} edges")


async def _embedded_anew(
    nodes: Sequence[memoria.Memory], embedder: memoria.Embedder
) -> list[memoria.Memory]:
    """Put vectors of another embedder in the place of those supplied."""
    texts = [node.text for node in nodes if node.embedding is not None]
    vectors = iter(await embedder.embed_documents(texts))
    return [
        node if node.embedding is None else replace(node, embedding=next(vectors)) for node in nodes
    ]
