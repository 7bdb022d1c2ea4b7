"""The address at which a server over HTTP takes the calls of `memoria hook`.

In: a `HookCall` as JSON, from this machine. Out: a text. Reads; keeps the messages of a turn.
"""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from memoria.errors import InvalidInputError, MemoriaError
from memoria.serve.mcp.grants import Grant, hash_of
from memoria.serve.mcp.memories import Memories
from memoria.serve.mcp.places import HOOK_PATH
from memoria.serve.mcp.rights import Rights, is_loopback

_NAMES = ["127.0.0.1", "localhost", "[::1]"]
#: Refuses the pages of other sites, as the SDK does for its own address.
_LOCAL = TransportSecurityMiddleware(
    TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in _NAMES],
        allowed_origins=[f"http://{name}:*" for name in _NAMES],
    )
)


def add_hooks(server: MCPServer, memories: Memories, rights: Rights) -> None:
    """Let a server answer hooks. Programs of other machines are refused, even with a token."""

    async def hook(request: Request) -> Response:
        refused = await _LOCAL.validate_request(request, is_post=True)
        if refused is not None:
            return refused
        if request.client is None or not is_loopback(request.client.host):
            return PlainTextResponse("hooks are for programs of this machine", status_code=403)
        grant = _granted(request, rights)
        if grant is None:
            return PlainTextResponse("this request has no valid token", status_code=401)
        return await _answered(request, memories, grant)

    server.custom_route(HOOK_PATH, methods=["POST"])(hook)


def _granted(request: Request, rights: Rights) -> Grant | None:
    if rights.tokens is None:
        return rights.grant
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return rights.tokens.get(hash_of(token)) if kind.lower() == "bearer" else None


async def _answered(request: Request, memories: Memories, grant: Grant) -> Response:
    from memoria.serve.agent.hooks import (
        HookCall,
        answer_hook,
    )  # it loads more than a greeting needs

    try:
        call = HookCall.of(await request.json())
        if call.scope != grant.scope:
            return PlainTextResponse("this server has another scope for you", status_code=403)
        text = await answer_hook(await memories.of(grant), call)
    except (InvalidInputError, ValueError) as exc:
        return PlainTextResponse(str(exc), status_code=400)
    except MemoriaError as exc:
        return PlainTextResponse(str(exc), status_code=503)
    return PlainTextResponse(text)
