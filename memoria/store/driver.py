"""Open a driver with memoria's limits.

In: the address of a database. Out: a driver that closes with its context.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions as driver_errors

from memoria.errors import ConfigError
from memoria.store.config import StoreConfig
from memoria.store.faults import translate

Auth = tuple[str, str] | neo4j.Auth

# http is left out: the driver takes it for a preview of another protocol, but people paste it
# from the address bar of their browser.
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A database to connect to.

    Attributes
    ----------
    uri
        Address, such as ``bolt://127.0.0.1:7687``; ``neo4j://`` for a cluster.
    auth
        Credentials, or None for a server without a login; never shown.
    database
        Name of the database.
    """

    uri: str
    auth: Auth | None = field(repr=False)
    database: str = "neo4j"


@asynccontextmanager
async def open_driver(
    target: Target, config: StoreConfig | None = None
) -> AsyncIterator[neo4j.AsyncDriver]:
    """Open a driver whose time limits are those of ``config``; its defaults are too long here.

    Raises
    ------
    ConfigError
        The address is not a Bolt or Neo4j URI.
    """
    config = config or StoreConfig()
    if urlsplit(target.uri).scheme not in _SCHEMES:
        raise ConfigError(
            f"the address must begin with one of {', '.join(_SCHEMES)} and ://, such as "
            "bolt://localhost:7687 or neo4j://host:7687"
        )
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
    except (driver_errors.DriverError, ValueError) as exc:
        raise translate(exc) from exc
    async with driver:
        yield driver
