"""Measure how well questions are answered that name a type of relationships, on a graph of yours.

    scripts/bench typed movies.cypher --ask "DIRECTED=Who is the director of {}?"

The file has statements of Cypher, each ended by a semicolon at the end of a line, which write a
small graph into a throw-away Neo4j. Its nodes need a ``name`` or ``title`` that identifies them. It
is read as ``memoria adopt --detect`` proposes. Of each node and each type of its relationships one
question is made: the words of the type and the name of the node, such as "directed The Matrix", and
one by each template of ``--ask`` for this type. The answer is all nodes at the other ends. Asks
once as it is, and once with edges for which no question asks. Prints Markdown: the share of the
answer among the first ten and in a context, in percent, and the paired difference.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import neo4j
import numpy as np

from memoria import GraphMapping, GraphRetriever
from memoria.evaluation import bootstrap
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.local import LocalNeo4j
from memoria.store import Store

K, DEADLINE_S = 10, 60.0
ENDS = """
MATCH (a)-[r]->(b)
WITH type(r) AS type, coalesce(a.name, a.title) AS source, coalesce(b.title, b.name) AS target
WHERE source IS NOT NULL AND target IS NOT NULL
RETURN type, source, target
ORDER BY type, source, target
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the node that it names, and the nodes that answer it."""

    text: str
    named: str
    answer: frozenset[str]


async def questions(
    driver: neo4j.AsyncDriver, templates: Mapping[str, Sequence[str]], limit: int
) -> list[Asked]:
    """Make questions of the graph; the same ones, if there are more than ``limit``."""
    found = await driver.execute_query(ENDS, database_="neo4j")
    answers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for type_, source, target in found.records:
        answers[type_, target].add(source)
        answers[type_, source].add(target)
    made = [
        Asked(template.format(named), named, frozenset(ends))
        for (type_, named), ends in answers.items()
        for template in (f"{type_.replace('_', ' ').lower()} {{}}", *templates.get(type_, ()))
    ]
    random.Random(1).shuffle(made)  # noqa: S311  # lots, to be drawn again
    return made[:limit]


async def shares(store: Store, mapping: GraphMapping, asked: Sequence[Asked]) -> np.ndarray:
    """Return the share of each answer among the first, and in the context; N x 2."""
    memory = GraphRetriever(store, mapping=mapping)
    found = []
    for one in asked:
        recall = await memory.recall(one.text, deadline_s=DEADLINE_S)
        first = [entry.id for entry in recall.ranked if entry.id != one.named][:K]
        packed = {item.id for item in recall.context.items}
        size = len(one.answer)
        found.append([len(one.answer & {*first}) / size, len(one.answer & packed) / size])
    return np.array(found)


async def measure(options: argparse.Namespace) -> None:
    """Write the graph, ask in both ways, print."""
    templates: defaultdict[str, list[str]] = defaultdict(list)
    for given in options.ask:
        type_, _, template = given.partition("=")
        templates[type_].append(template)
    async with (
        LocalNeo4j.ephemeral() as server,
        neo4j.AsyncGraphDatabase.driver(server.uri, auth=server.auth) as driver,
    ):
        for statement in options.statements.read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                await driver.execute_query(statement, database_="neo4j")
        store = Store(driver)
        mapping = (await detect(store)).mapping
        await create_indexes(store, mapping, lambda _: None)
        asked = await questions(driver, templates, options.limit)
        unasked = tuple(replace(edge, words=()) for edge in mapping.edges)
        before = 100 * await shares(store, replace(mapping, edges=unasked), asked)
        after = 100 * await shares(store, mapping, asked)
    print(f"{len(asked)} questions\n\n| | without | with | difference |\n|---|---|---|---|")
    gains = bootstrap(after - before)
    for name, old, new, gain in zip(
        (f"among the first {K}", "in the context"),
        before.mean(0),
        after.mean(0),
        gains,
        strict=True,
    ):
        change = f"{gain.mean:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"
        print(f"| {name} | {old:.1f} | {new:.1f} | {change} |")


def main(arguments: Sequence[str]) -> None:
    """Read the options, measure."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench typed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("statements", type=Path)
    parser.add_argument("--ask", action="append", default=[], metavar="TYPE=TEMPLATE")
    parser.add_argument("--limit", type=int, default=200)
    asyncio.run(measure(parser.parse_args(arguments)))
