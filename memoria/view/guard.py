"""Refuse requests that do not come from the page, and tell the browser what the page may do.

In: requests. Out: the same, or a refusal; headers on every answer. Touches nothing.

A page of another site can send requests to this machine, under a name that it points here. It does
not know the token, which stands in the part of the address that browsers send to nobody; and its
name is not one of the names of this machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

#: The header in which the page sends its token.
TOKEN_HEADER = "x-memoria-token"  # noqa: S105 - the name of the header
_API = "/api/"
_BYTES = 32
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """Make a token that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


class Guard:
    """Lets through what was sent to a name of this machine, below ``/api/`` with the token only.

    Parameters
    ----------
    app
        The application that answers what is let through.
    token
        What the header `TOKEN_HEADER` must hold.
    hosts
        What the header ``Host`` may hold, with the port.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: Collection[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refused = self._refusal(Headers(scope=scope), scope["path"])
        await (refused or self._app)(scope, receive, send_guarded)

    def _refusal(self, headers: Headers, path: str) -> JSONResponse | None:
        if headers.get("host", "") not in self._hosts:
            return refusal(403, "Forbidden", "memoria view answers to the names of this machine")
        if not path.startswith(_API):
            return None
        given = headers.get(TOKEN_HEADER)
        if given is None:
            return refusal(401, "Unauthorized", "open the address that memoria view printed")
        if not secrets.compare_digest(given.encode(), self._token):
            return refusal(403, "Forbidden", "the token is of another run of memoria view")
        return None


def refusal(status: int, kind: str, message: str) -> JSONResponse:
    """Return an answer that says why there is none."""
    return JSONResponse({"error": {"type": kind, "message": message}}, status)
