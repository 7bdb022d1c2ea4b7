"""``memoria mcp --compat chatgpt``: what it declares, and the form of its answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from urllib.parse import urljoin

import pytest

from memoria import GraphRetriever, UnavailableError
from memoria.agents.answer import Answer
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.chatgpt import (
    add_search_and_fetch,
    document_of,
    results_of,
    title_of,
    url_of,
)
from memoria.agents.mcp.grants import Grant
from memoria.agents.mcp.mcp_server import build_server
from memoria.agents.mcp.rights import Rights
from memoria.recall.context import estimate_tokens
from memoria.types import (
    ContextItem,
    ContextPack,
    MemoryNode,
    Path,
    Recall,
    Seeds,
    Trace,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MOST_TOKENS = 1_500


async def opening() -> GraphRetriever:
    raise UnavailableError("nothing is asked of the database here")


async def listed(*, compat: bool) -> list[str]:
    """What a client is told of each tool, as JSON."""
    memories, rights = Memories(opening), Rights(grant=Grant(scope="a"), allow_forget=True)
    server = build_server(memories, rights)
    if compat:
        add_search_and_fetch(server, memories, rights)
    tools = await server.list_tools()
    return [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools]


async def test_the_two_tools_stand_behind_the_usual_ones_which_stay_the_same() -> None:
    usual, both = await listed(compat=False), await listed(compat=True)
    assert both[: len(usual)] == usual
    search, fetch = map(json.loads, both[len(usual) :])
    assert (search["name"], fetch["name"]) == ("search", "fetch")
    for tool, argument in ((search, "query"), (fetch, "id")):
        assert list(tool["inputSchema"]["properties"]) == [argument]
        assert tool["inputSchema"]["required"] == [argument]
        assert tool["annotations"]["readOnlyHint"] is True
    assert not {"search", "fetch"} & {json.loads(tool)["name"] for tool in usual}


async def test_with_everything_on_the_list_of_tools_is_small() -> None:
    shown = f'{{"tools":[{",".join(await listed(compat=True))}]}}'
    assert estimate_tokens(shown) <= MOST_TOKENS
    assert len(shown) / 3 <= MOST_TOKENS  # JSON has more tokens than prose of the same length


def recall(*memories: MemoryNode) -> Recall:
    items = [
        ContextItem(
            id=one.id,
            kind=one.kind,
            date=None,
            score=1.0,
            path=Path(
                seed_id=one.id,
                hops=(),
                memories=(one,),
                end_reason="dead_end",
                energy=1.0,
            ),
        )
        for one in memories
    ]
    trace = Trace(query="q", query_tags=(), scope="a", started_at=NOW, timings_s={}, degraded=())
    pack = ContextPack(text="", items=tuple(items), tokens=0, omitted=())
    return Recall(seeds=Seeds(seeds=()), explorations=(), ranked=(), context=pack, trace=trace)


def test_search_gives_id_title_and_url_of_each_memory_in_order() -> None:
    b, a = (MemoryNode(id=id_, kind="Event", text=f"The van {id_}.\nMore.") for id_ in "ba")
    assert results_of(recall(b, a)) == {
        "results": [
            {"id": "b", "title": "The van b.", "url": "memoria://memory/b"},
            {"id": "a", "title": "The van a.", "url": "memoria://memory/a"},
        ]
    }
    assert results_of(recall()) == {"results": []}


def test_fetch_gives_the_text_of_an_answer_and_metadata_that_are_strings() -> None:
    data = {"scope": "own", "superseded": {"a": "b"}, "truncated": ["a"]}
    memory = MemoryNode(
        id="a", kind="Event", text="The van.", tags=("x", "y"), created_at=NOW, valid_until=NOW
    )
    assert document_of("s", memory, Answer(text="fenced", data=data)) == {
        "id": "a",
        "title": "The van.",
        "text": "fenced",
        "url": "memoria://memory/a",
        "metadata": {
            "scope": "s",
            "kind": "Event",
            "date": "2026-01-01T00:00:00+00:00",
            "valid_until": "2026-01-01T00:00:00+00:00",
            "superseded_by": "b",
            "tags": "x, y",
            "truncated": "true",
        },
    }
    plain = Answer(text="fenced", data=data | {"superseded": {}, "truncated": []})
    bare = document_of("s", MemoryNode(id="a", kind="Event", text=""), plain)
    assert (bare["title"], bare["metadata"]) == ("a", {"scope": "s", "kind": "Event"})


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("One line.", "One line."),
        ("\r\n \n\tThe\x00 second\x1b[2J  line.\nThe third.", "The second [2J line."),
        ("safe\u202etxt.exe", "safe txt.exe"),
        ("\u200b\n \x00", "the-id"),
        ("w" * 200, "w" * 79 + "…"),
    ],
)
def test_a_title_is_one_short_line_that_can_be_shown(text: str, title: str) -> None:
    assert title_of("the-id", text) == title


def test_the_address_of_a_memory_keeps_slashes_and_escapes_the_rest() -> None:
    assert url_of("film/van:1") == "memoria://memory/film/van:1"
    assert url_of("å%2F?#") == "memoria://memory/%C3%A5%252F%3F%23"


@pytest.mark.parametrize("id_", ["a/../b", "./a", "a/b/.."])
def test_no_client_makes_the_address_of_another_memory_of_it(id_: str) -> None:
    assert urljoin("http://host/", url_of(id_).removeprefix("memoria:")) == (
        f"http://memory/{id_.replace('/', '%2F')}"
    )
