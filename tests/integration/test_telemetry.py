"""Spans and metrics of real recalls, writes and refusals; nothing of what memories say in them."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Iterator, Sequence
from contextvars import ContextVar, copy_context

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from memoria._support import telemetry
from memoria.errors import MemoriaError, QueryError
from memoria.graph.vocabulary import scope_key
from memoria.recall.reporting import recall_span
from memoria.retriever import GraphRetriever
from memoria.store.queries import Column, Query
from memoria.types import Memory, Relation

CANARY = "Kvastmakare"


@pytest.fixture(scope="module")
def sdk() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """The SDK of the application, which a process can set once."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    return exporter, reader


@pytest.fixture
def spans(sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]) -> Iterator[InMemorySpanExporter]:
    sdk[0].clear()
    yield sdk[0]
    sdk[0].clear()


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    (found,) = (span for span in spans if span.name == name)
    return found


async def fill(retriever: GraphRetriever) -> None:
    await retriever.writer().write(
        [
            Memory(id=f"{CANARY}-a", kind="Event", text=f"{CANARY} has rain", tags=[CANARY]),
            Memory(id="b", kind="Event", text="The mud came."),
        ],
        [Relation(source=f"{CANARY}-a", target="b", relation="caused", weight=0.9)],
    )


async def test_a_recall_is_a_tree_of_stages_and_queries(
    retriever: GraphRetriever, spans: InMemorySpanExporter
) -> None:
    await fill(retriever)
    spans.clear()
    recall = await retriever.recall(f"{CANARY} rain", query_tags=[CANARY])
    found = spans.get_finished_spans()
    top = named(found, "search_memory")
    assert top.kind is SpanKind.CLIENT
    assert top.attributes is not None
    assert top.attributes["gen_ai.operation.name"] == "search_memory"
    assert top.attributes["gen_ai.memory.store.id"] == scope_key(retriever.scope)
    assert top.attributes["gen_ai.memory.record.count"] == len(recall.context.items) == 2
    assert top.attributes["memoria.recall.id"] == recall.trace.id
    assert top.attributes["memoria.tokens"] == recall.context.tokens
    assert top.attributes["memoria.degraded"] is True  # it has no embedder
    stages = [s.name for s in found if s.parent and s.parent.span_id == top.context.span_id]
    assert stages == ["embeddings", "seeds", "explore", "rank", "pack"]
    level = next(span for span in found if span.name == "strategies.level")
    assert level.kind is SpanKind.CLIENT
    assert dict(level.attributes or {}) == {
        "db.system.name": "neo4j",
        "db.namespace": retriever.store.database,
        "db.query.summary": "strategies.level",
    }
    explore = named(found, "explore")
    assert level.parent is not None
    assert level.parent.span_id == explore.context.span_id
    assert {span.context.trace_id for span in found} == {top.context.trace_id}


async def test_nothing_of_what_memories_say_is_in_a_span_or_a_metric(
    retriever: GraphRetriever, sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    exporter, reader = sdk
    await fill(retriever)
    await retriever.recall(f"{CANARY} rain", query_tags=[CANARY])
    await retriever.writer().remember(f"{CANARY} sweeps.", tags=[CANARY])
    await retriever.writer().forget([f"{CANARY}-a"])
    with pytest.raises(MemoriaError):
        await retriever.writer().remember("Sweeps.", about=[CANARY])
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    measured = reader.get_metrics_data()
    told += "" if measured is None else measured.to_json()
    assert "upsert_memory" in told
    assert "delete_memory" in told
    assert CANARY not in told
    assert retriever.scope not in told


async def test_writes_and_deletions_say_how_many(
    retriever: GraphRetriever, spans: InMemorySpanExporter
) -> None:
    await fill(retriever)
    written = named(spans.get_finished_spans(), "upsert_memory")
    assert (written.attributes or {})["gen_ai.memory.record.count"] == 2
    await retriever.writer().forget(["b", "never there"])
    deleted = named(spans.get_finished_spans(), "delete_memory")
    assert (deleted.attributes or {})["gen_ai.memory.record.count"] == 1


async def test_a_query_that_fails_names_the_error_and_the_servers_code(
    retriever: GraphRetriever, spans: InMemorySpanExporter
) -> None:
    wrong = Query(
        name="test.wrong", mode="read", text=f"RETURN {CANARY}", params=frozenset(), returns=()
    )
    with pytest.raises(QueryError):
        await retriever.store.run(wrong, {})
    failed = named(spans.get_finished_spans(), "test.wrong")
    assert (failed.attributes or {})["error.type"] == "QueryError"
    code = (failed.attributes or {})["db.response.status_code"]
    assert code == "Neo.ClientError.Statement.SyntaxError"
    assert not failed.status.is_ok
    assert failed.status.description is None
    assert failed.events == ()


async def test_queries_of_a_recall_are_recorded_when_it_is_over_and_late_ones_later(
    spans: InMemorySpanExporter,
) -> None:
    let_go = asyncio.Event()

    async def ask() -> None:
        with telemetry.query_span("test.late", "neo4j"):
            await let_go.wait()

    with telemetry.recalling("r1"):
        asking = asyncio.create_task(ask())
        with telemetry.query_span("test.soon", "neo4j"):
            await asyncio.sleep(0)
        assert not spans.get_finished_spans()
    assert [each.name for each in spans.get_finished_spans()] == ["test.soon"]
    let_go.set()
    await asking
    assert [each.name for each in spans.get_finished_spans()] == ["test.soon", "test.late"]


def test_what_is_recorded_within_a_span_of_somebody_else_is_below_that(
    spans: InMemorySpanExporter,
) -> None:
    with recall_span("r1", "s1"), telemetry.stage_span("embeddings"):
        with telemetry.query_span("test.stage", "neo4j"):
            pass
        with (
            trace.get_tracer("a model").start_as_current_span("own"),
            telemetry.query_span("test.own", "neo4j"),
        ):
            pass
    found = {each.name: each for each in spans.get_finished_spans()}
    above = {"embeddings": "search_memory", "own": "search_memory"}
    for name, parent in {**above, "test.stage": "embeddings", "test.own": "own"}.items():
        at = found[name].parent
        assert at is not None
        assert at.span_id == found[parent].context.span_id


def test_a_span_lasts_until_those_below_it_are_made(
    spans: InMemorySpanExporter, sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    with recall_span("r1", "s1"):
        with telemetry.stage_span("explore"), telemetry.query_span("test.in", "neo4j"):
            pass
        assert not spans.get_finished_spans()
    names = [each.name for each in spans.get_finished_spans()]
    assert names == ["test.in", "explore", "search_memory"]
    data = sdk[1].get_metrics_data()
    assert data is not None
    exemplars = [
        exemplar
        for resource in json.loads(data.to_json())["resource_metrics"]
        for scope in resource["scope_metrics"]
        for metric in scope["metrics"]
        if metric["name"] == "db.client.operation.duration"
        for point in metric["data"]["data_points"]
        if point["attributes"]["db.query.summary"] == "test.in"
        for exemplar in point["exemplars"]
    ]
    (top,) = (each for each in spans.get_finished_spans() if each.name == "search_memory")
    assert [each["trace_id"] for each in exemplars] == [top.context.trace_id]


@pytest.mark.usefixtures("spans")
async def test_what_a_stage_recorded_is_freed_without_the_collector() -> None:
    class Kept:
        """What an application keeps in a context variable."""

    variable: ContextVar[Kept] = ContextVar("kept")

    async def ask() -> weakref.ref[Kept]:
        variable.set(kept := Kept())
        with telemetry.query_span("test.child", "neo4j"):
            await asyncio.sleep(0)
        return weakref.ref(kept)

    gc.disable()
    try:
        with recall_span("r1", "s1"):
            seen = await asyncio.create_task(ask())
        await asyncio.sleep(0)  # the loop lets go of the task
        assert seen() is None
    finally:
        gc.enable()


async def test_a_query_whose_coroutine_is_closed_late_is_recorded(
    spans: InMemorySpanExporter,
) -> None:
    async def ask() -> None:
        with telemetry.query_span("test.closed", "neo4j"):
            await asyncio.sleep(60)

    asking = ask()
    copy_context().run(asking.send, None)
    asking.close()
    assert [each.name for each in spans.get_finished_spans()] == ["test.closed"]


async def test_a_transaction_leads_to_its_recall(retriever: GraphRetriever) -> None:
    await fill(retriever)
    seen: set[tuple[str, str]] = set()
    ask = Query(
        name="test.transactions",
        mode="read",
        text="SHOW TRANSACTIONS YIELD metaData RETURN collect(metaData) AS all",
        params=frozenset(),
        returns=(Column("all"),),
    )

    async def watch() -> None:
        while True:
            for row in (await retriever.store.run(ask, {}))[0]["all"]:
                if "recall" in row:
                    seen.add((row["recall"], row["query"]))

    watching = asyncio.create_task(watch())
    ids: set[str] = set()
    for _ in range(400):
        ids.add((await retriever.recall("rain mud")).trace.id)
        # Other tests may ask the same server at the same time, and their recalls are seen, too.
        if ids & {id_ for id_, _ in seen}:
            break
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    assert ids & {id_ for id_, _ in seen}


async def test_durations_sizes_and_degraded_recalls_are_measured(
    retriever: GraphRetriever, sdk: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    await fill(retriever)
    await retriever.recall("rain")
    data = sdk[1].get_metrics_data()
    assert data is not None
    found = {
        metric["name"]: metric
        for resource in json.loads(data.to_json())["resource_metrics"]
        for scope in resource["scope_metrics"]
        for metric in scope["metrics"]
    }
    assert set(found) >= {
        "memoria.recall.duration",
        "memoria.recall.memories",
        "memoria.recall.tokens",
        "memoria.recall.degraded",
        "db.client.operation.duration",
    }
    points = found["memoria.recall.duration"]["data"]["data_points"]
    stages = {point["attributes"]["memoria.stage"] for point in points}
    assert {"search_memory", "seeds", "explore", "rank", "pack"} <= stages
