"""Serve memories to agents and programs: ``mcp``, ``mcp-token``, ``serve``."""

from __future__ import annotations

import asyncio
import gc
import sys
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memoria._support.progress import silent
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.cli.common import Json, Scope, Settings, err, hint, needing, print_facts
from memoria.cli.connection import opening_of
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.groups import OptionGroup
from memoria.cli.mapping import MappedConnection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import BaseRoute

    from memoria.agents.mcp.by_scope import Memories
    from memoria.agents.mcp.rights import Rights
    from memoria.recall.config import RetrieverConfig
    from memoria.retriever import GraphRetriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploring(OptionGroup):
    """How the recalls of a server explore: options of `memoria recall`.

    The strategies are loaded when the settings are asked for, after the client was greeted.
    """

    strategy: Annotated[
        str | None, typer.Option("--strategy", help="How energy moves; see memoria recall.")
    ] = None
    settings: Settings = None
    relevance: Annotated[
        str | None,
        typer.Option(
            "--relevance",
            help="Name of a profile, such as default; none (rank by energy); or a file of weights.",
        ),
    ] = None
    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Time zone of the users' days, such as Europe/Berlin; if not given, UTC.",
        ),
    ] = None

    @property
    def config(self) -> RetrieverConfig | None:
        """The settings; None if no option was given."""
        given = (self.strategy, self.relevance, self.time_zone)
        if not self.settings and all(each is None for each in given):
            return None
        from memoria.cli.choices import exploration_config, weights_named
        from memoria.recall.strategies import TransferEnergy

        config = exploration_config(self.strategy or TransferEnergy.name, {}, self.settings)
        config = replace(config, time_zone=self.time_zone)
        if self.relevance is None:
            return config
        return replace(config, relevance=weights_named(self.relevance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving(OptionGroup):
    """The options that `mcp` and `serve` share: where they listen, and what clients may do."""

    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="SCOPE",
            help="Read this scope as well; may be repeated. With --tokens, the token names them.",
        ),
    ] = None
    host: Annotated[str, typer.Option(help="Interface to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.")] = 8765
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", help="File of tokens, made by mcp-token; only over HTTP."),
    ] = None
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer nothing that writes.")] = (
        False
    )
    allow_forget: Annotated[
        bool, typer.Option("--allow-forget", help="Let clients delete memories.")
    ] = False
    learn: Annotated[
        Literal["used"] | None,
        typer.Option(help="used: memories that a client opens or cites count as used."),
    ] = None
    budget: Annotated[
        int, typer.Option(min=100, max=20_000, help="Most tokens of an answer by default.")
    ] = ANSWER_TOKENS
    deadline: Annotated[
        float, typer.Option(min=0.05, max=60, help="Time for a recall by default; seconds.")
    ] = 5.0

    def opened(
        self, scope: str, connection: MappedConnection, embedder: str | None, exploring: Exploring
    ) -> tuple[Memories, Rights]:
        """Return the memories to serve, which the first call opens, and the rights of clients."""
        from memoria.agents.mcp.by_scope import Memories

        read_only = self.read_only or connection.mapping is not None  # a mapping writes nothing
        if self.learn is not None and read_only:
            raise typer.BadParameter(
                "learning writes, and nothing may be written", param_hint="--learn"
            )
        rights = self._rights(scope, connection, read_only=read_only)
        opening = opening_of(
            connection,
            scope,
            embedder_choice(embedder),
            config=exploring.config,
            learn=self.learn,
            writes=not read_only,
        )
        memories = Memories(
            opening, budget_tokens=self.budget, deadline_s=self.deadline, warm_up=_warm_up
        )
        return memories, rights

    def _rights(self, scope: str, connection: MappedConnection, *, read_only: bool) -> Rights:
        from memoria.agents.mcp.grants import Grant, read_grants
        from memoria.agents.mcp.rights import Rights

        if self.also and self.tokens is not None:
            raise typer.BadParameter("with --tokens, each token says it", param_hint="--also")
        if self.also and connection.mapping is not None:
            raise typer.BadParameter(
                "a mapped graph is read one scope at a time", param_hint="--also"
            )
        given = None if self.tokens is None else read_grants(self.tokens)
        if given is not None and read_only:
            given = {key: replace(grant, read_only=True) for key, grant in given.items()}
        return Rights(
            grant=Grant(scope=scope, read_only=read_only, also_read=tuple(self.also or ())),
            tokens=given,
            allow_forget=self.allow_forget,
            mapped=connection.mapping is not None,
        )

    def check_host(self) -> None:
        """Refuse to serve other machines without tokens."""
        from memoria.agents.mcp.rights import is_guarded

        if self.tokens is None and not is_guarded(self.host):
            raise typer.BadParameter(
                f"{self.host} may be reached from elsewhere: give --tokens, or listen on 127.0.0.1",
                param_hint="--host",
            )


def mcp(
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    exploring: Exploring,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(help="Standard streams, or streamable HTTP.")
    ] = "stdio",
    serving: Serving,
    compat: Annotated[
        Literal["chatgpt"] | None,
        typer.Option(help="Offer search and fetch as well, which ChatGPT's connectors ask for."),
    ] = None,
) -> None:
    """Serve memories to agents by MCP, the Model Context Protocol. Needs the extra mcp.

    On standard streams it serves the one program that started it; with --transport http any
    number of clients, at http://127.0.0.1:8765/mcp. Clients write one scope: --scope, or with
    --tokens the scope of their token. They also read the scopes that --also or their token names.
    Without --tokens it listens on this machine only.

    Examples
    --------
    memoria mcp --scope alice
    memoria mcp --scope alice --read-only
    memoria mcp --scope alice --strategy synapse --relevance none
    memoria mcp --scope alice --learn used
    memoria mcp --transport http --tokens tokens.txt --host 0.0.0.0
    memoria mcp --transport http --tokens tokens.txt --compat chatgpt
    """
    _load_server("memoria.agents.mcp.transports", "mcp")
    from memoria.agents.mcp.transports import Offer, serve_http, serve_stdio

    over_http = transport == "http"
    if serving.tokens is not None and not over_http:
        raise typer.BadParameter("tokens are for --transport http", param_hint="--tokens")
    if over_http:
        serving.check_host()
    memories, rights = serving.opened(scope, connection, embedder, exploring)
    if over_http:
        offer = Offer(compat=compat)
        asyncio.run(serve_http(memories, rights, offer, host=serving.host, port=serving.port))
        return
    if sys.stdin.isatty():
        hint("memoria mcp: waiting for a host of MCP on standard input; Ctrl-C ends it")
    asyncio.run(serve_stdio(memories, rights, compat))


def serve(
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    exploring: Exploring,
    serving: Serving,
    page: Annotated[
        bool, typer.Option("--page", help="Serve the page of `memoria view` as well.")
    ] = False,
) -> None:
    """Serve memories to programs over HTTP, and to agents by MCP. Needs the extra mcp.

    The API is at http://127.0.0.1:8765/v1, its description in OpenAPI at /v1/openapi.json, MCP at
    /mcp. Clients write one scope: --scope, or with --tokens the scope of their token. They also
    read the scopes that --also or their token names. Without --tokens it listens on this machine
    only; the page is for this machine in any case.

    Examples
    --------
    memoria serve --scope alice
    memoria serve --tokens tokens.txt --host 0.0.0.0
    memoria serve --scope alice --page
    """
    _load_server("memoria.agents.http.app", "serve")
    from memoria.agents.http.app import api_route
    from memoria.agents.mcp.rights import is_guarded
    from memoria.agents.mcp.transports import Offer, serve_http

    serving.check_host()
    guarded = is_guarded(serving.host)
    if page and not guarded:
        raise typer.BadParameter("the page is for 127.0.0.1 only", param_hint="--page")
    memories, rights = serving.opened(scope, connection, embedder, exploring)

    def routes(port: int) -> Sequence[BaseRoute]:
        served: list[BaseRoute] = [api_route(memories, rights, is_guarded=guarded)]
        if page:
            from memoria.view.serving import page_route

            route, place = page_route(memories.retriever, scope, port)
            served.append(route)
            err.print(f"memoria serve: the page is {place}", markup=False)
        return served

    offer = Offer(command="serve", routes=routes)
    asyncio.run(serve_http(memories, rights, offer, host=serving.host, port=serving.port))


def mcp_token(
    scope: Annotated[str, typer.Argument(help="Scope that the token grants.")],
    read_only: Annotated[bool, typer.Option("--read-only", help="It can only read.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also", metavar="SCOPE", help="It can read this scope, too; may be repeated."
        ),
    ] = None,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="File to add the line to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token for a client of `memoria mcp` or `serve`, and the line that grants it a scope.

    The token is printed once and stored nowhere; the line has only its hash.

    Examples
    --------
    memoria mcp-token alice --tokens tokens.txt
    memoria mcp-token alice --read-only
    memoria mcp-token alice --also team --tokens tokens.txt
    """
    from memoria.agents.mcp.grants import Grant, add_line, line_of, new_token

    token = new_token()
    grant = Grant(scope=scope, read_only=read_only, also_read=tuple(also or ()))
    line = line_of(token, grant)
    if tokens is not None:
        add_line(tokens, line)
    print_facts({"token": token, "line": line}, as_json, token)
    if tokens is None and not as_json:
        err.print(f"line for the file of --tokens: {line}", markup=False)


def _load_server(module: str, command: str) -> None:
    gc.disable()  # else a tenth of the start goes into looking for garbage among what is loaded
    try:
        with needing(command, "mcp"):
            import_module(module)
    finally:
        gc.enable()


async def _warm_up(retriever: GraphRetriever) -> None:
    await load_model(retriever.embedder, silent)
    # A full collection would look at all that is loaded, and stop all clients for a tenth of a
    # second each time.
    gc.collect()
    gc.freeze()
