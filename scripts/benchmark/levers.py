"""Ways to be faster, each against the way that memoria goes: what is kept, and what is not.

In: a graph for whole recalls, one with hubs. Out: Markdown and JSON. Starts servers of its own.

Both sides of a lever are asked in turns, the same questions, and their answers are compared.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoria.progress import ProgressCallback
from memoria.queries import load
from scripts.benchmark.cases import Question, make_questions
from scripts.benchmark.codec import times_of_codecs
from scripts.benchmark.contender import DisagreementError
from scripts.benchmark.delay import recalls_over_delays
from scripts.benchmark.figures import Ratio, percentile, ratio
from scripts.benchmark.graphs import Graph
from scripts.benchmark.lever_queries import CANDIDATES, Asked, Lever, hub_lever, levers_of
from scripts.benchmark.load import SCOPE
from scripts.benchmark.serve import Memory, Served, serve

WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One lever's times; ms, p50, and theirs over ours."""

    kept: str
    against: str
    ours_ms: float
    other_ms: float
    times: Ratio


async def pull(lever: Lever, progress: ProgressCallback) -> Measured:
    """Ask both sides in turns.

    Raises
    ------
    DisagreementError
        Their answers differ.
    """
    took: dict[str, list[float]] = {"ours": [], "other": []}
    for number, case in enumerate(lever.cases):
        answers = []
        sides = [("ours", lever.ours), ("other", lever.other)]
        for name, run in sides if number % 2 else sides[::-1]:
            started = time.perf_counter()
            answers.append(await run(case))
            if number >= WARM_UP:
                took[name].append(1_000 * (time.perf_counter() - started))
        if answers[0] != answers[1]:
            raise DisagreementError(f"{lever.kept} / {lever.against}: results differ")
        progress(lever.kept, number + 1, len(lever.cases))
    return Measured(
        kept=lever.kept,
        against=lever.against,
        ours_ms=percentile(took["ours"], 50),
        other_ms=percentile(took["other"], 50),
        times=ratio(took["other"], took["ours"]),
    )


async def measure_levers(
    whole: Graph, hubs: Graph, folder: Path, count: int, progress: ProgressCallback
) -> dict[str, Any]:
    """Pull every lever; ``count`` questions each."""
    async with serve(whole, folder / "whole", Memory(), progress) as served:
        questions = make_questions(served.graph, count + WARM_UP)
        async with served.session() as session:
            levers = await levers_of(served, session, questions)
            found = [await pull(lever, progress) for lever in levers]
        found.append(await _codecs(served))
        top = await _candidates(served, questions)
        delays = await recalls_over_delays(served, questions[: count // 2], progress)
    async with (
        serve(hubs, folder / "hubs", Memory(), progress) as served,
        served.session() as session,
    ):
        for hub in served.graph.hubs[:2]:
            lever = hub_lever(served, Asked(session), hub.node, hub.degree)
            found = [*found, await pull(lever, progress)]
    return {
        "levers": [
            {
                "kept": each.kept,
                "against": each.against,
                "ours_ms": each.ours_ms,
                "other_ms": each.other_ms,
                "ratio": str(each.times),
            }
            for each in found
        ],
        "candidates": top,
        "delays": delays,
    }


async def _codecs(served: Served) -> Measured:
    """Recall with one codec of the driver and the other."""
    target = served.target
    edges = len(served.graph.source)
    found = await times_of_codecs(target.uri, target.auth, edges)
    rust, python = zip(*found["rust"], strict=True), zip(*found["python"], strict=True)
    (rust_ms, _, ours), (python_ms, _, theirs) = rust, python
    if ours != theirs:
        raise DisagreementError("the driver's codecs: results differ")
    return Measured(
        kept="whole recall with the driver's codec in Rust (extra `fast`)",
        against="in Python",
        ours_ms=percentile(rust_ms, 50),
        other_ms=percentile(python_ms, 50),
        times=ratio(python_ms, rust_ms),
    )


async def _candidates(served: Served, questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Share of the true nearest five that the index finds, by how many it is asked for."""
    found = []
    async with served.session() as session:
        ask = Asked(session)
        for limit in (5, 10, CANDIDATES, 100):
            hits, took_ms = 0, []
            for question in questions[:WARM_UP]:
                case = {
                    "kinds": [],
                    "limit": limit,
                    "scope": SCOPE,
                    "vector": question.vector.tolist(),
                }
                exact = await ask(load("seeds.vector_exact").text, {**case, "limit": 5})
                started = time.perf_counter()
                near = await ask(load("seeds.vector_search").text, case)
                took_ms.append(1_000 * (time.perf_counter() - started))
                best = sorted(near[0], key=lambda hit: -hit[1])[:5]
                hits += len({hit[0] for hit in best} & {hit[0] for hit in exact[0]})
            share = hits / (5 * len(questions[:WARM_UP]))
            found.append({"limit": limit, "found": share, "p50_ms": percentile(took_ms, 50)})
    return found


def markdown(record: Mapping[str, Any]) -> str:
    """Write the tables."""
    lines = [
        "# Levers",
        "",
        "Made by `scripts/bench --levers`. Both sides of a row were asked in turns, and their "
        "answers were equal. The ratio is the time of the other way over that of memoria's, of "
        "medians; in brackets what holds 95 % of a bootstrap.",
        "",
        "| memoria's way | ms | the other way | ms | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {row['kept']} | {row['ours_ms']:.1f} | {row['against']} | {row['other_ms']:.1f} "
            f"| {row['ratio']} |"
            for row in record["levers"]
        ),
        "",
        "| hits asked of the vector index | share of the true nearest five | ms |",
        "|---|---|---|",
        *(
            f"| {row['limit']} | {row['found']:.2f} | {row['p50_ms']:.1f} |"
            for row in record["candidates"]
        ),
        "",
        "| delay of a round trip, ms | `RETURN 1`, ms | whole recall, ms | its round trips "
        '| with `round_trips="single"`, 3 round trips, ms | ratio |',
        "|---|---|---|---|---|---|",
        *(
            f"| {row['delay_ms']} | {row['round_trip_ms']:.1f} | {row['recall_ms']:.1f} "
            f"| {row['trips']:.0f} | {row['single_ms']:.1f} | {row['ratio']} |"
            for row in record["delays"]
        ),
    ]
    return "\n".join(lines) + "\n"


def save(record: Mapping[str, Any], out: Path) -> None:
    """Write ``levers.json`` and ``levers.md``."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "levers.json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (out / "levers.md").write_text(markdown(record), encoding="utf-8")
