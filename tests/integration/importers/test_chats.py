"""Exports of chats, from the command line into the graph, on the real server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoria.ingest.export import export_lines
from memoria.remember import ImportWriter, cursors, importing
from memoria.store import Store
from memoria.types import Conversation, Document, Item, Message, Relation
from tests.integration.cli.test_commands import Call, call, here, secret

__all__ = ["call", "here", "secret"]  # fixtures of the command line
DATA = Path(__file__).parents[2] / "data" / "chats"
Import = Callable[..., dict[str, Any]]


@pytest.fixture
def imported(call: Call, here: list[str]) -> Import:
    """Import an export without vectors, and return the counts."""

    def imported(name: str, path: Path, *more: str) -> dict[str, Any]:
        done = call("import-chats", name, str(path), "--embedder", "none", "--json", *more, *here)
        assert done.code == 0, done.err
        counts: dict[str, Any] = json.loads(done.out)
        return counts

    return imported


async def texts(store: Store, scope: str, *kinds: str) -> set[str]:
    records, _, _ = await store.driver.execute_query(
        "MATCH (m:Memory {scope: $scope}) WHERE any(l IN labels(m) WHERE l IN $kinds) "
        "RETURN coalesce(m.connector_name, m.text) AS text",  # a connector has a name
        scope=scope,
        kinds=list(kinds),
    )
    return {record["text"] for record in records}


async def edges(store: Store, scope: str, relation: str) -> set[tuple[str, str]]:
    records, _, _ = await store.driver.execute_query(
        "MATCH (a:Memory {scope: $scope})-[r:RELATES {relation: $relation}]->(b) "
        "RETURN a.id AS source, b.id AS target",
        scope=scope,
        relation=relation,
    )
    return {(record["source"], record["target"]) for record in records}


@pytest.mark.parametrize(
    ("name", "file", "messages"),
    [
        ("chatgpt", "chatgpt", 7),
        ("claude", "claude", 4),
        ("slack", "slack", 6),
        ("openai", "openai.json", 3),
        ("langchain", "langchain.json", 3),
        ("messages", "messages.jsonl", 4),
        ("memory-server", "memory.jsonl", 5),
    ],
)
def test_importing_again_adds_nothing(
    imported: Import, name: str, file: str, messages: int
) -> None:
    first = imported(name, DATA / file)
    assert first["messages"] + first["memories_read"] == messages
    assert first["memories_created"] == first["memories"] >= messages
    assert first["relations_created"] == first["relations"] > 0
    again = imported("auto", DATA / file)
    assert again["format"] == name
    assert (again["memories_created"], again["relations_created"]) == (0, 0)
    if name != "memory-server":  # which knows its memories by their ids alone
        assert (again["known"], again["memories"]) == (messages, 0)


async def test_a_conversation_that_has_grown_adds_its_new_messages(
    imported: Import, store: Store, scope: str, tmp_path: Path
) -> None:
    imported("chatgpt", DATA / "chatgpt")
    export = json.loads((DATA / "chatgpt" / "conversations.json").read_text("utf-8"))
    slugs = export[1]
    slugs["mapping"]["new"] = {
        "id": "new",
        "parent": "p",
        "children": [],
        "message": {"author": {"role": "user"}, "content": {"parts": ["Where do I get a toad?"]}},
    }
    slugs["current_node"] = "new"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(export), encoding="utf-8")
    grown = imported("chatgpt", path)
    assert grown["known"] == 7
    assert "Where do I get a toad?" in await texts(store, scope, "UserRequest")
    assert ("chatgpt:q:p", "chatgpt:q:new") in await edges(store, scope, "next")


async def test_branches_can_be_added_later(imported: Import, store: Store, scope: str) -> None:
    imported("chatgpt", DATA / "chatgpt")
    assert "And runner beans?" not in await texts(store, scope, "UserRequest")
    imported("chatgpt", DATA / "chatgpt", "--all-branches")
    assert "And runner beans?" in await texts(store, scope, "UserRequest")
    following = {target for source, target in await edges(store, scope, "next") if "a1" in source}
    assert following == {"chatgpt:conv-seeds:u2", "chatgpt:conv-seeds:u2b"}
    assert imported("chatgpt", DATA / "chatgpt", "--all-branches")["memories_created"] == 0


async def test_a_thread_of_slack_hangs_on_its_first_message(
    imported: Import, store: Store, scope: str
) -> None:
    imported("slack", DATA / "slack")
    garden = "slack:C01/2026-03:"
    found = {
        (source.removeprefix(garden), target.removeprefix(garden))
        for source, target in await edges(store, scope, "next")
    }
    assert ("1772442001.000200", "1772442100.000400") in found
    assert ("1772442050.000300", "1772442200.000600") in found
    assert {"Ida", "Tom Vogt", "Lea"} == await texts(store, scope, "Speaker")


async def test_the_memory_server_becomes_memories_around_their_entities(
    imported: Import, store: Store, scope: str
) -> None:
    imported("memory-server", DATA / "memory.jsonl")
    assert await texts(store, scope, "Topic") == {"Ida", "Plot 7"}
    assert await texts(store, scope, "Event") == {
        "Ida: grows broad beans",
        "Ida is allergic to wasps",
        "Plot 7: has a pear tree",
    }
    assert await edges(store, scope, "tends") == {("@topic:ida", "@topic:plot 7")}


def test_what_was_imported_is_recalled(call: Call, here: list[str], imported: Import) -> None:
    imported("claude", DATA / "claude")
    done = call("recall", "What is wrong with my compost?", "--embedder", "none", *here)
    assert done.code == 0, done.err
    assert "add torn cardboard" in done.out


def test_a_dry_run_writes_nothing_and_needs_no_server(call: Call) -> None:
    done = call("import-chats", "auto", str(DATA / "slack"), "--dry-run")
    assert done.code == 0, done.err
    assert done.out == (
        "2 conversations, 6 messages, 6 parts, 3 left out (1 notice, 1 bot, 1 empty); "
        "nothing was written\n"
    )


def test_a_canvas_is_recalled_by_its_last_revision(
    call: Call, here: list[str], imported: Import, tmp_path: Path
) -> None:
    def node(number: int, **message: Any) -> dict[str, Any]:
        parent = f"n{number - 1}" if number > 1 else None
        at = {"create_time": 1_772_442_000 + number}
        return {"parent": parent, "message": {"author": {"role": "assistant"}, **at, **message}}

    def call_of(kind: str, **given: Any) -> dict[str, Any]:
        return {"recipient": f"canmore.{kind}_textdoc", "content": {"text": json.dumps(given)}}

    update = {"pattern": "March", "replacement": "April"}
    nodes = [
        node(1, author={"role": "user"}, content={"parts": ["Write a plan for the beans."]}),
        node(2, **call_of("create", name="bean plan", content="Sow the beans in March.")),
        node(3, **call_of("update", updates=[update])),
    ]
    mapping = {f"n{number}": each for number, each in enumerate(nodes, start=1)}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"id": "c", "mapping": mapping}]), encoding="utf-8")
    rehearsed = imported("chatgpt", path, "--dry-run")
    done = imported("chatgpt", path)
    for name in ("conversations", "messages", "documents", "parts"):
        assert rehearsed[name] == done[name], name
    assert (done["documents"], done["parts"]) == (2, 3)
    found = call("recall", "When do I sow the beans?", "--embedder", "none", "--context", *here)
    assert "Sow the beans in April." in found.out
    assert "March" not in found.out
    again = imported("chatgpt", path)
    assert (again["memories_created"], again["relations_created"]) == (0, 0)


async def test_an_import_that_was_cut_off_is_completed_by_the_next(
    store: Store, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Documents and relations are written three times in between, conversations twenty times.
    monkeypatch.setattr(importing, "MAX_WAITING", 200)
    monkeypatch.setattr(cursors, "BATCH_MESSAGES", 10)

    def items(cut_off: int | None = None) -> Iterator[Item]:
        for number in range(210):
            if number == cut_off:
                raise RuntimeError("cut off")
            message = Message(id="m", text=f"Ovens in Bergen, {number}")
            yield Conversation(id=f"c{number}", source="x", messages=[message])
            yield Document(id=f"d{number}", source="x", title=f"Plan {number}", text="Of the oven")
            ends = (f"x:c{number}:m", f"x/d{number}")
            yield Relation(source=ends[0], target=ends[1], relation="links_to")

    whole = f"{scope}-whole"
    await ImportWriter(store, scope=whole).write(items())
    with pytest.raises(RuntimeError, match="cut off"):
        await ImportWriter(store, scope=scope).write(items(cut_off=150))
    await ImportWriter(store, scope=scope).write(items())

    async def graph(name: str) -> set[str]:
        found = [line async for line in export_lines(store, scope=name)]
        return {re.sub(r'"(created|linked)_at":"[^"]*",?', "", line) for line in found}

    assert await graph(scope) == await graph(whole)


def test_wrong_messages_are_named_or_passed_over(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"role": "user", "content": "a"}, 5]', encoding="utf-8")
    done = call("import-chats", "openai", str(path), "--dry-run")
    assert done.code == 1
    assert done.err == (
        f"memoria: {path}: element 2: a message must be a JSON object, got an int; "
        "--skip-invalid leaves such parts out\n"
    )
    done = call("import-chats", "openai", str(path), "--dry-run", "--skip-invalid")
    assert done.code == 0
    assert done.err.startswith(f"{path}: element 2: ")
    assert done.out == "1 conversation, 1 message, 1 part, 1 skipped; nothing was written\n"


def test_a_file_of_another_program_points_to_auto(call: Call) -> None:
    done = call("import-chats", "chatgpt", str(DATA / "messages.jsonl"), "--dry-run")
    assert done.code == 1
    assert done.err == (
        f"memoria: {DATA / 'messages.jsonl'}: conversation 1: mapping is missing: "
        "this is not a ChatGPT export; import-chats auto finds out which program it is from\n"
    )


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        (
            "messages",
            "messages.jsonl",
            "4 messages, 4 parts, 11 memories with",
        ),
        (
            "memory-server",
            "memory.jsonl",
            "and entities, 3 parts, 5 memories with",
        ),
    ],
)
def test_memories_are_told_from_their_connectors(
    call: Call, here: list[str], name: str, file: str, said: str
) -> None:
    done = call("import-chats", name, str(DATA / file), "--embedder", "none", *here)
    assert done.code == 0, done.err
    assert f"{said} connectors (" in done.out


def test_formats_without_branches_refuse_the_option(call: Call) -> None:
    done = call("import-chats", "slack", str(DATA / "slack"), "--dry-run", "--all-branches")
    assert done.code == 2
    assert "slack has no branches" in done.err
