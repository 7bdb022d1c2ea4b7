"""Serve memories to agents: ``mcp``, ``mcp-token``."""

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
    from memoria.agents.mcp.rights import Rights

TokenFile = Annotated[
    Path | None,
    typer.Option("--tokens", help="File of tokens, made by mcp-token; only over HTTP."),
]


def mcp(
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    embedder: EmbedderName = None,
    transport: Annotated[
        Literal["stdio", "http"], typer.Option(help="Standard streams, or streamable HTTP.")
    ] = "stdio",
    host: Annotated[str, typer.Option(help="Interface to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.")] = 8765,
    tokens: TokenFile = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")] = (
        False
    ),
    allow_forget: Annotated[
        bool, typer.Option("--allow-forget", help="Offer the tool that deletes memories.")
    ] = False,
    compat: Annotated[
        Literal["chatgpt"] | None,
        typer.Option(help="Offer search and fetch as well, which ChatGPT's connectors ask for."),
    ] = None,
    budget: Annotated[
        int, typer.Option(min=100, max=20_000, help="Most tokens of an answer by default.")
    ] = ANSWER_TOKENS,
    deadline: Annotated[
        float, typer.Option(min=0.05, max=60, help="Time for a recall by default; seconds.")
    ] = 5.0,
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
    _load_server()
    from memoria.agents.mcp.by_scope import Memories
    from memoria.agents.mcp.rights import is_guarded
    from memoria.agents.mcp.transports import Address, serve_http, serve_stdio

    over_http = transport == "http"
    if tokens is not None and not over_http:
        raise typer.BadParameter("tokens are for --transport http", param_hint="--tokens")
    if over_http and tokens is None and not is_guarded(host):
        raise typer.BadParameter(
            f"{host} may be reached from elsewhere: give --tokens, or listen on 127.0.0.1",
            param_hint="--host",
        )
    read_only = read_only or connection.mapping is not None  # a mapping writes nothing
    rights = _rights(scope, tokens, read_only=read_only, allow_forget=allow_forget)
    memories = Memories(
        opening_of(connection, rights.grant.scope, embedder_choice(embedder), writes=not read_only),
        budget_tokens=budget,
        deadline_s=deadline,
        warm_up=lambda retriever: load_model(retriever.embedder, silent),
    )
    if over_http:
        run(serve_http(memories, rights, Address(host=host, port=port), compat))
        return
    if sys.stdin.isatty():
        text = "memoria mcp: waiting for a host of MCP on standard input; Ctrl-C ends it"
        err.print(text, style="dim", markup=False)
    run(serve_stdio(memories, rights, compat))


def mcp_token(
    scope: Annotated[str, typer.Argument(help="Scope that the token grants.")],
    read_only: Annotated[bool, typer.Option("--read-only", help="It can only read.")] = False,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", help="File to add the line to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token for a client of `memoria mcp`, and the line that grants it a scope.

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


def _load_server() -> None:
    gc.disable()  # else a tenth of the start goes into looking for garbage among what is loaded
    try:
        import_module("memoria.agents.mcp.transports")
    except ModuleNotFoundError as exc:
        if (exc.name or "").startswith("memoria"):
            raise
        text = f"memoria mcp needs the extra mcp: {install_command('mcp')}"
        raise ConfigError(text) from exc
    finally:
        gc.enable()


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
