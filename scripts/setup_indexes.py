"""Make memoria's constraints and indexes in a Neo4j database, and wait until they are online.

    python scripts/setup_indexes.py --uri neo4j://host:7687 --user neo4j --password-file FILE

What is there already stays as it is, so it may be run at any time. What is not given comes from
NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE, else it is the running local server.
Exit status: 0 all online; 1 failed, with the reason on standard error; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from memoria.connection import find_target, given_auth
from memoria.errors import MemoriaError
from memoria.graph.schema import SchemaReport, apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--uri", help="address, such as bolt://localhost:7687")
    parser.add_argument("--user", help="name of the user; neo4j unless given")
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument("--password-file", type=Path, help="file that holds only the password")
    secret.add_argument("--password", help="visible to other users: prefer --password-file")
    parser.add_argument("--database", help="name of the database; neo4j unless given")
    parser.add_argument("--dimensions", type=int, default=384, help="size of vectors; default 384")
    parser.add_argument("--embedder-name", help="name of the embedder, recorded and checked later")
    parser.add_argument("--kinds", action="store_true", help="also index the id of each kind")
    parser.add_argument("--timeout-s", type=float, default=300.0, help="seconds; default 300")
    return parser.parse_args(arguments)


def show(report: SchemaReport) -> None:
    """Print what there is now."""
    facts = report.facts
    print(f"Neo4j {facts.version} {facts.edition}")
    for name in (*report.existing, *report.created):
        how = "created" if name in report.created else "there already"
        print(f"  {name:<24} {facts.indexes[name]:<10} {how}")
    print(f"vectors: {facts.dimensions} dimensions, embedder {facts.embedder or 'not recorded'}")
    if facts.vector_dialect == "search":
        print("vector search filters by scope inside the index")
    else:
        print("vector search filters by scope after the index (inside it: Neo4j 2026 and later,")
        print("and a vector index made there: DROP INDEX memory_embedding, then run this again)")


async def run(args: argparse.Namespace) -> SchemaReport:
    """Apply the schema to the database that the arguments name."""
    auth = given_auth(args.user, password=args.password, password_file=args.password_file)
    target = await find_target(args.uri, auth, args.database)
    config = StoreConfig()
    embedder = None
    if args.embedder_name is not None:
        embedder = AbsentEmbedder(name=args.embedder_name, dimensions=args.dimensions)
    async with open_driver(target, config) as driver:
        return await apply_schema(
            Store(driver, database=target.database, config=config),
            dimensions=args.dimensions,
            embedder=embedder,
            kinds=args.kinds,
            timeout_s=args.timeout_s,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script; returns the exit status."""
    args = parse(arguments)
    try:
        report = asyncio.run(run(args))
    except MemoriaError as exc:
        print(f"error: {exc}", file=sys.stderr)
        return 1
    except OSError as exc:
        print(f"error: {exc.filename or 'connection'}: {exc.strerror or exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; run it again to continue", file=sys.stderr)
        return 1
    show(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
