"""One test of many cases: all of them are tried, and each that fails is named.

A case costs a call. As a test of its own it would be collected by every worker, and have its
fixtures made, which takes longer than the checks of most cases; a subtest of pytest takes almost as
long, because each is captured and reported.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Test = Callable[..., Any]
SHOWN_CHARS = 200


def for_each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test with each case; its other arguments are fixtures, made once for all cases.

    For tests that change nothing: where a case needs a scope or a folder of its own, use
    ``pytest.mark.parametrize``.

    Parameters
    ----------
    names
        The arguments that a case gives, separated by commas.
    cases
        A tuple for each case; the value itself where there is one name.
    """
    keys = [name.strip() for name in names.split(",")]
    given = [dict(zip(keys, case if keys[1:] else (case,), strict=True)) for case in cases]
    assert given, "without a case nothing is tested"

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        fixtures = [kept for name, kept in signature.parameters.items() if name not in keys]

        def run(**made: Any) -> None:
            failed: list[Exception] = []
            for case in given:
                with _trying(case, failed):
                    test(**made, **case)
            _end(failed, len(given))

        async def run_async(**made: Any) -> None:
            failed: list[Exception] = []
            for case in given:
                with _trying(case, failed):
                    await test(**made, **case)
            _end(failed, len(given))

        tried: Any = run_async if inspect.iscoroutinefunction(test) else run
        functools.update_wrapper(tried, test)
        tried.__signature__ = signature.replace(parameters=fixtures)
        return tried  # type: ignore[no-any-return]

    return decorate


@contextmanager
def _trying(case: dict[str, Any], failed: list[Exception]) -> Iterator[None]:
    """Note the exception of a case in ``failed``, so that the next one is tried."""
    try:
        yield
    # All of them are reported; a case can't be skipped, as that would hide those that failed.
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as exc:  # noqa: BLE001
        # An exception of pytest cannot be a member of a group.
        error = exc if isinstance(exc, Exception) else AssertionError(str(exc))
        error.add_note(f"case: {_shown(case)}")
        failed.append(error.with_traceback(exc.__traceback__))


def _end(failed: list[Exception], count: int) -> None:
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {count} cases failed", failed)


def _shown(case: dict[str, Any]) -> str:
    """The case in few words; some values are meant to be too deep to print."""
    try:
        text = ", ".join(f"{name}={value!r}" for name, value in case.items())
    except (RecursionError, ValueError):
        text = ", ".join(f"{name}: {type(value).__name__}" for name, value in case.items())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} ..."
