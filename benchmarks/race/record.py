"""The results of a run as plain values: what is written as JSON, and what reports are made of.

In: `Result`s. Out: maps, lists, numbers. Touches nothing.
"""

from __future__ import annotations

from typing import Any

from benchmarks.race.race import Result, Sample


def recorded(result: Result) -> dict[str, Any]:
    """Every answer of one contender, column by column; times in milliseconds."""
    samples = result.samples
    return {
        "compared": result.compared,
        "case": [sample.case for sample in samples],
        "wall_ms": [_ms(sample.cost.wall_s) for sample in samples],
        "client_cpu_ms": [_ms(sample.cost.client_cpu_s) for sample in samples],
        "server_cpu_ms": [_ms(sample.cost.server_cpu_s) for sample in samples],
        "first_ms": [_first(sample) for sample in samples],
        "levels": [sample.outcome.levels if sample.outcome else None for sample in samples],
        "too_slow": [sample.case for sample in samples if sample.outcome is None],
        "queries": result.queries,
        "records": result.records,
        "messages": result.messages,
        "peak_mb": result.peak_mb,
        **{
            name: [sample.outcome.notes.get(name) for sample in samples if sample.outcome]
            for name in ("took_s", "nodes", "edges_read", "stages", "reasons")
            if any(sample.outcome and name in sample.outcome.notes for sample in samples)
        },
    }


def _first(sample: Sample) -> float | None:
    if sample.outcome is None or sample.outcome.first_s is None:
        return None
    return _ms(sample.outcome.first_s)


def _ms(seconds: float) -> float:
    return round(1_000 * seconds, 4)
