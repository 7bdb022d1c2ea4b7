"""Run a command beside a server of `memoria serve` on a throw-away Neo4j.

    python scripts/with_server.py COMMAND ...

The command finds the address in MEMORIA_URL, a token in MEMORIA_TOKEN, and one for the same scope
that may only read in MEMORIA_READER. Ends with its exit code.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memoria.agents.mcp.grants import Grant, add_line, line_of, new_token
from memoria.local import LocalNeo4j

SCOPE = "client"


@contextmanager
def serving(environment: dict[str, str], tokens: Path) -> Iterator[str]:
    """Start the server; yield its address."""
    words = ("serve", "--tokens", str(tokens), "--port", "0", "--allow-forget")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "memoria", *words, "--embedder", "none"],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None  # noqa: S101
        line = process.stderr.readline()
        if "listening on " not in line:
            raise SystemExit(f"no server: {line}")
        yield line.partition("listening on ")[2].strip()
    finally:
        process.terminate()
        process.wait()


async def main(command: list[str]) -> int:
    """Run the command; return its exit code."""
    token, reader = new_token(), new_token()
    async with LocalNeo4j.ephemeral() as neo4j:
        with tempfile.TemporaryDirectory() as folder:
            tokens = Path(folder) / "tokens.txt"
            add_line(tokens, line_of(token, Grant(scope=SCOPE)))
            add_line(tokens, line_of(reader, Grant(scope=SCOPE, read_only=True)))
            user, password = neo4j.auth
            target = {
                "NEO4J_URI": neo4j.uri,
                "NEO4J_USERNAME": user,
                "NEO4J_PASSWORD": password,
                "MEMORIA_HOME": os.environ.get("MEMORIA_HOME", folder),
            }
            with serving(target, tokens) as url:
                given = {"MEMORIA_URL": url, "MEMORIA_TOKEN": token, "MEMORIA_READER": reader}
                process = await asyncio.create_subprocess_exec(
                    *command, env={**os.environ, **given}
                )
                return await process.wait()


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(sys.argv[1:])))
