"""What a page can ask: the database, opened when it is first needed, and the recalls that it knows.

In: a way to open a `GraphRetriever`, documents of saved recalls. Out: retrievers, traces.
Touches the database.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memoria._support.wording import whole
from memoria.errors import InvalidInputError
from memoria.retriever import GraphRetriever
from memoria.serialize import trace_from
from memoria.serialize.from_plain import whole_document
from memoria.types import Trace

#: Recalls of this session that can be replayed; older ones are dropped.
MOST_TRACES = 100


async def _nothing(_: GraphRetriever) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A recall that was saved as ``recall --json --full`` prints it.

    Attributes
    ----------
    trace
        The same as a trace.
    """

    name: str
    document: Any
    trace: Trace


def saved(name: str, document: Any) -> Saved:
    """Check the document of a saved recall.

    Raises
    ------
    InvalidInputError
        It is not what ``recall --json --full`` prints; the message names the place.
    """
    top = whole_document(document)
    if "layers" in top.value:
        raise InvalidInputError(
            "this recall read several scopes: recall each by itself, without --also", field="layers"
        )
    top.parts("ranked")
    context = top.part("context")
    context.parts("items")
    context.parts("omitted")
    context.string("text")
    _check_shown(document)
    return Saved(name=name, document=document, trace=trace_from(document))


def _check_shown(document: Any) -> None:
    """Refuse values that can't be sent to the page; the whole document is passed on to it."""
    ahead = [("", document)]
    while ahead:
        place, value = ahead.pop()
        is_number = not isinstance(value, float) or math.isfinite(value)
        if not is_number or (isinstance(value, str) and value != whole(value)):
            raise InvalidInputError(
                f"{place} must contain only finite numbers and no lone surrogates", field=place
            )
        if isinstance(value, dict):
            ahead += [(f"{place}.{whole(name)}".lstrip("."), one) for name, one in value.items()]
            ahead += [(f"a key of {place or 'the document'}", name) for name in value]
        elif isinstance(value, list):
            ahead += [(f"{place}[{number}]", one) for number, one in enumerate(value)]


class Source:
    """The database and the recalls of one page.

    If the database can't be opened, the next call tries again, so a database that comes up later is
    found. `close` closes what was opened.

    Parameters
    ----------
    opening
        Opens a retriever, of any scope.
    load
        Loads the model of a retriever's embedder; called before a recall, and quick once it is
        loaded.
    writes
        Whether the page may change memories.
    """

    def __init__(
        self,
        opening: Callable[[], Awaitable[GraphRetriever]],
        *,
        load: Callable[[GraphRetriever], Awaitable[None]] = _nothing,
        files: Sequence[Saved] = (),
        writes: bool = False,
    ) -> None:
        self.files = files
        self.writes = writes
        self._opening = opening
        self._load = load
        self._lock = asyncio.Lock()
        self._opened: GraphRetriever | None = None
        self._traces: OrderedDict[str, Trace] = OrderedDict()

    async def retriever(self) -> GraphRetriever:
        """Return the retriever; opens the database if it is not open."""
        async with self._lock:
            if self._opened is None:
                self._opened = await self._opening()
            return self._opened

    async def of(self, scope: str) -> GraphRetriever:
        """Return a retriever of a scope that is ready to recall."""
        retriever = (await self.retriever()).for_scope(scope)
        async with self._lock:
            await self._load(retriever)
        return retriever

    async def close(self) -> None:
        """Close the database, if it was opened."""
        if self._opened is not None:
            await self._opened.close()

    def keep(self, trace: Trace) -> None:
        """Keep a trace, and drop the oldest one if there are too many."""
        self._traces[trace.id] = trace
        if len(self._traces) > MOST_TRACES:
            self._traces.popitem(last=False)

    def trace(self, recall_id: str) -> Trace:
        """Return the trace of a recall of this session, or of a file."""
        for each in self.files:
            if each.trace.id == recall_id:
                return each.trace
        if recall_id not in self._traces:
            raise InvalidInputError("this recall is not known any more: recall again", field="id")
        return self._traces[recall_id]
