"""The worth that paths bring to memories: small cases by hand, then properties."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.context import ContextBuilder, with_links
from memoria.types import Hop, MemoryNode, Path


def path(*steps: str, weights: tuple[float, ...] = (), against: tuple[int, ...] = ()) -> Path:
    """A path along ``steps``; weights of its hops (1.0 each), and which hops go against an edge."""
    weights = weights or (1.0,) * (len(steps) - 1)
    hops = tuple(
        Hop(
            source=source,
            target=target,
            relation="caused_by",
            direction="in" if place in against else "out",
            weight=weight,
            tags=(),
            tag_similarity=1.0,
            degree=9,
            energy_in=0.9 / 10**place,
            energy_out=0.9 / 10 ** (place + 1),
        )
        for place, (source, target, weight) in enumerate(
            zip(steps[:-1], steps[1:], weights, strict=True)
        )
    )
    return Path(
        seed_id=steps[0],
        hops=hops,
        memories=tuple(MemoryNode(id=i, kind="Event", text=f"text of {i}") for i in steps),
        end_reason="dead_end",
        energy=hops[-1].energy_out if hops else 0.9,
    )


def test_each_hop_leaves_the_weight_of_its_edge() -> None:
    worth = with_links([path("a", "b", "c", weights=(0.9, 0.5))], {"a": 1.0, "b": 0.0, "c": 0.0})
    assert worth["a"] == 1.0
    assert worth["b"] == pytest.approx(0.25 * 0.9)
    assert worth["c"] == pytest.approx(0.25 * 0.9 * 0.5)


def test_a_hop_against_the_stored_direction_leaves_two_fifths() -> None:
    worth = with_links([path("a", "b", against=(0,))], {"a": 1.0, "b": 0.0})
    assert worth["b"] == pytest.approx(0.25 * 0.4)


def test_a_weight_above_one_counts_as_one() -> None:
    worth = with_links([path("a", "b", weights=(7.0,))], {"a": 1.0, "b": 0.0})
    assert worth["b"] == pytest.approx(0.25)


def test_a_memory_on_the_path_hands_on_its_own_worth_where_it_is_more() -> None:
    worth = with_links([path("a", "b", "c")], {"a": 0.1, "b": 1.0, "c": 0.0})
    assert worth["c"] == pytest.approx(0.25)


def test_the_best_of_several_paths_counts() -> None:
    paths = [path("a", "c"), path("b", "c"), path("b", "d", "c")]
    worth = with_links(paths, {"a": 0.5, "b": 1.0, "c": 0.2, "d": 0.0})
    assert worth["c"] == pytest.approx(0.2 + 0.25 * 0.8)


def test_a_memory_that_is_not_named_gets_nothing_and_hands_on_nothing() -> None:
    worth = with_links([path("a", "hub", "c", "d")], {"a": 1.0, "c": 0.5, "d": 0.0})
    assert worth == {"a": 1.0, "c": 0.5, "d": pytest.approx(0.25 * 0.5)}


@pytest.mark.parametrize("relation", ["similar", "SIMILAR", "next", "mentions", ""])
def test_an_edge_that_says_no_more_than_the_texts_hands_on_nothing(relation: str) -> None:
    alike = path("a", "b", "c")
    alike = replace(alike, hops=(replace(alike.hops[0], relation=relation), alike.hops[1]))
    worth = with_links([alike], {"a": 1.0, "b": 0.5, "c": 0.0})
    assert worth == {"a": 1.0, "b": 0.5, "c": pytest.approx(0.25 * 0.5)}


def test_the_cause_of_a_cause_is_packed_before_hits_that_hardly_match() -> None:
    # Energy falls by ten at each hop and so does the score; each line has seven words at least.
    story = path("late", "snow", "front")
    scores = {"late": 1.0, "snow": 0.02, "front": 0.004} | {f"hit-{n}": 0.03 for n in range(9)}

    def packed(worth: dict[str, float]) -> set[str]:
        builder = ContextBuilder(30, count_tokens=lambda text: len(text.split()))
        for one in (story, *(path(f"hit-{n}") for n in range(9))):
            builder.add(one)
        return {item.id for item in builder.build(worth=worth).items}

    assert packed(scores) & set(story.ids) == {"late"}
    assert packed(with_links([story], scores)) >= set(story.ids)


names = st.sampled_from("abcdef")
paths = st.lists(
    st.lists(names, min_size=1, max_size=4, unique=True).flatmap(
        lambda steps: st.builds(
            path,
            *map(st.just, steps),
            weights=st.tuples(*[st.floats(0.01, 2.0)] * (len(steps) - 1)),
            against=st.tuples(st.integers(0, 3)),
        )
    ),
    max_size=6,
)
worths = st.dictionaries(names, st.floats(0.0, 1.0), max_size=6)


@given(paths, worths)
def test_links_add_at_most_a_share_of_the_best_worth_and_take_nothing(
    paths: list[Path], worth: dict[str, float]
) -> None:
    changed = with_links(paths, worth)
    assert list(changed) == list(worth)
    most = max(worth.values(), default=0.0)
    for id_, own in worth.items():
        assert own <= changed[id_] <= own + 0.25 * most + 1e-12


@given(paths, worths)
def test_the_best_memory_stays_the_best(paths: list[Path], worth: dict[str, float]) -> None:
    changed = with_links(paths, {**worth, "best": 1.0})
    assert changed["best"] == 1.0
    assert max(changed.values()) == 1.0


@given(paths, worths, st.randoms())
def test_the_order_of_the_paths_makes_no_difference(
    paths: list[Path], worth: dict[str, float], order: random.Random
) -> None:
    again = [*paths, *paths[:2]]
    order.shuffle(again)
    assert with_links(again, worth) == with_links(paths, worth)
