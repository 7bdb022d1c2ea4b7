"""Hooks of coding agents: ``hook``.

In: what the host writes to standard input. Out: context for its model, as JSON.
Whatever happens, the command ends with exit code 0, and soon: an agent must not wait for its
memory, and one of the hosts takes other codes for a veto.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import sys
from dataclasses import asdict, dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoria._support.hard_deadline import LIMIT_S, NO_TIME, running_s
from memoria.agents.kinds import PROMPT_TOKENS, SESSION_TOKENS, Event, Harness
from memoria.cli.common import Scope, err, printable
from memoria.cli.connection import Connection
from memoria.cli.groups import OptionGroup
from memoria.errors import ConfigError, MemoriaError

if TYPE_CHECKING:
    from memoria.agents.hooks import HookCall
    from memoria.agents.mcp.places import Place

#: For a server to prove itself; then the next one is asked, or the database.
PROOF_S = 0.5
#: Characters that the hosts take.
MOST_CHARS = 10_000
_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
_DONE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(OptionGroup):
    """The options about how much the model gets, and how relevant it must be."""

    budget_tokens: Annotated[
        int | None,
        typer.Option(
            "--budget",
            min=100,
            max=SESSION_TOKENS,
            metavar="TOKENS",
            help=f"Most tokens for the model; by default {PROMPT_TOKENS} with a prompt, and "
            f"{SESSION_TOKENS:,} at the start of a session.",
        ),
    ] = None
    min_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-relevance",
            min=0.0,
            max=1.0,
            metavar="P",
            help="Lowest relevance, a probability, of a memory; by default that of a recall. "
            "Needs a running memoria mcp.",
        ),
    ] = None
    min_best_relevance: Annotated[
        float | None,
        typer.Option(
            "--min-best",
            min=0.0,
            max=1.0,
            metavar="P",
            help="Lowest relevance of the best memory; below it the model gets nothing. "
            "Needs a running memoria mcp.",
        ),
    ] = None


def hook(
    event: Annotated[Event, typer.Argument(help="What happened in the session.")],
    harness: Annotated[Harness, typer.Option(help="Coding agent that calls.")],
    scope: Scope = "default",
    *,
    limits: Limits,
    connection: Connection,
) -> None:
    """Answer a hook of Claude Code or Codex: give context to a session, or store a turn.

    A running `memoria mcp --transport http` of the same scope is asked first; if it has --tokens,
    with the token in MEMORIA_TOKEN. Always ends with exit code 0, within two seconds.

    Examples
    --------
    memoria hook session-start --harness claude --scope alice
    memoria hook prompt --harness codex --scope alice
    memoria hook prompt --harness claude --budget 300 --min-best 0.2
    """
    given = json.loads(sys.stdin.buffer.read())
    call = replace(_call(given, event, harness, scope), **asdict(limits))
    text = "" if call.is_empty else _asked(call)
    if text is None:
        left_s = LIMIT_S - running_s() - 0.1
        text = asyncio.run(_answered(connection, call, left_s))
    if text and event in _NAMES and len(text) <= MOST_CHARS:
        output = {"hookEventName": _NAMES[event], "additionalContext": text}
        sys.stdout.write(json.dumps({"hookSpecificOutput": output}) + "\n")


def _call(given: dict[str, Any], event: Event, harness: Harness, scope: str) -> HookCall:
    from memoria.agents.hooks import HookCall
    from memoria.agents.transcripts import read_transcript

    transcript = given.get("transcript_path")
    wanted = event == "stop" and transcript
    return HookCall(
        event=event,
        scope=scope,
        harness=harness,
        session_id=str(given.get("session_id") or ""),
        prompt=str(given.get("prompt") or "") if event == "prompt" else "",
        messages=read_transcript(Path(str(transcript)), harness) if wanted else (),
    )


def _asked(call: HookCall) -> str | None:
    """Return what a running server says; None if none of them serves the scope."""
    from memoria.agents.mcp.places import HOOK_PATH, places

    headers = {"Content-Type": "application/json"}
    if token := os.environ.get("MEMORIA_TOKEN", "").strip():
        if not (token.isascii() and token.isprintable()):  # the HTTP client's error would show it
            raise ConfigError("MEMORIA_TOKEN is not a token: it must be one line of ASCII")
        headers["Authorization"] = f"Bearer {token}"
    for place in places():
        connection = HTTPConnection(place.host, place.port, timeout=PROOF_S)
        try:
            if not _proven(connection, place):
                continue
            connection.request("POST", HOOK_PATH, json.dumps(call.plain()).encode(), headers)
            answer = connection.getresponse()
            body = answer.read().decode("utf-8", "replace")
        except (OSError, HTTPException):  # it was killed, or something else listens there
            continue
        finally:
            connection.close()
        if answer.status == _DONE:
            return body
    return None


def _proven(connection: HTTPConnection, place: Place) -> bool:
    """Connect, and tell whether the server that announced a place is the one that listens there.

    Anybody may have taken the port of a server that was killed, and must get neither the prompt nor
    the token, nor have a say. What is proven holds for this connection, which is not made again.
    """
    from memoria.agents.mcp.places import PROOF_PATH, proof_of

    nonce = secrets.token_hex(16)
    proof = proof_of(place.secret, nonce).encode()
    connection.connect()
    connection.auto_open = 0
    opened = connection.sock  # the connection forgets it when the server hangs up
    connection.request("GET", f"{PROOF_PATH}?nonce={nonce}")
    given = connection.getresponse().read(len(proof))
    if not hmac.compare_digest(given, proof):
        return False
    opened.settimeout(LIMIT_S)
    return True


async def _answered(connection: Connection, call: HookCall, left_s: float) -> str:
    """Ask the database itself, by words only: to load a model takes too long."""
    from memoria.agents.agent_memory import AgentMemory
    from memoria.agents.hooks import answer_hook
    from memoria.agents.kept import HOOK_LETTERS, KeptRecalls
    from memoria.connection import connect

    try:
        async with asyncio.timeout(left_s):
            target = await connection.find()
            opening = connect(target.uri, target.auth, scope=call.scope, database=target.database)
            async with opening as retriever:
                recalls = KeptRecalls(letters=HOOK_LETTERS)
                return await answer_hook(AgentMemory(retriever, recalls=recalls), call)
    except (MemoriaError, TimeoutError) as exc:
        err.print(f"memoria hook: {printable(str(exc) or NO_TIME)}", markup=False)
        return ""
