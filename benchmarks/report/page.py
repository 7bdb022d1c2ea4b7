"""A run as a page: what was measured, contender by contender, and each measure with its target.

In: a record. Out: Markdown. Touches nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.race.names import MEMORIA, PAGERANK, RECALL, ROUND_TRIP, WITH_LOAD
from benchmarks.report.cost import fit_cost, terms_of, trip_of
from benchmarks.report.figures import common, percentile, ratio
from benchmarks.report.targets import targets

COLUMNS = (
    "contender",
    "runs",
    "p50 ms",
    "p95",
    "p99",
    "round trips, p50",
    "x memoria, p50",
    "first path ms",
    "queries",
    "records",
    "client CPU ms, p50",
    "server CPU ms, p50",
    "peak MB",
)
STAGES = ("embed", "seeds", "explore", "hydrate", "rank", "pack")


def markdown(run: Mapping[str, Any]) -> str:
    """Write the page."""
    parts = ["# Benchmark", ""]
    parts += [f"{made_by(run)} Intervals hold 95 % of a bootstrap over the cases.", ""]
    parts += ["## Measures and targets", "", *_targets(run), ""]
    if explored := [graph for graph in run["graphs"] if MEMORIA in graph["contenders"]]:
        parts += ["## What an exploration costs", "", *_cost(explored), ""]
    for graph in run["graphs"]:
        parts += [f"## {graph['name'].capitalize()}", "", _loaded(graph), ""]
        parts += [*_contenders(graph), ""]
        if MEMORIA in graph["contenders"]:
            parts += [*_depths(graph["contenders"][MEMORIA]), ""]
        if shares := stage_shares(graph["contenders"].get(RECALL, {})):
            parts += [*_stages(shares), ""]
        if graph.get("client"):
            parts += [*_client(graph["client"]), "", *_server(graph["server"]), ""]
        if graph.get("at_once"):
            parts += [*_at_once(graph["at_once"]), ""]
    return "\n".join(parts).rstrip() + "\n"


def made_by(run: Mapping[str, Any], command: str = "") -> str:
    """Say by which command a record was made, from which commit, and where.

    Parameters
    ----------
    command
        The command of ``scripts/bench``; that of a race needs no name.
    """
    facts, settings = run["environment"], run["settings"]
    words = " ".join(filter(None, ("scripts/bench", command, settings["arguments"])))
    return (
        f"Made by `{words}` at commit {facts['commit']} in {settings['took_s']:.0f} s; "
        f"Neo4j {facts['neo4j']}, driver {facts['driver']}, Python {facts['python']}, "
        f"{facts['cores']} cores. Load of the machine at the start {facts['load_start']}, at the "
        f"end {facts['load_end']}."
    )


def _targets(run: Mapping[str, Any]) -> Iterator[str]:
    yield from _table(
        ("measure", "target", "measured", "met"),
        [
            (row.measure, row.target, row.value, {None: "", True: "yes", False: "no"}[row.met])
            for row in targets(run)
        ],
    )


def _cost(graphs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write the cost model, how well it fits, and what it says of a network of 1 ms."""
    model = fit_cost(graphs)
    yield (
        f"Fitted to all explorations of five seeds in one session: each query its round trip and "
        f"{model.overhead_ms:.2f} ms, each memory reached {1_000 * model.memory_ms:.0f} us, each "
        f"edge read {1_000 * model.edge_ms:.1f} us. The model has no term for the size of the "
        "graph: its effect on the time is the difference between the columns *measured* and "
        "*model*."
    )
    yield ""
    rows = []
    for graph in graphs:
        (terms, walls), trip_ms = terms_of(graph), trip_of(graph)
        here, far = model.predict(terms, trip_ms), model.predict(terms, trip_ms + 1)
        error = np.median(np.abs(here - walls) / walls)
        rows.append(
            (
                graph["name"],
                *(f"{value:,.0f}" for value in np.median(terms, axis=0)),
                f"{percentile(walls.tolist(), 50):.1f} / {percentile(walls.tolist(), 95):.1f}",
                f"{percentile(here.tolist(), 50):.1f} / {percentile(here.tolist(), 95):.1f}",
                f"{100 * error:.0f} %",
                f"{percentile(far.tolist(), 50):.1f} / {percentile(far.tolist(), 95):.1f}",
            )
        )
    head = ("graph", "queries, p50", "memories", "edges", "measured ms, p50 / p95", "model")
    yield from _table((*head, "error, p50", "model with 1 ms of network"), rows)


def _loaded(graph: Mapping[str, Any]) -> str:
    load = graph["load"]
    steps = ", ".join(
        f"{name.removesuffix('_s')} {load[name]:.1f} s" for name in load if name.endswith("_s")
    )
    peak = f"; server memory {graph['server_mb']:.0f} MB" if graph.get("server_mb") else ""
    return (
        f"{load['nodes']:,} memories ({load['embedded']:,} embedded), {load['edges']:,} edges, "
        f"largest degree {load['largest_degree']:,}. Loaded by {load['way']}: {steps}{peak}."
    )


def _contenders(graph: Mapping[str, Any]) -> Iterator[str]:
    contenders = graph["contenders"]
    base = contenders.get(MEMORIA) or contenders[RECALL]
    trip_ms = percentile(contenders[ROUND_TRIP]["wall_ms"], 50)
    rows = [_row(name, one, base, trip_ms) for name, one in contenders.items() if one["wall_ms"]]
    if PAGERANK in contenders and graph.get("pagerank"):
        load_ms = 1_000 * graph["pagerank"]["load_s"]
        walls = [wall + load_ms for wall in contenders[PAGERANK]["wall_ms"]]
        one = {**contenders[PAGERANK], "wall_ms": walls, "client_cpu_ms": [], "server_cpu_ms": []}
        one["peak_mb"] = graph["pagerank"]["memory_mb"]
        rows.append(_row(WITH_LOAD, one, base, trip_ms))
    yield from _table(COLUMNS, rows)


def _row(
    name: str, one: Mapping[str, Any], base: Mapping[str, Any], trip_ms: float
) -> tuple[str, ...]:
    walls = one["wall_ms"]
    mine, theirs = common(base, one)
    first = [value for value in one["first_ms"] if value is not None]
    slow = f" ({len(one['too_slow'])} ended at the limit)" if one["too_slow"] else ""
    p50, p95, p99 = (percentile(walls, share) for share in (50, 95, 99))
    return (
        name + (", results compared" if one["compared"] else ""),
        f"{len(walls)}{slow}",
        f"{p50:.2f}",
        f"{p95:.2f}",
        f"{p99:.2f}",
        f"{p50 / trip_ms:.1f}",
        str(ratio(theirs, mine)) if mine else "",
        f"{percentile(first, 50):.2f}" if first else "",
        _number(one["queries"]),
        _number(one["records"]),
        _p50(one["client_cpu_ms"]),
        _p50(one["server_cpu_ms"]),
        _number(one["peak_mb"]),
    )


def _client(profile: Mapping[str, Any]) -> Iterator[str]:
    shares = {part: f"{100 * share:.0f} %" for part, share in profile["parts"].items()}
    yield from _table(
        ("processor time of the client", *shares),
        [(f"{profile['samples']} samples", *shares.values())],
    )


def _server(operators: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = [row for row in operators if row["hits"]]
    total = sum(row["hits"] for row in shown)
    yield from _table(
        ("operator of the level query", "database hits", "share", "rows"),
        [
            (
                str(row["operator"]),
                f"{row['hits']:,}",
                f"{100 * row['hits'] / total:.0f} %",
                f"{row['rows']:,}",
            )
            for row in shown
        ],
    )


def _at_once(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _table(
        (
            "recalls at once",
            "recalls",
            "per second, median round",
            "p50 ms",
            "p99 ms",
            "failed or degraded",
        ),
        [
            (
                str(step["concurrency"]),
                str(len(step["took_ms"])),
                f"{percentile(step['per_s'], 50):.1f}",
                f"{percentile(step['took_ms'], 50):.1f}",
                f"{percentile(step['took_ms'], 99):.1f}",
                str(len(step["failed"])),
            )
            for step in steps
        ],
    )


def _depths(one: Mapping[str, Any]) -> Iterator[str]:
    """Tell shallow explorations from deep ones: tags damp energy, the median lies between."""
    by_levels: dict[int, list[float]] = defaultdict(list)
    for levels, wall_ms in zip(one["levels"], one["wall_ms"], strict=True):
        by_levels[levels].append(wall_ms)
    yield from _table(
        ("levels of an exploration", "explorations", "p50 ms", "p95 ms"),
        [
            (
                str(levels),
                str(len(walls)),
                f"{percentile(walls, 50):.1f}",
                f"{percentile(walls, 95):.1f}",
            )
            for levels, walls in sorted(by_levels.items())
        ],
    )


def _stages(shares: Mapping[str, float]) -> Iterator[str]:
    whole = sum(shares.values())
    yield from _table(
        ("stage of a recall", *shares),
        [
            ("p50 ms", *(f"{value:.2f}" for value in shares.values())),
            ("share", *(f"{100 * value / whole:.0f} %" for value in shares.values())),
        ],
    )


def stage_shares(contender: Mapping[str, Any]) -> dict[str, float]:
    """Median of each stage of whole recalls; milliseconds."""
    rows = [dict(row) for row in contender.get("stages", ())]
    for row in rows:
        # What is still to be read comes after all levels.
        row["explore"] = max(0.0, row["explore"] - row["hydrate"])
    return {
        stage: 1_000 * float(np.median([row.get(stage, 0.0) for row in rows]))
        for stage in STAGES
        if rows
    }


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _p50(values: Sequence[float]) -> str:
    return f"{percentile(values, 50):.2f}" if values else ""
