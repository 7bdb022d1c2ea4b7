"""Results as plain data: the schema, the way back, and what is refused on it."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import InvalidInputError, MemoriaError, UnavailableError
from memoria.serialize import (
    edges_from,
    explorations_from,
    hits_from,
    needed_from,
    plain_explorations,
    plain_recall,
    ranked_from,
)
from memoria.types import (
    Activation,
    ContextItem,
    ContextPack,
    Contribution,
    Direction,
    Edge,
    EndReason,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    OmittedItem,
    Path,
    RankedMemory,
    Recall,
    Seed,
    Seeds,
    Status,
    Trace,
)
from tests.for_each import for_each
from tests.generated import IDS, RELATIONS, TAGS

UNREAD = "unread"  # an id whose memory no path brings


def fields(kind: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


energies = st.floats(0, 2, allow_subnormal=True)
seconds = st.floats(0, 1e6)
tags = st.lists(st.sampled_from(TAGS), max_size=2).map(tuple)
maps = st.sampled_from([{}, {"k": [1, 0.1, None, {"é\n": True}]}, {"": 10**30, "b": []}])
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def memories(id_: str) -> st.SearchStrategy[MemoryNode]:
    return st.builds(
        MemoryNode,
        id=st.just(id_),
        kind=st.sampled_from(["Event", "Memory"]),
        text=st.text(max_size=5),
        tags=tags,
        topics=tags,
        entities=tags,
        category=st.sampled_from([None, "", "work"]),
        priority=st.none() | st.floats(0, 1),
        when=maps,
        created_at=st.none() | st.datetimes(timezones=zones),
        metadata=maps,
    )


@st.composite
def paths(draw: st.DrawFn, seed_id: str, known: dict[str, MemoryNode]) -> Path:
    ids = [seed_id, *draw(st.lists(st.sampled_from([*IDS, UNREAD]), max_size=3))]
    hops = tuple(
        draw(
            st.builds(
                Hop,
                source=st.just(source),
                target=st.just(target),
                relation=st.sampled_from([name or "" for name in RELATIONS]),
                direction=st.sampled_from(get_args(Direction)),
                weight=energies,
                tags=tags,
                tag_similarity=st.floats(0, 1),
                degree=st.integers(0, 2**40),
                energy_in=energies,
                energy_out=energies,
            )
        )
        for source, target in pairwise(ids)
    )
    read = UNREAD not in ids
    for id_ in ids if read else ():
        if id_ not in known:
            known[id_] = draw(memories(id_))
    return Path(
        seed_id=seed_id,
        hops=hops,
        memories=tuple(known[id_] for id_ in ids) if read else (),
        end_reason=draw(st.sampled_from(get_args(EndReason))),
        energy=draw(energies),
    )


contributions = st.builds(
    Contribution,
    step=st.integers(1, 20),
    source=st.sampled_from(IDS),
    relation=st.sampled_from([relation or "" for relation in RELATIONS]),
    direction=st.sampled_from(get_args(Direction)),
    weight=energies,
    energy_in=energies,
    energy_out=st.floats(-2, 2),
)
activations = st.builds(
    Activation,
    id=st.sampled_from(IDS),
    energy=energies,
    source=st.sampled_from(["seed", "synaptic"]),
    shares=st.dictionaries(st.sampled_from(["start", "received"]), st.floats(-2, 2)),
    contributions=st.lists(contributions, max_size=2).map(tuple),
)


@st.composite
def explorations(draw: st.DrawFn) -> list[Exploration]:
    known: dict[str, MemoryNode] = {}
    found = []
    for seed_id in draw(st.lists(st.sampled_from(IDS), max_size=2, unique=True)):
        seed = draw(
            st.builds(
                Seed,
                id=st.just(seed_id),
                score=st.floats(0, 1, exclude_min=True),
                vector_rank=st.none() | st.integers(1, 1000),
                vector_score=st.none() | st.floats(-1, 1),
                text_rank=st.none() | st.integers(1, 1000),
                text_score=st.none() | st.floats(0, 1e3, exclude_min=True),
            )
        )
        found.append(
            Exploration(
                seed=seed,
                status=draw(st.sampled_from(get_args(Status))),
                paths=tuple(draw(st.lists(paths(seed_id, known), max_size=2))),
                error=None,
                activations=tuple(draw(st.lists(activations, max_size=2))),
                stats=draw(
                    st.builds(
                        ExplorationStats,
                        levels=st.integers(0, 20),
                        nodes=st.integers(0, 10**6),
                        elapsed_s=seconds,
                        hydrate_s=seconds,
                    )
                ),
            )
        )
    return found


@given(explorations())
def test_explorations_come_back_equal_to_the_last_bit(found: list[Exploration]) -> None:
    plain = plain_explorations(found)
    assert through_json(plain) == plain
    assert explorations_from(through_json(plain)) == tuple(found)


JUNK: list[Any] = [None, -1, 1.5, math.nan, "", "x", "\ud800", [], [[]], {}, True, 10**400]


@given(explorations(), st.data())
def test_damaged_data_are_refused_or_read_and_nothing_else(
    found: list[Exploration], data: st.DataObject
) -> None:
    plain = plain_explorations(found)
    holder, key = data.draw(st.sampled_from(list(places(plain))))
    if data.draw(st.booleans()):
        holder[key] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
    else:
        del holder[key]
    refused = None
    try:
        explorations_from(plain)
    except InvalidInputError as exc:
        refused = exc
    assert refused is None or refused.field


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field and list entry of plain data."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def memory(id_: str, **changes: Any) -> MemoryNode:
    return MemoryNode(id=id_, kind="Event", text=f"text of {id_}", **changes)


def exploration(**changes: Any) -> Exploration:
    hop = Hop(
        source="a",
        target="b",
        relation="near",
        direction="in",
        weight=0.5,
        tags=("t",),
        tag_similarity=1.0,
        degree=4,
        energy_in=0.9,
        energy_out=0.225,
    )
    path = Path(
        seed_id="a",
        hops=(hop,),
        memories=(memory("a"), memory("b", created_at=datetime(2026, 5, 2, tzinfo=UTC))),
        end_reason="dead_end",
        energy=0.225,
    )
    values: dict[str, Any] = {
        "seed": Seed(id="a", score=0.9),
        "status": "complete",
        "paths": (path,),
        "error": None,
        "stats": ExplorationStats(levels=1, nodes=2, elapsed_s=0.5, hydrate_s=0.25),
    }
    return Exploration(**{**values, **changes})


def test_plain_explorations_have_the_documented_fields() -> None:
    plain = plain_explorations([exploration()])
    assert set(plain) == {"explorations", "memories"}
    [one] = plain["explorations"]
    assert set(one) == {"seed", "status", "error", "stats", "paths"}
    assert set(one["seed"]) == fields(Seed) - {"scope"}, "only where several scopes were read"
    assert one["stats"] == {"levels": 1, "nodes": 2, "elapsed_s": 0.5, "hydrate_s": 0.25}
    [path] = one["paths"]
    assert set(path) == {"seed_id", "ids", "energy", "end_reason", "hops"}
    assert path["ids"] == ["a", "b"]
    assert set(path["hops"][0]) == fields(Hop)
    assert set(plain["memories"]) == {"a", "b"}
    assert set(plain["memories"]["b"]) == fields(MemoryNode)
    assert plain["memories"]["b"]["created_at"] == "2026-05-02T00:00:00+00:00"


def test_plain_recall_has_the_documented_fields() -> None:
    found = exploration()
    [path] = found.paths
    date = datetime(2026, 5, 2, tzinfo=UTC)
    hit = Path(seed_id="c", hops=(), memories=(memory("c"),), end_reason="not_explored", energy=0.1)
    recall = Recall(
        seeds=Seeds(seeds=(found.seed,), runners_up=(Seed(id="c", score=0.1),)),
        explorations=(found,),
        ranked=(
            RankedMemory(
                memory=path.memories[1],
                score=0.225,
                path=path,
                relevance=0.5,
                needed_by={"a": 1.0},
                newer="b",
                adjacent=("a",),
                session=("@session:c:1", 4),
            ),
        ),
        context=ContextPack(
            text="[b]",
            tokens=1,
            items=(
                ContextItem(id="b", kind="Event", date=date, score=0.225, path=path, label="1"),
            ),
            omitted=(OmittedItem(id="a", score=0.9, reason="budget"),),
        ),
        trace=Trace(
            query="q",
            query_tags=("t",),
            scope="s",
            started_at=date,
            timings_s={"seeds": 0.25},
            degraded=("note",),
            notes=("another",),
            contributed={"reached": 2},
            packed=("b",),
            id="recall-1",
            config={"budget_tokens": 9},
            vector=(0.5,),
        ),
        hits=(hit,),
        needed=(dataclasses.replace(path, energy=0.0),),
        edges=(Edge(source="b", target="a", relation="caused_by"),),
    )
    plain = plain_recall(recall)
    assert through_json(plain) == plain
    assert explorations_from(plain) == recall.explorations
    assert hits_from(plain) == recall.hits
    assert needed_from(plain) == recall.needed
    assert edges_from(plain) == recall.edges
    assert ranked_from(plain, recall.paths) == recall.ranked
    assert set(plain["memories"]) == {"a", "b", "c"}
    del plain["explorations"], plain["hits"], plain["needed"], plain["memories"]
    assert plain.pop("seeds")[0]["id"] == "a"
    assert plain.pop("runners_up")[0]["id"] == "c"
    assert (plain.pop("echoes"), plain.pop("loose")) == ([], [])
    assert plain.pop("edges") == [{"source": "b", "target": "a", "relation": "caused_by"}]
    iso = "2026-05-02T00:00:00+00:00"
    item = {
        "label": "1",
        "id": "b",
        "kind": "Event",
        "date": iso,
        "score": 0.225,
        "path": ["a", "b"],
    }
    omitted = {"id": "a", "score": 0.9, "reason": "budget", "duplicate_of": None}
    assert plain == {
        "query": "q",
        "query_tags": ["t"],
        "scope": "s",
        "ranked": [
            {
                "id": "b",
                "score": 0.225,
                "path": ["a", "b"],
                "features": {},
                "shares": {},
                "relevance": 0.5,
                "needed_by": {"a": 1.0},
                "newer": "b",
                "adjacent": ["a"],
                "session": ["@session:c:1", 4],
            }
        ],
        "context": {"text": "[b]", "tokens": 1, "items": [item], "omitted": [omitted]},
        "trace": {
            "id": "recall-1",
            "started_at": iso,
            "timings_s": {"seeds": 0.25},
            "degraded": ["note"],
            "notes": ["another"],
            "contributed": {"reached": 2},
            "packed": ["b"],
            "config": {"budget_tokens": 9},
            "vector": [0.5],
            "vector_generation": 1,
            "window": None,
            "frontiers": [{"seed_id": "a", "levels": [[["a", 0.9]], [["b", 0.225]]]}],
        },
    }


def test_an_error_comes_back_with_its_type_and_message() -> None:
    plain = plain_explorations([exploration(error=UnavailableError("gone"), status="failed")])
    [found] = explorations_from(through_json(plain))
    assert type(found.error) is UnavailableError
    assert str(found.error) == "gone"


def test_an_error_of_an_unknown_type_comes_back_as_memorias() -> None:
    plain = plain_explorations([exploration(error=UnavailableError("gone"))])
    plain["explorations"][0]["error"]["type"] = "annotations"
    assert type(explorations_from(plain)[0].error) is MemoriaError


def test_what_explored_has_no_hits_and_wrong_ones_are_named() -> None:
    plain = plain_explorations([exploration()])
    assert hits_from(plain) == needed_from(plain) == ()
    with pytest.raises(InvalidInputError, match=r"^hits\[0\]\.seed_id is missing"):
        hits_from({**plain, "hits": [{"ids": [], "hops": []}]})


def test_numbers_that_json_has_not_become_null() -> None:
    strange = memory("a", priority=math.nan, metadata={"x": [math.inf, 1]})
    path = Path(seed_id="a", hops=(), memories=(strange,), end_reason="dead_end", energy=0.9)
    plain = through_json(plain_explorations([exploration(paths=(path,))]))
    assert plain["memories"]["a"]["priority"] is None
    assert plain["memories"]["a"]["metadata"] == {"x": [None, 1]}


def test_a_memory_that_holds_no_json_is_named() -> None:
    path = Path(
        seed_id="a",
        hops=(),
        memories=(memory("a", metadata={"x": object()}),),
        end_reason="dead_end",
        energy=0.9,
    )
    with pytest.raises(InvalidInputError, match="'a' holds a value that JSON can't"):
        plain_explorations([exploration(paths=(path,))])


PATH = "explorations[0].paths[0]"


@for_each(
    "keys, value, place",
    [
        (("explorations",), {}, "explorations"),
        (("explorations", 0), [], "explorations[0]"),
        (("explorations", 0, "status"), "done", "explorations[0].status"),
        (("explorations", 0, "seed", "score"), 0, "explorations[0].seed.score"),
        (("explorations", 0, "seed", "id"), "", "explorations[0].seed.id"),
        (("explorations", 0, "stats", "levels"), 1.5, "explorations[0].stats.levels"),
        (("explorations", 0, "error"), "gone", "explorations[0].error"),
        (("explorations", 0, "paths", 0, "hops"), None, f"{PATH}.hops"),
        (("explorations", 0, "paths", 0, "hops"), [], f"{PATH}.ids"),
        (("explorations", 0, "paths", 0, "ids"), ["a", "c"], f"{PATH}.ids"),
        (("explorations", 0, "paths", 0, "seed_id"), "b", f"{PATH}.seed_id"),
        (("explorations", 0, "paths", 0, "energy"), "1", f"{PATH}.energy"),
        (("explorations", 0, "paths", 0, "end_reason"), [], f"{PATH}.end_reason"),
        (("explorations", 0, "paths", 0, "hops", 0, "tags"), "t", f"{PATH}.hops[0].tags"),
        (("explorations", 0, "paths", 0, "hops", 0, "tags"), [1], f"{PATH}.hops[0].tags[0]"),
        (("explorations", 0, "paths", 0, "hops", 0, "weight"), math.nan, f"{PATH}.hops[0].weight"),
        (("memories",), None, "memories"),
        (("memories", "a", "id"), "b", "memories['a'].id"),
        (("memories", "a", "created_at"), "soon", "memories['a'].created_at"),
        (("memories", "a", "metadata"), [], "memories['a'].metadata"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(keys: tuple[Any, ...], value: Any, place: str) -> None:
    plain = through_json(plain_explorations([exploration()]))
    holder = plain
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    with pytest.raises(InvalidInputError) as caught:
        explorations_from(plain)
    assert caught.value.field == place
    assert str(caught.value).startswith(f"{place} ")


@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_a_document_that_is_no_map_is_refused(data: object) -> None:
    with pytest.raises(InvalidInputError, match="the document must be a map"):
        explorations_from(data)
