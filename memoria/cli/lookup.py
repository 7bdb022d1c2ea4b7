"""Look at memories without a question: ``get``, ``list``, ``recent``, ``neighbours``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from memoria._support.wording import number_of
from memoria.cli.common import (
    FAILED,
    Json,
    Scope,
    hint,
    one_line,
    out,
    print_json,
    print_text,
    printable,
    say_missing,
)
from memoria.cli.filtering import Filtering
from memoria.cli.mapping import MappedConnection
from memoria.cli.nothing import say_excluded, say_nothing_found
from memoria.cli.render import SHOWN_CHARS, print_table
from memoria.graph.hydrate import superseded_of
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_memory, plain_neighbourhood
from memoria.store import Store
from memoria.types import FoundMemories, MemoryNode, MemoryPage, Neighbour, Neighbourhood

Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Largest number to show.")]


def get(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of memories.")],
    scope: Scope = "default",
    *,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Show memories by id, in full, and which others have replaced them.

    Exit code 1 if none of them is there. --json prints one document: memories, missing, superseded.

    Examples
    --------
    memoria get evt-062 ans-004 --scope ada
    memoria get evt-062 --json
    """

    async def read(store: Store) -> tuple[FoundMemories, dict[str, str]]:
        found = await GraphRetriever(store, scope=scope).get(ids)
        if not found.memories:
            await say_nothing_found(store, scope)
        return found, await superseded_of(store, scope, ids)

    found, superseded = connection.run(read)
    say_missing(found.missing, scope)
    if as_json:
        memories = [plain_memory(memory) for memory in found.memories]
        print_json({"memories": memories, "missing": found.missing, "superseded": superseded})
    elif found.memories:
        shown = (_in_full(memory, superseded.get(memory.id)) for memory in found.memories)
        print_text("\n\n".join(shown))
    if not found.memories:
        raise typer.Exit(FAILED)


def list_(
    scope: Scope = "default",
    *,
    filtering: Filtering,
    limit: Limit = 50,
    after: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Continue after this memory, the last one shown."),
    ] = None,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """List memories in the order of their ids, page by page.

    Sessions, speakers and topics are shown only if their --kind is asked for. --json prints one
    document: memories, and next, which --after takes (null on the last page).

    Examples
    --------
    memoria list --scope ada --limit 20
    memoria list --kind Event --with-tag dairy --since 2026-05-01
    memoria list --metadata channel=support --after evt-062 --json
    """
    where = filtering.where

    async def read(store: Store) -> MemoryPage:
        retriever = GraphRetriever(store, scope=scope)
        found = await retriever.list(where=where, limit=limit, after=after)
        await say_excluded(store, [scope], where)
        if not found.memories:
            await say_nothing_found(store, scope, _none_fits(scope), where)
        return found

    page: MemoryPage = connection.run(read)
    if as_json:
        memories = [plain_memory(memory) for memory in page.memories]
        print_json({"memories": memories, "next": page.next})
        return
    _print_memories(page.memories)
    if page.next is not None:
        hint(f"there are more: --after {one_line(page.next)}")


def recent(
    scope: Scope = "default",
    *,
    filtering: Filtering,
    limit: Limit = 10,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Show the newest memories, the newest first.

    --json prints one document: memories.

    Examples
    --------
    memoria recent --scope ada
    memoria recent --limit 3 --kind UserRequest --until 2026-05-01
    """
    where = filtering.where

    async def read(store: Store) -> tuple[MemoryNode, ...]:
        found = await GraphRetriever(store, scope=scope).recent(where=where, limit=limit)
        await say_excluded(store, [scope], where)
        if not found:
            await say_nothing_found(store, scope, _none_fits(scope), where)
        return found

    memories: tuple[MemoryNode, ...] = connection.run(read)
    if as_json:
        print_json({"memories": [plain_memory(memory) for memory in memories]})
    else:
        _print_memories(memories)


def neighbours(
    id_: Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")],
    scope: Scope = "default",
    limit: Limit = 20,
    *,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Show the neighbours of a memory, the strongest edges first. Exit code 1 if it is missing.

    --json prints one document: memory, degree, neighbours, superseded.

    Examples
    --------
    memoria neighbours evt-062 --scope ada
    memoria neighbours evt-062 --limit 5 --json
    """

    async def read(store: Store) -> tuple[Neighbourhood, dict[str, str]]:
        found = await GraphRetriever(store, scope=scope).neighbours(id_, limit=limit)
        if found.memory is None:
            await say_nothing_found(store, scope)
        ids = {id_, *(each.memory.id for each in found.neighbours)}
        return found, await superseded_of(store, scope, ids)

    found, superseded = connection.run(read)
    if as_json:
        print_json({**plain_neighbourhood(found), "superseded": superseded})
    if found.memory is None:
        say_missing([id_], scope)
        raise typer.Exit(FAILED)
    if not as_json:
        _print_neighbours(found, superseded)


def _in_full(memory: MemoryNode, superseded_by: str | None) -> str:
    """Return what is known of a memory, a line each, and then its text."""
    plain = plain_memory(memory)
    plain["superseded_by"] = superseded_by
    known = {name: value for name, value in plain.items() if value not in (None, [], {})}
    known.pop("text", None)
    head = f"[{one_line(known.pop('id'))}] {known.pop('kind')}"
    lines = [f"{name}: {one_line(_shown(value))}" for name, value in known.items()]
    return "\n".join([head, *lines, memory.said])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={part}" for key, part in value.items())
    return str(value)


def _none_fits(scope: str) -> str:
    return f"no memory of scope {scope!r} fits"


def _print_memories(memories: Sequence[MemoryNode]) -> None:
    if not memories:
        return
    rows = ([_id(each), Text(printable(each.kind)), _made(each), _text(each)] for each in memories)
    _print_table(("id", "kind", "made", "text"), rows)


def _print_neighbours(found: Neighbourhood, superseded: Mapping[str, str]) -> None:
    rows = (
        [*_edge(each), _id(each.memory), _text(each.memory, superseded.get(each.memory.id))]
        for each in found.neighbours
    )
    if found.memory is not None and (by := superseded.get(found.memory.id)) is not None:
        out.print(f"it is no longer valid: {one_line(by)} supersedes it", markup=False)
    if found.neighbours:
        _print_table(("edge", "weight", "uses", "id", "text"), rows)
    if left := found.degree - len(found.neighbours):
        hint(f"{number_of(left, 'edge')} more; --limit shows more of them")
    elif not found.degree:
        out.print("it has no edges")


def _print_table(header: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
    """Print a table; the text, in the last column, is cut at the width of the terminal."""
    look = Table(box=SIMPLE, header_style="bold")
    for name in header:
        is_text = name == "text"
        look.add_column(
            name,
            justify="right" if name in ("weight", "uses") else "left",
            no_wrap=is_text,
            overflow="ellipsis" if is_text else "fold",
        )
    print_table(out, look, rows)


def _edge(neighbour: Neighbour) -> list[Text]:
    relation = one_line(neighbour.relation)
    arrow = f"-{relation}->" if neighbour.direction == "out" else f"<-{relation}-"
    return [Text(arrow), Text(f"{neighbour.weight:.4f}"), Text(str(neighbour.uses))]


def _id(memory: MemoryNode) -> Text:
    return Text(one_line(memory.id))


def _made(memory: MemoryNode) -> Text:
    return Text("" if memory.created_at is None else f"{memory.created_at:%Y-%m-%d %H:%M}")


def _text(memory: MemoryNode, superseded_by: str | None = None) -> Text:
    before = "" if superseded_by is None else f"(superseded by {superseded_by}) "
    return Text(one_line(before + " ".join(memory.said[:SHOWN_CHARS].split())))
