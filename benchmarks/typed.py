"""Measure how well questions are answered that name a type of relationships, on a graph of yours.

    scripts/bench typed movies.cypher --ask "DIRECTED=Who is the director of {}?"

The file has statements of Cypher, each ended by a semicolon at the end of a line, which write a
small graph into a throw-away Neo4j. Its nodes need a ``name`` or ``title`` that identifies them. It
is read as ``memoria adopt --detect`` proposes. Of each node and each type of its relationships one
question is made: the words of the type and the name of the node, such as "directed The Matrix", and
one by each template of ``--ask`` for this type. The answer is all nodes at the other ends. Asks
once as it is, and once with edges for which no question asks; with ``--kinds``, once without a
filter, and once with the label of the answer as the filter; with ``--copy``, a copy in memoria's
own graph whose edges have their relation as a tag, once without tags of the question, and once with
``query_tags="auto"``. Prints Markdown: the share of the
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

from benchmarks.server import parser_of
from memoria import GraphMapping, GraphRetriever
from memoria.evaluation import bootstrap
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.graph.schema import apply_schema
from memoria.ingest.overlay import overlay
from memoria.local import LocalNeo4j
from memoria.recall.call import AUTO, QueryTags
from memoria.store import Store
from memoria.store.config import StoreConfig

K, DEADLINE_S = 10, 60.0
ENDS = """
MATCH (a)-[r]->(b)
WITH type(r) AS type, coalesce(a.name, a.title) AS source, coalesce(b.title, b.name) AS target,
     labels(a)[0] AS source_kind, labels(b)[0] AS target_kind
WHERE source IS NOT NULL AND target IS NOT NULL
RETURN type, source, target, source_kind, target_kind
ORDER BY type, source, target
"""

TAGS = "MATCH (:Memory {scope: $scope})-[r:RELATES]->() SET r.tags = [r.relation]"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the node that it names, and the nodes that answer it with their labels."""

    text: str
    named: str
    answer: frozenset[str]
    kinds: frozenset[str]


async def questions(
    driver: neo4j.AsyncDriver, templates: Mapping[str, Sequence[str]], limit: int
) -> list[Asked]:
    """Make questions of the graph; the same ones, if there are more than ``limit``."""
    found = await driver.execute_query(ENDS, database_="neo4j")
    answers: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for type_, source, target, source_kind, target_kind in found.records:
        answers[type_, target][source] = source_kind
        answers[type_, source][target] = target_kind
    made = [
        Asked(template.format(named), named, frozenset(ends), frozenset(ends.values()))
        for (type_, named), ends in answers.items()
        for template in (f"{type_.replace('_', ' ').lower()} {{}}", *templates.get(type_, ()))
    ]
    random.Random(1).shuffle(made)  # noqa: S311  # lots, to be drawn again
    return made[:limit]


async def shares(
    memory: GraphRetriever,
    asked: Sequence[Asked],
    *,
    filtered: bool = False,
    query_tags: QueryTags = (),
) -> np.ndarray:
    """Return the share of each answer among the first, and in the context; N x 2."""
    found = []
    for one in asked:
        kinds = one.kinds if filtered else None
        recall = await memory.recall(
            one.text, kinds=kinds, query_tags=query_tags, deadline_s=DEADLINE_S
        )
        first = [entry.id for entry in recall.ranked if entry.id != one.named][:K]
        packed = {item.id for item in recall.context.items}
        size = len(one.answer)
        found.append([len(one.answer & {*first}) / size, len(one.answer & packed) / size])
    return np.array(found)


async def copied(store: Store, mapping: GraphMapping) -> GraphRetriever:
    """Copy the graph into memoria's own, and give each edge its relation as a tag."""
    await apply_schema(store)
    copy = await overlay(store, mapping, scope="default")
    await store.driver.execute_query(TAGS, {"scope": copy.scope}, database_="neo4j")
    return GraphRetriever(store, scope=copy.scope)


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
        # On a busy machine, a recall has its deadline, and each of its queries as long.
        store = Store(driver, config=StoreConfig(query_timeout_s=DEADLINE_S))
        mapping = (await detect(store)).mapping
        await create_indexes(store, mapping, lambda _: None)
        asked = await questions(driver, templates, options.limit)
        memory = GraphRetriever(store, mapping=mapping)
        if options.copy:
            copy = await copied(store, mapping)
            before, after = await shares(copy, asked), await shares(copy, asked, query_tags=AUTO)
        elif options.kinds:
            before, after = await shares(memory, asked), await shares(memory, asked, filtered=True)
        else:
            unasked = tuple(replace(edge, words=()) for edge in mapping.edges)
            plain = GraphRetriever(store, mapping=replace(mapping, edges=unasked))
            before, after = await shares(plain, asked), await shares(memory, asked)
        before, after = 100 * before, 100 * after
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
    parser = parser_of("typed", __doc__)
    parser.add_argument("statements", type=Path)
    parser.add_argument("--ask", action="append", default=[], metavar="TYPE=TEMPLATE")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--kinds", action="store_true")
    ways.add_argument("--copy", action="store_true")
    parser.add_argument("--limit", type=int, default=200)
    asyncio.run(measure(parser.parse_args(arguments)))
