"""Errors as problem details (RFC 9457).

In: an error. Out: a response of type ``application/problem+json``. Touches nothing.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from memoria._support.wording import told
from memoria.agents.arguments import fault_of
from memoria.errors import (
    DeadlineError,
    DimensionError,
    EmptyScopeError,
    IndexNotReadyError,
    InvalidInputError,
    LocalServerError,
    MemoriaError,
    OverloadedError,
    UnavailableError,
)

PROBLEM_TYPE = "application/problem+json"
#: When to call again where nobody can tell how long it takes; seconds.
RETRY_AFTER_S = 1
# The first that fits. All other errors are of the server's settings, or memoria's own: 500.
_STATUS: Mapping[type[MemoriaError], HTTPStatus] = {
    EmptyScopeError: HTTPStatus.NOT_FOUND,
    DimensionError: HTTPStatus.INTERNAL_SERVER_ERROR,
    InvalidInputError: HTTPStatus.BAD_REQUEST,
    OverloadedError: HTTPStatus.TOO_MANY_REQUESTS,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
    IndexNotReadyError: HTTPStatus.SERVICE_UNAVAILABLE,
    LocalServerError: HTTPStatus.SERVICE_UNAVAILABLE,
    DeadlineError: HTTPStatus.GATEWAY_TIMEOUT,
}
_MOST_FAULTS = 20
_NO_OPERATION = "there is no such operation: /v1/openapi.json lists all operations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An argument that can't be used.

    Attributes
    ----------
    field
        Its name, with the place in a list, such as ``messages.0.text``.
    detail
        Reason.
    """

    field: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a request was not answered.

    Attributes
    ----------
    type
        Which error it is: ``urn:memoria:error:`` and the name of memoria's class, such as
        ``InvalidInputError``; ``about:blank`` where the status says it.
    title
        The kind of error in a few words.
    status
        Status of the response.
    detail
        What happened, and what to do.
    retryable
        Whether the same request may succeed later.
    faults
        The arguments that can't be used.
    """

    type: str
    title: str
    status: int
    detail: str
    retryable: bool
    faults: Sequence[Fault]


class WrongArguments(Exception):  # noqa: N818 - of this server alone, and never seen by users
    """The arguments of a request can't be used.

    Parameters
    ----------
    error
        The error of pydantic about them.
    takes
        Names that there are.
    """

    def __init__(self, error: ValidationError, takes: Collection[str]) -> None:
        super().__init__(str(error))
        # A mistyped name is also a missing one: say what is there first.
        errors = sorted(error.errors(), key=lambda each: each["type"] == "missing")
        self.faults = [_fault(each, takes) for each in errors[:_MOST_FAULTS]]


def problem_of(error: Exception) -> Problem:
    """Return an error as a problem."""
    if isinstance(error, MemoriaError):
        return _of_memoria(error)
    if isinstance(error, WrongArguments):
        first = error.faults[0]
        return _problem(
            HTTPStatus.BAD_REQUEST,
            f"{first.field}: {first.detail}" if first.field else first.detail,
            type=f"urn:memoria:error:{InvalidInputError.__name__}",
            title=_title(InvalidInputError),
            faults=error.faults,
        )
    if isinstance(error, HTTPException):
        is_bare = error.detail == HTTPStatus.NOT_FOUND.phrase
        detail = _NO_OPERATION if is_bare else error.detail
        return _problem(HTTPStatus(error.status_code), detail)
    return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "memoria failed; its log says why")


def _of_memoria(error: MemoriaError) -> Problem:
    kinds = (status for kind, status in _STATUS.items() if isinstance(error, kind))
    field = getattr(error, "field", None)
    return _problem(
        next(kinds, HTTPStatus.INTERNAL_SERVER_ERROR),
        told(error),
        type=f"urn:memoria:error:{type(error).__name__}",
        title=_title(type(error)),
        retryable=error.retryable,
        faults=[] if field is None else [Fault(field=field, detail=told(error))],
    )


def _problem(status: HTTPStatus, detail: str, **known: Any) -> Problem:
    usual: dict[str, Any] = {
        "type": "about:blank",
        "title": status.phrase,
        "retryable": status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.CONFLICT),
        "faults": [],
    }
    return Problem(**(usual | known), status=status.value, detail=detail)


def _title(kind: type[MemoriaError]) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0].removesuffix(".")


def _fault(error: Any, takes: Collection[str]) -> Fault:
    """Name a wrong argument; its value is not repeated."""
    field, detail = fault_of(error, takes)
    return Fault(field=field, detail=detail)


def response_of(error: Exception) -> Response:
    """Return the answer to a request that failed."""
    problem = problem_of(error)
    headers = dict(getattr(error, "headers", None) or {})
    if problem.retryable:
        after_s = getattr(error, "retry_after_s", None) or RETRY_AFTER_S
        headers.setdefault("retry-after", str(math.ceil(after_s)))
    if problem.status == HTTPStatus.TOO_MANY_REQUESTS:
        headers["connection"] = "close"  # else it would be idle, and take the place of others
    return Response(
        to_json(problem), status_code=problem.status, headers=headers, media_type=PROBLEM_TYPE
    )


async def failed(_: Request, error: Exception) -> Response:
    """Answer a request that failed, as a handler of Starlette."""
    return response_of(error)
