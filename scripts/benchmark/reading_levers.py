"""Decisions about when and how texts are read, each with the other way.

In: a server, questions. Out: `Lever`s. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoria.ranking.candidates import MAX_DEGREE
from memoria.store.queries import load
from memoria.strategies.config import ExploreConfig
from memoria.types import Seeds
from scripts.benchmark.cases import Case, Question
from scripts.benchmark.explorers import spread_by
from scripts.benchmark.lever_queries import Asked, Lever, Parameters, changed, seed_parameters
from scripts.benchmark.load import SCOPE
from scripts.benchmark.profiles import Profiler
from scripts.benchmark.queries import text_of
from scripts.benchmark.recalls import make_retriever
from scripts.benchmark.serve import Served

_TEXTS = ",\n       collect(CASE WHEN f[3] THEN ["


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What one recall asked: for its seeds, its levels, and with its last query."""

    question: Question
    case: Case
    hits: tuple[str, ...]
    facts: Parameters


async def reading_levers(served: Served, ask: Asked, questions: Sequence[Question]) -> list[Lever]:
    """Read what a recall found."""
    cases = await _cases(served, questions)
    return [
        *_forms(cases, ask),
        _within_levels(cases, ask),
        _beside_levels(served, cases, ask),
        _whole(served, cases, ask, questions),
    ]


async def _cases(served: Served, questions: Sequence[Question]) -> list[_Read]:
    """Recall, and say what each recall reads."""
    retriever = make_retriever(served, questions)
    cases: list[_Read] = []
    for question in questions:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        paths = (*(path for each in recall.explorations for path in each.paths), *recall.hits)
        cases.append(
            _Read(
                question=question,
                case=Case(seeds=recall.seeds.seeds, tags=question.tags),
                hits=_ids(recall.seeds),
                facts={
                    "ids": sorted({id_ for path in paths for id_ in path.ids}),
                    "kinds": [],
                    "known": [],
                    "max_degree": MAX_DEGREE,
                    "max_weight": 1.0,
                    "scope": SCOPE,
                    "vector": question.vector.tolist(),
                },
            )
        )
    return cases


def _ids(seeds: Seeds) -> tuple[str, ...]:
    return tuple(hit.id for hit in (*seeds.seeds, *seeds.runners_up))


async def recall_profiles(served: Served, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Profile every query of some recalls: ``query``, and ``operators`` as of `Profiler`."""
    cases = await _cases(served, questions)
    found = []
    for name in ("seeds.vector_search", "seeds.text", "strategies.level", "ranking.candidates"):
        async with served.session() as session:
            profiler, text = Profiler(session), load(name).text

            async def ask_level(
                parameters: Parameters, profiler: Profiler = profiler, text: str = text
            ) -> Any:
                return (await profiler(text, parameters))["level"]

            for case in cases:
                if name == "strategies.level":
                    await spread_by(ask_level, case.case, ExploreConfig())
                elif name == "ranking.candidates":
                    await profiler(text, case.facts)
                else:
                    await profiler(text, seed_parameters(case.question))
        found.append(
            {"query": f"`{name}`, of {len(cases)} recalls", "operators": profiler.operators()}
        )
    return found


def _forms(cases: Sequence[_Read], ask: Asked) -> list[Lever]:
    """Ask for the same in another form, or by another number of queries."""
    hydrate, candidates = load("graph.hydrate").text, load("ranking.candidates").text
    by_id, maps = text_of("candidates_by_id"), text_of("hydrate_maps")
    columns = text_of("hydrate_columns")
    facts = [case.facts for case in cases]

    async def rows(case: Parameters) -> Any:
        return sorted((row[0], row[2]) for row in (await ask(hydrate, case))[0])

    async def as_maps(case: Parameters) -> Any:
        return sorted((row["id"], row["text"]) for row in (await ask(maps, case))[0])

    async def as_columns(case: Parameters) -> Any:
        ids, _, texts, *_ = (await ask(columns, case))[0]
        return sorted(zip(ids, texts, strict=True))

    async def by_node(case: Parameters) -> Any:
        record = await ask(candidates, {**case, "known": case["ids"]})
        return sorted(row[:4] for row in record[0])

    async def compared_by_id(case: Parameters) -> Any:
        return sorted(row[:4] for row in (await ask(by_id, case))[0])

    async def in_one(case: Parameters) -> Any:
        return sorted((row[0], row[2], row[4][2]) for row in (await ask(candidates, case))[0])

    async def in_two(case: Parameters) -> Any:
        texts = {row[0]: row[2] for row in (await ask(hydrate, case))[0]}
        record = await ask(candidates, {**case, "known": case["ids"]})
        return sorted((row[0], row[2], texts[row[0]]) for row in record[0])

    return [
        Lever(kept=kept, against=against, cases=facts, ours=ours, other=other)
        for kept, against, ours, other in (
            (
                "texts as rows, times as text",
                "a map for each memory, times of the driver",
                rows,
                as_maps,
            ),
            ("texts as rows", "a list for each property", rows, as_columns),
            (
                "neighbours compared by node, each embedding read once",
                "by id, and three times",
                by_node,
                compared_by_id,
            ),
            (
                "texts, cosines and edges in one query",
                "in two, one after the other",
                in_one,
                in_two,
            ),
        )
    ]


def _within_levels(cases: Sequence[_Read], ask: Asked) -> Lever:
    """Explore and read the texts of the paths: with the levels, or afterwards."""
    level = load("strategies.level").text
    hydrate = load("graph.hydrate").text
    config = ExploreConfig()

    def explore(text: str) -> Any:
        async def run(case: Case) -> Any:
            texts: dict[str, str] = {}

            async def ask_level(parameters: Parameters) -> Any:
                record = await ask(text, parameters)
                texts.update((row[0], row[2]) for row in record.get("memories", ()))
                return record["level"]

            _, paths = await spread_by(ask_level, case, config)
            ids = {id_ for ended in paths.values() for path in ended for id_ in path.ids}
            if missing := sorted(ids - texts.keys()):
                record = await ask(hydrate, {"ids": missing, "scope": SCOPE})
                texts.update((row[0], row[2]) for row in record[0])
            return texts

        return run

    return Lever(
        kept="five seeds explored, texts with the level that expands a memory",
        against="texts of all in a query of their own",
        cases=[case.case for case in cases],
        ours=explore(level),
        other=explore(changed(level, level[level.index(_TEXTS) :], "")),
    )


def _beside_levels(served: Served, cases: Sequence[_Read], ask: Asked) -> Lever:
    """Explore and read what ranking wants: all of it afterwards, or of the hits meanwhile."""
    level, candidates = load("strategies.level").text, load("ranking.candidates").text
    without_hits = changed(
        candidates,
        "CASE WHEN ranks THEN m.embedding END",
        "CASE WHEN ranks AND NOT m.id IN $p.hits THEN m.embedding END",
    )
    config = ExploreConfig()

    async def explore(case: _Read) -> set[str]:
        read: set[str] = set()

        async def ask_level(parameters: Parameters) -> Any:
            record = await ask(level, parameters)
            read.update(row[0] for row in record["memories"])
            return record["level"]

        await spread_by(ask_level, case.case, config)
        return read

    async def afterwards(case: _Read) -> Any:
        read = await explore(case)
        record = await ask(candidates, {**case.facts, "known": sorted(read)})
        return sorted(row[:4] for row in record[0])

    async def meanwhile(case: _Read) -> Any:
        async with served.session() as session:
            hits, read = await asyncio.gather(
                Asked(session)(candidates, {**case.facts, "ids": case.hits}), explore(case)
            )
        cosines = {row[0]: row[1] for row in hits[0]}
        facts = {**case.facts, "known": sorted({*read, *cosines}), "hits": [*cosines]}
        record = await ask(without_hits, facts)
        return sorted([row[0], cosines.get(row[0], row[1]), *row[2:4]] for row in record[0])

    return Lever(
        kept="five seeds explored, then all facts and the hits' texts read in one query",
        against="those of the hits beside the levels, the others afterwards",
        cases=cases,
        ours=afterwards,
        other=meanwhile,
    )


def _whole(
    served: Served, cases: Sequence[_Read], ask: Asked, questions: Sequence[Question]
) -> Lever:
    """Recall, and send no more than the queries of a recall, whose answers stay as they come."""
    retriever = make_retriever(served, questions)
    search, words = load("seeds.vector_search").text, load("seeds.text").text
    level, candidates = load("strategies.level").text, load("ranking.candidates").text
    config = ExploreConfig()

    async def whole(case: _Read) -> Any:
        asked = case.question
        recall = await retriever.recall(asked.text, query_tags=asked.tags, deadline_s=60)
        return sorted(entry.memory.id for entry in recall.ranked)

    async def queries_alone(case: _Read) -> Any:
        seeds = seed_parameters(case.question)
        async with served.session() as session:
            await asyncio.gather(ask(search, seeds), Asked(session)(words, seeds))

        async def ask_level(parameters: Parameters) -> Any:
            return (await ask(level, parameters))["level"]

        await spread_by(ask_level, case.case, config)
        return sorted(row[0] for row in (await ask(candidates, case.facts))[0])

    return Lever(
        kept="a whole recall",
        against="the floor: its queries alone",
        cases=cases,
        ours=whole,
        other=queries_alone,
    )
