"""Every place where memoria takes a string: in Python, on the command line, by MCP, on the page.

In: what is opened for the tries. Out: a call for each slot. Writes to the scope of the tries.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import httpx2
from mcp import Client, MCPError

from benchmarks.faults.world import SEEDS
from memoria import (
    Conversation,
    Document,
    GraphRetriever,
    Memory,
    MemoryFilter,
    Message,
    Relation,
    cli,
)
from memoria.types import Seed

_SERVER_ERROR, _UNAVAILABLE = 500, 503
# Exit codes of commands that say what is wrong in one line.
_GOOD_CODES = (0, 1, 2, 4, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaces:
    """What the calls use.

    Attributes
    ----------
    memory
        A retriever on the scope of the tries.
    learned
        A recall of that scope.
    mcp, page
        Clients of the two servers.
    options
        Options of a command that name the database and the scope.
    folder
        A folder for files.
    """

    memory: GraphRetriever
    learned: Any
    mcp: Client
    page: httpx2.AsyncClient
    options: tuple[str, ...]
    folder: Path


#: Makes one call with a string, or with something else, in one slot. Errors of memoria are raised;
#: where the surface has errors of its own, a text is returned if it did not use them.
Slot = Callable[[Surfaces, Any], Awaitable[str | None]]


def _python(call: Callable[[Surfaces, Any], Awaitable[object]]) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> None:
        await call(surfaces, value)

    return slot


async def _streamed(surfaces: Surfaces, value: Any) -> None:
    async with surfaces.memory.stream_paths([Seed(id=value, score=1.0)]) as paths:
        async for _ in paths:
            pass


PYTHON: Mapping[str, Slot] = {
    f"Python, {name}": _python(call)
    for name, call in {
        "recall": lambda s, v: s.memory.recall(v),
        "recall, query_tags": lambda s, v: s.memory.recall("oven", query_tags=[v]),
        "recall, kinds": lambda s, v: s.memory.recall("oven", kinds=[v]),
        "find_seeds": lambda s, v: s.memory.find_seeds(v),
        "filter, tags": lambda s, v: s.memory.find_seeds("oven", where=MemoryFilter(tags=[v])),
        "filter, metadata": lambda s, v: s.memory.find_seeds(
            "oven", where=MemoryFilter(metadata=_map(v))
        ),
        "stream_paths": _streamed,
        "get": lambda s, v: s.memory.get([v]),
        "neighbours": lambda s, v: s.memory.neighbours(v),
        "for_scope": lambda s, v: s.memory.for_scope(v).recall("oven"),
        "write, id": lambda s, v: s.memory.writer().write(
            [Memory(id=v, kind="Event", text="a text")]
        ),
        "write, text": lambda s, v: s.memory.writer().write(
            [Memory(id="slot", kind="Event", text=v)]
        ),
        "write, kind": lambda s, v: s.memory.writer(kinds=(v,)).write(
            [Memory(id="slot", kind=v, text="a text")]
        ),
        "write, tags": lambda s, v: s.memory.writer().write(
            [Memory(id="slot", kind="Event", text="a text", tags=[v], metadata=_map(v))]
        ),
        "write, relation": lambda s, v: s.memory.writer().write(
            [], [Relation(source=SEEDS[0].id, target=v, relation=v)]
        ),
        "remember": lambda s, v: s.memory.writer().remember(v),
        "remember, about": lambda s, v: s.memory.writer().remember("about", about=[v], tags=[v]),
        "conversation": lambda s, v: s.memory.writer().conversation(
            Conversation(id=v, messages=[Message(id=v, speaker=v, text=v)])
        ),
        "document": lambda s, v: s.memory.writer().document(Document(id=v, title=v, text=v)),
        "forget": lambda s, v: s.memory.writer().forget([v]),
        "delete_edge": lambda s, v: s.memory.writer().delete_edge(v, v, v),
        "strengthen_edge": lambda s, v: s.memory.learner().strengthen_edge(
            SEEDS[0].id, v, relation=v, event_id=v
        ),
        "feedback": lambda s, v: s.memory.learner().feedback(
            s.learned.trace, confirmed=[v], event_id=v
        ),
        "suppress": lambda s, v: s.memory.learner().suppress(v, SEEDS[0].id),
        "link": lambda s, v: s.memory.linker().link([v]),
    }.items()
}


def _command(*words: str, stdin: bool = False) -> Slot:
    """Run a command in this process with the value in place of ``?``, or on its standard input."""

    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        text = str(value).replace("\x00", "")  # no argument of a process can hold it
        arguments = [text if word == "?" else word for word in words]
        code, said = _run([*arguments, *surfaces.options], text if stdin else "")
        if code not in _GOOD_CODES or "Traceback" in said:
            return f"exit code {code}: {said[-200:]}"
        return None

    return slot


def _run(arguments: list[str], stdin: str) -> tuple[object, str]:
    """Run the command line in a thread, as commands have event loops of their own."""
    codes: list[object] = []
    raw = io.BytesIO()
    said = io.TextIOWrapper(raw, encoding="utf-8")
    given = io.TextIOWrapper(io.BytesIO(stdin.encode(errors="surrogatepass")), encoding="utf-8")

    def main() -> None:
        try:
            cli.main()
            codes.append(0)
        except SystemExit as exc:
            codes.append(exc.code)
        except Exception as exc:  # noqa: BLE001 - a command that raises is a failure
            codes.append(f"{type(exc).__name__}: {exc}")

    with (
        mock.patch.object(sys, "argv", ["memoria", *arguments]),
        mock.patch.object(sys, "stdin", given),
        redirect_stdout(said),
        redirect_stderr(said),
    ):
        thread = threading.Thread(target=main)
        thread.start()
        thread.join()
    said.flush()
    return codes[0], raw.getvalue().decode(errors="replace")


COMMANDS: Mapping[str, Slot] = {
    f"command line, {' '.join(words[:2])}": _command(*words)
    for words in (
        ("recall", "?", "--embedder", "none"),
        ("recall", "oven", "--tag", "?", "--embedder", "none"),
        ("recall", "oven", "--as-of", "?", "--embedder", "none"),
        ("recall", "oven", "--situation", "?", "--embedder", "none"),
        ("explore", "?"),
        ("get", "?"),
        ("neighbours", "?"),
        ("remember", "?", "--embedder", "none"),
        ("forget", "?", "--yes"),
        ("delete-edge", "?", "b"),
        ("learn", "undo", "--since", "?"),
        ("learn", "suppress", "?", "b"),
    )
} | {
    "command line, ingest": _command("ingest", "-", "--embedder", "none", stdin=True),
}


def _tool(name: str, **arguments: Any) -> Slot:
    """Call a tool with the value in place of ``...``, alone or in a list."""

    async def slot(surfaces: Surfaces, value: Any) -> None:
        places: dict[Any, Any] = {...: value, (...,): [value]}
        given = {
            key: places.get(each, each) if not isinstance(each, list) else each
            for key, each in arguments.items()
        }
        try:
            await surfaces.mcp.call_tool(name, given)
        except (MCPError, ValueError, TypeError):
            return  # refused before it was sent, or by the protocol: JSON has no such value

    return slot


TOOLS: Mapping[str, Slot] = {
    "MCP, memory_recall": _tool("memory_recall", query=...),
    "MCP, memory_recall tags": _tool("memory_recall", query="oven", tags=(...,)),
    "MCP, memory_explain": _tool("memory_explain", recall_id=..., memory_id=...),
    "MCP, memory_open": _tool("memory_open", ids=(...,)),
    "MCP, memory_remember": _tool("memory_remember", text=...),
    "MCP, memory_remember tags": _tool("memory_remember", text="a", tags=(...,), about=(...,)),
    "MCP, memory_feedback": _tool("memory_feedback", recall_id=..., used=(...,)),
    "MCP, memory_forget": _tool("memory_forget", ids=(...,)),
}

_ASKED: Mapping[str, Any] = {
    "query": "oven",
    "tags": [],
    "scope": "nobody",
    "strategy": "transfer",
    "settings": {},
    "budget_tokens": None,
}


def _map(value: Any) -> Any:
    """Return a map of a value to itself; one that can't be a key stays as it is."""
    return {value: value} if isinstance(value, Hashable) else value


def _posted(field: str) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        body = {**_ASKED, "scope": surfaces.memory.scope}
        if field == "settings":
            value = _map(value)
        body[field] = [value] if field == "tags" else value
        try:
            request = surfaces.page.build_request("POST", "/api/recall", json=body)
        except (TypeError, ValueError):
            return None  # JSON has no such value
        return _status(await surfaces.page.send(request))

    return slot


async def _opened(surfaces: Surfaces, value: Any) -> str | None:
    try:
        asked = {"scope": surfaces.memory.scope, "id": str(value)}
        request = surfaces.page.build_request("GET", "/api/memory", params=asked)
    except (ValueError, httpx2.InvalidURL):
        return None  # no address can hold it
    return _status(await surfaces.page.send(request))


def _status(answer: httpx2.Response) -> str | None:
    code = answer.status_code
    if code >= _SERVER_ERROR and code != _UNAVAILABLE:
        return f"status {code}: {answer.text[:200]}"
    return None


PAGE: Mapping[str, Slot] = {
    **{f"page, {field}": _posted(field) for field in ("query", "tags", "scope", "strategy")},
    "page, settings": _posted("settings"),
    "page, memory": _opened,
}
SLOTS: Mapping[str, Slot] = {**PYTHON, **COMMANDS, **TOOLS, **PAGE}
