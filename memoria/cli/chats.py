"""Import what people have said elsewhere: ``import-chats``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from memoria._support.progress import progress_bars
from memoria.cli.common import Json, Scope, print_doubt, print_facts, run
from memoria.cli.connection import Connection, on_store
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.tally import DryRun, Tally
from memoria.graph.connectors import is_connector
from memoria.importers import (
    detect_format,
    read_chatgpt,
    read_claude,
    read_langchain,
    read_memory_server,
    read_messages,
    read_openai,
    read_slack,
)
from memoria.remember import ConversationWriter
from memoria.store import Store
from memoria.types import ConversationReport, Memory, Relation, WriteReport
from memoria.writer import GraphWriter

WRITE_AT_ONCE = 1_000

BRANCHED = ("chatgpt", "claude")
MEMORY_SERVER = "memory-server"
READERS: dict[str, Callable[..., Iterator[Any]]] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "slack": read_slack,
    "openai": read_openai,
    "langchain": read_langchain,
    "messages": read_messages,
    MEMORY_SERVER: read_memory_server,
}
FormatName = Literal[
    "auto", "chatgpt", "claude", "slack", "openai", "langchain", "messages", "memory-server"
]


def import_chats(
    format: Annotated[  # noqa: A002  # the name in the help
        FormatName, typer.Argument(help="Program that the export is from; auto finds out.")
    ],
    path: Annotated[Path, typer.Argument(help="The export: a zip, a folder or a file.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    all_branches: Annotated[
        bool,
        typer.Option(
            "--all-branches", help="Also branches left behind when a question was edited."
        ),
    ] = False,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Leave out wrong messages and conversations, and count them."
        ),
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write the conversations of an export. Safe to run again; only what is new is added.

    Formats: chatgpt, claude, slack (exports of these programs); openai, langchain (lists of
    messages); messages (JSON Lines); memory-server (memory.jsonl of the official MCP server).

    Examples
    --------
    memoria import-chats chatgpt export.zip --scope ada --dry-run
    memoria import-chats claude data.zip --scope ada
    memoria import-chats slack acme-export/ --scope acme --skip-invalid
    """
    name = detect_format(path) if format == "auto" else format
    if all_branches and name not in BRANCHED:
        raise typer.BadParameter(f"{name} has no branches", param_hint="--all-branches")
    tally = Tally(skip_invalid=skip_invalid)
    options = {"all_branches": True} if all_branches else {}
    items = READERS[name](
        path, on_invalid=tally.on_invalid, on_left_out=tally.on_left_out, **options
    )
    counted = tally.graph if name == MEMORY_SERVER else tally.conversations
    done = ConversationReport()
    if dry_run:
        with progress_bars() as progress:
            deque(counted(items, progress), maxlen=0)
    else:
        choose = embedder_choice(embedder)

        async def write(store: Store) -> ConversationReport:
            model = await choose(store)
            graph = GraphWriter(store, scope=scope, embedder=model)
            await graph.ready()  # fail before a model is downloaded
            await load_model(model)
            with progress_bars() as progress:
                found: Iterator[Any] = counted(items, progress)
                if name == MEMORY_SERVER:
                    return await _write_graph(graph, found)
                return await ConversationWriter(store, scope=scope, embedder=model).write(found)

        done = run(on_store(connection, write))
    tally.show_problems()
    print_doubt(done.certain)
    facts = {"format": name, "dry_run": dry_run, **tally.facts(done)}
    print_facts(facts, as_json, tally.in_words(done, None if dry_run else scope))


async def _write_graph(
    writer: GraphWriter, items: Iterator[Memory | Relation]
) -> ConversationReport:
    """Write memories and relations; the ends of a relation come before it."""
    done = WriteReport()
    parts = 0
    while batch := list(islice(items, WRITE_AT_ONCE)):
        memories = [item for item in batch if isinstance(item, Memory)]
        relations = [item for item in batch if isinstance(item, Relation)]
        done = done.plus(await writer.write(memories, relations))
        parts += sum(not is_connector(memory) for memory in memories)
    return ConversationReport(parts=parts, written=done, certain=done.certain)
