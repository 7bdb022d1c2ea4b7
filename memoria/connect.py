"""Open a retriever on whatever database there is: a given one, the environment's, or the local one.

In: an address, or nothing. Out: a `GraphRetriever` on a driver that closes with the context.
Touches: the environment, the network.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memoria.config import RetrieverConfig
from memoria.embed import Embedder
from memoria.errors import LocalServerError, UnavailableError
from memoria.home import default_home
from memoria.retriever import GraphRetriever
from memoria.store import Auth, Target, open_driver


def home() -> Path:
    """Folder of server and models, as the environment has it."""
    return default_home(os.environ)


async def find_target(
    uri: str | None = None, auth: Auth | None = None, database: str | None = None
) -> Target:
    """Decide which database is meant: the given URI, else ``NEO4J_URI``, else the local server.

    ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE`` fill what is not given.

    Raises
    ------
    UnavailableError
        Nothing is given and no local server runs.
    """
    env = os.environ
    database = database or env.get("NEO4J_DATABASE") or "neo4j"
    if auth is None and env.get("NEO4J_PASSWORD"):
        auth = (env.get("NEO4J_USERNAME") or "neo4j", env["NEO4J_PASSWORD"])
    if address := uri or env.get("NEO4J_URI"):
        return Target(uri=address, auth=auth, database=database)
    return await _local_target(database)


async def _local_target(database: str) -> Target:
    missing = UnavailableError(
        "no database: start the local one with `memoria up`, or give a URI or NEO4J_URI"
    )
    try:
        from memoria.local import LocalNeo4j
    except LocalServerError as exc:  # its extra is not installed
        raise missing from exc
    server = LocalNeo4j(home())
    if await server.status() is None:
        raise missing
    return Target(uri=server.uri, auth=server.auth, database=database)


@asynccontextmanager
async def connect(
    uri: str | None = None,
    auth: Auth | None = None,
    *,
    scope: str,
    database: str | None = None,
    embedder: Embedder | None = None,
    config: RetrieverConfig | None = None,
) -> AsyncIterator[GraphRetriever]:
    """Open a `GraphRetriever`, check its server, and close it at the end of the context.

    Parameters
    ----------
    uri, auth, database
        The database; what is not given comes from ``NEO4J_URI``, ``NEO4J_USERNAME``,
        ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``, else it is the running local server.
    scope
        The tenant whose memories these are.
    embedder
        Turns queries into vectors; None searches by words only.
    config
        Settings of every stage.

    Raises
    ------
    UnavailableError
        There is no database, or it can't be reached.
    AuthError
        The server refused the credentials.
    DimensionError
        The embedder is not the one whose vectors the index holds.
    """
    settings = config or RetrieverConfig()
    target = await find_target(uri, auth, database)
    async with (
        open_driver(target, settings.store) as driver,
        GraphRetriever(
            driver, scope=scope, database=target.database, embedder=embedder, config=settings
        ) as retriever,
    ):
        yield retriever
