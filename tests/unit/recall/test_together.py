"""Memories of several scopes ranked and packed together: fair lists, ids, headings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memoria.recall.context import ContextBuilder
from memoria.recall.context.config import ContextConfig
from memoria.recall.ranking import NOTHING_KNOWN
from memoria.recall.seeds import across
from memoria.recall.seeds.choosing import fuse
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.texts import Completed
from memoria.recall.together import Together, in_scope, part_of, with_scope
from memoria.types import Exploration, ExplorationStats, MemoryNode, Path, Seed, Seeds
from memoria.types.renaming import bare_id, key_prefix, prefix_of

CONFIG = SeedConfig(max_seeds=2, candidates=6)
DAY = datetime(2026, 5, 2, tzinfo=UTC)


def of(scope: str, vector: list[tuple[str, float]], text: list[tuple[str, float]]) -> Seeds:
    return in_scope(fuse([vector, text], CONFIG), scope)


def test_lists_of_scopes_are_fused_as_those_of_one_scope() -> None:
    one = [("a", 0.9), ("b", 0.8), ("c", 0.7)], [("b", 6.0), ("d", 2.0)]
    other = [("x", 0.85), ("y", 0.1)], [("y", 4.0)]
    found = across([of("s", *one), of("t", *other)], CONFIG)
    want = fuse(
        [
            sorted(one[0] + other[0], key=lambda hit: -hit[1]),
            sorted(one[1] + other[1], key=lambda hit: -hit[1]),
        ],
        CONFIG,
    )
    assert [(seed.id, seed.score) for seed in found.seeds] == [
        (seed.id, seed.score) for seed in want.seeds
    ]
    assert [replace(seed, scope="") for seed in found.runners_up] == [*want.runners_up]
    assert {seed.id: seed.scope for seed in (*found.seeds, *found.runners_up)} == {
        **dict.fromkeys("abcd", "s"),
        **dict.fromkeys("xy", "t"),
    }


def test_a_scope_whose_hits_match_less_gets_no_seed() -> None:
    weak = of("t", [("x", 0.2), ("y", 0.1)], [("x", 0.5)])
    strong = of("s", [("a", 0.9), ("b", 0.8)], [("a", 6.0), ("b", 3.0)])
    found = across([weak, strong], CONFIG)
    assert [(seed.scope, seed.id) for seed in found.seeds] == [("s", "a"), ("s", "b")]
    assert part_of(found, weak, "t").seeds == ()
    assert {seed.id for seed in part_of(found, weak, "t").runners_up} == {"x", "y"}


def test_equal_ids_of_two_scopes_are_two_hits() -> None:
    found = across([of("s", [("m", 0.9)], []), of("t", [("m", 0.8)], [])], CONFIG)
    assert [(seed.scope, seed.id) for seed in found.seeds] == [("s", "m"), ("t", "m")]


@pytest.mark.parametrize("id_", ["m", "a#2", "\x1f", "\x1f0\x1f", "é/%"])
def test_a_key_gives_back_its_id(id_: str) -> None:
    for number in (0, 15):
        key = key_prefix(number) + id_
        assert bare_id(key) == id_
        assert prefix_of(key) == key_prefix(number)


def hit(id_: str, text: str, made: datetime | None = None) -> Path:
    memory = MemoryNode(id=id_, kind="Event", text=text, created_at=made)
    return Path(seed_id=id_, hops=(), memories=(memory,), end_reason="not_explored", energy=0.5)


def completed(*hits: Path) -> Completed:
    return Completed(explorations=(), hits=hits, needed=(), facts=NOTHING_KNOWN)


def packed(order: str, format_: str) -> str:
    layers = {
        "alice": completed(hit("1", "One", DAY), hit("2", "Two")),
        "the team": completed(hit("1", "Three", DAY), hit("3", "Four", DAY)),
    }
    together = Together.of(layers, ())
    config = ContextConfig(order=order, format=format_)  # type: ignore[arg-type]
    builder = ContextBuilder(500, config=config)
    for path in together.found.hits:
        builder.add(path)
    context = builder.build(worth={"\x1f0\x1f1": 1.0, "\x1f1\x1f3": 0.9, "\x1f1\x1f1": 0.8})
    shown = together.context(context)
    assert {(item.scope, item.id) for item in shown.items} == {
        ("alice", "1"),
        ("alice", "2"),
        ("the team", "1"),
        ("the team", "3"),
    }
    assert all(item.path.memories[0].id == item.id for item in shown.items)
    return context.text


def test_memories_stand_below_the_name_of_their_scope() -> None:
    assert packed("relevance", "text") == (
        "alice, 2026-05-02:\n[m1] One\nundated:\n[m2] Two\n"
        "the team, 2026-05-02:\n[m3] Four\n[m4] Three"
    )
    assert packed("time", "text").count("alice") == 2
    assert packed("relevance", "markdown").startswith("alice, 2026-05-02:\n- **m1** One")
    assert packed("relevance", "json").count('"scope":"the team"') == 2


def test_each_scope_has_its_own_sessions() -> None:
    facts = replace(NOTHING_KNOWN, sessions={"1": ("s", 2)}, opening={"1"})
    one = replace(completed(hit("1", "One")), facts=facts)
    found = Together.of({"alice": one, "the team": one}, ()).found.facts
    keys = [key_prefix(number) for number in (0, 1)]
    assert found.sessions == {f"{key}1": (f"{key}s", 2) for key in keys}
    assert found.opening == {f"{key}1" for key in keys}


def test_an_exploration_without_a_scope_is_not_copied() -> None:
    found = Exploration(
        seed=Seed(id="a", score=1.0),
        status="complete",
        paths=(hit("a", "One"),),
        error=None,
        stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.1, hydrate_s=0.0),
    )
    assert with_scope(found) is found
    named = with_scope(replace(found, seed=Seed(id="a", score=1.0, scope="team")))
    assert [path.scope for path in named.paths] == ["team"]
