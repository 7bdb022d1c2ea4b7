"""Tell whether a report may deny what its call did, because an answer of the server was lost.

In: what becomes of the attempts of a query. Out: `Doubt`, for whoever watches. Touches nothing.

A connection may break after the server has committed a change and before its answer has arrived.
The query is then sent again; every query of memoria may be, without harm. But the second answer
says what the second attempt did, which as a rule is nothing. No count can tell the two apart, so
the report says that it is not certain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from neo4j import exceptions as driver_errors

from memoria.types import Count

Given = ParamSpec("Given")
Report = TypeVar("Report")

# Errors of the server after which nobody knows whether the transaction was committed.
_UNKNOWN_OUTCOME = ("ReplicationFailure", "TransactionCommitFailed")


@dataclass(slots=True)
class Doubt:
    """Whether a change was sent again although it may have been made already."""

    arose: bool = False


_watching: ContextVar[tuple[Doubt, ...]] = ContextVar("memoria_watching", default=())


@contextmanager
def watch() -> Iterator[Doubt]:
    """Watch the queries of this task and of those that it starts, while the context is open."""
    doubt = Doubt()
    token = _watching.set((*_watching.get(), doubt))
    try:
        yield doubt
    finally:
        _watching.reset(token)


def with_certainty(
    method: Callable[Given, Awaitable[Report]],
) -> Callable[Given, Coroutine[Any, Any, Report]]:
    """Let a method's report say that it is not certain, where an answer was lost.

    The report is a `Count`, or a frozen dataclass with a field ``certain``.
    """

    @wraps(method)
    async def watched(*args: Given.args, **kwargs: Given.kwargs) -> Report:
        with watch() as doubt:
            report = await method(*args, **kwargs)
        if not doubt.arose:
            return report
        if isinstance(report, Count):
            return cast(Report, Count(report, certain=False))
        return cast(Report, replace(cast(Any, report), certain=False))

    return watched


def leave_doubt() -> None:
    """Tell whoever watches this task that a change was sent again that may have been made."""
    for doubt in _watching.get():
        doubt.arose = True


def may_have_changed(error: driver_errors.Neo4jError) -> bool:
    """Tell whether the server may have made the change that it answers with an error.

    As a rule it has not: with its answer it has undone the transaction.
    """
    return str(error.code).rpartition(".")[2] in _UNKNOWN_OUTCOME
