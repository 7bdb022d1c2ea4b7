"""What is slower on Neo4j 5.26: the same graph on two servers, each step asked of both in turns.

    scripts/bench versions
    scripts/bench versions --memories 20000 --questions 300

Starts two throw-away servers. Both get the same memories and edges, chunk by chunk in turns, and
answer the same questions in turns, so that what else the machine does weighs on both. The results
are compared. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from benchmarks.queries import text_of
from benchmarks.race.cases import Case, make_cases, make_questions
from benchmarks.race.graphs import DIMENSIONS, MEAN_DEGREE, Graph, power_law
from benchmarks.race.load import SCOPE, memories, relations
from benchmarks.race.recalls import retriever_on
from benchmarks.race.serve import EMBEDDER
from benchmarks.server import DATABASE, HEAP_MB, PAGE_CACHE_MB, parser_of
from memoria import GraphRetriever, GraphWriter, Memory
from memoria._support.progress import progress_bars
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.local import LocalNeo4j
from memoria.local.settings import NEO4J_VERSIONS, whole_version
from memoria.recall.seeds import SeedRequest, search_seeds
from memoria.recall.seeds.config import SeedConfig
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

SMALL, SMALL_SIZE = "small", 100
WARM_UP = 20
LINKED = 50
PIECE = 1_000
T = TypeVar("T")
# A step, asked of one server, and what it found, for the comparison with the other server.
Step = Callable[["Server", int], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One of the servers, with a retriever for the large scope."""

    version: str
    retriever: GraphRetriever

    @property
    def store(self) -> Store:
        """The store that all steps share."""
        return self.retriever.store


@dataclass(slots=True)
class Measured:
    """Times of one step on the first and on the second server, ms, and how often both agreed."""

    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    same: int = 0
    asked: int = 0

    def row(self, name: str) -> str:
        """Return a row of the table."""
        first, second = map(np.array, self.times)
        drawn = np.random.default_rng(1).integers(len(first), size=(1_000, len(first)))
        ratios = second[drawn].mean(axis=1) / first[drawn].mean(axis=1)
        low, high = np.percentile(ratios, [2.5, 97.5])
        medians = " | ".join(f"{statistics.median(each):.1f}" for each in self.times)
        ratio = f"{second.mean() / first.mean():.2f} ({low:.2f} to {high:.2f})"
        return f"| {name} | {medians} | {ratio} | {self.same} of {self.asked} |"


async def in_turns(step: Step, servers: Sequence[Server], numbers: Sequence[int]) -> Measured:
    """Ask both servers in turns, the other one first each time; note times and agreement."""
    measured = Measured()
    for number in numbers:
        found: dict[int, Any] = {}
        for place in (0, 1) if number % 2 else (1, 0):
            started = time.perf_counter()
            found[place] = await step(servers[place], number)
            took_ms = 1_000 * (time.perf_counter() - started)
            if number >= WARM_UP:
                measured.times[place].append(took_ms)
        measured.same += number >= WARM_UP and found[0] == found[1]
        measured.asked += number >= WARM_UP
    return measured


def reading(graph: Graph, count: int) -> dict[str, Step]:
    """Return the steps that read."""
    questions = make_questions(graph, count)
    cases: list[Case] = make_cases(graph, count)

    async def smallest(server: Server, _: int) -> Any:
        async with server.store.driver.session(database=DATABASE) as session:
            return [record.data() async for record in await session.run(text_of("return_1"))]

    async def seeds(server: Server, scope: str, **given: Any) -> Any:
        facts = await server.retriever.server_facts()
        request = SeedRequest(
            **({"text": "", "vector": None} | given),
            scope=scope,
            dialect=facts.vector_dialect,
            config=SeedConfig(),
            until=None,
        )
        return [seed.id for seed in (await search_seeds(server.store, request)).seeds]

    async def near(server: Server, number: int) -> Any:
        return await seeds(server, SCOPE, vector=questions[number].vector.tolist())

    async def near_in_small(server: Server, number: int) -> Any:
        return await seeds(server, SMALL, vector=questions[number].vector.tolist())

    async def words(server: Server, number: int) -> Any:
        return await seeds(server, SCOPE, text=questions[number].text)

    async def explored(server: Server, number: int) -> Any:
        case = cases[number]
        stream = server.retriever.explore_seeds(case.seeds, query_tags=case.tags, deadline_s=60)
        found = [exploration async for exploration in stream]
        return sorted((path.ids, path.energy) for each in found for path in each.paths)

    async def recalled(server: Server, number: int) -> Any:
        question = questions[number]
        recall = await server.retriever.recall(
            question.text, query_tags=question.tags, deadline_s=60
        )
        return [entry.memory.id for entry in recall.ranked[:10]]

    return {
        "the smallest query": smallest,
        "seeds by vector": near,
        f"seeds by vector, a scope of {SMALL_SIZE}": near_in_small,
        "seeds by words": words,
        "five seeds explored": explored,
        "a whole recall": recalled,
    }


def writing(graph: Graph) -> dict[str, Step]:
    """Return the steps that write, after all that read: they change the graph."""

    async def remembered(server: Server, number: int) -> Any:
        text = f"Fact {number} about {graph.texts(0, 1)[0]}"
        done = await GraphWriter(server.store, scope=f"new-{number}").remember(text)
        return done.created

    async def learned(server: Server, number: int) -> Any:
        source, target = graph.source[number], graph.target[number]
        learner = server.retriever.learner()
        relation = graph.relations[graph.relation[number]]
        report = await learner.strengthen_edge(
            graph.ids[source], graph.ids[target], relation=relation, event_id=f"event {number}"
        )
        return report.edges, report.edges_created

    async def linked(server: Server, number: int) -> Any:
        first = number * LINKED % (len(graph.ids) - LINKED)
        report = await server.retriever.linker().link(graph.ids[first : first + LINKED])
        return report.edges_created

    return {
        "a fact remembered": remembered,
        "an edge strengthened": learned,
        f"{LINKED} memories linked": linked,
    }


def pieces(lists: Iterable[list[T]]) -> Iterator[list[T]]:
    """Cut lists into pieces of `PIECE`."""
    for each in lists:
        for start in range(0, len(each), PIECE):
            yield each[start : start + PIECE]


async def load(graph: Graph, servers: Sequence[Server]) -> dict[str, Measured]:
    """Write the graph to both servers, chunk by chunk in turns."""
    chunks, edges = [*pieces(memories(graph))], [*pieces(relations(graph))]

    async def some(server: Server, number: int) -> Any:
        writer = server.retriever.writer()
        return (await writer.write(chunks[number - WARM_UP])).memories_created

    async def some_edges(server: Server, number: int) -> Any:
        writer = server.retriever.writer()
        return (await writer.write([], edges[number - WARM_UP])).relations_created

    found = {
        f"{PIECE:,} memories with vectors written": await in_turns(
            some, servers, range(WARM_UP, WARM_UP + len(chunks))
        ),
        f"{PIECE:,} edges written": await in_turns(
            some_edges, servers, range(WARM_UP, WARM_UP + len(edges))
        ),
    }
    few = [
        Memory(id=each.id, kind=each.kind, text=each.text, embedding=each.embedding)
        for each in chunks[0][:SMALL_SIZE]
    ]
    for server in servers:
        await server.retriever.for_scope(SMALL).writer().write(few)
    return found


async def run(options: argparse.Namespace) -> None:
    """Start both servers, load them, and ask."""
    edges = options.memories * MEAN_DEGREE // 2
    graph = power_law(edges, embedded=options.memories)
    config = StoreConfig(query_timeout_s=120)
    questions = make_questions(graph, options.questions + WARM_UP)
    async with AsyncExitStack() as stack:
        servers = []
        for version in map(whole_version, options.versions):
            local = LocalNeo4j.ephemeral(
                version=version, heap_mb=HEAP_MB, page_cache_mb=PAGE_CACHE_MB
            )
            started = await stack.enter_async_context(local)
            target = Target(uri=started.uri, auth=started.auth, database=DATABASE)
            driver = await stack.enter_async_context(open_driver(target, config))
            absent = AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS)
            await apply_schema(Store(driver, config=config), embedder=absent)
            retriever = retriever_on(driver, questions, store=config)
            servers.append(Server(version=version, retriever=retriever))
        with progress_bars() as progress:
            found = await load(graph, servers)
            numbers = range(options.questions + WARM_UP)
            for name, step in reading(graph, len(numbers)).items():
                found[name] = await in_turns(step, servers, numbers)
                progress(name, len(numbers), len(numbers))
            few = range(min(len(numbers), 60 + WARM_UP))
            for name, step in writing(graph).items():
                found[name] = await in_turns(step, servers, few)
                progress(name, len(few), len(few))
    first, second = (server.version for server in servers)
    print(f"{options.memories:,} memories with vectors, {edges:,} edges; p50 in ms\n")
    print(f"| step | {first} | {second} | ratio of means (95 %) | same result |")
    print("|---|---|---|---|---|")
    print("\n".join(measured.row(name) for name, measured in found.items()))


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("versions", __doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--versions", nargs=2, default=NEO4J_VERSIONS, metavar="VERSION")
    asyncio.run(run(parser.parse_args(arguments)))
