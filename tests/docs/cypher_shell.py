"""Play cypher-shell for a page: ``-a ADDRESS -u USER -f FILE``, the password in NEO4J_PASSWORD."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import neo4j


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-a", dest="address", required=True)
    parser.add_argument("-u", dest="user", required=True)
    parser.add_argument("-f", dest="file", type=Path, required=True)
    args = parser.parse_args()
    lines = args.file.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("//"))
    auth = (args.user, os.environ["NEO4J_PASSWORD"])
    with neo4j.GraphDatabase.driver(args.address, auth=auth) as driver:
        for statement in filter(None, map(str.strip, text.split(";"))):
            driver.execute_query(statement, database_="neo4j")


if __name__ == "__main__":
    main()
