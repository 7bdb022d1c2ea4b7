"""Ranking what a recall found: each feature by hand, then the order."""

import math
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.stems import STOP_WORDS, each_word, query_terms, stem
from memoria.errors import ConfigError
from memoria.recall.config import RetrieverConfig
from memoria.recall.ranking import (
    DEFAULT_SPREAD,
    NOTHING_KNOWN,
    Candidate,
    Facts,
    Likeness,
    config,
    gather,
    rank_by_relevance,
)
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.features import features
from memoria.recall.ranking.links import Links
from memoria.recall.ranking.splitting import SplitTexts
from memoria.recall.ranking.substance import substance
from memoria.recall.ranking.words import Pool
from memoria.types import Exploration, ExplorationStats, Hop, MemoryFilter, MemoryNode, Path, Seed
from tests.for_each import for_each

FEATURES = set(config.FEATURES)


def memory(name: str, text: str = "text", kind: str = "Event") -> MemoryNode:
    return MemoryNode(id=name, kind=kind, text=text)


def lone(name: str, score: float, text: str = "text", kind: str = "Event") -> Path:
    node = memory(name, text, kind)
    return Path(seed_id=name, hops=(), memories=(node,), end_reason="dead_end", energy=score)


def path(*steps: tuple[str, float], texts: dict[str, str] | None = None) -> Path:
    (seed, score), *rest = steps
    hops, before, energy = [], seed, score
    for name, reached in rest:
        hop = Hop(
            source=before,
            target=name,
            relation="about",
            direction="out",
            weight=1.0,
            tags=(),
            tag_similarity=1.0,
            degree=1,
            energy_in=energy,
            energy_out=reached,
        )
        hops.append(hop)
        before, energy = name, reached
    nodes = tuple(memory(name, (texts or {}).get(name, "text")) for name, _ in steps)
    return Path(
        seed_id=seed, hops=tuple(hops), memories=nodes, end_reason="dead_end", energy=energy
    )


def exploration(*paths: Path) -> Exploration:
    stats = ExplorationStats(levels=1, nodes=1, elapsed_s=0.0, hydrate_s=0.0)
    seed = Seed(id=paths[0].seed_id, score=paths[0].start)
    return Exploration(seed=seed, status="complete", paths=paths, error=None, stats=stats)


def candidate(name: str, text: str, **facts: object) -> Candidate:
    return Candidate(memory=memory(name, text), path=lone(name, 0.5), **facts)  # type: ignore[arg-type]


def feature(
    name: str, query: str, *candidates: Candidate, facts: Facts = NOTHING_KNOWN
) -> list[float]:
    return [float(value) for value in features(query, candidates, facts)[name]]


# --- words ------------------------------------------------------------------------------------


def test_words_are_compared_by_stem_and_stop_words_do_not_count() -> None:
    assert query_terms("Where did the ferries stop, and who stopped them?") == ["ferri", "stop"]
    pool = Pool(query_terms("the ferries"), ["A ferry.", "The and of", ""])
    assert (pool.masses[:, 0] > 0).tolist() == [True, False, False]


_ASCII = st.text(alphabet=st.characters(codec="ascii"))
_NAMES = st.text(alphabet="aBcDvV12_. é+#", max_size=12)
_TEXTS = (
    _ASCII | _NAMES | st.text() | st.sampled_from([*STOP_WORDS, "É²_9", "the—these", "İẞⱾΑΣ ΣA"])
)


@given(st.lists(_TEXTS))
def test_texts_are_split_at_once_as_each_of_them_is(texts: list[str]) -> None:
    split = SplitTexts.of(texts)
    names = [(row, *name) for row, text in enumerate(texts) for name in each_word(text)]
    words = [(row, word) for row, word, _ in names]
    pieces = [(row, piece) for row, _, its in names for piece in its]
    every = split.words(np.arange(len(split.rows)))
    assert [*zip(split.rows.tolist(), every, strict=True)] == words + pieces
    assert split.words_end == len(words)
    assert split.is_stop.tolist() == [word in STOP_WORDS for word in every]


def test_words_are_found_by_their_first_two_bytes() -> None:
    split = SplitTexts.of(["Rain and the Rhine", "a rag, r2 or r", "Жук жаба arg"])
    assert split.words(split.places_beginning_like(["rai", "rage"])) == ["rain", "rag"]
    assert split.words(split.places_beginning_like(["r"])) == ["rain", "rhine", "rag", "r2", "r"]
    assert split.words(split.places_beginning_like(["ж"])) == ["жук", "жаба"]
    assert split.words(split.places_beginning_like([])) == []


def test_stop_words_are_not_among_the_words_that_begin_like_a_term() -> None:
    split = SplitTexts.of(["the this thing"])
    assert split.words(split.places_beginning_like(["th"])) == ["thing"]


def test_each_stop_word_is_shorter_than_what_an_array_holds_of_a_word() -> None:
    assert max(len(word.encode()) for word in STOP_WORDS) < 8


def test_of_parallel_edges_the_strongest_counts_in_each_direction() -> None:
    candidates = [Candidate(memory=memory(name), path=lone(name, 0.5)) for name in ("a", "b")]
    candidates.append(Candidate(memory=memory("c"), path=path(("a", 0.5), ("c", 0.25))))
    facts = Facts(
        cosines={},
        degrees={},
        neighbours={
            "a": [("b", 0.2, True), ("b", 0.8, False), ("c", 0.3, True)],
            "b": [("a", 0.8, True), ("a", 0.1, False)],
        },
    )
    links = Links.of(candidates, facts)
    edges = zip(links.source.tolist(), links.target.tolist(), links.weight.tolist(), strict=True)
    assert [*edges] == [(0, 1, 0.2), (0, 2, 1.0), (1, 0, 0.8)]  # that of the path to c weighs 1
    both = zip(*(column.tolist() for column in links.both_ways()), strict=True)
    assert [*both] == [(0, 1, 0.8), (0, 2, 1.0), (1, 0, 0.8), (2, 0, 1.0)]


_ENDINGS = ["s", "es", "y", "ied", "ying", "ing", "edly", "ational", "fulness", "biliti", "logi"]


@pytest.mark.parametrize("word", ["dying", "skies", "cried", "hopping", "relational", "я", "a1"])
def test_a_word_is_a_form_of_its_own_stem(word: str) -> None:
    assert Pool(query_terms(word), []).has_term(word)
    assert not Pool(query_terms("rain"), []).has_term(word)


@given(st.text("abcdeginrstuyz", min_size=1, max_size=6), st.sampled_from(["", *_ENDINGS]))
def test_words_of_all_endings_are_found_by_their_stem(start: str, ending: str) -> None:
    word = start + ending
    found = Pool(query_terms(word), []).has_term(word)
    assert found == (word not in STOP_WORDS)


def test_a_query_may_have_many_words() -> None:
    words = ["rain", "rage", "ran", "dying", "dial", "snow", "a1", "я"]
    pool = Pool(query_terms(" ".join(words)), [" ".join(words), "rains die"])
    assert (pool.masses[0] > 0).all()
    assert (pool.masses[1] > 0).tolist() == [word in ("rain", "dying") for word in words]


def test_recalls_that_stem_at_once_in_threads_do_not_disturb_each_other() -> None:
    endings = ("ational", "fulness", "iveness", "ization", "ously", "ments", "ing", "ed")
    words = [f"{start}{end}" for start in ("relat", "hope", "decis", "organ") for end in endings]
    alone = [stem.__wrapped__(word) for word in words]  # past the cache
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            tasks = [
                pool.submit(lambda: [stem.__wrapped__(word) for word in words]) for _ in range(100)
            ]
            together = [task.result() for task in tasks]
    finally:
        sys.setswitchinterval(before)
    assert together == [alone] * len(together)


def test_a_rare_word_weighs_more_and_a_second_time_less_than_the_first() -> None:
    pool = Pool(query_terms("rain snow"), ["rain snow", "rain rain", "rain sun"])
    assert pool.idf[1] > pool.idf[0]
    assert pool.masses[0, 0] < pool.masses[1, 0] < 2 * pool.masses[0, 0]


def test_bm25_by_hand() -> None:
    # Two texts of one word each, one of them "rain": idf = ln(1 + 1.5 / 1.5), tf = 2.2 / 2.2.
    masses = [[pytest.approx(math.log(2))], [0]]
    assert Pool(query_terms("rain"), ["rain", "snow"]).masses.tolist() == masses
    # Stop words do not make a text longer.
    assert Pool(query_terms("rain"), ["the rain and the", "snow"]).masses.tolist() == masses


def test_a_name_is_found_by_its_pieces_and_however_it_is_written() -> None:
    texts = ["getUserById()", "get_user_by_id", "GETUSERBYID", "an id of the user", "ferries"]
    pool = Pool(query_terms("get_user_by_id"), texts)
    assert pool.masses[4].sum() == 0
    found = pool.masses.sum(axis=1)
    assert found[0] == found[1] == found[2] > found[3] > 0
    asked = Pool(query_terms("user id"), texts)
    assert (asked.masses > 0).all(axis=1).tolist() == [True, True, False, True, False]


def test_a_name_and_its_pieces_weigh_as_one_word_of_the_query() -> None:
    assert query_terms("GitHub issue").weights == {
        "github": 0.5,
        "git": 0.25,
        "hub": 0.25,
        "issu": 1.0,
    }
    assert query_terms("git on GitHub").weights["git"] == 1.0
    texts = ["a github issue", "a GitHub issue", "an issue", "rain"]
    named, plain = (Pool(query_terms(f"{name} issue"), texts) for name in ("GitHub", "github"))
    assert named.masses[0].sum() == pytest.approx(plain.masses[0].sum())
    assert named.masses[0].sum() == named.masses[1].sum() > named.masses[2].sum()


def test_pieces_of_names_make_no_text_longer() -> None:
    short, long = (Pool(query_terms("rain"), [f"rain {name}", "rain"]) for name in ("ab", "aB_c"))
    assert short.masses.tolist() == long.masses.tolist()


@pytest.mark.parametrize("name", ["C++", "C#", "C"])
def test_a_sign_makes_another_word(name: str) -> None:
    texts = ["it is written in C++", "it is written in C#", "it is written in C"]
    pool = Pool(query_terms(name), texts)
    assert pool.masses[:, 0].nonzero()[0].tolist() == [
        row for row, text in enumerate(texts) if text.endswith(f" {name}")
    ]


@for_each(
    "one, other",
    [
        ("café", "CAFE"),
        ("cafe\u0301", "café"),
        ("Müller", "Muller"),
        ("Łódź", "lodz"),
        ("İstanbul ılık", "istanbul ilik"),
        ("Tiếng Việt đường", "tieng viet duong"),
        ("ΚΑΦΈΣ", "καφες"),
        ("ёлка", "елка"),
        ("Straße", "strasse"),
    ],
)
def test_accents_make_no_other_word(one: str, other: str) -> None:
    assert query_terms(one) == query_terms(other)


@pytest.mark.parametrize(("one", "other"), [("が", "か"), ("война", "воина")])
def test_marks_that_make_another_letter_stay(one: str, other: str) -> None:
    assert query_terms(one) != query_terms(other)


@pytest.mark.parametrize("texts", [[], [""], ["", "of the"]])
def test_a_pool_may_hold_no_words(texts: list[str]) -> None:
    assert Pool(query_terms("rain"), texts).masses.sum() == 0
    assert Pool(query_terms(""), texts).masses.shape == (len(texts), 0)


# --- candidates -------------------------------------------------------------------------------


def test_each_memory_is_a_candidate_once_with_its_energies_by_seed() -> None:
    explored = [
        exploration(path(("s", 1.0), ("a", 0.3), ("b", 0.1)), path(("s", 1.0), ("a", 0.3))),
        exploration(path(("t", 0.8), ("b", 0.2)), path(("t", 0.8), ("s", 0.4))),
    ]
    found = {each.memory.id: each for each in gather(explored, [lone("h", 0.5)], MemoryFilter())}
    assert list(found) == ["a", "b", "h", "s", "t"]
    assert {name: each.hybrid for name, each in found.items()} == {
        "a": 0.0,
        "b": 0.0,
        "h": 0.5,
        "s": 1.0,
        "t": 0.8,
    }
    assert found["b"].energy == {"s": 0.1, "t": 0.2}
    assert found["b"].path.seed_id == "t"
    assert found["s"].energy == {"t": 0.4}


def test_hybrid_is_the_score_of_the_search_whatever_charge_a_strategy_starts_with() -> None:
    explored = replace(
        exploration(path(("s", 1.0), ("a", 0.3))), seed=Seed(id="s", score=0.4, vector_rank=1)
    )
    found = {each.memory.id: each.hybrid for each in gather([explored], [], MemoryFilter())}
    assert found == {"a": 0.0, "s": 0.4}


def test_candidates_are_of_the_kinds_asked_for() -> None:
    notes = MemoryFilter(kinds=["Note"])
    hits = [lone("a", 0.9, kind="Event"), lone("b", 0.8, kind="Note")]
    assert [each.memory.id for each in gather([], hits, notes)] == ["b"]
    through = path(("event", 1.0), ("note", 0.3), ("step", 0.2), ("end", 0.1))
    kinds = ("Event", "Note", "Event", "Note")
    nodes = [
        memory(node.id, "text", kind) for node, kind in zip(through.memories, kinds, strict=True)
    ]
    explored = [exploration(replace(through, memories=tuple(nodes)))]
    assert [each.memory.id for each in gather(explored, [], notes)] == ["end", "note"]


# --- features ---------------------------------------------------------------------------------


def test_cosine_is_over_the_best() -> None:
    facts = Facts(cosines={"a": 0.8, "b": 0.4}, degrees={}, neighbours={})
    all_ = [candidate(name, "") for name in "ab"]
    assert feature("cosine", "q", *all_, facts=facts) == [1.0, 0.5]


def test_a_memory_without_a_vector_is_as_near_as_its_words_say() -> None:
    facts = Facts(cosines={"a": 0.8, "b": 0.4}, degrees={}, neighbours={})
    all_ = [candidate("a", "pier"), candidate("b", "pier"), candidate("new", "the ferry")]
    assert feature("cosine", "ferry", *all_, facts=facts)[2] == pytest.approx(1.0)
    assert feature("cosine", "quay", *all_, facts=facts)[2] == pytest.approx(0.6 / 0.8)
    near = replace(
        facts, like=Likeness(aside=0.5, leaning=0.5, spread=DEFAULT_SPREAD, unrelated=0.5)
    )
    assert feature("cosine", "quay", *all_, facts=near)[2] == pytest.approx(0.5 / 0.8)
    assert feature("cosine", "ferry", *all_, facts=near)[2] == pytest.approx(1.0)
    half = [*all_[:2], candidate("new", "ferry and pier and quay"), candidate("c", "ferry")]
    share = feature("bm25", "ferry", *half)[2]
    found = feature("cosine", "ferry", *half, facts=facts)[2]
    assert 0 < share < 1
    assert found == pytest.approx((0.6 + 0.2 * share) / 0.8)


def test_without_a_positive_cosine_nothing_speaks_for_anything() -> None:
    facts = Facts(cosines={"a": -0.8, "b": -0.4}, degrees={}, neighbours={})
    assert feature("cosine", "q", candidate("a", ""), candidate("b", ""), facts=facts) == [0, 0]


def test_coverage_is_the_share_of_the_words_by_rarity() -> None:
    all_ = [candidate("a", "rain snow"), candidate("b", "rain"), candidate("c", "sun")]
    both, one, none = feature("coverage", "rain or snow", *all_)
    assert (both, none) == (1.0, 0.0)
    assert 0 < one < 0.5, "snow is rarer"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Blue Ferry (ship)\nBuilt in 1901.", 1.0),
        ("Blue Ferry\n", 0.0),
        ("Blue Ferry", 0.0),
        ("The Red Ferry\nBuilt in 1902.", 0.0),
        ("The\nBuilt", 0.0),
    ],
)
def test_heading_names_a_memory_when_the_query_holds_all_its_words(text: str, named: float) -> None:
    assert feature("heading", "Who built the blue ferry?", candidate("a", text)) == [named]


def test_what_a_seed_carries_are_the_words_that_the_memory_lacks() -> None:
    seed = candidate("s", "captain ferry")
    behind = candidate("a", "harbour", energy={"s": 0.2})
    beside = candidate("b", "ferry captain", energy={"s": 0.2})
    far = candidate("c", "harbour", energy={"s": 0.05})
    carried = feature("carried", "captain ferry harbour", seed, behind, beside, far)
    assert carried[0] == 0.0, "no energy reached the seed"
    assert carried[1] > 0
    assert carried[2] == pytest.approx(0.0), "it holds both words itself"
    assert carried[3] == pytest.approx(carried[1] / 2), "the root of a quarter of the energy"


def test_of_several_seeds_the_one_that_carries_most_counts() -> None:
    def of_last(energy: dict[str, float]) -> float:
        seeds = [
            candidate("s", "captain"),
            candidate("t", "harbour captain"),
            candidate("gone", ""),
        ]
        last = candidate("a", "ferry", energy=energy)
        strongest = candidate("z", "", energy={"gone": 0.4})
        return feature("carried", "captain ferry harbour", *seeds, strongest, last)[-1]

    one, other = of_last({"s": 0.4}), of_last({"t": 0.1})
    assert one != other
    assert of_last({"s": 0.4, "t": 0.1, "unknown": 0.4}) == max(one, other)


def only(names: str = "abcd", **cosines: float) -> dict[str, float]:
    """Cosines of 0 for all others."""
    return dict.fromkeys(names, 0.0) | cosines


def linked(*edges: tuple[str, str, float], **facts: Any) -> Facts:
    """Facts with edges (source, target, weight), each told from both ends, as the query does."""
    neighbours: dict[str, list[tuple[str, float, bool]]] = {}
    for source, target, weight in edges:
        neighbours.setdefault(source, []).append((target, weight, True))
        neighbours.setdefault(target, []).append((source, weight, False))
    known: dict[str, Any] = {"cosines": {}, "degrees": {}, "neighbours": neighbours, **facts}
    return Facts(**known)


def test_a_hub_gets_less_from_every_link_and_nothing_else_changes() -> None:
    all_ = [candidate(name, "pier") for name in "abc"]
    even = linked(
        ("a", "b", 0.5), ("a", "c", 0.5), cosines={"a": 1.0}, degrees=dict.fromkeys("abc", 7)
    )
    hub = replace(even, degrees={"a": 1, "b": 16, "c": 1})
    before, after = features("q", all_, even), features("q", all_, hub)
    links = {"carried", "chain_beyond", "walk_beyond"}
    for name in before.keys() - links:
        assert after[name].tolist() == before[name].tolist()
    # To the mean, which is the cubic root of 16, b has 16 over that, and c 1.
    factors = [16 ** (1 / 12), 16 ** (1 / 12 - 1 / 4), 16 ** (1 / 12)]
    for name in ("chain_beyond", "walk_beyond"):
        assert after[name].tolist() == pytest.approx((before[name] * factors).tolist())
        assert after[name][1] == pytest.approx(after[name][2] / 2)


def test_an_edge_deleted_before_its_memory_was_counted_leaves_links_finite() -> None:
    all_ = [candidate(name, "pier") for name in "ab"]
    facts = Facts(
        cosines=only(a=1.0), degrees={"a": 0, "b": 1}, neighbours={"b": [("a", 0.5, False)]}
    )
    assert feature("chain_beyond", "q", *all_, facts=facts) == [0.0, pytest.approx(0.4)]
    assert feature("walk_beyond", "q", *all_, facts=facts)[1] == 1.0


def test_a_chain_follows_the_stored_direction_and_weakens_with_each_edge() -> None:
    all_ = [candidate(name, "pier") for name in "abcd"]
    facts = linked(("a", "b", 1.0), ("b", "c", 0.5), ("d", "a", 1.0), cosines=only(a=1.0))
    expected = [0.0, pytest.approx(0.8), pytest.approx(0.8 * 0.4), 0.0]
    assert feature("chain_beyond", "q", *all_, facts=facts) == expected
    facts = replace(facts, cosines=only(a=1.0, b=0.25))
    assert feature("chain_beyond", "q", *all_, facts=facts)[1] == pytest.approx(0.8 * 0.75)


def test_a_match_is_the_third_power_of_the_cosine_and_the_square_of_bm25() -> None:
    all_ = [
        candidate("a", "ferry"),
        candidate("b", "ferry and pier and quay"),
        candidate("c", "mole"),
    ]
    edge = linked(("b", "c", 1.0))
    # Only b leads to c: b's match divided by a's, times 0.8 for the edge.
    by_cosine = replace(edge, cosines=only(a=1.0, b=0.5))
    assert feature("chain_beyond", "q", *all_, facts=by_cosine)[2] == pytest.approx(0.8 * 0.5**3)
    bm25 = feature("bm25", "ferry", *all_)[1]
    assert 0 < bm25 < 1
    # Without vectors, a memory without a word of the query has a nominal cosine of 0.8.
    assert feature("chain_beyond", "ferry", *all_, facts=edge)[2] == pytest.approx(
        0.8 * bm25**2 * (1 - 0.8)
    )


def test_an_edge_to_what_is_not_ranked_counts_nothing() -> None:
    all_ = [candidate(name, "pier") for name in "ab"]
    facts = linked(("a", "b", 0.5), ("a", "gone", 1.0), cosines=only(a=1.0))
    assert feature("chain_beyond", "q", *all_, facts=facts) == [0.0, pytest.approx(0.4)]


def test_a_chain_leads_through_memories_that_are_not_ranked() -> None:
    near = candidate("a", "ferry")
    far = Candidate(
        memory=memory("b", "pier"),
        path=path(("a", 1.0), ("hub", 0.5), ("b", 0.2)),
        energy={"a": 0.2},
    )
    # The hub is not a candidate: the path that brought b is how the ranking knows of it.
    facts = Facts(cosines=only(a=1.0), degrees={}, neighbours={})
    assert feature("chain_beyond", "ferry", near, far, facts=facts) == [0.0, pytest.approx(0.64)]


def test_a_walk_brings_less_the_farther_it_goes_and_follows_edges_both_ways() -> None:
    all_ = [candidate(name, "pier") for name in "abcd"]
    facts = linked(("a", "b", 1.0), ("c", "b", 1.0), cosines={"a": 1.0})
    a, b, c, d = feature("walk_beyond", "q", *all_, facts=facts)
    assert b == 1.0 > c > 0
    assert 0 < a < 1.0, "a walk may come back"
    assert d == 0.0


def test_a_walk_counts_less_for_what_holds_the_words_itself() -> None:
    all_ = [candidate("a", "ferry"), candidate("b", "ferry"), candidate("c", "pier")]
    facts = linked(("a", "b", 1.0), ("a", "c", 1.0))
    walked = feature("walk_beyond", "ferry", *all_, facts=facts)
    assert walked[1] == 0.0 < walked[2]


@pytest.mark.parametrize(
    "text",
    [
        "Noted.",
        "Thanks, that helps!",
        "OK, sounds good.",
        "Ann: Perfect, thank you so much.",
        "\U0001f44d",
    ],
)
def test_a_text_of_courtesies_says_nothing(text: str) -> None:
    assert substance(text) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "On Tuesday.",
        "42",
        "Ann: Petter.",
        "Thanks! It is in the blue binder on the shelf.",
        "Im Keller.",
        "\u6771\u4eac\u306b\u3042\u308a\u307e\u3059",
    ],
)
def test_a_short_answer_says_all_of_it(text: str) -> None:
    assert substance(text) > 0.6


def test_links_lift_a_memory_as_far_as_it_says_something() -> None:
    texts = {"a": "The captain has the ferry.", "b": "Great plan!", "c": "The pier", "d": "Noted."}
    all_ = [candidate(name, text, energy={"a": 0.1}) for name, text in texts.items()]
    facts = linked(*(("a", name, 1.0) for name in "bcd"), cosines=only(a=1.0))
    for name in ("carried", "chain_beyond", "walk_beyond"):
        _, plan, pier, noted = feature(name, "ferry", *all_, facts=facts)
        assert noted == 0.0, name
        assert plan == pytest.approx(pier / 2), name
        assert pier > 0, name


def test_places_count_from_the_best_and_equal_values_share_one() -> None:
    facts = Facts(cosines={"a": 0.5, "b": 0.5, "c": 0.4}, degrees={}, neighbours={})
    all_ = [candidate("a", "ferry"), candidate("b", ""), candidate("c", "")]
    assert feature("cosine_first", "ferry", *all_, facts=facts) == [1.0, 1.0, 5 / 7]
    places = feature("cosine_place", "ferry", *all_, facts=facts)
    assert places == [1.0, 1.0, pytest.approx(1 - math.log(3) / math.log(101))]
    assert feature("bm25_first", "ferry", *all_, facts=facts) == [1.0, 0.0, 0.0]


def test_rise_is_the_share_of_the_way_from_the_crowd_to_a_perfect_match() -> None:
    cosines = {f"m{n:02}": 0.9 - n / 50 for n in range(30)}  # the 21st has 0.5
    facts = Facts(cosines=cosines, degrees={}, neighbours={})
    found = feature("cosine_rise", "q", *(candidate(name, "") for name in cosines), facts=facts)
    assert found[:2] == pytest.approx([0.8, 0.76])
    assert found[20:] == pytest.approx([0.0] * 10)


def test_a_memory_without_a_vector_has_the_place_that_its_words_give_it() -> None:
    facts = Facts(cosines={"a": 0.8, "b": 0.6}, degrees={}, neighbours={})
    all_ = [candidate(name, "") for name in "abc"]
    assert feature("cosine_first", "q", *all_, facts=facts) == pytest.approx([1.0, 5 / 7, 5 / 6])


def test_without_any_vector_the_words_stand_in_for_the_cosine() -> None:
    found = [candidate("a", "the quay"), candidate("b", "a pump"), candidate("c", "a dam")]
    values = features("quay", found, NOTHING_KNOWN)
    assert values["cosine"].tolist() == pytest.approx([1.0, 0.8, 0.8])
    assert values["cosine_first"].tolist() == pytest.approx([1.0, 5 / 6, 5 / 6])


def test_beyond_best_is_what_the_best_matches_lack() -> None:
    best = [candidate(name, "captain captain ferry") for name in "abc"]
    other = candidate("d", "harbour")
    facts = Facts(cosines={"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.1}, degrees={}, neighbours={})
    found = feature("beyond_best", "captain ferry harbour", *best, other, facts=facts)
    assert found[:3] == [0.0, 0.0, 0.0]
    assert found[3] > 0


def test_each_feature_is_a_number_for_each_candidate() -> None:
    all_ = [candidate("a", "Did it rain?"), candidate("b", "It did.")]
    found = features("rain", all_, NOTHING_KNOWN)
    assert {(values.dtype, values.shape) for values in found.values()} == {(np.dtype(float), (2,))}


# --- order ------------------------------------------------------------------------------------


def test_score_is_relative_to_the_best_and_ties_break_by_id() -> None:
    all_ = [candidate(name, text) for name, text in (("b", "rain"), ("a", "rain"), ("c", ""))]
    ranked = rank_by_relevance("rain", all_, NOTHING_KNOWN, RelevanceConfig(weights={"bm25": 2.0}))
    assert [entry.memory.id for entry in ranked] == ["a", "b", "c"]
    assert [entry.score for entry in ranked] == [1.0, 1.0, pytest.approx(math.exp(-2))]
    assert ranked[2].shares == {"bm25": 0.0}
    assert set(ranked[0].features) == FEATURES


def test_shares_add_up_to_the_logarithm_of_the_score() -> None:
    all_ = [
        candidate("z", "the ferry", hybrid=1.0),
        candidate("a", "harbour", energy={"z": 0.9}),
        candidate("b", "harbour ferry", energy={"z": 0.4}),
    ]
    facts = linked(("z", "a", 1.0), ("a", "b", 0.5), cosines={"z": 0.7, "a": 0.2, "b": 0.6})
    ranked = rank_by_relevance("ferry", all_, facts, RelevanceConfig.default())
    for entry in ranked[1:]:
        together = sum(entry.shares.values()) - sum(ranked[0].shares.values())
        assert math.log(entry.score) == pytest.approx(together)


def test_nothing_found_ranks_as_nothing() -> None:
    assert rank_by_relevance("q", [], NOTHING_KNOWN, RelevanceConfig.default()) == ()


texts = st.lists(st.sampled_from(["rain", "snow", "the", "\n", "ferries", "Ärger"]), max_size=6)


@given(st.lists(texts, min_size=1, max_size=8), texts, st.randoms())
def test_any_texts_give_finite_features_and_the_same_order(
    found: list[list[str]], query: list[str], order: random.Random
) -> None:
    all_ = [
        candidate(f"m{n}", " ".join(words), energy={"m0": 0.1 * n} if n else {})
        for n, words in enumerate(found)
    ]
    facts = Facts(
        cosines={"m0": 0.5, "m1": -0.2},
        degrees={each.memory.id: 3 for each in all_},
        neighbours={"m0": [(each.memory.id, 0.5, n % 2 == 0) for n, each in enumerate(all_[1:])]},
    )
    for name, values in features(" ".join(query), all_, facts).items():
        assert np.isfinite(values).all(), name
        assert (values >= 0).all() or name in ("cosine", "cosine_bm25")
        assert (values <= 1 + 1e-12).all(), name
    first = rank_by_relevance(" ".join(query), all_, facts, RelevanceConfig.default())
    order.shuffle(all_)
    again = rank_by_relevance(" ".join(query), all_, facts, RelevanceConfig.default())
    assert [entry.memory.id for entry in first] == [entry.memory.id for entry in again]


# --- weights ----------------------------------------------------------------------------------


def test_weights_survive_a_file(tmp_path: File) -> None:
    RelevanceConfig(weights={"cosine": 1.5}).save(tmp_path / "w.json")
    assert RelevanceConfig.load(tmp_path / "w.json") == RelevanceConfig(weights={"cosine": 1.5})


def test_weights_that_a_file_does_not_name_are_zero(tmp_path: File) -> None:
    (tmp_path / "w.json").write_text('{"bm25": 1}')
    assert RelevanceConfig.load(tmp_path / "w.json") == RelevanceConfig(weights={"bm25": 1})


def test_large_weights_keep_the_order_and_larger_ones_are_refused() -> None:
    hits = [candidate("a", "rain snow"), candidate("b", "rain rain")]
    ranked = rank_by_relevance("rain", hits, NOTHING_KNOWN, RelevanceConfig(weights={"bm25": 1e6}))
    assert [entry.memory.id for entry in ranked] == ["b", "a"]
    for weight in (10**400, 1e7, math.inf, math.nan):
        with pytest.raises(ConfigError, match=r"bm25 must be in \[-1000000, 1000000\]"):
            RelevanceConfig(weights={"bm25": weight})


@pytest.mark.parametrize("content", ["", "[]", '{"charm": 1}', '{"bm25": "1"}', '{"bm25": NaN}'])
def test_a_file_of_something_else_is_refused(tmp_path: File, content: str) -> None:
    (tmp_path / "w.json").write_text(content)
    with pytest.raises(ConfigError, match=r"w\.json|bm25"):
        RelevanceConfig.load(tmp_path / "w.json")


@pytest.mark.parametrize("weights", [{"charm": 1.0}, [1.0], None])
def test_weights_are_a_map_of_known_features(weights: object) -> None:
    with pytest.raises(ConfigError, match=r"no feature 'charm'; there are: cosine|must be a map"):
        RelevanceConfig(weights=weights)  # type: ignore[arg-type]


def test_a_feature_that_is_not_named_weighs_nothing() -> None:
    given = dict(RelevanceConfig(weights={"bm25": 2.0}).weights)
    assert given.pop("bm25") == 2.0
    assert set(given.values()) == {0.0}


@pytest.mark.parametrize("content", ["{}", '{"bm25": 0}'])
def test_weights_of_nothing_but_zero_are_refused(tmp_path: File, content: str) -> None:
    (tmp_path / "w.json").write_text(content)
    with pytest.raises(ConfigError, match=r"every weight is 0.*relevance=None"):
        RelevanceConfig.load(tmp_path / "w.json")


def test_the_default_is_a_profile_read_once() -> None:
    assert RelevanceConfig.default() is RelevanceConfig.profile("default")
    assert RetrieverConfig().relevance is RelevanceConfig.default()


@pytest.mark.parametrize("name", RelevanceConfig.profiles())
def test_a_profile_is_what_tune_would_write(tmp_path: File, name: str) -> None:
    profile = RelevanceConfig.profile(name)
    profile.save(tmp_path / "w.json")
    kept = File(config.__file__).parent / "profiles" / f"{name}.json"
    assert (tmp_path / "w.json").read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("name", ["defaults", "", "../weights", "Default"])
def test_a_profile_that_there_is_not_names_those_there_are(name: str) -> None:
    with pytest.raises(ConfigError, match=r"there are: .*default"):
        RelevanceConfig.profile(name)


def test_importing_memoria_reads_no_weights() -> None:
    code = "import memoria; print(memoria.RelevanceConfig.profile.__func__.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "0\n"
