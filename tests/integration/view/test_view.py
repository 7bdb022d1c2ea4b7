"""The page of `memoria view`: its routes, by a real client, on a real database."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from memoria import GraphRetriever, Memory, Message, Relation, UnavailableError
from memoria.errors import InvalidInputError
from memoria.recall.replay import plain_replay, replay
from memoria.serialize import plain_recall
from memoria.store import Target
from memoria.types import MemoryFilter
from memoria.view.guard import TOKEN_HEADER
from memoria.view.source import saved
from tests.for_each import for_each
from tests.serving import Served, serving

ASKED: dict[str, Any] = {
    "query": "Why is the oven cold?",
    "tags": [],
    "scope": "",
    "strategy": "transfer",
    "settings": {},
    "budget_tokens": None,
    "deadline_s": None,
}


@pytest.fixture
async def filled(retriever: GraphRetriever) -> GraphRetriever:
    """oven -caused_by-> fuse -noted_in-> log, and a bun that nothing leads to."""
    memories = [
        Memory(id="oven", kind="Event", text="The oven was cold on Monday."),
        Memory(id="fuse", kind="Event", text="A fuse blew at night."),
        Memory(id="log", kind="DataSource", text="Electrician's log, page 7."),
        Memory(id="bun", kind="Event", text="Cardamom sells well."),
    ]
    relations = [
        Relation(source="oven", target="fuse", relation="caused_by", weight=0.8),
        Relation(source="fuse", target="log", relation="noted_in", weight=0.5),
    ]
    await retriever.writer().write(memories, relations)
    # A server that has just started plans its first queries slowly.
    await retriever.recall(ASKED["query"])
    return retriever


@pytest.fixture
async def page(filled: GraphRetriever) -> AsyncIterator[Served]:
    async with serving(filled) as served:
        yield served


@pytest.fixture
async def client(page: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(page) as made:
        yield made


def client_of(page: Served, headers: dict[str, str] | None = None) -> httpx2.AsyncClient:
    given = page.headers if headers is None else headers
    return httpx2.AsyncClient(base_url=page.url, headers=given, timeout=30)


async def asked(
    client: httpx2.AsyncClient, scope: str, **changed: Any
) -> list[tuple[str, dict[str, Any]]]:
    """The events of a recall, in their order."""
    answer = await client.post("/api/recall", json=ASKED | {"scope": scope} | changed)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/event-stream"
    blocks = [block.split("\n") for block in answer.text.split("\n\n") if block]
    return [
        (first.removeprefix("event: "), json.loads(second.removeprefix("data: ")))
        for first, second in blocks
    ]


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("", 403), ("another", 403)])
async def test_a_request_without_the_token_is_refused(
    page: Served, token: str | None, status: int
) -> None:
    headers = {} if token is None else {TOKEN_HEADER: token}
    async with client_of(page, headers) as client:
        for path in ("/api/about", "/api/scopes", "/api/overview", "/api/memory", "/api/saved/0"):
            assert (await client.get(path)).status_code == status
        for path in ("/api/recall", "/api/replay/x", "/api/change"):
            assert (await client.post(path, json={})).status_code == status
        assert (await client.get("/")).status_code == 200  # the page itself tells nothing


@for_each("path", ["/", "/main.js", "/api/about"])
@for_each("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", ""])
async def test_a_request_to_another_name_is_refused_even_with_the_token(
    client: httpx2.AsyncClient, path: str, host: str
) -> None:
    assert (await client.get(path, headers={"host": host})).status_code == 403


@pytest.mark.parametrize("path", ["/", "/main.js", "/style.css", "/api/about", "/nothing"])
async def test_every_answer_says_that_nothing_comes_from_elsewhere(
    client: httpx2.AsyncClient, path: str
) -> None:
    headers = (await client.get(path)).headers
    assert headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:;"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


async def test_the_page_is_made_of_its_own_files_only(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/")).text
    for name in re.findall(r'(?:href|src)="(/[^"]+)"', page):
        assert (await client.get(name)).status_code == 200, name
    script = await client.get("/main.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    for name in re.findall(r'from "\./([^"]+)"', script.text):
        assert (await client.get(f"/{name}")).status_code == 200, name
    for path in ("/../app.py", "/%2e%2e/app.py", "/index.html/../../app.py"):
        assert (await client.get(path)).status_code == 404


async def test_seeds_come_first_then_paths_then_the_whole_recall(
    client: httpx2.AsyncClient, filled: GraphRetriever
) -> None:
    events = await asked(client, filled.scope)
    names = [name for name, _ in events]
    assert names == ["seeds", *["path"] * (len(names) - 2), "recall"]
    assert events[0][1]["seeds"][0]["id"] == "oven"
    path = events[1][1]
    assert path["path"]["ids"] == ["oven", "fuse", "log"]
    assert set(path["memories"]) == {"oven", "fuse", "log"}
    found = events[-1][1]
    expected = await filled.recall(ASKED["query"])
    same = ("seeds", "hits", "memories", "ranked", "context")
    again = plain_recall(expected)
    for seed in (*found["seeds"], *again["seeds"]):
        seed["text_score"] = 1.0  # BM25 counts the texts of all scopes, and other tests write some
    assert {name: found[name] for name in same} == {name: again[name] for name in same}
    assert saved("again", found).trace.id == found["trace"]["id"]


async def test_settings_strategy_budget_and_deadline_reach_the_recall(
    client: httpx2.AsyncClient, filled: GraphRetriever
) -> None:
    events = await asked(client, filled.scope, settings={"strategy.max_depth": 1})
    assert max(len(data["path"]["ids"]) for name, data in events if name == "path") == 2
    (*_, (_, found)) = await asked(
        client, filled.scope, strategy="lif", budget_tokens=20, deadline_s=30
    )
    assert found["trace"]["config"]["strategy"]["name"] == "lif"
    assert found["trace"]["config"]["budget_tokens"] == 20
    assert found["trace"]["config"]["deadline_s"] == 30


async def test_a_scope_that_is_empty_has_no_seeds_and_no_error(
    client: httpx2.AsyncClient,
) -> None:
    events = await asked(client, f"empty-{uuid4().hex}")
    assert [name for name, _ in events] == ["seeds", "recall"]
    assert events[1][1]["ranked"] == []


async def test_a_recall_ends_when_nobody_waits_for_it_any_more(filled: GraphRetriever) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def load(_: GraphRetriever) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serving(filled, load=load) as page, client_of(page) as client:
        waiting = asyncio.create_task(asked(client, filled.scope))
        await started.wait()
        waiting.cancel()
        async with asyncio.timeout(60):
            await ended.wait()


@for_each(
    "changed, words",
    [
        ({"query": "  "}, "query is blank"),
        ({"scope": ""}, "scope"),
        ({"tags": "x"}, "tags must be a list"),
        ({"strategy": "magic"}, "magic"),
        ({"settings": {"strategy.max_depth": -1}}, "max_depth"),
        ({"settings": {"strategy.max_depth": "many"}}, "max_depth"),
        ({"settings": {"colour": 1}}, "no setting colour"),
        ({"budget_tokens": 0}, "budget_tokens"),
        ({"deadline_s": 0}, "deadline_s"),
    ],
)
async def test_what_can_not_be_asked_is_an_error_that_says_why(
    client: httpx2.AsyncClient, filled: GraphRetriever, changed: dict[str, Any], words: str
) -> None:
    answer = await client.post("/api/recall", json=ASKED | {"scope": filled.scope} | changed)
    if answer.status_code == 200:  # found by the recall itself
        assert answer.text.startswith("event: error"), answer.text
    else:
        assert answer.status_code == 400
    assert words in answer.text


async def test_a_request_that_is_not_json_is_an_error(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/recall", content=b"{")
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "InvalidInputError")


async def test_a_replay_is_that_of_the_library(
    client: httpx2.AsyncClient, filled: GraphRetriever
) -> None:
    (*_, (_, found)) = await asked(client, filled.scope)
    for changes in ({}, {"strategy.max_depth": 1}, {"strategy.min_activation": 0.5}):
        answer = await client.post(f"/api/replay/{found['trace']['id']}", json={"changes": changes})
        trace = saved("x", found).trace
        expected = plain_replay(await replay(filled.store, trace, changes))
        assert answer.status_code == 200
        for one in (got := answer.json(), expected):
            for each in one["explorations"]:
                del each["stats"]  # times
        assert got == expected
        assert got["identical"] is (not changes)
    unknown = await client.post("/api/replay/nobody", json={"changes": {}})
    assert unknown.status_code == 400


async def test_a_memory_comes_with_what_it_is_joined_to(
    client: httpx2.AsyncClient, filled: GraphRetriever
) -> None:
    answer = await client.get("/api/memory", params={"scope": filled.scope, "id": "fuse"})
    found = answer.json()
    assert found["memory"]["text"] == "A fuse blew at night."
    assert [each["memory"]["id"] for each in found["neighbours"]] == ["oven", "log"]
    assert found["superseded_by"] is None
    await filled.writer().remember("The fuse blew at noon.", id="noon", supersedes=["fuse"])
    answer = await client.get("/api/memory", params={"scope": filled.scope, "id": "fuse"})
    assert answer.json()["superseded_by"] == "noon"
    other = await client.get("/api/memory", params={"scope": "another", "id": "fuse"})
    assert other.json()["memory"] is None


async def test_the_scopes_are_listed(client: httpx2.AsyncClient, filled: GraphRetriever) -> None:
    found = (await client.get("/api/scopes")).json()["scopes"]
    assert {"scope": filled.scope, "memories": 4, "edges": 2} in found


async def test_a_saved_recall_needs_no_database(filled: GraphRetriever) -> None:
    document = json.loads(json.dumps(plain_recall(await filled.recall(ASKED["query"]))))
    gone = UnavailableError("no database")
    async with (
        serving(gone, saved("oven.json", document)) as page,
        client_of(page) as client,
    ):
        about = (await client.get("/api/about")).json()
        assert about["saved"] == [
            {"name": "oven.json", "query": ASKED["query"], "scope": filled.scope}
        ]
        assert (await client.get("/api/saved/0")).json() == document
        assert (await client.get("/api/saved/1")).status_code == 400
        for path in ("/api/scopes", f"/api/memory?scope={filled.scope}&id=oven"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["error"]["message"]) == (503, "no database")
        assert (await asked(client, filled.scope))[0] == (
            "error",
            {"type": "UnavailableError", "message": "no database"},
        )


async def test_a_saved_recall_is_replayed_on_the_database(filled: GraphRetriever) -> None:
    file = saved("oven.json", plain_recall(await filled.recall(ASKED["query"])))
    async with serving(filled, file) as page, client_of(page) as client:
        answer = await client.post(f"/api/replay/{file.trace.id}", json={"changes": {}})
        assert answer.json()["identical"] is True


@pytest.mark.parametrize("part", ["ranked", "context", "trace", "explorations"])
async def test_a_file_that_lacks_a_part_is_refused(filled: GraphRetriever, part: str) -> None:
    document = plain_recall(await filled.recall(ASKED["query"]))
    del document[part]
    with pytest.raises(InvalidInputError, match=part):
        saved("oven.json", document)


@pytest.mark.parametrize("wrong", ["1e400", "-1e400", "NaN", '"\\ud800"', '{"\\udfff": 1}'])
async def test_a_file_that_no_answer_can_hold_is_refused(
    filled: GraphRetriever, wrong: str
) -> None:
    """Anywhere, even in an unknown field, because the whole file is sent to the page."""
    plain = json.loads(json.dumps(plain_recall(await filled.recall(ASKED["query"]))))
    for part in (plain, plain["context"], plain["trace"], plain["ranked"][0]):
        part["unknown"] = [0, {"deep": json.loads(wrong)}]
        with pytest.raises(InvalidInputError, match="unknown"):
            saved("oven.json", plain)
        del part["unknown"]
    assert saved("oven.json", plain).document == plain


@contextmanager
def viewing(
    target: Target, folder: Path, *options: str, browser: str = ""
) -> Iterator[tuple[str, str]]:
    """Run `memoria view`; yield the address that it prints, and the token in it."""
    assert isinstance(target.auth, tuple)
    user, password = target.auth
    environment = {
        "NEO4J_URI": target.uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
        "MEMORIA_HOME": str(folder),
        "BROWSER": browser,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "memoria", "view", "--embedder=none", "--scope=nobody", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
        # A shell lets what runs behind it ignore Ctrl-C, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"(http://127\.0\.0\.1:\d+)/#token=(\S+)", line)
        assert match, line
        yield match[1], match[2]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_the_command_prints_an_address_that_works(target: Target, tmp_path: Path) -> None:
    with viewing(target, tmp_path, "--no-browser") as (url, token):
        headers = {TOKEN_HEADER: token}
        assert httpx2.get(f"{url}/api/scopes", headers=headers, timeout=30).status_code == 200
        assert httpx2.get(f"{url}/api/scopes", timeout=30).status_code == 401


def test_what_the_list_of_processes_shows_opens_the_page_once(
    target: Target, tmp_path: Path
) -> None:
    browser, given = tmp_path / "browser", tmp_path / "given"
    browser.write_text(f'#!/bin/sh\necho "$@" >{given}.new && mv {given}.new {given}\n')
    browser.chmod(0o700)
    with viewing(target, tmp_path, browser=f"{browser} %s") as (url, token):
        until = time.monotonic() + 60
        while not given.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        address = given.read_text().strip()
        assert address.startswith(f"{url}/#ticket=")
        assert token not in address
        headers = {TOKEN_HEADER: address.partition("#ticket=")[2]}
        assert httpx2.get(f"{url}/api/scopes", headers=headers, timeout=30).status_code == 403
        first, second = (
            httpx2.post(f"{url}/api/enter", headers=headers, json={}, timeout=30) for _ in range(2)
        )
        assert (first.json(), second.status_code) == ({"token": token}, 403)
        assert "--no-browser" in second.json()["error"]["message"]
        opened = httpx2.get(f"{url}/api/about", headers={TOKEN_HEADER: token}, timeout=30)
        assert opened.status_code == 403, "one of both is an intruder"


async def test_an_overview_has_counts_the_newest_memories_and_questions(
    client: httpx2.AsyncClient, filled: GraphRetriever
) -> None:
    answer = await client.get("/api/overview", params={"scope": filled.scope})
    found = answer.json()
    newest = await filled.recent(limit=8)
    assert found["memories"] == sum(found["kinds"].values())
    assert [memory["id"] for memory in found["recent"]] == [memory.id for memory in newest]
    assert 1 <= len(found["questions"]) <= 4
    nobody = await client.get("/api/overview", params={"scope": f"{filled.scope}-typo"})
    assert nobody.json()["memories"] == 0
    assert (await client.get("/api/overview")).status_code == 400


async def test_of_the_parts_of_a_note_an_overview_names_the_newest(
    retriever: GraphRetriever,
) -> None:
    day = datetime(2026, 5, 1, tzinfo=UTC)
    texts = ["Ovens\nOne.", "Ovens\nTwo.", "Ovens › Heat\nThree.", "Mixers\nOf dough."]
    for n, text in enumerate(texts):
        memory = Memory(
            id=f"p{n}", kind="DataSource", text=text, created_at=day + timedelta(days=n)
        )
        await retriever.writer().write([memory])
    async with serving(retriever) as page, client_of(page) as client:
        found = (await client.get("/api/overview", params={"scope": retriever.scope})).json()
    assert [memory["id"] for memory in found["recent"]] == ["p3", "p2", "p1"]
    assert found["questions"] == ["Mixers", "Ovens"]


async def test_statements_are_not_offered_as_questions(retriever: GraphRetriever) -> None:
    said = ["The bus was late.", "Who has the key?", "Fine.", *(f"Tree {n}." for n in range(50))]
    chat = [Message(text=text, role="user") for text in said]
    await retriever.conversations().append("today", chat)
    await retriever.writer().remember("The van is red.")
    async with serving(retriever) as page, client_of(page) as client:
        found = (await client.get("/api/overview", params={"scope": retriever.scope})).json()
    assert found["questions"] == ["Who has the key?"]


async def test_a_memory_comes_with_its_versions_and_its_conversation(
    retriever: GraphRetriever,
) -> None:
    writer, began = retriever.writer(), datetime(2026, 5, 1, tzinfo=UTC)
    await writer.remember("The van is red.", id="red", created_at=began)
    await writer.remember("The van is blue.", id="blue", supersedes=["red"])
    await writer.remember("The van is green.", id="green", supersedes=["blue"])
    said = [Message(text=text, created_at=began) for text in ("Where is it?", "In the yard.")]
    await retriever.conversations().append("today", said)
    where = MemoryFilter(metadata={"conversation": "today"})
    [_, last] = (await retriever.list(where=where)).memories
    async with serving(retriever) as served, client_of(served) as client:
        given = {"scope": retriever.scope, "id": "blue"}
        blue = (await client.get("/api/memory", params=given)).json()
        message = {"scope": retriever.scope, "id": last.id}
        second = (await client.get("/api/memory", params=message)).json()
    assert blue["superseded_by"] == "green"
    assert [memory["id"] for memory in blue["versions"]] == ["red", "blue", "green"]
    assert blue["thread"] == []
    assert [memory["text"] for memory in second["thread"]] == ["Where is it?", "In the yard."]


async def test_the_page_changes_memories_only_where_that_is_allowed(
    retriever: GraphRetriever,
) -> None:
    await retriever.writer().remember("The van is red.", id="red", kind="UserPreference")
    given = {"scope": retriever.scope, "id": "red"}
    async with serving(retriever) as served, client_of(served) as client:
        refused = await client.post("/api/change", json={**given, "action": "forget"})
    assert refused.status_code == 400
    assert "--write" in refused.json()["error"]["message"]
    assert (await retriever.get(["red"])).missing == ()
    async with serving(retriever, writes=True) as served, client_of(served) as client:
        found = dict(await asked(client, retriever.scope, query="van"))["recall"]
        marked = {**given, "action": "wrong", "recall_id": found["trace"]["id"]}
        assert (await client.post("/api/change", json=marked)).status_code == 200
        replaced = {**given, "action": "replace", "text": "The van is blue."}
        new = (await client.post("/api/change", json=replaced)).json()["id"]
        for wrong in (
            {**given, "action": "burn"},
            {**given, "action": "right", "recall_id": "nobody"},
            {**given, "action": "replace", "text": " "},
            {**given, "id": "nobody", "action": "replace", "text": "x"},
        ):
            assert (await client.post("/api/change", json=wrong)).status_code == 400
        [memory] = (await retriever.get([new])).memories
        assert (memory.kind, memory.text) == ("UserPreference", "The van is blue.")
        forgotten = {"scope": retriever.scope, "id": new, "action": "forget"}
        assert (await client.post("/api/change", json=forgotten)).json()["said"] == "Forgotten."
    assert (await retriever.get([new])).missing == (new,)
