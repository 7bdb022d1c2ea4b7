"""The page of `memoria view`, served in this process to a real client."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn

from memoria.retriever import GraphRetriever
from memoria.view.app import build_app
from memoria.view.guard import TOKEN_HEADER, Ticket
from memoria.view.source import Saved, Source

TOKEN = "the token of the tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A page that is served: its address, the header of its token, and how to end it."""

    url: str
    headers: dict[str, str]
    server: uvicorn.Server
    task: asyncio.Task[None]

    async def stop(self) -> None:
        self.server.should_exit = True
        await self.task


@asynccontextmanager
async def serving(
    retriever: GraphRetriever | Exception,
    *files: Saved,
    load: Callable[[GraphRetriever], Awaitable[None]] | None = None,
    writes: bool = False,
    ticket: Ticket | None = None,
) -> AsyncIterator[Served]:
    """Serve a page; an error in place of a retriever is raised when the database is opened.

    ``load`` stands for loading a model.
    """

    async def opening() -> GraphRetriever:
        if isinstance(retriever, Exception):
            raise retriever
        return retriever

    name = "default" if isinstance(retriever, Exception) else retriever.scope
    given = {} if load is None else {"load": load}
    source = Source(opening, files=files, writes=writes, **given)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        app = build_app(source, scope=name, token=TOKEN, ticket=ticket, hosts=[host])
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        served = Served(
            url=f"http://{host}", headers={TOKEN_HEADER: TOKEN}, server=server, task=task
        )
        try:
            yield served
        finally:
            await served.stop()
