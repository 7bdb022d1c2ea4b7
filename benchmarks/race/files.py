"""Read a real graph from a folder with ``nodes.jsonl.gz`` and ``edges.jsonl.gz``.

In: a folder. Out: a `Graph`. Reads files. A node has ``id`` and ``kind``, perhaps ``text`` or
``name``; an edge has ``s``, ``t``, ``type`` and ``w``, perhaps ``tags``.
"""

from __future__ import annotations

import gzip
import json
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.graphs import DIMENSIONS, Graph

NODES, EDGES = "nodes.jsonl.gz", "edges.jsonl.gz"


def graph_folder(value: str) -> Path:
    """Check an argument of the command line now: a graph of the user's own is measured last.

    Raises
    ------
    ArgumentTypeError
        A file is missing.
    """
    folder = Path(value)
    for file in (NODES, EDGES):
        if not (folder / file).is_file():
            raise ArgumentTypeError(f"{value} holds no {file}")
    return folder


def read_graph(folder: Path) -> Graph:
    """Read all nodes and edges; loops and repeated edges are left out."""
    nodes = list(_lines(folder / NODES))
    number = {node["id"]: index for index, node in enumerate(nodes)}
    edges: dict[tuple[int, int, str], tuple[float, tuple[str, ...]]] = {}
    for edge in _lines(folder / EDGES):
        key = (number[edge["s"]], number[edge["t"]], str(edge["type"]).lower())
        if key[0] != key[1]:
            edges[key] = (float(edge["w"]), tuple(sorted(set(edge.get("tags", ())))))
    relations = _numbered(relation for _, _, relation in edges)
    tag_sets = _numbered(tags for _, tags in edges.values())
    texts = [str(node.get("text") or node.get("name") or node["id"]) for node in nodes]
    kinds = [str(node["kind"]).capitalize() for node in nodes]
    return Graph(
        name=folder.name,
        ids=list(number),
        kind_of=kinds.__getitem__,
        source=np.array([source for source, _, _ in edges], dtype=np.int64),
        target=np.array([target for _, target, _ in edges], dtype=np.int64),
        weight=np.array([weight for weight, _ in edges.values()]),
        relation=np.array([relations[relation] for _, _, relation in edges], dtype=np.int64),
        tags=np.array([tag_sets[tags] for _, tags in edges.values()], dtype=np.int64),
        relations=list(relations),
        tag_sets=list(tag_sets),
        texts=lambda start, stop: texts[start:stop],
        vectors=lambda start, stop: np.empty((stop - start, DIMENSIONS)),
        query_tags=False,
    )


def _numbered(values: Iterator[Any] | Sequence[Any]) -> dict[Any, int]:
    return {value: index for index, value in enumerate(dict.fromkeys(values))}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
