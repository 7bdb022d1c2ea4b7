"""Items of a key-value store, read page by page as ``memoria.integrations.langgraph`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import neo4j

from memoria.integrations._items import bounds, item_id
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from tests.integration.doctor.test_doctor import wipe
from tests.integration.recall.test_seeds import plant

# In the order of code points; UTF-16 has the last two before the others, except "a".
NAMES = ("a", "\ue000", "\uff5e", "\uffff", "\U00010000", "\U0001f600")
SPACES = [("users",), *(("users", name) for name in NAMES), *((name,) for name in NAMES)]
IDS = sorted(item_id(space, key) for space in SPACES for key in NAMES)


async def paged(store: Store, scope: str, prefix: Sequence[str], limit: int) -> list[str]:
    """Return the ids of the items below a namespace, in the order of the pages."""
    parameters: dict[str, Any] = bounds(prefix) | {"limit": limit, "scope": scope}
    parameters["beginning"] = parameters["after"]
    found: list[str] = []
    while len(found) <= len(IDS):
        ids = (await store.run(load("adapters.items"), parameters))[0]["ids"]
        found += ids
        if len(ids) < limit:
            break
        parameters["after"] = ids[-1]
    return found


async def check(store: Store, scope: str) -> None:
    for limit in (1, 3, 100):
        for space in ((), *SPACES):
            below = [id_ for id_ in IDS if id_.startswith(bounds(space)["after"])]
            assert await paged(store, scope, space, limit) == below, (space, limit)


async def test_items_of_all_planes_come_once(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await plant(driver, scope, [{"id": id_, "text": "t"} for id_ in IDS])
    await check(store, scope)


async def test_items_of_all_planes_come_once_also_where_the_server_compares_each_id(
    second_server: EphemeralNeo4j, scope: str
) -> None:
    # A plan that is made for an empty database does so, too; without an index there is no other.
    target = Target(uri=second_server.uri, auth=second_server.auth, database="neo4j")
    async with open_driver(target, StoreConfig()) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        await plant(driver, scope, [{"id": id_, "text": "t"} for id_ in IDS])
        await check(store, scope)
