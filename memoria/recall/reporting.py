"""What OpenTelemetry is told of a recall: numbers only.

In: a `Recall`. Out: attributes of its span, and measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from memoria._support import telemetry
from memoria._support.wording import number_of
from memoria.errors import OverloadedError
from memoria.graph.vocabulary import scope_key
from memoria.recall.config import RetrieverConfig
from memoria.types import Exploration, Recall

OPERATION = "search_memory"
_STAGE = "memoria.stage"


@contextmanager
def recall_span(recall_id: str, scope: str) -> Iterator[telemetry.Span]:
    """Open the span of a recall, which its queries and their transactions belong to."""
    with (
        telemetry.memory_span(OPERATION, store=scope_key(scope)) as span,
        telemetry.recalling(recall_id),  # its stages and queries are recorded while the span lasts
    ):
        span.set_attributes({"memoria.recall.id": recall_id})
        try:
            yield span
        except OverloadedError:
            telemetry.count("memoria.recall.refused")
            raise


def outcome_of(found: Recall, config: RetrieverConfig) -> Mapping[str, telemetry.Value]:
    """Return what came out of a recall."""
    return {
        telemetry.RECORD_COUNT: len(found.context.items),
        "memoria.strategy": config.strategy.name,
        "memoria.seeds": len(found.explorations),
        "memoria.paths": sum(len(each.paths) for each in found.explorations),
        "memoria.levels": max((each.stats.levels for each in found.explorations), default=0),
        "memoria.memories": _reached(found),
        "memoria.tokens": found.context.tokens,
        "memoria.budget": config.budget_tokens,
        "memoria.truncated": any(each.status == "truncated" for each in found.explorations),
        "memoria.degraded": bool(found.trace.degraded),
    }


def report(found: Recall, seconds: float) -> None:
    """Measure a recall and its stages."""
    telemetry.measure("memoria.recall.duration", seconds, {_STAGE: OPERATION})
    for stage, stage_s in found.trace.timings_s.items():
        telemetry.measure("memoria.recall.duration", stage_s, {_STAGE: stage})
    telemetry.measure("memoria.recall.memories", _reached(found))
    telemetry.measure("memoria.recall.tokens", found.context.tokens)
    if found.trace.degraded:
        telemetry.count("memoria.recall.degraded")


def _reached(found: Recall) -> int:
    return sum(each.stats.nodes for each in found.explorations)


def missed(explorations: Sequence[Exploration]) -> list[str]:
    """Describe in sentences which explorations failed and which the deadline cut short."""
    failed = [each for each in explorations if each.error is not None]
    notes = [f"exploration from {each.seed.id} failed: {each.error}" for each in failed]
    cut = [each.stats for each in explorations if each.status == "truncated"]
    if cut:
        levels = sorted(each.levels for each in cut)
        longest_s = max(each.elapsed_s for each in cut)
        notes.append(
            f"the deadline cut short {len(cut)} of {number_of(len(explorations), 'exploration')}, "
            f"after {levels[0]} to {levels[-1]} levels and {longest_s:.1f} s"
        )
    return notes
