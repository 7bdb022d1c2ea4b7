"""Spans and metrics by OpenTelemetry; nothing where its API is not installed (extra ``otel``).

In: names and numbers. Out: what the application's own OpenTelemetry SDK makes of them; without an
SDK nothing. Never in them: texts, tags, ids of memories, names of scopes, messages of errors.

Names are those of OpenTelemetry's conventions for databases (stable) and for the memory of agents
(in development); ``memoria.*`` where these have none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

try:
    from opentelemetry import context, metrics, trace

    INSTALLED = True
except ImportError:
    INSTALLED = False

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram

Value = str | bool | int | float

#: Id of the recall that is going on; stands in the metadata of its transactions.
recall_id: ContextVar[str | None] = ContextVar("memoria_recall_id", default=None)

HISTOGRAMS = {
    "memoria.recall.duration": ("s", "Duration of recalls and of their stages."),
    "memoria.recall.memories": ("{memory}", "Memories that recalls reached."),
    "memoria.recall.tokens": ("{token}", "Tokens of the contexts."),
    "db.client.operation.duration": ("s", "Duration of queries."),
}
COUNTERS = {
    "memoria.recall.refused": "Recalls whose line was too long for their deadline.",
    "memoria.recall.degraded": "Recalls of which a part did not work as well as it could have.",
}


#: How many memories an operation is about.
RECORD_COUNT = "gen_ai.memory.record.count"


class Span(Protocol):
    """What may be said of a span while it lasts."""

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        """Add attributes."""


class _Unrecorded:
    def __enter__(self) -> Span:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        pass


_UNRECORDED = _Unrecorded()


class _Opened:
    """A span for ``with``, which the spans opened within are below.

    A class, since generators for ``with`` took a third of the time of what they did, and a recall
    opens more than ten. The text of an error may hold ids: its type must do.
    """

    __slots__ = ("_attributes", "_client", "_name", "_span", "_token")

    def __init__(self, name: str, attributes: Mapping[str, Value] | None, client: bool) -> None:
        self._name = name
        self._attributes = attributes
        self._client = client

    def __enter__(self) -> Span:
        self._span = _started(self._name, self._attributes, client=self._client)
        self._token = context.attach(trace.set_span_in_context(self._span))
        opened: Span = self._span
        return opened

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        context.detach(self._token)
        if kind is not None:
            _failed(self._span, kind.__name__)
        self._span.end()


class _OpenedQuery:
    """The span of one attempt of a query, and its duration; nothing is opened below it."""

    __slots__ = ("_attributes", "_name", "_span", "_started")

    def __init__(self, name: str, database: str) -> None:
        self._name = name
        self._attributes: dict[str, Value] = {
            "db.system.name": "neo4j",
            "db.namespace": database,
            "db.query.summary": name,
        }

    def __enter__(self) -> None:
        self._started = time.perf_counter()
        self._span = _started(self._name, self._attributes, client=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if kind is not None and error is not None:
            if code := getattr(error.__cause__, "code", None):
                self._span.set_attribute("db.response.status_code", str(code))
            _failed(self._span, kind.__name__)
            self._attributes["error.type"] = kind.__name__
        self._span.end()
        seconds = time.perf_counter() - self._started
        measure("db.client.operation.duration", seconds, self._attributes)


def _started(name: str, attributes: Mapping[str, Value] | None, *, client: bool) -> Any:
    kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
    return _tracer().start_span(name, kind=kind, attributes=attributes)


def _failed(opened: Any, error: str) -> None:
    opened.set_attribute("error.type", error)
    opened.set_status(trace.StatusCode.ERROR)


def span(
    name: str, attributes: Mapping[str, Value] | None = None, *, client: bool = False
) -> AbstractContextManager[Span]:
    """Open a span below the one that is open.

    Parameters
    ----------
    client
        Whether it waits for another system: a database, or memoria as seen by an agent.
    """
    return _Opened(name, attributes, client) if INSTALLED else _UNRECORDED


@contextmanager
def recall_id_set(id_: str) -> Iterator[None]:
    """Say which recall is going on."""
    token = recall_id.set(id_)
    try:
        yield
    finally:
        recall_id.reset(token)


def memory_span(
    operation: str, *, store: str, count: int | None = None
) -> AbstractContextManager[Span]:
    """Open the span of an operation on memories; ``store`` is a hash, never the name of a scope."""
    counted = {} if count is None else {RECORD_COUNT: count}
    names = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": store}
    return span(operation, {**names, **counted}, client=True)


def query_span(name: str, database: str) -> AbstractContextManager[object]:
    """Open the span of one attempt of a query, and measure how long it takes."""
    return _OpenedQuery(name, database) if INSTALLED else _UNRECORDED


def measure(name: str, value: float, attributes: Mapping[str, Value] | None = None) -> None:
    """Record one value of a histogram."""
    if INSTALLED:
        _histogram(name).record(value, attributes)


def count(name: str) -> None:
    """Count one more."""
    if INSTALLED:
        _counter(name).add(1)


@cache
def _tracer() -> Any:
    return trace.get_tracer("memoria", version("memoria-graph"))


@cache
def _meter() -> Any:
    return metrics.get_meter("memoria", version("memoria-graph"))


@cache
def _histogram(name: str) -> Histogram:
    unit, words = HISTOGRAMS[name]
    histogram: Histogram = _meter().create_histogram(name, unit=unit, description=words)
    return histogram


@cache
def _counter(name: str) -> Counter:
    counter: Counter = _meter().create_counter(name, description=COUNTERS[name])
    return counter
