"""The memories of an MCP server: what is opened behind its back."""

from __future__ import annotations

import asyncio
import logging

import pytest

from memoria import GraphRetriever
from memoria.agents.mcp.by_scope import Memories


async def test_a_model_that_fails_to_load_does_not_end_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("memoria.agents.mcp.by_scope._WARM_UP_AFTER_S", 0)
    asked = asyncio.Event()

    async def opening() -> GraphRetriever:
        asked.set()
        raise RuntimeError("foreign code may raise anything")

    with caplog.at_level(logging.WARNING):
        async with Memories(opening):
            await asked.wait()
            await asyncio.sleep(0)
    assert "RuntimeError: foreign code may raise anything" in caplog.text
