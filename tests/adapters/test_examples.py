"""The example of each framework runs, prints what its page shows, and is what its page shows."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import neo4j
import pytest

import memoria
from memoria.store import Target
from tests.adapters.conftest import ROOT
from tests.docs.blocks import output_matches, read_blocks

# Example and page, and the scopes that the example writes to.
EXAMPLES = {
    "langchain": ("langchain-example",),
    "llama_index": ("llama-index-example",),
    "neo4j_graphrag": ("neo4j-graphrag-example",),
    "google_adk": ("bakery/ann",),
    "pydantic_ai": ("pydantic-ai-example",),
    "langgraph": ("langgraph-example/users/ann", "langgraph-example/users/bob"),
}
# What needs no adapter stands on the page of plain functions.
PAGES = {"pydantic_ai": "tools.md"}


def test_every_example_is_tested() -> None:
    names = {path.stem.removesuffix("_agent") for path in (ROOT / "examples").glob("*_agent.py")}
    assert names == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
async def test_an_example_prints_what_its_page_shows(
    name: str, driver: neo4j.AsyncDriver, target: Target
) -> None:
    for scope in EXAMPLES[name]:  # a database that tests were run on before has its memories
        await memoria.GraphWriter(driver, scope=scope).forget_scope(confirm=scope)
    file = ROOT / "examples" / f"{name}_agent.py"
    page = ROOT / "docs" / "integrations" / PAGES.get(name, f"{name.replace('_', '-')}.md")
    blocks = read_blocks(page)
    [place] = [n for n, block in enumerate(blocks) if block.code.startswith('"""')]
    shown, output = blocks[place : place + 2]
    assert shown.code == file.read_text("utf-8"), f"{page.name} does not show {file.name}"
    assert target.auth is not None
    user, password = target.auth
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(file)],
        env={
            **os.environ,
            "NEO4J_URI": target.uri,
            "NEO4J_USERNAME": user,
            "NEO4J_PASSWORD": password,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert output_matches(output.code, done.stdout), done.stdout
