"""Packing paths into a context: small cases by hand, then properties of generated ones.

Most cases count words (`words`), which anyone can check: `[1] Disk full` has
three.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.stems import query_terms
from memoria.errors import ConfigError, InvalidInputError
from memoria.recall.context import ContextBuilder, estimate_tokens, pack
from memoria.recall.context import builder as context_builder
from memoria.recall.context.arrange import MOST_DEPTH
from memoria.recall.context.config import ContextConfig
from memoria.recall.context.excerpt import excerpt
from memoria.recall.context.tokens import least_tokens
from memoria.types import (
    ContextItem,
    ContextPack,
    Edge,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    OmittedItem,
    Path,
    Seed,
)
from tests.for_each import for_each

PLENTY = 1_000_000
Counter = Callable[[str], int]


def words(text: str) -> int:
    return len(text.split())


def words_and_frame(text: str) -> int:
    """As tokenizers that put a start and an end token around every text."""
    return words(text) + 2


def superadditive(text: str) -> int:
    """Whole texts count for more than the sum of their lines."""
    return words(text) ** 2 // 8


def erratic(text: str) -> int:
    """Neither additive nor monotonic: more text may count for less."""
    return words(text) * (1 + len(text) % 3)


COUNTERS: list[Counter | None] = [None, words, words_and_frame, superadditive, erratic]


def memory(memory_id: str, text: str, date: datetime | None = None) -> MemoryNode:
    return MemoryNode(id=memory_id, kind="Event", text=text, created_at=date)


def path(
    *steps: tuple[str, float], texts: Mapping[str, str] | None = None, relation: str = "leads_to"
) -> Path:
    """Path along ``steps`` of (id, energy); texts are those given, else "text of <id>"."""
    hops = tuple(
        Hop(
            source=source,
            target=target,
            relation=relation,
            direction="out",
            weight=0.5,
            tags=(),
            tag_similarity=1.0,
            degree=1,
            energy_in=energy_in,
            energy_out=energy_out,
        )
        for (source, energy_in), (target, energy_out) in pairwise(steps)
    )
    return Path(
        seed_id=steps[0][0],
        hops=hops,
        memories=tuple(memory(i, (texts or {}).get(i, f"text of {i}")) for i, _ in steps),
        end_reason="dead_end",
        energy=steps[-1][1],
    )


def without_texts(full: Path) -> Path:
    return Path(
        seed_id=full.seed_id,
        hops=full.hops,
        memories=(),
        end_reason="truncated",
        energy=full.energy,
    )


def exploration(*paths: Path) -> Exploration:
    stats = ExplorationStats(levels=1, nodes=1, elapsed_s=0.0, hydrate_s=0.0)
    seed = Seed(id=paths[0].seed_id, score=1.0)
    return Exploration(seed=seed, status="complete", paths=paths, error=None, stats=stats)


def builder_of(
    *paths: Path,
    budget: int = PLENTY,
    count: Counter | None = words,
    config: ContextConfig | None = None,
) -> ContextBuilder:
    """A builder that has these paths."""
    builder = ContextBuilder(budget, config=config, count_tokens=count)
    for each in paths:
        builder.add(each)
    return builder


def packed(*paths: Path, budget: int = PLENTY, count: Counter | None = words) -> ContextPack:
    return pack([exploration(p) for p in paths], budget_tokens=budget, count_tokens=count)


def ids(items: Iterable[ContextItem | OmittedItem]) -> list[str]:
    return [item.id for item in items]


# --- the text ---------------------------------------------------------------------------------


def said(id_: str, text: str, day: int | None = None, **metadata: str) -> MemoryNode:
    """A message from a day in May."""
    date = datetime(2026, 5, day, 23, 59, tzinfo=UTC) if day else None
    return MemoryNode(id=id_, kind="Event", text=text, created_at=date, metadata=metadata)


def hit(node: MemoryNode, score: float) -> Path:
    """A path without hops."""
    return Path(seed_id=node.id, hops=(), memories=(node,), end_reason="not_explored", energy=score)


def test_the_best_memory_stands_first_and_labels_count_the_lines() -> None:
    result = packed(path(("a", 0.5)), path(("b", 0.9)), path(("c", 0.1)))
    assert result.text == "[1] text of b\n[2] text of a\n[3] text of c"
    assert [(item.label, item.id) for item in result.items] == [("1", "b"), ("2", "a"), ("3", "c")]


def test_a_day_is_named_once_above_what_was_said_on_it() -> None:
    nodes = [
        said("a", "Tea?", 2, conversation="t", role="user"),
        said("b", "Coffee.", 3, conversation="t", role="assistant"),
        said("c", "Milk?", 2, conversation="t", role="user", speaker="Anna"),
        said("d", "A note"),
    ]
    result = packed(*(hit(node, 0.9 - place / 10) for place, node in enumerate(nodes)))
    assert result.text == (
        "2026-05-02:\n"
        "[1] user: Tea?\n"
        "[2] Anna: Milk?\n"
        "2026-05-03:\n"
        "[3] assistant: Coffee.\n"
        "undated:\n"
        "[4] A note"
    )


def test_what_two_conversations_say_on_a_day_stays_apart() -> None:
    nodes = [said(name, name, 2, conversation=name[0]) for name in ("x1", "y1", "x2", "y2")]
    result = packed(*(hit(node, 0.9 - place / 10) for place, node in enumerate(nodes)))
    assert ids(result.items) == ["x1", "x2", "y1", "y2"]
    assert result.text.count("2026-05-02:") == 1


def test_parts_of_one_message_stand_together() -> None:
    result = packed(path(("m", 0.9)), path(("other", 0.5)), path(("m#2", 0.1)))
    assert ids(result.items) == ["m", "m#2", "other"]


def test_a_memory_without_a_speaker_shows_none() -> None:
    nodes = [
        said("a", "alpha", role="admin"),  # not a message
        said("b", "beta", conversation="t", role="other"),
        said("c", "Tom: gamma", speaker="Tom"),  # the name is a part of the text
        said("d", "delta", speaker="  Tom\nLee "),
    ]
    result = packed(*(hit(node, 0.9 - place / 10) for place, node in enumerate(nodes)))
    assert result.text == "[1] alpha\n[2] beta\n[3] Tom: gamma\n[4] Tom Lee: delta"


def test_a_relation_that_says_more_than_the_texts_is_shown() -> None:
    disk = memory("evt-040", "Disk full", datetime(2026, 5, 2, 23, 59, tzinfo=UTC))
    logs = memory("act-012", "Kept logs", datetime(2026, 4, 30, tzinfo=UTC))
    ask = memory("req-003", "Why?", datetime(2026, 5, 2, tzinfo=UTC))
    one = path(("evt-040", 0.9), ("act-012", 0.2), relation="caused_by")
    other = path(("evt-040", 0.9), ("req-003", 0.1), relation="asked_in")
    paths = (
        replace(one, memories=(disk, logs)),
        replace(other, memories=(disk, ask), hops=(replace(other.hops[0], direction="in"),)),
    )
    result = packed(*paths)
    assert result.text == (
        "2026-05-02:\n"
        "[1] Disk full\n"
        "  caused_by -> [2] 2026-04-30 Kept logs\n"
        "  asked_in <- [3] Why?"
    )
    assert result.tokens == 1 + 3 + 6 + 4
    first, second, _ = result.items
    assert (first.id, first.kind, first.score, first.date) == (
        "evt-040",
        "Event",
        0.9,
        disk.created_at,
    )
    assert (second.score, second.path) == (0.2, paths[0])
    assert result.omitted == ()


@for_each(
    "relation",
    [
        "next",
        "REPLY_TO",
        "mentions",
        "continued_by",
        "in_session",
        "said_by",
        "similar",
        "related",
        "",
    ],
)
def test_a_relation_that_says_no_more_is_not_shown(relation: str) -> None:
    result = packed(path(("a", 0.9), ("b", 0.5), relation=relation))
    assert result.text == "[1] text of a\n[2] text of b"


def test_a_chain_stands_below_its_best_memory() -> None:
    builder = builder_of(path(("a", 0.9), ("b", 0.5), ("c", 0.2), ("d", 0.1)))
    result = builder.build(worth={"a": 0.3, "b": 0.2, "c": 1.0, "d": 0.5})
    assert result.text.splitlines() == [
        "[1] text of c",
        "  leads_to -> [2] text of d",
        "  leads_to <- [3] text of b",
        "    leads_to <- [4] text of a",
    ]


def test_a_memory_stands_below_the_better_of_two_that_it_is_joined_to() -> None:
    builder = builder_of(
        path(("weak", 0.9), ("x", 0.5)), path(("strong", 0.8), ("x", 0.1)), path(("x", 0.7))
    )
    result = builder.build(worth={"weak": 0.4, "strong": 1.0, "x": 0.5})
    assert result.text.splitlines() == [
        "[1] text of strong",
        "  leads_to -> [2] text of x",
        "    leads_to <- [3] text of weak",
    ]


def test_an_edge_over_a_memory_that_stays_out_is_not_shown() -> None:
    result = packed(path(("a", 0.9), ("b", 0.5), ("c", 0.1), texts={"b": " \n"}))
    assert result.text == "[1] text of a\n[2] text of c"
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "no_text")]


def test_of_two_edges_between_two_memories_the_heavier_is_shown() -> None:
    one = path(("a", 0.9), ("b", 0.5), relation="caused_by")
    other = path(("b", 0.9), ("a", 0.5), relation="explains")
    heavy = replace(other, hops=(replace(other.hops[0], weight=0.9),))
    assert "explains <- [2]" in packed(one, heavy, path(("a", 1.0))).text


def test_an_edge_that_no_path_took_joins_two_memories_unless_a_path_says_how() -> None:
    builder = builder_of(path(("a", 0.9), ("b", 0.5), relation="caused_by"), path(("c", 0.4)))
    edges = (("a", "explains", "b"), ("a", "next", "c"), ("c", "owned_by", "b"))
    builder.set_edges(Edge(source=one, target=to, relation=how) for one, how, to in edges)
    assert builder.build().text == (
        "[1] text of a\n  caused_by -> [2] text of b\n    owned_by <- [3] text of c"
    )


def test_trees_do_not_grow_without_end() -> None:
    steps = [(f"s{chr(97 + n)}", 1 - n / 100) for n in range(20)]
    trunks = read_trunks(packed(path(*steps)).text)
    assert max(map(len, trunks)) == MOST_DEPTH + 1
    assert len(trunks) == 20


def test_line_breaks_in_a_memory_stay_inside_its_own_lines() -> None:
    text = "  one\n\n[x] two\r\n  three\u2028four  "
    result = packed(path(("a", 0.9), ("b", 0.5), texts={"b": text}))
    assert result.text == (
        "[1] text of a\n  leads_to -> [2] one\n  | [x] two\n  |   three\n  | four"
    )


def test_ids_are_shown_on_request() -> None:
    node = MemoryNode(id="a\n[b]", kind="My\nKind", text="hello")
    builder = builder_of(hit(node, 0.5), config=ContextConfig(names="id"))
    result = builder.build()
    assert result.text == "[a [b]] hello"
    assert [(item.id, item.label) for item in result.items] == [("a\n[b]", "a [b]")]


@pytest.mark.parametrize(
    ("given", "prefix", "labels"),
    [
        (["evt-1", "x"], "", ["1", "2"]),
        (["1", "x"], "", ["m1", "m2"]),
        (["7", "m3"], "", ["mm1", "mm2"]),
        (["x", "y"], "b", ["b1", "b2"]),
        (["b12", "y"], "b", ["bm1", "bm2"]),
    ],
)
def test_no_label_looks_like_an_id(given: list[str], prefix: str, labels: list[str]) -> None:
    config = ContextConfig(label_prefix=prefix)
    result = builder_of(*(path((name, 0.5)) for name in given), config=config).build()
    assert [item.label for item in result.items] == labels
    assert all(f"[{label}] " in result.text for label in labels)


@pytest.mark.parametrize("prefix", ["A", "a1", "abcdefghi", "ä", None])
def test_a_prefix_is_a_few_letters(prefix: Any) -> None:
    with pytest.raises(ConfigError, match="label_prefix"):
        ContextConfig(label_prefix=prefix)


# --- packing ----------------------------------------------------------------------------------


def test_the_best_enter_and_those_that_are_too_long_are_passed_over() -> None:
    texts = {"a": "one", "b": "b " * 30, "c": "two"}
    result = packed(*(path((n, 0.9 - p / 10), texts=texts) for p, n in enumerate("abc")), budget=8)
    assert ids(result.items) == ["a", "c"]
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "budget")]


def test_a_reason_counts_for_the_budget() -> None:
    paths = (path(("a", 0.9), ("b", 0.5)),)
    assert packed(*paths, budget=10).tokens == 10
    assert ids(packed(*paths, budget=9).items) == ["a"]


def test_a_heading_that_is_there_costs_nothing_more() -> None:
    nodes = [said("a", "one", 2), said("b", "two", 2)]
    paths = [hit(node, 0.9 - place / 10) for place, node in enumerate(nodes)]
    assert ids(packed(*paths, budget=5).items) == ["a", "b"]
    assert ids(packed(*paths, budget=4).items) == ["a"]


def test_a_memory_that_was_found_and_reached_is_worth_both() -> None:
    # 0.5 + 0.3 / 0.3 * 0.5 for "a" against 0.6 for "b".
    paths = (path(("s", 2.0), ("a", 0.3), relation=""), path(("a", 0.5)), path(("b", 0.6)))
    assert ids(packed(*paths).items) == ["s", "a", "b"]
    assert ids(packed(*paths[1:]).items) == ["b", "a"]


def test_a_memory_that_is_not_named_has_no_worth() -> None:
    builder = builder_of(path(("a", 0.9)), path(("b", 0.5)))
    assert ids(builder.build(worth={"b": 0.1}).items) == ["b", "a"]


def test_a_whole_that_counts_for_more_than_its_lines_is_cut_back() -> None:
    # Four words a line: 16 // 8 = 2 by itself, two lines 8, three 18, four 32.
    paths = [path((name, 0.5)) for name in ("a", "b", "c", "d")]
    result = packed(*paths, budget=20, count=superadditive)
    assert (ids(result.items), result.tokens) == (["a", "b", "c"], 18)
    assert ids(result.omitted) == ["d"]


def test_tokens_saved_by_counting_the_whole_are_used() -> None:
    # A line of 4 words counts 6 by itself, but the three together count 14.
    paths = [path((name, 0.5)) for name in ("a", "b", "c")]
    assert packed(*paths, budget=16, count=words_and_frame).tokens == 3 * 4 + 2


# --- excerpts ---------------------------------------------------------------------------------

LONG = " ".join(
    [f"Sentence {n} speaks of other things, and of nothing that matters here." for n in range(20)]
    + ["The ferry to Vard leaves at nine.", "It takes a bicycle for free."]
    + [f"Sentence {n} goes on about the weather of that summer." for n in range(20)]
)


def test_of_a_long_text_the_sentences_of_the_question_are_shown() -> None:
    builder = builder_of(
        path(("long", 0.9), texts={"long": LONG}), path(("short", 0.5)), budget=100
    )
    for position in range(80):
        builder.add(path((f"more-{position}", 0.1)))
    text = builder.build(query="When does the ferry leave?").text
    assert "The ferry to Vard leaves at nine. It takes a bicycle for free." in text
    assert text.startswith(("[1] …", "[1] Sentence 0"))
    assert "…" in text
    assert "text of short" in text
    beginning = builder.build().text
    assert beginning.startswith("[1] Sentence 0 speaks of other things")
    assert "ferry" not in beginning


def test_the_number_of_an_item_in_a_list_is_shown_with_the_item_alone() -> None:
    items = [f"{n}. Item {n} speaks of other things. It says no more." for n in range(1, 20)]
    text = "\n".join([*items, "20. The ferry to Vard leaves at nine.", *items])
    found = excerpt(text, query_terms("ferry"), 9, words)
    assert found == "… 20. The ferry to Vard leaves at nine. …"


def test_a_leader_of_200_000_dots_is_read_once() -> None:
    """Read from each of its dots, it would take minutes."""
    text = f"Contents {'.' * 200_000}page 7 of the report. The ferry to Vard leaves at nine."
    found = excerpt(text, query_terms("ferry"), 9, words)
    assert found == "… The ferry to Vard leaves at nine."


def test_where_all_fits_long_texts_are_shown_as_a_whole() -> None:
    paths = [path(("long", 0.9), texts={"long": LONG}), path(("short", 0.5))]
    assert LONG in packed(*paths, budget=words(LONG) + 20).text
    assert LONG not in packed(*paths, budget=words(LONG) - 20).text
    assert ids(packed(*paths, budget=words(LONG) - 20).items) == ["long", "short"]


def test_a_word_that_is_too_long_is_cut() -> None:
    result = packed(path(("a", 0.9), texts={"a": "x" * 1_000}), budget=100, count=len)
    assert re.fullmatch(r"\[1\] x+…", result.text)
    assert 60 <= result.tokens <= 100


def test_a_text_of_one_long_sentence_is_cut_at_a_word() -> None:
    text = "word " * 500
    result = packed(path(("a", 0.9), texts={"a": text}), budget=100)
    assert result.text.endswith("word…")
    assert 60 <= result.tokens <= 100


# --- memories without text --------------------------------------------------------------------


def test_path_without_memories_is_omitted_as_no_text() -> None:
    result = packed(without_texts(path(("a", 0.9), ("b", 0.5))))
    assert (result.text, result.items, result.tokens) == ("", (), 0)
    assert [(o.id, o.score, o.reason) for o in result.omitted] == [
        ("a", 0.9, "no_text"),
        ("b", 0.5, "no_text"),
    ]


def test_text_that_any_path_brings_serves_all() -> None:
    late = without_texts(path(("a", 0.9), ("b", 0.5)))
    assert ids(packed(late, path(("a", 0.9), ("c", 0.1))).items) == ["a", "c"]
    assert ids(packed(late, path(("a", 0.9), ("b", 0.5))).items) == ["a", "b"]


def test_text_counts_before_a_blank_one() -> None:
    blank = path(("a", 0.9), ("b", 0.5), texts={"a": " "})
    result = packed(blank, path(("a", 0.9), ("c", 0.1)))
    assert ids(result.items) == ["a", "b", "c"]


def built_without(
    irrelevant: set[str],
    *paths: Path,
    worth: Mapping[str, float] | None = None,
    near: Iterable[tuple[str, str]] = (),
) -> ContextPack:
    """Pack where these memories lie just below the floor, and all others on it."""
    builder = builder_of(*paths, config=ContextConfig(min_relevance=0.2))
    relevance = {id_: 0.19 if id_ in irrelevant else 0.2 for each in paths for id_ in each.ids}
    return builder.build(near=near, worth=worth, relevance=relevance)


def test_a_memory_without_a_relevance_enters_whatever_the_floor() -> None:
    paths = (path(("a", 0.9), ("b", 0.5)),)
    builder = builder_of(*paths, config=ContextConfig(min_relevance=1.0))
    assert ids(builder.build().items) == ["a", "b"]
    assert ids(builder.build(worth={"a": 1.0, "b": 1.0}, relevance={"a": 0.9}).items) == ["b"]


def test_what_has_no_worth_enters_only_beside_something_relevant() -> None:
    # "b" is of a kind that was not asked for: nothing ranked it.
    paths = (path(("a", 0.9), ("b", 0.5)), path(("c", 0.8)))
    worth = {"a": 1.0, "c": 0.5}
    assert ids(built_without({"a"}, *paths, worth=worth).items) == ["c", "b"]
    nothing = built_without({"a", "c"}, *paths, worth=worth)
    assert (nothing.text, nothing.items) == ("", ())
    assert {o.id: o.reason for o in nothing.omitted} == dict.fromkeys("abc", "relevance")


def test_an_irrelevant_memory_stays_out_and_says_why() -> None:
    result = built_without({"b"}, path(("a", 0.9)), path(("b", 0.5)))
    assert ids(result.items) == ["a"]
    assert "text of b" not in result.text
    assert [(o.id, o.score, o.reason) for o in result.omitted] == [("b", 0.5, "relevance")]


def test_where_nothing_is_relevant_the_context_is_empty() -> None:
    result = built_without({"a", "b"}, path(("a", 0.9), ("b", 0.5)))
    assert (result.text, result.items, result.tokens) == ("", (), 0)
    assert [o.reason for o in result.omitted] == ["relevance", "relevance"]


@pytest.mark.parametrize(("best", "entered"), [(0.3, ["a", "b"]), (0.29, [])])
def test_the_context_is_empty_where_the_best_memory_is_not_relevant_enough(
    best: float, entered: list[str]
) -> None:
    config = ContextConfig(min_relevance=0.001, min_best_relevance=0.3)
    builder = builder_of(path(("a", 0.9), ("b", 0.5)), config=config)
    worth = {"a": 1.0, "b": 0.1}
    for ranked in (worth, None):
        result = builder.build(worth=ranked, relevance={"a": best, "b": 0.01})
        assert ids(result.items) == entered
        assert {o.reason for o in result.omitted} <= {"relevance"}
    assert ids(builder.build(worth=worth, relevance={"a": 0.01}).items) == ["a", "b"]  # one unknown


def test_a_memory_without_a_text_is_irrelevant_where_both_are_true() -> None:
    result = built_without({"b"}, path(("a", 0.9)), path(("b", 0.5), texts={"b": ""}))
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "relevance")]


def test_an_irrelevant_memory_is_no_duplicate_and_has_none() -> None:
    same = {"a": "The disk of build host 7 is full.", "b": "The disk of build host 7 is full!"}
    paths = (path(("a", 0.9), texts=same), path(("b", 0.5), texts=same))
    result = built_without({"a"}, *paths, near=[("a", "b")])
    assert ids(result.items) == ["b"]
    assert [(o.id, o.reason, o.duplicate_of) for o in result.omitted] == [("a", "relevance", None)]


# --- edges of the input -----------------------------------------------------------------------


def test_nothing_gives_an_empty_pack() -> None:
    empty = ContextPack(text="", items=(), tokens=0, omitted=())
    assert pack([], budget_tokens=1) == empty
    assert ContextBuilder(1).build() == empty


@pytest.mark.parametrize("budget", [0, -1, 1.0, True, "5", None])
def test_budget_must_be_a_whole_number_of_at_least_one(budget: Any) -> None:
    with pytest.raises(InvalidInputError, match="budget_tokens") as caught:
        pack([], budget_tokens=budget)
    assert caught.value.field == "budget_tokens"


@pytest.mark.parametrize("value", [-1, 2.0, None, True])
def test_counter_must_give_a_whole_number_of_at_least_zero(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="count_tokens") as caught:
        packed(path(("a", 0.5)), count=lambda _text: value)
    assert caught.value.field == "count_tokens"


def test_counter_that_finds_no_tokens_takes_everything() -> None:
    paths = (path(("a", 0.9), ("b", 0.5)), path(("c", 0.1)))
    assert ids(packed(*paths, budget=1, count=lambda _text: 0).items) == ["a", "b", "c"]


def test_the_estimate_is_the_default() -> None:
    result = pack([exploration(path(("a", 0.9)))], budget_tokens=100)
    assert result.tokens == estimate_tokens("[1] text of a")


def test_an_estimate_of_a_whole_text_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def counting(text: str, most: int) -> tuple[int, bool]:
        least, is_exact = least_tokens(text, most)
        assert is_exact == (least == estimate_tokens(text))
        counted.extend([text] if is_exact else [])
        return least, is_exact

    monkeypatch.setattr(context_builder, "least_tokens", counting)
    texts = {f"m{i}": " ".join(f"word{i}x{n}" for n in range(6)) for i in range(200)}
    explored = [exploration(path((id_, 0.9), texts=texts)) for id_ in texts]
    result = pack(explored, budget_tokens=4_000)
    assert 10 < len(result.items) < 200
    assert sorted(counted) == sorted({*counted})


def test_seed_explored_twice_counts_with_its_best_score() -> None:
    weak, strong = path(("a", 0.3), ("c", 0.2)), path(("a", 0.9), ("b", 0.1))
    first = packed(weak, strong).items[0]
    assert (first.id, first.score, first.path) == ("a", 0.9, strong)


def test_builder_goes_on_after_a_build() -> None:
    builder = ContextBuilder(PLENTY)
    builder.add(path(("a", 0.9)))
    assert ids(builder.build().items) == ["a"]
    builder.add(path(("a", 0.9), ("b", 0.5)))
    assert ids(builder.build().items) == ["a", "b"]


# --- properties -------------------------------------------------------------------------------

ENERGIES = (1.0, 0.5, 0.5, 0.25, 0.1, 0.0)  # few values, so that ties are common
TEXTS = (
    "word",
    "two words",
    "one\ntwo lines",
    "w " * 20,
    "long. " * 90,
    "",
    " \n ",
    "ünïcödé " * 5,
    None,
)


@st.composite
def path_lists(draw: st.DrawFn) -> list[Path]:
    """Paths of up to three trees over twelve memories, overlapping, some read too late."""
    drawn = {f"m{n}": draw(st.sampled_from(TEXTS)) for n in range(12)}
    texts = {i: f"about {i}" if text is None else text for i, text in drawn.items()}
    paths = []
    for seed in draw(st.lists(st.sampled_from(sorted(texts)), max_size=3, unique=True)):
        trunks: list[tuple[tuple[str, float], ...]] = []
        trunks.append(((seed, draw(st.sampled_from(ENERGIES))),))
        for other in draw(st.lists(st.sampled_from(sorted(texts)), max_size=8, unique=True)):
            trunk = draw(st.sampled_from(trunks))
            if other not in dict(trunk):
                trunks.append((*trunk, (other, draw(st.sampled_from(ENERGIES)))))
        paths += [path(*trunk, texts=texts) for trunk in trunks]
    late = draw(st.lists(st.booleans(), min_size=len(paths), max_size=len(paths)))
    paths += [without_texts(p) for p, is_late in zip(paths, late, strict=True) if is_late]
    return draw(st.permutations(paths))


configs = st.builds(
    ContextConfig,
    order=st.sampled_from(["relevance", "time"]),
    format=st.sampled_from(["text", "markdown", "json"]),
    names=st.sampled_from(["label", "id"]),
    duplicate_overlap=st.sampled_from([None, 0.5, 0.9]),
)
TREE = ContextConfig(duplicate_overlap=0.9, names="id")
ALL = ContextConfig(duplicate_overlap=None)


def build(
    paths: list[Path], budget: int, count: Counter | None, config: ContextConfig | None = None
) -> ContextPack:
    return builder_of(*paths, budget=budget, count=count, config=config).build()


LINE = re.compile(r"(?P<pad> *)(?:leads_to (?:->|<-) )?\[(?P<id>\w+)\] ")


def read_trunks(text: str) -> list[tuple[str, ...]]:
    """Read the text without knowing the graph: return the names that lead to each line."""
    found: list[tuple[str, ...]] = []
    trunk: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("| "):
            continue
        match = LINE.match(line)
        assert match, line
        depth = len(match["pad"]) // 2
        assert depth <= len(trunk), f"no parent above: {line}"
        trunk = [*trunk[:depth], match["id"]]
        found.append(tuple(trunk))
    return found


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS), configs)
def test_any_pack_is_within_budget_and_complete(
    paths: list[Path], budget: int, count: Counter | None, config: ContextConfig
) -> None:
    result = build(paths, budget, count, config)
    assert result.tokens <= budget
    assert result.tokens == ((count or estimate_tokens)(result.text) if result.text else 0)

    # Each memory in one of the two lists, once; why it was left out.
    everything = {i for one in paths for i in one.ids}
    texts = {m.id: m.text.strip() for one in paths for m in one.memories}
    assert sorted([*ids(result.items), *ids(result.omitted)]) == sorted(everything)
    assert {o.id for o in result.omitted if o.reason == "no_text"} == {
        i for i in everything if not texts[i]
    }
    assert list(result.omitted) == sorted(result.omitted, key=lambda o: (-o.score, o.id))
    assert len({item.label for item in result.items}) == len(result.items)

    # A duplicate repeats a memory that is none.
    duplicates = {o.id: o.duplicate_of for o in result.omitted if o.reason == "duplicate"}
    assert config.duplicate_overlap is not None or not duplicates
    assert all(o.duplicate_of is None for o in result.omitted if o.id not in duplicates)
    for kept in duplicates.values():
        assert kept is not None
        assert texts[kept]
        assert kept not in duplicates


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS))
def test_lines_stand_in_the_order_of_the_items_below_what_joins_them(
    paths: list[Path], budget: int, count: Counter | None
) -> None:
    result = build(paths, budget, count, TREE)
    trunks = read_trunks(result.text)
    assert [trunk[-1] for trunk in trunks] == ids(result.items)
    steps = {step for one in paths for step in pairwise(one.ids)}
    steps |= {(other, one) for one, other in steps}
    for trunk in trunks:
        assert steps.issuperset(pairwise(trunk))
    assert max(map(len, trunks), default=0) <= MOST_DEPTH + 1


def only(chosen: Sequence[str], paths: list[Path], config: ContextConfig) -> ContextPack:
    """Pack only these memories."""
    relevance = {i: float(i in chosen) for one in paths for i in one.ids}
    builder = builder_of(*paths, config=replace(config, min_relevance=0.5, min_best_relevance=0.0))
    return builder.build(relevance=relevance)


@given(path_lists(), st.integers(1, 60), configs)
def test_nothing_left_out_for_the_budget_would_fit(
    paths: list[Path], budget: int, config: ContextConfig
) -> None:
    # Of words, a whole text has as many as its lines together; so "would fit" is exact.
    config = replace(config, duplicate_overlap=None)
    result = build(paths, budget, words, config)
    for item in result.omitted:
        if item.reason == "budget":
            assert only([*ids(result.items), item.id], paths, config).tokens > budget


@given(path_lists(), st.sampled_from([None, words, words_and_frame, superadditive]))
def test_without_pressure_every_memory_with_text_is_in(
    paths: list[Path], count: Counter | None
) -> None:
    result = build(paths, 10**9, count, ALL)
    texts = {m.id: m.text.strip() for one in paths for m in one.memories}
    assert set(ids(result.items)) == {i for i, text in texts.items() if text}
    assert "…" not in result.text


@given(path_lists(), configs)
def test_budget_of_exactly_the_whole_takes_the_whole(
    paths: list[Path], config: ContextConfig
) -> None:
    # Characters add up in every format; the brackets of JSON don't count as words.
    whole = build(paths, 10**9, len, config)
    if whole.items:
        assert build(paths, whole.tokens, len, config) == whole
        assert build(paths, whole.tokens - 1, len, config) != whole


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS), configs, st.randoms())
def test_order_of_adding_makes_no_difference(
    paths: list[Path],
    budget: int,
    count: Counter | None,
    config: ContextConfig,
    order: random.Random,
) -> None:
    again = [*paths, *paths[:2]]
    order.shuffle(again)
    assert build(again, budget, count, config) == build(paths, budget, count, config)


@given(path_lists(), st.integers(1, 120))
def test_pack_of_explorations_is_what_the_builder_makes_of_their_paths(
    paths: list[Path], budget: int
) -> None:
    explorations = [exploration(one) for one in paths]
    assert pack(explorations, budget_tokens=budget) == build(paths, budget, None)


def test_equal_ids_of_two_scopes_are_not_taken_for_one_memory() -> None:
    def found(id_: str, scope: str) -> Path:
        memory = MemoryNode(id=id_, kind="Event", text=f"{id_} of {scope}")
        return Path(
            seed_id=id_,
            hops=(),
            memories=(memory,),
            end_reason="not_explored",
            energy=0.5,
            scope=scope,
        )

    builder = ContextBuilder(500)
    builder.add(found("a", "alice"))
    builder.add(found("b", "team"))
    context = builder.build()
    assert {(item.scope, item.id) for item in context.items} == {("alice", "a"), ("team", "b")}
    builder.add(found("a", "team"))
    with pytest.raises(InvalidInputError, match="one context for each scope"):
        builder.build()
