"""LangGraph: the store compared with the one in memory, and what only a database shows."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import memoria
import memoria.sync
from memoria.errors import ClosedError, InvalidInputError
from memoria.integrations._items import item_id
from memoria.integrations.langgraph import MemoriaStore
from memoria.store import Target
from tests.adapters.conftest import has_vector, no_threads

Both = memoria.sync.GraphRetriever
BATCHES = 2_000
# Names that a careless join would confuse, and parts that look like other namespaces or keys.
LABELS = ("a", "b", "a/b", "a%2Fb", ":k", "ä", "*x")
KEYS = ("k", "k/k", ":k", "", "%", "ключ")
WORDS = ("rye", "bun", "tea", 'a "quoted" one', "")


def some_value(rng: random.Random) -> dict[str, Any]:
    return {
        "n": rng.choice([0, 1, 2.5, -3, 10**12]),
        "word": rng.choice(WORDS),
        "of": {"a": rng.choice([1, None, True]), "b": [rng.choice([1, 2]), "x"]},
    }


def some_filter(rng: random.Random) -> dict[str, Any] | None:
    number = rng.choice([0, 1, 2])
    return rng.choice(
        [
            None,
            None,
            {"n": number},
            {"n": {rng.choice(["$gt", "$gte", "$lt", "$lte", "$ne", "$eq"]): number}},
            {"word": rng.choice(WORDS), "n": {"$gte": -3, "$lt": 5}},
            {"of": {"a": rng.choice([1, None])}},
            {"of": {"b": [rng.choice([1, 2]), "x"]}},
            {"missing": None},
        ]
    )


def some_namespaces() -> list[tuple[str, ...]]:
    """Few enough that the operations of many batches meet in them."""
    rng = random.Random(7)
    found = [tuple(rng.choices(LABELS, k=rng.randint(1, 3))) for _ in range(25)]
    return [*found, ("a", "b"), ("a/b",), ("a%2Fb",), ("a",)]


NAMESPACES = some_namespaces()


def some_op(rng: random.Random, user: tuple[str, ...]) -> Op:
    namespace = user + rng.choice(NAMESPACES)
    match rng.choices(("put", "delete", "get", "search", "list"), (6, 2, 4, 3, 1))[0]:
        case "put":
            index = rng.choice([None, None, False, ["word"], ["of.b[*]"]])
            return PutOp(namespace, rng.choice(KEYS), some_value(rng), index)
        case "delete":
            return PutOp(namespace, rng.choice(KEYS), None)
        case "get":
            return GetOp(namespace, rng.choice(KEYS))
        case "search":
            prefix = user + rng.choice(NAMESPACES)[: rng.randint(0, 2)]
            limit, offset = rng.choice([(1_000, 0), (3, 0), (2, 2), (0, 0)])
            query = rng.choice([None, None, None, "rye and tea"])
            return SearchOp(prefix, some_filter(rng), limit, offset, query)
        case _:
            conditions = [MatchCondition("prefix", (*user, "*")), MatchCondition("prefix", user)]
            if not user:
                conditions.append(MatchCondition("suffix", (rng.choice(LABELS),)))
                conditions = rng.sample(conditions[:1] + conditions[2:], rng.randint(0, 2))
            depth, limit = rng.choice([None, 1, 2]), rng.choice([1_000, 3])
            return ListNamespacesOp(tuple(conditions), depth, limit, 0)


def plain(result: Any) -> Any:
    """A result without times, scores and the order of keys, which are the store's own."""
    if isinstance(result, Item):
        return (result.namespace, result.key, json.dumps(result.value, sort_keys=True))
    if isinstance(result, list):
        return [plain(each) for each in result]
    return result


def without_empty(store: InMemoryStore) -> None:
    """Drop namespaces without an item: the store in memory lists what it once looked at."""
    for namespace in [each for each, items in store._data.items() if not items]:
        del store._data[namespace]


def reference(memory: InMemoryStore, ops: Sequence[Op]) -> list[Any]:
    """The results of the store in memory, which would list the namespaces of gets as well."""
    without_empty(memory)
    lists = [op for op in ops if isinstance(op, ListNamespacesOp)]
    listed = iter(memory.batch(lists))
    rest = iter(memory.batch([op for op in ops if not isinstance(op, ListNamespacesOp)]))
    return [next(listed if isinstance(op, ListNamespacesOp) else rest) for op in ops]


def check(op: Op, expected: Any, found: Any, all_fitting: Iterable[Any]) -> None:
    """Compare one result; the order of a search is the store's own, and so is what a limit cuts."""
    if not isinstance(op, SearchOp):
        assert plain(found) == plain(expected), op
        return
    assert len(found) == len(expected), op
    if op.limit == 1_000:
        assert Counter(plain(found)) == Counter(plain(expected)), op
    assert set(plain(found)) <= set(plain(list(all_fitting))), op
    assert len(set(plain(found))) == len(found), op


def compare(store: BaseStore, batches: int, seed: int, user: tuple[str, ...] = ()) -> Counter[str]:
    """Do the same random batches in both stores; how many operations of each kind were done."""
    rng, memory, done = random.Random(seed), InMemoryStore(), Counter[str]()
    for _ in range(batches):
        ops = [some_op(rng, user) for _ in range(rng.randint(1, 3))]
        unlimited = [
            memory.search(op.namespace_prefix, filter=op.filter, limit=1_000)
            if isinstance(op, SearchOp)
            else []
            for op in ops
        ]
        expected = reference(memory, ops)
        for op, *results in zip(ops, expected, store.batch(ops), unlimited, strict=True):
            done[type(op).__name__] += 1
            check(op, *results)
    return done


@pytest.mark.timeout(900)
def test_random_batches_give_what_the_store_in_memory_gives(
    target: Target,
    driver: neo4j.AsyncDriver,  # noqa: ARG001 - it makes the schema
) -> None:
    # Without an embedder: vectors would change only the order of searches, and take time.
    scope = f"store-{uuid4().hex}"
    with memoria.sync.connect(target.uri, target.auth, scope=scope) as words:
        done = compare(MemoriaStore(words), BATCHES, seed=18)
    assert min(done.values()) > 200
    assert set(done) == {"GetOp", "PutOp", "SearchOp", "ListNamespacesOp"}


def test_so_they_do_where_a_part_of_the_namespace_is_a_scope(both: Both) -> None:
    scoped = both.for_scope(f"store-{uuid4().hex}")
    store = MemoriaStore(scoped, scope_parts=2)
    for seed, user in enumerate([("users", "ann"), ("users", "a/b")]):
        compare(store, 50, seed, user)
    assert scoped.list(where=memoria.MemoryFilter(kinds=["StoreItem"])).memories == ()


@pytest.fixture
def store(both: Both) -> MemoriaStore:
    return MemoriaStore(both.for_scope(f"store-{uuid4().hex}"))


def keys(items: Sequence[Item]) -> list[str]:
    return [item.key for item in items]


def test_a_search_with_a_query_puts_what_fits_the_question_first(store: MemoriaStore) -> None:
    texts = {"k1": "The dairy closes at six.", "k2": "Ann likes rye bread.", "k3": "It may rain."}
    for key, text in texts.items():
        store.put(("users", "ann"), key, {"text": text})
    store.put(("users", "bob"), "k4", {"text": "Bob likes rye bread."})
    found = store.search(("users", "ann"), query="Which bread does Ann like?")
    assert found[0].key == "k2"
    assert found[0].score == 1.0
    assert sorted(keys(found)) == ["k1", "k2", "k3"]
    assert not has_vector(found[0].dict())


def test_a_recall_finds_items_as_it_finds_other_memories(both: Both) -> None:
    scoped = both.for_scope(f"store-{uuid4().hex}")
    MemoriaStore(scoped, fields=("text",)).put(("ann",), "k", {"text": "Ann likes rye bread."})
    scoped.writer().remember("Rye flour comes on Fridays.")
    recall = scoped.recall("rye")
    assert {each.memory.text for each in recall.ranked} == {
        "Ann likes rye bread.",
        "Rye flour comes on Fridays.",
    }


def test_what_is_not_indexed_is_listed_but_not_searched(store: MemoriaStore) -> None:
    store.put(("a",), "hidden", {"text": "rye"}, index=False)
    store.put(("a",), "seen", {"text": "rye"})
    found = {item.key: item.score for item in store.search(("a",), query="rye")}
    assert found["hidden"] is None
    assert found["seen"] == 1.0


def test_an_update_keeps_when_an_item_was_made(store: MemoriaStore) -> None:
    store.put(("a",), "k", {"n": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"n": 2})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.value == {"n": 2}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_a_long_list_is_read_page_by_page(store: MemoriaStore) -> None:
    store.batch([PutOp(("a", f"n{i % 7}"), f"k{i:04}", {"n": i}) for i in range(2_500)])
    assert len(store.search(("a",), limit=5_000)) == 2_500
    assert len(store.search(("a",), filter={"n": {"$gte": 2_000}}, limit=5_000)) == 500
    assert len(store.search(("a",), limit=1_200, offset=2_000)) == 500
    assert len(store.list_namespaces(prefix=("a",))) == 7


async def test_awaiting_uses_no_thread(awaited: memoria.GraphRetriever, both: Both) -> None:
    for retriever in (awaited, both):
        store = MemoriaStore(retriever.for_scope(f"store-{uuid4().hex}"))
        with no_threads():
            await store.aput(("ann",), "k", {"text": "rye"})
            assert keys(await store.asearch(("ann",), query="rye")) == ["k"]
            await store.adelete(("ann",), "k")
            assert await store.aget(("ann",), "k") is None


async def test_a_sync_call_of_an_async_retriever_says_what_to_open(
    awaited: memoria.GraphRetriever,
) -> None:
    with pytest.raises(ClosedError, match=r"memoria\.sync\.connect"):
        MemoriaStore(awaited).get(("a",), "k")


def test_a_graph_reads_and_writes_the_store_that_it_is_compiled_with(store: MemoriaStore) -> None:
    def note(_: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        store.put(("ann",), "likes", {"text": "rye"})
        return {"messages": [("ai", "Noted.")]}

    graph = StateGraph(MessagesState).add_node("note", note).add_edge(START, "note")
    graph.compile(store=store).invoke({"messages": [("user", "I like rye.")]})
    item = store.get(("ann",), "likes")
    assert item is not None
    assert item.value == {"text": "rye"}


@pytest.mark.parametrize(
    ("op", "error"),
    [
        (PutOp(("a",), "k", {"when": object()}), InvalidInputError),
        (PutOp(("a",), "k", {"n": 1}, ttl=5.0), InvalidInputError),
        (PutOp(("a.b",), "k", {"n": 1}), InvalidNamespaceError),
        (PutOp(("a" * 600,), "k", {"n": 1}), InvalidInputError),
        (SearchOp(("a",), limit=-1), InvalidInputError),
        ("get", InvalidInputError),
    ],
)
def test_what_can_not_be_done_is_refused(
    store: MemoriaStore, op: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        store.batch([op])
    assert store.search(()) == []


def test_a_filter_by_an_unknown_comparison_is_refused(store: MemoriaStore) -> None:
    store.put(("a",), "k", {"n": 1})
    with pytest.raises(InvalidInputError, match=r"\$near"):
        store.search(("a",), filter={"n": {"$near": 1}})


@pytest.mark.parametrize("call", ["search", "list"])
def test_where_users_have_scopes_a_call_must_name_the_user(both: Both, call: str) -> None:
    store = MemoriaStore(both, scope_parts=1)
    with pytest.raises(InvalidInputError, match="first 1 parts"):
        store.search(()) if call == "search" else store.list_namespaces(suffix=("x",))


def test_no_two_items_share_an_id() -> None:
    places = {(a, b): item_id(a, b) for a in [("a", "b"), ("a/b",), ("a%2Fb",)] for b in KEYS}
    assert len(set(places.values())) == len(places)
