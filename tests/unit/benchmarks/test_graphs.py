"""The benchmark's graphs and questions: the same every time, and shaped as they say."""

from __future__ import annotations

import gzip
import json
from argparse import ArgumentTypeError
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks.race.cases import SEEDS, make_cases, make_questions
from benchmarks.race.files import graph_folder, read_graph
from benchmarks.race.graphs import DIMENSIONS, MEAN_DEGREE, Graph, power_law, sparse
from benchmarks.race.load import memories, relations

COLUMNS = ("source", "target", "weight", "relation", "tags")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return power_law(10_000, hubs=(300, 900), embedded=50)


def test_the_same_seed_makes_the_same_graph(graph: Graph) -> None:
    again = power_law(10_000, hubs=(300, 900), embedded=50)
    for name in COLUMNS:
        assert np.array_equal(getattr(graph, name), getattr(again, name)), name
    assert graph.texts(0, 100) == again.texts(0, 100)
    assert np.array_equal(graph.vectors(0, 50), again.vectors(0, 50))
    assert graph.hubs == again.hubs
    assert graph.tag_sets == again.tag_sets


def test_another_seed_makes_another_graph(graph: Graph) -> None:
    other = power_law(10_000, seed=2, hubs=(300, 900))
    assert not np.array_equal(graph.source, other.source)


@pytest.mark.parametrize("edges", [1_000, 10_000, 50_000])
def test_the_mean_degree_is_the_same_at_every_size(edges: int) -> None:
    degrees = power_law(edges).degrees()
    assert degrees.mean() == MEAN_DEGREE


def test_degrees_follow_a_power_law() -> None:
    """Over a power law of exponent 2.5, four times the degree is eight times as rare."""
    degrees = power_law(200_000).degrees()
    above = [np.count_nonzero(degrees >= degree) for degree in (20, 80, 320)]
    for more, fewer in pairwise(above):
        assert 5 < more / fewer < 13
    assert np.median(degrees) < MEAN_DEGREE < degrees.max() / 50


def test_hubs_have_exactly_their_degree(graph: Graph) -> None:
    degrees = graph.degrees()
    assert [degrees[hub.node] for hub in graph.hubs] == [300, 900]
    assert degrees.max() == 900


def test_no_edge_is_a_loop_or_comes_twice(graph: Graph) -> None:
    pairs = set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    assert len(pairs) == len(graph.source) == 10_000
    assert all(source != target for source, target in pairs)


def test_sparse_graph_has_mean_degree_six_and_strong_edges() -> None:
    graph = sparse(6_000)
    assert graph.degrees().mean() == 6
    assert graph.weight.min() >= 0.6
    assert graph.weight.max() <= 1.0
    assert not any(case.tags for case in make_cases(graph, 10))


def test_a_graph_is_made_of_valid_memories_and_relations(graph: Graph) -> None:
    written = [memory for chunk in memories(graph) for memory in chunk]
    edges = [edge for chunk in relations(graph) for edge in chunk]
    assert len(written) == len({memory.id for memory in written}) == 2_000
    assert sum(memory.embedding is not None for memory in written) == 50
    assert len(edges) == 10_000
    assert {edge.source for edge in edges} <= {memory.id for memory in written}
    assert any(edge.tags for edge in edges)
    assert not all(edge.tags for edge in edges)


def test_cases_are_repeatable_and_half_of_them_have_tags(graph: Graph) -> None:
    cases = make_cases(graph, 20)
    assert cases == make_cases(graph, 20)
    assert [bool(case.tags) for case in cases] == [False, True] * 10
    for case in cases:
        assert len({seed.id for seed in case.seeds}) == SEEDS
        assert case.seeds[0].score == 1.0


def test_questions_ask_for_embedded_memories_by_word_and_vector(graph: Graph) -> None:
    texts, vectors = graph.texts(0, 50), graph.vectors(0, 50)
    for question in make_questions(graph, 30):
        nearest = int(np.argmax(vectors @ question.vector))
        assert set(question.text.split()[:-1]) <= set(texts[nearest].split())
        assert question.vector.shape == (DIMENSIONS,)


def test_a_real_graph_is_read_without_loops_and_repetitions(tmp_path: Path) -> None:
    nodes = [
        {"id": "a", "kind": "airport", "name": "Goroka"},
        {"id": "b", "kind": "synset", "text": "a thing"},
    ]
    edges = [
        {"s": "a", "t": "b", "type": "ROUTE", "w": 0.5},
        {"s": "a", "t": "b", "type": "ROUTE", "w": 0.75, "tags": ["y", "x"]},
        {"s": "b", "t": "b", "type": "ROUTE", "w": 1.0},
    ]
    for name, rows in (("nodes", nodes), ("edges", edges)):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    graph = read_graph(tmp_path)
    (edge,) = [edge for chunk in relations(graph) for edge in chunk]
    assert (edge.source, edge.target, edge.relation, edge.weight) == ("a", "b", "route", 0.75)
    assert edge.tags == ("x", "y")
    assert [memory.text for chunk in memories(graph) for memory in chunk] == ["Goroka", "a thing"]


def test_a_folder_without_a_graph_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "nodes.jsonl.gz").touch()
    with pytest.raises(ArgumentTypeError, match=r"holds no edges\.jsonl\.gz"):
        graph_folder(str(tmp_path))
    (tmp_path / "edges.jsonl.gz").touch()
    assert graph_folder(str(tmp_path)) == tmp_path
