"""The parts of a message become one candidate: hand-made cases, then generated ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.ranking import NOTHING_KNOWN, Candidate, Facts, rank_by_relevance
from memoria.recall.ranking.candidates import Past
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.folding import folded, whole_of
from memoria.types import MemoryNode
from tests.unit.recall.ranking.test_relevance import lone


def part(id_: str, text: str = "pier", **facts: object) -> Candidate:
    """A candidate as a conversation writer makes it."""
    node = MemoryNode(id=id_, kind="UserRequest", text=text, metadata={"conversation": "c"})
    return Candidate(memory=node, path=lone(id_, 0.5), **facts)  # type: ignore[arg-type]


def foreign(id_: str) -> Candidate:
    node = MemoryNode(id=id_, kind="Event", text="pier", metadata={"document": "d"})
    return Candidate(memory=node, path=lone(id_, 0.5))


def known(**facts: object) -> Facts:
    return replace(NOTHING_KNOWN, **facts)  # type: ignore[arg-type]


def ids(candidates: list[Candidate]) -> list[str]:
    return [each.memory.id for each in candidates]


def test_only_a_message_of_a_conversation_has_parts() -> None:
    assert whole_of(part("c:1#2").memory) == "c:1"
    assert whole_of(part("c:1").memory) == "c:1"
    assert whole_of(foreign("issue#2").memory) == "issue#2"


def test_the_nearest_part_stands_for_its_message() -> None:
    facts = known(cosines={"c:1": 0.2, "c:1#2": 0.7, "c:1#3": 0.5, "c:2": 0.6})
    found, _ = folded([part("c:1"), part("c:1#2"), part("c:1#3"), part("c:2")], facts)
    assert ids(found) == ["c:1#2", "c:2"]


def test_messages_come_in_the_order_of_the_ids_of_their_shown_parts() -> None:
    facts = known(cosines={"c:2#2": 0.9, "c:1#2": 0.8})
    found, _ = folded([part("c:2#2"), part("c:2"), part("c:1#2"), part("c:1")], facts)
    assert ids(found) == ["c:1#2", "c:2#2"]


def test_without_vectors_the_part_that_the_search_scores_best_stands_for_its_message() -> None:
    found, _ = folded([part("c:1", hybrid=0.2), part("c:1#2", hybrid=0.4)], NOTHING_KNOWN)
    assert ids(found) == ["c:1#2"]


def test_a_part_without_a_vector_stands_behind_any_that_has_one() -> None:
    facts = known(cosines={"c:1": -0.9})
    found, _ = folded([part("c:1#2", hybrid=1.0), part("c:1")], facts)
    assert ids(found) == ["c:1"]


def test_the_cosine_of_a_message_is_the_mean_of_its_two_nearest_parts() -> None:
    all_ = [part("c:1"), part("c:1#2"), part("c:1#3"), part("c:2"), part("c:3"), part("c:3#2")]
    cosines = {"c:1": 0.2, "c:1#2": 0.7, "c:1#3": 0.5, "c:2": 0.9, "c:3#2": 0.4}
    _, facts = folded(all_, known(cosines=cosines))
    assert facts.cosines == {"c:1#2": pytest.approx(0.6), "c:2": 0.9, "c:3#2": 0.4}


def test_a_message_has_the_edges_of_all_its_parts_and_none_to_itself() -> None:
    facts = known(
        cosines={"c:1#2": 1.0},
        degrees={"c:1": 3, "c:1#2": 5, "c:2": 2},
        neighbours={
            "c:1": [("c:1#2", 1.0, True), ("c:2", 0.4, True)],
            "c:1#2": [("c:1", 1.0, False), ("c:0", 0.3, False)],
            "c:2": [("c:1", 0.4, False), ("c:1#2", 0.2, True)],
            "c:0": [("c:1#2", 0.3, True)],
        },
        adjacent={"c:1": ["c:0", "c:2"], "c:1#2": ["c:1"], "c:2": ["c:1"]},
    )
    found, facts = folded([part("c:0"), part("c:1"), part("c:1#2"), part("c:2")], facts)
    assert ids(found) == ["c:0", "c:1#2", "c:2"]
    assert facts.neighbours == {
        "c:1#2": [("c:2", 0.4, True), ("c:0", 0.3, False)],
        "c:2": [("c:1#2", 0.4, False), ("c:1#2", 0.2, True)],
        "c:0": [("c:1#2", 0.3, True)],
    }
    assert facts.degrees == {"c:1#2": 5, "c:2": 2}, "that of the part with most edges"
    assert facts.adjacent == {"c:1#2": ("c:0", "c:2"), "c:2": ("c:1#2",)}


def test_a_message_has_the_strongest_energy_and_the_best_score_of_its_parts() -> None:
    parts = [
        part("c:1", hybrid=0.9, energy={"s": 0.1, "t": 0.3}, loose=True),
        part("c:1#2", energy={"s": 0.2}),
    ]
    [one], _ = folded(parts, known(cosines={"c:1#2": 0.5}))
    assert one.memory.id == "c:1#2"
    assert (one.hybrid, one.energy, one.loose) == (0.9, {"s": 0.2, "t": 0.3}, False)
    assert one.path == parts[1].path


def test_a_message_found_only_loosely_is_loose() -> None:
    [one], _ = folded([part("c:1", loose=True), part("c:1#2", loose=True)], NOTHING_KNOWN)
    assert one.loose


def test_session_and_past_of_a_part_are_those_of_its_message() -> None:
    past = Past(uses=1)
    facts = known(
        cosines={"c:1#2": 1.0}, past={"c:1": past}, sessions={"c:1": ("s", 4)}, opening={"c:1"}
    )
    _, facts = folded([part("c:1"), part("c:1#2")], facts)
    assert facts.past == {"c:1#2": past}
    assert facts.sessions == {"c:1#2": ("s", 4)}
    assert facts.opening == {"c:1#2"}


def test_documents_and_ids_from_elsewhere_are_not_folded() -> None:
    all_ = [foreign("doc"), foreign("doc#2"), part("c:1"), part("c:1#2")]
    found, _ = folded(all_, NOTHING_KNOWN)
    assert ids(found) == ["c:1", "doc", "doc#2"]


def test_where_nothing_has_parts_nothing_changes() -> None:
    all_ = [part("c:1"), part("c:2#2"), foreign("doc#2")]
    facts = known(cosines={"c:1": 0.5}, neighbours={"c:1": [("c:2#2", 1.0, True)]})
    found, same = folded(all_, facts)
    assert found == all_
    assert same is facts


PARTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 4)), unique=True, min_size=1, max_size=9
)


@given(PARTS, st.randoms())
def test_each_message_ranks_once_whatever_the_order_of_its_parts(
    given_parts: list[tuple[str, int]], order: object
) -> None:
    names = [name if number == 1 else f"{name}#{number}" for name, number in given_parts]
    all_ = [part(name, f"ferry {name}") for name in names]
    facts = known(cosines={name: 1 / (2 + n) for n, name in enumerate(names)})
    found, _ = folded(sorted(all_, key=lambda each: each.memory.id), facts)
    assert [whole_of(each.memory) for each in found] == sorted({name[0] for name in names})
    order.shuffle(all_)  # type: ignore[attr-defined]
    again, _ = folded(all_, facts)
    assert sorted(ids(again)) == ids(found)
    ranked = rank_by_relevance("ferry", all_, facts, RelevanceConfig.default())
    assert sorted(entry.id for entry in ranked) == ids(found)
