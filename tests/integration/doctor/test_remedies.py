"""The doctor's remedies, run as printed: they lead to the end, on the database examined."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from memoria import cli
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder, probe
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.facts import is_2026_or_later
from memoria.types import Memory
from memoria.writer import GraphWriter
from tests.integration.cli.test_commands import in_process
from tests.integration.doctor.plans import few_plans, past_plans
from tests.integration.doctor.test_doctor import (
    plant,
    run_statement,
    wipe,
    write_healthy,
)

MINILM = "all-minilm-l6-v2-q"
BGE = "bge-small-en-v1.5-q"
EUCLIDEAN = (
    "CREATE VECTOR INDEX memory_embedding FOR (n:Memory) ON n.embedding OPTIONS "
    "{indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'euclidean'}}"
)

COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]

Facts = dict[str, Any]
Plans = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Place:
    """The second server, to which only its own address leads."""

    store: Store
    folder: Path
    options: tuple[str, ...]

    @property
    def home(self) -> str:
        """A folder of memoria without files of other tests, which the doctor would name."""
        return str(self.folder / "home")

    async def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line as a user does who copies it from the screen."""
        kept = {name: value for name, value in os.environ.items() if name[:5] != "NEO4J"}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return await asyncio.to_thread(
            subprocess.run,
            ["bash", "-o", "pipefail", "-c", line],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=self.folder,
            env={**kept, "PATH": path, "MEMORIA_HOME": self.home},
        )

    async def doctor(self, *arguments: str, plans: Plans = few_plans) -> Facts:
        """Examine, by default with the plans of few queries: a remedy of an index changes all."""
        with plans(), chdir(self.folder):
            done = in_process("doctor", *arguments, "--json", MEMORIA_HOME=self.home)
        assert done.code in (0, 4, 5), done.err
        facts: Facts = json.loads(done.out)
        return facts

    async def follow(self, findings: Sequence[Facts]) -> None:
        """Do what findings say: the command of each, and the one that its words end with."""
        lines = [
            line
            for found in findings
            for line in (found["command"], found["remedy"].partition("then run ")[2])
        ]
        # What several findings ask for is done once, after all that must go before it.
        for line in reversed(dict.fromkeys(filter(None, reversed(lines)))):
            assert line.startswith("memoria "), "there need be no other way to the database"
            if line.startswith("memoria doctor") and "--fix=" not in line:
                _, name, *words = shlex.split(line)
                COMMANDS[name].make_context(name, words)  # an unknown option is an error
                continue  # it mends nothing, and the test examines the database anyway
            done = await self.shell(line)
            assert done.returncode == 0, (line, done.stderr)


@pytest.fixture(scope="module")
async def place(
    second_server: EphemeralNeo4j, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("doctor")
    uri, (user, password) = second_server.uri, second_server.auth
    async with open_driver(Target(uri=uri, auth=(user, password))) as driver:
        (folder / "my secret").write_text(password)
        options = (f"--uri={uri}", f"--user={user}", "--password-file=my secret")
        yield Place(
            store=Store(driver, database="neo4j"),
            folder=folder,
            options=(*options, "--database=neo4j"),
        )


def worst(facts: Facts) -> list[Facts]:
    return [found for found in facts["findings"] if found["severity"] in ("warning", "error")]


async def spoil_indexes(store: Store) -> None:
    """Take from the set-up what the doctor can tell."""
    await run_statement(store, "DROP INDEX memory_text")
    await run_statement(store, "DROP INDEX memory_embedding")
    await run_statement(store, EUCLIDEAN)
    await run_statement(store, "DROP CONSTRAINT memory_scope_id")
    await run_statement(store, "CALL db.awaitIndexes(60)")


async def test_remedies_run_to_the_end_leave_the_doctor_content(place: Place) -> None:
    scope = "one's own"
    await wipe(place.store)
    await apply_schema(place.store, embedder=AbsentEmbedder(name=MINILM, dimensions=384))
    await write_healthy(place.store, scope, ["a", "b", "c"])
    writer = GraphWriter(place.store, scope=scope)
    await writer.write([Memory(id="d", kind="Event", text="Rain in Lund.", tags=["x"])])
    await run_statement(
        place.store,
        "MATCH (a:Memory {id: 'a'}), (d:Memory {id: 'd'}) CREATE (a)-[:RELATES {weight: 0.5}]->(d)",
    )
    await spoil_indexes(place.store)
    everywhere = (*place.options, "--embedder", MINILM)
    seen: set[str] = set()
    for turn in range(6):  # what one remedy brings to light the next examination tells
        of_scope = ["--scope", scope] if turn % 2 else []
        facts = await place.doctor(*everywhere, *of_scope, plans=past_plans)
        if not worst(facts):
            break
        seen.update(found["check"] for found in worst(facts))
        await place.follow(worst(facts))
        await run_statement(place.store, "CALL db.awaitIndexes(60)")
    assert worst(await place.doctor(*everywhere)) == []
    assert worst(await place.doctor(*everywhere, "--scope", scope, plans=past_plans)) == []
    newer = is_2026_or_later((await probe(place.store)).version)
    assert {
        *(["server.dialect"] if newer else []),
        "indexes.memory_scope_id",
        "indexes.memory_text",
        "indexes.memory_embedding.similarity",
        "memories.no_embedding",
    } <= seen
    found = await probe(place.store)
    assert (found.embedder, found.dimensions, found.vector_dialect) == (
        MINILM,
        384,
        "search" if newer else "procedure",
    )
    rows = await run_statement(place.store, "MATCH (m:Memory) RETURN m.id AS id, m.tags AS tags")
    assert {row["id"]: row["tags"] for row in rows}["d"] == ["x"]
    edges = await run_statement(place.store, "MATCH ()-[r:RELATES]->() RETURN count(*) AS n")
    again = await place.shell(
        shlex.join(["memoria", "embed", f"--scope={scope}", *place.options, "--json"])
        + f" --embedder={MINILM}"
    )
    assert json.loads(again.stdout) == {"embedded": 0, "left": 0}, "embedded by the remedy"
    assert edges[0]["n"] == 4, "an edge without a relation is not written a second time"


async def test_on_the_planted_database_every_finding_has_its_remedy_and_its_command(
    place: Place,
) -> None:
    await wipe(place.store)
    await apply_schema(place.store, embedder=AbsentEmbedder(name=BGE, dimensions=384))
    await plant(place.store, "planted")
    for change in ("REMOVE m.id", "REMOVE m.scope", "SET m.scope = 5"):
        bare = Memory(id=f"x {change}", kind="Event", text="t")
        await GraphWriter(place.store, scope="more").write([bare])
        # First without a vector and a text: what is told of them must not lead to another scope.
        await run_statement(
            place.store,
            f"MATCH (m:Memory {{scope: 'more', id: $id}}) SET m.text = '' {change}",
            id=bare.id,
        )
    await spoil_indexes(place.store)
    for arguments in ([], ["--scope", "planted"]):
        facts = await place.doctor(*place.options, "--embedder", MINILM, *arguments)
        without = [found for found in worst(facts) if not found["remedy"] or not found["command"]]
        assert without == []
        checks = {found["check"]: found for found in facts["findings"]}
        newer = is_2026_or_later((await probe(place.store)).version)
        expected = {"indexes.embedder", "memories.no_embedding"}
        assert expected | ({"server.dialect"} if newer else set()) <= {
            found["check"] for found in worst(facts)
        }
        assert checks["memories.text"]["count"] == 3, "those that nothing finds are told as that"
        parts = [part for found in facts["findings"] for part in found["command"].split(" | ")]
        for part in parts:
            if part.startswith("memoria "):
                _, name, *words = shlex.split(part)
                assert set(place.options) <= set(words), part
                COMMANDS[name].make_context(name, words)  # an unknown option is an error
        words = shlex.split(checks["memories.no_embedding"]["command"])
        assert (words[1], words[-1]) == ("embed", f"--embedder={BGE}")
        hub = "hub" if arguments else "hub in planted"
        assert checks["energy.hubs"]["examples"] == [hub]
        memoria, doctor, *words = shlex.split(checks["indexes.embedder"]["command"])
        assert (memoria, doctor) == ("memoria", "doctor")
        again = {
            found["check"]: found
            for found in (await place.doctor(*words, plans=past_plans))["findings"]
        }
        assert again["indexes.embedder"]["severity"] == "ok"


@pytest.mark.parametrize("recorded", ["my own", None])
async def test_an_embedder_of_ones_own_is_not_asked_of_the_command_line(
    place: Place, recorded: str | None
) -> None:
    await wipe(place.store)
    await apply_schema(
        place.store,
        embedder=None if recorded is None else AbsentEmbedder(name=recorded, dimensions=3),
        dimensions=3,
    )
    await GraphWriter(place.store, scope="-s").write([Memory(id="a", kind="Event", text="t")])
    facts = await place.doctor(*place.options, "--embedder", BGE, plans=past_plans)
    checks = {found["check"]: found for found in facts["findings"]}
    for name in ("indexes.embedder", "memories.no_embedding"):
        assert checks[name]["remedy"]
        await place.follow([checks[name]])
    assert "GraphWriter.backfill_embeddings" in checks["memories.no_embedding"]["remedy"]
    assert checks["indexes.embedder"]["command"].endswith("--embedder=none")
    (line,) = (place.folder / "memories.jsonl").read_text().splitlines()
    assert json.loads(line)["text"] == "t"
