"""The database that a command works on: four options, defined once.

In: options and the environment. Out: a store, open while a command works on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from memoria.connection import find_target, given_auth
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The options that name a database; missing options come from the environment.

    `with_options` replaces a parameter of this type by the four options.
    """

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
        auth = given_auth(self.user, password_file=self.password_file)
        return await find_target(self.uri, auth, self.database)

    def as_options(self) -> tuple[str, ...]:
        """Return the options as they were given, to use in another command line."""
        given = {field.name.replace("_", "-"): getattr(self, field.name) for field in fields(self)}
        return tuple(f"--{name}={value}" for name, value in given.items() if value is not None)


async def on_store(
    connection: Connection,
    work: Callable[[Store], Awaitable[T]],
    config: StoreConfig | None = None,
) -> T:
    """Open the database, run ``work`` on it, and close it."""
    return await on_target(await connection.find(), work, config)


async def on_target(
    target: Target, work: Callable[[Store], Awaitable[T]], config: StoreConfig | None = None
) -> T:
    """Run ``work`` on a database whose address is known; see `on_store`."""
    config = config or StoreConfig()
    async with open_driver(target, config) as driver:
        return await work(Store(driver, database=target.database, config=config))


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for Typer, with four options instead of the `Connection`."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Connection]] = {}
    for name, parameter in signature.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, Connection):
            groups[name] = kind
            parameters += _options(kind)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    # Typer reads the signature and annotations. functools.wraps is not used, because Typer would
    # find the original signature through ``__wrapped__``.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _options(group: type[Connection]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
