"""Open a driver with memoria's limits.

In: the address of a database. Out: a driver that closes with its context.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions as driver_errors

from memoria._support.wording import whole
from memoria.errors import ConfigError
from memoria.store.config import StoreConfig

Auth = tuple[str, str] | neo4j.Auth

# http is left out: the driver takes it for a preview of another protocol, but people paste it
# from the address bar of their browser.
_USER_AND_PASSWORD = 2
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A database to connect to.

    Attributes
    ----------
    uri
        Address, such as ``bolt://127.0.0.1:7687``; ``neo4j://`` for a cluster. Messages show it, so
        it must not contain a user or a password.
    auth
        Credentials, or None for a server without a login; never shown.
    database
        Name of the database.
    """

    uri: str
    auth: Auth | None = field(repr=False)
    database: str = "neo4j"

    def __post_init__(self) -> None:
        """Check both once; messages don't repeat them, because either may contain a password."""
        _check_address(self.uri)
        _check_auth(self.auth)


def _check_address(uri: Any) -> None:
    if isinstance(uri, str) and "@" in uri:
        raise ConfigError(
            "the address must not contain a user or a password, because messages show it: remove "
            "everything before the @, and give auth, or NEO4J_USERNAME and NEO4J_PASSWORD",
            field="uri",
        )
    if not isinstance(uri, str) or not _is_address(uri):
        raise ConfigError(
            f"the address must begin with one of {', '.join(_SCHEMES)} and ://, then a host and a "
            "port, such as bolt://localhost:7687 or neo4j://host:7687",
            field="uri",
        )


def _is_address(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:  # bad brackets or port
        return False
    return parts.scheme in _SCHEMES and has_place and parts.path in ("", "/") and not parts.fragment


def _check_auth(auth: Any) -> None:
    if auth is None or isinstance(auth, neo4j.Auth):
        return
    is_pair = isinstance(auth, tuple) and len(auth) == _USER_AND_PASSWORD
    # The driver's error about a lone surrogate would show the rest of the text.
    if not is_pair or not all(isinstance(each, str) and each == whole(each) for each in auth):
        raise ConfigError(
            "auth must be a user and a password, both of them text, or a neo4j.Auth", field="auth"
        )


@asynccontextmanager
async def open_driver(
    target: Target, config: StoreConfig | None = None
) -> AsyncIterator[neo4j.AsyncDriver]:
    """Open a driver whose time limits are those of ``config``; its defaults are too long here.

    Raises
    ------
    ConfigError
        The driver does not accept the address or the credentials.
    """
    config = config or StoreConfig()
    refused = ""
    try:
        driver = neo4j.AsyncGraphDatabase.driver(
            target.uri,
            auth=target.auth,
            connection_timeout=config.connect_timeout_s,
            connection_acquisition_timeout=config.query_timeout_s,
            max_connection_pool_size=config.max_sessions,
            max_transaction_retry_time=config.query_timeout_s,
            telemetry_disabled=True,
            user_agent=f"memoria/{version('memoria-graph')}",
        )
    except (driver_errors.DriverError, ValueError, TypeError) as exc:
        refused = type(exc).__name__
    if refused:  # raised here, since the driver's error repeats its input, passwords included
        raise ConfigError(
            f"the driver refuses the address or the credentials ({refused}): give an address such "
            "as bolt://localhost:7687, and a user and a password as auth"
        )
    async with driver:
        yield driver
