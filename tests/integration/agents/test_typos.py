"""Mistyped names are refused, or answered with the nearest one, by every surface alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memoria import GraphRetriever, Memory, Relation
from tests.integration.agents.test_http import api_of
from tests.integration.agents.test_mcp import client_of, text

TYPED: list[tuple[str, dict[str, Any], str]] = [
    ("recall", {"query": "van", "budget": 500}, "did you mean 'max_tokens'? it takes query"),
    ("recall", {"query": "van", "tag": ["cars"]}, "did you mean 'tags'? it takes query"),
    ("recall", {"query": "van", "order": "tiem"}, "'time'"),
    ("recall", {"query": "van", "tags": ["csar"]}, "similar tags: 'cars'"),
    ("remember", {"text": "The van is red.", "kind": "Evnt"}, "'Event'"),
    ("remember", {"text": "The van is red.", "tag": ["cars"]}, "did you mean 'tags'?"),
    ("remember", {"text": "The van is red.", "created_at": "soon"}, "must be a time in ISO 8601"),
    ("open", {"id": ["a"]}, "did you mean 'ids'?"),
    ("open", {"ids": ["aa"]}, "aa"),
    ("feedback", {"recall_id": "x", "use": ["a1"]}, "did you mean 'used'?"),
]


@pytest.fixture
async def filled(retriever: GraphRetriever) -> GraphRetriever:
    """Two memories about a van, with an edge."""
    memories = [Memory(id=id_, kind="Event", text=f"The van {id_}.") for id_ in "ab"]
    await retriever.writer().write(memories, [Relation(source="a", target="b", tags=["cars"])])
    return retriever


async def test_mistyped_arguments_are_named_by_mcp(filled: GraphRetriever) -> None:
    async with client_of(filled) as client:
        for call, given, said in TYPED:
            answer = await client.call_tool(f"memory_{call}", given)
            assert said in text(answer), (call, given)


async def test_mistyped_arguments_are_named_over_http(filled: GraphRetriever) -> None:
    async with api_of(filled) as client:
        for call, given, said in TYPED:
            answer = (await client.post(call, json=given)).json()
            told = json.dumps(answer, ensure_ascii=False)
            assert said in told, (call, given, told)


async def test_a_mistyped_scope_is_no_empty_answer(filled: GraphRetriever) -> None:
    typo = filled.for_scope(f"{filled.scope}x")
    async with client_of(typo) as client, api_of(typo) as http:
        answer = await client.call_tool("memory_recall", {"query": "van"})
        assert "this is the wrong scope" in text(answer)
        refused = await http.post("recall", json={"query": "van"})
        assert refused.status_code == 404
        assert refused.json()["type"] == "urn:memoria:error:EmptyScopeError"
