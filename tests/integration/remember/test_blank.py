"""A message becomes blank: what it said is forgotten, what its conversation still has is kept."""

from __future__ import annotations

import neo4j
import pytest

from memoria.store import Store
from memoria.types import Conversation, Message
from tests.integration.doctor.test_doctor import run_statement
from tests.integration.remember.test_conversations import graph_of, writer


async def nodes_of(store: Store, scope: str) -> dict[str, str]:
    """Id -> element id of all memories of a scope: a node that is made again has another one."""
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, elementId(m) AS node",
        scope=scope,
    )
    return {row["id"]: row["node"] for row in rows}


@pytest.mark.parametrize("others", [[], ["another violin"]], ids=["alone", "with-another"])
async def test_what_the_conversation_still_has_is_not_deleted_with_a_blank_message(
    store: Store, driver: neo4j.AsyncDriver, scope: str, others: list[str]
) -> None:
    first = Conversation(id="c", messages=[Message(text="the violin in the harbour")])
    await writer(store, scope).write([first])
    before = await nodes_of(store, scope)
    blank = Conversation(id="c", messages=[Message(text=text) for text in [" ", *others]])
    report = await writer(store, scope).write([blank])
    after = await nodes_of(store, scope)
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    assert {id_ for id_ in before.keys() & after.keys() if before[id_] == after[id_]} == {
        "@session:c:1",
        *(["@topic:violin"] if others else []),
    }
    assert (report.forgotten, report.connectors) == (1, len(gone) - 1)
    assert report.written.memories_created == len(new)
    graph = await graph_of(driver, scope)
    again = await writer(store, scope).write([blank])
    assert (again.forgotten, again.connectors, again.written.memories_created) == (0, 0, 0)
    assert await graph_of(driver, scope) == graph
    assert await nodes_of(store, scope) == after


async def test_a_topic_of_a_blank_message_keeps_its_shortest_form(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    texts = ["the delivery", "so many deliveries"]
    for said in (texts[:1], [" ", texts[1]]):
        talk = Conversation(id="c", messages=[Message(text=text) for text in said])
        await writer(store, scope).write([talk])
    nodes, _ = await graph_of(driver, scope)
    assert {node[0]: node[1] for node in nodes}["@topic:deliveri"] == "delivery"
