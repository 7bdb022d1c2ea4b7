"""Run a command next to a server of `memoria serve` on a throw-away Neo4j.

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
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import memoria
from memoria import Message, StoreConfig
from memoria.agents.agent_memory import AgentMemory
from memoria.agents.mcp.grants import Grant, add_line, line_of, new_token
from memoria.local import LocalNeo4j

SCOPE = "client"


@contextmanager
def serving(environment: dict[str, str], tokens: Path) -> Iterator[str]:
    """Start the server; yield its address. Shows at the end what else the server has printed."""
    words = ("serve", "--tokens", str(tokens), "--port", "0", "--allow-forget")
    with tokens.with_suffix(".log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "memoria", *words, "--embedder", "none"],
            env={**os.environ, **environment},
            stderr=log,
        )
        try:
            while "listening on " not in (printed := Path(log.name).read_text("utf-8")):
                if process.poll() is not None:
                    raise SystemExit(f"no server: {printed}")
                time.sleep(0.1)
            yield printed.partition("listening on ")[2].strip()
        finally:
            process.terminate()
            process.wait()
            sys.stderr.write(Path(log.name).read_text("utf-8").partition("\n")[2])


async def warm_up(neo4j: LocalNeo4j) -> None:
    """Let a new server plan the queries, for which the clients of a busy machine can't wait."""
    patient = StoreConfig(query_timeout_s=120)
    async with memoria.connect(neo4j.uri, neo4j.auth, scope="warm-up", store=patient) as retriever:
        await memoria.apply_schema(retriever.store)
        memory = AgentMemory(retriever, deadline_s=120)
        done = await memory.remember("The first word.")
        await memory.append("first", [Message(text="The first word.", role="user")])
        found = await memory.recall("first word")
        await memory.feedback(found.data["recall_id"], used=[done.data["id"]])
        await memory.forget([done.data["id"]])


async def main(command: list[str]) -> int:
    """Run the command; return its exit code."""
    token, reader = new_token(), new_token()
    async with LocalNeo4j.ephemeral() as neo4j:
        await warm_up(neo4j)
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
