"""The benchmark's comparison of results, its statistics, and its report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.race import names
from benchmarks.race.cases import Case
from benchmarks.race.contender import (
    Contender,
    DisagreementError,
    Outcome,
    TooSlowError,
    reaches_as_much,
    same_paths,
)
from benchmarks.race.meter import Meter
from benchmarks.race.race import Limits, race
from benchmarks.race.record import recorded
from benchmarks.report.cost import fit_cost, terms_of
from benchmarks.report.figures import common, ratio, share_of
from benchmarks.report.page import markdown
from benchmarks.report.targets import targets
from memoria._support.progress import silent
from memoria.types import Seed

FOUND = {"s": {("s", "a"): 0.5, ("s", "a", "b"): 0.25}}
REFERENCE = Outcome(
    found=FOUND, levels=2, notes={"steps": {"s": {("a", 1): 0.5, ("b", 2): 0.25}}, "took_s": [0.1]}
)
CASES = [Case(seeds=(Seed(id="s", score=1.0),))] * 4
LIMITS = Limits(cases=3, contender_s=10, warm_up=1)


def answering(name: str, outcome: Outcome, **options: Any) -> Contender:
    async def run(_case: Case) -> Outcome:
        return outcome

    return Contender(name=name, run=run, **options)


async def let_race(*contenders: Contender) -> Any:
    import os

    return await race(
        contenders, CASES, limits=LIMITS, meter=Meter(os.getpid()), progress=silent, label="cases"
    )


def changed(path: tuple[str, ...], energy: float | None) -> Outcome:
    paths = {**FOUND["s"]}
    if energy is None:
        del paths[path]
    else:
        paths[path] = energy
    return replace(REFERENCE, found={"s": paths})


@pytest.mark.parametrize(
    "planted",
    [
        changed(("s", "a"), 0.5000000000000001),
        changed(("s", "a", "b"), None),
        changed(("s", "c"), 0.1),
        replace(REFERENCE, found={}),
        replace(REFERENCE, found={**FOUND, "other": {("other",): 1.0}}),
    ],
)
async def test_a_planted_difference_ends_the_run(planted: Outcome) -> None:
    with pytest.raises(DisagreementError, match="other, seeds s"):
        await let_race(
            answering("memoria", REFERENCE, agrees=same_paths),
            answering("other", planted, agrees=same_paths),
        )


async def test_results_that_mean_something_else_are_not_compared() -> None:
    results = await let_race(
        answering("memoria", REFERENCE, agrees=same_paths), answering("other", Outcome())
    )
    assert len(results["other"].samples) == 3
    assert not results["other"].compared


def test_all_short_paths_reach_what_memoria_reaches() -> None:
    within_one, within_two = reaches_as_much(1), reaches_as_much(2)
    near = Outcome(found={"s": {("s", "a"): 0.5}})
    assert within_one(REFERENCE, near) is None
    assert "b, 2 hops from s" in (within_two(REFERENCE, near) or "")
    weaker = Outcome(found={"s": {("s", "a"): 0.4, ("s", "b"): 0.3}})
    assert "a, 1 hops from s" in (within_two(REFERENCE, weaker) or "")


async def test_a_contender_that_is_too_slow_answers_few_cases_and_is_marked() -> None:
    async def run(_case: Case) -> Outcome:
        raise TooSlowError

    slow = Contender(name="slow", run=run, agrees=same_paths)
    results = await let_race(answering("memoria", REFERENCE, agrees=same_paths), slow)
    assert recorded(results["slow"])["too_slow"] == [0, 1, 2]


def test_ratio_of_one_list_with_itself_is_one_when_paired() -> None:
    values = [1.0, 2.0, 5.0, 9.0]
    same = ratio(values, values)
    assert (same.value, same.low, same.high) == (1.0, 1.0, 1.0)
    double = ratio([2 * value for value in values], values, of=share_of(95))
    assert double.low == pytest.approx(2.0)
    unpaired = ratio(values, values, paired=False)
    assert unpaired.low < 1 < unpaired.high


def test_only_cases_that_both_answered_are_compared() -> None:
    mine = {"case": [0, 1, 2], "wall_ms": [1.0, 2.0, 3.0]}
    theirs = {"case": [2, 0], "wall_ms": [30.0, 10.0]}
    assert common(mine, theirs) == ([1.0, 3.0], [10.0, 30.0])


def column(wall_ms: list[float], **more: Any) -> dict[str, Any]:
    """What `recorded` gives, with these times."""
    return {
        "compared": True,
        "case": list(range(len(wall_ms))),
        "wall_ms": wall_ms,
        "client_cpu_ms": wall_ms,
        "server_cpu_ms": wall_ms,
        "first_ms": [1.0] * len(wall_ms),
        "levels": [2] * len(wall_ms),
        "too_slow": [],
        "queries": 3.0,
        "records": 3.0,
        "messages": 3.0,
        "peak_mb": 0.5,
        **more,
    }


@pytest.fixture
def run() -> dict[str, Any]:
    """A run in which one round trip takes 1 ms and every number is round."""
    load = {"nodes": 20, "edges": 100, "embedded": 0, "largest_degree": 9, "way": "GraphWriter"}
    trip = column([1.0] * 4)
    hub: dict[str, Any] = {
        "degree": 100_000,
        "score": 1.0,
        "min_activation": 0.005,
        "below_bound": False,
    }
    hub |= {"nodes": 0, "reasons": {"below_threshold": 1}}
    hub["contenders"] = {
        names.MEMORIA: column([2.0, 3.0], queries=2.0),
        names.PRINTED: column([500.0, 700.0]),
    }
    client = {"samples": 8, "parts": {"memoria": 0.75, "driver": 0.25}, "frames": []}
    explored = {
        "client": client,
        "server": [
            {"operator": "Expand(All)", "hits": 75, "rows": 40},
            {"operator": "Filter", "hits": 25, "rows": 30},
            {"operator": "Sort", "hits": 0, "rows": 30},
        ],
        "name": "power law, 100 edges",
        "family": "power law",
        "load": {**load, "write_s": 1.0},
        "contenders": {
            names.MEMORIA: column([4.0] * 4, nodes=[5] * 4, edges_read=[40] * 4),
            names.BARE: column([4.0] * 4, took_s=[[0.001, 0.001, 0.002]] * 4),
            names.STREAMED: column([4.0] * 4),
            names.PRINTED: column([800.0] * 4, too_slow=[3]),
            names.PAGERANK: column([2.0] * 4),
            names.ROUND_TRIP: trip,
        },
        "pagerank": {"load_s": 3.0, "memory_mb": 7.0},
        "trips": [
            {"levels": 2, "level_queries": 2, "records": 3, "queries": 3, "messages": 3}
            | {"first_hops": 1, "first_trips": 3}
        ],
        "hubs": [hub],
    }
    stages = {"embed": 0.001, "seeds": 0.004, "explore": 0.006, "hydrate": 0.002, "rank": 0.001}
    recalled = {
        "name": "whole recalls, 20 memories",
        "family": "recall",
        "load": load,
        "contenders": {
            names.RECALL: column([10.0] * 4, stages=[{**stages, "pack": 0.001}] * 4),
            names.ONE_HOP: column([4.0] * 4),
            names.TWO_HOPS: column([600.0] * 4),
            names.ROUND_TRIP: trip,
        },
        "at_once": [
            {"concurrency": 1, "per_s": [10.0, 12.0], "took_ms": [90.0] * 10, "failed": []},
            {"concurrency": 100, "per_s": [9.5, 11.0], "took_ms": [900.0, 950.0], "failed": []},
        ],
        "plans": {
            "recalls": 10_000,
            "texts": ["RUN a", "RUN b"],
            "plans": 5,
            "plans_of_few": 5,
            "plans_of_one_text": 2,
        },
    }
    environment = {"commit": "abc1234", "neo4j": "1", "driver": "2", "python": "3", "cores": 2}
    environment |= {"load_start": "0.0, 0.0, 0.0", "load_end": "0.1, 0.0, 0.0"}
    settings = {"arguments": "--quick", "took_s": 60.0}
    return {"environment": environment, "settings": settings, "graphs": [explored, recalled]}


def test_costs_are_recovered_from_times_that_follow_the_model() -> None:
    rng = np.random.default_rng(1)
    levels, nodes = rng.integers(1, 6, 50), rng.integers(1, 300, 50)
    edges = rng.integers(10, 5_000, 50)
    walls = (levels + 1) * (0.7 + 0.4) + nodes * 0.03 + edges * 0.002
    cases = list(range(50))
    memoria = {"case": cases, "nodes": nodes, "edges_read": edges, "wall_ms": walls}
    bare = {"case": cases, "took_s": [[0.0] * (count + 1) for count in levels]}
    trip = {"wall_ms": [0.7]}
    graph = {"contenders": {names.MEMORIA: memoria, names.BARE: bare, names.ROUND_TRIP: trip}}
    model = fit_cost([graph])
    found = (model.overhead_ms, model.memory_ms, model.edge_ms)
    assert found == pytest.approx((0.4, 0.03, 0.002))
    terms, measured = terms_of(graph)
    assert measured == pytest.approx(walls)
    assert model.predict(terms, 0.7) == pytest.approx(walls)
    assert model.predict(terms, 1.7) == pytest.approx(walls + levels + 1)


def test_targets_are_judged_by_the_numbers_of_the_run(run: dict[str, Any]) -> None:
    met = {row.measure.partition(": ")[2].partition(",")[0]: row for row in targets(run)}
    # Levels + 1 = 3 round trips of 1 ms, and 1.25 times the 1 ms beyond three round trips.
    assert met["5 seeds in one session"].value.startswith(f"{4 / 4.25:.3g} ")
    assert met["5 seeds in one session"].met
    printed = met[names.PRINTED]
    assert printed.value == "200 (200 to 200) at least: 1 ended at the limit"
    assert printed.met
    assert met["first path with its texts"].met
    assert (
        met["round trips for each level; records for each query"].value == "1; 1 (0 other messages)"
    )
    assert met["seed with 100"].met
    assert met["client CPU over that of as many `RETURN 1`"].value.startswith("1.33 ")
    assert met["client CPU over that of as many `RETURN 1`"].met is False
    assert met["100 recalls at once"].value.startswith("10.2/s = 0.932 ")
    assert met["100 recalls at once"].met
    assert met["whole recall"].value.startswith("2.5 ")
    assert met["whole recall"].met is False
    assert met[names.TWO_HOPS.partition(",")[0]].met
    assert met["plans after 10"].met is False


@pytest.mark.parametrize(("kept", "met"), [(2, True), (4, False)])
def test_plans_are_as_many_as_query_texts(run: dict[str, Any], kept: int, met: bool) -> None:
    for graph in run["graphs"]:
        if "plans" in graph:
            graph["plans"]["plans"] = kept
    judged = [row.met for row in targets(run) if "varied recalls" in row.measure]
    assert judged == [met]


def test_report_has_a_row_for_each_contender(run: dict[str, Any]) -> None:
    page = markdown(run)
    assert "Made by `scripts/bench --quick` at commit abc1234 in 60 s" in page
    for graph in run["graphs"]:
        for name in graph["contenders"]:
            assert f"| {name}, results compared | 4" in page
    assert f"| {names.WITH_LOAD}, results compared | 4 | 3002.00 |" in page
    assert "(1 ended at the limit)" in page
    assert "| share | 8 % | 31 % | 31 % | 15 % | 8 % | 8 % |" in page
    assert page.count("| 8 samples | 75 % | 25 % |") == 1
    assert "| Expand(All) | 75 | 75 % | 40 |" in page
    assert "Sort" not in page
    widths = {line.count("|") for line in page.splitlines() if line.startswith("| contender")}
    assert len(widths) == 1


def test_a_part_that_was_not_run_is_left_out(run: dict[str, Any]) -> None:
    run["graphs"] = run["graphs"][1:]
    del run["graphs"][0]["at_once"], run["graphs"][0]["plans"]
    assert "recalls at once" not in markdown(run)
