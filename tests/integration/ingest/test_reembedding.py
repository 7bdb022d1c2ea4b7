"""Another embedder for a database that is in use: `reembed`, its end, and its undoing."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import neo4j
import pytest

import memoria
from memoria.doctor import examine
from memoria.doctor.plans import SCANS, explain
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import probe
from memoria.graph.stats import scope_stats
from memoria.ingest.export import export_lines
from memoria.store import Session, Store, Target
from memoria.store.queries import load
from tests.effort import effort
from tests.integration.alone import driver, store, target
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.doctor.plans import past_plans
from tests.integration.doctor.test_doctor import wipe
from tests.integration.hashing import embedder, vector

__all__ = ["call", "driver", "secret", "store", "target"]

OLD, NEW, SAME_SIZE = embedder("old", 4), embedder("new", 6), embedder("same size", 4)
SCOPES = ("ada", "bea", "cyd")
PER_SCOPE = 21
_written: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
async def memories(driver: neo4j.AsyncDriver) -> None:
    await anew(driver)


async def anew(driver: neo4j.AsyncDriver) -> None:
    """Make three scopes of 21 memories with the vectors of `OLD`; one more memory has none.

    The first call writes them; later calls copy them, as a new schema discards all plans and a copy
    needs only one. Of the schema, a test changes the indexes of vectors alone.
    """
    store = Store(driver)
    await driver.execute_query("MATCH (n) DETACH DELETE n")
    found = await driver.execute_query(
        "SHOW VECTOR INDEXES YIELD name, options "
        "RETURN name, options.indexConfig['vector.dimensions'] AS dimensions"
    )
    for name, dimensions in found.records:
        if (name, dimensions) != ("memory_embedding", OLD.dimensions):
            await driver.execute_query(f"DROP INDEX {name}")
    await apply_schema(store, embedder=OLD)
    if _written:
        copied = "UNWIND $rows AS row CREATE (m:Memory:Event) SET m = row"
        await driver.execute_query(copied, rows=_written)
        return
    for scope in SCOPES:
        writer = memoria.GraphWriter(store, scope=scope, embedder=OLD)
        await writer.write([memory(n) for n in range(PER_SCOPE)])
    await memoria.GraphWriter(store, scope="ada").write([memory(99)])
    found = await driver.execute_query(
        "MATCH (n) WHERE NOT n:MemoriaMeta OR n.key <> 'memoria' "
        "RETURN labels(n) AS labels, properties(n) AS properties"
    )
    assert all(sorted(row["labels"]) == ["Event", "Memory"] for row in found.records)
    _written.extend(row["properties"] for row in found.records)


def memory(number: int, text: str | None = None) -> memoria.Memory:
    return memoria.Memory(id=f"m{number}", kind="Event", text=text or f"number {number}")


def opened(
    driver: neo4j.AsyncDriver, model: memoria.Embedder | None, scope: str = "ada"
) -> memoria.GraphRetriever:
    """A retriever as another process has it: with facts about the server of its own."""
    return memoria.GraphRetriever(driver, scope=scope, embedder=model)


async def all_of(driver: neo4j.AsyncDriver) -> dict[str, Any]:
    """All that a reembedding changes: vectors, record, indexes."""
    rows = await driver.execute_query(
        "MATCH (m:Memory) RETURN m.scope AS scope, m.id AS id, m.text AS text, "
        "[k IN keys(m) WHERE k STARTS WITH 'embedding' | [k, m[k]]] AS vectors "
        "ORDER BY scope, id"
    )
    record = await driver.execute_query("MATCH (m:MemoriaMeta {key: 'memoria'}) RETURN m")
    indexes = await driver.execute_query(
        "SHOW INDEXES YIELD name, type, properties, options WHERE type = 'VECTOR' "
        "RETURN name, properties[0] AS property, "
        "options.indexConfig['vector.dimensions'] AS dimensions ORDER BY name"
    )
    kept = {k: v for k, v in record.records[0]["m"].items() if k != "created_at"}
    return {
        "memories": [
            (row["scope"], row["id"], row["text"], dict(row["vectors"])) for row in rows.records
        ],
        "record": kept,
        "indexes": [tuple(row.values()) for row in indexes.records],
    }


async def vectors_of(driver: neo4j.AsyncDriver, property: str) -> dict[tuple[str, str], Any]:  # noqa: A002
    found = await all_of(driver)
    return {(s, i): v[property] for s, i, _, v in found["memories"] if property in v}


def is_made_by(model: memoria.CallableEmbedder, found: dict[str, Any], property: str) -> bool:  # noqa: A002
    """Whether every memory but those without any vector has the right one, and no other."""
    return all(
        set(vectors) == {property}
        and vectors[property] == vector(model.name, model.dimensions, text)
        for _, id_, text, vectors in found["memories"]
        if id_ != "m99"
    )


# --- what it does ---------------------------------------------------------------------------------


async def test_every_vector_is_made_anew_in_all_scopes(
    driver: neo4j.AsyncDriver,
) -> None:
    linker = opened(driver, None).linker(config=memoria.SimilarityLinkConfig(min_cosine=0.0))
    assert (await linker.link(["m1"])).memories == 1
    done = await memoria.reembed(driver, embedder=NEW, batch_size=5)
    assert (done.state, done.embedder, done.replaced) == ("switched", "new", "old")
    assert (done.dimensions, done.embedded, done.left) == (6, 63, 0)
    both = await all_of(driver)
    assert all(
        vectors
        == {
            "embedding": vector("old", 4, text),
            "embedding_g2": vector("new", 6, text),
        }
        for _, id_, text, vectors in both["memories"]
        if id_ != "m99"
    )
    done = await memoria.finish_reembedding(driver)
    assert (done.state, done.embedder, done.left) == ("finished", "new", 0)
    found = await all_of(driver)
    assert is_made_by(NEW, found, "embedding_g2")
    assert found["indexes"] == [("memory_embedding_g2", "embedding_g2", 6)]
    assert found["record"] == {
        "key": "memoria",
        "schema_version": 1,
        "embedder": "new",
        "dimensions": 6,
        "generation": 2,
        "last_generation": 2,
    }
    async with opened(driver, NEW) as retriever:
        recall = await retriever.recall("number 7")
        assert recall.seeds.seeds[0].id == "m7"
        assert recall.seeds.seeds[0].vector_score == pytest.approx(1, abs=1e-5)
        assert recall.trace.degraded == ()
        assert recall.trace.vector_generation == 2
    report = await linker.link(["m1"])
    assert (report.memories, report.without_embedding) == (1, 0)
    # A memory without a vector stays without one until it is embedded.
    writer = opened(driver, NEW).writer()
    assert await writer.count_unembedded() == 1
    assert await writer.backfill_embeddings() == 1
    assert (await vectors_of(driver, "embedding_g2"))["ada", "m99"] == vector("new", 6, "number 99")


async def test_a_vector_that_cannot_be_used_stops_it_and_a_missing_text_does_not(
    driver: neo4j.AsyncDriver,
) -> None:
    def odd(texts: list[str]) -> list[list[float]]:
        return [[0.0 if text == "number 3" else 1.0] * 6 for text in texts]

    model = memoria.CallableEmbedder(odd, dimensions=6, name="new")
    with pytest.raises(memoria.InvalidInputError, match=r"^memory 'm3' of scope 'ada': .*zeros"):
        await memoria.reembed(driver, embedder=model)
    await driver.execute_query("MATCH (m:Memory {scope: 'bea', id: 'm3'}) REMOVE m.text")
    done = await memoria.reembed(driver, embedder=NEW)
    assert (done.state, done.embedded, done.left) == ("switched", 62, 1)
    done = await memoria.finish_reembedding(driver)
    assert (done.state, done.left) == ("finished", 1)


async def test_roll_back_leaves_the_vectors_as_they_were(driver: neo4j.AsyncDriver) -> None:
    before = await all_of(driver)
    await memoria.reembed(driver, embedder=SAME_SIZE)
    done = await memoria.roll_back_reembedding(driver)
    assert (done.state, done.embedder, done.replaced, done.left) == (
        *("rolled back", "old", "same size"),
        0,
    )
    after = await all_of(driver)
    assert after.pop("record") == {**before.pop("record"), "generation": 1, "last_generation": 2}
    assert after == before
    assert (await opened(driver, OLD).find_seeds("number 7")).seeds[0].id == "m7"


async def test_a_text_changed_since_the_switch_loses_both_vectors_and_is_counted_by_a_roll_back(
    driver: neo4j.AsyncDriver,
) -> None:
    await memoria.reembed(driver, embedder=NEW)
    await opened(driver, None).writer().write([memory(3, "changed by one who embeds nothing")])
    writer = opened(driver, NEW).writer()
    await writer.write([memory(4, "changed by one who embeds"), memory(50)])
    found = {i: v for s, i, _, v in (await all_of(driver))["memories"] if s == "ada"}
    assert found["m3"] == {}
    assert found["m4"] == {"embedding_g2": vector("new", 6, "changed by one who embeds")}
    assert (await memoria.roll_back_reembedding(driver)).left == 2, "that had a vector of it"
    assert await opened(driver, OLD).writer().backfill_embeddings() == 4  # one never had a vector
    vectors = await vectors_of(driver, "embedding")
    assert vectors["ada", "m50"] == vector("old", 4, "number 50")


# --- what others see ------------------------------------------------------------------------------


async def test_an_open_reader_goes_on_until_the_old_vectors_are_deleted(
    driver: neo4j.AsyncDriver,
) -> None:
    old, asleep, longer = (opened(driver, OLD) for _ in range(3))
    words = opened(driver, None)
    first, *_ = [await reader.find_seeds("number 7") for reader in (old, asleep, longer, words)]
    await memoria.reembed(driver, embedder=NEW)
    await memoria.roll_back_reembedding(driver)
    await memoria.reembed(driver, embedder=SAME_SIZE)
    again = await old.recall("number 7")
    assert again.seeds.seeds == first.seeds
    assert again.trace.vector_generation == 1
    await memoria.finish_reembedding(driver)
    with pytest.raises(memoria.DimensionError, match=r"'old', but .* 'same size' since memoria"):
        await old.find_seeds("number 7")
    assert (await words.find_seeds("number 7")).seeds[0].id == "m7"
    # One whose embedder came back reads the live vectors.
    await memoria.reembed(driver, embedder=OLD)
    await memoria.finish_reembedding(driver)
    recall = await asleep.recall("number 7")
    assert recall.seeds.seeds[0].vector_score == pytest.approx(1, abs=1e-5)
    assert (recall.trace.vector_generation, recall.trace.degraded) == (4, ())
    # One that slept through all changes is told.
    await memoria.reembed(driver, embedder=NEW)
    await memoria.finish_reembedding(driver)
    with pytest.raises(memoria.DimensionError, match="'new'"):
        await longer.find_seeds("number 7")
    found = await all_of(driver)  # no name of a property or an index came twice
    assert is_made_by(NEW, found, "embedding_g5")
    assert found["indexes"] == [("memory_embedding_g5", "embedding_g5", 6)]


async def test_a_reader_opened_too_early_or_too_late_is_told_what_to_use(
    driver: neo4j.AsyncDriver,
) -> None:
    with pytest.raises(_Stopped):
        await stopped_at(driver, 8)(memoria.reembed, embedder=NEW, batch_size=5)
    with pytest.raises(memoria.DimensionError, match="'old' until memoria reembed is done"):
        await opened(driver, NEW).server_facts()
    await memoria.reembed(driver, embedder=NEW)
    with pytest.raises(memoria.DimensionError, match="'new' since memoria reembed"):
        await opened(driver, OLD).server_facts()


async def test_an_open_writer_is_refused_after_the_switch_and_writes_nothing(
    driver: neo4j.AsyncDriver,
) -> None:
    old = opened(driver, OLD)
    writers = old.writer(), old.writer(), old.writer(), old.conversations(), old.documents()
    for n, writer in enumerate(writers[:3]):
        await writer.write([memory(70 + n)])
    await writers[3].append("talk", [memoria.Message(text="The oven is warm.")])
    await writers[4].write([memoria.Document(id="d", text="About the oven.")])
    of_a_caller, given = opened(driver, None).writer(), (1.0, 0.0, 0.0, 1.0)
    await of_a_caller.write([memoria.Memory(id="own", kind="Event", text="own", embedding=given)])
    await memoria.reembed(driver, embedder=SAME_SIZE)
    before = await all_of(driver)
    refused: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: writers[0].write([memory(80)]),
        lambda: writers[1].remember("Something else altogether."),
        lambda: writers[2].backfill_embeddings(),
        lambda: writers[3].append("talk", [memoria.Message(text="The bread is in it.")]),
        lambda: writers[4].write([memoria.Document(id="e", text="About the bread.")]),
        lambda: writers[0].write([memory(3, "changed")]),
    ]
    for write in refused:
        with pytest.raises(memoria.DimensionError, match="memoria reembed"):
            await write()
    with pytest.raises(memoria.DimensionError, match="make its vectors with the new embedder"):
        await of_a_caller.write(
            [memoria.Memory(id="own2", kind="Event", text="own", embedding=given)]
        )
    assert await all_of(driver) == before


async def test_counts_exports_and_the_doctor_know_of_it(
    driver: neo4j.AsyncDriver, store: Store
) -> None:
    async def finding() -> tuple[str, str]:
        with past_plans():
            found = await examine(store, rng=random.Random(1))
        assert not [f for f in found.findings if f.severity == "error"]
        (one,) = [f for f in found.findings if f.check == "indexes.reembedding"]
        return one.severity, one.command

    with pytest.raises(_Stopped):
        await stopped_at(driver, 8)(memoria.reembed, embedder=NEW, batch_size=5)
    assert await finding() == ("note", "memoria reembed --embedder=new")
    await memoria.reembed(driver, embedder=NEW)
    assert await finding() == ("note", "memoria reembed --finish")
    skipped: list[object] = []
    lines = [
        line async for line in export_lines(Store(driver), scope="ada", on_skipped=skipped.append)
    ]
    assert not skipped
    assert str(vector("new", 6, "number 3")).replace(" ", "") in lines[14].replace(" ", "")
    with pytest.raises(_Stopped):
        await stopped_at(driver, 12)(memoria.finish_reembedding)
    assert await finding() == ("warning", "memoria reembed --finish")
    await memoria.finish_reembedding(driver)
    assert (await scope_stats(Store(driver), "ada")).embedded == PER_SCOPE
    await apply_schema(Store(driver), embedder=NEW)  # as memoria init, which makes nothing anew
    assert len((await all_of(driver))["indexes"]) == 1
    receipt = await opened(driver, NEW).writer().forget_scope(confirm="ada")
    assert (receipt.memories, receipt.kept) == (PER_SCOPE + 1, ())


# --- who may do what when -------------------------------------------------------------------------


async def test_what_makes_no_sense_is_refused_in_words(driver: neo4j.AsyncDriver) -> None:
    async def refused(said: str, work: Coroutine[Any, Any, object]) -> None:
        with pytest.raises(memoria.InvalidInputError, match=said):
            await work

    assert (await memoria.finish_reembedding(driver)).state == "finished"
    await refused("nothing to roll back", memoria.roll_back_reembedding(driver))
    await refused("another name", memoria.reembed(driver, embedder=embedder("old", 5)))
    assert (await memoria.reembed(driver, embedder=OLD)).embedded == 0
    with pytest.raises(_Stopped):
        await stopped_at(driver, 8)(memoria.reembed, embedder=NEW, batch_size=5)
    await refused("changing this database to 'new'", memoria.reembed(driver, embedder=SAME_SIZE))
    await refused("is not done", memoria.finish_reembedding(driver))
    await memoria.reembed(driver, embedder=NEW)
    await refused("changing this database to 'new'", memoria.reembed(driver, embedder=OLD))
    await memoria.finish_reembedding(driver)
    await refused("the old vectors are deleted", memoria.roll_back_reembedding(driver))


async def test_a_database_that_was_never_set_up_is_refused(driver: neo4j.AsyncDriver) -> None:
    await wipe(Store(driver))
    with pytest.raises(memoria.IndexNotReadyError, match="memoria init"):
        await memoria.reembed(driver, embedder=NEW)


async def test_two_at_once_end_as_one_does(driver: neo4j.AsyncDriver) -> None:
    done = await asyncio.gather(
        *(memoria.reembed(driver, embedder=NEW, batch_size=4) for _ in range(2))
    )
    assert [each.state for each in done] == ["switched", "switched"]
    assert sum(each.embedded for each in done) == 63
    await asyncio.gather(*(memoria.finish_reembedding(driver) for _ in range(2)))
    assert is_made_by(NEW, await all_of(driver), "embedding_g2")


async def test_a_finish_that_a_roll_back_came_before_deletes_nothing(
    driver: neo4j.AsyncDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await all_of(driver)
    await memoria.reembed(driver, embedder=NEW)
    looked = False

    async def look(store: Store) -> Any:
        nonlocal looked
        facts = await probe(store)
        if not looked:  # the other call does all of its work after the first look
            looked = True
            await memoria.roll_back_reembedding(driver)
        return facts

    monkeypatch.setattr("memoria.ingest.reembed.ending.probe", look)
    assert (await memoria.finish_reembedding(driver)).embedder == "old"
    found = await all_of(driver)
    assert found["memories"] == before["memories"]
    assert found["indexes"] == before["indexes"]


async def test_one_that_is_rolled_back_by_another_stops(driver: neo4j.AsyncDriver) -> None:
    before = await all_of(driver)
    rolled = asyncio.Event()

    async def slowly(texts: list[str]) -> list[list[float]]:
        if len(asked) == 3:
            await memoria.roll_back_reembedding(driver)
            rolled.set()
        asked.append(texts)
        return [vector("new", 6, text) for text in texts]

    asked: list[list[str]] = []
    model = memoria.CallableEmbedder(slowly, dimensions=6, name="new")
    with pytest.raises(memoria.InvalidInputError, match="rolled this reembedding back"):
        await memoria.reembed(driver, embedder=model, batch_size=8)
    assert rolled.is_set()
    after = await all_of(driver)
    assert after["memories"] == before["memories"]
    assert after["indexes"] == before["indexes"]


async def test_the_command_says_what_it_did_and_what_comes_next(
    driver: neo4j.AsyncDriver, call: Call, target: Target, secret: Path
) -> None:
    here = ("--uri", target.uri, "--password-file", str(secret))

    def said(*options: str) -> str:
        done = call("reembed", *options, *here)
        assert done.code == 0, done.err
        return done.out.strip()

    model = "tests.integration.hashing:new"
    assert said() == "recalls use old"
    assert said("--embedder", model) == (
        "63 memories embedded; recalls use new; the vectors of old are kept: delete them with "
        "memoria reembed --finish, or go back with --rollback"
    )
    assert said() == "recalls use new; the vectors of old are kept"
    assert json.loads(said("--json")) == {
        "state": "kept",
        "embedder": "new",
        "dimensions": 6,
        "other": "old",
    }
    await opened(driver, NEW).writer().write([memory(60)])
    assert said("--rollback") == (
        "recalls use old; 1 memory has no vector any more: memoria embed makes the missing ones"
    )
    assert call("reembed", "--rollback", *here).err.startswith("memoria: there is nothing to roll")
    said("--embedder", model)
    assert said("--finish") == "recalls use new"
    done = call(
        "recall", "number 7", "--deadline", "60", "--embedder", model, "--scope", "ada", *here
    )
    assert (done.code, "number 7" in done.out) == (0, True)
    for wrong in (["--finish", "--rollback"], ["--embedder", "none"]):
        assert call("reembed", *wrong, *here).code == 2


async def test_no_query_of_it_reads_more_than_its_page(store: Store) -> None:
    for name in ("page", "store", "remove"):
        steps = await explain(store, load(f"ingest.reembed.{name}").at(2))
        assert not {step for step, _ in steps} & {*SCANS, "Sort", "Top", "PartialSort"}, name


# --- while others write ---------------------------------------------------------------------------


async def test_nothing_that_is_written_meanwhile_is_left_without_a_new_vector(
    driver: neo4j.AsyncDriver,
) -> None:
    """Three writers with the old embedder write and change texts until they are refused."""
    refused = written = 0
    going = asyncio.Event()

    async def write(number: int) -> None:
        nonlocal refused, written
        writer = opened(driver, OLD, SCOPES[number]).writer()
        for turn in range(100_000):
            texts = [memory(1_000 + turn), memory(turn % PER_SCOPE, f"turn {turn}")]
            try:
                await writer.write(texts)
                written += 1
                if written == 6:
                    going.set()
            except memoria.DimensionError:
                refused += 1
                return

    writers = [asyncio.create_task(write(number)) for number in range(3)]
    await asyncio.wait_for(going.wait(), 60)
    done = await memoria.reembed(driver, embedder=SAME_SIZE, batch_size=16)
    await asyncio.wait_for(asyncio.gather(*writers), 30)
    assert refused == 3
    assert done.embedded > 63
    assert (await memoria.finish_reembedding(driver)).left == 0
    found = await all_of(driver)
    assert len(found["memories"]) > 67
    assert is_made_by(SAME_SIZE, found, "embedding_g2")


async def test_a_user_of_the_community_edition_sees_the_writes_of_the_others(
    driver: neo4j.AsyncDriver, target: Target
) -> None:
    """So that it can wait for them; other editions need a privilege for it."""
    if (await probe(Store(driver))).edition != "community":
        pytest.skip("users of other editions may lack the privilege")
    word = "another-" + uuid4().hex
    await driver.execute_query(
        "CREATE USER another SET PASSWORD $word CHANGE NOT REQUIRED", word=word, database_="system"
    )
    try:
        async with (
            neo4j.AsyncGraphDatabase.driver(target.uri, auth=("another", word)) as other,
            driver.session() as session,
            await session.begin_transaction() as writing,
        ):
            await (await writing.run("CREATE (:Waited)")).consume()
            [row] = await Store(other).run(load("ingest.reembed.transactions"), {})
            assert len(row["ids"]) == 2  # the one that writes, and the one that asks
            await writing.rollback()
    finally:
        await driver.execute_query("DROP USER another", database_="system")


# --- interruptions --------------------------------------------------------------------------------


class _Stopped(BaseException):
    """Ends a call between two queries, as a kill does."""


def stopped_at(
    driver: neo4j.AsyncDriver, number: int
) -> Callable[..., Coroutine[Any, Any, memoria.ReembedReport]]:
    """Return what runs a call on a store of its own that ends before or after its n-th query."""

    class _StoppingSession(Session):
        async def run(self, *arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and number % 2:
                raise _Stopped
            records = await super().run(*arguments, **options)
            if left[0] == 0:
                raise _Stopped
            return records

    class _StoppingStore(Store):
        def session(self, mode: Literal["read", "write"] = "read", **options: Any) -> Any:
            return _as(_StoppingSession, super().session(mode, **options))

    left = [(number + 1) // 2]

    async def run(call: Any, **options: Any) -> memoria.ReembedReport:
        done: memoria.ReembedReport = await call(_StoppingStore(driver), **options)
        return done

    return run


class _as:  # noqa: N801  # a context manager
    """Opens a session as one of another class."""

    def __init__(self, kind: type[Session], opening: Any) -> None:
        self._kind, self._opening = kind, opening

    async def __aenter__(self) -> Session:
        session = await self._opening.__aenter__()
        session.__class__ = self._kind
        return session  # type: ignore[no-any-return]

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._opening.__aexit__(*raised)


async def ended(driver: neo4j.AsyncDriver, call: Any, **options: Any) -> int:
    """Stop a call before and after each of its queries in turn; return how often it took."""
    for number in range(1, 2_000):
        try:
            await stopped_at(driver, number)(call, **options)
        except _Stopped:
            continue
        return number
    raise AssertionError("it never ended")


async def test_stopped_between_any_two_queries_it_ends_as_if_it_had_not_been(
    driver: neo4j.AsyncDriver,
) -> None:
    options: dict[str, Any] = {"embedder": NEW, "batch_size": 24}
    await memoria.reembed(driver, **options)
    switched = await all_of(driver)
    await memoria.finish_reembedding(driver)
    finished = await all_of(driver)
    await anew(driver)
    assert await ended(driver, memoria.reembed, **options) > 20
    assert await all_of(driver) == switched
    assert await ended(driver, memoria.finish_reembedding) > 10
    assert await all_of(driver) == finished


async def test_killed_at_random_moments_it_ends_the_same(
    driver: neo4j.AsyncDriver, target: Target
) -> None:
    await memoria.reembed(driver, embedder=NEW, batch_size=8)
    expected = await all_of(driver)
    rng, kills = random.Random(effort().killed_clients), 0
    while kills < effort().killed_clients:  # it may end before it has been killed so often
        await anew(driver)
        while True:
            process = await start(target, NEW)
            if kills < effort().killed_clients:
                await asyncio.sleep(rng.uniform(0, 0.6))
                if process.returncode is None:
                    process.kill()
            if await process.wait() == 0:
                break
            facts = await probe(Store(driver))
            assert process.returncode == -signal.SIGKILL
            kills += facts.reembedding is None or facts.reembedding.state != "kept"  # not all done
        assert await all_of(driver) == expected


async def test_a_roll_back_killed_at_random_moments_ends_the_same(
    driver: neo4j.AsyncDriver, target: Target
) -> None:
    """Of new vectors that are live, and in every second round of those that are being made."""
    before = await all_of(driver)
    record = before.pop("record") | {"generation": 1}
    rng, kills, rounds = random.Random(effort().killed_clients), 0, 0
    while kills < effort().killed_clients:
        rounds += 1
        if rounds % 2:
            await memoria.reembed(driver, embedder=SAME_SIZE)
        else:
            with pytest.raises(_Stopped):
                await stopped_at(driver, 12)(memoria.reembed, embedder=NEW, batch_size=5)
        process = await start(target)
        await asyncio.sleep(rng.uniform(0, 0.3))
        killed = process.returncode is None
        if killed:
            process.kill()
        await process.wait()
        if (await probe(Store(driver))).reembedding is not None:  # else all of its work was done
            kills += killed
            assert (await memoria.roll_back_reembedding(driver)).state == "rolled back"
        after = await all_of(driver)
        assert after.pop("record") == {**record, "last_generation": rounds + 1}
        assert after == before


async def start(
    target: Target, model: memoria.CallableEmbedder | None = None
) -> asyncio.subprocess.Process:
    """Start a process that changes the embedder, or rolls it back; return when it is connected."""
    assert isinstance(target.auth, tuple)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.integration.hashing", target.uri, *target.auth),
        *(() if model is None else (model.name, str(model.dimensions))),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process
