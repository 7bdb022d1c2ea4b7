"""A mapped graph on the command line, and for an agent."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memoria.agents.agent_memory import AgentMemory
from memoria.embed import CallableEmbedder
from memoria.errors import MappingError
from memoria.graph.mapping import GraphMapping
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.expressions import literal, quoted
from memoria.graph.mapping.model import parse_mapping
from memoria.graph.mapping.reading import MappedGraph
from memoria.local import EphemeralNeo4j
from memoria.retriever import GraphRetriever
from memoria.store import Store
from tests.integration.alone import run_statement
from tests.integration.cli.test_commands import Done, in_process
from tests.integration.statements import sent_statements

FILMS = """
CREATE (a:Person {name: 'Christopher Nolan'}), (b:Person {name: 'Elliot Page'}),
       (c:Film {title: 'Inception', plot: 'Thieves enter dreams to plant an idea.'}),
       (d:Film {title: 'Tenet', plot: 'An agent moves backwards through time.'}),
       (a)-[:DIRECTED]->(c), (a)-[:DIRECTED]->(d), (b)-[:ACTED_IN]->(c)
"""
KEYS = ("CREATE INDEX FOR (p:Person) ON (p.name)", "CREATE INDEX FOR (f:Film) ON (f.title)")
Call = Callable[..., Done]
PATIENT = ("--deadline", "60", "--json")


def _letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.lower().count(letter) for letter in "aeio"] for text in texts]


LETTERS = CallableEmbedder(_letters, dimensions=4, name="letters")
OTHERS = CallableEmbedder(_letters, dimensions=4, name="other letters")
PAIRS = CallableEmbedder(lambda texts: [[1.0, 1.0] for _ in texts], dimensions=2, name="pairs")


@pytest.fixture
async def films(empty: Store) -> Store:
    for statement in (FILMS, *KEYS, "CALL db.awaitIndexes()"):
        await run_statement(empty, statement)
    return empty


@pytest.fixture
def call(films: Store, second_server: EphemeralNeo4j) -> Call:
    assert films is not None
    user, password = second_server.auth
    place = {"NEO4J_URI": second_server.uri, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": password}
    return partial(in_process, NO_COLOR="1", **place)


def test_two_commands_find_something_in_a_graph_that_is_there_and_it_is_evaluated(
    call: Call, tmp_path: Path
) -> None:
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
    with sent_statements() as warmed:
        made = call("adopt", str(file), "--create-indexes")
    assert (made.code, made.err.count("CREATE FULLTEXT")) == (0, 2), made.err
    with sent_statements() as asked:
        answer = call("recall", "thieves in dreams", "--mapping", str(file), *PATIENT)
    assert answer.code == 0, answer.err
    assert "strategies.level" in asked.names
    assert asked.names <= warmed.names
    assert asked.sent <= warmed.sent
    # Planned before the recall, too, which asks in the opposite order.
    assert asked.order.index("ranking.candidates") < asked.order.index("strategies.level")
    items = [item["id"] for item in json.loads(answer.out)["context"]["items"]]
    assert items[0] == "Inception"
    assert {"Tenet", "Christopher Nolan"} <= {*items}
    explored = call("explore", "Inception", "--mapping", str(file))
    assert "Inception 1.0000" in explored.out
    assert '"memories": 4' in call("stats", "--mapping", str(file), "--json").out
    assert call("doctor", "--mapping", str(file)).out.strip() == "the mapping 'graph' fits"

    mapped = ("--mapping", str(file))
    shown = call("get", "Tenet", *mapped, "--json")
    assert [each["id"] for each in json.loads(shown.out)["memories"]] == ["Tenet"]
    assert len(json.loads(call("list", *mapped, "--json").out)["memories"]) == 4
    assert len(json.loads(call("recent", *mapped, "--json").out)["memories"]) == 4
    near = json.loads(call("neighbours", "Tenet", *mapped, "--json").out)
    assert [each["memory"]["id"] for each in near["neighbours"]] == ["Christopher Nolan"]
    absent = call("get", "Memento", *mapped)
    assert (absent.code, "no memory Memento in scope default" in absent.err) == (1, True)
    kept = tmp_path / "kept.json"
    kept.write_text(call("recall", "thieves in dreams", *mapped, *PATIENT, "--full").out)
    assert call("replay", str(kept), *mapped).out.startswith("identical: ")

    question = {"id": "q", "question": "thieves in dreams", "gold": ["Inception"]}
    (tmp_path / "questions.dev.jsonl").write_text(json.dumps(question) + "\n")
    done = call("evaluate", str(tmp_path), "--mapping", str(file), "--k", "1", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["methods"][0]["rows"][-1]["figures"]["recall@1"]["mean"] == 1.0
    assert report["memories"] is None
    bad = call("evaluate", str(tmp_path), "--mapping", str(file), "--use-vectors")
    assert bad.code == 2
    assert '"memories": 4' in call("stats", "--mapping", str(file), "--json").out


def test_a_mapping_that_can_not_be_used_ends_with_a_sentence(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "graph.toml"
    assert "no known graph of this name" in call("recall", "x", "--mapping", "nothing.toml").err
    file.write_text("[[nodes]]\nlabel = 5\n")
    wrong = call("recall", "x", "--mapping", str(file))
    assert (wrong.code, "line 1: key is missing" in wrong.err) == (1, True)
    other = call("recall", "x", "--mapping", "langchain")
    assert (other.code, "no node of this database is a memory" in other.err) == (1, True)
    file.write_text(
        "[[nodes]]\nlabel = 'Film'\nkey = 'title'\ntext = 'title'\n[[nodes]]\nlabel = 'person'\n"
        "key = 'name'\ntext = 'name'\n[[edges]]\ntype = 'DIRECTED'\n"
    )
    meant = call("explore", "Tenet", "--mapping", str(file))
    assert (meant.code, "line 6: no node has the label 'person': did you mean 'P" in meant.err) == (
        1,
        True,
    )
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


#: Names that would end their quotes if Cypher took them as they are: it reads \u0060 as a backtick.
NAMES = (
    *("\\u0060", "a\\u0060) DETACH DELETE n //", "`", "a`\\u0060`b\\", "\\", "\\\\u0060"),
    *("a\nb", "\r\x85\u2028", "\n// use: held(n)", "\x7f\x0b"),
    *("\\u005C", "\\u005Cu0060", "\\uu0060", "\\n", "'", "\\u0027", "\\'"),
)


async def test_a_name_of_another_graph_is_never_a_part_of_the_query(films: Store) -> None:
    for name in NAMES:
        statement = (
            f"CREATE (n:{quoted(name)} {{{quoted(name)}: {literal(name)}}}) "
            f"RETURN labels(n) AS labels, properties(n) AS properties"
        )
        for dialect in ("", "CYPHER 5 "):
            made = await films.driver.execute_query(dialect + statement, database_="neo4j")
            assert made.records[0]["labels"] == [name]
            assert made.records[0]["properties"] == {name: name}


def test_vectors_of_its_own_are_made_for_a_mapped_graph_on_request(
    call: Call, tmp_path: Path
) -> None:
    file, richer = tmp_path / "graph.toml", tmp_path / "with-vectors.toml"
    file.write_text(
        "[[nodes]]\nlabel = ['Film', 'Person']\nkey = 'elementId'\n"
        "text = ['title', 'plot', 'name']\n"
        "[[edges]]\ntype = 'DIRECTED'\n"
    )
    ours = ("--embedder", f"{__name__}:LETTERS")
    with sent_statements() as warmed:
        made = call("embed", "--mapping", str(file), *ours)
    assert made.code == 0, made.err
    assert made.err.count("CREATE VECTOR INDEX") == 2
    assert "4 nodes embedded by letters" in made.err
    richer.write_text(made.out)
    again = call("embed", "--mapping", str(richer), *ours)
    assert "0 nodes embedded" in again.err
    assert again.out == made.out
    with sent_statements() as asked:
        found = call(
            "recall",
            "Inception: Thieves enter",
            "--mapping",
            str(richer),
            *ours,
            "--min-best",
            "0",
            *PATIENT,
        )
    assert found.code == 0, found.err
    assert "ranking.candidates" in asked.names
    assert asked.sent <= warmed.sent
    # Without a full-text index, only vectors can have found it.
    assert "Thieves enter dreams" in json.loads(found.out)["context"]["text"]
    other = call("embed", "--mapping", str(richer), "--embedder", f"{__name__}:PAIRS")
    assert (other.code, "have 2, and one question has one vector" in other.err) == (1, True)
    renamed = call("embed", "--mapping", str(richer), "--embedder", f"{__name__}:OTHERS")
    assert "4 nodes embedded by other letters" in renamed.err  # of the same size, but not alike


def test_a_graph_without_scopes_is_copied_and_the_copy_removed(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "films.toml"
    file.write_text(call("adopt", "--detect").out.replace('name = "graph"', 'name = "films"'))
    copy = ("adopt", str(file), "--overlay", "--embedder", "none", "--json")
    first, again = call(*copy), call(*copy)
    assert first.code == 0, first.err
    counts = json.loads(first.out)
    scope = counts["scope"]
    assert (counts["memories_created"], counts["relations_created"], counts["ended"]) == (4, 3, 0)
    assert json.loads(again.out)["memories_created"] == 0
    assert '"memories": 4' in call("stats", "--scope", scope, "--json").out
    refused = call("adopt", str(file), "--overlay", "--scope", "demo")
    assert "leave the scope out" in refused.err
    assert call("forget-scope", scope, "--yes").code == 0


def test_a_scope_that_the_graph_lacks_is_named_instead_of_copied_in_silence(
    call: Call, tmp_path: Path
) -> None:
    file = tmp_path / "people.toml"
    file.write_text(
        "[[nodes]]\nlabel = 'Person'\nkey = 'name'\ntext = 'name'\nscope = 'name'\n"
        "[[edges]]\ntype = 'DIRECTED'\n"
    )
    done = call("adopt", str(file), "--overlay", "--embedder", "none", "--scope", "nobody")
    assert "scope 'nobody' has no memories" in done.err
