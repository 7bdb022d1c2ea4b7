"""An export holds what was learned, and its ingest elsewhere leaves the same, but for the log."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import clock_key
from memoria.ingest import ingest_files
from memoria.ingest.export import Skipped, export_lines
from memoria.ingest.jsonl import parse_line
from memoria.learn import LearnConfig, Learner
from memoria.learn.link import Linker, SimilarityLinkConfig
from memoria.store import Store
from memoria.types import Memory, Relation, WriteReport
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS
from tests.integration.doctor.test_doctor import run_statement
from tests.traces import trace

NOW = datetime(2026, 3, 9, 12, 0, 0, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def at_angle(degrees: float) -> list[float]:
    angle = math.radians(degrees)
    return [math.cos(angle), math.sin(angle), *[0.0] * (DIMENSIONS - 2)]


async def live(store: Store, scope: str) -> None:
    """Write a scope and let it go through everything that learning does."""
    clock = Clock()
    linker = Linker(store, scope=scope, config=SimilarityLinkConfig(), clock=clock)
    writer = GraphWriter(store, scope=scope, linker=linker, clock=clock)
    memories = [
        Memory(id=id_, kind="Event", text=f"text {id_}", when=when, embedding=at_angle(30 * n))
        for n, (id_, when) in enumerate(
            [("a", {"x": 1}), ("b", {"x": 1, "y": 2}), ("c", {}), ("d", {}), ("e", {}), ("f", {})]
        )
    ]
    near = [("a", "b"), ("b", "c"), ("a", "e"), ("e", "f")]
    relations = [Relation(source=s, target=t, relation="near", weight=0.5) for s, t in near]
    await writer.write(memories, relations)
    await GraphWriter(store, scope=scope, clock=clock).write(  # linked before, and not linked now
        [Memory(id="f", kind="Event", text="another text", embedding=at_angle(150))]
    )
    learner = Learner(store, scope=scope, config=LearnConfig(log_days=90), clock=clock)
    for number in range(8):
        recall = trace(scope, [("a", 1.0), ("b", 0.8), ("c", 0.6)], [("a", 1.0), ("e", 0.5)])
        clock.now += timedelta(minutes=20)
        await learner.reinforce(recall, ["b", "c"], event_id=f"use {number}")
        if number < 3:
            await learner.co_activate(recall, event_id=f"together {number}")
    other = trace(scope, [("d", 1.0), ("f", 0.8), ("b", 0.7)])
    await learner.co_activate(other)  # once: pending
    await learner.feedback(other, confirmed=["d", "f"], overridden=["b"])
    await learner.suppress("d", "e", kind="deprecated-to")
    await learner.suppress("f", "e", kind="conflicts")
    await learner.override()
    await learner.strengthen_edge("d", "f", relation="learned", increment=0.3)
    clock.now += timedelta(days=3)
    await learner.consolidate()
    clock.now += timedelta(minutes=5)
    await learner.reinforce(recall, ["e"], event_id="the last")


async def stored(store: Store, scope: str) -> dict[str, Any]:
    """Everything that is stored of a scope but its name, ids of the database and the log."""
    memories = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, labels(m) AS labels, "
        "m {.*, scope: null, scope_key: null} AS properties ORDER BY id",
        scope=scope,
    )
    joined = await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope})-[r]->(b:Memory {scope: $scope}) "
        "RETURN type(r) AS type, a.id AS source, b.id AS target, properties(r) AS properties "
        "ORDER BY type, source, target, r.relation, r.kind",
        scope=scope,
    )
    clock = await run_statement(
        store,
        "MATCH (c:MemoriaMeta {key: $key}) "
        "RETURN c.active_hours AS active_hours, c.last_active_at AS last_active_at",
        key=clock_key(scope),
    )
    return {
        "memories": [row.data() for row in memories],
        "joined": [row.data() for row in joined],
        "clock": [row.data() for row in clock],
    }


async def export(store: Store, scope: str) -> list[str]:
    skipped: list[Skipped] = []
    lines = [line async for line in export_lines(store, scope=scope, on_skipped=skipped.append)]
    assert skipped == []
    return lines


async def ingest(store: Store, scope: str, lines: Sequence[str], path: Path) -> WriteReport:
    await asyncio.to_thread(path.write_text, "".join(f"{line}\n" for line in lines), "utf-8")
    return (await ingest_files(GraphWriter(store, scope=scope), [path])).written


async def test_everything_that_was_learned_comes_back(
    store: Store, scope: str, tmp_path: Path
) -> None:
    await live(store, scope)
    lines, before = await export(store, scope), await stored(store, scope)
    seen = {name for row in before["memories"] for name in row["properties"]}
    assert seen >= {"use_count", "use_times", "confirmed", "overridden", "active_hours"}
    assert seen >= {"linked_at", "linked_before", "right_for", "wrong_for"}
    seen = {name for row in before["joined"] for name in row["properties"]}
    assert seen >= {"base_weight", "given_weight", "last_used_at", "decayed_at", "promoted_uses"}
    assert {row["type"] for row in before["joined"]} == {"RELATES", "SUPPRESSES", "COACTIVATED"}
    origins = {row["properties"].get("origin") for row in before["joined"]}
    assert origins == {"ingest", "similarity", "learned", None}

    copy = f"{scope}-copy"
    for _ in range(2):
        report = await ingest(store, copy, lines, tmp_path / "lines")
        assert await stored(store, copy) == before
        assert await export(store, copy) == lines
    assert (report.memories_created, report.relations_created) == (0, 0)
    kinds = ("suppresses", "co_activated", "clock")
    assert report.restored == sum(any(kind in json.loads(line) for kind in kinds) for line in lines)


async def test_learning_goes_on_where_it_was(store: Store, scope: str, tmp_path: Path) -> None:
    await live(store, scope)
    copy = f"{scope}-copy"
    await ingest(store, copy, await export(store, scope), tmp_path / "lines")
    later = NOW + timedelta(days=8)
    for name in (scope, copy):
        learner = Learner(store, scope=name, clock=lambda: later)
        await learner.reinforce(trace(name, [("a", 1.0), ("b", 0.8)]), ["b"])
        await learner.consolidate(later + timedelta(days=5))
    assert await stored(store, copy) == await stored(store, scope)


async def test_the_log_stays_behind_and_undo_says_so(
    store: Store, scope: str, tmp_path: Path
) -> None:
    await live(store, scope)
    copy = f"{scope}-copy"
    await ingest(store, copy, await export(store, scope), tmp_path / "lines")
    before = await stored(store, copy)
    learner = Learner(store, scope=copy, clock=lambda: NOW + timedelta(days=9))
    report = await learner.undo(NOW - timedelta(days=1))
    assert (report.events, report.restored) == (0, 0)
    assert report.log_since is not None
    assert NOW + timedelta(days=3) < report.log_since < NOW + timedelta(days=4)
    await learner.strengthen_edge("a", "b", relation="near")
    assert await stored(store, copy) != before
    await learner.undo(report.log_since)
    after = await stored(store, copy)
    assert (after["memories"], after["joined"]) == (before["memories"], before["joined"])


async def test_lines_without_history_leave_what_was_learned_here(
    store: Store, scope: str, tmp_path: Path
) -> None:
    await live(store, scope)
    before = await stored(store, scope)
    lines = []
    for line in await export(store, scope):
        fields = json.loads(line)
        if "id" in fields:  # as lines were before they held a history
            fields.pop("learned", None)
            lines.append(json.dumps(fields))
    await ingest(store, scope, lines, tmp_path / "lines")
    assert await stored(store, scope) == before


async def test_a_line_with_history_replaces_what_was_learned_here(
    store: Store, scope: str, tmp_path: Path
) -> None:
    await live(store, scope)
    lines, before = await export(store, scope), await stored(store, scope)
    learner = Learner(store, scope=scope, clock=lambda: NOW + timedelta(days=9))
    await learner.feedback(trace(scope, [("b", 1.0)]), confirmed=["b"])
    await learner.strengthen_edge("a", "b", relation="near")
    await ingest(store, scope, lines, tmp_path / "lines")
    after = await stored(store, scope)
    assert (after["memories"], after["joined"]) == (before["memories"], before["joined"])
    assert after["clock"][0]["active_hours"] > before["clock"][0]["active_hours"], "it goes forward"


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"source": "a", "target": "nobody", "suppresses": "conflicts"}', "nobody"),
        ('{"source": "nobody", "target": "a", "co_activated": [1.0]}', "nobody"),
    ],
)
async def test_ends_of_history_must_stand(
    store: Store, scope: str, tmp_path: Path, line: str, named: str
) -> None:
    memory = '{"id": "a", "kind": "Event", "text": "t"}'
    with pytest.raises(InvalidInputError, match=rf"lines:2: .*{named}"):
        await ingest(store, scope, [memory, line], tmp_path / "lines")
    report = await ingest_files(
        GraphWriter(store, scope=scope), [tmp_path / "lines"], skip_invalid=True
    )
    assert (report.written.memories, report.written.skipped, report.written.restored) == (1, 1, 0)


async def test_what_a_foreign_graph_holds_in_place_of_history_is_named(
    store: Store, scope: str
) -> None:
    await run_statement(
        store,
        "CREATE (a:Memory:Event {scope: $scope, id: 'a', text: 't', use_count: 'many', "
        "use_times: ['x'], confirmed: 2, linked_at: 5, active_hours: -1.0, right_for: 'why', "
        "wrong_for: [1]}) "
        "CREATE (b:Memory:Event {scope: $scope, id: 'b', text: 't'}) "
        "CREATE (a)-[:RELATES {relation: 'r', weight: 0.5, uses: -1, lif_weight: 1.5, "
        "decayed_at: 'never', created_at: 7}]->(b) "
        "CREATE (a)-[:SUPPRESSES]->(b) CREATE (b)-[:SUPPRESSES {kind: 'conflicts'}]->(a) "
        "CREATE (a)-[:COACTIVATED {times: []}]->(b)",
        scope=scope,
    )
    skipped: list[Skipped] = []
    lines = [line async for line in export_lines(store, scope=scope, on_skipped=skipped.append)]
    assert lines == [
        '{"id":"a","kind":"Event","text":"t","created_at":null,"learned":{"confirmed":2}}',
        '{"id":"b","kind":"Event","text":"t","created_at":null}',
        '{"source":"a","target":"b","relation":"r","weight":0.5,"learned":{"lif_weight":1.5}}',
        '{"source":"b","target":"a","suppresses":"conflicts"}',
    ]
    assert sorted((each.what, each.name, each.field) for each in skipped) == sorted(
        [
            *(("field", "a", name) for name in ("use_count", "use_times", "linked_at")),
            *(("field", "a", name) for name in ("active_hours", "right_for", "wrong_for")),
            *(("field", "a -> b (r)", name) for name in ("uses", "decayed_at", "created_at")),
            ("edge", "a -> b (SUPPRESSES)", "suppresses"),
            ("edge", "a -> b (COACTIVATED)", "co_activated"),
        ]
    )
    assert all(parse_line(line.encode()) for line in lines)
