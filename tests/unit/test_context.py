"""Packing paths into a context: small cases by hand, then properties of generated ones.

Most cases count words (`words`), which anyone can check: `[a]: Disk full` has
three.
"""

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoria.context import ContextBuilder, estimate_tokens, pack
from memoria.context.arrange import MOST_DEPTH
from memoria.context.config import ContextConfig
from memoria.context.render import join, render_place
from memoria.context.tree import Place, chain_of, grow, in_order
from memoria.errors import InvalidInputError
from memoria.types import (
    ContextPack,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    Path,
    Seed,
)

PLENTY = 1_000_000


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


COUNTERS = [None, words, words_and_frame, superadditive, erratic]


def memory(memory_id: str, text: str, date: datetime | None = None) -> MemoryNode:
    return MemoryNode(id=memory_id, kind="Event", text=text, created_at=date)


def path(*steps: tuple[str, float], texts: dict[str, str] | None = None) -> Path:
    """Path along ``steps`` of (id, energy); texts are those given, else "text of <id>"."""
    hops = tuple(
        Hop(
            source=source,
            target=target,
            relation="leads_to",
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


def builder_of(*paths: Path, budget: int = PLENTY, count=words, config=None) -> ContextBuilder:
    """A builder that has these paths."""
    builder = ContextBuilder(budget, config=config, count_tokens=count)
    for each in paths:
        builder.add(each)
    return builder


def packed(*paths: Path, budget: int = PLENTY, count=words) -> ContextPack:
    return pack([exploration(p) for p in paths], budget_tokens=budget, count_tokens=count)


def ids(items) -> list[str]:
    return [item.id for item in items]


# --- the text ---------------------------------------------------------------------------------


def test_text_is_a_tree_with_ids_dates_and_the_relation_that_led_there() -> None:
    def hop(source: str, target: str, relation: str, direction: str, out: float) -> Hop:
        return Hop(
            source=source,
            target=target,
            relation=relation,
            direction=direction,
            weight=0.5,
            tags=(),
            tag_similarity=1.0,
            degree=2,
            energy_in=0.9,
            energy_out=out,
        )

    disk = memory("evt-040", "Disk full", datetime(2026, 5, 2, 23, 59, tzinfo=UTC))
    logs = MemoryNode(id="act-012", kind="AgentAction", text="Kept logs")
    ask = MemoryNode(id="req-003", kind="UserRequest", text="Why?")
    plain = MemoryNode(id="doc-001", kind="DataSource", text="Manual")

    def branch(one: Hop, end: MemoryNode) -> Path:
        return Path(
            seed_id="evt-040",
            hops=(one,),
            memories=(disk, end),
            end_reason="dead_end",
            energy=one.energy_out,
        )

    paths = (
        branch(hop("evt-040", "req-003", "asked_in", "in", 0.1), ask),
        branch(hop("evt-040", "doc-001", "", "out", 0.05), plain),
        branch(hop("evt-040", "act-012", "caused_by", "out", 0.2314), logs),
    )
    result = packed(*paths)
    assert result.text == (
        "[evt-040] 2026-05-02: Disk full\n"
        "  caused_by -> [act-012]: Kept logs\n"
        "  asked_in <- [req-003]: Why?\n"
        "  -> [doc-001]: Manual"
    )
    assert result.tokens == 4 + 5 + 4 + 3
    first, second, *_ = result.items
    assert (first.id, first.kind, first.score) == ("evt-040", "Event", 0.9)
    assert first.date == disk.created_at
    assert first.path == paths[2]  # the best of the three that start there
    assert (second.id, second.kind, second.date) == ("act-012", "AgentAction", None)
    assert second.path == paths[2]
    assert result.omitted == ()


def test_shared_trunk_is_written_once_and_children_stand_by_energy() -> None:
    result = packed(
        path(("a", 0.9), ("b", 0.5), ("c", 0.1)),
        path(("a", 0.9), ("b", 0.5), ("d", 0.2)),
        path(("a", 0.9), ("e", 0.6)),
    )
    assert ids(result.items) == ["a", "e", "b", "d", "c"]
    assert result.text.count("text of a") == result.text.count("text of b") == 1


def test_trees_stand_by_best_energy_and_ties_by_id() -> None:
    result = packed(
        path(("z", 0.5), ("y2", 0.2)),
        path(("z", 0.5), ("y1", 0.2)),
        path(("m", 0.5)),
        path(("low", 0.1), ("high", 0.7)),  # as other strategies may have it
    )
    assert ids(result.items) == ["low", "high", "m", "z", "y1", "y2"]


def test_with_a_worth_trees_and_branches_stand_by_it() -> None:
    builder = builder_of(
        path(("a", 0.9), ("b", 0.5)), path(("a", 0.9), ("c", 0.4)), path(("d", 0.3))
    )
    result = builder.build(worth={"d": 1.0, "c": 0.6, "b": 0.5, "a": 0.1})
    assert ids(result.items) == ["d", "a", "c", "b"]


def test_a_tree_stands_by_the_best_worth_however_deep_it_lies() -> None:
    builder = builder_of(path(("a", 0.9), ("b", 0.5), ("c", 0.2)), path(("d", 0.8)))
    result = builder.build(worth={"a": 0.1, "b": 0.2, "c": 1.0, "d": 0.5})
    assert ids(result.items) == ["a", "b", "c", "d"]


def test_a_tree_that_only_refers_to_the_best_memory_stands_behind_its_text() -> None:
    builder = builder_of(
        path(("x", 0.95), ("best", 0.1), ("z", 0.05)), path(("y", 0.9), ("best", 0.5))
    )
    result = builder.build(worth={"x": 0.2, "y": 0.1, "z": 0.3, "best": 1.0})
    assert [line[:3] for line in result.text.splitlines() if line.startswith("[")] == ["[y]", "[x]"]
    assert ids(result.items) == ["y", "best", "x", "z"]


def test_a_memory_that_is_not_named_has_no_worth() -> None:
    builder = builder_of(path(("a", 0.9)), path(("b", 0.5)))
    assert ids(builder.build(worth={"b": 0.1}).items) == ["b", "a"]


def test_line_breaks_in_a_memory_stay_inside_its_own_lines() -> None:
    text = "  one\n\n[x]: two\r\n  three\u2028four  "
    result = packed(path(("a", 0.9), ("b", 0.5), ("c", 0.1), texts={"b": text}))
    assert result.text == (
        "[a]: text of a\n"
        "  leads_to -> [b]: one\n"
        "    | [x]: two\n"
        "    |   three\n"
        "    | four\n"
        "    leads_to -> [c]: text of c"
    )


def test_line_breaks_in_ids_and_kinds_of_foreign_graphs_are_folded() -> None:
    node = MemoryNode(id="a\n[b]", kind="My\nKind", text="hello")
    odd = Path(seed_id="a\n[b]", hops=(), memories=(node,), end_reason="dead_end", energy=0.5)
    result = packed(odd)
    assert result.text == "[a [b]]: hello"
    assert ids(result.items) == ["a\n[b]"]


def test_memory_reached_from_two_seeds_has_its_text_where_its_energy_is_highest() -> None:
    strong = path(("s1", 0.9), ("m", 0.4))
    weak = path(("s2", 0.8), ("m", 0.2), ("x", 0.1))
    result = packed(weak, strong)
    assert result.text == (
        "[s1]: text of s1\n"
        "  leads_to -> [m]: text of m\n"
        "[s2]: text of s2\n"
        "  leads_to -> [m] (shown elsewhere)\n"
        "    leads_to -> [x]: text of x"
    )
    (item,) = (item for item in result.items if item.id == "m")
    assert (item.score, item.path) == (0.4, strong)


def test_reference_that_leads_nowhere_is_not_written() -> None:
    result = packed(path(("s1", 0.9), ("m", 0.4)), path(("s2", 0.8), ("m", 0.2)))
    assert "shown elsewhere" not in result.text
    assert ids(result.items) == ["s1", "m", "s2"]


def test_seed_that_another_seed_reaches_stands_below_it_with_all_that_it_reaches() -> None:
    result = packed(path(("s1", 0.9), ("s2", 0.6)), path(("s2", 0.3), ("x", 0.1)))
    assert result.text.splitlines() == [
        "[s1]: text of s1",
        "  leads_to -> [s2]: text of s2",
        "    leads_to -> [x]: text of x",
    ]


def test_memory_below_a_reference_comes_with_all_that_the_reference_needs() -> None:
    # x needs s2 (4 words), the reference (5), its own line (6), and m's text with s1 (6 + 4).
    weak = path(("s2", 0.8), ("m", 0.2), ("x", 0.1))
    strong = path(("s1", 0.9), ("m", 0.4))
    assert packed(weak, strong, budget=25).tokens == 25
    without_x = packed(weak, strong, budget=24)
    assert (ids(without_x.items), ids(without_x.omitted)) == (["s1", "m", "s2"], ["x"])


def test_memories_that_would_each_need_the_other_are_packed_once() -> None:
    # No decay at all, so that each is at home below the other's reference.
    result = packed(
        path(("s1", 0.5), ("p", 0.3), ("q", 0.9)), path(("s2", 0.5), ("q", 0.3), ("p", 0.9))
    )
    assert sorted(ids(result.items)) == ["p", "q", "s1", "s2"]


# --- what is packed ---------------------------------------------------------------------------


def test_hit_that_a_packed_memory_leads_to_stands_below_it() -> None:
    # Found by the search as well, all three would be packed alone: nothing is nearer than that.
    chain = path(("s", 0.9), ("a", 0.3), ("b", 0.1))
    result = packed(chain, path(("b", 0.8)), path(("a", 0.7)))
    assert result.text == (
        "[s]: text of s\n  leads_to -> [a]: text of a\n    leads_to -> [b]: text of b"
    )
    assert [(item.id, item.path) for item in result.items[1:]] == [("a", chain), ("b", chain)]


def test_a_tree_stands_below_the_best_memory_that_leads_to_where_it_begins() -> None:
    # "Why was the evening cancelled?": the seeds are neighbours, and each has a tree of its own, so
    # that an edge between two of them is the answer.
    paths = (
        path(("next", 0.9), ("cancelled", 0.3), ("stuck", 0.1)),
        path(("cancelled", 0.8), ("stuck", 0.4)),
        path(("cancelled", 0.8), ("next", 0.2)),
        path(("stuck", 0.7), ("leak", 0.5)),
    )
    result = packed(*paths)
    assert result.text.splitlines() == [
        "[next]: text of next",
        "  leads_to -> [cancelled]: text of cancelled",
        "    leads_to -> [stuck]: text of stuck",
        "      leads_to -> [leak]: text of leak",
    ]
    assert [item.path.ids[0] for item in result.items] == ["next", "next", "next", "stuck"]


def test_of_two_trees_that_lead_to_each_other_the_better_one_stays() -> None:
    paths = (
        path(("a", 0.5), ("b", 0.3)),
        path(("a", 0.5), ("a1", 0.2)),
        path(("b", 0.9), ("a", 0.4)),
        path(("b", 0.9), ("b1", 0.6)),
    )
    assert packed(*paths).text.splitlines() == [
        "[b]: text of b",
        "  leads_to -> [b1]: text of b1",
        "  leads_to -> [a]: text of a",
        "    leads_to -> [a1]: text of a1",
    ]


def test_a_tree_goes_below_the_memory_with_the_most_worth_not_the_most_energy() -> None:
    builder = builder_of(
        path(("weak", 0.9), ("b", 0.5)), path(("strong", 0.8), ("b", 0.1)), path(("b", 0.7))
    )
    result = builder.build(worth={"weak": 0.6, "strong": 1.0, "b": 0.5})
    assert read_trunks(result.text) == [
        (("strong",), None),
        (("strong", "b"), None),
        (("weak",), None),
    ]


def test_where_two_places_of_a_memory_meet_they_become_one() -> None:
    result = packed(
        path(("a", 0.9), ("b", 0.3), ("x", 0.1), ("y", 0.05)), path(("b", 0.8), ("x", 0.4))
    )
    assert [trunk for trunk, _ in read_trunks(result.text)] == [
        ("a",),
        ("a", "b"),
        ("a", "b", "x"),
        ("a", "b", "x", "y"),
    ]


def test_what_stands_below_either_place_of_a_memory_stands_below_the_one_that_is_left() -> None:
    paths = (
        path(("a", 0.9), ("b", 0.5), ("x", 0.4), ("y", 0.1)),
        path(("b", 0.8), ("x", 0.4), ("z", 0.1)),
    )
    worth = {"a": 0.1, "b": 0.1, "x": 0.1, "y": 0.5, "z": 0.5}
    texts = set()
    for _ in range(20):
        texts.add(builder_of(*paths).build(worth=worth).text)
    (text,) = texts
    assert [trunk for trunk, _ in read_trunks(text)] == [
        ("a",),
        ("a", "b"),
        ("a", "b", "x"),
        ("a", "b", "x", "y"),
        ("a", "b", "x", "z"),
    ]


def test_a_move_that_does_not_fit_does_not_hinder_a_cheaper_one() -> None:
    tree = path(("t", 0.8), *((f"t{n}", 0.5) for n in range(9)))
    # "t" is worth more than "h" and less than "p", so its move comes first.
    paths = (path(("p", 1.5), ("t", 0.3)), path(("p", 1.5), ("h", 0.1)), tree, path(("h", 0.7)))
    whole = packed(*paths, count=len)
    assert ("p", "h") in dict(read_trunks(whole.text))
    text = packed(*paths, budget=whole.tokens - 20, count=len).text
    assert ("p", "h") in dict(read_trunks(text))
    assert ("t",) in dict(read_trunks(text))


def test_trees_do_not_hang_below_each_other_without_end() -> None:
    paths = [path((f"s{n:02}", 1 - n / 100), (f"s{n + 1:02}", 0.1)) for n in range(30)]
    trunks = [trunk for trunk, _ in read_trunks(packed(*paths).text)]
    assert max(map(len, trunks)) == MOST_DEPTH + 1


def test_as_many_trees_move_as_fit() -> None:
    """Each move costs two words for the relation; the better parent comes first."""
    paths = (
        path(("a", 0.9), ("x", 0.1)),
        path(("a", 0.9), ("b", 0.1)),
        path(("b", 0.8), ("y", 0.1)),
        path(("x", 0.7), ("x1", 0.5)),
        path(("y", 0.6), ("y1", 0.4)),
    )
    whole = packed(*paths)
    assert read_trunks(whole.text)[-1][0] == ("a", "b", "y", "y1")
    tight = packed(*paths, budget=whole.tokens - 2)
    assert len(tight.items) == len(whole.items)
    assert sorted(trunk for trunk, _ in read_trunks(tight.text) if len(trunk) == 1) == [
        ("a",),
        ("y",),
    ]


def test_hit_stands_alone_where_what_leads_to_it_does_not_fit() -> None:
    long = {"mid": "m " * 50}
    paths = (path(("s", 0.9), ("mid", 0.3), ("b", 0.1), texts=long), path(("b", 0.8)))
    assert packed(*paths, budget=8).text == "[s]: text of s\n[b]: text of b"


def test_hit_moves_below_a_memory_for_which_there_was_room_only_at_the_end() -> None:
    # At first a twentieth of 220 is kept free: 203 words of "long" and 4 of "b" leave 2 for "s".
    texts = {"long": "w " * 202}
    paths = (
        path(("long", 0.9), texts=texts),
        path(("b", 0.8)),
        path(("s", 0.1), ("b", 0.05)),
    )
    result = packed(*paths, budget=220)
    assert ids(result.items) == ["long", "s", "b"]
    assert result.text.endswith("\n  leads_to -> [b]: text of b")
    assert result.tokens == 203 + 4 + 6


def test_energy_per_token_decides() -> None:
    # Each character of a text brings its memory's worth. After the seed, "far" brings 0.4 * 9 for
    # 8 words and for 5 of the bare "mid" on the way: 0.28 a word; "near" 0.3 * 9 for 8: 0.34, and
    # "next" 0.29 * 9. For "far" both would have to go.
    texts = {"s": "seed x", "mid": "", "far": "f " * 5, "near": "n " * 5, "next": "x " * 5}
    paths = (
        path(("s", 0.9), ("mid", 0.5), ("far", 0.4), texts=texts),
        path(("s", 0.9), ("near", 0.3), texts=texts),
        path(("s", 0.9), ("next", 0.29), texts=texts),
    )
    result = packed(*paths, budget=3 + 16)
    assert ids(result.items) == ["s", "near", "next"]
    assert result.tokens == 3 + 16
    assert [(o.id, o.score, o.reason) for o in result.omitted] == [
        ("mid", 0.5, "no_text"),
        ("far", 0.4, "budget"),
    ]


def test_a_better_memory_takes_the_place_of_a_worse_one_that_was_cheaper() -> None:
    # "near" is taken first, as above, and leaves 5 words. If it goes, there is room for "far".
    texts = {"s": "seed x", "mid": "", "far": "f " * 5, "near": "n " * 5}
    paths = (
        path(("s", 0.9), ("mid", 0.5), ("far", 0.4), texts=texts),
        path(("s", 0.9), ("near", 0.3), texts=texts),
    )
    assert ids(packed(*paths, budget=3 + 13).items) == ["s", "far"]
    assert ids(packed(*paths, budget=3 + 12).items) == ["s", "near"]  # no room for "far"


def test_what_leads_to_a_memory_in_the_text_does_not_go() -> None:
    # "weak" is worth less than "rest", but "deep" stands below it: for "rest" both would go.
    texts = {"weak": "w a", "deep": "d e", "rest": "r s"}
    paths = (path(("weak", 0.1), ("deep", 0.5), texts=texts), path(("rest", 0.4), texts=texts))
    worth = {"weak": 0.1, "deep": 0.5, "rest": 0.4}
    builder = builder_of(*paths, budget=3 + 5)
    assert ids(builder.build(worth=worth).items) == ["weak", "deep"]


@pytest.mark.parametrize(("worth", "stays"), [(0.2, True), (0.02, False)])
def test_a_long_memory_goes_only_for_more_by_characters_too(worth: float, stays: bool) -> None:
    # Two lines of 13 and 4 words do not fit into 14. "long" is worth less than "short" by itself,
    # but 0.2 * 23 characters are more than 0.3 * 3, and 0.02 * 23 are less.
    texts = {"long": "l " * 12, "short": "s t"}
    builder = builder_of(*(path((name, 0.5), texts=texts) for name in texts), budget=14)
    found = builder.build(worth={"long": worth, "short": 0.3})
    assert ids(found.items) == (["long"] if stays else ["short"])


@pytest.mark.parametrize(("worth", "stays"), [(0.29, ["a", "b"]), (0.1, ["long"])])
def test_what_fits_beside_the_memory_that_comes_counts_for_the_exchange(
    worth: float, stays: list[str]
) -> None:
    # "long" is taken first: 0.2 * 26 characters for 10 words. Of the 14 words, "a" and "b" need 7
    # each. For "a" alone, 0.3 * 11 are less than 0.2 * 26; with 0.29 * 11 for "b", which fits then,
    # they are more, and with 0.1 * 11 less.
    texts = {"long": "ll " * 9, "a": "a " * 6, "b": "b " * 6}
    builder = builder_of(*(path((name, 0.5), texts=texts) for name in texts), budget=14)
    found = builder.build(worth={"long": 0.2, "a": 0.3, "b": worth})
    assert ids(found.items) == stays


def test_what_leads_to_a_memory_costs_nothing_once_it_is_in() -> None:
    # The seed is taken first. Together with the seed, "child" costs 6 words; beside it only 4, for
    # 0.5 * 10: 1.25 a word. "other" brings 0.2 * 10 for 2 words: 1, and only one of them fits.
    texts = {"s": "s" * 10, "child": "c" * 10, "other": "o" * 10}
    paths = (path(("s", 0.9), ("child", 0.4), texts=texts), path(("other", 0.2), texts=texts))
    assert ids(packed(*paths, budget=6).items) == ["s", "child"]


def test_a_long_memory_is_not_passed_over_for_short_ones() -> None:
    texts = {"s": "seed x", "long": "l " * 12, "short": "w"}
    paths = (
        path(("s", 0.9), ("long", 0.4), texts=texts),
        path(("s", 0.9), ("short", 0.39), texts=texts),
    )
    assert ids(packed(*paths, budget=3 + 15).items) == ["s", "long"]


def test_a_memory_that_was_found_and_reached_is_worth_both() -> None:
    # 0.5 + 0.3 for "a" against 0.6 for "b", 4 words each; all of "s" is taken first.
    paths = (path(("s", 0.9), ("a", 0.3)), path(("a", 0.5)), path(("b", 0.6)))
    assert ids(packed(*paths, budget=8).items) == ["s", "a"]
    assert ids(packed(*paths[1:], budget=4).items) == ["b"]


def test_smaller_memory_is_taken_where_a_better_one_does_not_fit() -> None:
    texts = {"s": "seed", "big": "b " * 30, "small": "w"}
    paths = (
        path(("s", 0.9), ("big", 0.8), texts=texts),
        path(("s", 0.9), ("small", 0.01), texts=texts),
    )
    assert ids(packed(*paths, budget=12).items) == ["s", "small"]


def test_long_trunk_is_taken_for_the_sake_of_what_it_leads_to() -> None:
    # The trunk is poor by itself: 0.01 * 31 for 17 words. With its child, which brings 0.5 * 19
    # for 13, it is 0.33 a word: better than "alone", 0.15 * 19 for 11, 0.26. One word more is kept
    # for reasons while memories are chosen.
    texts = {"trunk": "t " * 16, "child": "c " * 10, "alone": "a " * 10}
    paths = (
        path(("trunk", 0.01), ("child", 0.9), texts=texts),
        path(("alone", 0.15), texts=texts),
    )
    assert ids(packed(*paths, budget=30 + 1).items) == ["trunk", "child"]
    assert ids(packed(*paths, budget=27).items) == ["alone"]


def test_no_memory_without_its_trunk() -> None:
    texts = {"s": "w " * 50, "b": "v"}
    result = packed(path(("s", 0.9), ("b", 0.8), texts=texts), budget=20)
    assert (result.text, result.items, result.tokens) == ("", (), 0)
    assert [(o.id, o.reason) for o in result.omitted] == [("s", "budget"), ("b", "budget")]


def test_tokens_saved_by_counting_the_whole_are_used() -> None:
    # Lines of 4 words count 6 alone: two foreseen as 12 take 10, and 6 are left for the third.
    paths = [path((name, 0.5)) for name in ("a", "b", "c")]
    assert packed(*paths, budget=16, count=words_and_frame).tokens == 3 * 4 + 2


def test_a_whole_that_counts_for_more_than_its_lines_is_cut_back() -> None:
    # Four words a line: 16 // 8 = 2 by itself, two lines 8, three 18, four 32.
    paths = [path((name, 0.5)) for name in ("a", "b", "c", "d")]
    result = packed(*paths, budget=20, count=superadditive)
    assert (ids(result.items), result.tokens) == (["a", "b", "c"], 18)
    assert ids(result.omitted) == ["d"]


def test_shorter_memory_is_still_taken_after_one_that_proved_too_long() -> None:
    # As above, with room for 14 words (24) but not for 16 (32): "e" has two.
    paths = [path((name, 0.5)) for name in ("a", "b", "c", "d")]
    result = packed(*paths, path(("e", 0.01), texts={"e": "w"}), budget=28, count=superadditive)
    assert (ids(result.items), result.tokens) == (["a", "b", "c", "e"], 24)


def test_energy_of_a_trunk_counts_once() -> None:
    # Once the seed is in, "x" brings 0.5 * 23 for 15 words, 0.77 a word; were the seed's 0.9 * 6
    # counted again, 1.13. "y" brings 0.5 * 51 for 27, 0.94. There is room for one of them.
    texts = {"s": "seed x", "x": "x " * 12, "y": "y " * 26}
    paths = (path(("s", 0.9), ("x", 0.2), texts=texts), path(("y", 0.5), texts=texts))
    assert ids(packed(*paths, budget=3 + 29).items) == ["s", "y"]


def test_energy_of_a_reference_does_not_count() -> None:
    # After s1, m and s2 (14 words), "x" brings 0.1 * 9 for 5 + 6 words, "y" 0.12 * 9 for 6. One
    # word more is kept for reasons while memories are chosen.
    paths = (
        path(("s1", 0.9), ("m", 0.4)),
        path(("s1", 0.9), ("y", 0.12)),
        path(("s2", 0.8), ("m", 0.3), ("x", 0.1)),
    )
    assert ids(packed(*paths, budget=14 + 11 + 1).omitted) == ["x"]


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


def test_memory_with_blank_text_stays_visible_on_the_way_to_another() -> None:
    result = packed(path(("a", 0.9), ("b", 0.5), ("c", 0.1), texts={"b": " \n"}))
    assert result.text.splitlines()[1] == "  leads_to -> [b] (no text)"
    assert ids(result.items) == ["a", "c"]
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "no_text")]


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


def test_an_irrelevant_memory_keeps_its_line_on_the_way_to_another_but_not_its_text() -> None:
    # "b" has its text below "d", but the line below "a" does not need that line to be shown.
    paths = (path(("a", 0.9), ("b", 0.5), ("c", 0.1)), path(("d", 0.8), ("b", 0.6)))
    result = built_without({"b"}, *paths)
    assert result.text.splitlines() == [
        "[a]: text of a",
        "  leads_to -> [b] (not relevant)",
        "    leads_to -> [c]: text of c",
        "[d]: text of d",
    ]
    assert ids(result.items) == ["a", "c", "d"]
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "relevance")]


def test_a_memory_without_a_text_is_irrelevant_where_both_are_true() -> None:
    result = built_without({"b"}, path(("a", 0.9), ("b", 0.5), texts={"b": ""}))
    assert [(o.id, o.reason) for o in result.omitted] == [("b", "relevance")]


def test_an_irrelevant_memory_is_no_duplicate_and_has_none() -> None:
    same = {"a": "The disk of build host 7 is full.", "b": "The disk of build host 7 is full!"}
    paths = (path(("a", 0.9), texts=same), path(("b", 0.5), texts=same))
    result = built_without({"a"}, *paths, near=[("a", "b")])
    assert ids(result.items) == ["b"]
    assert [(o.id, o.reason, o.duplicate_of) for o in result.omitted] == [("a", "relevance", None)]


def test_memory_with_blank_text_that_leads_nowhere_is_not_written() -> None:
    result = packed(path(("a", 0.9), ("b", 0.5), texts={"b": ""}))
    assert result.text == "[a]: text of a"


# --- edges of the input -----------------------------------------------------------------------


def test_nothing_gives_an_empty_pack() -> None:
    empty = ContextPack(text="", items=(), tokens=0, omitted=())
    assert pack([], budget_tokens=1) == empty
    assert ContextBuilder(1).build() == empty


@pytest.mark.parametrize("budget", [0, -1, 1.0, True, "5", None])
def test_budget_must_be_a_whole_number_of_at_least_one(budget: object) -> None:
    with pytest.raises(InvalidInputError, match="budget_tokens") as caught:
        pack([], budget_tokens=budget)
    assert caught.value.field == "budget_tokens"


@pytest.mark.parametrize("value", [-1, 2.0, None, True])
def test_counter_must_give_a_whole_number_of_at_least_zero(value: object) -> None:
    with pytest.raises(InvalidInputError, match="count_tokens") as caught:
        packed(path(("a", 0.5)), count=lambda _text: value)
    assert caught.value.field == "count_tokens"


def test_counter_that_finds_no_tokens_takes_everything() -> None:
    paths = (path(("a", 0.9), ("b", 0.5)), path(("c", 0.1)))
    assert ids(packed(*paths, budget=1, count=lambda _text: 0).items) == ["a", "b", "c"]


def test_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "äöü")] == [0, 1, 1, 2, 2]
    assert estimate_tokens("\ud800") == 1  # a lone surrogate is three bytes, not an error


def test_estimate_is_the_default() -> None:
    text = "[a]: text of a"  # 14 bytes
    result = pack([exploration(path(("a", 0.9)))], budget_tokens=4)
    assert (result.text, result.tokens) == (text, 4)


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
TEXTS = ("word", "two words", "one\ntwo lines", "w " * 20, "", " \n ", "ünïcödé " * 5, None)


@st.composite
def path_lists(draw: st.DrawFn) -> list[Path]:
    """Paths of up to three trees over twelve memories, overlapping, some read too late."""
    texts = {f"m{n}": draw(st.sampled_from(TEXTS)) for n in range(12)}
    texts = {i: f"about {i}" if text is None else text for i, text in texts.items()}
    paths = []
    for seed in draw(st.lists(st.sampled_from(sorted(texts)), max_size=3, unique=True)):
        trunks = [((seed, draw(st.sampled_from(ENERGIES))),)]
        for other in draw(st.lists(st.sampled_from(sorted(texts)), max_size=8, unique=True)):
            trunk = draw(st.sampled_from(trunks))
            if other not in dict(trunk):
                trunks.append((*trunk, (other, draw(st.sampled_from(ENERGIES)))))
        paths += [path(*trunk, texts=texts) for trunk in trunks]
    late = draw(st.lists(st.booleans(), min_size=len(paths), max_size=len(paths)))
    paths += [without_texts(p) for p, is_late in zip(paths, late, strict=True) if is_late]
    return draw(st.permutations(paths))


def one_tree() -> st.SearchStrategy[list[Path]]:
    """Paths of one seed: each memory has one place, so that the whole reads one way only."""
    return path_lists().map(lambda paths: [p for p in paths if p.seed_id == paths[0].seed_id])


configs = st.builds(
    ContextConfig,
    order=st.sampled_from(["relevance", "time"]),
    format=st.sampled_from(["text", "markdown", "json"]),
    duplicate_overlap=st.sampled_from([None, 0.5, 0.9]),
)
TREE = ContextConfig(duplicate_overlap=0.9)
ALL = ContextConfig(duplicate_overlap=None)


def build(paths: list[Path], budget: int, count, config: ContextConfig | None = None):
    return builder_of(*paths, budget=budget, count=count, config=config).build()


LINE = re.compile(
    r"(?P<pad> *)(?:leads_to -> )?\[(?P<id>\w+)\]"
    r"(?: \((?P<ref>shown elsewhere|same as (?P<kept>\w+))\))?"
)


def read_trunks(text: str) -> list[tuple[tuple[str, ...], str | None]]:
    """Read the text as a stranger would: the ids leading to each line, and what it refers to."""
    found: list[tuple[tuple[str, ...], str | None]] = []
    trunk: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("| "):
            continue
        match = LINE.match(line)
        assert match, line
        depth = len(match["pad"]) // 2
        assert depth <= len(trunk), f"no parent above: {line}"
        trunk = [*trunk[:depth], match["id"]]
        found.append((tuple(trunk), match["ref"] and (match["kept"] or match["id"])))
    return found


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS), configs)
def test_any_pack_is_within_budget_and_complete(paths, budget, count, config) -> None:
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

    # A duplicate repeats a memory that is none.
    duplicates = {o.id: o.duplicate_of for o in result.omitted if o.reason == "duplicate"}
    assert config.duplicate_overlap is not None or not duplicates
    assert all(o.duplicate_of is None for o in result.omitted if o.id not in duplicates)
    for kept in duplicates.values():
        assert texts[kept]
        assert kept not in duplicates


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS))
def test_reason_of_every_memory_is_in_the_text(paths, budget, count) -> None:
    result = build(paths, budget, count, TREE)
    texts = {m.id: m.text.strip() for one in paths for m in one.memories}

    # Trunks once, memories once, in the order of the items, each at the end of its own path; above
    # a tree that has moved stands the path that leads to it.
    trunks = read_trunks(result.text)
    assert len(dict(trunks)) == len(trunks)
    shown = [trunk for trunk, ref in trunks if not ref]
    assert [trunk[-1] for trunk in shown if texts[trunk[-1]]] == ids(result.items)
    by_id = {trunk[-1]: trunk for trunk in shown}
    assert len(by_id) == len(shown)
    assert {ref for _, ref in trunks if ref} <= by_id.keys(), "a reference leads somewhere"
    duplicates = {o.id: o.duplicate_of for o in result.omitted if o.reason == "duplicate"}
    steps = {step for one in paths for step in pairwise(one.ids)}
    for item in result.items:
        trunk = by_id[item.id]
        own = item.path.ids[: item.path.ids.index(item.id) + 1]
        assert trunk[-len(own) :] == own
        assert steps.issuperset(pairwise(trunk))
        assert {duplicates.get(i, i) for i in trunk if texts[i]} <= set(ids(result.items))


@given(path_lists(), st.integers(1, 120), configs)
def test_nothing_left_out_for_the_budget_would_fit(paths, budget, config) -> None:
    # Of words, a whole text has as many as its lines together; so "would fit" is exact.
    config = replace(config, duplicate_overlap=None)
    grown: list[Place] = []

    def grow_and_keep(*given: Any) -> list[Place]:
        grown[:] = grow(*given)
        return grown

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoria.context.builder.grow", grow_and_keep)
        result = build(paths, budget, words, config)
    homes = {place.id: place.home for place in grown}  # where trees have moved, after that

    def whole(targets: set[str]) -> str:
        chains = {place for target in targets for place in chain_of(homes[target])}
        return join((render_place(one, config) for one in in_order(chains, config.order)), config)

    packed_ids = set(ids(result.items))
    assert whole(packed_ids) == result.text or not packed_ids
    for item in result.omitted:
        if item.reason == "budget":
            assert words(whole({*packed_ids, item.id})) > budget


def cut_before(one: Path, gone: str) -> Path | None:
    """The part of a path that stands before a memory; None where the path starts with it."""
    if gone not in one.ids:
        return one
    kept = one.ids.index(gone)
    if kept == 0:
        return None
    hops = one.hops[: kept - 1]
    energy = hops[-1].energy_out if hops else one.hops[0].energy_in
    return replace(one, hops=hops, memories=one.memories[:kept], energy=energy)


@given(one_tree(), configs)
def test_removing_the_last_item_makes_room_for_one_like_it(paths, config) -> None:
    config = replace(config, duplicate_overlap=None)
    whole = build(paths, PLENTY, words, config)
    assume(whole.items)
    last = whole.items[-1]
    text = next(m.text for one in paths for m in one.memories if m.id == last.id)
    fewer = [cut for one in paths if (cut := cut_before(one, last.id))]
    alike = path(("alike", last.score), texts={"alike": text})
    again = build([*fewer, alike], whole.tokens, words, config)
    assert {*ids(again.items), last.id} == {*ids(whole.items), "alike"}
    if len(whole.items) > 1:  # one token less, and one has to go
        assert build([*fewer, alike], again.tokens - 1, words, config).omitted


@given(path_lists(), st.sampled_from([None, words, words_and_frame, superadditive]))
def test_without_pressure_every_memory_with_text_is_in(paths, count) -> None:
    result = build(paths, 10**9, count, ALL)
    texts = {m.id: m.text for one in paths for m in one.memories}
    assert set(ids(result.items)) == {i for i, text in texts.items() if text.strip()}


@given(one_tree(), configs)
def test_budget_of_exactly_the_whole_takes_the_whole(paths, config) -> None:
    whole = build(paths, 10**9, words, config)
    if whole.items:
        assert build(paths, whole.tokens, words, config) == whole
        if whole.tokens > 1:
            assert build(paths, whole.tokens - 1, words, config) != whole


@given(path_lists(), st.integers(1, 120), st.sampled_from(COUNTERS), configs, st.randoms())
def test_order_of_adding_makes_no_difference(
    paths: list[Path], budget: int, count, config, order: random.Random
) -> None:
    again = [*paths, *paths[:2]]
    order.shuffle(again)
    assert build(again, budget, count, config) == build(paths, budget, count, config)


@given(path_lists(), st.integers(1, 120))
def test_pack_of_explorations_is_what_the_builder_makes_of_their_paths(paths, budget) -> None:
    explorations = [exploration(one) for one in paths]
    assert pack(explorations, budget_tokens=budget) == build(paths, budget, None)
