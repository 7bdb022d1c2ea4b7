"""Serve memories to agents and programs: ``mcp``, ``mcp-token``, ``serve``."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memoria._support.extras import install_command
from memoria._support.progress import silent
from memoria.agents.kinds import ANSWER_TOKENS
from memoria.cli.common import Json, Scope, err, print_facts, run
from memoria.cli.connection import opening_of
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.mapping import MappedConnection
from memoria.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.routing import BaseRoute

    from memoria.agents.mcp.by_scope import Memories
    from memoria.agents.mcp.rights import Rights
    from memoria.retriever import GraphRetriever

TokenFile = Annotated[
    Path | None,
    typer.Option("--tokens", help="File of tokens, made by mcp-token; only over HTTP."),
]

Host = Annotated[str, typer.Option(help="Interface to listen on.")]
Port = Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer nothing that writes.")]
AllowForget = Annotated[bool, typer.Option("--allow-forget", help="Let clients delete memories.")]
Budget = Annotated[
    int, typer.Option(min=100, max=20_000, help="Most tokens of an answer by default.")
]
Deadline = Annotated[
    float, typer.Option(min=0.05, max=60, help="Time for a recall by default; seconds.")
]


def mcp(
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(help="Standard streams, or streamable HTTP.")
    ] = "stdio",
    host: Host = "127.0.0.1",
    port: Port = 8765,
    tokens: TokenFile = None,
    read_only: ReadOnly = False,
    allow_forget: AllowForget = False,
    compat: Annotated[
        Literal["chatgpt"] | None,
        typer.Option(help="Offer search and fetch as well, which ChatGPT's connectors ask for."),
    ] = None,
    budget: Budget = ANSWER_TOKENS,
    deadline: Deadline = 5.0,
) -> None:
    """Serve memories to agents by MCP, the Model Context Protocol. Needs the extra mcp.

    On standard streams it serves the one program that started it; with --transport http any
    number of clients, at http://127.0.0.1:8765/mcp. Clients read and write one scope: --scope, or
    with --tokens the scope of their token. Without --tokens it listens on this machine only.

    Examples
    --------
    memoria mcp --scope alice
    memoria mcp --scope alice --read-only
    memoria mcp --transport http --tokens tokens.txt --host 0.0.0.0
    memoria mcp --transport http --tokens tokens.txt --compat chatgpt
    """
    _load_server("memoria.agents.mcp.transports", "mcp")
    from memoria.agents.mcp.transports import Address, Offer, serve_http, serve_stdio

    over_http = transport == "http"
    if tokens is not None and not over_http:
        raise typer.BadParameter("tokens are for --transport http", param_hint="--tokens")
    read_only = read_only or connection.mapping is not None  # a mapping writes nothing
    if over_http:
        _check_host(host, tokens)
    rights = _rights(scope, tokens, read_only=read_only, allow_forget=allow_forget)
    choice = embedder_choice(embedder)
    opening = opening_of(connection, rights.grant.scope, choice, writes=not read_only)
    memories = _memories(opening, budget, deadline)
    if over_http:
        run(serve_http(memories, rights, Address(host=host, port=port), Offer(compat=compat)))
        return
    if sys.stdin.isatty():
        text = "memoria mcp: waiting for a host of MCP on standard input; Ctrl-C ends it"
        err.print(text, style="dim", markup=False)
    run(serve_stdio(memories, rights, compat))


def serve(
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    tokens: TokenFile = None,
    read_only: ReadOnly = False,
    allow_forget: AllowForget = False,
    page: Annotated[
        bool, typer.Option("--page", help="Serve the page of `memoria view` as well.")
    ] = False,
    budget: Budget = ANSWER_TOKENS,
    deadline: Deadline = 5.0,
) -> None:
    """Serve memories to programs over HTTP, and to agents by MCP. Needs the extra mcp.

    The API is at http://127.0.0.1:8765/v1, its description in OpenAPI at /v1/openapi.json, MCP at
    /mcp. Clients read and write one scope: --scope, or with --tokens the scope of their token.
    Without --tokens it listens on this machine only; the page is for this machine in any case.

    Examples
    --------
    memoria serve --scope alice
    memoria serve --tokens tokens.txt --host 0.0.0.0
    memoria serve --scope alice --page
    """
    _load_server("memoria.agents.http.app", "serve")
    from memoria.agents.http.app import api_route
    from memoria.agents.mcp.rights import is_guarded
    from memoria.agents.mcp.transports import Address, Offer, serve_http

    _check_host(host, tokens)
    if page and not is_guarded(host):
        raise typer.BadParameter("the page is for 127.0.0.1 only", param_hint="--page")
    read_only = read_only or connection.mapping is not None  # a mapping writes nothing
    rights = _rights(scope, tokens, read_only=read_only, allow_forget=allow_forget)
    choice = embedder_choice(embedder)
    opening = opening_of(connection, rights.grant.scope, choice, writes=not read_only)
    memories = _memories(opening, budget, deadline)

    def routes(port: int) -> Sequence[BaseRoute]:
        served: list[BaseRoute] = [api_route(memories, rights, is_guarded=is_guarded(host))]
        if page:
            from memoria.view.serving import page_route

            route, address = page_route(memories.retriever, scope, port)
            served.append(route)
            err.print(f"memoria serve: the page is {address}", markup=False)
        return served

    offer = Offer(command="serve", routes=routes)
    run(serve_http(memories, rights, Address(host=host, port=port), offer))


def mcp_token(
    scope: Annotated[str, typer.Argument(help="Scope that the token grants.")],
    read_only: Annotated[bool, typer.Option("--read-only", help="It can only read.")] = False,
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
    """
    from memoria.agents.mcp.grants import Grant, add_line, line_of, new_token

    token = new_token()
    line = line_of(token, Grant(scope=scope, read_only=read_only))
    if tokens is not None:
        add_line(tokens, line)
    print_facts({"token": token, "line": line}, as_json, token)
    if tokens is None and not as_json:
        err.print(f"line for the file of --tokens: {line}", markup=False)


def _load_server(module: str, command: str) -> None:
    gc.disable()  # else a tenth of the start goes into looking for garbage among what is loaded
    try:
        import_module(module)
    except ModuleNotFoundError as exc:
        if (exc.name or "").startswith("memoria"):
            raise
        text = f"memoria {command} needs the extra mcp: {install_command('mcp')}"
        raise ConfigError(text) from exc
    finally:
        gc.enable()


def _check_host(host: str, tokens: Path | None) -> None:
    from memoria.agents.mcp.rights import is_guarded

    if tokens is None and not is_guarded(host):
        raise typer.BadParameter(
            f"{host} may be reached from elsewhere: give --tokens, or listen on 127.0.0.1",
            param_hint="--host",
        )


def _memories(
    opening: Callable[[], Awaitable[GraphRetriever]], budget: int, deadline: float
) -> Memories:
    from memoria.agents.mcp.by_scope import Memories

    return Memories(
        opening,
        budget_tokens=budget,
        deadline_s=deadline,
        warm_up=lambda retriever: load_model(retriever.embedder, silent),
    )


def _rights(scope: str, tokens: Path | None, *, read_only: bool, allow_forget: bool) -> Rights:
    from memoria.agents.mcp.grants import Grant, read_grants
    from memoria.agents.mcp.rights import Rights

    given = None if tokens is None else read_grants(tokens)
    if given is not None and read_only:
        given = {key: replace(grant, read_only=True) for key, grant in given.items()}
    return Rights(
        grant=Grant(scope=scope, read_only=read_only),
        tokens=given,
        allow_forget=allow_forget,
    )
