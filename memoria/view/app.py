"""The page and its routes.

In: a `Source`, a token, the names of this machine. Out: an ASGI application. Writes only if the
source allows it.

::

    GET  /, /style.css, /*.js       the page
    POST /api/enter                 see `memoria.view.guard`
    GET  /api/about                 version, scope, strategies, kinds of connectors, saved recalls
    GET  /api/scopes                the scopes of the database with their sizes
    POST /api/recall                events, see `memoria.view.events`
    POST /api/replay/{recall_id}    {"changes": {setting: value}} -> what ``replay --json`` prints
    GET  /api/saved/{number}        what ``recall --json --full`` printed
    GET  /api/overview?scope=       what a scope holds, its newest memories, questions to try
    GET  /api/memory?scope=&id=     a memory, its edges, versions and conversation
    POST /api/change                see `memoria.view.changing`
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from memoria._support.checks import check_scope
from memoria.errors import ConfigError, InvalidInputError, MemoriaError
from memoria.graph.stats import list_scopes
from memoria.graph.vocabulary import CONNECTOR_KINDS
from memoria.recall.replay import plain_replay, replay
from memoria.view.asking import changes_from, question_from, strategies
from memoria.view.changing import change
from memoria.view.events import plain_error, recall_events
from memoria.view.guard import Guard, Ticket
from memoria.view.looking import memory_of, overview_of
from memoria.view.source import Source

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}
_Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(
    source: Source, *, scope: str, token: str, ticket: Ticket | None = None, hosts: Collection[str]
) -> Starlette:
    """Make the application.

    Parameters
    ----------
    source
        The database and the recalls; the caller closes it.
    scope
        Scope that the page begins with.
    token
        What the page must send with each request.
    ticket
        Secret that the page may exchange for the token, once.
    hosts
        Names under which it answers, with the port, such as ``127.0.0.1:8000``.
    """
    routes = _Routes(source, scope)
    return Starlette(
        routes=[
            *_static(),
            Route("/api/about", routes.about),
            Route("/api/scopes", routes.scopes),
            Route("/api/recall", routes.recall, methods=["POST"]),
            Route("/api/replay/{recall_id}", routes.replay, methods=["POST"]),
            Route("/api/saved/{number:int}", routes.saved),
            Route("/api/overview", routes.overview),
            Route("/api/memory", routes.memory),
            Route("/api/change", routes.change, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, token=token, ticket=ticket, hosts=hosts)],
        exception_handlers={MemoriaError: _failed},
    )


def _static() -> list[Route]:
    """Return a route for each file of the page: no other file can be asked for."""
    found = []
    for file in (files("memoria.view") / "static").iterdir():
        kind = _TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            found.append(Route(path, _sending(file.read_bytes(), kind)))
    return found


def _sending(content: bytes, kind: str) -> _Endpoint:
    async def send(_: Request) -> Response:
        return Response(content, headers={"content-type": kind})

    return send


async def _failed(_: Request, error: Exception) -> Response:
    """Answer with an error of memoria: 400 for what the page can mend, else 503."""
    if not isinstance(error, MemoriaError):
        raise error
    status = 400 if isinstance(error, InvalidInputError | ConfigError) else 503
    return JSONResponse({"error": plain_error(error)}, status)


async def _body(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError("the request is not JSON") from exc


class _Routes:
    """What the page can ask for."""

    def __init__(self, source: Source, scope: str) -> None:
        self._source = source
        self._scope = scope

    async def about(self, _: Request) -> Response:
        saved = [
            {"name": each.name, "query": each.trace.query, "scope": each.trace.scope}
            for each in self._source.files
        ]
        return JSONResponse(
            {
                "version": version("memoria-graph"),
                "scope": self._scope,
                "strategies": strategies(),
                "connectors": CONNECTOR_KINDS,
                "saved": saved,
                "writes": self._source.writes,
            }
        )

    async def scopes(self, _: Request) -> Response:
        found = await list_scopes((await self._source.retriever()).store)
        return JSONResponse({"scopes": [asdict(each) for each in found]})

    async def recall(self, request: Request) -> Response:
        asked = question_from(await _body(request))
        return StreamingResponse(
            recall_events(self._source, asked), headers={"content-type": "text/event-stream"}
        )

    async def replay(self, request: Request) -> Response:
        trace = self._source.trace(request.path_params["recall_id"])
        changes = changes_from(await _body(request))
        store = (await self._source.retriever()).store
        return JSONResponse(plain_replay(await replay(store, trace, changes)))

    async def saved(self, request: Request) -> Response:
        number = request.path_params["number"]
        if number >= len(self._source.files):
            raise InvalidInputError("the saved recall was not found", field="number")
        return JSONResponse(self._source.files[number].document)

    async def overview(self, request: Request) -> Response:
        scope = check_scope(request.query_params.get("scope", ""))
        retriever = (await self._source.retriever()).for_scope(scope)
        return JSONResponse(await overview_of(retriever))

    async def memory(self, request: Request) -> Response:
        scope, id_ = (request.query_params.get(name, "") for name in ("scope", "id"))
        retriever = (await self._source.retriever()).for_scope(scope)
        return JSONResponse(await memory_of(retriever, id_))

    async def change(self, request: Request) -> Response:
        return JSONResponse(await change(self._source, await _body(request)))
