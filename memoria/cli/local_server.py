"""The local Neo4j: ``up``, ``down``, ``status``, ``logs``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoria._support.wording import number_of
from memoria.cli.common import NOT_RUNNING, Json, err, print_facts
from memoria.connection import given_auth
from memoria.embed.models import take_models
from memoria.graph.server_facts import probe
from memoria.graph.stats import list_scopes
from memoria.graph.vocabulary import PENDING
from memoria.store import Store, Target, open_driver
from memoria.store.queries import load

if TYPE_CHECKING:
    from memoria.local import ServerInfo

STARTING = "starting Neo4j ..."
DOWNLOADING = "downloading Neo4j, about 180 MB, once ..."
MB = 1_000_000
# What takes room in memoria's folder. A folder that MEMORIA_HOME names may hold other files.
LARGE = ("models", "server")


def up(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FOLDER", help="Take the jars from a folder, not from the network."
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hash every jar of the server, also known ones.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local Neo4j; download it first if necessary.

    The server runs until `memoria down`. If it already runs, `up` changes nothing. A new server
    first plans the queries of recalls, for some seconds, so that no recall waits for it. A later
    start makes a cache in the background, about 190 MB, which makes the next ones faster. Every jar
    is checked against memoria's list of checksums. Without a network: copy a Maven cache that
    `M2_REPO=FOLDER memoria up` has filled on another machine.

    Examples
    --------
    memoria up
    memoria up --verify
    memoria up --from /media/stick/jars
    memoria up --json
    """
    facts = asyncio.run(_up(folder, verify=verify))
    jars = f"; {facts['verified_jars']} jars verified" if verify else ""
    line = f"Neo4j {facts['version']} at {facts['uri']} (process {facts['pid']}){jars}"
    print_facts(facts, as_json, line)


async def _up(folder: Path | None, *, verify: bool) -> dict[str, str | int]:
    from memoria.cli.make_startup_cache import make_later
    from memoria.cli.warming import PLANNING, warm_up
    from memoria.local import LocalNeo4j
    from memoria.local.left_behind import remove_left_behind
    from memoria.local.settings import Layout

    local = LocalNeo4j()
    layout = Layout.of(local.home)
    was_started_before = layout.initialised.exists()
    await asyncio.to_thread(remove_left_behind, local.home)
    running = await local.status()
    if running is not None and not verify and folder is None:
        return running.to_dict()
    if not err.is_terminal:
        err.print(STARTING)
    told: list[str] = []
    with err.status(STARTING) as spinner:

        def show(label: str, done: int, total: int | None) -> None:
            # The first call shows that there is a download. On a terminal the spinner shows it.
            if not told and not err.is_terminal and folder is None:
                told.append(label)
                err.print(DOWNLOADING)
            left = f"fetching {label}: {done} of {total or '?'} ..."
            spinner.update(STARTING if done == total else left)

        facts: dict[str, str | int] = {}
        if verify or folder is not None:
            count = await local.fetch(verify=verify, source=folder, progress=show)
            facts = {"verified_jars": count} if verify else {}
        if folder is not None:
            # Copy the folder's embedding models, so that they need no download.
            await asyncio.to_thread(take_models, folder, home=local.home, verify=verify)
        started = (await local.start(progress=show)).to_dict()
        spinner.update(PLANNING)
        await warm_up()
    if running is None and was_started_before:  # a first user needs the processor, not a cache
        make_later(layout)
    return started | facts


def down(as_json: Json = False) -> None:
    """Stop the local Neo4j; its data stays.

    Examples
    --------
    memoria down
    """
    from memoria.local import LocalNeo4j

    stopped = asyncio.run(LocalNeo4j().stop())
    print_facts(
        {"stopped": stopped}, as_json, "stopped" if stopped else "the server was not running"
    )


def status(as_json: Json = False) -> None:
    """Show whether the local Neo4j runs, and its contents; exit code 3 if it does not run.

    Examples
    --------
    memoria status || memoria up
    memoria status --json
    """
    from memoria.local import LocalNeo4j, left_behind

    local = LocalNeo4j()
    info = asyncio.run(local.status())
    size = sum(_size(local.home / name) for name in LARGE)
    left = [{"path": str(each.path), "what": each.what} for each in left_behind(local.home)]
    place = {"home": str(local.home), "disk_bytes": size, "left_behind": left}
    where = f"home {local.home}, {size / MB:,.0f} MB on disk"
    for each in left:
        where += (
            f"\nleft by a killed process: {each['path']} ({each['what']}); memoria up clears it"
        )
    if info is None:
        line = f"not running; start it with: memoria up\n{where}"
        print_facts({"running": False, **place}, as_json, line)
        raise typer.Exit(NOT_RUNNING)
    holds = asyncio.run(_holds(info))
    vectors = holds["embedder"] or "none recorded"
    line = (
        f"Neo4j {info.version} at {info.uri} (process {info.pid})\n{where}\n"
        f"embedder {vectors}, {number_of(holds['scopes'], 'scope')}; memoria stats --all lists them"
    )
    if holds["pending_vectors"]:
        pending = number_of(holds["pending_vectors"], "vector")
        line += f"\n{pending} pending: memoria embed makes those of a scope"
    print_facts({"running": True, **info.to_dict(), **place, **holds}, as_json, line)


async def _holds(info: ServerInfo) -> dict[str, Any]:
    """Read the embedder of the local database, and how many scopes and pending vectors it has."""
    auth = given_auth(info.user, password_file=info.password_file)
    async with open_driver(Target(uri=info.uri, auth=auth)) as driver:
        store = Store(driver)
        facts, scopes = await probe(store), await list_scopes(store)
        (row,) = await store.run(load("doctor.pending"), {"key": PENDING})
    return {
        "embedder": facts.embedder,
        "scopes": len(scopes),
        "pending_vectors": row["count"],
    }


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
