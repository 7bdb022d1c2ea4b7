"""The local Neo4j: ``up``, ``down``, ``status``, ``logs``."""

from __future__ import annotations

from typing import Annotated

import typer

from memoria.cli.common import NOT_RUNNING, Json, err, print_facts, run

STARTING = "starting Neo4j ..."


def up(as_json: Json = False) -> None:
    """Start the local Neo4j; download it first if need be.

    It goes on running until `memoria down`. A second `up` finds the first one's server.

    Examples
    --------
    memoria up
    memoria up --json
    """
    from memoria.local import LocalNeo4j

    async def start() -> dict[str, str | int]:
        local = LocalNeo4j()
        if (running := await local.status()) is not None:
            return running.to_dict()
        if not err.is_terminal:
            err.print(STARTING)
        with err.status(STARTING) as spinner:

            def show(label: str, done: int, total: int | None) -> None:
                left = f"downloading {label}: {done} of {total or '?'} ..."
                spinner.update(STARTING if done == total else left)

            return (await local.start(progress=show)).to_dict()

    info = run(start())
    print_facts(info, as_json, f"Neo4j {info['version']} at {info['uri']} (process {info['pid']})")


def down(as_json: Json = False) -> None:
    """Stop the local Neo4j; its data stay.

    Examples
    --------
    memoria down
    """
    from memoria.local import LocalNeo4j

    stopped = run(LocalNeo4j().stop())
    print_facts({"stopped": stopped}, as_json, "stopped" if stopped else "it was not running")


def status(as_json: Json = False) -> None:
    """Say whether the local Neo4j runs; exit code 3 when it does not.

    Examples
    --------
    memoria status || memoria up
    memoria status --json
    """
    from memoria.local import LocalNeo4j

    info = run(LocalNeo4j().status())
    if info is None:
        print_facts({"running": False}, as_json, "not running; start it with: memoria up")
        raise typer.Exit(NOT_RUNNING)
    facts = {"running": True, **info.to_dict()}
    print_facts(facts, as_json, f"Neo4j {info.version} at {info.uri} (process {info.pid})")


def logs(
    lines: Annotated[int, typer.Option("-n", min=1, help="Lines to show.")] = 50,
    as_json: Json = False,
) -> None:
    """Show the last lines that the local Neo4j printed.

    Examples
    --------
    memoria logs -n 200
    """
    from memoria.local import LocalNeo4j

    text = LocalNeo4j().log_tail(lines)
    if not text and not as_json:
        err.print("no log yet: the local Neo4j was never started; memoria up starts it")
    else:
        print_facts({"lines": text.splitlines()}, as_json, text)
