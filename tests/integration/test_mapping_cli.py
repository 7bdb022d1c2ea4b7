"""A mapped graph on the command line, and for an agent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from memoria.agents.agent_memory import AgentMemory
from memoria.errors import MappingError
from memoria.graph.mapping import GraphMapping
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.model import parse_mapping
from memoria.graph.mapping.reading import MappedGraph
from memoria.local import EphemeralNeo4j
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from tests.integration.alone import run_statement, wipe
from tests.integration.test_cli_commands import Done, in_process

FILMS = """
CREATE (a:Person {name: 'Christopher Nolan'}), (b:Person {name: 'Elliot Page'}),
       (c:Film {title: 'Inception', plot: 'Thieves enter dreams to plant an idea.'}),
       (d:Film {title: 'Tenet', plot: 'An agent moves backwards through time.'}),
       (a)-[:DIRECTED]->(c), (a)-[:DIRECTED]->(d), (b)-[:ACTED_IN]->(c)
"""
KEYS = ("CREATE INDEX FOR (p:Person) ON (p.name)", "CREATE INDEX FOR (f:Film) ON (f.title)")
Call = Callable[..., Done]


@pytest.fixture
async def films(second_server: EphemeralNeo4j) -> AsyncIterator[Store]:
    target = Target(uri=second_server.uri, auth=second_server.auth, database="neo4j")
    async with open_driver(target, StoreConfig()) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        for statement in (FILMS, *KEYS, "CALL db.awaitIndexes()"):
            await run_statement(store, statement)
        yield store


@pytest.fixture
def call(films: Store, second_server: EphemeralNeo4j) -> Call:
    assert films is not None
    user, password = second_server.auth
    place = {"NEO4J_URI": second_server.uri, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    return partial(in_process, NO_COLOR="1", **place)


def test_two_commands_find_something_in_a_graph_that_is_there(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "graph.toml"
    found = call("adopt", "--detect")
    assert found.code == 0, found.err
    assert "(:Film): 2" in found.out
    assert "indexes are missing" in found.err
    file.write_text(found.out)
    checked = call("adopt", str(file))
    assert (checked.code, checked.out.count("note:")) == (4, 2)
    refused = call("recall", "thieves in dreams", "--mapping", str(file))
    assert refused.code == 1
    assert "CREATE FULLTEXT INDEX" in refused.err
    made = call("adopt", str(file), "--create-indexes")
    assert (made.code, made.err.count("CREATE FULLTEXT")) == (0, 2), made.err
    answer = call("recall", "thieves in dreams", "--mapping", str(file), "--json")
    assert answer.code == 0, answer.err
    items = [item["id"] for item in json.loads(answer.out)["context"]["items"]]
    assert items[0] == "Inception"
    assert {"Tenet", "Christopher Nolan"} <= {*items}
    explored = call("explore", "Inception", "--mapping", str(file))
    assert "Inception 1.0000" in explored.out
    assert '"memories": 4' in call("stats", "--mapping", str(file), "--json").out
    assert call("doctor", "--mapping", str(file)).out.strip() == "the mapping 'graph' fits"


def test_a_mapping_that_can_not_be_used_ends_with_a_sentence(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "graph.toml"
    assert "no known graph of this name" in call("recall", "x", "--mapping", "nothing.toml").err
    file.write_text("[[nodes]]\nlabel = 5\n")
    wrong = call("recall", "x", "--mapping", str(file))
    assert (wrong.code, "line 1: key is missing" in wrong.err) == (1, True)
    other = call("recall", "x", "--mapping", "langchain")
    assert (other.code, "no node of this database is a memory" in other.err) == (1, True)
    scoped = call("stats", "--mapping", "langchain", "--scope", "alice")
    assert (scoped.code, "would separate nothing" in scoped.err) == (1, True)
    assert call("adopt").code == 2
    assert call("adopt", "langchain").out.startswith("# LangChain")


async def test_an_agent_recalls_from_a_mapped_graph_and_writes_nothing(films: Store) -> None:
    text = (
        "[[nodes]]\nlabel = 'Film'\nkey = 'title'\ntext = ['title', 'plot']\nfulltext_index = 'f'\n"
        "[[nodes]]\nlabel = 'Person'\nkey = 'name'\ntext = 'name'\n"
        "[[edges]]\ntype = 'DIRECTED'\n"
    )

    mapping: GraphMapping = parse_mapping(text, "graph.toml")
    assert await create_indexes(films, mapping, lambda _: None) == 1
    memory = AgentMemory(GraphRetriever(films.translated(partial(MappedGraph, mapping))))
    found = await memory.recall("thieves in dreams")
    assert "Thieves enter dreams" in found.text
    assert "4 memories" in (await memory.status()).text
    with pytest.raises(MappingError, match="a mapping writes nothing"):
        await memory.remember("Inception is from 2010.")
