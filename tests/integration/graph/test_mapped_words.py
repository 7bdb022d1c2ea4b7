"""The search of a mapped graph by words alone finds nothing for "who", "are" and "you"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoria.embed import CallableEmbedder
from memoria.graph.mapping import GraphMapping
from memoria.retriever import GraphRetriever
from memoria.store import Store
from tests.integration.graph.test_mapping import KEYS, WORDS, mapped, node, run

ROWS = """
UNWIND [['The Matrix', 'The Matrix', null], ['War', 'Who said they could not? You did', null],
        ['It', 'It comes home', null], ['Heat', 'Heat is what you get', [1.0, 0.0]]] AS row
CREATE (:Film {title: row[0], plot: row[1], vector: row[2]})
"""
VECTORS = (
    "CREATE VECTOR INDEX vectors FOR (f:Film) ON (f.vector) OPTIONS {indexConfig: "
    "{`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
)


@pytest.fixture(scope="module")
async def films(emptied: Store) -> Store:
    await run(emptied, KEYS, WORDS, VECTORS, ROWS)
    return emptied


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Who directed The Matrix?", {"The Matrix"}),
        ("Hello there, how are you?", set()),
        ("Who directed It?", {"It"}),
        ("Who are you?", {"War", "Heat"}),  # it has no other words to tell by
    ],
)
async def test_by_words_alone_a_text_needs_a_word_that_says_something(
    films: Store, message: str, found: set[str]
) -> None:
    memory = GraphRetriever(films, mapping=mapped(node(fulltext_index="plots")))
    recall = await memory.recall(message)
    assert {one.id for one in recall.ranked} == found
    assert bool(recall.context.text) == bool(found)


async def test_with_vectors_other_words_still_count(films: Store) -> None:
    plots = node(fulltext_index="plots", embedding="vector", vector_index="vectors")
    graph: GraphMapping = replace(mapped(), nodes=(plots,))
    embedder = CallableEmbedder(lambda texts: [[1.0, 0.0] for _ in texts], dimensions=2, name="x")
    seeds = await GraphRetriever(films, mapping=graph, embedder=embedder).find_seeds(
        "Hello there, how are you?"
    )
    assert {one.id for one in (*seeds.seeds, *seeds.runners_up)} == {"Heat", "War"}
