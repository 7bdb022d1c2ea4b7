"""Filters of recalls in a mapped graph: they choose what is returned, not where a recall starts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memoria.agents.agent_reader import AgentReader
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping
from memoria.recall.config import RetrieverConfig
from memoria.recall.replay import replay
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import MemoryFilter
from tests.integration.graph.test_mapping import run
from tests.integration.statements import sent_statements

# The films of Ada Quinn share no word with a question about her; those of Ada Quist are old.
ROWS = """
UNWIND [['Ada Quinn', 'demo', null], ['Ada Quinn of others', 'other', null],
        ['Ada Quist', 'demo', datetime('2020-01-01T00:00:00Z')]] AS row
CREATE (:Person {name: row[0], of: row[1], until: row[2]})
WITH count(*) AS made
UNWIND [['Heat', 2001, 'Ada Quinn', 'demo'], ['Dune', 2002, 'Ada Quinn', 'demo'],
        ['Alien', 2003, 'Ada Quinn of others', 'other'], ['Jaws', 2004, 'Ada Quist', 'demo']] AS row
MATCH (p:Person {name: row[2]})
CREATE (p)-[:ACTED_IN]->(f:Film {name: row[0], year: row[1], of: row[3]})
SET f.made = datetime({year: row[1]})
WITH count(*) AS made
UNWIND range(1, 30) AS i
CREATE (:Person {name: 'Ada Quinn the ' + i, of: 'demo'})
"""  # fmt: skip
INDEXES = [
    statement
    for label in ("Person", "Film")
    for statement in (
        f"CREATE INDEX {label}_name FOR (n:{label}) ON (n.name)",
        f"CREATE FULLTEXT INDEX {label}_text FOR (n:{label}) ON EACH [n.name]",
    )
]
ASKED = "Which films did Ada Quinn act in?"


def graph_of(scope: str | None) -> GraphMapping:
    person = NodeMapping(
        label="Person",
        key="name",
        text=("name",),
        scope=scope,
        valid_until="until",
        fulltext_index="Person_text",
    )
    film = replace(
        person, label="Film", created_at="made", valid_until=None, fulltext_index="Film_text"
    )
    return GraphMapping(
        nodes=(person, film), edges=(EdgeMapping(type="ACTED_IN"),), properties=("year",)
    )


@pytest.fixture(scope="module")
async def films(emptied: Store) -> Store:
    await run(emptied, *INDEXES, ROWS)
    return emptied


@pytest.fixture
def demo(films: Store) -> GraphRetriever:
    return GraphRetriever(films, scope="demo", mapping=graph_of("of"))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (MemoryFilter(kinds=["Film"]), {"Heat", "Dune"}),
        (MemoryFilter(metadata={"year": 2001}), {"Heat"}),
        (MemoryFilter(kinds=["Film"], exclude_ids=["Dune"]), {"Heat"}),
    ],
)
@pytest.mark.parametrize(
    "config", [RetrieverConfig(), RetrieverConfig(relevance=None)], ids=["relevance", "energy"]
)
async def test_a_recall_starts_from_what_the_question_names_and_returns_what_fits(
    demo: GraphRetriever, where: MemoryFilter, expected: set[str], config: RetrieverConfig
) -> None:
    recall = await demo.recall(ASKED, where=where, config=config)
    assert recall.seeds.seeds[0].id == "Ada Quinn"
    assert {one.id for one in recall.ranked} == expected
    assert {item.id for item in recall.context.items} == expected
    assert recall.hits == ()
    assert "(left out)" in recall.context.text or "Ada Quinn" not in recall.context.text
    assert (await replay(demo.store, recall.trace)).identical


async def test_what_fits_is_in_the_order_of_a_recall_without_the_filter(
    demo: GraphRetriever,
) -> None:
    free = await demo.recall(ASKED)
    narrow = await demo.recall(ASKED, kinds=["Film"])
    assert narrow.trace.query_tags == free.trace.query_tags == ("ACTED_IN",)
    films = [one.id for one in free.ranked if one.memory.kind == "Film"]
    assert [one.id for one in narrow.ranked] == films
    best = await demo.recall("Ada Quinn", kinds=["Film"])
    assert best.ranked[0].score == 1.0, "relative to the best memory that is returned"


async def test_only_a_recall_that_returns_nothing_asks_why(demo: GraphRetriever) -> None:
    with sent_statements() as found:
        assert (await demo.recall(ASKED, kinds=["Film"])).ranked
    with sent_statements() as nothing:
        assert not (await demo.recall(ASKED, kinds=["Flim"])).ranked
    assert nothing.names - found.names >= {"graph.scope_size", "seeds.fits"}


async def test_an_agent_is_told_the_kind_and_not_to_ask_for_more_tokens(
    demo: GraphRetriever,
) -> None:
    answer = await AgentReader(demo).recall(ASKED, where=MemoryFilter(kinds=["Flim"]))
    assert "did you mean 'Film'" in answer.text
    assert "max_tokens" not in answer.text


async def test_what_fits_is_found_though_much_else_matches_better(demo: GraphRetriever) -> None:
    question = "Ada Quinn the Ada Quinn jaws"
    recall = await demo.recall(question, where=MemoryFilter(kinds=["Film"]))
    assert "Jaws" not in {seed.id for seed in recall.seeds.seeds}
    assert "Jaws" in {one.id for one in recall.ranked}


async def test_scopes_ends_times_and_left_out_ids_bind_the_start_too(
    demo: GraphRetriever,
) -> None:
    for question in (ASKED, "Which films did Ada Quist act in?"):
        recall = await demo.recall(question, kinds=["Film"])
        met = {memory.id for path in recall.paths for memory in path.memories}
        assert not met & {"Ada Quinn of others", "Alien", "Ada Quist", "Jaws"}
    for where in (
        MemoryFilter(kinds=["Film"], exclude_ids=["Ada Quinn"]),
        MemoryFilter(kinds=["Film"], created_from=datetime(1999, 1, 1, tzinfo=UTC)),
    ):
        recall = await demo.recall(ASKED, where=where)
        assert "Ada Quinn" not in {seed.id for seed in recall.seeds.seeds}


async def test_a_kind_that_no_node_has_is_named_though_the_recall_could_start(
    demo: GraphRetriever,
) -> None:
    recall = await demo.recall(ASKED, kinds=["Flim"])
    assert (recall.ranked, recall.context.text) == ((), "")
    assert recall.trace.notes[0] == (
        "no memory of the scope has the kind 'Flim'; did you mean 'Film'?"
    )


async def test_the_search_itself_returns_what_fits(demo: GraphRetriever) -> None:
    assert (await demo.find_seeds(ASKED, kinds=["Film"])).seeds == ()
