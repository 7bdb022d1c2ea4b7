"""The doctor on databases with faults planted: each is found, counted, and mended by its remedy.

On the server that one worker has to itself: the doctor looks at plans, which depend on the numbers
of memories and edges in all scopes, and its remedies without a scope change all of them.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import neo4j
import pytest

from memoria.doctor import FIXES, Examination, ExamineConfig, Finding, examine, fix
from memoria.embed import CallableEmbedder, Embedder
from memoria.errors import ConfigError, DeadlineError, InvalidInputError, UnavailableError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder, probe
from memoria.graph.vocabulary import scope_key
from memoria.local import EphemeralNeo4j
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.facts import is_2026_or_later
from memoria.store.queries import Query
from memoria.types import Memory, MemoryFilter, Relation
from memoria.writer import GraphWriter
from tests.integration.alone import driver, run_statement, store, target, wipe
from tests.integration.cli.test_commands import Done, in_process
from tests.integration.doctor.plans import few_plans, past_plans

__all__ = ["driver", "run_statement", "store", "target", "wipe"]  # fixtures, and what others use

DIMENSIONS = 384
HUB_DEGREE = 30


def memory(name: str, dimensions: int = DIMENSIONS) -> Memory:
    vector = [1.0, *[0.5] * (dimensions - 1)]
    return Memory(id=name, kind="Event", text=f"memory {name}", embedding=vector)


def edge(source: str, target: str) -> Relation:
    return Relation(source=source, target=target, relation="next", weight=0.8, tags=("a", "b"))


async def write_healthy(
    store: Store, scope: str, names: Sequence[str], dimensions: int = DIMENSIONS
) -> None:
    """A ring, so that no memory is isolated and none a hub."""
    ring = [edge(one, other) for one, other in zip(names, [*names[1:], names[0]], strict=True)]
    await GraphWriter(store, scope=scope).write([memory(name, dimensions) for name in names], ring)


def by_check(found: Examination) -> dict[str, Finding]:
    names = [finding.check for finding in found.findings]
    assert len(names) == len(set(names)), "each check reports once"
    return {finding.check: finding for finding in found.findings}


def faults(found: Examination, *themes: str) -> dict[str, tuple[str, int]]:
    return {
        finding.check: (finding.severity, finding.count)
        for finding in found.findings
        if finding.severity != "ok" and finding.theme in themes
    }


async def look(
    store: Store,
    scope: str | None = None,
    embedder: Embedder | None = None,
    *,
    plans: bool = False,
    **settings: Any,
) -> Examination:
    config = ExamineConfig(**settings)
    with nullcontext() if plans else past_plans():
        return await examine(
            store, scope=scope, embedder=embedder, config=config, rng=random.Random(1)
        )


async def found_by_words(
    store: Store, scope: str, questions: Sequence[str]
) -> dict[str, list[str]]:
    """Return question -> ids of its seeds, without an embedder."""
    retriever = GraphRetriever(store, scope=scope)
    return {
        question: [seed.id for seed in (await retriever.find_seeds(question)).seeds]
        for question in questions
    }


async def mend(store: Store, found: Examination) -> list[str]:
    """Apply the remedies that mend the data; return the checks that had one.

    The server may, by its own statistics, also advise to plan anew: that changes no data.
    """
    mended: list[str] = []
    for finding in found.findings:
        if finding.theme in ("memories", "edges") and "--fix=" in finding.command:
            assert finding.command.endswith(f" --fix={finding.check}")
            (fixed,) = await fix(store, [finding.check], scope=found.scope)
            assert fixed.check == finding.check
            if finding.check != "edges.unsorted_tags":  # the remedy of double tags sorts them, too
                assert fixed.changed >= finding.count, finding
            mended.append(finding.check)
    return mended


# What each memory is made to be, and how bad that is.
MEMORY_FAULTS: dict[str, tuple[str, Sequence[str]]] = {
    "memories.id": ("error", ["SET m.id = 5"]),
    "memories.text": ("warning", ["REMOVE m.text", "SET m.text = '  '", "SET m.text = 7"]),
    "memories.no_embedding": ("warning", ["REMOVE m.embedding"] * 2),
    "memories.bad_embedding": (
        "error",
        [
            "SET m.embedding = [1.0, 2.0]",
            "SET m.embedding = 'vector'",
            "SET m.embedding = ['a', 'b']",
            "SET m.embedding = [x IN m.embedding | 0.0]",
            "SET m.embedding = [x IN m.embedding | 0.0 / 0.0]",
        ],
    ),
    "memories.no_kind": ("warning", ["REMOVE m:Event"]),
    "memories.several_kinds": ("warning", ["SET m:Zebra", "SET m:Ape:Zebra"]),
    "memories.created_at": (
        "warning",
        [
            "SET m.created_at = '2026-05-02T10:00:00.5Z'",
            "SET m.created_at = '2026-05-02'",
            "SET m.created_at = 1700000000",
        ],
    ),
    "memories.valid_until": (
        "warning",
        [
            "SET m.valid_until = '2026-05-02'",
            "SET m.valid_until = localdatetime('2026-05-02T10:00')",
            "SET m.valid_until = 7",
        ],
    ),
    "memories.metadata_pairs": (
        "warning",
        ['SET m.metadata = \'{"channel": "mail", "n": 1}\'', "SET m.metadata = 'no json'"],
    ),
    "memories.superseded": (
        "warning",
        ["SET m.superseded_by = 'nobody'", "SET m.superseded_at = datetime()"],
    ),
    "memories.connector_text": ("warning", ["REMOVE m:Event SET m:Topic"]),
    "memories.unused_connector": (
        "note",
        [
            "CREATE (:Memory:Topic {scope: m.scope, id: m.id + '/topic', scope_key: m.scope_key, "
            "created_at: m.created_at, connector_name: 'a topic'})"
        ],
    ),
    "memories.scope_key": ("error", ["REMOVE m.scope_key", "SET m.scope_key = 'other'"]),
}
EDGE_FAULTS: dict[str, tuple[str, Sequence[str]]] = {
    "edges.no_weight": ("warning", ["REMOVE r.weight"]),
    "edges.bad_weight": (
        "error",
        [
            "SET r.weight = 0.0 / 0.0",
            "SET r.weight = 1.0 / 0.0",
            "SET r.weight = -0.1",
            "SET r.weight = '0.7'",
            "SET r.weight = '7'",
            "SET r.weight = 'strong'",
            "SET r.weight = true",
            "SET r.weight = [0.5]",
        ],
    ),
    "edges.high_weight": ("warning", ["SET r.weight = 2.5", "SET r.weight = 3"]),
    "edges.bad_tags": ("warning", ["SET r.tags = 'a'", "SET r.tags = [1, 2]", "SET r.tags = 3"]),
    "edges.duplicate_tags": (
        "warning",
        ["SET r.tags = ['a', 'a']", "SET r.tags = ['b', 'a', 'b']"],
    ),
    "edges.unsorted_tags": ("note", ["SET r.tags = ['b', 'a']"]),
    "edges.foreign_end": (
        "warning",
        ["CREATE (m)-[:RELATES {weight: 0.5}]->(:Thing)", "CREATE (m)<-[:RELATES]-(:Thing)"],
    ),
    "edges.self": ("warning", ["CREATE (m)-[:RELATES {weight: 0.5}]->(m)"]),
    "edges.cross_scope": (
        "error",
        [
            "CREATE (m)-[:RELATES {weight: 0.5}]->(o)",
            "CREATE (m)<-[:RELATES {weight: 0.5, relation: 'back'}]-(o)",
        ],
    ),
    "edges.parallel": (
        "warning",
        [
            "CREATE (m)-[:RELATES {weight: 0.9, relation: 'next'}]->(n)",
            "CREATE (m)-[:RELATES {weight: 0.2, relation: 'next'}]->(n)",
            "CREATE (m)-[:RELATES {weight: 0.4, relation: 'next'}]->(n)",
        ],
    ),
}
# Incoming edge without a weight is one fault more.
EXPECTED = {
    check: (severity, len(changes))
    for check, (severity, changes) in {**MEMORY_FAULTS, **EDGE_FAULTS}.items()
} | {"edges.no_weight": ("warning", 2)}


async def plant(store: Store, scope: str, dimensions: int = DIMENSIONS) -> None:
    """Every fault that one scope can have, each on a memory or an edge of its own."""
    changes = [
        change
        for _, changes in [*MEMORY_FAULTS.values(), *EDGE_FAULTS.values()]
        for change in changes
    ]
    names = [f"n{number:02}" for number in range(len(changes) + 1)]
    await write_healthy(store, scope, names, dimensions)
    await write_healthy(store, f"{scope}-other", ["o1", "o2"], dimensions)
    for name, change in zip(names, changes, strict=False):
        await run_statement(
            store,
            "MATCH (o:Memory {scope: $other, id: 'o1'}) "
            "MATCH (m:Memory {scope: $scope, id: $id})-[r:RELATES {relation: 'next'}]->(n) "
            "WITH m, n, o, r LIMIT 1 " + change,
            scope=scope,
            other=f"{scope}-other",
            id=name,
        )
    alone = [memory(f"alone {number}", dimensions) for number in range(2)]
    await GraphWriter(store, scope=scope).write(alone)
    spokes = [f"spoke {number:02}" for number in range(HUB_DEGREE)]
    await GraphWriter(store, scope=scope).write(
        [memory(name, dimensions) for name in ("hub", *spokes)],
        [edge("hub", spoke) for spoke in spokes],
    )


@pytest.fixture
async def planted(store: Store, scope: str) -> str:
    await plant(store, scope)
    return scope


async def notes_on_the_server(store: Store) -> dict[str, tuple[str, int]]:
    """Neo4j 5.26 has no search within a scope, which is worth a note."""
    newer = is_2026_or_later((await probe(store)).version)
    return {} if newer else {"server.dialect": ("note", 0)}


async def test_every_planted_fault_is_found_with_its_count_and_severity(
    store: Store, planted: str
) -> None:
    found = await look(store, planted)
    assert faults(found, "memories", "edges") == EXPECTED
    assert faults(found, "graph", "energy") == {
        "graph.isolated": ("note", 2),
        "energy.hubs": ("note", 1),
    }
    assert faults(found, "server", "indexes") == await notes_on_the_server(store)
    assert found.severity == "error"
    for finding in found.findings:
        assert (finding.severity == "ok") == (not finding.remedy), finding
        assert len(finding.examples) == min(finding.count, 5)
    findings = by_check(found)
    assert findings["graph.isolated"].examples == ("alone 0", "alone 1")
    assert " in " not in findings["edges.self"].examples[0]
    assert f"in {planted}-other" in findings["edges.cross_scope"].examples[0]


async def test_after_its_statement_each_fault_is_gone(store: Store, planted: str) -> None:
    found = await look(store, planted)
    mended = await mend(store, found)
    assert set(mended) == EXPECTED.keys() - {"memories.text", "memories.no_embedding"}
    after = by_check(await look(store, planted))
    assert {check: after[check].severity for check in mended} == dict.fromkeys(mended, "ok")

    bare = after["memories.no_embedding"]
    assert bare.count == 2 + 5, "removed vectors are missing now"
    assert "GraphWriter.backfill_embeddings" in bare.remedy, "no command has the embedder"
    assert bare.command.startswith(f"memoria export --scope={planted} ")
    vector = [[0.5] * DIMENSIONS]
    embedder = CallableEmbedder(lambda texts: vector * len(texts), dimensions=384, name="test")
    await GraphWriter(store, scope=planted, embedder=embedder).backfill_embeddings()
    texts = after["memories.text"]
    assert texts.command == f"memoria forget --scope={planted} {' '.join(texts.examples)}"
    await GraphWriter(store, scope=planted).forget(texts.examples)
    assert faults(await look(store, planted), "memories", "edges") == {}


@pytest.mark.parametrize("scoped", [True, False])
async def test_filters_find_metadata_once_its_pairs_are_stored(
    store: Store, scope: str, monkeypatch: pytest.MonkeyPatch, scoped: bool
) -> None:
    names = [f"n{number}" for number in range(7)]
    await write_healthy(store, scope, names)
    await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) "
        'SET m.metadata = \'{"n": 1, "path": [2]}\' REMOVE m.metadata_pairs',
        scope=scope,
    )
    reader = GraphRetriever(store, scope=scope)
    assert (await reader.list(where=MemoryFilter(metadata={"n": 1}))).memories == ()
    monkeypatch.setattr(sys.modules["memoria.doctor.fixes"], "_PAGE_CHARS", 50)
    (fixed,) = await fix(store, ["memories.metadata_pairs"], scope=scope if scoped else None)
    assert fixed.changed == 7 if scoped else fixed.changed >= 7
    found = await reader.list(where=MemoryFilter(metadata={"n": 1}))
    assert [memory.id for memory in found.memories] == names
    (again,) = await fix(store, ["memories.metadata_pairs"], scope=scope)
    assert again.changed == 0


async def test_remedies_keep_what_can_be_kept(store: Store, planted: str) -> None:
    await mend(store, await look(store, planted))
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) WHERE m.created_at_was IS NOT NULL OR m.id = '5' "
        "RETURN m.id AS id, m.created_at_was AS was",
        scope=planted,
    )
    assert {(row["id"] == "5", row["was"]) for row in rows} == {(True, None), (False, 1700000000)}
    rows = await run_statement(
        store,
        "MATCH (:Memory {scope: $scope})-[r:RELATES]->() "
        "RETURN r.weight AS weight, count(*) AS count, collect(DISTINCT r.tags) AS tags",
        scope=planted,
    )
    weights = {row["weight"]: row["count"] for row in rows}
    assert weights.keys() == {0.5, 0.7, 0.8, 0.9, 1.0}
    assert weights[0.7] == 1, "a number written as text"
    assert weights[0.9] == 1, "the strongest of the parallel ones"
    assert weights[1.0] == 3, "two above 1, one of them as text"
    tags = {tuple(tags) for row in rows for tags in row["tags"]}
    assert tags == {("a", "b"), ("a",), ("1", "2"), ("3",)}
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) RETURN DISTINCT labels(m) AS labels",
        scope=planted,
    )
    assert {frozenset(row["labels"]) for row in rows} == {
        frozenset({"Memory", "Event"}),
        frozenset({"Memory", "Ape"}),
        frozenset({"Memory", "Topic"}),
    }


async def test_a_clean_scope_has_nothing_worse_than_notes(store: Store, scope: str) -> None:
    await write_healthy(store, scope, [f"n{number}" for number in range(40)])
    found = await look(store, scope)
    notes = [finding.check for finding in found.findings if finding.severity != "ok"]
    assert notes == list(await notes_on_the_server(store))
    assert found.histogram[-1].low == 2
    assert [bucket.count for bucket in found.histogram] == [0, 0, 40]
    assert found.explored > 10
    assert found.hubs == ()


async def test_a_scope_that_is_empty_is_a_note(store: Store, scope: str) -> None:
    found = await look(store, scope)
    assert faults(found, "memories", "edges", "graph", "energy") == {
        "memories.present": ("note", 0)
    }
    assert by_check(found)["memories.present"].command == f"memoria ingest --scope={scope} FILE"
    assert found.histogram == ()


async def test_what_is_beyond_the_limit_is_not_claimed(store: Store, planted: str) -> None:
    found = await look(store, planted, limit=6)
    findings = by_check(found)
    assert findings["memories.present"].severity == "note"
    assert findings["memories.present"].message.startswith("only the first 6 memories")
    assert findings["memories.present"].command == f"memoria doctor --scope={planted} --limit=60"
    assert findings["memories.text"].message.startswith("memories without a text: at least 3, ")
    assert findings["edges.self"].message.endswith("in the first 6")
    assert sum(bucket.count for bucket in found.histogram) == 6


async def test_the_same_random_state_samples_the_same(store: Store, planted: str) -> None:
    first = await look(store, planted, sample=5)
    assert await look(store, planted, sample=5) == first
    assert first.explored <= 5
    assert first.hubs


async def test_a_hub_loses_what_it_holds_less_what_it_passes_on(store: Store, scope: str) -> None:
    spokes = [f"s{number:02}" for number in range(HUB_DEGREE)]
    await GraphWriter(store, scope=scope).write(
        [memory(name) for name in ("hub", *spokes)],
        [Relation(source="hub", target=spoke, weight=1.0) for spoke in spokes],
    )
    found = await look(store, scope, sample=1)
    (hub,) = found.hubs
    assert (hub.id, hub.scope, hub.degree, hub.explorations) == ("hub", scope, HUB_DEGREE, 1)
    # From a spoke of one edge the hub gets all, and three others get 1 / sqrt(30) each, which
    # they, with the one edge that leads back, lose.
    passed = 3 / HUB_DEGREE**0.5
    assert hub.lost == pytest.approx(1 - passed, abs=1e-12)
    assert hub.share == pytest.approx((1 - passed) / 1.0, abs=1e-12)


async def test_a_connector_of_many_memories_is_no_hub_to_split(store: Store, scope: str) -> None:
    spokes = [f"s{number:02}" for number in range(HUB_DEGREE)]
    topic = Memory(id="@topic:ovens", kind="Topic", text="ovens")
    await GraphWriter(store, scope=scope).write(
        [topic, *(memory(name) for name in spokes)],
        [Relation(source=spoke, target=topic.id, weight=1.0) for spoke in spokes],
    )
    found = await look(store, scope, sample=5)
    assert found.explored == 5
    assert found.hubs == ()


class Slow(Store):
    """A store on which one query takes too long."""

    late = ""

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name == self.late:
            raise DeadlineError(f"{query.name} took longer than 1 s", query=query.name)
        return await super().run(query, parameters, until=until)


@pytest.mark.parametrize(
    ("late", "check"),
    [
        ("doctor.indexes", "indexes"),
        ("doctor.memories", "memories"),
        ("doctor.scope_keys", "memories.scope_key"),
        ("doctor.edges", "edges"),
        ("doctor.parallel", "edges.parallel"),
        ("doctor.degrees", "graph"),
        ("doctor.seeds", "energy"),
    ],
)
async def test_a_check_that_fails_is_a_finding_and_the_others_go_on(
    driver: neo4j.AsyncDriver, scope: str, late: str, check: str
) -> None:
    slow = Slow(driver, database="neo4j")
    whole = by_check(await look(slow, scope)).keys()
    slow.late = late
    findings = by_check(await look(slow, scope))
    assert findings[check].severity == "warning"
    assert findings[check].message == f"not examined: {late} took longer than 1 s"
    assert "examine less" in findings[check].remedy
    less = "--limit=5000 --sample=2" if check == "energy" else "--limit=5000"
    assert findings[check].command == f"memoria doctor --scope={scope} {less}"
    theme = check.partition(".")[0]
    assert {name for name in whole if not name.startswith(theme)} <= findings.keys()


async def test_arguments_out_of_range_are_refused(store: Store, scope: str) -> None:
    for options in ({"sample": -1}, {"sample": 1.5}, {"limit": 0}):
        with pytest.raises(ConfigError):
            await look(store, scope, **options)
    with pytest.raises(InvalidInputError):
        await look(store, "")


async def test_an_unreachable_database_is_an_error() -> None:
    async with open_driver(Target(uri="bolt://127.0.0.1:1", auth=None)) as driver:
        with pytest.raises(UnavailableError):
            await look(Store(driver, database="neo4j"))


async def test_a_remedy_changes_its_scope_alone(store: Store, scope: str) -> None:
    for name in (scope, f"{scope}-2"):
        await write_healthy(store, name, ["a", "b"])
    loose = "MATCH (m:Memory) WHERE m.scope STARTS WITH $scope CREATE (m)-[:RELATES]->(m)"
    await run_statement(store, loose, scope=scope)
    (fixed,) = await fix(store, ["edges.self", "edges.self"], scope=scope)
    assert (fixed.check, fixed.changed, fixed.done) == ("edges.self", 2, "deleted")
    assert by_check(await look(store, scope))["edges.self"].severity == "ok"
    assert by_check(await look(store, f"{scope}-2"))["edges.self"].count == 2


async def test_a_check_without_a_remedy_changes_nothing(store: Store, planted: str) -> None:
    for name in ("memories.text", "edges.nonsense", "plans.strategies.level", ""):
        with pytest.raises(InvalidInputError, match=r"these can: memories\.id, "):
            await fix(store, ["edges.self", name], scope=planted)
    assert by_check(await look(store, planted))["edges.self"].count == 1


class TestCommand:
    """``memoria doctor``; the tests of its remedies run it as a user runs it."""

    async def run(self, target: Target, *arguments: str, uri: str | None = None) -> Done:
        user, password = target.auth  # type: ignore[misc]
        environ = {"NEO4J_URI": uri or target.uri, "NEO4J_USERNAME": user}
        environ["MEMORIA_HOME"] = str(Path(__file__).parent / "absent")  # other tests fill theirs
        with past_plans():
            return in_process("doctor", *arguments, **environ, NEO4J_PASSWORD=password)

    async def test_exit_code_tells_the_worst_severity(
        self, target: Target, store: Store, scope: str
    ) -> None:
        await write_healthy(store, scope, ["a", "b", "c"])
        assert (await self.run(target, "--scope", scope)).code == 0
        change = "MATCH (:Memory {scope: $scope, id: 'a'})-[r:RELATES]->() "
        await run_statement(store, change + "SET r.weight = 2", scope=scope)
        assert (await self.run(target, "--scope", scope)).code == 4
        await run_statement(store, change + "SET r.weight = -1", scope=scope)
        assert (await self.run(target, "--scope", scope)).code == 5

    async def test_prints_findings_commands_histogram_and_hubs(
        self, target: Target, planted: str
    ) -> None:
        done = await self.run(target, "--scope", planted, "--all")
        assert done.err == ""
        assert "\x1b" not in done.out
        assert "  error    bad_weight" in done.out
        assert f"\n    memoria forget --scope={planted} " in done.out
        assert "█" in done.out
        assert "hubs that absorb most energy" in done.out
        assert done.out.rstrip().splitlines()[-1].startswith("5 errors, ")
        shorter = await self.run(target, "--scope", planted)
        assert "█" not in shorter.out
        assert "\n  ok " not in shorter.out
        assert f"\n    memoria forget --scope={planted} " in shorter.out

    async def test_remedies_are_applied_by_name_and_counted(
        self, target: Target, planted: str
    ) -> None:
        names = ["--fix", "edges.parallel", "--fix", "edges.bad_tags"]
        done = await self.run(target, "--scope", planted, *names)
        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines() == [
            "edges.parallel: 3 edges deleted",
            "edges.bad_tags: 3 edges given a list of tags",
        ]
        again = await self.run(target, "--scope", planted, *names, "--json")
        assert json.loads(again.out) == {
            "fixed": [
                {"check": "edges.parallel", "changed": 0, "done": "deleted"},
                {"check": "edges.bad_tags", "changed": 0, "done": "given a list of tags"},
            ]
        }
        unknown = await self.run(target, "--fix", "edges.nonsense")
        assert unknown.code == 2
        assert "edges.parallel" in unknown.err

    async def test_json_has_every_field_and_says_the_same_again(
        self, target: Target, planted: str
    ) -> None:
        done = await self.run(target, "--scope", planted, "--json", "--sample", "3")
        facts = json.loads(done.out)
        assert list(facts) == [
            "severity",
            "scope",
            "server",
            "settings",
            "findings",
            "histogram",
            "hubs",
            "explored",
        ]
        for part, names in {
            "findings": "check severity message remedy command count examples cause",
            "histogram": "low high count",
            "hubs": "id scope degree lost share explorations",
        }.items():
            assert list(facts[part][0]) == names.split()
        assert (facts["severity"], facts["scope"], facts["explored"]) == ("error", planted, 3)
        again = await self.run(target, "--scope", planted, "--json", "--sample", "3")
        assert again.out == done.out

    async def test_a_wrong_address_is_one_line_and_exit_code_1(self, target: Target) -> None:
        done = await self.run(target, uri="bolt://127.0.0.1:1")
        assert (done.code, done.out) == (1, "")
        assert len(done.err.strip().splitlines()) == 1


@pytest.fixture(scope="module")
async def server(second_server: EphemeralNeo4j) -> AsyncIterator[Store]:
    target = Target(uri=second_server.uri, auth=second_server.auth)
    async with open_driver(target) as driver:
        yield Store(driver, database="neo4j")


class TestWholeDatabase:
    """Indexes are taken away, so these tests come last; counts are those of all scopes."""

    SIZE = 3

    @pytest.fixture
    async def bare(self, server: Store) -> Store:
        """The database with nothing in it, not even a schema."""
        await wipe(server)
        return server

    @pytest.fixture
    async def empty(self, bare: Store) -> Store:
        """Set up, and empty."""
        await apply_schema(bare, embedder=AbsentEmbedder(name="test", dimensions=self.SIZE))
        return bare

    async def test_no_schema_at_all_says_how_to_make_one(self, bare: Store) -> None:
        await run_statement(bare, "CREATE (:Memory {id: 'a'})")  # a fault that is not looked for
        found = await look(bare)
        names = ("memory_scope_id", "memoria_meta_key", "memory_text", "memory_embedding")
        assert faults(found, "indexes") == {
            f"indexes.{name}": ("error", 0) for name in (*names, "record")
        }
        findings = by_check(found)
        record = findings["indexes.record"]
        assert (record.command, record.cause) == ("memoria init", "")
        assert "is not set up" in record.message
        assert {findings[f"indexes.{name}"].cause for name in names} == {"indexes.record"}
        assert {finding.theme for finding in found.findings} == {"server", "indexes"}

    async def test_what_follows_from_a_missing_constraint_names_it_as_the_cause(
        self, empty: Store
    ) -> None:
        await run_statement(empty, "DROP CONSTRAINT memory_scope_id")
        with few_plans():
            findings = by_check(await look(empty, plans=True))
        missing = findings["indexes.memory_scope_id"]
        init = f"memoria init --embedder=none --dimensions={self.SIZE}"
        assert (missing.message, missing.command, missing.cause) == ("missing", init, "")
        level = findings["plans.strategies.level"]
        assert (level.severity, level.command) == ("error", init)
        assert "NodeByLabelScan" in level.message
        assert level.cause == "indexes.memory_scope_id"
        assert findings["plans.ingest.memories"].severity == "warning"
        roots = {
            name for name, each in findings.items() if each.severity != "ok" and not each.cause
        }
        assert roots == {
            "memories.present",
            "indexes.memory_scope_id",
            *await notes_on_the_server(empty),
        }

    async def test_set_up_and_empty_is_a_note_and_its_indexes_are_not_dropped(
        self, empty: Store
    ) -> None:
        with few_plans():  # tests/integration/test_plans.py has all queries planned
            found = await look(empty, plans=True)
        assert {finding.check for finding in found.findings if finding.severity != "ok"} == {
            "memories.present",
            *await notes_on_the_server(empty),
        }
        assert (found.scope, found.severity) == (None, "note")
        assert found.settings["server.memory.pagecache.size"]

        names = [name for name in FIXES if name.startswith("indexes.")]
        assert len(names) == 4
        fixed = await fix(empty, [*names, "plans"])
        assert [each.changed for each in fixed] == [0] * 5
        assert (await look(empty)).severity == "note"

        for name, size in (("other", self.SIZE), ("test", 8)):
            embedder = CallableEmbedder(lambda _: [], dimensions=size, name=name)
            finding = by_check(await look(empty, embedder=embedder))["indexes.embedder"]
            assert finding.severity == "error", "another embedder is named with the one recorded"
            assert str(self.SIZE) in finding.message or "'test'" in finding.message
        fitting = CallableEmbedder(lambda _: [], dimensions=self.SIZE, name="test")
        found = await look(empty, embedder=fitting)
        assert by_check(found)["indexes.embedder"].severity == "ok"

    async def test_every_fault_of_all_scopes_is_found_and_mended(self, empty: Store) -> None:
        await plant(empty, "planted", self.SIZE)
        for change in ("REMOVE m.id", "REMOVE m.scope", "SET m.scope = 5"):
            name = f"without {change}"
            await GraphWriter(empty, scope="more").write([memory(name, self.SIZE)])
            where = "MATCH (m:Memory {scope: 'more', id: $id}) "
            await run_statement(empty, where + change, id=name)
        found = await look(empty)
        expected = EXPECTED | {"memories.id": ("error", 2), "memories.scope": ("error", 2)}
        assert faults(found, "memories", "edges") == expected
        assert by_check(found)["memories.text"].examples[0].endswith(" in planted")
        assert "--scope=planted" in by_check(found)["memories.text"].command
        mended = await mend(empty, found)
        assert {"memories.id", "memories.scope"} <= set(mended)
        after = faults(await look(empty), "memories", "edges")
        assert after.keys() == {"memories.text", "memories.no_embedding"}
        rows = await run_statement(
            empty,
            "MATCH (m:Memory {scope: 'recovered'}) RETURN m.scope_key AS key, count(*) AS n",
        )
        assert [(row["key"], row["n"]) for row in rows] == [(scope_key("recovered"), 2)]

    async def test_a_vector_index_made_in_another_way_is_told_in_detail(self, empty: Store) -> None:
        await run_statement(empty, "DROP INDEX memory_embedding")
        await run_statement(
            empty,
            "CREATE VECTOR INDEX memory_embedding FOR (n:Memory) ON n.embedding OPTIONS "
            "{indexConfig: {`vector.dimensions`: 7, `vector.similarity_function`: 'euclidean'}}",
        )
        await run_statement(empty, "CALL db.awaitIndexes(60)")
        found = await look(empty)
        drop = "memoria doctor --fix=indexes.memory_embedding"
        expected = {
            "indexes.memory_embedding.similarity": ("error", drop),
            "indexes.memory_embedding.quantisation": ("warning", drop),
            "indexes.record": ("error", drop),
        }
        if not await notes_on_the_server(empty):
            expected["server.dialect"] = ("warning", drop)
        assert expected == {
            finding.check: (finding.severity, finding.command)
            for finding in found.findings
            if finding.severity in ("warning", "error")
        }
        (dropped,) = await fix(empty, ["indexes.memory_embedding"])
        init = f"memoria init --embedder=none --dimensions={self.SIZE}"
        assert (dropped.changed, dropped.done) == (1, f"dropped; now run {init}")
        await apply_schema(empty, dimensions=self.SIZE)
        assert (await look(empty)).severity == "note"

    async def test_a_full_text_index_of_an_earlier_version_works_until_it_is_made_again(
        self, empty: Store
    ) -> None:
        await run_statement(empty, "DROP INDEX memory_text")
        await run_statement(
            empty,
            "CREATE FULLTEXT INDEX memory_text FOR (n:Memory) ON EACH [n.text, n.scope_key]",
        )
        await run_statement(empty, "CALL db.awaitIndexes(60)")
        scopes = ("one", "another")
        for scope in scopes:
            texts = ("call getUser", "at the café", "the cellar")
            memories = [Memory(id=text, kind="Event", text=text) for text in texts]
            await GraphWriter(empty, scope=scope).write(memories)
        await run_statement(empty, "MATCH (m:Memory) REMOVE m.search_words")
        before = {"getUser": ["call getUser"], "café": ["at the café"], "user": [], "cafe": []}
        assert (await apply_schema(empty, dimensions=self.SIZE)).created == ()
        for scope in scopes:
            assert await found_by_words(empty, scope, [*before]) == before

        finding = by_check(await look(empty))["indexes.memory_text.words"]
        assert (finding.severity, finding.command) == (
            "warning",
            "memoria doctor --fix=indexes.memory_text",
        )
        assert "getUserById by user id or café by cafe" in finding.message
        (dropped,) = await fix(empty, ["indexes.memory_text"], scope="one")
        assert dropped.changed == 1
        await apply_schema(empty, dimensions=self.SIZE)
        after = {**before, "user": ["call getUser"], "cafe": ["at the café"]}
        for scope in scopes:  # an index belongs to all scopes, whichever scope was given
            assert await found_by_words(empty, scope, [*after]) == after
        assert by_check(await look(empty))["indexes.memory_text.words"].severity == "ok"

    async def test_an_index_under_the_name_of_another_is_an_error(self, empty: Store) -> None:
        for statement in (
            "DROP CONSTRAINT memory_scope_id",
            "CREATE INDEX memory_scope_id FOR (n:Memory) ON (n.scope, n.id)",
            "DROP INDEX memory_text",
            "CREATE FULLTEXT INDEX memory_text FOR (n:Other) ON EACH [n.text]",
            "CALL db.awaitIndexes(60)",
        ):
            await run_statement(empty, statement)
        names = ("indexes.memory_scope_id", "indexes.memory_text")
        findings = by_check(await look(empty))
        for name in names:
            assert findings[name].severity == "error"
            assert findings[name].command == f"memoria doctor --fix={name}"
            assert (await fix(empty, [name]))[0].changed == 1
        init = f"memoria init --embedder=none --dimensions={self.SIZE}"
        assert findings["indexes.memory_scope_id"].remedy.endswith(init)
        findings = by_check(await look(empty))
        for name in names:
            assert (findings[name].severity, findings[name].message) == ("error", "missing")
        await apply_schema(empty, dimensions=self.SIZE)
        assert (await look(empty)).severity == "note"

    async def test_without_an_embedder_missing_vectors_are_a_note(self, bare: Store) -> None:
        await apply_schema(bare, dimensions=self.SIZE)
        await GraphWriter(bare, scope="s").write([Memory(id="a", kind="Event", text="t")])
        finding = by_check(await look(bare))["memories.no_embedding"]
        assert (finding.severity, finding.count) == ("note", 1)
