"""Delete memories, edges, a whole scope: ``forget``, ``delete-edge``, ``forget-scope``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from memoria._support.checks import check_id
from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import (
    FAILED,
    INTERRUPTED,
    WRONG_USAGE,
    Json,
    Scope,
    err,
    one_line,
    print_doubt,
    print_facts,
    say_missing,
)
from memoria.cli.connection import Connection
from memoria.cli.filtering import Filtering
from memoria.cli.nothing import say_nothing_found, unknown_ids
from memoria.errors import InvalidInputError
from memoria.graph.graph_reader import matching_ids
from memoria.graph.stats import ScopeStats, scope_stats
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Count, ForgetReport, MemoryFilter, ScopeReceipt
from memoria.writer import GraphWriter

READ_AT_ONCE = 10_000
SHOWN = 10

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
DeleteForeign = Annotated[
    bool, typer.Option("--delete-foreign", help="Also delete nodes with data of other programs.")
]


def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Ids of memories; - reads them from stdin."),
    ] = None,
    scope: Scope = "default",
    *,
    filtering: Filtering,
    connection: Connection,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be deleted, and stop.")
    ] = False,
    delete_foreign: DeleteForeign = False,
    as_json: Json = False,
) -> None:
    """Delete memories with all their edges. Asks first; without a terminal it needs --yes.

    Give the ids of the memories, or options such as --kind that say which they are.

    A node with data of other programs (labels, properties or relationships) stays, but loses its
    text and everything else that memoria stores; --delete-foreign deletes it.

    Examples
    --------
    memoria forget evt-062 evt-063 --scope ada
    memoria forget --with-tag draft --until 2026-01-01 --dry-run
    cut -f1 outdated.tsv | memoria forget - --yes
    """
    where = filtering.where
    if bool(ids) == (not where.is_empty):
        raise typer.BadParameter("give ids of memories, or options that say which they are")
    if not (yes or dry_run):
        _check_terminal("-" not in (ids or ()))
    wanted = list(dict.fromkeys(map(check_id, _given_ids(ids or ()))))

    async def look(store: Store) -> list[str]:
        found = await _those_there(store, wanted, where, scope)
        if not found:
            await say_nothing_found(store, scope)
        return found

    there: list[str] = connection.run(look)
    done = ForgetReport()
    if there and not dry_run:
        if not yes:  # ask outside of the event loop, which would swallow a Ctrl-C
            shown = ", ".join(map(one_line, there[:SHOWN])) + ", ..." * (len(there) > SHOWN)
            what = f"{number_of(len(there), 'memory', 'memories')} of scope {one_line(scope)}"
            _confirm(f"Delete {what} ({shown})?")

        async def work(store: Store) -> ForgetReport:
            writer = GraphWriter(store, scope=scope)
            return await writer.forget(there, delete_foreign=delete_foreign)

        done = connection.run(work)
    missing = sorted(set(wanted).difference(there))
    say_missing(missing, scope)
    stays = "; its node stays, as it has data of other programs: --delete-foreign deletes it"
    forgot = "would forget" if dry_run else "forgot"
    lines = [f"{forgot} {one_line(id_)}{stays if id_ in done.kept else ''}" for id_ in there]
    if done.connectors:
        count = number_of(done.connectors, "connector")
        lines.append(f"and {count} that joined no other memory")
    print_doubt(done.certain)
    facts = {
        "dry_run": dry_run,
        "forgotten": there,
        "kept": done.kept,
        "connectors": done.connectors,
        "missing": missing,
        "certain": done.certain,
    }
    print_facts(facts, as_json, "\n".join(lines) or "nothing to forget")


def forget_scope(
    scope: Annotated[str, typer.Argument(metavar="SCOPE", help="Name of the scope.")],
    *,
    connection: Connection,
    yes: Yes = False,
    delete_foreign: DeleteForeign = False,
    as_json: Json = False,
) -> None:
    """Delete everything that the database has of a scope, and print the receipt.

    Asks first; without a terminal it needs --yes. It deletes memories, edges, vectors, the log of
    learning and the clock of the scope; other scopes don't change. Nodes with data of other
    programs are treated as by `memoria forget`. After an interruption run it again.

    Examples
    --------
    memoria forget-scope ada
    memoria forget-scope ada --yes --json > receipt.json
    """
    if not yes:
        _check_terminal(True)
        size: ScopeStats = connection.run(lambda store: scope_stats(store, scope))
        _confirm(
            f"Delete scope {one_line(scope)} "
            f"({number_of(size.memories, 'memory', 'memories')}, {number_of(size.edges, 'edge')}) "
            "and all that was learned in it?"
        )

    async def work(store: Store) -> ScopeReceipt:
        writer = GraphWriter(store, scope=scope)
        with progress_bars() as progress:
            return await writer.forget_scope(
                confirm=scope, delete_foreign=delete_foreign, progress=progress
            )

    receipt: ScopeReceipt = connection.run(work)
    print_doubt(receipt.certain)
    facts = asdict(receipt) | {"finished_at": receipt.finished_at.isoformat()}
    print_facts(facts, as_json, _receipt(receipt))


def delete_edge(
    source: Annotated[str, typer.Argument(help="Id of the memory that the edge leaves.")],
    target: Annotated[str, typer.Argument(help="Id of the memory that it leads to.")],
    relation: Annotated[
        str | None, typer.Option(help="Relation of the edge; else all edges in this direction.")
    ] = None,
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Delete the edge from one memory to another; the memories stay.

    Examples
    --------
    memoria delete-edge evt-062 evt-060 --relation caused_by --scope ada
    """

    async def work(store: Store) -> Count:
        return await GraphWriter(store, scope=scope).delete_edge(source, target, relation)

    deleted: Count = connection.run(work)
    print_doubt(deleted.certain)
    ends = f"from {one_line(source)} to {one_line(target)} in scope {one_line(scope)}"
    none = "nothing deleted: no edge leads" if deleted.certain else "no edge leads any more"
    done = f"deleted {number_of(deleted, 'edge')}" if deleted else none
    print_facts({"deleted": deleted, "certain": deleted.certain}, as_json, f"{done} {ends}")


def _receipt(receipt: ScopeReceipt) -> str:
    """Return a receipt in words."""
    counts = (
        number_of(receipt.memories, "memory", "memories"),
        number_of(receipt.relations, "edge"),
        number_of(receipt.suppressions, "suppression"),
        number_of(receipt.pairs, "pair"),
        number_of(receipt.events, "learning event"),
        number_of(receipt.changes, "change"),
        number_of(receipt.clocks, "clock"),
    )
    lines = [f"deleted {', '.join(counts)} of scope {one_line(receipt.scope)}"]
    stays = "stays, as it has data of other programs: --delete-foreign deletes it"
    lines += [f"the node of {one_line(id_)} {stays}" for id_ in receipt.kept]
    return "\n".join(lines)


def _check_terminal(may_ask: bool) -> None:
    if not (may_ask and sys.stdin.isatty()):
        err.print("memoria: without a terminal nobody can be asked: add --yes", style="red")
        raise typer.Exit(WRONG_USAGE)


def _given_ids(ids: Iterable[str]) -> Iterator[str]:
    """Yield the ids of the command line, and the ids on standard input for ``-``."""
    for id_ in ids:
        if id_ == "-":
            for line in sys.stdin.buffer:
                if line.strip():
                    yield line.rstrip(b"\r\n").decode("utf-8", errors="surrogateescape")
        else:
            yield id_


async def _those_there(
    store: Store, ids: Sequence[str], where: MemoryFilter, scope: str
) -> list[str]:
    """Return the ids of the memories that are there, or of those that fit."""
    if unknown := await unknown_ids(store, [scope], where.exclude_ids):
        raise InvalidInputError(  # all the others would be deleted, the one that is meant too
            f"no memory of scope {scope!r} has the id {unknown[0]!r:.80}, which --exclude-id "
            "names: nothing was deleted",
            field="exclude_ids",
        )
    if not where.is_empty:
        pages = matching_ids(store, scope=scope, where=where, size=READ_AT_ONCE)
        return [id_ async for page in pages for id_ in page]
    found = await GraphRetriever(store, scope=scope).get(ids)
    return [memory.id for memory in found.memories]


def _confirm(question: str) -> None:
    """Ask on the terminal; the answer no, or Ctrl-C, ends the command."""
    try:
        sure = typer.confirm(question, err=True)
    except typer.Abort:
        raise typer.Exit(INTERRUPTED) from None
    if not sure:
        err.print("nothing was deleted")
        raise typer.Exit(FAILED)
