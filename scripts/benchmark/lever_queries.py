"""Decisions about queries, each with the other way: what `levers` measures.

In: a server, questions. Out: `Lever`s. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import neo4j

from memoria.seeds import lucene_query
from memoria.store.queries import load
from memoria.strategies._levels import TransferExploration, level_parameters, level_rows
from memoria.strategies.config import ExploreConfig
from memoria.types import Seed
from scripts.benchmark.cases import Question
from scripts.benchmark.load import SCOPE
from scripts.benchmark.queries import text_of
from scripts.benchmark.recalls import make_retriever
from scripts.benchmark.serve import DATABASE, Served

Run = Callable[[Any], Awaitable[Any]]
Parameters = Mapping[str, Any]

CANDIDATES = 50
WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """Two ways to the same end.

    Attributes
    ----------
    ours, other
        Answer a case; what they return must be equal, unless it is None.
    kept
        What memoria does, in words; ``against`` the other way.
    warm_up
        Cases at the beginning whose times don't count.
    """

    kept: str
    against: str
    cases: Sequence[Any]
    ours: Run
    other: Run
    warm_up: int = WARM_UP


async def query_levers(served: Served, ask: Asked, questions: Sequence[Question]) -> list[Lever]:
    """Search for seeds, and go level by level, in a graph for whole recalls."""
    return [
        *await _searching(served, ask, questions),
        *await _levels(served, ask, questions),
    ]


class Asked:
    """A session that returns the one record of a query."""

    def __init__(self, session: neo4j.AsyncSession) -> None:
        self._session = session

    async def __call__(self, text: str, parameters: Parameters) -> neo4j.Record:
        """Send a query, whose parameters are its map ``$p``."""
        result = await self._session.run(neo4j.Query(text), p=dict(parameters))
        return (await result.fetch(1))[0]


def seed_parameters(question: Question) -> Parameters:
    """Ask for the seeds of a question, by its vector or its words."""
    return {
        "kinds": [],
        "limit": CANDIDATES,
        "lucene": lucene_query(question.text, SCOPE),
        "scope": SCOPE,
        "vector": question.vector.tolist(),
    }


async def _searching(served: Served, ask: Asked, questions: Sequence[Question]) -> list[Lever]:
    """Search for seeds."""
    cases = [seed_parameters(question) for question in questions]
    search, words = load("seeds.vector_search").text, load("seeds.text").text
    one = text_of("seeds_in_one")

    async def at_once(case: Parameters) -> Any:
        async with served.session() as session:
            found = await asyncio.gather(ask(search, case), Asked(session)(words, case))
        return [sorted(record[0]) for record in found]

    async def in_one(case: Parameters) -> Any:
        return [sorted(hits) for hits in await ask(one, case)]

    return [
        Lever(
            kept="vector and full-text search at once, in two sessions",
            against="in one query",
            cases=cases,
            ours=at_once,
            other=in_one,
        ),
    ]


async def _levels(served: Served, ask: Asked, questions: Sequence[Question]) -> list[Lever]:
    """Variants of the level query, on whole explorations."""
    level = load("strategies.level").text
    retriever = make_retriever(served, questions)
    cases = []
    for question in questions:
        seeds = await retriever.find_seeds(question.text, query_tags=question.tags)
        cases.append(await _all_levels(ask, seeds.seeds, question.tags))
    nodes = sorted({row[1] for case in cases for each in case for row in each["frontier"]})
    records, _, _ = await served.driver.execute_query(
        text_of("element_ids"), ids=nodes, scope=SCOPE, database_=DATABASE
    )
    element = dict(records[0][0])
    named = {value: key for key, value in element.items()}

    def explore(text: str, of: Callable[[Parameters], Parameters] = lambda case: case) -> Run:
        async def run(case: Sequence[Parameters]) -> Any:
            answers = [(await ask(text, of(each)))[0] for each in case]
            return [
                sorted(
                    [owner, named.get(node, node), degree, above, [each[:7] for each in children]]
                    for owner, node, degree, above, children in rows
                )
                for rows in answers
            ]

        return run

    def lists(case: Parameters) -> Parameters:
        return {**case, "visited": [list(visited) for visited in case["visited"]]}

    def elements(case: Parameters) -> Parameters:
        return {
            **case,
            "frontier": [[i, element[node], *rest, node] for i, node, *rest in case["frontier"]],
        }

    ours = explore(level)
    as_list = changed(
        level, "$p.visited[f[0]][neighbour.id] IS NOT NULL", "neighbour.id IN $p.visited[f[0]]"
    )
    untyped = changed(level, "COUNT { (current)-[:RELATES]-() }", "COUNT { (current)--() }")
    return [
        Lever(kept=kept, against=against, cases=cases, ours=ours, other=other)
        for kept, against, other in (
            ("visited memories in a map", "in a list", explore(as_list, lists)),
            (
                "degree of type RELATES",
                "of any type (not exact where others exist)",
                explore(untyped),
            ),
            ("frontier by scope and id", "by elementId", explore(_by_element(level), elements)),
            (
                "the first level says which seeds exist",
                "a query of its own before",
                _after_a_look(ask, ours),
            ),
        )
    ]


def _by_element(level: str) -> str:
    """Find the frontier by elementId, and return those of the children.

    The server gives the elementId of what was deleted to something new: the id is compared, too.
    """
    level = changed(
        level,
        "MATCH (current:Memory {scope: $p.scope, id: f[1]})",
        "MATCH (current:Memory) WHERE elementId(current) = f[1] "
        "AND current.scope = $p.scope AND current.id = f[4]",
    )
    level = changed(
        level,
        "WITH neighbour.id AS id, edge,",
        "WITH neighbour.id AS id, elementId(neighbour) AS element, edge,",
    )
    return changed(level, "[id] + edge END", "[id] + edge + [element] END")


def _after_a_look(ask: Asked, explore: Run) -> Run:
    """Ask which seeds exist, then explore."""

    async def run(case: Sequence[Parameters]) -> Any:
        seeds = [row[1] for row in case[0]["frontier"]]
        await ask(text_of("existing"), {"ids": seeds, "scope": SCOPE})
        return await explore(case)

    return run


async def _all_levels(
    ask: Asked, seeds: Sequence[Seed], tags: Sequence[str]
) -> list[dict[str, Any]]:
    """Parameters of each level of one exploration of all seeds."""
    config = ExploreConfig()
    spreads = [TransferExploration(seed, config) for seed in seeds]
    found = []
    while active := [spread for spread in spreads if spread.frontier]:
        parameters = level_parameters(active, scope=SCOPE, query_tags=tags, config=config)
        parameters["visited"] = [dict(visited) for visited in parameters["visited"]]
        found.append(parameters)
        rows = level_rows((await ask(load("strategies.level").text, parameters))[0], len(active))
        for spread, row in zip(active, rows, strict=True):
            spread.absorb(row)
    return found


def changed(text: str, old: str, new: str) -> str:
    """Replace what must be there."""
    if text.count(old) != 1:
        raise ValueError(f"the query has changed: {old}")
    return text.replace(old, new)
