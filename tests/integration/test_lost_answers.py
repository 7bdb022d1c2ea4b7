"""A change is made, its answer is lost, it is sent again: the report is right or not certain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from memoria.ingest import ingest_files
from memoria.learn import Learner
from memoria.learn.link import Linker
from memoria.remember import ConversationWriter, DocumentWriter
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import Document, Memory, Message, Relation
from memoria.writer import GraphWriter
from tests.lossy import LossyProxy, answer_to

PATIENCE_S = 60.0  # a server of the tests may take long to plan a query for the first time
NOW = datetime(2026, 11, 1, tzinfo=UTC)
MEMORIES = [Memory(id=id_, kind="Event", text=f"text {id_}") for id_ in "abcd"]
RELATIONS = [
    Relation(source="a", target="b", relation="near", weight=0.5),
    Relation(source="b", target="c", relation="near", weight=0.5),
]


@dataclass(frozen=True, kw_only=True)
class Lossy:
    """A store behind the proxy, and the proxy."""

    store: Store
    proxy: LossyProxy


@pytest.fixture(params=["auto", "managed"])
async def lossy(target: Target, request: pytest.FixtureRequest) -> AsyncIterator[Lossy]:
    transactions: Literal["auto", "managed"] = request.param
    proxy = LossyProxy(target.uri)
    async with proxy.listening(), open_driver(replace(target, uri=proxy.uri)) as driver:
        config = StoreConfig(transactions=transactions, query_timeout_s=PATIENCE_S)
        yield Lossy(store=Store(driver, database=target.database, config=config), proxy=proxy)


Call = Callable[[Store, str], Awaitable[Any]]


async def write(store: Store, scope: str) -> Any:
    return await GraphWriter(store, scope=scope).write(MEMORIES, RELATIONS)


async def forget(store: Store, scope: str) -> Any:
    return await GraphWriter(store, scope=scope).forget(["a", "b"])


async def forget_scope(store: Store, scope: str) -> Any:
    receipt = await GraphWriter(store, scope=scope, clock=lambda: NOW).forget_scope(confirm=scope)
    return replace(receipt, scope="")


async def delete_edge(store: Store, scope: str) -> Any:
    return await GraphWriter(store, scope=scope).delete_edge("a", "b")


async def remember(store: Store, scope: str) -> Any:
    done = await GraphWriter(store, scope=scope).remember("The oven takes an hour to heat up.")
    return replace(done, id="")


async def strengthen(store: Store, scope: str) -> Any:
    return await Learner(store, scope=scope).strengthen_edge("a", "d", event_id="one")


async def suppress(store: Store, scope: str) -> Any:
    return await Learner(store, scope=scope).suppress("a", "b", kind="conflicts", event_id="two")


async def prune(store: Store, scope: str) -> Any:
    return await Linker(store, scope=scope).prune(below=1.0)


async def append(store: Store, scope: str) -> Any:
    writer = ConversationWriter(store, scope=scope, extractor=None)
    messages = [Message(role="user", text="Is the oven on?", id="m1")]
    return await writer.append("kitchen", messages)


async def document(store: Store, scope: str) -> Any:
    writer = DocumentWriter(store, scope=scope, extractor=None)
    return await writer.write([Document(id="ovens.md", title="Ovens", text="They are hot.")])


async def nothing(store: Store, scope: str) -> None:
    """Prepare nothing."""


async def similar(store: Store, scope: str) -> None:
    """Write memories, and an edge that a linker made."""
    await write(store, scope)
    async with store.driver.session(database=store.database) as session:
        await session.run(
            "MATCH (a:Memory {scope: $scope, id: 'a'})-[r:RELATES]->() SET r.origin = 'similarity'",
            scope=scope,
        )


CALLS: list[Any] = [
    pytest.param(nothing, write, "ingest.memories", False, id="write: memories"),
    pytest.param(nothing, write, "ingest.relations", False, id="write: relations"),
    pytest.param(write, forget, "ingest.forget", False, id="forget"),
    pytest.param(write, forget_scope, "ingest.forget", False, id="forget_scope"),
    pytest.param(write, delete_edge, "ingest.delete_edges", False, id="delete_edge"),
    pytest.param(write, remember, "remember.write", False, id="remember"),
    pytest.param(similar, prune, "link.prune", False, id="prune"),
    pytest.param(nothing, append, "remember.lock", False, id="append"),
    pytest.param(nothing, document, "remember.next_version", False, id="document"),
    pytest.param(write, strengthen, "learn.reinforce", True, id="strengthen_edge"),
    pytest.param(write, suppress, "learn.suppress", True, id="suppress"),
]


@pytest.mark.parametrize(("prepare", "call", "query", "exact"), CALLS)
async def test_a_report_after_a_lost_answer_is_right_or_not_certain(
    lossy: Lossy, store: Store, scope: str, prepare: Call, call: Call, query: str, exact: bool
) -> None:
    twin = f"{scope}-twin"
    for each in (scope, twin):
        await prepare(store, each)
    truth = await call(store.patient(PATIENCE_S), twin)
    lossy.proxy.lose(answer_to(query))
    told = await call(lossy.store, scope)
    assert lossy.proxy.lost == 1
    certain = getattr(told, "certain", True)
    assert getattr(truth, "certain", True) is True
    if exact:
        assert told == truth
    elif certain:
        assert told == truth, "a certain report is right"
    else:
        assert certain is False


async def test_an_event_that_was_applied_before_is_not_applied_by_a_call_that_lost_its_answer(
    lossy: Lossy, store: Store, scope: str
) -> None:
    await write(store, scope)
    await strengthen(store, scope)
    lossy.proxy.lose(answer_to("learn.reinforce"))
    assert (await strengthen(lossy.store, scope)).applied is False
    assert lossy.proxy.lost == 1


async def test_undo_after_a_lost_answer_says_what_it_took_back(
    lossy: Lossy, store: Store, scope: str
) -> None:
    await write(store, scope)
    await strengthen(store, scope)
    since = datetime.now(UTC) - timedelta(hours=1)
    lossy.proxy.lose(answer_to("learn.undo"))
    report = await Learner(lossy.store, scope=scope).undo(since)
    assert lossy.proxy.lost == 1
    assert (report.events, report.restored) == (1, 1)


async def test_a_lost_answer_of_a_read_leaves_the_report_certain(lossy: Lossy, scope: str) -> None:
    lossy.proxy.lose(answer_to("remember.begun"))
    assert (await append(lossy.store, scope)).certain is True
    assert lossy.proxy.lost == 1


async def test_a_lost_answer_of_one_call_leaves_the_report_of_another_certain(
    lossy: Lossy, scope: str
) -> None:
    lossy.proxy.lose(answer_to("ingest.memories"))
    first = await write(lossy.store, scope)
    assert first.certain is False
    assert first.memories == len(MEMORIES)
    again = await write(lossy.store, scope)
    assert (again.certain, again.memories_created) == (True, 0)


async def test_an_ingest_of_files_says_that_it_is_not_certain(
    lossy: Lossy, scope: str, tmp_path: Any
) -> None:
    file = tmp_path / "memories.jsonl"
    file.write_text('{"id": "a", "kind": "Event", "text": "one"}\n', encoding="utf-8")
    lossy.proxy.lose(answer_to("ingest.memories"))
    report = await ingest_files(GraphWriter(lossy.store, scope=scope), [file])
    assert (report.certain, report.written.memories) == (False, 1)
