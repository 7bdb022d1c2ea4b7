"""The database that a command works on: four options, defined once.

In: options and the environment. Out: a store, open while a command works on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from memoria.cli.groups import OptionGroup

if TYPE_CHECKING:  # the driver takes long to load, and `memoria mcp` greets before that
    from memoria.cli.embedders import EmbedderChoice
    from memoria.recall.config import RetrieverConfig
    from memoria.retriever import GraphRetriever
    from memoria.store import Store, Target
    from memoria.store.config import StoreConfig

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(OptionGroup):
    """The options that name a database; missing options come from the environment."""

    uri: Annotated[
        str | None,
        typer.Option("--uri", help="Database to use; else NEO4J_URI, else the local server."),
    ] = None
    user: Annotated[str | None, typer.Option("--user", help="User; else NEO4J_USERNAME.")] = None
    password_file: Annotated[
        Path | None, typer.Option(help="File with the password; else NEO4J_PASSWORD.")
    ] = None
    database: Annotated[str | None, typer.Option(help="Name of the database.")] = None

    async def find(self) -> Target:
        """Decide which database to use."""
        from memoria.connection import find_target, given_auth

        auth = given_auth(self.user, password_file=self.password_file)
        return await find_target(self.uri, auth, self.database)

    def run(self, work: Callable[[Store], Awaitable[T]], config: StoreConfig | None = None) -> T:
        """Do the work of a command on the database; see `on_store`."""
        return asyncio.run(on_store(self, work, config))

    def adapted(self, store: Store) -> Store:
        """Return the store that a command works on, here the store itself."""
        return store

    def as_options(self) -> tuple[str, ...]:
        """Return the options as they were given, to use in another command line."""
        given = {field.name.replace("_", "-"): getattr(self, field.name) for field in fields(self)}
        return tuple(f"--{name}={value}" for name, value in given.items() if value is not None)


async def on_store(
    connection: Connection, work: Callable[[Store], Awaitable[T]], config: StoreConfig | None = None
) -> T:
    """Open the database, run ``work`` on it, and close it."""
    target = await connection.find()
    return await on_target(target, lambda store: work(connection.adapted(store)), config)


async def on_target(
    target: Target, work: Callable[[Store], Awaitable[T]], config: StoreConfig | None = None
) -> T:
    """Run ``work`` on a database whose address is known; see `on_store`."""
    from memoria.store import Store, open_driver
    from memoria.store.config import StoreConfig

    config = config or StoreConfig()
    async with open_driver(target, config) as driver:
        return await work(Store(driver, database=target.database, config=config))


def opening_of(
    connection: Connection,
    scope: str,
    choose: EmbedderChoice,
    *,
    config: RetrieverConfig | None = None,
    learn: Literal["used"] | None = None,
    writes: bool = False,
) -> Callable[[], Awaitable[GraphRetriever]]:
    """Return what opens a retriever, which its `close` closes, for a command that serves long.

    The server plans the queries of recalls in the background. Where the command ``writes``, vectors
    that an embedder failed to make are made in the background, too.
    """

    async def opening() -> GraphRetriever:
        from memoria.connection import open_on  # with the driver
        from memoria.retriever import GraphRetriever

        async def made(store: Store) -> GraphRetriever:
            store = connection.adapted(store)
            model = await choose(store)
            return GraphRetriever(store, scope=scope, embedder=model, config=config, learn=learn)

        target = await connection.find()
        return await open_on(target, made, warm=True, embed_pending=writes)

    return opening
