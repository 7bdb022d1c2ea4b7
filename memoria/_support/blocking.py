"""Blocking twins of async objects and methods, for callers that can't use ``await``.

In: methods of async classes. Out: methods with the same parameters that wait for the result, and
the classes around them. The waiting is that of `LoopThread`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from memoria._support import stream
from memoria._support.loop_thread import LoopThread
from memoria.errors import ClosedError

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
H = TypeVar("H", bound="Handle[Any]")


class Handle(Generic[A_co]):
    """The twin of an object of the async classes; `connect` makes the first one."""

    def __init__(self, behind: A_co, thread: LoopThread[Any]) -> None:
        self._behind = behind
        self._thread = thread


def blocking(
    function: Callable[Concatenate[A, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Handle[A], P], R]:
    """Return the twin of an async function or method, which waits for the result.

    Its first argument is a twin instead of the async object, as in
    ``blocking(list_scopes)(retriever.store)``.

    Raises
    ------
    ClosedError
        By the twin: the connection was closed, before or during the call, or the process was
        forked since it was opened.
    """

    @wraps(function)
    def twin(handle: Handle[A], /, *args: P.args, **options: P.kwargs) -> R:
        return handle._thread.run(lambda: call_behind(function, handle, *args, **options))

    return twin


def streaming(
    method: Callable[Concatenate[A, P], stream.Stream[T, R]],
) -> Callable[Concatenate[Handle[A], P], Stream[T, R]]:
    """Return the twin of a method that returns a stream."""

    @wraps(method)
    def twin(handle: Handle[A], /, *args: P.args, **options: P.kwargs) -> Stream[T, R]:
        return Stream(call_behind(method, handle, *args, **options), handle._thread)

    return twin


def making(
    method: Callable[Concatenate[A, P], R], kind: Callable[[R, LoopThread[Any]], H]
) -> Callable[Concatenate[Handle[A], P], H]:
    """Return the twin of a method that makes another object: it makes the twin of that object."""

    @wraps(method)
    def twin(handle: Handle[A], /, *args: P.args, **options: P.kwargs) -> H:
        return kind(call_behind(method, handle, *args, **options), handle._thread)

    return twin


def call_behind(
    function: Callable[Concatenate[A, P], R], handle: Handle[A], *args: P.args, **options: P.kwargs
) -> R:
    """Call a method of the async object behind a twin; twins among the arguments are replaced."""

    def plain(value: Any) -> Any:
        return value._behind if isinstance(value, Handle) else value

    given: Any = map(plain, args)
    named: Any = {name: plain(value) for name, value in options.items()}
    return function(handle._behind, *given, **named)


class Stream(Iterator[T], Generic[T, R]):
    """The items of a running call; iterate over them with ``for``.

    Inside ``with``, an early exit ends the work on the server at once; without it, the work ends
    when the iterator is garbage-collected, which is at once after a ``break`` out of
    ``for path in retriever.recall_stream(...)``.
    """

    def __init__(self, behind: stream.Stream[T, R], thread: LoopThread[Any]) -> None:
        self._behind = behind
        self._thread = thread

    def __next__(self) -> T:
        try:
            return self._thread.run(self._behind.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the call and wait until it has released its sessions. Safe to call again."""
        with suppress(ClosedError):  # the connection was closed, and with it this stream
            self._thread.run(self._behind.aclose)

    @property
    def result(self) -> R:
        """The result of the call, once the stream is at its end; see `memoria.Stream`."""
        return self._behind.result
