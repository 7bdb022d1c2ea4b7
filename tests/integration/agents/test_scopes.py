"""An agent that reads further scopes: each answer is about the right one, and none is lost."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from memoria import GraphRetriever, InvalidInputError, Memory, UnavailableError
from memoria.agents.agent_memory import AgentMemory
from memoria.agents.mcp.chatgpt import _fetched, _searched
from memoria.store import Store
from memoria.store.queries import Query

Texts = dict[str, str]


@pytest.fixture
def team(scope: str) -> str:
    return f"{scope}-team"


async def both(driver: neo4j.AsyncDriver | Store, own: str, team: str, *held: Texts) -> AgentMemory:
    """An agent's memory of two scopes, which hold these texts by id."""
    for scope, texts in zip((own, team), held, strict=True):
        await (
            GraphRetriever(driver, scope=scope)
            .writer()
            .write([Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()])
        )
    return AgentMemory(GraphRetriever(driver, scope=own, also_read=[team]))


async def labels(memory: AgentMemory, question: str) -> dict[tuple[str, str], str]:
    found = (await memory.recall(question)).data["memories"]
    return {(one["scope"], one["id"]): one["label"] for one in found}


async def test_the_newest_memories_are_those_of_the_own_scope_and_so_is_their_number(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    theirs = {f"t{n}": f"The team has oven {n}." for n in range(3)}
    memory = await both(driver, scope, team, {"m": "My oven is old."}, theirs)
    answer = await memory.recent()
    assert f'The newest of 1 memory in scope "{scope}".' in answer.text
    assert answer.data["ids"] == ["m"]
    assert answer.data["also_read"] == {team: 3}


async def test_the_label_of_a_deleted_memory_opens_no_other_one_with_its_id(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    memory = await both(driver, scope, team, {"m": "My oven is old."}, {"m": "The oven is new."})
    label = await labels(memory, "the oven")
    await memory.retriever.writer().forget(["m"])
    opened = await memory.open([label[scope, "m"]])
    assert "new" not in opened.text
    assert (opened.data["ids"], opened.data["missing"]) == ([], ["m"])
    named = await memory.open(["m"])  # an id is looked for in each scope
    assert "new" in named.text
    assert (named.data["ids"], named.data["missing"]) == (["m"], [])


async def test_a_memory_is_not_replaced_because_another_one_with_its_id_is(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    memory = await both(driver, scope, team, {"m": "My oven is old."}, {"m": "The oven is new."})
    label = await labels(memory, "the oven")
    theirs = memory.retriever.for_scope(team)
    await theirs.writer().remember("The oven broke.", id="n", supersedes=["m"])
    opened = await memory.open([label[scope, "m"], label[team, "m"]])
    assert opened.text.count("replaced by [n]") == 1
    assert opened.data["superseded"] == {}
    assert (await memory.open([label[team, "m"]])).data["superseded"] == {"m": "n"}


async def test_what_is_fetched_names_its_own_scope(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    memory = await both(driver, scope, team, {"m": "My oven is old."}, {"m": "The oven is new."})
    found, _ = await _searched(memory, "the oven")
    results = {each["title"]: each["id"] for each in found["results"]}
    for name, text in ((scope, "My oven is old."), (team, "The oven is new.")):
        document, _ = await _fetched(memory, results[text])
        assert (document["title"], document["metadata"]["scope"]) == (text, name)
        assert document["id"] == results[text]


async def test_what_is_fetched_is_one_memory_though_its_label_is_an_id_of_another_scope(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    memory = await both(driver, scope, team, {"m": "My oven is old."}, {})
    found, _ = await _searched(memory, "the oven")
    [result] = found["results"]
    label = (await memory.recall("the oven")).data["memories"][0]["label"]
    bare = result["id"].strip("[]")
    texts = {bare: "The team sold a bun.", label: "The team sold a roll."}
    await (
        memory.retriever.for_scope(team)
        .writer()
        .write([Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()])
    )
    for asked, title in ((result["id"], "My oven is old."), (label, "The team sold a roll.")):
        document, answer = await _fetched(memory, asked)
        assert document["title"] == title
        assert len(answer.data["ids"]) == 1
        assert [text for text in ("My oven", "bun", "roll") if text in document["text"]] == [
            text for text in ("My oven", "bun", "roll") if text in title
        ]


async def test_of_a_label_that_is_an_id_both_memories_are_shown_only_if_there_are_two(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    memory = await both(driver, scope, team, {"m": "My oven is old."}, {"n": "The oven is new."})
    label = await labels(memory, "the oven")
    mine = label[scope, "m"]
    ours = Memory(id=mine, kind="Event", text="The team sold a bun.")
    await memory.retriever.for_scope(team).writer().write([ours])
    assert "both memories are shown" in (await memory.open([mine])).text
    # A budget that the first memory fills
    many = [Memory(id="m", kind="Event", text="My oven is old. " * 200)]
    await memory.retriever.writer().write(many)
    filled = await memory.open([mine], max_tokens=200)
    assert (filled.data["ids"], filled.data["truncated"]) == (["m"], ["m", mine])
    assert "both memories" not in filled.text
    await memory.retriever.writer().forget(["m"])
    alone = await memory.open([mine])
    assert (alone.data["ids"], alone.data["missing"]) == ([mine], ["m"])
    assert "both memories" not in alone.text


class Refusing(Store):
    """A store that refuses some queries of one scope."""

    scope = ""
    prefix = ""  # of their names

    async def run(self, query: Query, *given: Any, **options: Any) -> list[neo4j.Record]:
        if given[0].get("scope") == self.scope and query.name.startswith(self.prefix):
            raise UnavailableError("away")
        return await super().run(query, *given, **options)


async def test_after_a_recall_that_could_not_read_the_own_scope_an_agent_writes(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    store = Refusing(driver)
    memory = await both(store, scope, team, {"x": "My oven is old."}, {"m": "The oven is new."})
    store.scope, store.prefix = scope, "seeds."
    found = (await memory.recall("the oven")).data
    store.scope = ""
    [theirs] = found["memories"]
    for used in (theirs["id"], theirs["label"]):
        with pytest.raises(InvalidInputError, match=r"found nothing|did not find|only be read"):
            await memory.feedback(found["recall_id"], used=[used])
    done = await memory.remember("My oven is hot.", from_recall=found["recall_id"])
    assert done.data["scope_size"] == 2


async def test_a_scope_that_can_not_be_counted_costs_no_answer(
    driver: neo4j.AsyncDriver, scope: str, team: str
) -> None:
    store = Refusing(driver)
    store.scope, store.prefix = team, "graph.scope_size"
    memory = await both(store, scope, team, {}, {"m": "The oven is new."})
    answer = await memory.recall("the oven")
    assert [one["id"] for one in answer.data["memories"]] == ["m"]
    assert "also_read" not in answer.data
    assert "new" in (await memory.open(["m"])).text
    done = await memory.remember("My oven is old.")
    assert done.text.startswith("Remembered.")
    assert "Recalls also read" not in (await memory.status()).text
