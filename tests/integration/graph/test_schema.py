"""The set-up of constraints and indexes, on the real server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from memoria import CallableEmbedder, GraphRetriever, Memory, connect, reembed
from memoria._support.checks import MAX_DIMENSIONS
from memoria.doctor import examine
from memoria.errors import (
    ConfigError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
)
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder, check_vectors_fit, probe
from memoria.graph.stats import scope_stats
from memoria.store import ServerFacts, Store, Target
from memoria.store.queries import root
from tests.integration.alone import driver, store, target, wipe
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.doctor.plans import past_plans
from tests.integration.statements import sent_statements
from tests.schema import check_schema
from tests.server_facts import server_facts

__all__ = ["call", "driver", "secret", "store", "target"]  # fixtures

NAMES = ("memory_scope_id", "memoria_meta_key", "memory_text", "memory_embedding")
KIND_INDEXES = {
    "idx_userrequest_id": "UserRequest",
    "idx_usepreference_id": "UserPreference",
    "idx_agentanswer_id": "AgentAnswer",
    "idx_agentaction_id": "AgentAction",
    "idx_event_id": "Event",
    "idx_datasource_id": "DataSource",
}


@pytest.fixture
async def restored(store: Store, driver: neo4j.AsyncDriver) -> AsyncIterator[None]:
    """For tests that take indexes away: everything is there again afterwards."""
    yield
    facts = await probe(store)
    if facts.indexes.get("memory_text") == "OTHER":
        await driver.execute_query("DROP INDEX memory_text")
    for name in KIND_INDEXES:
        await driver.execute_query(f"DROP INDEX {name} IF EXISTS")
    await apply_schema(store, embedder=named("test", 384))


def statements(name: str) -> list[str]:
    """The statements of a file, as cypher-shell -f takes them: ended by ; and // is a comment."""
    lines = (root() / name).read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("//"))
    assert text.rstrip().endswith(";")
    return [part.strip() for part in text.split(";") if part.strip()]


def named(name: str, dimensions: int) -> AbsentEmbedder:
    return AbsentEmbedder(name=name, dimensions=dimensions)


def fitting_file(facts: ServerFacts) -> str:
    return "schema-25.cypher" if int(facts.version.split(".")[0]) >= 2026 else "schema.cypher"


async def test_probe_tells_version_dialect_dimensions_embedder_and_states(store: Store) -> None:
    facts = await probe(store)
    assert facts.edition in {"community", "enterprise"}
    assert facts.dimensions == 384
    assert facts.embedder == "test"
    assert {name: facts.indexes[name] for name in NAMES} == dict.fromkeys(NAMES, "ONLINE")
    year = int(facts.version.split(".")[0])
    assert facts.vector_dialect == ("search" if year >= 2026 else "procedure")


async def test_applying_twice_creates_nothing(store: Store) -> None:
    report = await apply_schema(store, embedder=named("test", 384))
    assert report.created == ()
    assert set(report.existing) == set(NAMES)


@pytest.mark.parametrize(
    ("name", "dimensions", "both"), [("test", 128, r"128.*384"), ("other", 384, r"'other'.*'test'")]
)
async def test_another_size_or_embedder_is_refused_and_both_are_named(
    store: Store, name: str, dimensions: int, both: str
) -> None:
    before = await probe(store)
    for refused in (
        apply_schema(store, embedder=named(name, dimensions)),
        check_schema(store, dimensions=dimensions, embedder=name),
    ):
        with pytest.raises(DimensionError, match=both):
            await refused
    assert await probe(store) == before


async def test_no_embedder_fits_any_and_keeps_the_one_recorded(store: Store) -> None:
    report = await apply_schema(store, dimensions=384)
    assert report.facts.embedder == "test"
    assert (await check_schema(store)).embedder == "test"


@pytest.mark.parametrize("dimensions", [0, -1, MAX_DIMENSIONS + 1, True, 3.0, "384"])
async def test_impossible_dimensions_are_refused(store: Store, dimensions: int) -> None:
    with pytest.raises(ConfigError, match="dimensions must be"):
        await apply_schema(store, dimensions=dimensions)


@pytest.mark.parametrize("embedder", [len, object(), 5, ""])
async def test_what_is_not_an_embedder_is_refused(store: Store, embedder: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^embedder must "):
        await apply_schema(store, embedder=embedder)
    with pytest.raises(InvalidInputError, match=r"got a function: .*CallableEmbedder"):
        await apply_schema(store, embedder=statements)  # type: ignore[arg-type]


def test_unknown_sides_always_fit() -> None:
    facts = server_facts(version="5.26.0", vector_dialect="procedure", dimensions=None)
    check_vectors_fit(facts, dimensions=3, embedder="x")


@pytest.mark.usefixtures("restored")
async def test_a_missing_index_is_named_then_made(store: Store, driver: neo4j.AsyncDriver) -> None:
    await driver.execute_query("DROP INDEX memory_text")
    with pytest.raises(IndexNotReadyError, match="memory_text is MISSING"):
        await check_schema(store, dimensions=384, embedder="test")
    report = await apply_schema(store, embedder=named("test", 384))
    assert report.created == ("memory_text",)
    assert report.facts.indexes["memory_text"] == "ONLINE"


@pytest.mark.usefixtures("restored")
async def test_an_index_name_taken_by_something_else_is_an_error(
    store: Store, driver: neo4j.AsyncDriver
) -> None:
    await driver.execute_query("DROP INDEX memory_text")
    await driver.execute_query("CREATE FULLTEXT INDEX memory_text FOR (n:Other) ON EACH [n.text]")
    with pytest.raises(IndexNotReadyError, match=r"memory_text is OTHER.*drop"):
        await apply_schema(store, embedder=named("test", 384))


@pytest.mark.usefixtures("restored")
async def test_a_vector_index_without_scope_is_searched_by_the_procedure(
    store: Store, driver: neo4j.AsyncDriver
) -> None:
    await driver.execute_query("DROP INDEX memory_embedding")
    for statement in statements("schema.cypher"):
        await driver.execute_query(statement)
    await driver.execute_query("CALL db.awaitIndexes(60)")  # other tests' vectors are indexed
    assert (await check_schema(store)).vector_dialect == "procedure"
    await driver.execute_query("DROP INDEX memory_embedding")


@pytest.mark.usefixtures("restored")
async def test_several_set_ups_at_once_all_succeed(store: Store, driver: neo4j.AsyncDriver) -> None:
    await driver.execute_query("DROP INDEX memory_text")
    await driver.execute_query("DROP CONSTRAINT memoria_meta_key")
    reports = await asyncio.gather(
        *(apply_schema(store, embedder=named("test", 384)) for _ in range(6))
    )
    assert all(report.facts.indexes["memory_text"] == "ONLINE" for report in reports)


@pytest.mark.usefixtures("restored")
async def test_the_schema_file_runs_as_cypher_shell_runs_it(
    store: Store, driver: neo4j.AsyncDriver
) -> None:
    await driver.execute_query("DROP INDEX memory_text")
    await driver.execute_query("DROP INDEX memory_embedding")
    for _ in range(2):
        for statement in statements(fitting_file(await probe(store))):
            await driver.execute_query(statement)
    await driver.execute_query("CALL db.awaitIndexes(60)")
    facts = await check_schema(store, dimensions=384, embedder="test")
    assert {name: facts.indexes[name] for name in NAMES} == dict.fromkeys(NAMES, "ONLINE")


async def test_vectors_are_not_quantised(driver: neo4j.AsyncDriver) -> None:
    records, _, _ = await driver.execute_query(
        "SHOW INDEXES YIELD name, options WHERE name = 'memory_embedding' "
        "RETURN options.indexConfig AS config"
    )
    config = records[0]["config"]
    # 5.26 tells whether, 2026 tells how.
    assert config.get("vector.quantization.type", "NONE") == "NONE"
    assert config.get("vector.quantization.enabled", False) is False
    assert any(key.startswith("vector.quantization") for key in config)
    assert config["vector.similarity_function"] == "COSINE"


@pytest.mark.usefixtures("restored")
async def test_the_kind_indexes_are_optional_and_named_as_the_source_prints_them(
    store: Store, driver: neo4j.AsyncDriver
) -> None:
    assert not KIND_INDEXES.keys() & (await probe(store)).indexes.keys()
    report = await apply_schema(store, embedder=named("test", 384), kinds=True)
    assert report.created == tuple(KIND_INDEXES)
    records, _, _ = await driver.execute_query(
        "SHOW INDEXES YIELD name, labelsOrTypes, properties WHERE name STARTS WITH 'idx_' "
        "RETURN name, labelsOrTypes[0] AS label, properties"
    )
    assert {row["name"]: row["label"] for row in records} == KIND_INDEXES
    assert all(row["properties"] == ["id"] for row in records)


@pytest.mark.usefixtures("restored")
async def test_init_makes_the_index_of_each_kind_where_asked(
    store: Store, target: Target, call: Call, secret: Path
) -> None:
    """Here and not beside the other commands: new indexes have the server plan all queries anew."""
    assert not KIND_INDEXES.keys() & (await probe(store)).indexes.keys()
    here = ("--uri", target.uri, "--password-file", str(secret))
    with sent_statements() as sent:
        made = json.loads(call("init", "--embedder", "none", "--kinds", "--json", *here).out)
    assert "seeds.text" in sent.names, "new indexes discard the plans of recalls"
    assert {"idx_event_id", "idx_datasource_id"} <= set(made["indexes"])
    assert made["created"] == list(KIND_INDEXES)


async def test_duplicate_ids_are_refused_by_the_database(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    make = "CREATE (:Memory {scope: $scope, id: 'a'})"
    await driver.execute_query(make, scope=scope)
    with pytest.raises(neo4j.exceptions.ConstraintError):
        await driver.execute_query(make, scope=scope)


@pytest.mark.usefixtures("restored")
async def test_duplicates_from_before_the_set_up_are_an_error(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    await driver.execute_query("DROP CONSTRAINT memory_scope_id")
    make = "UNWIND [1, 2] AS _ CREATE (:Memory {scope: $scope, id: 'a'})"
    await driver.execute_query(make, scope=scope)
    try:
        found = await driver.execute_query(
            "MATCH (m:Memory {scope: $scope}) RETURN elementId(m) AS node", scope=scope
        )
        with pytest.raises(ConfigError, match="memory_scope_id can't be made: 2 nodes") as caught:
            await apply_schema(store, embedder=named("test", 384))
        with past_plans():
            examined = await examine(store, rng=random.Random(1))
        (finding,) = (each for each in examined.findings if each.check == "indexes.memory_scope_id")
        for text in (str(caught.value), finding.message):
            assert repr(scope) in text
            for record in found.records:
                assert record["node"] in text
        assert finding.severity == "error"
    finally:
        await driver.execute_query("MATCH (m:Memory {scope: $scope}) DELETE m", scope=scope)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("m.schema_version = 2", "newer memoria .schema 2; this one knows 1.: update memoria"),
        ("m.generation = 'x'", "not the record of memoria's set-up"),
        ("m.embedder = [1]", "not the record of memoria's set-up"),
        ("m.reembedding = 5", "not the record of memoria's set-up"),
        ("m.other_dimensions = 1.5, m.reembedding = 'filling'", "not the record"),
    ],
)
async def test_a_record_that_this_memoria_can_not_read_is_refused_by_every_call(
    driver: neo4j.AsyncDriver, scope: str, change: str, message: str
) -> None:
    match = "MATCH (m:MemoriaMeta {key: 'memoria'})"
    before = (await driver.execute_query(f"{match} RETURN properties(m) AS m")).records[0]["m"]
    await driver.execute_query(f"{match} SET {change}")
    other = Store(driver, database="neo4j").patient()  # without cached facts
    memory = GraphRetriever(other, scope=scope)
    try:
        for call in (
            lambda: apply_schema(other, embedder=named("test", 384)),
            lambda: memory.recall("oven"),
            lambda: memory.writer().remember("The oven is new."),
            lambda: memory.writer().forget(["a"]),
            lambda: memory.writer().delete_edge("a", "b"),
            lambda: examine(other, rng=random.Random(1)),
        ):
            with pytest.raises(ConfigError, match=message):
                await call()
    finally:
        await driver.execute_query(f"{match} SET m = $before", before=before)
    await memory.writer().remember("The oven is new.")


async def test_a_database_of_an_older_memoria_is_refused_until_it_is_set_up_again(
    driver: neo4j.AsyncDriver, scope: str, target: Target, call: Call, secret: Path
) -> None:
    match = "MATCH (m:MemoriaMeta {key: 'memoria'})"
    older = f"{match} SET m.schema_version = 0"
    await driver.execute_query(older)
    other = Store(driver, database="neo4j").patient()  # without cached facts
    memory = GraphRetriever(other, scope=scope)
    try:
        for refused in (
            lambda: memory.recall("oven"),
            lambda: memory.writer().remember("The oven is new."),
            lambda: memory.writer().forget(["a"]),
            lambda: scope_stats(other, scope),
            lambda: reembed(
                other, embedder=CallableEmbedder(lambda _: [], dimensions=384, name="new")
            ),
        ):
            with pytest.raises(
                ConfigError, match=r"older memoria \(schema 0; .*: run memoria init"
            ):
                await refused()
        with past_plans():
            examined = await examine(other, rng=random.Random(1))
        (finding,) = (each for each in examined.findings if each.check == "indexes.record")
        assert (finding.severity, "older memoria" in finding.message) == ("error", True)
        assert finding.command.startswith("memoria init")
        assert call("init", "--uri", target.uri, "--password-file", str(secret)).code == 0
        await memory.writer().remember("The oven is new.")
    finally:
        await driver.execute_query(f"{match} SET m.schema_version = 1")


class TestScript:
    """``scripts/setup_indexes.py``, run as an operator runs it."""

    SCRIPT = Path(__file__).parents[3] / "scripts" / "setup_indexes.py"

    async def run(self, *arguments: str, password: str = "") -> tuple[int, str, str]:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, str(self.SCRIPT), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            env={
                "NEO4J_PASSWORD": password,
                "PATH": "",
                "MEMORIA_HOME": os.environ["MEMORIA_HOME"],
            },
        )
        return done.returncode, done.stdout, done.stderr

    def auth(self, target: Target) -> tuple[str, str]:
        assert isinstance(target.auth, tuple)
        return target.auth

    async def test_says_what_is_there(self, target: Target, tmp_path: Path) -> None:
        user, password = self.auth(target)
        secret = tmp_path / "password"
        secret.write_text(password + "\n")
        status, output, errors = await self.run(
            "--uri", target.uri, "--user", user, "--password-file", str(secret)
        )
        assert (status, errors) == (0, "")
        for name in NAMES:
            assert name in output
        assert "there already" in output
        assert "384 dimensions, embedder test" in output

    async def test_a_mismatch_is_one_line_and_status_1(self, target: Target) -> None:
        user, password = self.auth(target)
        status, output, errors = await self.run(
            "--uri", target.uri, "--user", user, "--dimensions", "12", password=password
        )
        assert (status, output) == (1, "")
        assert errors.startswith("error: ")
        assert "12" in errors
        assert "384" in errors
        assert len(errors.splitlines()) == 1

    async def test_a_wrong_password_is_one_line_and_never_shown(self, target: Target) -> None:
        status, _, errors = await self.run("--uri", target.uri, password="hunter2-wrong")
        assert status == 1
        assert len(errors.splitlines()) == 1
        assert "hunter2" not in errors

    async def test_wrong_usage_is_status_2(self) -> None:
        status, _, _ = await self.run("--dimensions", "many")
        assert status == 2


@pytest.mark.usefixtures("restored")
async def test_a_new_database_plans_its_recalls_once_it_is_set_up(
    store: Store, target: Target
) -> None:
    await wipe(store)
    with sent_statements() as sent:
        async with connect(target.uri, target.auth, scope="new", warm=True) as memory:
            await memory.writer().write([Memory(id="a", kind="Event", text="The oven is new.")])
            async with asyncio.timeout(60):
                while "seeds.text" not in sent.names:  # noqa: ASYNC110  # a log has no event
                    await asyncio.sleep(0.1)
