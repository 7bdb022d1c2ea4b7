"""Seeds of several scopes: earlier questions, kinds of facts, time windows, ties."""

from __future__ import annotations

from dataclasses import replace

from memoria.recall.seeds import across, of_window
from memoria.recall.seeds.choosing import choose_by_cosine, fuse
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.seeds.questions import Apart
from memoria.recall.together import in_scope
from memoria.types import Seed, Seeds

CONFIG = SeedConfig()


def places(seeds: tuple[Seed, ...]) -> list[tuple[str, str]]:
    return [(one.scope, one.id) for one in seeds]


def ids(seeds: tuple[Seed, ...]) -> list[str]:
    return [one.id for one in seeds]


def test_many_copies_of_the_question_do_not_push_out_its_answers() -> None:
    copies = [(f"q{number:02}", 0.99) for number in range(60)]
    answers = [(f"a{number}", 0.8 - number / 100) for number in range(5)]
    hits = [*copies, *answers]
    apart = Apart(ids=frozenset(dict(copies)), echoes=frozenset(dict(copies)))
    one = apart.back(fuse([answers, []], CONFIG), fuse([hits, []], CONFIG))
    wide = replace(CONFIG, candidates=1_000)  # as the search asks again, if copies fill its list
    full = apart.back(fuse([answers, []], wide), fuse([hits, []], wide))
    assert len(full.echoes) == 60
    for found in (one, full):
        layers = [in_scope(found, "s"), in_scope(Seeds(seeds=()), "t")]
        assert ids(across(layers, CONFIG).seeds) == ids(one.seeds)
    assert {*ids(one.seeds)} >= {"a0", "a1", "a2", "a3", "a4"}


def test_a_loose_question_in_one_scope_is_in_second_place() -> None:
    config = SeedConfig(max_seeds=1, candidates=5)
    hits = [("q", 0.9), ("a", 0.8), ("b", 0.7)]
    apart = Apart(ids=frozenset("q"), echoes=frozenset())
    found = apart.back(fuse([hits[1:], []], config), fuse([hits, []], config))
    several = across([in_scope(found, "s"), in_scope(Seeds(seeds=()), "t")], config)
    assert ids(several.seeds) == ids(found.seeds)
    assert ids(several.runners_up) == ids(found.runners_up)
    assert several.loose == found.loose == ("q",)


def test_each_valid_configuration_chooses_seeds_of_several_scopes() -> None:
    config = SeedConfig(fusion="cosine", max_seeds=50, candidates=50, max_facts=10)
    every = [(f"m{number:02}", 0.9 - number / 100) for number in range(50)]
    facts = [(f"f{number}", 0.5 - number / 100) for number in range(10)]
    found = in_scope(choose_by_cosine([every, facts], config), "s")
    chosen = across([found, in_scope(Seeds(seeds=()), "t")], config)
    assert {*places(chosen.seeds)} == {("s", id_) for id_, _ in (*every, *facts)}
    most = SeedConfig(fusion="cosine", max_seeds=100, candidates=100, max_facts=100)
    assert places(across([found], most).seeds) == places(chosen.seeds)


def test_hits_of_a_second_search_are_in_the_order_of_their_words_without_vectors() -> None:
    first = fuse([[], [("a", 9.0), ("b", 8.0)]], CONFIG)
    later = tuple(
        Seed(id=id_, score=0.5, text_score=score)
        for id_, score in (("c", 1.0), ("d", 2.0), ("z", 7.0))
    )
    one = in_scope(replace(first, runners_up=later), "s")
    other = in_scope(replace(first, runners_up=(Seed(id="e", score=0.5, text_score=5.0),)), "t")
    chosen = across([one, other], CONFIG)
    assert places(chosen.runners_up) == [("s", "z"), ("t", "e"), ("s", "d")]


def test_a_cosine_of_zero_comes_before_none() -> None:
    first = fuse([[("a", 0.9)], []], CONFIG)
    later = (Seed(id="b", score=0.5, vector_score=-0.5), Seed(id="z", score=0.5, vector_score=0.0))
    chosen = across([in_scope(replace(first, runners_up=later), "s")], CONFIG)
    assert ids(chosen.runners_up) == ["z", "b"]


def test_scopes_share_the_places_of_memories_without_an_embedding() -> None:
    config = SeedConfig(unembedded=3)
    layers = [
        in_scope(Seeds(seeds=tuple(Seed(id=id_, score=0.01) for id_ in names)), scope)
        for scope, names in (("s", "abc"), ("t", "d"), ("u", "ef"))
    ]
    assert places(across(layers, config).seeds) == [("s", "a"), ("t", "d"), ("u", "e")]


def test_the_seeds_of_a_time_window_are_the_best_of_all_scopes() -> None:
    config = SeedConfig(max_seeds=2)
    strong = fuse([[("a", 0.9), ("b", 0.8), ("c", 0.7)], []], config)
    weak = fuse([[("x", 0.2), ("y", 0.1)], []], config)
    unknown = Seeds(seeds=(Seed(id="n", score=0.01),))
    layers = [in_scope(each, scope) for each, scope in ((weak, "w"), (unknown, "n"), (strong, "s"))]
    chosen = of_window(layers, config)
    assert places(chosen.seeds) == [("s", "a"), ("s", "b")]
    assert ids(chosen.runners_up) == ["c", "x", "y", "n"]
