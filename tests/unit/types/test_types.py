"""Frozen types: checked once at birth, equal when alike, never changed."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria import types
from memoria.errors import InvalidInputError
from memoria.types import Hop, Memory, MemoryNode, Path, RankedMemory, Relation, Seed, path_order
from tests.for_each import for_each

CLASSES = [
    value
    for name in types.__all__
    if dataclasses.is_dataclass(value := getattr(types, name)) and isinstance(value, type)
]


def memory(**changes: Any) -> Memory:
    return Memory(**{"id": "m1", "kind": "Event", "text": "It rained.", **changes})


def path(*, energy: float, ids: tuple[str, ...]) -> Path:
    hops = tuple(
        Hop(
            source=source,
            target=target,
            relation="",
            direction="out",
            weight=1.0,
            tags=(),
            tag_similarity=1.0,
            degree=1,
            energy_in=energy,
            energy_out=energy,
        )
        for source, target in pairwise(ids)
    )
    return Path(seed_id=ids[0], hops=hops, memories=(), end_reason="dead_end", energy=energy)


@for_each("kind", CLASSES)
def test_type_is_frozen_slotted_and_keyword_only(kind: Any) -> None:
    parameters = kind.__dataclass_params__
    assert parameters.frozen
    assert "__slots__" in vars(kind)
    assert all(field.kw_only for field in dataclasses.fields(kind))


def test_fields_cannot_be_changed() -> None:
    for instance in (memory(), Seed(id="a", score=1.0), Relation(source="a", target="b")):
        for name in (dataclasses.fields(instance)[0].name, "unknown"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(instance, name, "other")


def test_alike_instances_are_equal() -> None:
    assert memory(tags=["b", "a", "b"], embedding=[1, 0]) == memory(
        tags=("a", "b"), embedding=(1.0, 0.0)
    )
    assert memory() != memory(text="It snowed.")
    assert Relation(source="a", target="b", tags=["y", "x"]) == Relation(
        source="a", target="b", tags=("x", "y")
    )
    assert Seed(id="a", score=1) == Seed(id="a", score=1.0)
    assert hash(Seed(id="a", score=1)) == hash(Seed(id="a", score=1.0))


def test_id_of_a_ranked_memory_is_that_of_the_memory() -> None:
    node = MemoryNode(id="a", kind="Event", text="It rained.")
    assert RankedMemory(memory=node, score=1.0, path=path(energy=1.0, ids=("a",))).id == "a"


def test_replace_checks_again() -> None:
    assert dataclasses.replace(memory(), tags=["z", "a"]).tags == ("a", "z")
    with pytest.raises(InvalidInputError):
        dataclasses.replace(memory(), priority=2)


def test_memory_needs_only_id_kind_and_text() -> None:
    bare = memory()
    assert (bare.tags, bare.topics, bare.entities) == ((), (), ())
    assert (bare.category, bare.priority, bare.created_at, bare.embedding) == (None,) * 4
    assert (bare.when, bare.metadata) == ({}, {})


def test_memory_is_put_into_the_form_that_is_stored() -> None:
    made = memory(tags=["b", "a"], topics={"t"}, entities=("e", "e"), priority=1, embedding=[3, 4])
    assert (made.tags, made.topics, made.entities) == (("a", "b"), ("t",), ("e",))
    assert type(made.priority) is float
    assert made.embedding == (3.0, 4.0)


WRONG: dict[str, list[Any]] = {
    "id": ["", "a" * 513, "\ud800", None, 1],
    "kind": ["", "a b", "A" * 65, "Event\n", None],
    "text": [None, 1, b"text", "a" * 1_000_001],
    "tags": ["a", None, [1], ["a" * 257], {"a": 1}],
    "topics": [[str(number) for number in range(257)]],
    "entities": ["one"],
    "category": [1, "a" * 513, "\udfff"],
    "priority": [-0.1, 1.1, math.nan, math.inf, "1", True, 10**400],
    "when": [[], "a", {"a": math.nan}, {1: 2}],
    "metadata": [None, {"a": object()}, {"a": {"b": "\ud800"}}],
    "created_at": ["2026-01-01", 0, 1.5],
    "embedding": [[], [0, 0], [math.nan], "12", [None], [[1]]],
}


def test_naive_time_counts_as_utc() -> None:
    assert memory(created_at=datetime(2026, 1, 2)).created_at == datetime(2026, 1, 2, tzinfo=UTC)
    east = datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=9)))
    assert memory(created_at=east).created_at is east


@for_each(
    "field, value",
    [(field, value) for field, values in WRONG.items() for value in values],
)
def test_wrong_field_of_a_memory_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        memory(**{field: value})
    assert caught.value.field == field
    assert field in str(caught.value)


@for_each(
    "field, value",
    [
        *(("source", value) for value in ("", None, "a" * 513, "\ud800")),
        *(("target", value) for value in ("", 1)),
        *(("relation", value) for value in ("", None, "a" * 513)),
        *(("weight", value) for value in (-0.01, 1.01, math.nan, math.inf, "1", None, True)),
        *(("tags", value) for value in ("a", [None], ["\ud800"])),
    ],
)
def test_wrong_field_of_a_relation_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Relation(**{"source": "a", "target": "b", field: value})  # type: ignore[arg-type]
    assert caught.value.field == field


@for_each(
    "field, value",
    [("id", ""), ("id", None), *(("score", value) for value in (0, -1, 1.1, math.nan, "1", None))],
)
def test_wrong_field_of_a_seed_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Seed(**{"id": "a", "score": 1.0, field: value})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_node_from_a_foreign_graph_is_not_checked() -> None:
    assert MemoryNode(id="", kind="Memory", text="").tags == ()


def test_path_lists_its_ids_from_the_seed_on() -> None:
    assert path(energy=0.5, ids=("a", "b", "c")).ids == ("a", "b", "c")
    assert path(energy=0.5, ids=("a",)).ids == ("a",)


def test_paths_sort_by_energy_then_ids() -> None:
    paths = [
        path(energy=0.1, ids=("a", "b")),
        path(energy=0.5, ids=("b",)),
        path(energy=0.5, ids=("a", "c")),
        path(energy=0.5, ids=("a",)),
    ]
    assert [p.ids for p in sorted(paths, key=path_order)] == [
        ("a",),
        ("a", "c"),
        ("b",),
        ("a", "b"),
    ]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=[]))
    | st.binary()
    | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def refused_field(**fields: Any) -> str | None:
    """Field that the error names, or None where these fields make a memory."""
    try:
        made = memory(**fields)
    except InvalidInputError as exc:
        return exc.field
    assert dataclasses.replace(made) == made
    return None


@given(text=st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_text_makes_a_memory_and_any_id_or_tag_is_taken_or_refused(text: str) -> None:
    carried = not any("\ud800" <= char <= "\udfff" for char in text)
    assert refused_field(text=text) is None
    wrong = refused_field(id=text, tags=[text], category=text, metadata={text: text})
    assert wrong is None or wrong in {"id", "tags", "category", "metadata"}
    assert (wrong is None) <= carried


@given(
    fields=st.dictionaries(
        st.sampled_from(sorted(field.name for field in dataclasses.fields(Memory))), anything
    )
)
def test_any_values_make_a_memory_or_are_refused(fields: dict[str, Any]) -> None:
    assert refused_field(**fields) in {None, *fields}


@given(score=st.floats() | st.integers(), name=st.text(max_size=5))
def test_any_score_makes_a_seed_or_is_refused(score: float, name: str) -> None:
    try:
        seed = Seed(id=name, score=score)
    except InvalidInputError:
        return
    assert 0 < seed.score <= 1
