"""Refuse requests that do not come from the page, and tell the browser what the page may do.

In: requests. Out: the same, or a refusal; headers on every answer. Touches nothing.

A page of another site can send requests to this machine, under a name that it points here. It does
not know the token, which stands in the part of the address that browsers send to nobody; and its
name is not one of the names of this machine.

Other users of this machine may see the address that a browser is started with in the list of
processes. So it has a `Ticket` instead of the token: the page sends it to `ENTER` for the token,
once. If it comes a second time, one of the two senders is an intruder, and nobody is let in any
more.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

#: The header in which the page sends its token.
TOKEN_HEADER = "x-memoria-token"  # noqa: S105 - the name of the header
#: Where the page sends its ticket.
ENTER = "/api/enter"
#: How long a ticket can be exchanged.
TICKET_S = 60.0
_API = "/api/"
_BYTES = 32
_MEND = "perhaps by another user of this machine: end memoria view, and start it with --no-browser"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A secret that is exchanged for the token once, and soon.

    Attributes
    ----------
    until_s
        When it ends, by the monotonic clock; seconds.
    """

    text: str = field(default_factory=new_token)
    until_s: float = field(default_factory=lambda: time.monotonic() + TICKET_S)


class Guard:
    """Lets through what was sent to a name of this machine, below ``/api/`` with the token only.

    Parameters
    ----------
    app
        The application that answers what is let through.
    token
        What the header `TOKEN_HEADER` must hold.
    ticket
        The secret that a POST to `ENTER` must hold instead; None if the token is never given out.
    hosts
        What the header ``Host`` may hold, with the port.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, ticket: Ticket | None, hosts: Collection[str]
    ) -> None:
        self._app = app
        self._token = token
        self._refused = "the token is of another run of memoria view"
        self._ticket = ticket
        self._entered = False
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

        answered = self._answer(Headers(scope=scope), scope["method"], scope["path"])
        await (answered or self._app)(scope, receive, send_guarded)

    def _answer(self, headers: Headers, method: str, path: str) -> JSONResponse | None:
        """Answer requests that the application must not, or need not, answer."""
        if headers.get("host", "") not in self._hosts:
            return refusal(403, "Forbidden", "memoria view answers to the names of this machine")
        if not path.startswith(_API):
            return None
        given = headers.get(TOKEN_HEADER)
        if given is None:
            return refusal(401, "Unauthorized", "open the address that memoria view printed")
        if self._ticket is not None and (method, path) == ("POST", ENTER):
            return self._enter(self._ticket, given)
        if not _is_same(given, self._token):
            return refusal(403, "Forbidden", self._refused)
        return None

    def _enter(self, ticket: Ticket, given: str) -> JSONResponse:
        """Exchange the ticket for the token; lock out who has the token if it comes again."""
        if not _is_same(given, ticket.text):
            return refusal(403, "Forbidden", "the ticket is of another run of memoria view")
        if self._entered:
            self._token = new_token()
            self._refused = f"this page was opened again, {_MEND}"
            return refusal(403, "Forbidden", f"this address was used before, {_MEND}")
        if time.monotonic() > ticket.until_s:
            said = "the ticket has expired: open the address that memoria view printed"
            return refusal(403, "Forbidden", said)
        self._entered = True
        return JSONResponse({"token": self._token})


def _is_same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


def refusal(status: int, kind: str, message: str) -> JSONResponse:
    """Return an answer that says why there is none."""
    return JSONResponse({"error": {"type": kind, "message": message}}, status)
