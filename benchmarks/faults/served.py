"""Every place where a server or a command takes a string: command line, MCP, the page, HTTP.

In: what is opened for the tries. Out: a call for each slot. Writes to the scope of the tries.
"""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from unittest import mock
from urllib.parse import quote

import httpx2
from mcp import MCPError

from benchmarks.faults.surfaces import Slot, Surfaces, as_map
from memoria import cli

_SERVER_ERROR, _UNAVAILABLE = 500, 503
# Exit codes of commands that say what is wrong in one line.
_GOOD_CODES = (0, 1, 2, 4, 5)


def _command(*words: str, last: str = "", stdin: bool = False) -> Slot:
    """Run a command in this process with the value instead of ``?``, or on its standard input.

    With ``last`` the value is that of an option that follows all others, and takes their place.
    """

    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        text = str(value).replace("\x00", "")  # no argument of a process can hold it
        arguments = [text if word == "?" else word for word in words]
        options = (*surfaces.options, last, text) if last else surfaces.options
        code, said = _run([*arguments, *options], text if stdin else "")
        if code not in _GOOD_CODES or "Traceback" in said:
            return f"exit code {code}: {said[-200:]}"
        return None

    return slot


def _run(arguments: list[str], stdin: str) -> tuple[object, str]:
    """Run the command line in a thread, as commands have event loops of their own."""
    codes: list[object] = []
    given = io.TextIOWrapper(io.BytesIO(stdin.encode(errors="surrogatepass")), encoding="utf-8")

    def main() -> None:
        try:
            cli.main()
            codes.append(0)
        except SystemExit as exc:
            codes.append(exc.code)
        except Exception as exc:  # noqa: BLE001 - a command that raises is a failure
            codes.append(f"{type(exc).__name__}: {exc}")

    # A real file: a command replaces the file of its output where it can't go on writing.
    with (
        NamedTemporaryFile(mode="w+", encoding="utf-8") as said,
        mock.patch.object(sys, "argv", ["memoria", *arguments]),
        mock.patch.object(sys, "stdin", given),
        redirect_stdout(said.file),
        redirect_stderr(said.file),
    ):
        thread = threading.Thread(target=main)
        thread.start()
        thread.join()
        said.flush()
        return codes[0], Path(said.name).read_text("utf-8", errors="replace")


COMMANDS: Mapping[str, Slot] = {
    f"command line, {' '.join(words)}": _command(*words)
    for words in (
        ("recall", "?", "--embedder", "none"),
        ("recall", "oven", "--tag", "?", "--embedder", "none"),
        ("recall", "oven", "--as-of", "?", "--embedder", "none"),
        ("recall", "oven", "--situation", "?", "--embedder", "none"),
        ("recall", "oven", "--set", "?", "--embedder", "none"),
        ("recall", "oven", "--strategy", "?", "--embedder", "none"),
        ("recall", "oven", "--relevance", "?", "--embedder", "none"),
        ("explore", "?"),
        ("list", "--kind", "?"),
        ("list", "--with-tag", "?"),
        ("list", "--metadata", "?"),
        ("list", "--after", "?"),
        ("recent", "--since", "?"),
        ("recent", "--exclude-id", "?"),
        ("get", "?"),
        ("neighbours", "?"),
        ("remember", "?", "--embedder", "none"),
        ("remember", "by its tag", "--tag", "?", "--embedder", "none"),
        ("remember", "about", "--about", "?", "--embedder", "none"),
        ("remember", "after", "--supersedes", "?", "--embedder", "none"),
        ("remember", "of a kind", "--kind", "?", "--embedder", "none"),
        ("remember", "until", "--valid-until", "?", "--embedder", "none"),
        ("forget", "?", "--yes"),
        ("forget", "--metadata", "?", "--yes"),
        ("delete-edge", "?", "b"),
        ("learn", "undo", "--since", "?"),
        ("learn", "suppress", "?", "b"),
    )
} | {
    "command line, stats --scope": _command("stats", last="--scope"),
    "command line, stats --database": _command("stats", last="--database"),
    "command line, stats --user": _command("stats", last="--user"),
    "command line, stats --uri": _command("stats", last="--uri"),
    "command line, export --scope": _command("export", last="--scope"),
    "command line, embedder": _command("recall", "oven", last="--embedder"),
    "command line, ingest": _command("ingest", "-", "--embedder", "none", stdin=True),
}


def _tool(name: str, **arguments: Any) -> Slot:
    """Call a tool with the value instead of ``...``, alone or in a list."""

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


def _resource(address: str) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> None:
        try:
            await surfaces.mcp.read_resource(address + quote(str(value), safe="", errors="replace"))
        except (MCPError, ValueError):
            return

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
    "MCP, memory resource": _resource("memoria://memory/"),
    "MCP, recall resource": _resource("memoria://recall/"),
}

#: The page sends all of these fields with each question.
ASKED: Mapping[str, Any] = {
    "query": "oven",
    "tags": [],
    "scope": "nobody",
    "strategy": "transfer",
    "settings": {},
    "budget_tokens": None,
    "deadline_s": None,
}


def _posted(field: str) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        body = {**ASKED, "scope": surfaces.memory.scope}
        if field == "settings":
            value = as_map(value)
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


def _replayed(field: str) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        name = quote(str(value), safe="", errors="replace") if field == "recall" else "nothing"
        changes = value if field == "body" else as_map(value)
        try:
            request = surfaces.page.build_request(
                "POST", f"/api/replay/{name}", json={"changes": changes}
            )
        except (TypeError, ValueError, httpx2.InvalidURL):
            return None
        return _status(await surfaces.page.send(request))

    return slot


PAGE: Mapping[str, Slot] = {
    **{f"page, {field}": _posted(field) for field in ("query", "tags", "scope", "strategy")},
    "page, settings": _posted("settings"),
    "page, memory": _opened,
    "page, budget": _posted("budget_tokens"),
    "page, deadline": _posted("deadline_s"),
    "page, replay": _replayed("recall"),
    "page, replay changes": _replayed("changes"),
    "page, replay body": _replayed("body"),
}


def _requested(operation: str, **arguments: Any) -> Slot:
    """Send a request to the HTTP API with the value instead of ``...``, alone or within."""

    def filled(part: Any, value: Any) -> Any:
        if isinstance(part, dict):
            return {key: filled(each, value) for key, each in part.items()}
        if isinstance(part, list):
            return [filled(each, value) for each in part]
        return value if part is ... else part

    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        try:
            content = json.dumps(filled(arguments, value))
        except (TypeError, ValueError, RecursionError):
            return None  # JSON has no such value
        return await _of_api(surfaces, "POST", operation, content=content)

    return slot


def _asked_for(operation: str, name: str) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> str | None:
        return await _of_api(surfaces, "GET", operation, params={name: str(value)})

    return slot


async def _raw(surfaces: Surfaces, value: Any) -> str | None:
    content = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
    return await _of_api(surfaces, "POST", "append", content=content)


async def _keyed(surfaces: Surfaces, value: Any) -> str | None:
    key = {"idempotency-key": str(value)}
    return await _of_api(surfaces, "POST", "remember", content='{"text": "a"}', headers=key)


async def _of_api(surfaces: Surfaces, method: str, operation: str, **given: Any) -> str | None:
    headers = {"content-type": "application/json", **given.pop("headers", {})}
    try:
        request = surfaces.api.build_request(method, f"/v1/{operation}", headers=headers, **given)
    except (ValueError, httpx2.InvalidURL):
        return None  # no header or address can hold it
    return _status(await surfaces.api.send(request))


API: Mapping[str, Slot] = {
    "HTTP, recall": _requested("recall", query=...),
    "HTTP, recall tags": _requested("recall", query="oven", tags=[...]),
    "HTTP, recall deadline": _requested("recall", query="oven", deadline_ms=...),
    "HTTP, recall where": _requested("recall", query="oven", where=...),
    "HTTP, recall kinds and tags": _requested(
        "recall", query="oven", where={"kinds": [...], "tags": [...], "exclude_ids": [...]}
    ),
    "HTTP, recall metadata": _requested("recall", query="oven", where={"metadata": {"a": ...}}),
    "HTTP, recall times": _requested(
        "recall", query="oven", where={"created_from": ..., "created_before": ...}
    ),
    "HTTP, recall as_of": _requested("recall", query="oven", as_of=...),
    "HTTP, recall time zone": _requested("recall", query="oven in May", time_zone=...),
    "HTTP, explain": _requested("explain", recall_id=..., memory_id=...),
    "HTTP, open": _requested("open", ids=[...]),
    "HTTP, remember": _requested("remember", text=...),
    "HTTP, remember tags": _requested("remember", text="a", tags=[...], about=[...]),
    "HTTP, append": _requested("append", conversation_id=..., messages=[{"text": "a"}]),
    "HTTP, append text": _requested("append", conversation_id="a", messages=[{"text": ...}]),
    "HTTP, append role": _requested(
        "append", conversation_id="a", messages=[{"text": "a", "role": ...}]
    ),
    "HTTP, append id": _requested(
        "append", conversation_id="a", messages=[{"text": "a", "id": ...}]
    ),
    "HTTP, append message": _requested("append", conversation_id="a", messages=[...]),
    "HTTP, feedback": _requested("feedback", recall_id=..., used=[...]),
    "HTTP, forget": _requested("forget", ids=[...]),
    "HTTP, memories cursor": _asked_for("memories", "cursor"),
    "HTTP, memories limit": _asked_for("memories", "limit"),
    "HTTP, scopes cursor": _asked_for("scopes", "cursor"),
    "HTTP, unknown": _asked_for("status", "?"),
    "HTTP, body": _raw,
    "HTTP, idempotency key": _keyed,
}
