"""The server that a command measures: yours, or one that is thrown away afterwards.

In: options of the command line. Out: a driver. Reads the environment and a password file; may start
a local Neo4j.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import neo4j

from memoria.local import LocalNeo4j
from memoria.store import Target, open_driver
from memoria.store.config import StoreConfig

DATABASE = "neo4j"
# As large as the server that `memoria up` starts.
HEAP_MB, PAGE_CACHE_MB = 1_024, 256


def parser_of(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of ``scripts/bench NAME``; its help shows ``doc`` as it is written."""
    return argparse.ArgumentParser(
        prog=f"scripts/bench {name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options that `opened` reads."""
    parser.add_argument(
        "--uri",
        default=os.environ.get("NEO4J_URI"),
        help="a server of yours (or NEO4J_URI); by default a throw-away one is started",
    )
    parser.add_argument("--user", default=os.environ.get("NEO4J_USERNAME", "neo4j"))
    parser.add_argument("--password-file", type=Path, help="default: NEO4J_PASSWORD")
    parser.add_argument("--database", default=DATABASE)


@asynccontextmanager
async def opened(
    options: argparse.Namespace, config: StoreConfig
) -> AsyncIterator[neo4j.AsyncDriver]:
    """Connect to the server that the options name, or to a throw-away one."""
    if options.uri is None:
        async with LocalNeo4j.ephemeral(heap_mb=HEAP_MB, page_cache_mb=PAGE_CACHE_MB) as server:
            target = Target(uri=server.uri, auth=server.auth, database=options.database)
            async with open_driver(target, config) as driver:
                yield driver
        return
    password = os.environ.get("NEO4J_PASSWORD", "")
    if options.password_file:
        password = options.password_file.read_text(encoding="utf-8").strip()
    target = Target(uri=options.uri, auth=(options.user, password), database=options.database)
    async with open_driver(target, config) as driver:
        yield driver
