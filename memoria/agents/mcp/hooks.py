"""The addresses at which a server over HTTP takes the calls of `memoria hook`.

In: a `HookCall` as JSON, from this machine. Out: a text. Reads; keeps the messages of a turn.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.grants import Grant
from memoria.agents.mcp.places import HOOK_PATH, PROOF_PATH, proof_of
from memoria.agents.mcp.rights import LOCAL, Rights, grant_of, is_loopback
from memoria.errors import InvalidInputError, MemoriaError

_NONCE = re.compile(r"[0-9a-f]{32}")


def add_hooks(server: MCPServer, memories: Memories, rights: Rights, secret: str) -> None:
    """Let a server answer hooks. Programs of other machines are refused, even with a token.

    Parameters
    ----------
    secret
        That of the server's `Place`, by which it proves to hooks that it is the one they look for.
    """

    async def hook(request: Request) -> Response:
        refused = await _refusal(request, is_post=True)
        if refused is not None:
            return refused
        grant = grant_of(rights, request.headers.get("authorization", ""))
        if grant is None:
            return PlainTextResponse("this request has no valid token", status_code=401)
        return await _answered(request, memories, grant)

    async def proof(request: Request) -> Response:
        refused = await _refusal(request, is_post=False)
        if refused is not None:
            return refused
        nonce = request.query_params.get("nonce", "")
        if not _NONCE.fullmatch(nonce):
            return PlainTextResponse("nonce must be 32 hexadecimal digits", status_code=400)
        return PlainTextResponse(proof_of(secret, nonce))

    server.custom_route(HOOK_PATH, methods=["POST"])(hook)
    server.custom_route(PROOF_PATH, methods=["GET"])(proof)


async def _refusal(request: Request, *, is_post: bool) -> Response | None:
    """Return the answer to a page of another site, and to a program of another machine."""
    refused = await LOCAL.validate_request(request, is_post=is_post)
    if refused is not None:
        return refused
    if request.client is None or not is_loopback(request.client.host):
        return PlainTextResponse("hooks are for programs of this machine", status_code=403)
    return None


async def _body(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError("the request is not JSON") from exc


async def _answered(request: Request, memories: Memories, grant: Grant) -> Response:
    from memoria.agents.hooks import HookCall, answer_hook  # it loads more than a greeting needs

    try:
        call = HookCall.of(await _body(request))
        if call.scope != grant.scope:
            return PlainTextResponse("this server has another scope for you", status_code=403)
        text = await answer_hook(await memories.of(grant), call)
    except InvalidInputError as exc:
        return PlainTextResponse(str(exc), status_code=400)
    except MemoriaError as exc:
        return PlainTextResponse(str(exc), status_code=503)
    return PlainTextResponse(text)
