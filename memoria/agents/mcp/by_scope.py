"""The memories of a server: one connection, opened behind its back, and one object per scope.

In: a way to open a `GraphRetriever`. Out: an `AgentMemory` for each credential.
Touches the database when a client first needs it, or a moment after the start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Self

from memoria._support.wording import in_short
from memoria.agents.kept import KeptRecalls
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.agents.mcp.grants import Grant
from memoria.errors import MemoriaError

if TYPE_CHECKING:
    from memoria.agents.agent_memory import AgentMemory
    from memoria.retriever import GraphRetriever

log = logging.getLogger(__name__)

# A client that has just started the server waits for its first answer; opening would slow that.
_WARM_UP_AFTER_S = 0.25


async def _nothing(_: GraphRetriever) -> None:
    return


class Memories:
    """Opens the database and the model in the background, so that clients are greeted at once.

    Use it with ``async with``. If the database can't be opened, each call tries again, so a
    database that comes up later is found.

    Parameters
    ----------
    opening
        Opens a retriever, of any scope.
    warm_up
        Called once the database is open; loads the embedder's model.
    """

    def __init__(
        self,
        opening: Callable[[], Awaitable[GraphRetriever]],
        *,
        budget_tokens: int = ANSWER_TOKENS,
        deadline_s: float = 5.0,
        warm_up: Callable[[GraphRetriever], Awaitable[None]] = _nothing,
    ) -> None:
        self.budget_tokens = budget_tokens
        self.deadline_s = deadline_s
        self._opening = opening
        self._warm_up = warm_up
        self._lock = asyncio.Lock()
        self._opened: GraphRetriever | None = None
        self._warming: asyncio.Task[None] | None = None
        self._recalls = KeptRecalls()
        self._of: dict[Grant, AgentMemory] = {}

    async def __aenter__(self) -> Self:
        self._warming = asyncio.create_task(self._warm())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._warming is not None:
            self._warming.cancel()
            with suppress(asyncio.CancelledError):
                await self._warming
        if self._opened is not None:
            await self._opened.close()

    @property
    def defaults(self) -> Mapping[str, int]:
        """Argument of a call -> its value where a client gives none."""
        return {"max_tokens": self.budget_tokens, "deadline_ms": int(self.deadline_s * 1_000)}

    async def of(self, grant: Grant) -> AgentMemory:
        """Return the memory that a credential grants; opens the database if it is not open."""
        retriever = await self.retriever()
        if grant not in self._of:
            from memoria.agents.agent_memory import AgentMemory

            self._of[grant] = AgentMemory(
                retriever.for_scope(grant.scope, also_read=grant.also_read),
                budget_tokens=self.budget_tokens,
                deadline_s=self.deadline_s,
                recalls=self._recalls,
                read_only=grant.read_only,
            )
        return self._of[grant]

    async def retriever(self) -> GraphRetriever:
        """Return the retriever of the server; opens the database if it is not open."""
        async with self._lock:
            if self._opened is None:
                # The driver and all the rest; in a thread, so that clients are answered meanwhile.
                await asyncio.to_thread(import_module, "memoria.agents.agent_memory")
                self._opened = await self._opening()
            return self._opened

    async def _warm(self) -> None:
        await asyncio.sleep(_WARM_UP_AFTER_S)
        try:
            await self._warm_up(await self.retriever())
        except Exception as exc:  # noqa: BLE001  # foreign code, such as a model's, may raise anything
            why = str(exc) if isinstance(exc, MemoriaError) else in_short(exc)
            log.warning("%s; the next call tries again", why)
