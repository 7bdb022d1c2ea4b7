"""Open a retriever on a given database, on the one that the environment names, or on the local one.

In: an address, or nothing. Out: a `GraphRetriever` that closes its driver.
Touches: the environment, a password file, the network.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal, NoReturn

from memoria._support.signatures import same_parameters
from memoria.embed import Embedder
from memoria.errors import ConfigError, LocalServerError, UnavailableError
from memoria.graph.mapping import GraphMapping
from memoria.ingest.unembedded import keep_embedding
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import CountTokens
from memoria.recall.warming import warming
from memoria.retriever import GraphRetriever, check_learn, close_with
from memoria.store import Auth, Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load

# The queries with which agents remember, append, give feedback and forget. Some are long: a cold
# and busy server may need more than `StoreConfig.query_timeout_s` to plan one.
_WRITES = (
    *("learn.reinforce", "graph.advance_clock", "remember.write", "remember.begun"),
    *("remember.states", "remember.lock", "remember.connectors", "ingest.memories"),
    *("ingest.relations", "ingest.forget"),
)
_NO_DATABASE = "no database: start the local server with `memoria up`, or give a URI or NEO4J_URI. "


def given_auth(
    user: str | None, *, password: str | None = None, password_file: Path | None = None
) -> Auth | None:
    """Return the credentials of a command line; None if it gives neither user nor password.

    A missing user or password comes from ``NEO4J_USERNAME`` or ``NEO4J_PASSWORD``.

    Raises
    ------
    ConfigError
        There is a user but no password, or the password file is unreadable or not a single line.
    """
    if password_file is not None:
        password = _read_password(password_file)
    if not user and password is None:
        return None
    if password is None:
        password = os.environ.get("NEO4J_PASSWORD")
    if not password:
        raise ConfigError(
            f"no password for user {user!r}: give a password file, or set NEO4J_PASSWORD"
        )
    return (user or os.environ.get("NEO4J_USERNAME") or "neo4j", password)


def _read_password(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise ConfigError(f"can't read the password file {file}: {exc.strerror}") from exc
    except ValueError as exc:  # not UTF-8, or not a valid file name
        raise ConfigError(f"can't read the password file {file}: it must be UTF-8 text") from exc
    if not password:
        raise ConfigError(f"the password file {file} is empty")
    if len(password.splitlines()) > 1:
        raise ConfigError(f"the password file {file} must contain one line, the password")
    return password


async def find_target(
    uri: str | None = None, auth: Auth | None = None, database: str | None = None
) -> Target:
    """Decide which database to use: the given URI, else ``NEO4J_URI``, else the local server.

    ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE`` fill in what is not
    given. The local server has its own password, which only a given ``auth`` replaces.

    Raises
    ------
    UnavailableError
        No address is given, and the local server does not run.
    """
    env = os.environ
    database = database or env.get("NEO4J_DATABASE") or "neo4j"
    if address := uri or env.get("NEO4J_URI"):
        if auth is None and env.get("NEO4J_PASSWORD"):
            auth = (env.get("NEO4J_USERNAME") or "neo4j", env["NEO4J_PASSWORD"])
        return Target(uri=address, auth=auth, database=database)
    return await _local_target(auth, database)


async def _local_target(auth: Auth | None, database: str) -> Target:
    try:
        from memoria.local import LocalNeo4j
    except LocalServerError as exc:  # the extra of the local server is not installed
        raise UnavailableError(f"{_NO_DATABASE}For `memoria up`, {exc}") from exc
    server = LocalNeo4j()
    if await server.status() is None:
        raise UnavailableError(
            f"{_NO_DATABASE}No server of memoria's folder {server.home} runs; MEMORIA_HOME names "
            "another folder"
        )
    return Target(uri=server.uri, auth=auth or server.auth, database=database)


class Connection:
    """A `GraphRetriever` that ``async with`` opens and closes."""

    def __init__(self, opening: Callable[[], Coroutine[Any, Any, GraphRetriever]]) -> None:
        self.open = opening
        self._retriever: GraphRetriever | None = None

    def __getattr__(self, name: str) -> NoReturn:
        """Say how to open it, to those who take it for the retriever."""
        raise AttributeError(
            f"connect(...) is not open yet, and has no attribute {name!r}: write `async with "
            "memoria.connect(...) as memory:` or `memory = await memoria.open(...)`",
            name=name,
            obj=self,
        )

    async def __aenter__(self) -> GraphRetriever:
        self._retriever = await self.open()
        return self._retriever

    async def __aexit__(self, *_: object) -> None:
        if self._retriever is not None:
            await self._retriever.close()


def connect(
    uri: str | None = None,
    auth: Auth | None = None,
    *,
    scope: str | None = None,
    also_read: Iterable[str] = (),
    database: str | None = None,
    embedder: Embedder | None = None,
    config: RetrieverConfig | None = None,
    store: StoreConfig | None = None,
    count_tokens: CountTokens | None = None,
    mapping: GraphMapping | None = None,
    learn: Literal["used"] | None = None,
    warm: bool = False,
    embed_pending: bool = False,
) -> Connection:
    """Open a `GraphRetriever` for one ``async with`` block, and check its server.

    Where no block can hold it, as in the cells of a notebook, use `memoria.open`. Without async
    there is `memoria.sync.connect`.

    Parameters
    ----------
    uri, auth, database
        The database. Missing values come from ``NEO4J_URI``, ``NEO4J_USERNAME``,
        ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``; without any address the running local server is
        used.
    scope
        The tenant whose memories are read; `GraphRetriever.for_scope` serves further tenants.
        Required but for a mapped graph without tenants.
    also_read
        Further scopes that recalls read, such as that of a team; see `GraphRetriever`.
    embedder
        Turns queries into vectors; None searches by words only.
    config
        Settings of every stage.
    store
        Settings of the access to the database: time limits, retries, sessions and recalls at once.
    count_tokens
        Counts the tokens of a context; None for an estimate.
    mapping
        How to read a graph that another program made; such a retriever writes nothing.
    learn
        ``"used"`` reinforces the memories that agents open and cite; see `GraphRetriever`.
    warm
        Whether to let the server plan the queries of recalls, and then those that agents write
        with, in the background, so that the first ones after its start don't wait for it.
    embed_pending
        Whether to make, in the background, the vectors that writes of any scope of the database
        could not make because the embedder failed. It needs an ``embedder``.

    Raises
    ------
    UnavailableError
        There is no database, or it can't be reached.
    AuthError
        The server refused the credentials.
    DimensionError
        The index holds the vectors of another embedder.
    ConfigError
        ``embed_pending`` is set without an embedder, or with a mapping; ``learn`` is set, with a
        mapping.
    MappingError
        The mapping does not fit the database.
    """
    if embed_pending and embedder is None:
        raise ConfigError(
            "embed_pending needs an embedder: give connect the one of the database",
            field="embed_pending",
        )
    check_learn(learn, mapping)
    if embed_pending and mapping is not None:
        raise ConfigError(
            "embed_pending writes, and a mapping writes nothing: leave it out",
            field="embed_pending",
        )

    async def made(store: Store) -> GraphRetriever:
        return GraphRetriever(
            store,
            scope=scope,
            also_read=also_read,
            embedder=embedder,
            config=config,
            count_tokens=count_tokens,
            mapping=mapping,
            learn=learn,
        )

    async def opening() -> GraphRetriever:
        try:
            target = await find_target(uri, auth, database)
        except ConfigError as exc:
            if isinstance(uri, str) and not set(uri) & set(":/@"):
                text = f'{exc}; the name of a scope is given as scope="..."'
                raise ConfigError(text, field=exc.field) from exc
            raise
        return await open_on(target, made, store, warm=warm, embed_pending=embed_pending)

    return Connection(opening)


async def open_on(
    target: Target,
    make: Callable[[Store], Awaitable[GraphRetriever]],
    config: StoreConfig | None = None,
    *,
    warm: bool = False,
    embed_pending: bool = False,
) -> GraphRetriever:
    """Open a database, make a retriever on it, and check its server; see `connect`.

    Parameters
    ----------
    make
        Makes the retriever; it may ask the database first. `GraphRetriever.close` then closes what
        was opened here.
    """
    async with AsyncExitStack() as stack:
        driver = await stack.enter_async_context(open_driver(target, config))
        retriever = await make(Store(driver, database=target.database, config=config))
        await retriever.server_facts()
        if warm:
            plans = warming(
                retriever.store,
                scope=retriever.scope,
                config=retriever.config,
                then=[load(name) for name in _WRITES] if retriever.mapping is None else (),
            )
            await stack.enter_async_context(plans)
        if embed_pending and retriever.embedder is not None and retriever.mapping is None:
            keeping = keep_embedding(retriever.store, retriever.embedder)
            await stack.enter_async_context(keeping)
        close_with(retriever, stack.pop_all())
    return retriever


@same_parameters(connect)
async def open(*given: Any, **settings: Any) -> GraphRetriever:  # noqa: A001 - as in `gzip.open`
    """Open a `GraphRetriever` that stays open until `GraphRetriever.close`; see `connect`.

    For a notebook, which keeps it from cell to cell, and for objects that close it themselves::

        memory = await memoria.open(scope="alice")
        recall = await memory.recall("Why did we run out of buns?")
        await memory.close()
    """
    return await connect(*given, **settings).open()
