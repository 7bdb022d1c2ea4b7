"""What a recall reads after the exploration, over a store that answers as told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memoria.errors import DeadlineError, MemoriaError, UnavailableError
from memoria.recall.needs import NOTHING_NEEDED, Needed
from memoria.recall.ranking import FactsRequest
from memoria.recall.texts import Completed, Found, complete
from memoria.store.queries import Query
from memoria.types import Exploration, ExplorationStats, Hop, MemoryNode, Path, Seed

FACTS = "ranking.candidates"
TEXTS = "graph.hydrate"
SEED = Seed(id="s", score=1.0)
LATER = Seed(id="hit", score=0.4)


class Texts:
    """Stands in for the store: it has these texts, and refuses these queries."""

    translation: object = None
    cosine: float | None = 0.5

    def __init__(self, *ids: str, refused: Mapping[str, MemoriaError] | None = None) -> None:
        self.ids = ids
        self.refused = refused or {}
        self.asked: list[tuple[str, list[str]]] = []

    async def run(self, query: Query, parameters: Mapping[str, Any], **_: object) -> list[Any]:
        known = parameters.get("known", ())
        self.asked.append((query.name, [id_ for id_ in parameters["ids"] if id_ not in known]))
        if error := self.refused.get(query.name):
            raise error
        ids = [id_ for id_ in parameters["ids"] if id_ in self.ids]
        if query.name == TEXTS:
            return [{"memories": [_row(id_) for id_ in ids]}]
        return [
            {
                "candidates": [
                    [
                        id_,
                        self.cosine,
                        1,
                        [],
                        None if id_ in known else _row(id_),
                        None,
                        [],
                        [],
                        [],
                        None,
                    ]
                    for id_ in ids
                ]
            }
        ]


def _row(id_: str) -> list[Any]:
    return [id_, ["Memory"], f"read {id_}", [], [], [], None, None, None, None, None]


def path(ids: str, brought: str) -> Path:
    """A path along ids of one letter, of which a query brought the first texts."""
    hops = tuple(
        Hop(
            source=source,
            target=target,
            relation="",
            direction="out",
            weight=0.5,
            tags=(),
            tag_similarity=1.0,
            degree=1,
            energy_in=0.5**place,
            energy_out=0.5 ** (place + 1),
        )
        for place, (source, target) in enumerate(itertools.pairwise(ids))
    )
    return Path(
        seed_id=ids[0],
        hops=hops,
        memories=tuple(MemoryNode(id=id_, kind="", text=f"brought {id_}") for id_ in brought),
        end_reason="max_depth",
        energy=hops[-1].energy_out if hops else 1.0,
    )


def exploration(*paths: Path, levels: int = 2) -> Exploration:
    stats = ExplorationStats(levels=levels, nodes=3, elapsed_s=0.0, hydrate_s=0.0)
    return Exploration(seed=SEED, status="complete", paths=paths, error=None, stats=stats)


async def completed(
    store: Texts,
    *explorations: Exploration,
    hits: Sequence[Seed] = (),
    needed: Needed = NOTHING_NEEDED,
    for_ranking: bool = True,
    left_s: float = 60.0,
    notes: list[str] | None = None,
    unrelated: float | None = None,
) -> Completed:
    until = asyncio.get_running_loop().time() + left_s
    return await complete(
        store,  # type: ignore[arg-type]
        Found(explorations=explorations, hits=hits, needed=needed, unrelated=unrelated),
        FactsRequest(scope="s", until=until),
        for_ranking=for_ranking,
        notes=[] if notes is None else notes,
    )


class Mapped(Texts):
    """Stands in for the store of a mapped graph: no memory has a vector of its own."""

    translation = "a mapping"
    cosine = None


async def test_a_memory_without_a_vector_is_as_near_as_the_fact_that_led_to_it() -> None:
    near, last = (
        Seed(id=id_, score=0.9, vector_rank=rank, vector_score=score)
        for id_, rank, score in (("a", 1, 0.8), ("b", 2, 0.6))
    )
    by_words = Seed(id="c", score=0.1, text_rank=1, text_score=3.0)
    by_probe = Seed(id="d", score=0.1, vector_score=0.9)  # compared with another vector
    hits = [near, last, by_words, by_probe]
    found = await completed(Mapped(*"abcd"), hits=hits)
    assert found.facts.cosines == {"a": 0.8, "b": 0.6, "c": 0.6, "d": 0.6}
    for unrelated, least in ((0.4, 0.4), (0.7, 0.6)):
        found = await completed(Mapped(*"abcd"), hits=hits, unrelated=unrelated)
        assert found.facts.cosines == {"a": 0.8, "b": 0.6, "c": least, "d": least}
    assert (await completed(Mapped(*"abcd"), hits=[by_words])).facts.cosines == {}
    own = await completed(Texts(*"abcd"), hits=hits)
    assert set(own.facts.cosines.values()) == {0.5}


def texts(found: Path) -> list[str]:
    return [memory.text for memory in found.memories]


@pytest.mark.parametrize(("for_ranking", "query"), [(True, FACTS), (False, TEXTS)])
async def test_texts_and_hits_are_read_in_one_query(for_ranking: bool, query: str) -> None:
    store = Texts("s", "a", "b", "hit")
    found = await completed(
        store, exploration(path("sab", "s")), hits=[LATER], for_ranking=for_ranking
    )
    assert store.asked == [(query, ["a", "b", "hit"])]
    (only,) = found.explorations[0].paths
    assert texts(only) == ["brought s", "read a", "read b"]
    assert [(hit.ids, texts(hit), hit.energy) for hit in found.hits] == [
        (("hit",), ["read hit"], 0.4)
    ]
    asked = ["a", "b", "hit", "s"] if for_ranking else []
    assert found.facts.cosines == dict.fromkeys(asked, 0.5)


@pytest.mark.parametrize(("for_ranking", "queries"), [(True, [(FACTS, [])]), (False, [])])
async def test_texts_that_are_there_are_not_read_again(
    for_ranking: bool, queries: list[Any]
) -> None:
    store = Texts("s", "a")
    whole = exploration(path("sa", "sa"))
    assert (await completed(store, whole, for_ranking=for_ranking)).explorations == (whole,)
    assert store.asked == queries


async def test_a_text_is_that_of_its_first_read() -> None:
    other = exploration(replace(path("s", ""), memories=(MemoryNode(id="s", kind="", text="new"),)))
    found = await completed(Texts(), exploration(path("sa", "s")), other)
    assert texts(found.explorations[0].paths[0]) == ["brought s"]


async def test_nothing_found_asks_nothing() -> None:
    store = Texts()
    assert await completed(store) == await completed(store, for_ranking=False)
    assert store.asked == []


async def test_what_was_deleted_meanwhile_ends_its_paths_once_and_is_not_asked_for_again() -> None:
    store = Texts("s", "a", "d")
    found = await completed(
        store, exploration(path("sab", "s"), path("sac", "s"), path("sd", "s")), hits=[LATER]
    )
    assert store.asked == [(FACTS, ["a", "b", "c", "d", "hit"])]
    assert found.hits == ()
    assert [(one.ids, one.energy, one.end_reason) for one in found.explorations[0].paths] == [
        (("s", "a"), 0.5, "truncated"),
        (("s", "d"), 0.5, "max_depth"),
    ]
    assert found.explorations[0].status == "complete"


async def test_a_seed_that_was_deleted_meanwhile_leaves_no_path() -> None:
    found = await completed(Texts(), exploration(path("s", ""), levels=0))
    assert found.explorations[0].paths == ()


async def test_where_facts_are_refused_texts_alone_are_read() -> None:
    notes: list[str] = []
    store = Texts("s", "a", "hit", refused={FACTS: UnavailableError("gone")})
    found = await completed(store, exploration(path("sa", "s")), hits=[LATER], notes=notes)
    assert [name for name, _ in store.asked] == [FACTS, TEXTS]
    assert texts(found.explorations[0].paths[0]) == ["brought s", "read a"]
    assert len(found.hits) == 1
    assert notes == ["ranked without cosines and edges (gone)"]


async def test_an_exploration_whose_texts_can_not_be_read_says_so_and_leaves_the_others() -> None:
    notes: list[str] = []
    gone = UnavailableError("gone")
    store = Texts(refused={FACTS: gone, TEXTS: gone})
    whole = exploration(path("sa", "sa"))
    found = await completed(
        store,
        whole,
        exploration(path("sab", "sa"), path("sa", "sa")),
        exploration(path("x", ""), levels=0),
        hits=[LATER],
        needed=Needed(paths=(path("sx", ""),)),
        notes=notes,
    )
    assert found.explorations[0] == whole
    assert [(each.status, each.error) for each in found.explorations[1:]] == [("failed", gone)] * 2
    assert [(one.ids, len(one.memories)) for one in found.explorations[1].paths] == [
        (("s", "a"), 2),
        (("s", "a", "b"), 0),
    ]
    assert found.explorations[2].paths == (), "no query has looked for this seed"
    assert notes[1:] == [
        "the search's other hits could not be read (gone)",
        "what the seeds need could not be read (gone)",
    ]
    assert found.needed == ()


async def test_explorations_whose_texts_come_too_late_are_truncated() -> None:
    late = DeadlineError("late")
    store = Texts(refused={FACTS: late, TEXTS: late})
    found = await completed(store, exploration(path("sa", "s")), left_s=0.0)
    assert [(each.status, each.error) for each in found.explorations] == [("truncated", None)]


async def test_where_no_texts_can_be_read_the_error_is_raised() -> None:
    store = Texts(refused={TEXTS: UnavailableError("gone")})
    with pytest.raises(UnavailableError, match="gone"):
        await completed(store, exploration(path("sa", "s")), for_ranking=False)
