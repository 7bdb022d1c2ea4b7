"""The oracle: hand-made cases, the worked figures of source 001, and properties of any graph."""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from memoria.types import Hop
from tests.cases import (
    CASES,
    EDGE_TAGS,
    HERE,
    N2006,
    QUERY_TAGS,
    Case,
    chain,
    edge,
    full_tree,
    leaves,
)
from tests.cases import graph as make_graph
from tests.for_each import for_each
from tests.generated import SCOPE, Question, questions, random_question
from tests.oracle.transfer import (
    Graph,
    Node,
    ReferenceExploration,
    ReferencePath,
    counted_weight,
    explore,
    tag_similarity,
    transfer_energy,
    transfer_of,
)

FLOOR = 0.15


def ids_of(path: ReferencePath, seed_id: str) -> tuple[str, ...]:
    return (seed_id, *(hop.target for hop in path.hops))


def explore_all(question: Question) -> Iterator[tuple[str, float, ReferenceExploration]]:
    for seed_id, score in question.seeds:
        yield (
            seed_id,
            score,
            explore(question.graph, SCOPE, seed_id, score, question.query_tags, question.config),
        )


def hops_of(exploration: ReferenceExploration) -> set[Hop]:
    return {hop for path in exploration.paths for hop in path.hops}


# Hand-made cases


@for_each("case", CASES)
def test_oracle_finds_the_paths_worked_out_by_hand(case: Case) -> None:
    found = explore(case.graph, HERE, case.seed_id, case.score, case.query_tags, case.config)
    assert found.status == case.status
    facts = [(ids_of(path, case.seed_id), path.end_reason) for path in found.paths]
    assert facts == [(expected.ids, expected.end_reason) for expected in case.paths]
    for path, expected in zip(found.paths, case.paths, strict=True):
        assert path.energy == pytest.approx(expected.energy, rel=1e-12)
        for name, value in (expected.last_edge or {}).items():
            assert getattr(path.hops[-1], name) == value, name


def test_cases_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


# Source 001, section 2: defaults


def test_defaults_are_those_of_the_source() -> None:
    strategy = TransferEnergy()
    assert strategy.max_depth == 5
    assert strategy.min_activation == 0.005
    assert strategy.tag_sim_floor == 0.15
    assert strategy.max_branches == 3


# Source 001, section 3: tag overlap similarity


def test_one_shared_tag_of_six_gives_0_292() -> None:
    assert len(set(EDGE_TAGS) & set(QUERY_TAGS)) == 1
    assert len(set(EDGE_TAGS) | set(QUERY_TAGS)) == 6
    similarity = tag_similarity(EDGE_TAGS, QUERY_TAGS, FLOOR)
    assert similarity == pytest.approx(0.2917, abs=5e-5)  # 0.15 + 0.85 / 6 = 0.291666...
    assert round(similarity, 3) == 0.292


def test_tags_without_overlap_give_the_floor() -> None:
    assert tag_similarity(["recommendation"], QUERY_TAGS, FLOOR) == 0.15


def test_edge_without_tags_gives_the_floor() -> None:
    assert tag_similarity([], QUERY_TAGS, FLOOR) == 0.15
    assert tag_similarity(None, QUERY_TAGS, FLOOR) == 0.15


def test_query_without_tags_gives_one_whatever_the_edge() -> None:
    assert tag_similarity(EDGE_TAGS, [], FLOOR) == 1.0
    assert tag_similarity([], [], FLOOR) == 1.0
    assert tag_similarity(None, [], FLOOR) == 1.0


def test_full_tag_overlap_boosts_about_sevenfold_over_the_floor() -> None:
    boost = tag_similarity(QUERY_TAGS, QUERY_TAGS, FLOOR) / tag_similarity([], QUERY_TAGS, FLOOR)
    assert boost == pytest.approx(6.67, abs=0.005)  # 1 / 0.15


# Source 001, sections 4 and 8: transfer energy, and why the root of the degree


def test_transfer_energy_of_a_worked_step() -> None:
    # 0.8 * 0.5 / sqrt(4) * 0.25 = 0.05
    assert transfer_energy(0.8, 0.5, 4, 0.25) == pytest.approx(0.05)


def depth_reached(divisor: Callable[[int], float], *, weight: float, degree: int) -> int:
    """Hops that a chain of equal nodes carries an energy of 1 while it stays above 0.005."""
    energy, depth = 1.0, 0
    while (energy := energy * weight / divisor(degree)) > TransferEnergy().min_activation:
        depth += 1
    return depth


def backbone(degree: int, weight: float) -> Graph:
    """A chain of eight in which weak leaves bring every node but the last to one degree."""
    names = ["s", *(f"n{number}" for number in range(1, 8))]
    edges = chain(*names, weight=weight)
    for name in names[:-1]:
        on_chain = 1 if name == "s" else 2
        edges += leaves(name, degree - on_chain, weight=0.001)
    return make_graph(*edges)


@pytest.mark.parametrize(
    ("degree", "weight", "depth_by_degree", "depth_by_root"),
    [
        # 1/4 = 0.25, 0.063, 0.016, 0.0039 at weight 1; at 0.5: 0.125, 0.016, 0.00195.
        # 0.5/2 = 0.25, 0.0625, 0.0156, 0.0039.
        (4, 0.5, 2, 3),
        # 0.8/9 = 0.0889, 0.0079, 0.0007; 0.8/3 = 0.2667, 0.0711, 0.0190, 0.00506, 0.00135.
        (9, 0.8, 2, 4),
        # 0.9/6 = 0.15, 0.0225, 0.0034; 0.9/2.449 = 0.3674, 0.135, 0.0496, 0.0182, 0.0067, 0.0025.
        (6, 0.9, 2, 5),
    ],
)
def test_root_of_degree_reaches_depth_3_to_5_where_degree_stops_at_2(
    degree: int, weight: float, depth_by_degree: int, depth_by_root: int
) -> None:
    assert depth_reached(float, weight=weight, degree=degree) == depth_by_degree
    assert depth_reached(math.sqrt, weight=weight, degree=degree) == depth_by_root
    found = explore(backbone(degree, weight), HERE, "s", 1.0, (), RetrieverConfig())
    assert max(len(path.hops) for path in found.paths) == depth_by_root


def test_topical_chain_reaches_max_depth_where_an_untagged_one_stops_at_two() -> None:
    # 6 edges at s (two chains, four weak leaves), weight 0.9; two at each chain node.
    # Topical: 0.36742, then * 0.9 / sqrt(2) four times: 0.0603. Untagged, each also * 0.15:
    # 0.05511, 0.00526, 0.0005.
    names = ["s", "1", "2", "3", "4", "5", "6"]
    topical = [edge(a, b, 0.9, tags=["x"]) for a, b in pairwise(names)]
    other = chain("s", "a", "b", "c", "d", weight=0.9)
    found = explore(
        make_graph(*topical, *other, *leaves("s", 4, 0.001)),
        HERE,
        "s",
        1.0,
        ["x"],
        RetrieverConfig(),
    )
    assert [(len(path.hops), path.end_reason) for path in found.paths] == [
        (5, "max_depth"),
        (2, "below_threshold"),
    ]
    assert found.paths[0].energy == pytest.approx(0.0603, abs=5e-5)


def test_weight_below_the_normal_range_still_counts() -> None:
    assert counted_weight(0.1, 1.0) == 0.1


# Source 001, section 5: the tree


def test_tree_of_n2006_has_depths_three_two_and_one() -> None:
    found = explore(N2006.graph, HERE, "N2006", 0.8, N2006.query_tags, N2006.config)
    by_end = {path.hops[-1].target: len(path.hops) for path in found.paths}
    assert by_end == {"N2010": 3, "N2008": 2, "N2005": 1}
    assert {path.end_reason for path in found.paths} == {"below_threshold"}


def test_three_branches_and_five_levels_give_at_most_243_paths() -> None:
    config = RetrieverConfig(strategy=TransferEnergy(min_activation=0))
    found = explore(full_tree(children=4, depth=5), HERE, "s", 1.0, (), config)
    assert len(found.paths) == 3**5 == 243
    assert {path.end_reason for path in found.paths} == {"max_depth"}
    # 1,024 ends in the tree; of four children named .0 to .3 the last is never taken.
    assert not any(hop.target.endswith(".3") for hop in hops_of(found))


# Properties of any graph


@given(questions())
def test_energy_never_exceeds_the_score_while_weights_are_at_most_one(question: Question) -> None:
    for _, score, found in explore_all(question):
        if question.config.max_weight <= 1:
            assert all(hop.energy_out <= hop.energy_in <= score for hop in hops_of(found))


@given(questions())
def test_no_memory_is_reached_twice(question: Question) -> None:
    for seed_id, _, found in explore_all(question):
        reached = [hop.target for hop in hops_of(found)]
        assert len(reached) == len(set(reached))
        assert seed_id not in reached


@given(questions())
def test_no_parent_has_more_than_max_branches(question: Question) -> None:
    for _, _, found in explore_all(question):
        branches = Counter(hop.source for hop in hops_of(found))
        max_branches = transfer_of(question.config).max_branches
        assert all(count <= max_branches for count in branches.values())


@given(questions())
def test_every_hop_stays_in_scope_and_every_end_has_a_reason(question: Question) -> None:
    max_depth = transfer_of(question.config).max_depth
    for seed_id, _, found in explore_all(question):
        exists = question.graph.has(Node(SCOPE, seed_id), question.config)
        assert found.status == ("complete" if exists else "seed_not_found")
        assert bool(found.paths) == exists
        for path in found.paths:
            passed = (Node(SCOPE, name) for name in ids_of(path, seed_id))
            assert all(question.graph.has(node, question.config) for node in passed)
            assert len(path.hops) <= max_depth
            assert (path.end_reason == "max_depth") == (len(path.hops) == max_depth)


@given(questions())
def test_ledger_of_a_path_multiplies_out_to_its_energy(question: Question) -> None:
    for seed_id, score, found in explore_all(question):
        for path in found.paths:
            energy, here = score, seed_id
            for hop in path.hops:
                assert (hop.source, hop.energy_in) == (here, energy)
                here = hop.target
                energy = energy * hop.weight / math.sqrt(hop.degree) * hop.tag_similarity
                assert hop.energy_out == energy > transfer_of(question.config).min_activation
            assert path.energy == energy


def fewest_hops(graph: Graph, seed: Node) -> dict[str, int]:
    """Hops from the seed to each memory of its scope, over any edge."""
    hops, queue = {seed.id: 0}, deque([seed])
    while queue:
        node = queue.popleft()
        for one in graph.edges_at[node]:
            for end in (one.source, one.target):
                if end.scope == seed.scope and end.id not in hops:
                    hops[end.id] = hops[node.id] + 1
                    queue.append(end)
    return hops


@given(questions())
def test_no_memory_is_nearer_than_the_graph_allows(question: Question) -> None:
    for seed_id, _, found in explore_all(question):
        if found.status == "complete":
            nearest = fewest_hops(question.graph, Node(SCOPE, seed_id))
            for path in found.paths:
                for depth, name in enumerate(ids_of(path, seed_id)):
                    assert nearest[name] <= depth


@given(questions(), st.randoms(use_true_random=False))
def test_order_of_edges_and_query_tags_does_not_matter(
    question: Question, rng: random.Random
) -> None:
    edges, tags = list(question.graph.edges), list(question.query_tags)
    rng.shuffle(edges)
    rng.shuffle(tags)
    shuffled = Graph(question.graph.nodes, edges, question.graph.spans, question.graph.connectors)
    for seed_id, score, found in explore_all(question):
        assert explore(shuffled, SCOPE, seed_id, score, tags, question.config) == found


TAG_LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@given(TAG_LISTS, TAG_LISTS)
def test_tag_similarity_lies_between_the_default_floor_and_one(
    edge_tags: Sequence[str], query_tags: Sequence[str]
) -> None:
    assert FLOOR <= tag_similarity(edge_tags, query_tags, FLOOR) <= 1.0


@given(TAG_LISTS, TAG_LISTS, st.floats(0, 1))
def test_tag_similarity_exceeds_one_by_a_rounding_at_most(
    edge_tags: Sequence[str], query_tags: Sequence[str], floor: float
) -> None:
    assert floor <= tag_similarity(edge_tags, query_tags, floor) <= math.nextafter(1.0, 2.0)


@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), st.sets(st.sampled_from("abcdefgh")))
def test_tag_similarity_is_symmetric_for_sets_with_tags(one: set[str], other: set[str]) -> None:
    if other:
        forth = tag_similarity(sorted(one), other, FLOOR)
        assert forth == tag_similarity(sorted(other), one, FLOOR)


# The generator behind the differential tests


def test_generated_questions_reach_every_reason_status_and_depth() -> None:
    seen: Counter[str | int] = Counter()
    for number in range(1_000):
        for _, _, found in explore_all(random_question(random.Random(number))):
            seen[found.status] += 1
            seen.update(path.end_reason for path in found.paths)
            seen.update(len(path.hops) for path in found.paths)
    reasons = {"complete", "seed_not_found", "max_depth", "below_threshold", "dead_end"}
    assert {what for what in [*reasons, *range(7)] if seen[what] < 8} == set()


def test_equal_seeds_generate_equal_questions() -> None:
    one, other = (random_question(random.Random(7)) for _ in range(2))
    assert one.graph.nodes == other.graph.nodes
    assert repr(one.graph.edges) == repr(other.graph.edges)
    assert (one.seeds, one.query_tags, one.config) == (other.seeds, other.query_tags, other.config)
