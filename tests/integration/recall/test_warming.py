"""Plans that are made before the first recall: those of the queries that a recall sends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memoria import GraphRetriever, Memory, Message, Relation, connect
from memoria.agents.agent_memory import AgentMemory
from memoria.connection import Connection
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import STRATEGIES
from memoria.recall.warming import warm_plans
from memoria.store import Target
from tests.integration.hashing import embedder
from tests.integration.statements import Statements, sent_statements


@pytest.fixture
def statements() -> Iterator[Statements]:
    with sent_statements() as sent:
        yield sent


def connected(target: Target, scope: str) -> Connection:
    """Connect to a scope, and let the server plan ahead."""
    return connect(target.uri, target.auth, scope=scope, embedder=embedder("test", 384), warm=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_every_statement_of_a_recall_has_been_sent_before(
    retriever: GraphRetriever, statements: Statements, strategy: str
) -> None:
    asking = GraphRetriever(retriever.store, scope=retriever.scope, embedder=embedder("test", 384))
    memories = [
        Memory(id=id_, kind="UserPreference", text=f"The oven is {id_}.", created_at=day)
        for id_, day in (("a", datetime(2026, 1, 5, tzinfo=UTC)), ("b", datetime.now(UTC)))
    ]
    edge = Relation(source="a", target="b", relation="near", weight=0.9)
    await asking.writer().write(memories, [edge])
    config = RetrieverConfig(strategy=STRATEGIES[strategy])
    statements.sent.clear()
    await warm_plans(asking.store, scope=asking.scope, config=config)
    warmed, statements.sent, statements.names = statements.sent, set(), set()
    for one, question in (
        (retriever, "Which oven?"),
        (asking, "Which oven?"),
        (asking, "What did I do yesterday?"),
    ):
        found = await one.recall(question, config=config)
        assert found.ranked
    assert statements.names >= {"ranking.alike", "seeds.window"}
    assert statements.sent <= warmed


async def test_connect_warms_in_the_background_and_closes_in_the_middle_of_it(
    target: Target, retriever: GraphRetriever, statements: Statements
) -> None:
    await retriever.server_facts()
    statements.sent.clear()
    async with connected(target, retriever.scope) as memory:
        await memory.recall("anything at all")
    assert statements.sent


async def test_connect_plans_what_agents_write(
    target: Target, retriever: GraphRetriever, statements: Statements
) -> None:
    await retriever.server_facts()
    statements.names.clear()
    async with connected(target, retriever.scope) as memory:
        for _ in range(1_200):
            if "ingest.forget" in statements.names:  # the last one
                break
            await asyncio.sleep(0.1)
        planned, statements.names = statements.names, set()
        agent = AgentMemory(memory, deadline_s=60)
        kept = await agent.remember("The oven is cold.")
        await agent.append("first", [Message(text="The oven is cold, isn't it?", role="user")])
        found = await agent.recall("Why is the oven cold?")
        label = found.data["memories"][0]["label"]
        await agent.feedback(found.data["recall_id"], used=[label])
        await agent.forget([kept.data["id"]])
    assert statements.names >= {"remember.write", "remember.states", "learn.reinforce"}
    short = {"graph.scope_size", "graph.meta", "graph.newest", "ingest.embedded"}
    assert statements.names - planned <= short
