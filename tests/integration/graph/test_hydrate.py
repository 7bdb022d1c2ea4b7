"""Reading memories that something else wrote: what does not fit reads as empty."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import neo4j
import pytest

from memoria.graph.hydrate import hydrate
from memoria.store import Store
from memoria.types import MemoryNode


async def write(driver: neo4j.AsyncDriver, scope: str, labels: str, cypher: str) -> None:
    """Create one node with the properties that ``cypher`` states."""
    statement = f"CREATE (m:{labels} {{scope: $scope}}) SET {cypher}"
    async with driver.session(database="neo4j") as session:
        result = await session.run(statement, scope=scope)
        await result.consume()


async def test_memory_is_read_in_full(driver: neo4j.AsyncDriver, store: Store, scope: str) -> None:
    await write(
        driver,
        scope,
        "Memory:Event",
        "m.id = 'a', m.text = 'It rained.', m.tags = ['x', 'y'], m.topics = ['t'], "
        "m.entities = ['e'], m.category = 'weather', m.priority = 0.5, "
        'm.when = \'{"season": "autumn"}\', m.metadata = \'{"n": [1, null]}\', '
        "m.created_at = datetime('2026-01-02T03:04:05+09:00'), m.embedding = [1.0, 2.0]",
    )
    found = await hydrate(store, ["a"], scope=scope, until=None)
    assert found == {
        "a": MemoryNode(
            id="a",
            kind="Event",
            text="It rained.",
            tags=("x", "y"),
            topics=("t",),
            entities=("e",),
            category="weather",
            priority=0.5,
            when={"season": "autumn"},
            created_at=datetime(2026, 1, 1, 18, 4, 5, tzinfo=UTC),
            metadata={"n": [1, None]},
        )
    }
    assert found["a"].created_at is not None
    assert found["a"].created_at.utcoffset() == timedelta(hours=9)


async def test_missing_properties_read_as_empty(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(driver, scope, "Memory", "m.id = 'bare'")
    assert await hydrate(store, ["bare"], scope=scope, until=None) == {
        "bare": MemoryNode(id="bare", kind="Memory", text="")
    }


@pytest.mark.parametrize(
    "wrong",
    [
        "m.text = 5, m.tags = 'x', m.topics = 1, m.entities = true, m.category = ['c'], "
        "m.priority = 'high', m.when = 7, m.metadata = [1], m.created_at = '2026-01-01'",
        "m.text = point({x: 1, y: 2}), m.tags = date(), m.category = 1.5, m.priority = true, "
        "m.when = 'no json', m.metadata = '[1, 2]', m.created_at = duration('P1D')",
        "m.text = ['a'], m.priority = [0.5], m.when = '{', m.metadata = 'null', "
        "m.created_at = date('2026-01-01')",
        "m.text = true, m.when = '', m.metadata = '1', m.created_at = 1767225600000",
        "m.text = 1.5, m.category = false, m.created_at = datetime('+12000-01-01T00:00:00Z')",
        "m.created_at = localtime(), m.when = '\"text\"', m.metadata = '{\"a\": 1,}'",
    ],
)
async def test_mistyped_properties_read_as_empty(
    driver: neo4j.AsyncDriver, store: Store, scope: str, wrong: str
) -> None:
    await write(driver, scope, "Memory:Event", f"m.id = 'odd', {wrong}")
    assert await hydrate(store, ["odd"], scope=scope, until=None) == {
        "odd": MemoryNode(id="odd", kind="Event", text="")
    }


async def test_json_nested_too_deep_to_parse_reads_as_empty(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    deep = "'" + '{"a":' * 100_000 + "1" + "}" * 100_000 + "'"
    await write(driver, scope, "Memory", f"m.id = 'deep', m.metadata = {deep}")
    assert (await hydrate(store, ["deep"], scope=scope, until=None))["deep"].metadata == {}


async def test_lists_of_numbers_read_as_their_texts(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(driver, scope, "Memory", "m.id = 'a', m.tags = [1, 2]")
    assert (await hydrate(store, ["a"], scope=scope, until=None))["a"].tags == ("1", "2")


async def test_time_without_a_zone_counts_as_utc(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(driver, scope, "Memory", "m.id = 'a', m.created_at = localdatetime('2026-01-02')")
    found = await hydrate(store, ["a"], scope=scope, until=None)
    assert found["a"].created_at == datetime(2026, 1, 2, tzinfo=UTC)


async def test_time_in_a_named_zone_is_an_instant(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(
        driver,
        scope,
        "Memory",
        "m.id = 'a', m.created_at = datetime('2026-07-02T12:00[Asia/Tokyo]')",
    )
    found = await hydrate(store, ["a"], scope=scope, until=None)
    assert found["a"].created_at == datetime(2026, 7, 2, 3, tzinfo=UTC)


async def test_kind_is_the_first_label_that_says_more_than_memory(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(driver, scope, "Zebra:Memory:Event", "m.id = 'a'")
    assert (await hydrate(store, ["a"], scope=scope, until=None))["a"].kind == "Event"


async def test_ids_of_other_scopes_and_of_nobody_are_left_out(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await write(driver, scope, "Memory", "m.id = 'mine'")
    await write(driver, scope + "-other", "Memory", "m.id = 'theirs'")
    found = await hydrate(store, ["mine", "theirs", "nobody"], scope=scope, until=None)
    assert set(found) == {"mine"}
    assert await hydrate(store, [], scope=scope, until=None) == {}


async def test_sub_second_time_is_kept_to_the_microsecond(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    moment = "datetime('2026-01-02T03:04:05.123456789Z')"
    await write(driver, scope, "Memory", f"m.id = 'a', m.created_at = {moment}")
    found = await hydrate(store, ["a"], scope=scope, until=None)
    assert found["a"].created_at == datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)


@pytest.mark.parametrize("value", ["datetime('-0044-03-15T12:00Z')", "date('2026-01-02')", "'now'"])
async def test_time_that_python_does_not_know_reads_as_none(
    driver: neo4j.AsyncDriver, store: Store, scope: str, value: str
) -> None:
    await write(driver, scope, "Memory", f"m.id = 'a', m.created_at = {value}")
    assert (await hydrate(store, ["a"], scope=scope, until=None))["a"].created_at is None
