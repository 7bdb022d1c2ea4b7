"""Measure what spans and metrics cost: recalls with them and without, in turn.

    scripts/bench telemetry [--questions 100]

Starts a throw-away Neo4j with the sample memory. The same recalls run in this process without
OpenTelemetry, with its interface alone, and with its SDK, whose spans and metrics are kept in
memory. Their results must be equal. Prints Markdown.

A question is answered faster when it was just asked. So each is asked once more than is measured,
and then four times: without, with, with, without. A ratio is that of the two sums.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Sequence

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import memoria
from memoria._support import telemetry
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.sample import QUESTIONS, sample_path

SCOPE = "sample"
WARM_UP = 20
EXPORTER = InMemorySpanExporter()


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


async def compare(
    retriever: memoria.GraphRetriever, name: str, other: Callable[[], None], rounds: int
) -> None:
    """Time recalls without OpenTelemetry and the other way, in turn, and print a row."""
    sums: list[tuple[float, float]] = []
    for number in range(WARM_UP + rounds):
        question = QUESTIONS[number % len(QUESTIONS)].text
        without()
        contexts = [
            (await retriever.recall(question, deadline_s=60)).context
        ]  # the first time takes longer
        took = {False: 0.0, True: 0.0}
        for recorded in (False, True, True, False):
            (other if recorded else without)()
            started = time.perf_counter()
            recall = await retriever.recall(question, deadline_s=60)
            took[recorded] += time.perf_counter() - started
            contexts.append(recall.context)
        if any(context != contexts[0] for context in contexts):
            raise SystemExit(f"results differ: {name}")
        sums.append((took[False], took[True]))
    measured = sums[WARM_UP:]
    ratios = sorted(b / a for a, b in measured)
    low, high = (ratios[int(share * len(ratios))] for share in (0.4, 0.6))
    cells = [500 * statistics.median(column) for column in zip(*measured, strict=True)]
    print(
        f"| {name} | {rounds} | {cells[0]:.2f} | {cells[1]:.2f} "
        f"| {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f}) |",
        flush=True,
    )


async def measure(rounds: int) -> None:
    """Load the sample, and compare."""
    patient = memoria.StoreConfig(query_timeout_s=120)  # a server that has just started is slow
    async with (
        LocalNeo4j.ephemeral() as server,
        memoria.connect(server.uri, server.auth, scope=SCOPE, store=patient) as retriever,
    ):
        await memoria.apply_schema(retriever.store)
        await ingest_files(retriever.writer(), [sample_path()])
        print("| way | questions | without, ms | with, ms | ratio (40 % to 60 % of them) |")
        print("|---|---|---|---|---|")
        await compare(retriever, "interface without an SDK", with_interface, rounds)
        await compare(retriever, "SDK, spans in batches", with_sdk, rounds)
        trace.get_tracer_provider().force_flush()  # type: ignore[attr-defined]
        spans = len(EXPORTER.get_finished_spans()) / (2 * (WARM_UP + rounds))
        print(f"\n{spans:.1f} spans a recall")


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench telemetry",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=int, default=100)
    asyncio.run(measure(parser.parse_args(arguments).questions))
