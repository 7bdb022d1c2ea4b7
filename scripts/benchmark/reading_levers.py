"""Decisions about when and how texts are read, each with the other way.

In: a server, questions. Out: `Lever`s. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoria.config import ExploreConfig
from memoria.queries import load
from memoria.relevance.candidates import MAX_DEGREE
from memoria.types import Seeds
from scripts.benchmark.cases import Case, Question
from scripts.benchmark.explorers import spread_by
from scripts.benchmark.lever_queries import Asked, Lever, Parameters, changed
from scripts.benchmark.load import SCOPE
from scripts.benchmark.queries import text_of
from scripts.benchmark.recalls import make_retriever
from scripts.benchmark.serve import Served

_TEXTS = ",\n       collect([\n         current.id,"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What one recall reads: by its last query, and before."""

    case: Case
    hits: tuple[str, ...]
    facts: Parameters


async def reading_levers(served: Served, ask: Asked, questions: Sequence[Question]) -> list[Lever]:
    """Read what a recall found."""
    cases = await _cases(served, questions)
    return [*_forms(cases, ask), _within_levels(cases, ask), _beside_levels(served, cases, ask)]


async def _cases(served: Served, questions: Sequence[Question]) -> list[_Read]:
    """Recall, and say what each recall reads."""
    retriever = make_retriever(served, questions)
    cases: list[_Read] = []
    for question in questions:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        paths = (*(path for each in recall.explorations for path in each.paths), *recall.hits)
        cases.append(
            _Read(
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


def _forms(cases: Sequence[_Read], ask: Asked) -> list[Lever]:
    """Ask for the same in another form, or by another number of queries."""
    hydrate, candidates = load("explore.hydrate").text, load("relevance.candidates").text
    by_id, maps = text_of("candidates_by_id"), text_of("hydrate_maps")
    facts = [case.facts for case in cases]

    async def rows(case: Parameters) -> Any:
        return sorted((row[0], row[2]) for row in (await ask(hydrate, case))[0])

    async def as_maps(case: Parameters) -> Any:
        return sorted((row["id"], row["text"]) for row in (await ask(maps, case))[0])

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
    level = load("explore.level").text
    hydrate = load("explore.hydrate").text
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
        other=explore(level.partition(_TEXTS)[0]),
    )


def _beside_levels(served: Served, cases: Sequence[_Read], ask: Asked) -> Lever:
    """Explore and read what ranking wants: all of it afterwards, or of the hits meanwhile."""
    level, candidates = load("explore.level").text, load("relevance.candidates").text
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
