"""Find what is wrong with a database, and apply remedies: ``doctor``."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from memoria._support.home import default_home
from memoria._support.wording import number_of
from memoria.cli.common import EXIT_CODES, Json, err, one_line, out, print_facts, print_json
from memoria.cli.connection import Connection
from memoria.cli.embedders import FORMS, embedder_named
from memoria.cli.examination import show
from memoria.cli.mapping import MappedConnection, check_mapping, mapping_of
from memoria.doctor import FIXES, LIMIT, Examination, ExamineConfig, Finding, Fixed, examine
from memoria.doctor import fix as apply_fixes
from memoria.errors import LocalServerError
from memoria.store import Store
from memoria.store.config import StoreConfig

SEED = 0  # of the sample, so that the same database gives the same answer
FIX_TIMEOUT_S = 3_600.0  # a remedy may change every edge of a large database


def doctor(
    scope: Annotated[
        str | None, typer.Option(help="Scope to examine. Default: all scopes.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, max=1_000, help="Explorations to sample to find hubs.")
    ] = 20,
    limit: Annotated[
        int, typer.Option(min=1, help="Largest number of memories, and of edges, to examine.")
    ] = LIMIT,
    embedder: Annotated[
        str | None, typer.Option(help=f"Embedder to compare with the database: {FORMS}.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also show checks that are ok, and all degrees.")
    ] = False,
    fix: Annotated[
        list[str] | None, typer.Option(help="Apply the remedy of this check; may be repeated.")
    ] = None,
    *,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Examine server, indexes, memories, edges, energy and plans; change nothing.

    Shows the checks that are not ok, each with a remedy and its command. Exit code 4: the worst
    finding is a warning; 5: an error.

    With --fix nothing is examined: the named remedies are applied, and their changes counted. A
    remedy may delete edges or indexes; its finding says so.

    With --mapping, checks the graph of another program, as memoria adopt does with a file.

    --json prints one document: severity, scope, server, settings, findings (check, severity,
    message, remedy, command, count, examples, cause), histogram, hubs, explored; with --fix:
    fixed (check, changed, done).

    Examples
    --------
    memoria doctor
    memoria doctor --scope alice --embedder bge-small-en-v1.5-q
    memoria doctor --scope alice --fix edges.bad_weight --fix edges.self
    memoria doctor --json | jq '.findings[] | select(.severity == "error")'
    """
    if connection.mapping is not None:
        mapping = mapping_of(connection.mapping)
        check_mapping(mapping, connection.plain, limit, as_json)
        return
    if fix:
        _fix(fix, scope, connection, as_json)
        return
    model = embedder_named(embedder) if embedder else None
    config = ExamineConfig(sample=sample, limit=limit, options=connection.as_options())

    async def look(store: Store) -> Examination:
        rng = random.Random(SEED)  # noqa: S311  # picks a sample, not a secret
        return await examine(store, scope=scope, embedder=model, config=config, rng=rng)

    with err.status("examining the database"):
        found: Examination = connection.run(look)
    found = replace(found, findings=(*found.findings, *check_home(default_home())))
    if as_json:
        print_json({"severity": found.severity, **asdict(found)})
    else:
        show(found, out, every=every)
    raise typer.Exit(EXIT_CODES.get(found.severity, 0))


def check_home(home: Path) -> list[Finding]:
    """Name what killed processes left on this machine."""
    try:
        from memoria.local import left_behind
    except LocalServerError:  # without the extra, no local server was ever here
        return []
    if not (left := left_behind(home)):
        return []
    return [
        Finding(
            check="files.left_behind",
            severity="warning",
            message="killed processes left files",
            remedy="clear them",
            command="memoria up",
            count=len(left),
            examples=tuple(f"{each.path}: {each.what}" for each in left),
        )
    ]


def _fix(checks: Sequence[str], scope: str | None, connection: Connection, as_json: bool) -> None:
    """Apply remedies, and print what each remedy changed."""
    if unknown := [check for check in checks if check not in FIXES]:
        raise typer.BadParameter(
            f"{unknown[0]!r} can't be mended by --fix; these checks can: {', '.join(FIXES)}",
            param_hint="--fix",
        )
    options = connection.as_options()
    fixed: tuple[Fixed, ...] = connection.run(
        lambda store: apply_fixes(store, checks, scope=scope, options=options),
        StoreConfig(query_timeout_s=FIX_TIMEOUT_S),
    )
    lines = "\n".join(f"{each.check}: {_done(each)}" for each in fixed)
    print_facts({"fixed": [asdict(each) for each in fixed]}, as_json, lines)


def _done(fixed: Fixed) -> str:
    """Return in words what a remedy changed, and how much."""
    things = {
        "memories": ("memory", "memories"),
        "edges": ("edge", "edges"),
        "indexes": ("index", "indexes"),
    }
    theme = fixed.check.partition(".")[0]
    counted = f"{number_of(fixed.changed, *things[theme])} " if theme in things else ""
    return one_line(f"{counted}{fixed.done}")
