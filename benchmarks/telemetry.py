"""Measure what spans and metrics cost: recalls with them and without, in turn.

    scripts/bench telemetry [--questions 100]

Starts a throw-away Neo4j with the sample memory. The same recalls run in this process without
OpenTelemetry, with its interface alone, and with its SDK, whose spans go to an exporter in batches,
and whose metrics are kept in memory. Their results must be equal. Prints Markdown.

A question is answered faster when it was just asked. So each is asked once more than is measured,
and then four times: without, with, with, without. Two figures say what the recording costs: the
median of the ratios of the questions, and the processor time that this process takes more, as a
share of how long a recall lasts. The second one hardly depends on what else the machine does. Each
stands with an interval of 95 %.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import memoria
from benchmarks.server import parser_of
from memoria._support import telemetry
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.types import ContextPack

SCOPE = "sample"
WARM_UP = 20

Figures = npt.NDArray[np.float64]


class Counted(SpanExporter):
    """Counts spans, and lets go of them as an exporter does that sends them away."""

    def __init__(self) -> None:
        self.spans = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Count them."""
        self.spans += len(spans)
        return SpanExportResult.SUCCESS


EXPORTER = Counted()


def without() -> None:
    """Work as if OpenTelemetry were not installed."""
    telemetry.INSTALLED = False


def with_interface() -> None:
    """Work with what the extra installs; the program has no SDK yet."""
    telemetry.INSTALLED = True


def with_sdk() -> None:
    """Set the SDK up, once."""
    telemetry.INSTALLED = True
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(EXPORTER))
        trace.set_tracer_provider(provider)
        metrics.set_meter_provider(MeterProvider(metric_readers=[InMemoryMetricReader()]))


async def timed(retriever: memoria.GraphRetriever, question: str) -> tuple[Figures, ContextPack]:
    """Recall once; return seconds by the clock, seconds of this process, and the context."""
    started, busy = time.perf_counter(), time.process_time()
    recall = await retriever.recall(question, deadline_s=60)
    took = np.array([time.perf_counter() - started, time.process_time() - busy])
    return took, recall.context


async def compare(
    retriever: memoria.GraphRetriever, name: str, other: Callable[[], None], rounds: int
) -> None:
    """Time recalls without OpenTelemetry and the other way, in turn, and print a row."""
    sums: list[Figures] = []
    for number in range(WARM_UP + rounds):
        question = QUESTIONS[number % len(QUESTIONS)].text
        without()
        _, first = await timed(retriever, question)  # the first time takes longer
        took = {False: np.zeros(2), True: np.zeros(2)}
        for recorded in (False, True, True, False):
            (other if recorded else without)()
            seconds, context = await timed(retriever, question)
            took[recorded] += seconds
            if context != first:
                raise SystemExit(f"results differ: {name}")
        sums.append(np.concatenate([took[False], took[True]]) / 2)
    wall_s, busy_s, other_wall_s, other_busy_s = np.array(sums[WARM_UP:]).T
    ratio, low, high = median_of(other_wall_s / wall_s)
    shares = median_of(100 * (other_busy_s - busy_s) / np.median(wall_s))
    print(
        f"| {name} | {rounds} | {1_000 * np.median(wall_s):.2f} "
        f"| {1_000 * np.median(other_wall_s):.2f} | {ratio:.3f} ({low:.3f} to {high:.3f}) "
        f"| {shares[0]:.2f} % ({shares[1]:.2f} to {shares[2]:.2f}) |",
        flush=True,
    )


def median_of(values: Figures) -> tuple[float, float, float]:
    """Return the median of the questions, and where it lies in 95 of 100 draws of as many."""
    draws = np.random.default_rng(0).choice(values, (2_000, len(values)))
    low, high = np.percentile(np.median(draws, axis=1), [2.5, 97.5])
    return float(np.median(values)), float(low), float(high)


async def measure(rounds: int) -> None:
    """Load the sample, and compare."""
    patient = memoria.StoreConfig(query_timeout_s=120)  # a server that has just started is slow
    async with (
        LocalNeo4j.ephemeral() as server,
        memoria.connect(server.uri, server.auth, scope=SCOPE, store=patient) as retriever,
    ):
        await memoria.apply_schema(retriever.store)
        await ingest_files(retriever.writer(), [sample_path()])
        print("| way | questions | without, ms | with, ms | ratio | processor time more |")
        print("|---|---|---|---|---|---|")
        await compare(retriever, "interface without an SDK", with_interface, rounds)
        await compare(retriever, "SDK, spans in batches", with_sdk, rounds)
        trace.get_tracer_provider().force_flush()  # type: ignore[attr-defined]
        spans = EXPORTER.spans / (2 * (WARM_UP + rounds))
        print(f"\n{spans:.1f} spans a recall")


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    parser = parser_of("telemetry", __doc__)
    parser.add_argument("--questions", type=int, default=100)
    asyncio.run(measure(parser.parse_args(arguments).questions))
