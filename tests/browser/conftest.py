"""A real browser for the tests of the page; they belong to ``scripts/test-browser``."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import neo4j
import pytest

from memoria import GraphRetriever, OnnxEmbedder, apply_schema
from memoria.evaluation.sample import sample_path
from memoria.ingest import ingest_files
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from tests.browser.visiting import QUESTION
from tests.oracle.agreement import remove

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="write the pictures that are compared")


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium without a window."""
    if not find_spec("playwright") or CHROMIUM is None:
        pytest.skip("no browser: scripts/test-browser installs Playwright; Chromium must be there")
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        found = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        await found.close()


@pytest.fixture(scope="session")
async def driver(target: Target) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on a server with vectors of the default embedder.

    Any other embedder first embeds examples of facts, which takes minutes.
    """
    async with open_driver(target, StoreConfig()) as opened:
        await apply_schema(Store(opened, database="neo4j"), embedder=OnnxEmbedder())
        yield opened


@pytest.fixture(scope="session")
async def bakery(driver: neo4j.AsyncDriver) -> AsyncIterator[GraphRetriever]:
    """The sample memory, searched by words and by meaning."""
    retriever = GraphRetriever(driver, scope="bakery", embedder=OnnxEmbedder())
    await ingest_files(retriever.writer(), [sample_path()])
    await retriever.recall(QUESTION.text)  # plans the queries
    yield retriever
    await remove(driver, retriever.scope)
