"""Graphs to measure on: generated with a fixed seed, the same on every machine.

In: a size and a seed. Out: a `Graph`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria.graph.vocabulary import DEFAULT_KINDS

DIMENSIONS = 384
CHUNK = 10_000
MEAN_DEGREE = 10
EXPONENT = 2.5
RELATIONS = ("about", "answers", "caused_by", "follows", "mentions", "related")
_WORDS = tuple(f"word{number:04}" for number in range(20_000))
_TAGS = tuple(f"topic-{number:03}" for number in range(200))
_TAG_SETS = 5_000
_TOPICS = 500

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A node of exactly this degree."""

    node: int
    degree: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Nodes by number, and edges as columns of equal length.

    Attributes
    ----------
    name
        What tables call it.
    ids, kind_of
        The node's id, and its kind by its number.
    source, target, weight
        Ends and strength of each edge; no edge joins a node to itself.
    relation, tags
        Numbers into ``relations`` and ``tag_sets``, for each edge.
    hubs
        Nodes whose degree was planned; none that grew by itself.
    texts, vectors
        Called with the first node and the one after the last, a multiple of `CHUNK` first: their
        texts, and their embeddings as rows.
    embedded
        Nodes from the first that have an embedding.
    query_tags
        Whether half of the questions carry tags.
    """

    name: str
    ids: Sequence[str]
    kind_of: Callable[[int], str]
    source: Integers
    target: Integers
    weight: Floats
    relation: Integers
    tags: Integers
    relations: Sequence[str]
    tag_sets: Sequence[tuple[str, ...]]
    hubs: tuple[Hub, ...] = ()
    texts: Callable[[int, int], list[str]]
    vectors: Callable[[int, int], Floats]
    embedded: int = 0
    query_tags: bool = True

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every kind that a node may have."""
        return tuple(dict.fromkeys(self.kind_of(node) for node in range(len(self.ids))))

    def degrees(self) -> Integers:
        """Edges at each node, in either direction."""
        ends = np.concatenate([self.source, self.target])
        return np.bincount(ends, minlength=len(self.ids))


def power_law(
    edges: int, *, seed: int = 1, hubs: Sequence[int] = (), embedded: int = 0, name: str = ""
) -> Graph:
    """Few nodes with many edges, many with few; the mean degree is the same at every size.

    Parameters
    ----------
    hubs
        Degrees of further nodes, joined to others at random; each below the number of nodes.
    """
    nodes = 2 * edges // MEAN_DEGREE
    rng = np.random.default_rng([seed, edges])
    places = rng.permutation(nodes)  # hubs don't lie side by side in the store
    planned, others = places[: len(hubs)], places[len(hubs) :]
    parts = [_at_hub(hub, degree, others, rng) for hub, degree in zip(planned, hubs, strict=True)]
    chances = np.arange(1, len(others) + 1) ** (-1 / (EXPONENT - 1))
    source, target = _pairs(edges - sum(hubs), chances / chances.sum(), rng)
    parts.append((others[source], others[target]))
    form = _Form(
        name=name or f"power law, {edges:,} edges",
        nodes=nodes,
        seed=seed,
        hubs=tuple(Hub(node=int(n), degree=d) for n, d in zip(planned, hubs, strict=True)),
        embedded=embedded,
    )
    sources, targets = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _graph(form, sources, targets, rng.beta(2, 2, edges) * 0.75 + 0.25)


def sparse(edges: int, *, seed: int = 1) -> Graph:
    """Mean degree 6, strong edges, no hubs: energy reaches depth 5 and hundreds of nodes."""
    nodes = edges // 3
    rng = np.random.default_rng([seed, edges, 6])
    source, target = _pairs(edges, np.full(nodes, 1 / nodes), rng)
    form = _Form(name=f"sparse, {edges:,} edges", nodes=nodes, seed=seed, query_tags=False)
    return _graph(form, source, target, rng.uniform(0.6, 1.0, edges))


def _at_hub(
    hub: int, degree: int, others: Integers, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Join a hub to so many different nodes, in either direction."""
    ends = rng.choice(others, degree, replace=False)
    outward = rng.random(degree) < 0.5
    return np.where(outward, hub, ends), np.where(outward, ends, hub)


def _pairs(count: int, chances: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Draw so many different pairs of two different nodes, each end by its chance."""
    nodes = len(chances)
    limits = np.cumsum(chances)
    limits[-1] = 1.0
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        more = int((count - len(found)) * 1.2) + 100
        ends = np.searchsorted(limits, rng.random((2, more)), side="right")
        keys = ends[0] * nodes + ends[1]
        found = np.unique(np.concatenate([found, keys[ends[0] != ends[1]]]))
    kept = rng.permutation(found)[:count]
    return kept // nodes, kept % nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What of a graph is not its edges."""

    name: str
    nodes: int
    seed: int
    hubs: tuple[Hub, ...] = ()
    embedded: int = 0
    query_tags: bool = True


def _graph(form: _Form, source: Integers, target: Integers, weight: Floats) -> Graph:
    """Give edges their tags and relations, and nodes their ids, texts and vectors."""
    seed = form.seed
    edges = len(source)
    rng = np.random.default_rng([seed, edges, 2])
    order = rng.permutation(edges)  # as written by many conversations, not node by node
    return Graph(
        name=form.name,
        ids=[f"m{node:07}" for node in range(form.nodes)],
        kind_of=lambda node: DEFAULT_KINDS[node % len(DEFAULT_KINDS)],
        source=source[order],
        target=target[order],
        weight=weight,
        relation=rng.integers(len(RELATIONS), size=edges),
        tags=np.where(rng.random(edges) < 0.1, 0, rng.integers(1, _TAG_SETS, size=edges)),
        relations=RELATIONS,
        tag_sets=_tag_sets(np.random.default_rng([seed, 3])),
        hubs=form.hubs,
        texts=lambda start, stop: _texts(seed, start, stop),
        vectors=lambda start, stop: _vectors(seed, start, stop),
        embedded=min(form.embedded, form.nodes),
        query_tags=form.query_tags,
    )


def _tag_sets(rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Draw lists of one to four tags, frequent ones often; the first one is empty."""
    found: list[tuple[str, ...]] = [()]
    for _ in range(_TAG_SETS - 1):
        numbers = (len(_TAGS) * rng.random(rng.integers(1, 5)) ** 2).astype(int)
        found.append(tuple(sorted({_TAGS[number] for number in numbers})))
    return found


def _texts(seed: int, start: int, stop: int) -> list[str]:
    """Sentences of 8 to 24 words, some words far more frequent than others."""
    rng = np.random.default_rng([seed, 4, start])
    sizes = rng.integers(8, 25, size=stop - start)
    numbers = (len(_WORDS) * rng.random((stop - start, 24)) ** 3).astype(int).tolist()
    return [
        " ".join(_WORDS[number] for number in row[:size])
        for row, size in zip(numbers, sizes.tolist(), strict=True)
    ]


def _vectors(seed: int, start: int, stop: int) -> Floats:
    """Draw unit vectors around the centres of topics, as those of texts lie."""
    centres = np.random.default_rng([seed, 5]).normal(size=(_TOPICS, DIMENSIONS))
    rng = np.random.default_rng([seed, 6, start])
    own = centres[rng.integers(_TOPICS, size=stop - start)]
    found = own + rng.normal(size=own.shape)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    rounded: Floats = np.round(found, 5)
    return rounded
