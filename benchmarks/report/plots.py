"""Pictures of a run.

In: a record. Out: SVG files. Writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.race.names import LOOP, MEMORIA, PAGERANK, PRINTED, RECALL, ROUND_TRIP
from benchmarks.report.figures import percentile
from benchmarks.report.page import stage_shares

FLAME_COLORS = {"memoria": "tab:blue", "neo4j": "tab:orange"}
GROWING = (MEMORIA, PRINTED, LOOP, PAGERANK, ROUND_TRIP)


def draw(run: Mapping[str, Any], folder: Path) -> None:
    """Draw every plot that the run has data for."""
    mpl.rcParams["svg.hashsalt"] = "memoria"  # the same file for the same numbers
    mpl.rcParams["svg.fonttype"] = "none"
    for number, graph in enumerate(run["graphs"]):
        _latency(graph, folder, number)
        if graph.get("client"):
            _flames(graph, folder, number)
        if graph.get("at_once"):
            _at_once(graph["at_once"], folder)
        if shares := stage_shares(graph["contenders"].get(RECALL, {})):
            _stages(shares, folder)
    grown = [graph for graph in run["graphs"] if graph["family"] == "power law"]
    if len(grown) > 1:
        _growth(grown, folder)


def _latency(graph: Mapping[str, Any], folder: Path, number: int) -> None:
    """p50, p95 and p99 of every contender."""
    shown = {name: one for name, one in graph["contenders"].items() if one["wall_ms"]}
    figure, axes = _figure(height=0.35 * len(shown) + 1.2)
    for place, (name, one) in enumerate(shown.items()):
        color = "tab:blue" if "memoria" in name else "tab:gray"
        low, middle, high = (percentile(one["wall_ms"], share) for share in (50, 95, 99))
        axes.plot([low, high], [place, place], color="0.7", zorder=1)
        for value, marker in ((low, "o"), (middle, "|"), (high, ">")):
            axes.plot(value, place, marker, color=color, zorder=2)
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("ms: dot p50, bar p95, arrow p99")
    axes.set_title(str(graph["name"]))
    _save(figure, folder, f"latency-{number}")


def _flames(graph: Mapping[str, Any], folder: Path, number: int) -> None:
    """Processor time of the client: each frame as wide as its share, callers below."""
    frames = {tuple(stack): share for stack, share in graph["client"]["frames"]}
    figure, axes = _figure(height=0.18 * max(map(len, frames), default=1) + 1)
    right: dict[tuple[str, ...], float] = {(): 0.0}  # where the next one that a frame calls begins
    for stack, share in frames.items():
        left, level = right[stack[:-1]], len(stack)
        right[stack[:-1]], right[stack] = left + share, left
        module, _, function = stack[-1].rpartition(".")
        color = FLAME_COLORS.get(module.partition(".")[0], "0.85")
        axes.barh(level, share, 0.95, left, color=color, edgecolor="white")
        room = int(120 * share)  # letters
        if room > len(function) // 2:
            axes.text(left, level, function[:room], va="center", fontsize=5)
    axes.set_yticks([])
    axes.set_xlabel("share of the client's processor time; blue memoria, orange driver")
    axes.set_title(f"Client: {graph['name']}")
    _save(figure, folder, f"client-{number}")


def _growth(graphs: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """p50 and p95 by the size of the graph."""
    figure, axes = _figure(height=4)
    for name in GROWING:
        points = [
            (graph["load"]["edges"], graph["contenders"][name]["wall_ms"])
            for graph in graphs
            if graph["contenders"].get(name, {}).get("wall_ms")
        ]
        if points:
            sizes = [size for size, _ in points]
            (line,) = axes.plot(sizes, [percentile(w, 50) for _, w in points], "o-", label=name)
            axes.plot(sizes, [percentile(w, 95) for _, w in points], ":", color=line.get_color())
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("edges, mean degree equal")
    axes.set_ylabel("ms: line p50, dots p95")
    axes.legend(fontsize="small")
    _save(figure, folder, "growth")


def _at_once(steps: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Throughput and latency by the number of recalls at once."""
    figure, axes = _figure(height=3.5)
    numbers = [step["concurrency"] for step in steps]
    rates = [percentile(step["per_s"], 50) for step in steps]
    axes.plot(numbers, rates, "o-", color="tab:blue")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("recalls at once")
    axes.set_ylabel("recalls per second", color="tab:blue")
    axes.set_ylim(bottom=0)
    other = axes.twinx()
    for share, style in ((50, "-"), (99, ":")):
        values = [percentile(step["took_ms"], share) for step in steps]
        other.plot(numbers, values, style, color="tab:gray")
    other.set_ylabel("ms: line p50, dots p99", color="tab:gray")
    other.set_yscale("log")
    _save(figure, folder, "at-once")


def _stages(shares: Mapping[str, float], folder: Path) -> None:
    """Where the time of a recall goes."""
    figure, axes = _figure(height=1.6)
    left = 0.0
    for stage, value in shares.items():
        axes.barh([""], [value], left=left, label=f"{stage} {value:.1f}")
        left += value
    axes.set_xlabel("ms, median of each stage")
    axes.legend(ncols=len(shares), fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1))
    _save(figure, folder, "stages")


def _figure(*, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.add_subplot()


def _save(figure: Figure, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
