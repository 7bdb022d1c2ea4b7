"""An embedder around any function: the way to use a hosted model.

In: texts. Out: the vectors that the function returns, checked.
Touches whatever the function touches.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from memoria.embed.base import check_dimensions, check_name, check_text, check_texts, check_vectors
from memoria.errors import ConfigError

Vectors: TypeAlias = Sequence[Sequence[float]]
EmbedFunction: TypeAlias = Callable[[list[str]], Vectors | Awaitable[Vectors]]


class CallableEmbedder:
    """Embeds texts with the caller's own function, plain or async.

    Parameters
    ----------
    function
        Takes a list of texts and returns a list of vectors (or a two-dimensional numpy array) in
        the same order. A plain function runs in a thread, so it may block; several threads may call
        it at once. An ``async`` function runs in the caller's event loop.
    dimensions
        How many numbers a vector has; 1 to 4096.
    name
        Name of the model. It is recorded with the index, which takes vectors of one name only.
    query_function
        A function for queries, where the model treats queries differently; called with a list of
        one text. By default ``function``.

    Raises
    ------
    ConfigError
        ``dimensions`` is out of range, the name is empty, or a function can't be called.

    Examples
    --------
    >>> embedder = CallableEmbedder(lambda texts: [[len(t), 1.0] for t in texts],
    ...                             dimensions=2, name="length")
    >>> asyncio.run(embedder.embed_query("four"))
    [4.0, 1.0]
    """

    def __init__(
        self,
        function: EmbedFunction,
        *,
        dimensions: int,
        name: str,
        query_function: EmbedFunction | None = None,
    ) -> None:
        for field, given in (("function", function), ("query_function", query_function)):
            if given is not None and not callable(given):
                raise ConfigError(f"not a function: {type(given).__name__}", field=field)
        self._function = function
        self._query_function = query_function if query_function is not None else function
        self._dimensions = check_dimensions(dimensions)
        self._name = check_name(name)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return self._dimensions

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts to be stored; an empty list makes no call.

        Returns
        -------
        list of list of float
            One vector of ``dimensions`` numbers per text, in order.

        Raises
        ------
        DimensionError
            There are more or fewer vectors than texts, or a vector has another size.
        InvalidInputError
            A text is blank, too large or not a string; or a vector holds a value that is not a
            finite number, or only zeros.
        Exception
            An error of the function is passed on unchanged.
        """
        return await self._embed(self._function, check_texts(texts))

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with; errors as for ``embed_documents``."""
        [vector] = await self._embed(self._query_function, [check_text(text, "query")])
        return vector

    async def _embed(self, function: EmbedFunction, texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        result: Any
        if _is_async(function):
            result = function(list(texts))
        else:
            result = await asyncio.to_thread(function, list(texts))
        if inspect.isawaitable(result):
            result = await result
        return check_vectors(result, name=self._name, count=len(texts), dimensions=self._dimensions)


def _is_async(function: EmbedFunction) -> bool:
    """Tell whether a call of ``function`` returns a coroutine."""
    call = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
