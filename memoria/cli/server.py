"""The local Neo4j: ``up``, ``down``, ``status``, ``logs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memoria.cli.common import NOT_RUNNING, Json, err, print_facts, run

STARTING = "starting Neo4j ..."
DOWNLOADING = "downloading Neo4j, about 180 MB, once ..."
MB = 1_000_000


def up(as_json: Json = False) -> None:
    """Start the local Neo4j; download it first if necessary.

    The server runs until `memoria down`. If it already runs, `up` changes nothing.

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
        told: list[str] = []
        with err.status(STARTING) as spinner:

            def show(label: str, done: int, total: int | None) -> None:
                # The first call shows that there is a download. On a terminal the spinner shows it.
                if label == "dependencies" and not told and not err.is_terminal:
                    told.append(label)
                    err.print(DOWNLOADING)
                left = f"downloading {label}: {done} of {total or '?'} ..."
                spinner.update(STARTING if done == total else left)

            return (await local.start(progress=show)).to_dict()

    info = run(start())
    print_facts(info, as_json, f"Neo4j {info['version']} at {info['uri']} (process {info['pid']})")


def down(as_json: Json = False) -> None:
    """Stop the local Neo4j; its data stays.

    Examples
    --------
    memoria down
    """
    from memoria.local import LocalNeo4j

    stopped = run(LocalNeo4j().stop())
    print_facts({"stopped": stopped}, as_json, "stopped" if stopped else "it was not running")


def status(as_json: Json = False) -> None:
    """Show whether the local Neo4j runs, and where its data is; exit code 3 if it does not run.

    Examples
    --------
    memoria status || memoria up
    memoria status --json
    """
    from memoria.local import LocalNeo4j

    local = LocalNeo4j()
    info = run(local.status())
    size = _size(local.home / "server")
    place = {"home": str(local.home), "disk_bytes": size}
    where = f"home {local.home}, {size / MB:,.0f} MB on disk"
    if info is None:
        line = f"not running; start it with: memoria up\n{where}"
        print_facts({"running": False, **place}, as_json, line)
        raise typer.Exit(NOT_RUNNING)
    line = f"Neo4j {info.version} at {info.uri} (process {info.pid})\n{where}"
    print_facts({"running": True, **info.to_dict(), **place}, as_json, line)


def _size(folder: Path) -> int:
    """Return the size of the files in a folder; a running server may delete files meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


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
