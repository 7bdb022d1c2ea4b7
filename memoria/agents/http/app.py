"""The HTTP API as an ASGI application.

In: the memories and the rights of a server. Out: routes for `OPERATIONS`, and their description.
Reads and writes memories as far as the credential of a request allows.

A recall is streamed to clients that accept ``text/event-stream``::

    event: path       data: a `PathFound`
    event: answer     data: the answer as without a stream; the last event
    event: problem    data: a `Problem`, instead of an answer
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route

from memoria._support.stream import Stream
from memoria.agents.arguments import given
from memoria.agents.calls import memory_recall
from memoria.agents.http.admission import Admission
from memoria.agents.http.answers import PathFound
from memoria.agents.http.description import described, model_of
from memoria.agents.http.operations import OPERATIONS, Operation, append
from memoria.agents.http.problems import WrongArguments, failed, problem_of
from memoria.agents.http.repeats import Repeats, with_ids
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.grants import Grant
from memoria.agents.mcp.rights import LOCAL, Rights, grant_of, why_read_only
from memoria.errors import MemoriaError

if TYPE_CHECKING:
    from memoria.agents.agent_memory import AgentMemory
    from memoria.agents.answer import Answer
    from memoria.types import Path

T = TypeVar("T")

PREFIX = "/v1"
EVENTS = "text/event-stream"
_JSON = "application/json"
_BARE = "this request has no token: send Authorization: Bearer TOKEN"
_UNKNOWN = "this server has no such token; it reads the file of tokens when it starts"
_KEY = re.compile(r"[!-~]{1,255}")


def api_route(memories: Memories, rights: Rights, *, is_guarded: bool) -> Mount:
    """Return the API as a route of a server.

    Parameters
    ----------
    is_guarded
        Whether it is to refuse what was not sent to a name of this machine, such as by a page of
        another site.
    """
    api = _Api(memories, rights, is_guarded=is_guarded)
    description = to_json(described(memories.defaults))

    async def openapi(request: Request) -> Response:
        await api.check(request)
        return Response(description, media_type=_JSON)

    routes = [Route("/openapi.json", openapi)]
    for operation in OPERATIONS:
        model = model_of(operation, memories.defaults)
        routes.append(
            Route(f"/{operation.name}", api.endpoint(operation, model), methods=[operation.method])
        )
    handlers: Any = dict.fromkeys((HTTPException, MemoriaError, WrongArguments, Exception), failed)
    return Mount(PREFIX, app=Starlette(routes=routes, exception_handlers=handlers))


class _Api:
    """Answers requests."""

    def __init__(self, memories: Memories, rights: Rights, *, is_guarded: bool) -> None:
        self._memories = memories
        self._rights = rights
        self._is_guarded = is_guarded
        self._repeats = Repeats()
        self._admission = Admission()

    async def check(self, request: Request) -> None:
        """Refuse the pages of other sites."""
        if self._is_guarded:
            refused = await LOCAL.validate_request(request)
            if refused is not None:
                raise HTTPException(refused.status_code, bytes(refused.body).decode())

    def endpoint(
        self, operation: Operation, model: type[BaseModel]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers the requests of an operation."""

        async def answer(request: Request) -> Response:
            await self.check(request)
            grant = self._granted(request, operation)
            body = await _body(request) if operation.method == "POST" else b""
            named = given(operation.call, _arguments(model, request, body))
            memory = await self._memories.of(grant)
            if operation.call.ask is memory_recall:
                return await self._recalled(request, memory, operation, named)

            async def ask() -> bytes:
                return _plain(operation, await operation.call.ask(memory, **named))

            if operation.call.does == "reads":
                return Response(await _while_connected(request, ask()), media_type=_JSON)
            if (key := _key(request)) is None:
                return Response(await ask(), media_type=_JSON)
            digest = hashlib.sha256(body).digest()
            if operation.call.ask is append:
                named["messages"] = with_ids(named["messages"], key, digest)
            # It continues when the client has gone: a client that asks again gets the answer then.
            content, again = await self._repeats.once((grant, operation.name, key), digest, ask)
            headers = {"idempotency-replayed": "true"} if again else None
            return Response(content, media_type=_JSON, headers=headers)

        return answer

    async def _recalled(
        self, request: Request, memory: AgentMemory, operation: Operation, named: dict[str, Any]
    ) -> Response:
        leave = self._admission.admitted(named["deadline_ms"] / 1_000)
        if EVENTS in request.headers.get("accept", ""):
            return await _while_connected(request, _streamed(memory, operation, named, leave))
        with leave:
            answer = await _while_connected(request, operation.call.ask(memory, **named))
        return Response(_plain(operation, answer), media_type=_JSON)

    def _granted(self, request: Request, operation: Operation) -> Grant:
        grant = grant_of(self._rights, request.headers.get("authorization", ""))
        if grant is None:
            why = _UNKNOWN if "authorization" in request.headers else _BARE
            raise HTTPException(401, why, headers={"www-authenticate": "Bearer"})
        does = operation.call.does
        if does != "reads" and (barred := why_read_only(self._rights, grant)):
            raise HTTPException(403, barred)
        if does == "deletes" and not self._rights.allow_forget:
            raise HTTPException(403, "this server deletes nothing: start it with --allow-forget")
        return grant


def _key(request: Request) -> str | None:
    """Return the key by which a write that is sent again is known."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise HTTPException(400, "Idempotency-Key must be 1 to 255 letters, digits and signs")
    return key


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        raise HTTPException(415, f"the body must be of type {_JSON}")
    return await request.body()


def _arguments(model: type[BaseModel], request: Request, body: bytes) -> dict[str, Any]:
    """Check the arguments. Numbers that JSON has not, and halves of characters, are refused."""
    asked = request.query_params
    is_post = request.method == "POST"
    if not is_post and len(asked.multi_items()) > len(asked):
        raise HTTPException(400, "a parameter of the query is there twice")
    try:
        if is_post:
            found = model.model_validate_json(body or b"{}")
        else:
            found = model.model_validate(dict(asked))
    except ValidationError as exc:
        raise WrongArguments(exc, model.model_fields) from exc
    return {name: getattr(found, name) for name in model.model_fields}


def _plain(operation: Operation, answer: Answer) -> bytes:
    """Return an answer as JSON, a recall with the texts of its memories."""
    data = dict(answer.data)
    if answer.found is not None:
        items = answer.found.context.items
        texts = {(item.scope, one.id): one.said for item in items for one in item.path.memories}
        data["memories"] = [
            {**each, "text": texts.get((item.scope, item.id), "")}
            for each, item in zip(data["memories"], items, strict=True)
        ]
    if any(each.name == "text" for each in fields(operation.answers)):
        data = {"text": answer.text, **data}
    return to_json(data, inf_nan_mode="null")


async def _streamed(
    memory: AgentMemory,
    operation: Operation,
    named: dict[str, Any],
    leave: AbstractContextManager[None],
) -> Response:
    """Recall, and send each path once it has ended; a refusal is a plain answer."""

    async def produce(emit: Callable[[bytes], None]) -> None:
        async def on_path(number: int, path: Path) -> None:
            found = PathFound(number=number, ids=path.ids, energy=path.energy, scope=path.scope)
            emit(_event("path", to_json(found)))

        with leave:
            answer = await operation.call.ask(memory.telling(on_path), **named)
        emit(_event("answer", _plain(operation, answer)))

    stream: Stream[bytes, None] = Stream(produce)
    first = await anext(stream)

    async def events() -> AsyncIterator[bytes]:
        async with aclosing(stream):
            yield first
            try:
                async for event in stream:
                    yield event
            except MemoriaError as exc:
                yield _event("problem", to_json(problem_of(exc)))

    return StreamingResponse(events(), media_type=EVENTS, headers={"cache-control": "no-store"})


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


async def _while_connected(request: Request, work: Awaitable[T]) -> T:
    """Do what reads as long as the client waits for it."""
    asked, gone = asyncio.ensure_future(work), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        raise HTTPException(400, "the client has gone")
    finally:
        for each in (asked, gone):
            each.cancel()
        await asyncio.wait({asked, gone})


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
