"""Cypher has no way to share a condition: where several queries need one, all must have it."""

from __future__ import annotations

import re

import pytest

from memoria.graph.vocabulary import CONNECTOR_KINDS
from memoria.store.queries import load

HOLDS = (
    "NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false) "
    "AND ($p.held.plain OR NOT coalesce( "
    "m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false))"
)

FITS = (
    "(size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds)) "
    "AND ($p.where.plain OR coalesce( "
    "NOT m.id IN $p.where.exclude_ids "
    "AND all(tag IN $p.where.tags WHERE tag IN m.tags) "
    "AND all(pair IN $p.where.metadata WHERE pair IN m.metadata_pairs) "
    "AND (size($p.where.created_from) = 0 "
    "OR any(time IN $p.where.created_from WHERE m.created_at >= time)) "
    "AND (size($p.where.created_before) = 0 "
    "OR any(time IN $p.where.created_before WHERE m.created_at < time)), false))"
)


def text_of(name: str, variable: str = "m") -> str:
    """The text of a query in one line, with the name ``m`` for a variable."""
    text = re.sub(r"\s+//.*", "", load(name).text)
    return re.sub(rf"\b{variable}\.", "m.", re.sub(r"\s+", " ", text))


@pytest.mark.parametrize(
    ("name", "variable", "times"),
    [
        *((f"seeds.{search}", "m", 1) for search in ("text", "unembedded", "vector_exact")),
        *((f"seeds.vector_{dialect}", "m", 1) for dialect in ("procedure", "search")),
        ("strategies.level", "current", 1),
        ("strategies.level", "neighbour", 1),
        ("strategies.levels", "current", 1),
        ("strategies.levels", "neighbour", 1),
        ("strategies.edges", "memory", 1),
        ("strategies.edges", "neighbour", 1),
        *(("strategies.anchors", variable, 1) for variable in ("memory", "source", "target")),
        ("strategies.synapse", "memory", 1),
        ("strategies.synapse", "neighbour", 2),
        ("strategies.synapse", "other", 1),
    ],
)
def test_what_does_not_hold_is_left_out_wherever_memories_are_found(
    name: str, variable: str, times: int
) -> None:
    assert text_of(name, variable).count(HOLDS) == times


@pytest.mark.parametrize(
    "name",
    [
        *(f"seeds.{search}" for search in ("text", "unembedded", "vector_exact", "window")),
        *(f"seeds.vector_{dialect}" for dialect in ("procedure", "search")),
        *("ranking.candidates", "graph.matching", "graph.newest"),
    ],
)
def test_every_query_with_a_filter_applies_the_same_filter(name: str) -> None:
    assert text_of(name).count(FITS) == 1


MARKING = ("learn.suppress", "learn.undo", "ingest.history", "ingest.forget", "ingest.forget_edges")


def mark(name: str) -> str:
    """The part of a query that marks what is superseded."""
    match = re.search(r"OPTIONAL MATCH \(by:Memory .* AS marked", text_of(name))
    assert match is not None
    return match[0]


@pytest.mark.parametrize("name", MARKING[1:])
def test_every_query_marks_in_the_same_way(name: str) -> None:
    assert mark(name) == mark(MARKING[0])


def test_the_doctor_finds_the_marks_that_its_remedy_sets() -> None:
    wanted = [
        re.search(r"COLLECT \{ .*? \}\[0\] AS first", text_of(name))
        for name in ("doctor.memories", "doctor.fix_superseded")
    ]
    assert wanted[0] is not None
    assert wanted[1] is not None
    assert wanted[0][0] == wanted[1][0]


@pytest.mark.parametrize("name", ["ingest.forget", "ingest.forget_edges", "remember.rewrite"])
def test_every_write_frees_the_same_connectors(name: str) -> None:
    # The labels are read as values: as a pattern, the planner may look for connectors by a scan.
    labels = ", ".join(repr(kind) for kind in CONNECTOR_KINDS)
    freed = (
        "m.connector_name IS NOT NULL AND NOT EXISTS { MATCH (connector)--(other) "
        "WITH labels(other) AS kinds "
        f"WHERE none(kind IN kinds WHERE kind IN [{labels}]) RETURN kinds }} "
        "DETACH DELETE connector"
    )
    assert freed in text_of(name, "connector")


@pytest.mark.parametrize("name", ["doctor.memories", "doctor.fix_unused_connector"])
def test_the_doctor_finds_the_connectors_that_a_write_would_have_freed(name: str) -> None:
    labels = "|".join(CONNECTOR_KINDS)
    unused = (
        f"m.connector_name IS NOT NULL AND NOT EXISTS {{ (m)--(other) WHERE NOT other:{labels} }}"
    )
    assert unused in text_of(name)
