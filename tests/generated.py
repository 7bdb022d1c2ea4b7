"""Generated graphs and questions, for the oracle alone and for the engine against it.

``random_question`` makes many, each named by its seed; ``questions`` makes small ones that
hypothesis can shrink. Few distinct weights and tags, so that ties are everywhere; bad weights,
self loops, parallel edges, edges into other scopes, ids that only code points put in order;
memories that don't hold.
"""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

from hypothesis import strategies as st

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from tests.oracle.transfer import Edge, Graph, Node, explore, transfer_energy, with_transfer
from tests.oracle.validity import CALLS, CONDITIONS, ODD_TIMES, TIMES, Span

SCOPE = "a"
SCOPES = [SCOPE, "A", "a ", "b"]
ASTRAL_IDS = [  # UTF-16 would put the last three, surrogate pairs, before the others
    *("\ue000", "\uf8ff", "\uff21", "\uff5e", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff"),
]
IDS = [
    *(f"n{number}" for number in range(20)),
    *("N1", "a b", " ", "'", '"', "\\", "\\'", "`", "$p", "{}", "\n", "\x00", "null"),
    *("é", "e\u0301", "ß", "\u05d0", "\u202e", *ASTRAL_IDS),
]
TAGS = ["t0", "t1", "t2", "t3", "t4", "T0", "\uff5e", "\U0001f600"]
RELATIONS: list[str | None] = [None, "", "a", "b", "B", "\uff5e", "\U0001f600"]
TIED_WEIGHTS: list[Any] = [1.0, 0.5]
NORMAL_WEIGHTS: list[Any] = [0.25, 0.3, 0.5, 0.7, 0.75, 0.9, 1.0]
WILD_WEIGHTS: list[Any] = [
    *(None, 0.01, 1.7, 2.5, 1e308, 5e-324, 0.0, -0.0, -1.0, 0, 1, 2, -1, 2**62),
    *(math.nan, math.inf, -math.inf, "0.9", "", True, False, [0.5], []),
    *(datetime.date(2026, 1, 1), b"\x01"),
]
SCORES = [1.0, 0.9, 0.5, 0.2, 0.05, 0.006, 0.005]
MISSING_SEED = "missing"

Pairs = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A graph, and the seeds to explore it from in the scope ``SCOPE``."""

    graph: Graph
    seeds: Sequence[tuple[str, float]]
    query_tags: Sequence[str]
    config: RetrieverConfig


def random_question(rng: random.Random) -> Question:
    """One of endlessly many; equal generators give equal questions."""
    size = rng.choice([1, 2, 3, 5, 8, 8, 12, 12, 16, 20])
    shape = rng.choice(SHAPES)
    ids = rng.sample(rng.choice([IDS, IDS, IDS[-20:]]), size)
    pairs = _disturbed(rng, size, shape(rng, size))
    nodes = [Node(SCOPE, node_id) for node_id in ids]
    foreign = [Node(rng.choice(SCOPES[1:]), rng.choice(IDS)) for _ in range(rng.choice([0, 0, 3]))]
    query_tags = rng.choices(TAGS, k=rng.choice([0, 1, 1, 2, 3, 4]))
    new_edge = _edge_maker(rng, query_tags)
    edges = [new_edge(nodes[source], nodes[target]) for source, target in pairs]
    for other in foreign:
        ends = [rng.choice([*nodes, *foreign]), other]
        rng.shuffle(ends)
        edges.append(new_edge(*ends))
    if rng.random() < 0.08:  # a hub
        leaves = [Node(SCOPE, f"leaf{number}") for number in range(rng.randint(20, 60))]
        hub = rng.choice(nodes)
        edges += [new_edge(hub, leaf) for leaf in leaves]
        nodes += leaves
    rng.shuffle(edges)
    question = Question(
        graph=Graph([*nodes, *foreign], edges, _spans(rng, nodes), _some(rng, nodes)),
        seeds=_seeds(rng, ids, foreign),
        query_tags=query_tags,
        config=_config(rng),
    )
    return _at_the_threshold(rng, question) if rng.random() < 0.2 else question


def _config(rng: random.Random) -> RetrieverConfig:
    """Whole numbers among the fractions: in Cypher, whole numbers divide into whole numbers."""
    return RetrieverConfig(
        strategy=TransferEnergy(
            max_depth=rng.choice([1, 2, 3, 4, 5, 5, 6, 6]),
            min_activation=rng.choice([0, 0.0005, 0.005, 0.005, 0.02]),
            tag_sim_floor=rng.choice([0, 0.0, 0.15, 0.15, 0.15, 0.1, 0.2, 1, 1.0]),
            max_branches=rng.randint(1, 4),
        ),
        max_weight=rng.choice([1.0, 1.0, 1.0, 1, 2.0, 2.0, 0.5, 0.005]),
        **rng.choice(CALLS),
    )


def _spans(rng: random.Random, nodes: Sequence[Node]) -> dict[Node, Span]:
    """In half of the graphs some memories are superseded, outdated, made late or conditional."""
    share = rng.choice([0.0, 0.0, 0.2, 0.5])
    times = [*TIMES, rng.choice(ODD_TIMES)]
    return {
        node: Span(
            superseded_at=rng.choice(times),
            valid_until=rng.choice(times),
            created_at=rng.choice(times),
            when=rng.choice(CONDITIONS),
        )
        for node in nodes
        if rng.random() < share
    }


def _some(rng: random.Random, nodes: Sequence[Node]) -> list[Node]:
    """Those that are connectors: none in half of the graphs."""
    share = rng.choice([0.0, 0.0, 0.2, 0.5])
    return [node for node in nodes if rng.random() < share]


def _at_the_threshold(rng: random.Random, question: Question) -> Question:
    """The same with a threshold that an energy, or the most an edge could pass on, just meets."""
    energies = [
        energy
        for seed_id, score in question.seeds
        for path in explore(
            question.graph, SCOPE, seed_id, score, question.query_tags, question.config
        ).paths
        for hop in path.hops
        for energy in (hop.energy_out, transfer_energy(hop.energy_in, hop.weight, hop.degree, 1.0))
    ]
    if not energies:
        return question
    config = with_transfer(question.config, min_activation=rng.choice(energies))
    return replace(question, config=config)


def _random(rng: random.Random, size: int) -> Pairs:
    return [(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(0, 3 * size))]


def _ring(_: random.Random, size: int) -> Pairs:
    return [*pairwise(range(size)), (size - 1, 0)]


def _tree(rng: random.Random, size: int) -> Pairs:
    return [(rng.randrange(max(0, child - 4), child), child) for child in range(1, size)]


def _star(_: random.Random, size: int) -> Pairs:
    return [(0, leaf) for leaf in range(1, size)]


def _complete(_: random.Random, size: int) -> Pairs:
    return list(combinations(range(min(size, 8)), 2))


def _layers(rng: random.Random, size: int) -> Pairs:
    """Layers of three, each node tied to most of the next layer: parents compete."""
    layer = [0] + [1 + number // 3 for number in range(size - 1)]
    return [
        (low, high)
        for low, high in combinations(range(size), 2)
        if layer[high] == layer[low] + 1 and rng.random() < 0.7
    ]


def _chain(_: random.Random, size: int) -> Pairs:
    return list(pairwise(range(size)))


SHAPES: list[Callable[[random.Random, int], Pairs]] = [
    *(_random, _random, _layers, _layers, _ring, _tree, _star, _complete, _chain),
]


def _disturbed(rng: random.Random, size: int, pairs: Pairs) -> Pairs:
    """The same pairs in either direction, some of them twice, and some self loops."""
    doubled = rng.choice([0.0, 0.1, 0.5])
    pairs = pairs + [pair for pair in pairs if rng.random() < doubled]
    pairs += [(node, node) for node in range(size) if rng.random() < 0.05]
    return [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]


def _edge_maker(rng: random.Random, query_tags: Sequence[str]) -> Callable[[Node, Node], Edge]:
    wild = rng.choice([0.0, 0.0, 0.1, 0.5])
    usual = rng.choice([TIED_WEIGHTS, NORMAL_WEIGHTS, [rng.random() for _ in range(20)]])
    relations = rng.choice([RELATIONS[2:3], RELATIONS])
    topical = rng.choice([0.0, 0.3, 0.9])

    def tags() -> list[str] | None:
        if rng.random() < topical:
            return sorted(set(query_tags))
        kinds: list[list[str] | None] = [None, [], rng.choices(TAGS, k=3)]
        return rng.choice([*kinds, rng.sample(TAGS, rng.randint(1, 5))])

    def new_edge(source: Node, target: Node) -> Edge:
        return Edge(
            source=source,
            target=target,
            relation=rng.choice(relations),
            weight=rng.choice(WILD_WEIGHTS if rng.random() < wild else usual),
            tags=tags(),
        )

    return new_edge


def _seeds(
    rng: random.Random, ids: Sequence[str], foreign: Sequence[Node]
) -> list[tuple[str, float]]:
    pool = list(ids)
    if rng.random() < 0.2:
        pool += [MISSING_SEED, *(node.id for node in foreign)]
    chosen = rng.sample(sorted(set(pool)), min(rng.randint(1, 5), len(set(pool))))
    return [(seed_id, rng.choice([*SCORES, 1.0, 1.0 - rng.random()])) for seed_id in chosen]


_nodes = st.builds(Node, st.sampled_from([SCOPE, SCOPE, SCOPE, "b"]), st.sampled_from(IDS[::2]))
_tags = st.lists(st.sampled_from(TAGS), max_size=4)
_weights = st.one_of(
    st.sampled_from(NORMAL_WEIGHTS),
    st.sampled_from(WILD_WEIGHTS),
    st.integers(0, 200).map(lambda hundredths: hundredths / 100),
)
configs = st.builds(
    RetrieverConfig,
    strategy=st.builds(
        TransferEnergy,
        max_depth=st.integers(1, 6),
        min_activation=st.sampled_from([0.005, 0, 0.0005, 0.02]),
        tag_sim_floor=st.sampled_from([0.15, 0, 1]),
        max_branches=st.integers(1, 4),
    ),
    max_weight=st.sampled_from([1.0, 2.0, 0.5]),
)


_times = st.sampled_from([*TIMES, *TIMES, *ODD_TIMES])
spans = st.builds(
    Span,
    superseded_at=_times,
    valid_until=_times,
    created_at=_times,
    when=st.sampled_from(CONDITIONS),
)
#: Settings of a call that say what holds.
calls = st.sampled_from(CALLS)


def spans_of(nodes: Sequence[Node]) -> st.SearchStrategy[dict[Node, Span]]:
    """What some of the nodes say of their own time and conditions."""
    return st.dictionaries(st.sampled_from(nodes), spans, max_size=4)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Small graphs whose seeds are any of their ids, or none of them."""
    nodes = draw(st.lists(_nodes, min_size=1, max_size=10, unique=True))
    end = st.sampled_from(nodes)
    edges = st.builds(
        Edge,
        source=end,
        target=end,
        relation=st.sampled_from(RELATIONS),
        weight=_weights,
        tags=st.none() | _tags,
    )
    ids = sorted({node.id for node in nodes} | {MISSING_SEED})
    seed = st.tuples(st.sampled_from(ids), st.sampled_from(SCORES))
    connectors = draw(st.lists(st.sampled_from(nodes), max_size=3))
    graph = Graph(nodes, draw(st.lists(edges, max_size=24)), draw(spans_of(nodes)), connectors)
    return Question(
        graph=graph,
        seeds=draw(st.lists(seed, min_size=1, max_size=5, unique_by=lambda pair: pair[0])),
        query_tags=draw(_tags),
        config=replace(draw(configs), **draw(calls)),
    )
