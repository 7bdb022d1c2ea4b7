"""``learn="used"``: what an agent opened, or its answer cites, teaches; and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from memoria import GraphRetriever, Memory, Message, Relation, tools
from memoria.agents.agent_memory import AgentMemory
from memoria.agents.hooks import HookCall, answer_hook
from memoria.agents.kept import MOST_USED
from memoria.agents.mcp.chatgpt import _fetched
from memoria.errors import UnavailableError
from memoria.store import Store
from tests.integration.doctor.test_doctor import run_statement

HERON = "A heron stood by the lake."
QUESTION = "Who sold the last bun?"


@pytest.fixture
async def memory(driver: neo4j.AsyncDriver, scope: str) -> AgentMemory:
    """A chain of three memories: e1 -0.5-> e2 -0.5-> e3."""
    retriever = GraphRetriever(driver, scope=scope, learn="used")
    texts = {"e1": "Ada sold the last bun.", "e2": "There was no butter.", "e3": "No van came."}
    await retriever.writer().write(
        [Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()],
        [
            Relation(source="e1", target="e2", weight=0.5),
            Relation(source="e2", target="e3", weight=0.5),
        ],
    )
    return AgentMemory(retriever)


async def learned(store: Store, scope: str) -> dict[str, Any]:
    """Uses by memory, weights by edge."""
    nodes = await run_statement(
        store,
        "MATCH (m:Memory {scope: $s}) WHERE m.use_count > 0 RETURN m.id AS id, m.use_count AS n",
        s=scope,
    )
    edges = await run_statement(
        store,
        "MATCH (a:Memory {scope: $s})-[r:RELATES]->(b) RETURN a.id + b.id AS id, r.weight AS n",
        s=scope,
    )
    return {row["id"]: pytest.approx(row["n"]) for row in (*nodes, *edges)}


async def test_what_is_opened_after_a_recall_counts_once_and_can_be_undone(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    before = await learned(store, scope)
    assert before == {"e1e2": 0.5, "e2e3": 0.5}
    found = (await memory.recall(QUESTION)).data
    label = next(each["label"] for each in found["memories"] if each["id"] == "e2")
    await memory.open([label])
    await memory.open(["e2"])
    assert await learned(store, scope) == {"e1e2": 0.6, "e2e3": 0.5, "e2": 1}
    undone = await memory.retriever.learner().undo(began)
    assert undone.kept == 0
    assert await learned(store, scope) == before


async def test_what_no_recall_showed_teaches_nothing(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    await memory.open(["e1", "e3"])
    await memory.note_used(["a1", "nobody"])
    assert await learned(store, scope) == {"e1e2": 0.5, "e2e3": 0.5}


async def test_the_reason_of_a_new_memory_was_used(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    recalled = (await memory.recall(QUESTION)).data["recall_id"]
    await memory.remember("Ada orders more.", because_of=["e1"], from_recall=recalled)
    assert (await learned(store, scope))["e1"] == 1


async def test_the_label_of_a_reason_is_that_of_the_recall_that_is_named(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    first, second = [(await memory.recall(QUESTION)).data for _ in range(2)]
    kept = memory.recalls.get(scope, first["recall_id"])
    label = next(each["label"] for each in first["memories"] if each["id"] == "e1")
    others = tuple(replace(one, label=label) for one in kept.context.items if one.id == "e2")
    later = replace(
        memory.recalls.get(scope, second["recall_id"]),
        context=replace(kept.context, items=others),
    )
    await memory.recalls.keep(later, scope)  # here the same label is that of e2
    await memory.remember(
        "Ada orders more.", because_of=iter([label]), from_recall=first["recall_id"]
    )
    known = await learned(store, scope)
    assert (known["e1"], "e2" in known) == (1, False)


async def test_the_id_of_a_reason_is_no_label_of_a_later_recall(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    first, second = [(await memory.recall(QUESTION)).data for _ in range(2)]
    kept = memory.recalls.get(scope, second["recall_id"])
    others = tuple(replace(one, label="e1") for one in kept.context.items if one.id == "e2")
    await memory.recalls.keep(replace(kept, context=replace(kept.context, items=others)), scope)
    label = next(each["label"] for each in first["memories"] if each["id"] == "e1")
    await memory.remember("Ada orders more.", because_of=[f"[{label}]"])
    known = await learned(store, scope)
    assert (known.get("e1"), "e2" in known) == (1, False)


async def label_that_is_an_id(memory: AgentMemory) -> str:
    """Recall, and write a memory whose id is the label of ``e2``."""
    shown = (await memory.recall(QUESTION)).data["memories"]
    label: str = next(each["label"] for each in shown if each["id"] == "e2")
    await memory.retriever.writer().write([Memory(id=label, kind="Event", text=HERON)])
    return label


async def test_what_is_fetched_was_used_and_not_the_memory_whose_label_its_id_is(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    label = await label_that_is_an_id(memory)
    read, _ = await _fetched(memory, label)
    assert read["title"] == HERON
    assert await learned(store, scope) == {"e1e2": 0.5, "e2e3": 0.5}, "no recall showed it"
    await memory.recall("Where is the heron?")
    await _fetched(memory, label)
    assert await learned(store, scope) == {"e1e2": 0.5, "e2e3": 0.5, label: 1}


async def test_of_a_name_that_means_two_memories_the_one_with_the_label_was_used(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    label = await label_that_is_an_id(memory)
    assert (await memory.open([label])).data["ids"] == ["e2", label]
    assert await learned(store, scope) == {"e1e2": 0.6, "e2e3": 0.5, "e2": 1}


async def test_the_use_of_a_memory_is_learned_once_the_database_is_back(
    memory: AgentMemory, driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    away = AgentMemory(Away(driver, scope=scope, learn="used"), recalls=memory.recalls)
    await memory.recall(QUESTION)
    assert await away.note_used(["e1"]) == 0
    assert await memory.note_used(["e1"]) == 1
    assert (await learned(store, scope))["e1"] == 1


async def test_what_the_reply_of_a_turn_cites_was_used(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    prompt = HookCall(event="prompt", scope=scope, harness="claude", prompt=QUESTION, deadline_s=60)
    assert await answer_hook(memory, prompt)

    async def end(*said: tuple[str, str]) -> None:
        messages = tuple(
            Message(id=f"m{n}", role=role, text=text)  # type: ignore[arg-type]
            for n, (role, text) in enumerate(said)
        )
        call = HookCall(
            event="stop", scope=scope, harness="claude", session_id="s", messages=messages
        )
        await answer_hook(memory, call)

    await end(("assistant", "As I said [e1]."), ("user", QUESTION), ("assistant", "I don't know."))
    assert "e1" not in await learned(store, scope)
    await end(("user", QUESTION), ("assistant", "Ada did [e1, e9], see [the list](there)."))
    assert (await learned(store, scope))["e1"] == 1


async def test_of_many_memories_that_are_opened_the_first_count(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    retriever = GraphRetriever(driver, scope=scope, learn="used")
    ids = [f"b{n}" for n in range(MOST_USED + 4)]
    await retriever.writer().write(
        [Memory(id=id_, kind="Event", text=f"Bun {id_} was sold in the shop.") for id_ in ids]
    )
    memory = AgentMemory(retriever)
    found = (await memory.recall("Which bun was sold in the shop?")).data
    shown = [each["id"] for each in found["memories"]]
    assert len(shown) > MOST_USED
    await memory.open(shown)
    assert set(await learned(store, scope)) == set(shown[:MOST_USED])


@pytest.mark.parametrize(("learn", "read_only"), [(None, False), ("used", True)])
async def test_nothing_is_learned_unless_it_may_be(
    memory: AgentMemory, driver: neo4j.AsyncDriver, store: Store, learn: Any, read_only: bool
) -> None:
    scope = memory.retriever.scope
    retriever = GraphRetriever(driver, scope=scope, learn=learn)
    other = AgentMemory(retriever, read_only=read_only)
    await other.recall(QUESTION)
    await other.open(["e1", "e2"])
    assert await learned(store, scope) == {"e1e2": 0.5, "e2e3": 0.5}


async def test_the_functions_of_an_agent_teach_as_well(
    memory: AgentMemory, store: Store, scope: str
) -> None:
    calls = {call.__name__: call for call in tools(memory.retriever, write=True)}
    await calls["memory_recall"](QUESTION)
    await calls["memory_open"](["e2"])
    assert (await learned(store, scope))["e2"] == 1


class Away(GraphRetriever):
    """A retriever whose learner finds no database."""

    def learner(self, **_: object) -> Any:
        raise UnavailableError("away")


async def test_an_answer_stays_when_nothing_can_be_learned(
    memory: AgentMemory, driver: neo4j.AsyncDriver
) -> None:
    away = AgentMemory(Away(driver, scope=memory.retriever.scope, learn="used"))
    await away.recall(QUESTION)
    assert (await away.open(["e1"])).data["ids"] == ["e1"]
