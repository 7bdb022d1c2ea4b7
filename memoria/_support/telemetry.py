"""Spans and metrics by OpenTelemetry; nothing where its API is not installed (extra ``otel``).

In: names and numbers. Out: what the application's own OpenTelemetry SDK makes of them; without an
SDK nothing. Never in them: texts, tags, ids of memories, names of scopes, messages of errors.

Names are those of OpenTelemetry's conventions for databases (stable) and for the memory of agents
(in development); ``memoria.*`` where these have none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
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
    def set_attributes(self, attributes: Mapping[str, Value], /) -> None:
        pass


_UNRECORDED: AbstractContextManager[Span] = nullcontext(_Unrecorded())


class _Opened:
    """The span of an operation on memories, for ``with``; the spans within are below it."""

    __slots__ = ("_attributes", "_name", "_span", "_token")

    def __init__(self, name: str, attributes: Mapping[str, Value]) -> None:
        self._name = name
        self._attributes = attributes

    def __enter__(self) -> Span:
        self._span = _tracer().start_span(
            self._name, kind=trace.SpanKind.CLIENT, attributes=self._attributes
        )
        self._token = context.attach(trace.set_span_in_context(self._span))
        opened: Span = self._span
        return opened

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        context.detach(self._token)
        if kind is not None:
            self._span.set_attributes(_failure(kind))
            self._span.set_status(trace.StatusCode.ERROR)
        self._span.end()


class _Timed:
    """The time of a stage or of one attempt of a query, of which a span is made later.

    The spans of a recall are made together when it is over: one at a time, between other work,
    they took twice the processor time.
    """

    def __init__(self, name: str, database: str | None = None) -> None:
        self._name = name
        self._database = database
        self._error: Mapping[str, Value] = {}
        self._span: Any = None

    def __enter__(self) -> None:
        self._outside = context.get_current()
        above = _timed.get()
        # If somebody has opened a span within the stage, this part belongs below that span.
        self._above = above if above and above._outside is self._outside else None
        self._token = _timed.set(self)
        self._began_ns = time.time_ns()
        self._started = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        self._seconds = time.perf_counter() - self._started
        with suppress(ValueError):  # a coroutine that is closed late ends in another context
            _timed.reset(self._token)
        del self._token  # it holds the context of its task, and with it all parts of the recall
        if kind is not None:
            self._error = _failure(kind, error if self._database is not None else None)
        recall = _recall.get()
        if recall is None or recall.over:
            self.record()
        else:
            recall.timed.append(self)

    def record(self) -> None:
        """End the span, and measure a query."""
        opened = self._opened()
        if self._error:
            opened.set_attributes(self._error)
            opened.set_status(trace.StatusCode.ERROR)
        opened.end(self._began_ns + round(1e9 * self._seconds))
        if self._database is not None:
            attributes = {**self._attributes(), **self._error}
            measure("db.client.operation.duration", self._seconds, attributes)

    def _opened(self) -> Any:
        """Make the span, unless one below it has made it."""
        if self._span is None:
            above = self._outside
            if self._above is not None:
                above = trace.set_span_in_context(self._above._opened(), above)
            kind = trace.SpanKind.INTERNAL if self._database is None else trace.SpanKind.CLIENT
            self._span = _tracer().start_span(
                self._name,
                context=above,
                kind=kind,
                attributes=self._attributes(),
                start_time=self._began_ns,
            )
        return self._span

    def _attributes(self) -> dict[str, Value]:
        if self._database is None:
            return {}
        return {
            "db.system.name": "neo4j",
            "db.namespace": self._database,
            "db.query.summary": self._name,
        }


_timed: ContextVar[_Timed | None] = ContextVar("memoria_timed", default=None)


@dataclass(slots=True)
class _Recall:
    """A recall that is going on, with its stages and queries."""

    id: str
    timed: list[_Timed] = field(default_factory=list)
    over: bool = False


def _failure(kind: type[BaseException], error: BaseException | None = None) -> Mapping[str, Value]:
    """Return what may be said of an error: its text may hold ids, its type must do."""
    if error is not None and (code := getattr(error.__cause__, "code", None)):
        return {"error.type": kind.__name__, "db.response.status_code": str(code)}
    return {"error.type": kind.__name__}


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
        for timed in recall.timed:
            timed.record()


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
    return _Opened(operation, {**names, **counted}) if INSTALLED else _UNRECORDED


def stage_span(name: str) -> AbstractContextManager[object]:
    """Record a stage of the recall that is going on; queries within are below it."""
    return _Timed(name) if INSTALLED else _UNRECORDED


def query_span(name: str, database: str) -> AbstractContextManager[object]:
    """Record one attempt of a query, and measure how long it takes."""
    return _Timed(name, database) if INSTALLED else _UNRECORDED


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
