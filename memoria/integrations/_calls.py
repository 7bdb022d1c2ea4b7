"""Calls on a retriever for frameworks that wait with ``await``, and for those that don't.

In: a retriever of `memoria` or of `memoria.sync`. Out: results of its async calls. Starts no
thread: `memoria.sync` has started the one that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

import memoria.sync
from memoria._support.checks import check_each
from memoria._support.extras import install_command
from memoria._support.wording import kind_of
from memoria.errors import ClosedError, ConfigError, InvalidInputError
from memoria.retriever import GraphRetriever

R = TypeVar("R")

#: What every adapter takes.
AnyRetriever = GraphRetriever | memoria.sync.GraphRetriever


def missing(extra: str, error: ImportError) -> ConfigError:
    """Return the error of an adapter whose framework is not installed."""
    return ConfigError(
        f"this adapter needs more packages ({error.name or error}): {install_command(extra)}"
    )


class Calls:
    """A retriever, called from sync and from async code.

    Attributes
    ----------
    memory
        The async retriever; its calls run where `wait` and `call` run them. With ``also_read`` it
        reads these scopes as well, instead of those that the retriever also reads; its own scope
        may be among them, for `of_scope`.

    Raises
    ------
    InvalidInputError
        It is not a retriever.
    """

    def __init__(self, retriever: AnyRetriever, also_read: Iterable[str] | None = None) -> None:
        self._thread = None
        if isinstance(retriever, memoria.sync.GraphRetriever):
            self.memory = retriever._behind
            self._thread = retriever._thread
        elif isinstance(retriever, GraphRetriever):
            self.memory = retriever
        else:
            raise InvalidInputError(
                "retriever must be a GraphRetriever of memoria or of memoria.sync, got "
                f"{kind_of(retriever)}",
                field="retriever",
            )

        self._others = self.memory.also_read
        if also_read is not None:
            own, self._others = self.memory.scope, check_each(also_read, str, "also_read")
            others = [other for other in self._others if other != own]
            self.memory = self.memory.for_scope(own, also_read=others)

    def of_scope(self, scope: str) -> GraphRetriever:
        """Return the retriever for another scope, which also reads the same further scopes."""
        others = [other for other in self._others if other != scope]
        return self.memory.for_scope(scope, also_read=others)

    def wait(self, start: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run a coroutine, and return its result once it is there.

        Raises
        ------
        ClosedError
            The retriever is an async one, which only an ``await`` in its own event loop can use.
        """
        if self._thread is None:
            raise ClosedError(
                "this call comes from code that does not await: open the retriever with "
                "memoria.sync.connect, which serves such code and async code as well"
            )
        return self._thread.run(start)

    async def call(self, start: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run a coroutine, and return its result; the caller's event loop keeps running."""
        return await (start() if self._thread is None else self._thread.call(start))
