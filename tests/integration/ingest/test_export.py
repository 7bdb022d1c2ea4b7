"""Exporting: the same bytes after an ingest elsewhere, in order, and nothing lost in silence."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count, permutations
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import neo4j
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memoria._support.checks import MAX_TEXT_BYTES
from memoria.cli.output import opened
from memoria.errors import ScopeError, UnavailableError
from memoria.evaluation.sample import sample_path
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import ingest_files
from memoria.ingest.export import Skipped, export_lines
from memoria.ingest.export.pages import EDGE_PAGE, MEMORY_PAGE, PAGE_CHARS
from memoria.ingest.jsonl import parse_line
from memoria.local import EphemeralNeo4j
from memoria.remember import ImportWriter
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load, root
from memoria.types import (
    Conversation,
    Document,
    EdgeHistory,
    Memory,
    MemoryHistory,
    Message,
    Relation,
)
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.effort import on_a_server
from tests.generated import IDS, TAGS
from tests.integration.cli.test_commands import in_process
from tests.integration.doctor.test_doctor import wipe

PARAMETERS: dict[str, dict[str, Any]] = {
    "export.clock": {"key": "scope:s", "scope": "s"},
    "export.edges": {
        "after": [],
        "id_key": "id",
        "ids": ["a"],
        "known": ["tags"],
        "limit": 5,
        "scope": "s",
    },
    "export.history": {"after": [], "id_key": "id", "ids": ["a"], "limit": 5, "scope": "s"},
    "export.memories": {
        "after": "",
        "embeddings": True,
        "known": ["id"],
        "limit": 5,
        "max_chars": 5,
        "scope": "s",
    },
    "export.sources": {"after": "", "limit": 5, "scope": "s"},
    "export.unreadable": {"scope": "s"},
}
_rng = random.Random(11)
VECTORS = [
    tuple(_rng.gauss(0, 10 ** _rng.randint(-8, 8)) for _ in range(DIMENSIONS)) for _ in range(4)
]
_example = count()


async def export(store: Store, scope: str, **options: Any) -> list[str]:
    return [line async for line in export_lines(store, scope=scope, **options)]


async def export_whole(store: Store, scope: str, **options: Any) -> list[str]:
    """Export a scope of which nothing is left out."""
    skipped: list[Skipped] = []
    lines = await export(store, scope, on_skipped=skipped.append, **options)
    assert not skipped
    return lines


async def copy(store: Store, lines: Sequence[str], scope: str, path: Path) -> list[str]:
    """Ingest lines into a scope, from a file, and export it again."""
    await asyncio.to_thread(path.write_text, "".join(f"{line}\n" for line in lines), "utf-8")
    report = await ingest_files(GraphWriter(store, scope=scope), [path])
    assert report.lines == len(lines)
    return await export_whole(store, scope)


async def test_line_holds_what_was_given_and_nothing_else(store: Store, scope: str) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    created_at = datetime(2026, 3, 1, 9, 30, 0, 1, tzinfo=zone)
    plain = Memory(id="b", kind="Event", text="", created_at=datetime(2026, 1, 1, tzinfo=UTC))
    full = Memory(
        id="a",
        kind="AgentAnswer",
        text='"é" \u2028\\\n\U0001f600',
        tags=["b", "a", "B"],
        topics=["t"],
        entities=["e"],
        category="c",
        priority=1,
        when={"z": {"y": [1, 2.5, None, True], "x": -0.0}, "a": 10**30},
        created_at=created_at,
        metadata={"k": "\u00e9"},
        embedding=[0.1, *[1 / 3] * (DIMENSIONS - 1)],
    )
    edges = [Relation(source="b", target="a", relation="\u00e9", weight=0.1, tags=["y", "x"])]
    edges.append(Relation(source="a", target="b", created_at=created_at))
    written = datetime(2026, 3, 2, tzinfo=UTC)
    writer = GraphWriter(store, scope=scope, clock=lambda: written)
    await writer.write([plain, full], edges)
    third = ",0.3333333333333333" * (DIMENSIONS - 1)
    assert await export_whole(store, scope) == [
        '{"id":"a","kind":"AgentAnswer","text":"\\"é\\" \\u2028\\\\\\n\U0001f600",'
        '"tags":["B","a","b"],"topics":["t"],"entities":["e"],"category":"c","priority":1.0,'
        '"when":{"a":1000000000000000000000000000000,"z":{"x":-0.0,"y":[1,2.5,null,true]}},'
        '"created_at":"2026-03-01T04:00:00.000001+00:00","metadata":{"k":"é"},'
        f'"embedding":[0.1{third}]}}',
        '{"id":"b","kind":"Event","text":"","created_at":"2026-01-01T00:00:00+00:00"}',
        '{"source":"a","target":"b","relation":"related","weight":0.5,'
        '"created_at":"2026-03-01T04:00:00.000001+00:00"}',
        '{"source":"b","target":"a","relation":"é","weight":0.1,"tags":["x","y"],'
        '"created_at":"2026-03-02T00:00:00+00:00"}',
    ]
    without = await export_whole(store, scope, embeddings=False)
    assert [json.loads(line).get("embedding") for line in without] == [None] * 4


async def test_sample_comes_back_byte_for_byte(store: Store, scope: str, tmp_path: Path) -> None:
    writer = GraphWriter(store, scope=scope)
    report = await ingest_files(writer, [sample_path()])
    lines = await export_whole(store, scope)
    assert len(lines) == report.written.memories + report.written.relations
    # A time that nobody knows is not made up; a memory without the field is new.
    lines.insert(0, '{"id":"#","kind":"Event","text":"undated","created_at":null}')
    assert lines == sorted(lines[:2]) + lines[2:]
    assert await copy(store, lines, f"{scope}-copy", tmp_path / "lines") == lines


_strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _strings,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(_strings, parts, max_size=3),
    max_leaves=8,
)  # fmt: skip
_maps = st.dictionaries(_strings, _json, max_size=3)
_zones: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.sampled_from([UTC, ZoneInfo("Europe/Stockholm"), ZoneInfo("Asia/Kathmandu")]),
    st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds))),
)
_times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=_zones)
_lists = st.lists(st.sampled_from(TAGS) | _strings, max_size=4)
_ids = st.lists(st.sampled_from(IDS) | _strings.filter(bool), min_size=1, max_size=8, unique=True)


_counts = st.none() | st.integers(0, 2**53)
_weights = st.none() | st.floats(0, 1e6)
_memory_histories = st.builds(
    MemoryHistory,
    active_hours=_weights,
    linked_at=st.none() | _times,
    linked_before=st.none() | st.booleans(),
    use_count=_counts,
    use_times=st.lists(st.floats(-1e12, 1e12), max_size=3),
    confirmed=_counts,
    overridden=_counts,
    right_for=st.lists(_strings, max_size=3),
    wrong_for=st.lists(_strings, max_size=3),
)
_edge_histories = st.builds(
    EdgeHistory,
    origin=st.sampled_from([None, "ingest", "similarity", "learned"]),
    uses=_counts,
    last_used_at=st.none() | _times,
    lif_weight=_weights,
    base_weight=_weights,
    given_weight=_weights,
    promoted_uses=_counts,
    decayed_at=st.none() | _times,
)


def _pairs(ids: Sequence[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    pairs = list(permutations(ids, 2))
    return st.lists(st.sampled_from(pairs), max_size=8) if pairs else st.just([])


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[Memory], list[Relation]]:
    """Memories, and edges between them, of everything that ingest takes."""
    ids = draw(_ids)
    memories = [
        Memory(
            id=id_,
            kind=draw(st.sampled_from(DEFAULT_KINDS)),
            text=draw(_strings),
            tags=draw(_lists),
            topics=draw(_lists),
            entities=draw(_lists),
            category=draw(st.none() | _strings),
            priority=draw(st.none() | st.floats(0, 1)),
            when=draw(_maps),
            created_at=draw(st.none() | _times),
            metadata=draw(_maps),
            embedding=draw(st.none() | st.sampled_from(VECTORS)),
            learned=draw(st.none() | _memory_histories),
        )
        for id_ in ids
    ]
    relations = []
    for source, target in draw(_pairs(ids)):
        relation = draw(st.sampled_from(["a", "B", "\uff5e", "\U0001f600"]) | _strings.filter(bool))
        edge: dict[str, Any] = {"relation": relation, "tags": draw(_lists)}
        edge["weight"] = draw(st.floats(0, 1))
        edge["created_at"] = draw(st.none() | _times)
        edge["learned"] = draw(st.none() | _edge_histories)
        relations.append(Relation(source=source, target=target, **edge))
    return memories, relations


@given(corpus=corpora())
@settings(
    on_a_server(),
    # Not explain: its tracing makes each example take seconds.
    phases=(Phase.generate, Phase.shrink),
)
async def test_any_corpus_comes_back_byte_for_byte(
    store: Store, scope: str, tmp_path: Path, corpus: tuple[list[Memory], list[Relation]]
) -> None:
    memories, relations = corpus
    name = f"{scope}-{next(_example)}"
    await GraphWriter(store, scope=name).write(memories, relations)
    lines = await export_whole(store, name)
    again = await copy(store, lines, f"{name}-copy", tmp_path / "lines")
    assert again == lines

    values = [parse_line(line.encode()) for line in lines]
    found = [value for value in values if isinstance(value, Memory)]
    assert [value.id for value in found] == sorted(memory.id for memory in memories)
    given = {memory.id: memory for memory in memories}
    for value in found:
        expected = given[value.id]
        assert value.created_at is not None
        times = (value.created_at, expected.created_at or value.created_at)
        assert times[0] == times[1].astimezone(UTC)
        for field in ("kind", "text", "tags", "topics", "entities", "category", "priority"):
            assert getattr(value, field) == getattr(expected, field)
        assert (value.when, value.metadata) == (expected.when, expected.metadata)
        assert value.embedding == expected.embedding
        assert (value.learned or MemoryHistory()) == (expected.learned or MemoryHistory())
    edges = {(edge.source, edge.target, edge.relation): edge for edge in relations}
    joined = [value for value in values[len(found) :] if isinstance(value, Relation)]
    assert joined == [
        replace(
            edges[key],
            created_at=edges[key].created_at or value.created_at,
            learned=None if _as_ingested(edges[key].learned) else edges[key].learned,
        )
        for key, value in zip(sorted(edges), joined, strict=True)
    ]


def _as_ingested(history: EdgeHistory | None) -> bool:
    """Whether an ingest would leave the same, which no line says."""
    return history is None or history.is_that_of_ingest


async def test_edges_are_in_the_order_of_code_points(store: Store, scope: str) -> None:
    # UTF-16 has them the other way round.
    ids = ["\ue000", "\U00010000"]
    memories = [Memory(id=id_, kind="Event", text="x") for id_ in ("n", *ids)]
    edges = [Relation(source=id_, target="n") for id_ in ids] + [
        Relation(source="n", target=id_) for id_ in ids
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)
    values = [parse_line(line.encode()) for line in await export_whole(store, scope)]
    found = [value for value in values if isinstance(value, Relation)]
    assert [(edge.source, edge.target) for edge in found] == sorted(
        (edge.source, edge.target) for edge in edges
    )


# Beyond the first plane, and among the last of it: UTF-16 has them the other way round.
PLANES = sorted(
    ["a", "b\ue000", "b\U00010000", "z\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
)
PAGED: dict[str, dict[str, Any]] = {
    "evaluation.edges": {},
    "evaluation.items": {"kinds": ["Event"]},
    "export.memories": {"embeddings": False, "known": [], "max_chars": 1_000},
    "export.sources": {},
    "ingest.without_embedding": {"kinds": []},
    "graph.page": {},
}


async def ids_in_pages_of_one(store: Store, name: str, scope: str) -> list[str]:
    """Ids that a query gives page by page; one of them that comes twice ends it."""
    ids: list[str] = []
    while len(set(ids)) == len(ids):
        parameters = {"after": ids[-1] if ids else "", "limit": 1, "scope": scope}
        page = (await store.run(load(name), {**PAGED[name], **parameters}))[0][0]
        if not page:
            break
        first = page[0]
        if not isinstance(first, str):
            first = first["id"] if isinstance(first, dict) else first[0]
        ids.append(first)
    return ids


async def test_edges_of_all_planes_come_once_whatever_the_pages(store: Store, scope: str) -> None:
    memories = [Memory(id=id_, kind="Event", text="x") for id_ in PLANES]
    edges = [Relation(source="a", target=id_, relation=r) for id_ in PLANES[1:] for r in PLANES]
    await GraphWriter(store, scope=scope).write(memories, edges)
    page = {"after": [], "id_key": "id", "ids": ["a"], "known": [], "limit": 1, "scope": scope}
    found: list[tuple[str, str]] = []
    while rows := (await store.run(load("export.edges"), page))[0][0]:
        page["after"] = rows[0]["key"]
        found.append((rows[0]["target"], rows[0]["relation"]))
        assert len(found) <= len(edges)
    assert found == sorted((edge.target, edge.relation) for edge in edges)


async def test_memories_of_all_planes_come_once_also_while_the_server_is_new(
    second_server: EphemeralNeo4j, scope: str
) -> None:
    # A plan that is made for an empty database compares each id of a scope with the last one read.
    target = Target(uri=second_server.uri, auth=second_server.auth, database="neo4j")
    async with open_driver(target, StoreConfig()) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        await driver.execute_query("CALL db.clearQueryCaches()", database_="neo4j")
        await apply_schema(store, embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS))
        for name in PAGED:
            assert await ids_in_pages_of_one(store, name, scope) == []
        memories = [Memory(id=id_, kind="Event", text="x") for id_ in PLANES]
        await GraphWriter(store, scope=scope).write(memories)
        for name in PAGED:
            assert await ids_in_pages_of_one(store, name, scope) == PLANES, name


async def test_pages_join_without_a_gap(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    """More memories than a page has, in pages of all kinds of lengths, and a hub of edges."""
    number = EDGE_PAGE + 1
    assert number > MEMORY_PAGE
    await driver.execute_query(
        "UNWIND range(0, $number) AS n CREATE (:Memory:Event {scope: $scope, id: toString(n), "
        "text: CASE WHEN 9990 <= n < 10000 THEN $long ELSE 'x' END})",
        number=number,
        scope=scope,
        long="y" * (MAX_TEXT_BYTES // 2),
        database_="neo4j",
    )
    assert 2 * PAGE_CHARS < 10 * MAX_TEXT_BYTES / 2  # the long ones follow each other
    await driver.execute_query(
        "MATCH (hub:Memory {scope: $scope, id: '7'}) MATCH (m:Memory) "
        "WHERE m.scope = $scope AND m.id IS NOT NULL AND m <> hub "
        "CREATE (hub)-[:RELATES {relation: 'to', weight: 0.5}]->(m) "
        "FOREACH (_ IN CASE WHEN toInteger(m.id) % 3 = 0 THEN [1] ELSE [] END | "
        "  CREATE (m)-[:RELATES {relation: 'back', weight: 0.5}]->(hub))",
        scope=scope,
        database_="neo4j",
    )
    values = [json.loads(line) for line in await export_whole(store, scope)]
    ids = sorted(str(n) for n in range(number + 1))
    assert [value["id"] for value in values if "id" in value] == ids
    edges = [("7", id_, "to") for id_ in ids if id_ != "7"]
    edges += [(id_, "7", "back") for id_ in ids if int(id_) % 3 == 0]
    assert [
        (value["source"], value["target"], value["relation"])
        for value in values
        if "source" in value
    ] == sorted(edges)


FOREIGN = """
CREATE (a:Memory:Event {scope: $scope, id: 'a', text: 'kept'})
CREATE (b:Memory:Event:Zebra {scope: $scope, id: 'b', text: 'kept', tags: ['y', 'x', 'y'],
  category: 7, priority: 2, `when`: '[1]', metadata: '{"n": NaN}', created_at: date('2026-01-01'),
  topics: 'one', embedding: [0.0, 0.0], author: 'me', scope_key: 'k'})
CREATE (c:Memory:Event {scope: $scope, id: 'c', text: 'kept', metadata: '{"z":1,"a":2}',
  created_at: datetime('2026-10-25T02:30:00.123456789+01:00[Europe/Berlin]')})
CREATE (d:Memory:Event {scope: $scope, id: 'd', text: 'kept',
  created_at: localdatetime('2026-01-01T10:00'), priority: 1})
CREATE (e:Memory:Event {scope: $scope, id: 'e', text: 'kept',
  created_at: datetime('+12026-01-01T10:00Z'), metadata: $deep})
CREATE (no_text:Memory:Event {scope: $scope, id: 'no text'})
CREATE (no_kind:Memory {scope: $scope, id: 'no kind', text: 'x'})
CREATE (:Memory:Event {scope: $scope, id: $long, text: 'x'})
CREATE (:Memory:Event {scope: $scope, id: 5, text: 'x'})
CREATE (:Memory:Event {scope: $scope, id: '', text: 'x'})
CREATE (other:Memory:Event {scope: $scope + '-other', id: 'a', text: 'x'})
CREATE (thing:Thing {id: 'thing'})
CREATE (a)-[:RELATES {relation: 'r'}]->(b)
CREATE (a)-[:RELATES {weight: 1.7, relation: 'r', last_used_at: 1}]->(c)
CREATE (a)-[:RELATES {weight: 0.25}]->(c)
CREATE (a)-[:RELATES {weight: 0.75, relation: 'related', tags: ['t']}]->(c)
CREATE (a)-[:RELATES {weight: 0.5}]->(c)
CREATE (a)-[:RELATES {weight: -1.0, relation: 'r'}]->(d)
CREATE (a)-[:RELATES {weight: $nan, relation: 's'}]->(d)
CREATE (a)-[:RELATES {weight: '0.5', relation: 't'}]->(d)
CREATE (a)-[:RELATES {weight: 0.5, relation: 5}]->(d)
CREATE (a)-[:RELATES {weight: 0.5, relation: 'u', tags: [1]}]->(d)
CREATE (a)-[:RELATES {weight: 0.5, relation: 'r'}]->(a)
CREATE (a)-[:RELATES {weight: 0.5, relation: 'r'}]->(other)
CREATE (other)-[:RELATES {weight: 0.5, relation: 'theirs'}]->(a)
CREATE (a)-[:RELATES {weight: 0.5, relation: 'r'}]->(thing)
CREATE (a)-[:RELATES {weight: 0.5, relation: 'r'}]->(no_text)
CREATE (no_kind)-[:RELATES {weight: 0.5, relation: 'r'}]->(a)
CREATE (a)-[:SUPPRESSES]->(b)
CREATE (a)-[:SUPPRESSES]->(c)
CREATE (b)-[:COACTIVATED]->(c)
CREATE (a)-[:KNOWS]->(b)
CREATE (a)-[:KNOWS]->(c)
"""


async def test_foreign_graph_is_exported_as_far_as_ingest_takes_it_and_the_rest_is_named(
    driver: neo4j.AsyncDriver, store: Store, scope: str, tmp_path: Path
) -> None:
    values: dict[str, Any] = {
        "long": "x" * 513,
        "nan": float("nan"),
        "deep": '{"a":' * 40 + "1" + "}" * 40,
    }
    await driver.execute_query(FOREIGN, scope=scope, database_="neo4j", **values)
    stored = await driver.execute_query(
        "MATCH (c:Memory {scope: $scope, id: 'c'}) "
        "RETURN datetime({datetime: c.created_at, timezone: 'Z'}).hour",
        scope=scope,
        database_="neo4j",
    )
    # The hour that clocks show twice: Neo4j 5 converts it as if it were the first one.
    hour = stored.records[0][0]
    skipped: list[Skipped] = []
    lines = await export(store, scope, on_skipped=skipped.append)
    assert lines == [
        '{"id":"a","kind":"Event","text":"kept","created_at":null}',
        '{"id":"b","kind":"Event","text":"kept","tags":["x","y"],"created_at":null}',
        f'{{"id":"c","kind":"Event","text":"kept","created_at":"2026-10-25T0{hour}:30:00.123456+00:00",'
        '"metadata":{"a":2,"z":1}}',
        '{"id":"d","kind":"Event","text":"kept","priority":1.0,'
        '"created_at":"2026-01-01T10:00:00+00:00"}',
        '{"id":"e","kind":"Event","text":"kept","created_at":null}',
        '{"source":"a","target":"b","relation":"r","weight":0.01}',
        '{"source":"a","target":"c","relation":"r","weight":1.0}',
        '{"source":"a","target":"c","relation":"related","weight":0.75,"tags":["t"]}',
    ]
    assert sorted((each.what, each.name, each.field, each.count) for each in skipped) == sorted(
        [
            ("memory", "", "id", 2),
            ("memory", "no text", "text", 1),
            ("memory", "no kind", "kind", 1),
            ("memory", "x" * 513, "id", 1),
            *(("field", "b", name, 1) for name in ("author", "category", "created_at", "priority")),
            *(("field", "b", name, 1) for name in ("embedding", "metadata", "topics", "when")),
            ("field", "b", "kind", 1),
            ("field", "e", "created_at", 1),
            ("field", "e", "metadata", 1),
            ("field", "a -> c (r)", "weight", 1),
            ("field", "a -> c (r)", "last_used_at", 1),
            ("edge", "a -> c (related)", "relation", 1),
            ("edge", "a -> c (related)", "relation", 1),
            ("edge", "a -> d (r)", "weight", 1),
            ("edge", "a -> d (s)", "weight", 1),
            ("edge", "a -> d (t)", "weight", 1),
            ("edge", "a -> d (5)", "relation", 1),
            ("edge", "a -> d (u)", "tags", 1),
            ("edge", "a -> a (r)", "target", 1),
            ("edge", "a -> a (r)", "target", 1),  # the namesake in the other scope
            ("edge", "a -> thing (r)", "target", 1),
            ("edge", "a -> no text (r)", "target", 1),
            ("edge", "no kind -> a (r)", "target", 1),
            ("edge", "a -> b (SUPPRESSES)", "suppresses", 1),
            ("edge", "a -> c (SUPPRESSES)", "suppresses", 1),
            ("edge", "b -> c (COACTIVATED)", "co_activated", 1),
            ("edge", "a", "KNOWS", 2),
        ]
    )
    assert all(each.reason for each in skipped)

    again = await copy(store, lines, f"{scope}-copy", tmp_path / "lines")
    untimed = [json.loads(line) for line in again]
    for number in (5, 6, 7):  # ingest gave these edges a time
        del untimed[number]["created_at"]
    assert untimed == [json.loads(line) for line in lines]


async def test_without_a_listener_one_warning_says_how_much_is_left_out(
    driver: neo4j.AsyncDriver, store: Store, scope: str, caplog: pytest.LogCaptureFixture
) -> None:
    query = "UNWIND range(1, 3) AS n CREATE (:Memory {scope: $scope, id: toString(n)})"
    await driver.execute_query(query, scope=scope, database_="neo4j")
    with caplog.at_level(logging.WARNING, logger="memoria"):
        assert await export(store, scope) == []
    assert [record.getMessage()[:24] for record in caplog.records] == ["3 things were left out: "]


async def test_an_export_beside_a_writer_has_both_ends_of_every_edge(
    store: Store, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope)
    first = [Memory(id=id_, kind="Event", text=id_) for id_ in ("m1", "m2")]
    await writer.write(first, [Relation(source="m1", target="m2")])
    skipped: list[Skipped] = []
    lines: list[str] = []
    async for line in export_lines(store, scope=scope, on_skipped=skipped.append):
        if not lines:  # the memories are read, the edges are not
            late = [Relation(source="m1", target="m0"), Relation(source="m0", target="m2")]
            await writer.write([Memory(id="m0", kind="Event", text="late")], late)
        lines.append(line)
    found = [json.loads(line) for line in lines]
    assert [fields["id"] for fields in found if "id" in fields] == ["m1", "m2"]
    ends = [(each["source"], each["target"]) for each in found if "source" in each]
    assert ends == [("m1", "m2")]
    assert not skipped


async def test_empty_scope_has_no_lines_and_no_scope_is_an_error(store: Store, scope: str) -> None:
    assert await export_whole(store, scope) == []
    with pytest.raises(ScopeError):
        await export(store, "")


def test_every_query_has_parameters_to_be_explained_with() -> None:
    queries = [load(f"export.{file.stem}") for file in (root() / "export").glob("*.cypher")]
    assert {query.name: query.params for query in queries} == {
        name: set(parameters) for name, parameters in PARAMETERS.items()
    }
    assert {query.mode for query in queries} == {"read"}


def memoria(
    *arguments: str, target: Target, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command: where the test sets variables, as a user does; else in this process."""
    user, password = target.auth  # type: ignore[misc]
    environ = {"NEO4J_URI": target.uri, "NO_COLOR": "1"}
    environ |= {"NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    if not variables:
        done = in_process(*arguments, **environ)
        texts = done.out.encode(), done.err.encode()
        return subprocess.CompletedProcess(arguments, int(done.code or 0), *texts)
    command = [sys.executable, "-m", "memoria", *arguments]
    environ = {**os.environ, **environ, **variables}
    return subprocess.run(command, capture_output=True, check=False, timeout=60, env=environ)


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_command_writes_the_same_bytes_to_stdout_and_to_files(
    target: Target, store: Store, scope: str, tmp_path: Path
) -> None:
    memories = [Memory(id=id_, kind="Event", text=f"\u00e9 {id_}") for id_ in ("a", "b")]
    await GraphWriter(store, scope=scope).write(memories, [Relation(source="a", target="b")])
    expected = "".join(f"{line}\n" for line in await export_whole(store, scope)).encode()
    to_stdout = memoria("export", "--scope", scope, target=target, PYTHONIOENCODING="ascii")
    assert (to_stdout.returncode, to_stdout.stderr) == (0, b"")
    assert to_stdout.stdout == expected

    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.gz")]
    for path in paths:
        done = memoria("export", "--scope", scope, "--output", str(path), target=target)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"3 lines written")
    assert paths[0].read_bytes() == expected
    assert gzip.decompress(paths[1].read_bytes()) == expected
    assert paths[1].read_bytes() == paths[2].read_bytes()
    assert files_in(tmp_path) == paths


async def test_a_vault_of_notes_is_ingested_to_the_same_graph(
    target: Target, store: Store, scope: str, tmp_path: Path
) -> None:
    talk = Conversation(
        id="c",
        source="chat",
        title="Ovens",
        messages=[
            Message(id="1", text="Who mends ovens in Bergen?", created_at=datetime(2026, 3, 2)),
            Message(id="2", role="assistant", text="Ada Berg does.", reply_to="1"),
        ],
    )
    note = Document(id="a.md", source="notes", title="Ada Berg", text="---\nMends ovens.\r\n%%x%%")
    writer = ImportWriter(store, scope=scope)
    await writer.write([talk, note])
    folder = tmp_path / "vault"
    export = ("export", "--scope", scope, "--format", "markdown", "--output", str(folder))
    done = memoria(*export, target=target)
    assert (done.returncode, done.stderr) == (0, b"")
    assert memoria(*export, target=target).returncode == 2  # it is there
    other = f"{scope}-copy"
    again = memoria("ingest", str(folder), "--scope", other, "--embedder", "none", target=target)
    assert again.returncode == 0, again.stderr
    lines = await export_whole(store, scope)
    copied = await export_whole(store, other)
    assert len(lines) > 12
    assert [dated(line) for line in copied] == [dated(line) for line in lines]
    refused = memoria("import-notes", str(folder), "--dry-run", target=target)
    assert b"memoria ingest" in refused.stderr.replace(b"\n", b" ")


def dated(line: str) -> dict[str, Any]:
    """A line; of a memory or an edge without a time, the ingest gives it one."""
    return {name: value for name, value in json.loads(line).items() if name != "created_at"}


async def test_command_names_on_stderr_what_it_leaves_out(
    driver: neo4j.AsyncDriver, target: Target, scope: str
) -> None:
    values: dict[str, Any] = {"long": "x" * 513, "nan": float("nan"), "deep": "{}"}
    await driver.execute_query(FOREIGN, scope=scope, database_="neo4j", **values)
    done = memoria("export", "--scope", scope, target=target)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 8
    problems = done.stderr.decode().splitlines()
    assert all(problem.startswith("left out: ") for problem in problems[:20]), problems
    assert problems[20:] == ["and 1 other reason"]
    reason = "a relationship that is not one of memoria's"
    assert f"left out: 2 edges, KNOWS: {reason}, first of 'a'" in problems


def test_command_says_when_there_is_nothing_to_export(target: Target, scope: str) -> None:
    done = memoria("export", "--scope", scope, target=target)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"memoria stats --all" in done.stderr


def test_failing_export_is_one_line_and_leaves_the_file_as_it_was(
    target: Target, tmp_path: Path
) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text("before")
    done = memoria("export", "-o", str(path), "--uri", "bolt://127.0.0.1:1", target=target)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert path.read_text() == "before"
    assert files_in(tmp_path) == [path]


@pytest.mark.parametrize("name", ["lines.jsonl", "lines.jsonl.gz"])
def test_output_cut_off_in_the_middle_never_takes_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("before")
    with contextlib.suppress(UnavailableError), opened(str(path)) as stream:
        stream.write(b"half")
        raise UnavailableError("gone")
    assert path.read_text() == "before"
    assert files_in(tmp_path) == [path]


def test_output_follows_a_link_and_writes_into_a_device(tmp_path: Path) -> None:
    path, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    for _ in range(2):
        with opened(str(link)) as stream:
            stream.write(b"all")
    assert link.is_symlink()
    assert path.read_bytes() == b"all"
    with opened(os.devnull) as stream:
        stream.write(b"all")
    assert not Path(os.devnull).is_file()
