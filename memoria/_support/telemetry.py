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
from dataclasses import dataclass, field
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

_recall: ContextVar[_Recall | None] = ContextVar("memoria_recall", default=None)

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
        kind = trace.SpanKind.CLIENT if self._client else trace.SpanKind.INTERNAL
        self._span = _tracer().start_span(self._name, kind=kind, attributes=self._attributes)
        self._token = context.attach(trace.set_span_in_context(self._span))
        opened: Span = self._span
        return opened

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        context.detach(self._token)
        if kind is not None:
            _failed(self._span, kind.__name__)
        self._span.end()


class _TimedQuery:
    """The time of one attempt of a query, of which a span and a measurement are made later."""

    __slots__ = ("_began_ns", "_database", "_error", "_name", "_parent", "_seconds", "_started")

    def __init__(self, name: str, database: str) -> None:
        self._name = name
        self._database = database
        self._error: dict[str, Value] = {}

    def __enter__(self) -> None:
        self._parent = context.get_current()
        self._began_ns = time.time_ns()
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        self._seconds = time.perf_counter() - self._started
        if kind is not None:
            self._error = {"error.type": kind.__name__}
            if error is not None and (code := getattr(error.__cause__, "code", None)):
                self._error["db.response.status_code"] = str(code)
        recall = _recall.get()
        if recall is None or recall.over:
            self.record()
        else:
            recall.queries.append(self)

    def record(self) -> None:
        """Make the span, which nothing is below, and the measurement."""
        attributes: dict[str, Value] = {
            "db.system.name": "neo4j",
            "db.namespace": self._database,
            "db.query.summary": self._name,
            **self._error,
        }
        token = context.attach(self._parent)
        opened = _tracer().start_span(
            self._name,
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=self._began_ns,
        )
        if self._error:
            opened.set_status(trace.StatusCode.ERROR)
        opened.end(self._began_ns + round(1e9 * self._seconds))
        measure("db.client.operation.duration", self._seconds, attributes)
        context.detach(token)


@dataclass(slots=True)
class _Recall:
    """A recall that is going on.

    Its queries become spans together when it is over: one at a time, between other work, they took
    twice the processor time.
    """

    id: str
    queries: list[_TimedQuery] = field(default_factory=list)
    over: bool = False


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
def recalling(id_: str) -> Iterator[None]:
    """Say which recall is going on."""
    recall = _Recall(id_)
    token = _recall.set(recall)
    try:
        yield
    finally:
        _recall.reset(token)
        recall.over = True  # what it has cancelled may end later
        for query in recall.queries:
            query.record()


def recall_id() -> str | None:
    """Return the id of the recall that is going on, for the metadata of its transactions."""
    recall = _recall.get()
    return None if recall is None else recall.id


def memory_span(
    operation: str, *, store: str, count: int | None = None
) -> AbstractContextManager[Span]:
    """Open the span of an operation on memories; ``store`` is a hash, never the name of a scope."""
    counted = {} if count is None else {RECORD_COUNT: count}
    names = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": store}
    return span(operation, {**names, **counted}, client=True)


def query_span(name: str, database: str) -> AbstractContextManager[object]:
    """Open the span of one attempt of a query, and measure how long it takes."""
    return _TimedQuery(name, database) if INSTALLED else _UNRECORDED


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
