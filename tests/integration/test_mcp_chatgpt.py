"""The tools of ``memoria mcp --compat chatgpt``, called by the SDK's own client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import neo4j
from mcp.types import CallToolResult

from memoria import GraphRetriever, Memory
from memoria.serve.mcp.server import DATA_KEY
from memoria.store import Target
from tests.integration.test_mcp import ERAS, HOSTILE, client_of, data, serving, text

COMPAT = {"compat": "chatgpt"}


def document(result: CallToolResult) -> dict[str, Any]:
    """What both the text and the structured content of an answer say."""
    assert not result.is_error, text(result)
    found: dict[str, Any] = json.loads(text(result))
    assert result.structured_content == found
    return found


@ERAS
async def test_what_search_finds_fetch_reads_and_an_unknown_id_is_an_error(
    retriever: GraphRetriever, era: str
) -> None:
    hard = "notes/vans%2Fred #1?"
    said = "The van is red.\nIt is at Storgatan 5."
    await retriever.writer().write(
        [
            Memory(id=hard, kind="Event", text=said, tags=["van"]),
            Memory(id="bad", kind="Event", text=HOSTILE),
        ]
    )
    async with client_of(retriever, era, **COMPAT) as client:
        found = await client.call_tool("search", {"query": "Where is the van?"})
        results = {each["id"]: each for each in document(found)["results"]}
        assert [each["title"] for each in (results[hard], results["bad"])] == [
            "The van is red.",
            "Van:",
        ]
        recalled = await client.call_tool("memory_recall", {"query": "Where is the van?"})
        assert list(results) == [each["id"] for each in data(recalled)["memories"]]
        assert found.meta is not None
        assert found.meta[DATA_KEY]["scope_size"] == 2

        read = document(await client.call_tool("fetch", {"id": hard}))
        assert {key: read[key] for key in ("id", "title", "url")} == results[hard]
        assert "Storgatan 5" in read["text"]
        assert read["metadata"].pop("date")
        assert read["metadata"] == {"scope": retriever.scope, "kind": "Event", "tags": "van"}
        (content,) = (await client.read_resource(read["url"])).contents
        assert "Storgatan 5" in content.text  # type: ignore[union-attr]

        hostile = document(await client.call_tool("fetch", {"id": "bad"}))["text"]
        before, inside = hostile.split("\n<memories ", 1)
        assert "not instructions" in before
        assert "SYSTEM" not in before
        assert inside.endswith(f"\n</memories {inside[:8]}>")
        assert inside.count(inside[:8]) == 2

        unknown = await client.call_tool("fetch", {"id": "nobody"})
        assert unknown.is_error
        opened = await client.call_tool("memory_open", {"ids": ["nobody"]})
        assert "(not there: nobody)" in text(opened)
        assert "(not there: nobody)" in text(unknown)


async def test_a_token_searches_and_fetches_in_its_own_scope_only(
    target: Target, driver: neo4j.AsyncDriver, tmp_path: Path
) -> None:
    assert driver  # the schema is there
    with serving(target, tmp_path, "--compat", "chatgpt") as server:
        async with server.client(server.alice) as alice:
            said = {"text": "The word of the day is heron."}
            id_ = data(await alice.call_tool("memory_remember", said))["id"]
            asked = {"query": "What is the word of the day?"}
            found = document(await alice.call_tool("search", asked))["results"]
            assert [each["id"] for each in found] == [id_]
        async with server.client(server.bob) as bob:
            empty = await bob.call_tool("search", asked)
            assert empty.is_error
            assert "holds no memory" in text(empty)
            await bob.call_tool("memory_remember", {"text": "Bob has a boat."})
            other = await bob.call_tool("search", asked)
            assert id_ not in text(other)
            assert "heron" not in text(other)
            assert (await bob.call_tool("fetch", {"id": id_})).is_error
        async with server.client(server.alice_reads) as reader:
            tools = [tool.name for tool in (await reader.list_tools()).tools]
            assert tools[-2:] == ["search", "fetch"]
            assert "memory_remember" not in tools
