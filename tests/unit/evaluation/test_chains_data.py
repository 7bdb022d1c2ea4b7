"""The dataset ``chains``: stories of an agent's memories, whose answers stand some edges away.

Five stories (a theatre company, a house, a clinic, an on-call team, a research group), each a
conversation of its own. The words of a question find one memory, and the memory with the answer
stands two to four edges from it and shares at most one content word with the question, so that
only the edges lead there. The memory with the answer is the last one of the question's ``gold``.
The set tests a ranking and is never fitted on.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from memoria.evaluation import read_dataset
from tests.for_each import for_each

CHAINS = Path(__file__).parents[2] / "data" / "chains"
KINDS = {
    "AgentAction",
    "AgentAnswer",
    "DataSource",
    "Event",
    "UserPreference",
    "UserRequest",
}
HOPS = {"2-hop": 2, "3-hop": 3, "4-hop": 4}
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about above after again against all already also although always am an and another any
        anybody anyone anything are as ask asked asks at away back be because become becomes
        been before behind being below between both but by came can cannot come comes could did
        do does doing done down during each either else even ever every everyone first for from
        get gets give given giving go goes gone got had has have having he her here him his how
        i if in instead into is it its itself just last least let lets made make makes may me
        might more most much must my neither never new next no nobody none nor not nothing now
        of off on once one only onto or other others our out over own said same say says shall
        she should since so some somebody someone something still such take taken takes than
        that the their them then there these they this those though through to too took toward
        towards under until up upon us was way we well went were what whatever when where
        whether which while who whom whose why will with within without would yes yet you your
        """,
    )
)
ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ions",
    "ion",
    "ers",
    "er",
    "ied",
    "ies",
    "ed",
    "es",
    "als",
    "al",
    "ly",
    "s",
    "e",
    "y",
)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CHAINS / name).read_text("utf-8").splitlines()]


NODES = {row["id"]: row for row in rows("nodes.jsonl")}
EDGES = rows("edges.jsonl")
QUESTIONS = rows("questions.dev.jsonl")


def stem(word: str) -> str:
    """Take endings off a word as long as four letters are left."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return stem(word.removesuffix(ending))
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


@cache
def content(text: str) -> frozenset[str]:
    """The stems of all words of a text but the stop words."""
    found = re.findall(r"\w+", text.lower().replace("’", "'").replace("'s", ""))
    words = (word for word in found if word.isdigit() or len(word) > 1)
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)


def shared(question: Mapping[str, Any], id_: str) -> int:
    """The number of content words that a question and a memory share."""
    return len(content(question["question"]) & content(NODES[id_]["text"]))


def story(conversation: str) -> list[str]:
    return [id_ for id_, node in NODES.items() if node["conversation"] == conversation]


STORIES = sorted({node["conversation"] for node in NODES.values()})
NEIGHBOURS: defaultdict[str, set[str]] = defaultdict(set)
for _edge in EDGES:
    NEIGHBOURS[_edge["s"]].add(_edge["t"])
    NEIGHBOURS[_edge["t"]].add(_edge["s"])


def entries(question: Mapping[str, Any]) -> list[str]:
    """The memories that share the most content words with a question."""
    ids = story(question["conversation"])
    most = max(shared(question, id_) for id_ in ids)
    return [id_ for id_ in ids if shared(question, id_) == most]


def hops(starts: Iterable[str]) -> dict[str, int]:
    """The least number of edges, in either direction, from any of the starts."""
    found = dict.fromkeys(starts, 0)
    queue = deque(found)
    while queue:
        id_ = queue.popleft()
        for neighbour in NEIGHBOURS[id_] - found.keys():
            found[neighbour] = found[id_] + 1
            queue.append(neighbour)
    return found


asked = for_each("question", QUESTIONS)
told = for_each("conversation", STORIES)


def test_the_set_can_be_read_and_nothing_of_it_is_left_out() -> None:
    dataset = read_dataset(CHAINS, split="dev")
    assert set(dataset.item_kinds) == KINDS
    assert sum(len(found) for found in dataset.memories.values()) == len(NODES)
    assert sum(len(found) for found in dataset.relations.values()) == len(EDGES)
    assert len(dataset.questions) == len(QUESTIONS)


def test_five_stories_of_different_sizes() -> None:
    sizes = Counter(node["conversation"] for node in NODES.values())
    assert len(sizes) == len(set(sizes.values())) == 5
    assert all(30 <= size <= 150 for size in sizes.values())


def test_memories_are_short_texts_that_differ() -> None:
    texts = [node["text"] for node in NODES.values()]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if not 10 <= len(text.split()) <= 60] == []
    assert any("entities" in node for node in NODES.values())
    assert any("time" in node for node in NODES.values())


def test_edges_join_two_memories_of_one_story_by_a_weight() -> None:
    for edge in EDGES:
        assert edge["s"] != edge["t"]
        assert NODES[edge["s"]]["conversation"] == NODES[edge["t"]]["conversation"]
        assert 0 < edge["w"] <= 1
    assert len({(edge["s"], edge["t"], edge["type"]) for edge in EDGES}) == len(EDGES)
    assert len({edge["w"] for edge in EDGES}) >= 10
    assert len({edge["type"] for edge in EDGES}) >= 8


@told
def test_a_story_has_hubs_and_memories_on_their_own(conversation: str) -> None:
    ids = story(conversation)
    edges = [edge for edge in EDGES if edge["s"] in ids]
    degrees = [len(NEIGHBOURS[id_]) for id_ in ids]
    assert 1.2 <= len(edges) / len(ids) <= 2.5
    assert max(degrees) >= 7
    assert min(degrees) == 0
    assert {NODES[id_]["kind"] for id_ in ids} >= {"event", "user_request", "agent_answer"}


@told
def test_most_edges_of_a_story_lead_to_no_evidence(conversation: str) -> None:
    ids = story(conversation)
    gold = {id_ for q in QUESTIONS if q["conversation"] == conversation for id_ in q["gold"]}
    edges = [edge for edge in EDGES if edge["s"] in ids]
    assert sum(edge["s"] in gold and edge["t"] in gold for edge in edges) < len(edges) / 3


def test_questions_of_every_length() -> None:
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS) >= 60
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    lengths = Counter(question["category"] for question in QUESTIONS)
    assert lengths.keys() == HOPS.keys()
    assert min(lengths.values()) >= 12
    assert {question["conversation"] for question in QUESTIONS} == set(STORIES)


def test_no_two_questions_have_the_same_evidence() -> None:
    assert len({tuple(question["gold"]) for question in QUESTIONS}) == len(QUESTIONS)


@asked
def test_evidence_stands_in_the_questions_story(question: dict[str, Any]) -> None:
    assert 1 <= len(set(question["gold"])) == len(question["gold"]) <= 3
    assert {NODES[id_]["conversation"] for id_ in question["gold"]} == {question["conversation"]}
    assert question["answer"].strip()


@asked
def test_the_answer_shares_at_most_one_content_word_with_the_question(
    question: dict[str, Any],
) -> None:
    assert shared(question, question["gold"][-1]) <= 1


@asked
def test_the_category_is_the_way_from_the_best_words_to_the_answer(
    question: dict[str, Any],
) -> None:
    starts = entries(question)
    assert shared(question, starts[0]) >= 3
    assert hops(starts)[question["gold"][-1]] == HOPS[question["category"]]


@asked
def test_the_evidence_lies_on_a_shortest_way(question: dict[str, Any]) -> None:
    from_start, from_answer = hops(entries(question)), hops(question["gold"][-1:])
    length = HOPS[question["category"]]
    assert all(from_start[id_] + from_answer[id_] == length for id_ in question["gold"])


def test_other_memories_share_words_with_the_questions() -> None:
    distracted = [
        question
        for question in QUESTIONS
        for others in [set(story(question["conversation"])) - set(question["gold"])]
        if sum(shared(question, id_) >= 2 for id_ in others - set(entries(question))) >= 1
    ]
    assert len(distracted) >= 0.8 * len(QUESTIONS)
