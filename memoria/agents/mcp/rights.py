"""Whose memory a request reaches: the credential decides it, never the model.

In: the rights of a server, and the token of the request at work. Out: a `Grant`. Touches nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings

from memoria.agents.mcp.grants import Grant, hash_of

_NAMES = ["127.0.0.1", "localhost", "[::1]"]
#: Refuses the pages of other sites, as the SDK does for its own address.
LOCAL = TransportSecurityMiddleware(
    TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in _NAMES],
        allowed_origins=[f"http://{name}:*" for name in _NAMES],
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Whose memory a server serves.

    Attributes
    ----------
    grant
        What a client without a token may do.
    tokens
        Hash of a token -> what it grants; then every request needs a token. Only over HTTP.
    allow_forget
        Whether clients that may write may also delete.
    mapped
        Whether the server reads a graph of another program, which nobody can write through it.
    """

    grant: Grant
    tokens: Mapping[str, Grant] | None = None
    allow_forget: bool = False
    mapped: bool = False


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_guarded(host: str) -> bool:
    """Tell whether a server may listen there without tokens.

    Only this machine reaches it, and the SDK checks the Host and the Origin of requests for these
    names alone. Without that check, a page that the user looks at could reach the server under a
    name of its own.
    """
    return host in ("127.0.0.1", "localhost", "::1")


def why_read_only(rights: Rights, grant: Grant) -> str | None:
    """Say why a request with this grant can't write; None if it can."""
    if rights.mapped:
        return (
            "this server reads a graph through a mapping, and a mapping writes nothing: to write, "
            "use memoria's own graph, with a server without --mapping"
        )
    if rights.grant.read_only:
        return "this server only reads: it was started with --read-only"
    return "this token may only read" if grant.read_only else None


class HashedTokens:
    """Verifies tokens by their hashes, as the SDK asks it to."""

    def __init__(self, tokens: Mapping[str, Grant]) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token grants; None refuses it."""
        hashed = hash_of(token)
        grant = self._tokens.get(hashed)
        if grant is None:
            return None
        return AccessToken(token=hashed, client_id=hashed[:16], scopes=[], subject=grant.scope)


def granted(rights: Rights) -> Grant:
    """Return what the request at work may do; without tokens, all requests may do the same."""
    if rights.tokens is None:
        return rights.grant
    credential = get_access_token()
    grant = None if credential is None else rights.tokens.get(credential.token)
    if grant is None:
        raise ToolError("this request has no valid token")
    return grant


def grant_of(rights: Rights, authorization: str) -> Grant | None:
    """Return what a request with this header may do; None refuses it."""
    if rights.tokens is None:
        return rights.grant
    kind, _, token = authorization.partition(" ")
    return rights.tokens.get(hash_of(token)) if kind.lower() == "bearer" else None
