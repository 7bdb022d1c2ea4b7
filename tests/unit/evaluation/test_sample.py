"""The sample memory that ships with the package is sound and its questions can be answered."""

import json
from collections import Counter, deque
from datetime import datetime
from itertools import combinations
from typing import Any

import pytest

from memoria.evaluation.sample import QUESTIONS, SampleQuestion, sample_path

KINDS = {"UserRequest", "UserPreference", "AgentAnswer", "AgentAction", "Event", "DataSource"}
MEMORY_KEYS = [
    "id",
    "kind",
    "text",
    "tags",
    "topics",
    "entities",
    "category",
    "priority",
    "when",
    "created_at",
    "metadata",
]
EDGE_KEYS = ["source", "target", "relation", "weight", "tags"]
MAX_HOPS = 5

RAW = sample_path().read_bytes()
RECORDS: list[dict[str, Any]] = [json.loads(line) for line in RAW.decode().splitlines()]
MEMORIES = [record for record in RECORDS if "id" in record]
EDGES = [record for record in RECORDS if "source" in record]
IDS = {memory["id"] for memory in MEMORIES}
VOCABULARY = {tag for record in RECORDS for tag in record["tags"]}


def neighbours() -> dict[str, set[str]]:
    near: dict[str, set[str]] = {memory["id"]: set() for memory in MEMORIES}
    for edge in EDGES:
        near[edge["source"]].add(edge["target"])
        near[edge["target"]].add(edge["source"])
    return near


def hops_from(start: str) -> dict[str, int]:
    near = neighbours()
    hops = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in near[node] - hops.keys():
            hops[other] = hops[node] + 1
            queue.append(other)
    return hops


def test_file_is_utf8_with_unix_line_ends_and_no_blank_line() -> None:
    assert b"\r" not in RAW
    assert RAW.endswith(b"\n")
    assert all(line.strip() for line in RAW.decode("utf-8").splitlines())


def test_every_line_is_a_memory_or_an_edge_with_known_keys_in_order() -> None:
    assert len(MEMORIES) + len(EDGES) == len(RECORDS)
    for memory in MEMORIES:
        assert list(memory) == [key for key in MEMORY_KEYS if key in memory]
    for edge in EDGES:
        assert list(edge) == EDGE_KEYS


def test_there_are_at_least_250_memories_and_500_edges() -> None:
    assert len(MEMORIES) >= 250
    assert len(EDGES) >= 500


def test_memory_ids_are_unique() -> None:
    assert len(IDS) == len(MEMORIES)


def test_texts_are_present_and_never_repeated() -> None:
    texts = [memory["text"] for memory in MEMORIES]
    assert all(text and text == text.strip() for text in texts)
    assert len(set(texts)) == len(texts)


def test_all_six_kinds_occur_and_no_other() -> None:
    assert {memory["kind"] for memory in MEMORIES} == KINDS


def test_every_memory_has_a_time_with_zone_in_2026() -> None:
    for memory in MEMORIES:
        created_at = datetime.fromisoformat(memory["created_at"])
        assert created_at.tzinfo is not None
        assert created_at.year == 2026


def test_priorities_lie_between_zero_and_one() -> None:
    assert all(0 <= memory["priority"] <= 1 for memory in MEMORIES if "priority" in memory)


def test_only_preferences_carry_conditions_and_none_is_empty() -> None:
    conditional = [memory for memory in MEMORIES if "when" in memory]
    assert conditional
    for memory in conditional:
        assert memory["kind"] == "UserPreference"
        assert isinstance(memory["when"], dict)
        assert memory["when"]


def test_tags_are_sorted_and_unique() -> None:
    for record in RECORDS:
        assert record["tags"] == sorted(set(record["tags"]))


def test_every_edge_has_two_to_five_tags_known_from_memories() -> None:
    known = {tag for memory in MEMORIES for tag in memory["tags"]}
    for edge in EDGES:
        assert 2 <= len(edge["tags"]) <= 5
        assert known.issuperset(edge["tags"])


def test_every_edge_joins_two_memories_of_the_file() -> None:
    for edge in EDGES:
        assert edge["source"] in IDS
        assert edge["target"] in IDS


def test_no_edge_joins_a_memory_to_itself() -> None:
    assert [edge for edge in EDGES if edge["source"] == edge["target"]] == []


def test_no_edge_is_written_twice() -> None:
    keys = Counter((edge["source"], edge["target"], edge["relation"]) for edge in EDGES)
    assert [key for key, count in keys.items() if count > 1] == []


def test_weights_lie_in_the_transfer_range() -> None:
    assert all(0.25 <= edge["weight"] <= 1.0 for edge in EDGES)


def test_some_but_few_memories_are_isolated() -> None:
    isolated = [node for node, near in neighbours().items() if not near]
    assert 0 < len(isolated) <= 0.05 * len(MEMORIES)


def test_there_are_exactly_three_questions() -> None:
    assert len(QUESTIONS) == 3


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.tags[0])
def test_question_has_two_to_four_tags_of_the_vocabulary(question: SampleQuestion) -> None:
    assert 2 <= len(question.tags) <= 4
    assert VOCABULARY.issuperset(question.tags)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.tags[0])
def test_question_expects_two_to_four_known_memories(question: SampleQuestion) -> None:
    assert 2 <= len(set(question.expects)) == len(question.expects) <= 4
    assert IDS.issuperset(question.expects)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.tags[0])
def test_expected_memories_reach_each_other_within_five_hops(question: SampleQuestion) -> None:
    for one, other in combinations(question.expects, 2):
        assert hops_from(one)[other] <= MAX_HOPS


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.tags[0])
def test_expected_memories_have_an_edge_with_a_tag_of_the_question(
    question: SampleQuestion,
) -> None:
    for node in question.expects:
        tags = {
            tag
            for edge in EDGES
            if node in (edge["source"], edge["target"])
            for tag in edge["tags"]
        }
        assert tags.intersection(question.tags)
