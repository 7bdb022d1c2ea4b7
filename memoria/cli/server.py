"""The local Neo4j: ``up``, ``down``, ``status``, ``logs``."""

from __future__ import annotations

from typing import Annotated

import typer

from memoria.cli.common import NOT_RUNNING, Json, out, print_facts, run
from memoria.progress import progress_bars


def up(as_json: Json = False) -> None:
    """Start the local Neo4j; download it first if need be."""
    from memoria.local import LocalNeo4j

    async def start() -> dict[str, str | int]:
        with progress_bars() as progress:
            return (await LocalNeo4j().start(progress=progress)).to_dict()

    info = run(start())
    print_facts(info, as_json, f"Neo4j {info['version']} at {info['uri']} (process {info['pid']})")


def down(as_json: Json = False) -> None:
    """Stop the local Neo4j; its data stay."""
    from memoria.local import LocalNeo4j

    stopped = run(LocalNeo4j().stop())
    print_facts({"stopped": stopped}, as_json, "stopped" if stopped else "it was not running")


def status(as_json: Json = False) -> None:
    """Say whether the local Neo4j runs; exit code 3 when it does not."""
    from memoria.local import LocalNeo4j

    info = run(LocalNeo4j().status())
    if info is None:
        print_facts({"running": False}, as_json, "not running; start it with: memoria up")
        raise typer.Exit(NOT_RUNNING)
    facts = {"running": True, **info.to_dict()}
    print_facts(facts, as_json, f"Neo4j {info.version} at {info.uri} (process {info.pid})")


def logs(lines: Annotated[int, typer.Option("-n", min=1, help="Lines to show.")] = 50) -> None:
    """Show the last lines that the local Neo4j printed."""
    from memoria.local import LocalNeo4j

    out.print(LocalNeo4j().log_tail(lines), markup=False)
