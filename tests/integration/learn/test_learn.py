"""Learning on the real server: exactly once, whatever happens; undone to the last bit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

import neo4j
import pytest

from memoria.errors import InvalidInputError, ScopeError, UnavailableError
from memoria.graph.vocabulary import CO_ACTIVATED
from memoria.learn import MAX_USE_TIMES, LearnConfig, Learner, consolidation, events
from memoria.learn.events import MAX_QUESTION_CHARS, MAX_QUESTIONS
from memoria.learn.learner import MAX_CHANGES
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import Synapse
from memoria.retriever import GraphRetriever
from memoria.store import Session, Store
from memoria.store.exchange import Exchange
from memoria.store.queries import Query
from memoria.types import Activation, LoggedChange, Memory, Relation, Seed, SuppressionKind, Trace
from memoria.writer import GraphWriter
from tests.effort import effort
from tests.oracle.learning import oja, strengthened
from tests.traces import path, trace

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class LossySession(Session):
    """A session that loses the first answer to each writing query of learning, after the commit."""

    lost: set[str]

    async def run(self, query: Query, parameters: Any) -> Any:
        async def send(exchange: Exchange) -> Any:
            rows = await exchange.ask(query, parameters)
            if query.mode == "write" and query.name not in self.lost:
                self.lost.add(query.name)
                raise UnavailableError("the connection was lost", query=query.name)
            return rows

        return await self._perform(query.name, send)


class LossyStore(Store):
    """A store of such sessions."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        super().__init__(driver, database="neo4j")
        self.lost: set[str] = set()

    @asynccontextmanager
    async def session(  # type: ignore[override]  # callers only enter it
        self,
        mode: Literal["read", "write"] = "read",
        *,
        until: float | None = None,
    ) -> AsyncIterator[Session]:
        async with super().session(mode, until=until) as inner:
            lossy = copy(inner)
            lossy.__class__ = LossySession
            lossy.lost = self.lost  # type: ignore[attr-defined]
            yield lossy


class Graph:
    """One scope, a learner of it whose clock is moved by hand, and what is stored."""

    def __init__(self, store: Store, scope: str) -> None:
        self.store = store
        self.scope = scope
        self.now = NOW

    def learner(self, store: Store | None = None, **settings: Any) -> Learner:
        return Learner(
            store or self.store,
            scope=self.scope,
            config=LearnConfig(**settings),
            clock=lambda: self.now,
        )

    async def write(
        self, ids: str, edges: Mapping[str, float] | None = None, **whens: Mapping[str, Any]
    ) -> None:
        """Write memories named by one letter each, and edges named by two; relation ``near``."""
        writer = GraphWriter(self.store, scope=self.scope)
        memories = [Memory(id=i, kind="Event", text=i, when=whens.get(i, {})) for i in ids]
        relations = [
            Relation(source=pair[0], target=pair[1], relation="near", weight=weight, tags=["t"])
            for pair, weight in (edges or {}).items()
        ]
        await writer.write(memories, relations)

    async def rows(self, query: str) -> list[dict[str, Any]]:
        records, _, _ = await self.store.driver.execute_query(query, scope=self.scope)
        return [record.data() for record in records]

    async def edges(self) -> dict[str, dict[str, Any]]:
        found = await self.rows(
            "MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b) "
            "RETURN a.id + b.id AS ends, properties(r) AS properties ORDER BY ends, r.relation"
        )
        assert len({row["ends"] for row in found}) == len(found)
        return {row["ends"]: row["properties"] for row in found}

    async def weights(self) -> dict[str, float]:
        return {ends: edge["weight"] for ends, edge in (await self.edges()).items()}

    async def memory(self, id_: str) -> dict[str, Any]:
        found = await self.rows(
            "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, properties(m) AS properties"
        )
        properties: dict[str, Any] = {row["id"]: row["properties"] for row in found}[id_]
        return properties

    async def state(self) -> Any:
        """Everything of the scope that learning may write but for the log and the clock."""
        return [
            await self.edges(),
            await self.rows(
                "MATCH (m:Memory {scope: $scope}) RETURN properties(m) AS properties ORDER BY m.id"
            ),
            await self.rows(
                "MATCH (a:Memory {scope: $scope})-[r:COACTIVATED|SUPPRESSES]->(b) RETURN a.id, "
                "type(r), properties(r), b.id ORDER BY a.id, b.id, type(r), r.kind"
            ),
        ]


@pytest.fixture
def graph(store: Store, scope: str) -> Graph:
    return Graph(store, scope)


class TestStrengthenEdge:
    async def test_an_edge_gains_a_tenth_up_to_one_and_two_for_lif(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.85})
        learner = graph.learner()
        seen = []
        for _ in range(13):
            await learner.strengthen_edge("a", "b", relation="near")
            edge = (await graph.edges())["ab"]
            seen.append((edge["weight"], edge.get("lif_weight")))
        assert seen[0] == (strengthened(0.85, 0.1), None)
        assert seen[1] == (1.0, strengthened(0.85, 0.1) + 0.1)
        assert seen[-1] == (1.0, 2.0)
        assert edge["uses"] == 13
        assert edge["last_used_at"].to_native() == NOW

    async def test_a_missing_edge_is_made_with_the_increment(self, graph: Graph) -> None:
        await graph.write("ab")
        report = await graph.learner().strengthen_edge("b", "a")
        assert (report.edges, report.edges_created) == (0, 1)
        [(ends, edge)] = (await graph.edges()).items()
        assert (ends, edge["weight"], edge["uses"]) == ("ba", 0.1, 1)
        assert (edge["relation"], edge["origin"]) == ("related", "learned")
        await graph.learner().strengthen_edge("b", "a", increment=0.05)
        assert await graph.weights() == {"ba": 0.1 + 0.05}

    async def test_an_edge_of_another_relation_stays_and_one_is_made_beside_it(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.5})
        report = await graph.learner().strengthen_edge("a", "b")
        assert (report.edges, report.edges_created) == (0, 1)
        found = await graph.rows(
            "MATCH (:Memory {scope: $scope, id: 'a'})-[r:RELATES]->(:Memory {id: 'b'}) "
            "RETURN r.relation AS relation, r.weight AS weight ORDER BY relation"
        )
        assert found == [
            {"relation": "near", "weight": 0.5},
            {"relation": "related", "weight": 0.1},
        ]

    async def test_an_edge_without_a_relation_is_strengthened_and_never_made(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.5})
        way = trace(graph.scope, [("a", 1.0), ("b", 0.5)])
        paths = way.explorations[0].paths
        nameless = replace(paths[0], hops=(replace(paths[0].hops[0], relation=""),))
        way = replace(way, explorations=(replace(way.explorations[0], paths=(nameless,)),))
        report = await graph.learner().reinforce(way, ["b"], event_id="none there")
        assert (report.edges, report.edges_created) == (0, 0)
        await graph.rows("MATCH ({scope: $scope})-[r:RELATES]->() REMOVE r.relation RETURN 1")
        report = await graph.learner().reinforce(way, ["b"], event_id="one there")
        assert (report.edges, report.edges_created) == (1, 0)
        assert list((await graph.weights()).values()) == [0.6]

    async def test_an_end_that_does_not_exist_makes_nothing(self, graph: Graph) -> None:
        await graph.write("a")
        report = await graph.learner().strengthen_edge("a", "nobody")
        assert report.applied
        assert report.edges_created == 0

    async def test_what_is_no_weight_is_left_alone(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        for bad in ("'x'", "-1.0", "0.0/0.0"):
            await graph.rows(
                "MATCH (:Memory {scope: $scope})-[r:RELATES]->() "
                f"SET r.weight = {bad} RETURN count(*)"
            )
            report = await graph.learner().strengthen_edge("a", "b", relation="near")
            assert (report.edges, report.edges_created) == (0, 0)

    async def test_one_end_twice_and_bad_increments_are_refused(self, graph: Graph) -> None:
        with pytest.raises(InvalidInputError, match="same memory"):
            await graph.learner().strengthen_edge("a", "a")
        for increment in (0.0, -0.1, 1.5, float("nan")):
            with pytest.raises(InvalidInputError, match="increment"):
                await graph.learner().strengthen_edge("a", "b", increment=increment)

    async def test_a_hundred_concurrent_writers_give_exactly_the_sequential_result(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.1})
        learner = graph.learner()
        reports = await asyncio.gather(
            *(
                learner.strengthen_edge("a", "b", relation="near", increment=0.001)
                for _ in range(100)
            )
        )
        expected = 0.1
        for _ in range(100):
            expected += 0.001
        assert (await graph.weights())["ab"] == expected
        assert all(report.applied for report in reports)
        assert (await graph.edges())["ab"]["uses"] == 100

    async def test_a_hundred_writers_of_one_event_apply_it_once(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.1})
        learner = graph.learner()
        reports = await asyncio.gather(
            *(
                learner.strengthen_edge("a", "b", relation="near", event_id="one")
                for _ in range(100)
            )
        )
        assert (await graph.weights())["ab"] == 0.2
        assert sum(report.applied for report in reports) == 1

    async def test_learners_and_writers_of_the_same_memories_do_not_deadlock(
        self, graph: Graph
    ) -> None:
        edges = {a + b: 0.5 for a in "abcdef" for b in "abcdef" if a != b}
        await graph.write("abcdef", edges)
        learner = graph.learner()
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.2)], [("f", 1.0), ("d", 0.5)])
        await asyncio.gather(
            *(learner.reinforce(one, ["b", "c", "d"], event_id=f"e{n}") for n in range(20)),
            *(graph.write("fedcba", edges) for _ in range(10)),
        )
        # The writers gave the same weight: what was learned stays.
        assert (await graph.weights())["ab"] == 1.0
        assert (await graph.memory("b"))["use_count"] == 20


async def test_any_use_gives_what_the_formulas_give_and_stays_bounded(graph: Graph) -> None:
    await graph.write("abcd", {"ab": 0.3, "cd": 0.9})
    learner = graph.learner(co_activations=1)
    one = trace(graph.scope, [("a", 1.0), ("c", 0.5)], [("b", 0.2), ("d", 0.8)])
    await learner.co_activate(one)
    model = {"ab": 0.3, "cd": 0.9, "ac": 0.1, "bd": 0.1, "ad": 0.1, "bc": 0.1}
    assert await graph.weights() == model
    rng = random.Random(3)
    for _ in range(effort().uses):
        if rng.random() < 0.5:
            ends = rng.choice(["ab", "cd"])
            gain = rng.uniform(0.001, 0.3)
            await learner.strengthen_edge(*ends, relation="near", increment=gain)
            model[ends] = strengthened(model[ends], gain)
        else:
            a, b, c, d = (rng.random() for _ in range(4))
            # c and d are one hop away; the seeds a and b are no pair.
            one = trace(graph.scope, [("a", a), ("c", c)], [("b", b), ("d", d)])
            await learner.co_activate(one)
            for first, second in (("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")):
                energies = {"a": a, "b": b, "c": c, "d": d}
                ends = first + second
                model[ends] = oja(model[ends], energies[first], energies[second])
        weights = await graph.weights()
        assert weights == model
        assert all(0.0 <= weight <= 1.0 for weight in weights.values())


class TestOnce:
    async def test_the_same_event_twice_changes_nothing_and_says_so(self, graph: Graph) -> None:
        await graph.write("abc", {"ab": 0.5, "bc": 0.4})
        learner = graph.learner()
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.2)])
        first = await learner.reinforce(one, ["c"])
        state = await graph.state()
        again = await learner.reinforce(one, ["c"])
        assert first.applied
        assert not again.applied
        assert (again.event_id, again.edges, again.memories) == (first.event_id, 2, 1)
        assert await graph.state() == state

    async def test_a_retry_after_the_commit_applies_nothing_twice(
        self, graph: Graph, driver: neo4j.AsyncDriver
    ) -> None:
        await graph.write("abc", {"ab": 0.5})
        lossy = LossyStore(driver)
        learner = graph.learner(lossy, co_activations=2)
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5)], [("c", 0.5)])
        await learner.reinforce(one, ["b"])
        await learner.co_activate(one)
        await learner.suppress("a", "c", kind="conflicts")
        await learner.consolidate(NOW + DAY)
        assert lossy.lost == {
            "graph.advance_clock",
            "learn.reinforce",
            "learn.co_activate",
            "learn.suppress",
            "learn.consolidate",
        }
        memory = await graph.memory("b")
        assert (memory["use_count"], memory["use_times"]) == (1, [NOW.timestamp()])
        [pair] = await graph.rows(
            "MATCH (:Memory {scope: $scope})-[r:COACTIVATED]->() RETURN r.times AS times"
        )
        assert pair["times"] == [NOW.timestamp()]
        before = await graph.state()
        report = await graph.learner(LossyStore(driver)).undo(NOW)
        assert report.events == 4
        assert before != await graph.state()
        assert (await graph.weights()) == {"ab": 0.5}

    async def test_an_id_of_another_kind_of_event_is_refused(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", relation="near", event_id="mine")
        with pytest.raises(InvalidInputError, match="of kind strengthen"):
            await learner.suppress("a", "b", kind="conflicts", event_id="mine")
        assert (await graph.weights())["ab"] == 0.6

    async def test_two_scopes_may_use_the_same_id(self, graph: Graph, store: Store) -> None:
        other = Graph(store, f"{graph.scope}-2")
        for each in (graph, other):
            await each.write("ab", {"ab": 0.5})
            await each.learner().strengthen_edge("a", "b", relation="near", event_id="x")
            assert await each.weights() == {"ab": 0.6}


class TestSynapse:
    async def activations(self, graph: Graph) -> dict[str, Activation]:
        config = RetrieverConfig(strategy=Synapse(now=graph.now), include_outdated=True)
        retriever = GraphRetriever(graph.store.driver, scope=graph.scope)
        async with retriever.explore_seeds([Seed(id="a", score=1.0)], config=config) as stream:
            return {entry.id: entry async for each in stream for entry in each.activations}

    async def test_use_feedback_and_suppression_enter_its_score(self, graph: Graph) -> None:
        await graph.write("abc", {"ab": 0.5, "ac": 0.5})
        before = await self.activations(graph)
        assert before["b"].shares == pytest.approx(before["c"].shares)
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5)], [("a", 1.0), ("c", 0.5)])
        learner = graph.learner()
        await learner.reinforce(one, ["b"])
        await learner.feedback(one, confirmed=["b"], overridden=["c"])
        await learner.suppress("b", "c", kind="overrides")
        after = await self.activations(graph)
        assert after["b"].shares["base_level"] > before["b"].shares["base_level"]
        assert after["c"].shares["base_level"] == before["c"].shares["base_level"]
        assert after["b"].shares["feedback"] > before["b"].shares["feedback"]
        assert after["c"].shares["feedback"] < before["c"].shares["feedback"]
        lost = [each for each in after["c"].contributions if each.energy_out < 0]
        assert {(each.source, each.relation) for each in lost} == {("b", "overrides")}


class TestReinforce:
    async def test_edges_to_what_was_used_gain_and_its_use_is_counted(self, graph: Graph) -> None:
        await graph.write("abcd", {"ab": 0.5, "bc": 0.4, "bd": 0.3, "da": 0.2})
        one = trace(
            graph.scope,
            [("a", 1.0), ("b", 0.5), ("c", 0.2)],
            [("a", 1.0), ("b", 0.5), ("d", 0.2)],
        )
        report = await graph.learner().reinforce(one, ["c"])
        assert await graph.weights() == {"ab": 0.6, "bc": 0.5, "bd": 0.3, "da": 0.2}
        assert (report.edges, report.memories, report.applied) == (2, 1, True)
        used, other = await graph.memory("c"), await graph.memory("b")
        assert (used["use_count"], used["use_times"]) == (1, [NOW.timestamp()])
        assert used["active_hours"] == 0.0
        assert "use_count" not in other

    async def test_an_edge_walked_against_its_direction_is_the_stored_one(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ba": 0.5})
        one = trace(graph.scope, path([("a", 1.0), ("b", 0.5)], direction="in"))
        await graph.learner().reinforce(one, ["b"])
        assert await graph.weights() == {"ba": 0.6}

    async def test_an_edge_without_a_relation_is_found_again(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        await graph.rows("MATCH (:Memory {scope: $scope})-[r:RELATES]->() REMOVE r.relation")
        retriever = GraphRetriever(graph.store.driver, scope=graph.scope)
        async with retriever.explore_seeds([Seed(id="a", score=1.0)]) as found:
            explorations = [one async for one in found]
        one = trace(graph.scope, *explorations[0].paths)
        await graph.learner().reinforce(one, ["b"])
        assert await graph.weights() == {"ab": 0.6}

    async def test_the_latest_uses_are_kept_and_all_are_counted(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        learner = graph.learner()
        for _ in range(MAX_USE_TIMES + 3):
            graph.now += timedelta(hours=1)
            await learner.reinforce(trace(graph.scope, [("a", 1.0), ("b", 0.5)]), ["b"])
        memory = await graph.memory("b")
        assert memory["use_count"] == MAX_USE_TIMES + 3
        assert len(memory["use_times"]) == MAX_USE_TIMES
        assert memory["use_times"][-1] == graph.now.timestamp()
        assert memory["active_hours"] == MAX_USE_TIMES + 2

    async def test_a_real_recall_teaches(self, graph: Graph) -> None:
        await graph.write("xyz", {"xy": 0.9, "yz": 0.9})
        found = await GraphRetriever(graph.store.driver, scope=graph.scope).recall("x")
        report = await graph.learner().reinforce(found.trace, ["z"])
        assert report.edges == 2
        assert await graph.weights() == {"xy": 1.0, "yz": 1.0}

    async def test_a_trace_of_another_scope_is_refused(self, graph: Graph) -> None:
        one = trace("another", [("a", 1.0), ("b", 0.5)])
        learner = graph.learner()
        for call in (
            learner.reinforce(one, ["b"]),
            learner.feedback(one),
            learner.co_activate(one),
        ):
            with pytest.raises(ScopeError, match="another scope"):
                await call
        with pytest.raises(InvalidInputError, match="must be a Trace"):
            await learner.reinforce({}, [])  # type: ignore[arg-type]

    async def test_a_weight_written_anew_starts_from_there_the_same_keeps_what_was_learned(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.5})
        await graph.learner().strengthen_edge("a", "b", relation="near")
        await graph.write("ab", {"ab": 0.5})
        assert await graph.weights() == {"ab": 0.6}
        await graph.write("ab", {"ab": 0.7})
        edge = (await graph.edges())["ab"]
        assert edge["weight"] == 0.7
        assert "base_weight" not in edge


async def test_feedback_counts_on_the_memories_and_changes_no_weight(graph: Graph) -> None:
    await graph.write("abc", {"ab": 0.5})
    learner = graph.learner()
    for n in range(3):
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5)], hits=["c"])
        report = await learner.feedback(one, confirmed=["b", "c"], overridden=["a"])
        assert report.memories == 3, n
    counts = {
        id_: (m.get("confirmed"), m.get("overridden"), m.get("use_count"))
        for id_ in "abc"
        for m in [await graph.memory(id_)]
    }
    assert counts == {"a": (None, 3, None), "b": (3, None, None), "c": (3, None, None)}
    assert await graph.weights() == {"ab": 0.5}
    with pytest.raises(InvalidInputError, match="both confirmed and overridden"):
        await learner.feedback(one, confirmed=["b"], overridden=["b"])


class TestQuestions:
    """What was asked stays with what proved right or wrong, and moves it for questions like it."""

    @staticmethod
    def asked(graph: Graph, question: str) -> Trace:
        return replace(trace(graph.scope, [("a", 1.0), ("b", 0.5)]), query=question)

    async def test_a_memory_keeps_the_latest_questions_and_the_last_word_on_each(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.5})
        learner = graph.learner()
        for number in range(MAX_QUESTIONS + 2):
            await learner.reinforce(self.asked(graph, f"question {number}"), ["b"])
        long = self.asked(graph, "x" * (MAX_QUESTION_CHARS + 1))
        await learner.reinforce(long, ["b"])
        await learner.feedback(long, confirmed=["b"])
        memory = await graph.memory("b")
        kept = [f"question {number}" for number in range(3, MAX_QUESTIONS + 2)]
        assert memory["right_for"] == [*kept, "x" * MAX_QUESTION_CHARS]
        assert "wrong_for" not in memory
        await learner.feedback(self.asked(graph, kept[-1]), overridden=["b"])
        memory = await graph.memory("b")
        assert memory["right_for"] == [*kept[:-1], "x" * MAX_QUESTION_CHARS]
        assert memory["wrong_for"] == kept[-1:]
        assert "right_for" not in await graph.memory("a")

    async def test_what_stands_in_place_of_the_questions_is_written_over(
        self, graph: Graph
    ) -> None:
        await graph.write("ab", {"ab": 0.5})
        await graph.rows("MATCH (m:Memory {scope: $scope}) SET m.right_for = 7, m.wrong_for = [1]")
        await graph.learner().reinforce(self.asked(graph, "Why?"), ["b"])
        memory = await graph.memory("b")
        assert memory["right_for"] == ["Why?"]
        assert "wrong_for" not in memory

    async def test_what_was_taught_ranks_higher_for_a_like_question_until_it_is_undone(
        self, graph: Graph
    ) -> None:
        writer = GraphWriter(graph.store, scope=graph.scope)
        texts = {"a": "the pump stopped", "b": "the pump in the cellar", "c": "the pump ran dry"}
        await writer.write([Memory(id=i, kind="Event", text=text) for i, text in texts.items()])
        retriever = GraphRetriever(graph.store, scope=graph.scope)
        untouched = replace(retriever.config, history=None)

        async def ranked(question: str, config: RetrieverConfig | None = None) -> Any:
            return (await retriever.recall(question, config=config)).ranked

        question, like_it = "When did the pump stop?", "When does the pump stop again?"
        before = await ranked(like_it)
        assert repr(before) == repr(await ranked(like_it, untouched)), "no history, no difference"
        assert before[0].memory.id == "a"
        last = before[-1].memory.id
        learner = graph.learner()
        recall = await retriever.recall(question)
        await learner.feedback(recall.trace, confirmed=[last], overridden=["a"])
        after = await ranked(like_it)
        assert after[0].memory.id == last
        taught = {one.memory.id: one.shares["question_feedback"] for one in after}
        assert taught["a"] == -taught[last] < 0
        assert [one.memory.id for one in await ranked(like_it, untouched)] == [
            one.memory.id for one in before
        ]
        await learner.undo(NOW)
        assert repr(await ranked(like_it)) == repr(before)


class TestCoActivate:
    @staticmethod
    def recalled(graph: Graph) -> Any:
        """A seed, a memory beyond one that joins them, and another seed."""
        return trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.25)], [("s", 0.9)])

    async def times(self, graph: Graph) -> dict[str, list[float]]:
        found = await graph.rows(
            "MATCH (a:Memory {scope: $scope})-[r:COACTIVATED]->(b) "
            "RETURN a.id + b.id AS ends, r.times AS times"
        )
        return {row["ends"]: row["times"] for row in found}

    async def test_three_within_seven_days_make_an_edge_then_ojas_rule_changes_it(
        self, graph: Graph
    ) -> None:
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        for day in range(2):
            report = await learner.co_activate(self.recalled(graph))
            assert (report.pairs, report.edges_created) == (3, 0), day
            graph.now += DAY
        # a-b and b-c have an edge, a-s are both seeds; left are a-c, b-s and c-s.
        assert set(await self.times(graph)) == {"ac", "bs", "cs"}
        report = await learner.co_activate(self.recalled(graph))
        assert (report.pairs, report.edges_created) == (3, 3)
        edges = await graph.edges()
        assert edges["ac"]["relation"] == CO_ACTIVATED
        assert edges["ac"]["weight"] == 0.1
        report = await learner.co_activate(self.recalled(graph))
        assert (report.pairs, report.edges) == (0, 3)
        weights = await graph.weights()
        assert weights["ac"] == oja(0.1, 1.0, 0.25)
        assert weights["bs"] == oja(0.1, 0.9, 0.5)
        assert (weights["ab"], weights["bc"]) == (0.5, 0.5)

    async def test_two_and_one_after_the_window_make_none(self, graph: Graph) -> None:
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        for step in (0, 1, 7):  # the third comes seven days after the second
            graph.now += step * DAY
            report = await learner.co_activate(self.recalled(graph))
            assert report.edges_created == 0
        assert len((await self.times(graph))["ac"]) == 1

    async def test_pending_pairs_never_count_as_edges(self, graph: Graph) -> None:
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        await graph.learner().co_activate(self.recalled(graph))
        retriever = GraphRetriever(graph.store.driver, scope=graph.scope)
        async with retriever.explore_seeds([Seed(id="a", score=1.0)]) as found:
            (one,) = [each async for each in found]
        assert {path.ids for path in one.paths} == {("a", "b", "c")}
        assert one.paths[0].hops[0].degree == 1

    async def test_one_recall_counts_once(self, graph: Graph) -> None:
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        one = self.recalled(graph)
        for _ in range(5):
            await graph.learner().co_activate(one)
        assert len((await self.times(graph))["ac"]) == 1

    async def test_concurrent_recalls_count_each(self, graph: Graph) -> None:
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        await asyncio.gather(*(learner.co_activate(self.recalled(graph)) for _ in range(13)))
        expected = 0.1
        for _ in range(10):  # three make the edge
            expected = oja(expected, 1.0, 0.25)
        assert (await graph.weights())["ac"] == expected


class TestSuppress:
    async def suppressions(self, graph: Graph) -> list[tuple[str, str, str]]:
        rows = await graph.rows(
            "MATCH (a:Memory {scope: $scope})-[r:SUPPRESSES]->(b) "
            "RETURN a.id AS a, r.kind AS kind, b.id AS b ORDER BY a, kind, b"
        )
        return [(row["a"], row["kind"], row["b"]) for row in rows]

    async def test_each_kind_is_written_once_and_a_conflict_has_no_direction(
        self, graph: Graph
    ) -> None:
        await graph.write("ab")
        learner = graph.learner()
        for kind in get_args(SuppressionKind):
            first = await learner.suppress("a", "b", kind=kind)
            again = await learner.suppress("a", "b", kind=kind)
            assert (first.suppressions, again.suppressions) == (1, 0)
        await learner.suppress("b", "a", kind="conflicts")
        await learner.suppress("b", "a", kind="overrides")
        assert await self.suppressions(graph) == [
            ("a", "conflicts", "b"),
            ("a", "deprecated-to", "b"),
            ("a", "merged-into", "b"),
            ("a", "overrides", "b"),
            ("b", "overrides", "a"),
        ]
        assert await graph.edges() == {}

    async def test_wrong_kinds_and_one_end_twice_are_refused(self, graph: Graph) -> None:
        with pytest.raises(InvalidInputError, match="kind must be one of"):
            await graph.learner().suppress("a", "b", kind="hates")  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="same memory"):
            await graph.learner().suppress("a", "a", kind="conflicts")

    async def test_the_more_specific_overrides_and_the_unscoped_takes_no_part(
        self, graph: Graph
    ) -> None:
        await graph.write(
            "abcu",
            a={"language": "go", "task": "test"},
            b={"language": "go"},
            c={"language": "python"},
        )
        report = await graph.learner().override()
        assert report.suppressions == 1
        assert await self.suppressions(graph) == [("a", "overrides", "b")]
        assert (await graph.learner().override()).suppressions == 0

    async def test_conditions_that_another_writer_nested_too_deep_are_none(
        self, graph: Graph
    ) -> None:
        await graph.write("abc", a={"x": 1, "y": 1}, b={"x": 1})
        await graph.store.driver.execute_query(
            "MATCH (m:Memory {scope: $scope, id: 'c'}) SET m.`when` = $deep",
            scope=graph.scope,
            deep='{"a":' * 100_000,
        )
        assert (await graph.learner().override()).suppressions == 1
        assert await self.suppressions(graph) == [("a", "overrides", "b")]

    async def test_new_memories_are_compared_with_all(self, graph: Graph) -> None:
        await graph.write("abc", a={"x": 1, "y": 1}, b={"x": 1}, c={"x": 1, "y": 1, "z": 1})
        assert (await graph.learner().override(["b"])).suppressions == 2
        assert await self.suppressions(graph) == [
            ("a", "overrides", "b"),
            ("c", "overrides", "b"),
        ]


class TestConsolidate:
    async def test_what_was_learned_fades_and_what_was_given_stays(self, graph: Graph) -> None:
        await graph.write("abc", {"ab": 0.5, "bc": 0.4})
        await graph.learner().strengthen_edge("a", "b", relation="near", increment=0.4)
        report = await graph.learner().consolidate(NOW + 4 * DAY)
        weights = await graph.weights()
        assert 0.5 < weights["ab"] < 0.7
        assert weights["bc"] == 0.4
        assert (report.edges, report.decayed, report.promoted, report.pruned) == (1, 1, 0, 0)
        [change] = report.changes
        assert (change.source, change.target, change.relation) == ("a", "b", "near")
        assert (change.before, change.after) == (0.9, weights["ab"])
        again = await graph.learner().consolidate(NOW + 4 * DAY)
        assert again.changes == ()
        assert await graph.weights() == weights

    async def test_many_steps_are_as_one(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        await graph.learner().strengthen_edge("a", "b", relation="near", increment=0.4)
        for day in range(1, 5):
            await graph.learner().consolidate(NOW + day * DAY)
        nightly = (await graph.weights())["ab"]
        assert nightly == pytest.approx(0.5 + 0.4 * 2.718281828 ** (-0.96), abs=1e-6)

    async def test_a_dry_run_says_the_same_and_writes_nothing(self, graph: Graph) -> None:
        await graph.write("abcd", {"ab": 0.5})
        learner = graph.learner()
        for _ in range(5):
            await learner.strengthen_edge("a", "b", relation="near")
        await learner.strengthen_edge("c", "d")
        before = await graph.state()
        later = NOW + 30 * DAY
        dry = await learner.consolidate(later, dry_run=True)
        assert await graph.state() == before
        real = await learner.consolidate(later)
        assert dry.dry_run
        assert not real.dry_run
        assert dry.changes == real.changes
        assert (real.promoted, real.pruned) == (1, 1)
        assert "cd" not in await graph.edges()
        assert [change.after for change in real.changes if change.source == "c"] == [None]

    async def test_five_uses_make_it_permanent(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.3})
        learner = graph.learner()
        for _ in range(5):
            await learner.strengthen_edge("a", "b", relation="near")
        await learner.consolidate(NOW)
        promoted = (await graph.edges())["ab"]
        assert promoted["base_weight"] == promoted["weight"] == (await graph.weights())["ab"]
        await learner.consolidate(NOW + 300 * DAY)
        assert (await graph.weights())["ab"] == promoted["weight"]

    async def test_pending_pairs_too_old_to_count_are_forgotten(self, graph: Graph) -> None:
        await graph.write("abc", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        await learner.co_activate(trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.2)]))
        assert (await learner.consolidate(NOW + 6 * DAY)).pairs_forgotten == 0
        assert (await learner.consolidate(NOW + 8 * DAY)).pairs_forgotten == 1
        assert (await learner.consolidate(NOW + 8 * DAY)).pairs_forgotten == 0

    async def test_beside_users_nothing_is_lost(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.1})
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", relation="near", increment=0.001)
        graph.now += DAY
        _, *_ = await asyncio.gather(
            learner.consolidate(),
            *(
                learner.strengthen_edge("a", "b", relation="near", increment=0.001)
                for _ in range(50)
            ),
        )
        assert (await graph.edges())["ab"]["uses"] == 51
        assert (await graph.weights())["ab"] > 0.15


class TestLog:
    async def test_old_events_leave_the_log_and_undo_says_how_far_it_reaches(
        self, graph: Graph
    ) -> None:
        await graph.write("abcs", {"ab": 0.5})
        learner = graph.learner(log_days=30, decay_per_hour=0.0)
        assert consolidation.TRIM_BATCH < 3 * 80
        for day, number in enumerate((80, 80, 80, 1, 1)):
            graph.now = NOW + day * DAY
            await asyncio.gather(
                *(
                    learner.strengthen_edge("a", "b", relation="near", increment=0.001)
                    for _ in range(number)
                )
            )
        await learner.co_activate(trace(graph.scope, [("a", 1.0), ("c", 0.5)], [("s", 0.4)]))
        graph.now = NOW + 33 * DAY
        assert (await learner.consolidate(dry_run=True)).events_trimmed == 240
        assert (await learner.undo(graph.now)).log_since is None
        weights = await graph.weights()
        report = await learner.consolidate()
        assert (report.events_trimmed, report.pairs_forgotten) == (240, 2)
        assert (await learner.consolidate()).events_trimmed == 0
        [row] = await graph.rows(
            "MATCH (:MemoriaMeta {scope: $scope})-[:LOGGED]->(e) "
            "RETURN min(e.sequence) AS first, count(*) AS events"
        )
        assert row == {"first": 241, "events": 4}
        assert await graph.weights() == weights
        undone = await learner.undo(NOW)
        assert (undone.events, undone.kept, undone.log_since) == (4, 0, NOW + 3 * DAY)
        assert await graph.weights() == {"ab": pytest.approx(0.74)}

    async def test_nothing_is_left_of_what_was_trimmed(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", relation="near", event_id="e")
        key = events.event_key(graph.scope, "e")
        count = f"MATCH (e:MemoriaMeta {{key: '{key}'}})-[:CHANGED]->(c) RETURN count(*) AS n"
        assert await graph.rows(count) == [{"n": 1}]
        await learner.consolidate(NOW + 91 * DAY)
        orphans = "MATCH (c:LearningChange) WHERE NOT ()-[:CHANGED]->(c) RETURN count(*) AS n"
        assert await graph.rows(orphans) == [{"n": 0}]
        assert await graph.rows(count) == [{"n": 0}]


class TestUndo:
    async def everything(self, graph: Graph, learner: Learner) -> None:
        """One of each kind of event."""
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.25)], [("s", 0.9)])
        await learner.reinforce(one, ["b", "c"])
        await learner.feedback(one, confirmed=["b"], overridden=["c"])
        await learner.strengthen_edge("c", "a", increment=0.03)
        await learner.suppress("a", "b", kind="conflicts")
        for n in range(4):
            await learner.co_activate(one, event_id=f"{one.id}-{n}")
        await learner.override()

    async def test_afterwards_everything_is_what_it_was(self, graph: Graph) -> None:
        await graph.write("abcs", {"ab": 0.55, "bc": 0.3}, a={"x": 1, "y": 1}, b={"x": 1})
        await graph.rows("MATCH (:Memory {scope: $scope, id: 'b'})-[r:RELATES]->() REMOVE r.weight")
        learner = graph.learner()
        states = [await graph.state()]
        times = []
        for _ in range(3):
            graph.now += DAY
            times.append(graph.now)
            await self.everything(graph, learner)
            states.append(await graph.state())
        graph.now += 3 * DAY
        times.append(graph.now)
        report = await learner.consolidate()
        assert report.pruned + report.decayed + report.promoted > 0
        for since, state in zip(reversed(times), reversed(states), strict=True):
            undone = await learner.undo(since)
            assert undone.events > 0
            assert undone.kept == 0
            assert await graph.state() == state

    async def test_a_pruned_edge_comes_back_whole(self, graph: Graph) -> None:
        await graph.write("ab")
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", increment=0.02)
        before = await graph.state()
        assert (await learner.consolidate(NOW + 9 * DAY)).pruned == 1
        assert await graph.edges() == {}
        await learner.undo(NOW + DAY)
        assert await graph.state() == before

    async def test_pending_pairs_are_exactly_what_they_were(self, graph: Graph) -> None:
        """Those that a consolidation forgot, and those that dropped what was too old to count."""
        await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.25)], [("s", 0.9)])
        other = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.25)])
        states, times = [], []
        for days, event in ((0, one), (1, other), (7, other), (1, None), (9, None)):
            states.append(await graph.state())
            graph.now += days * DAY + timedelta(minutes=1)
            times.append(graph.now)
            if event is None:
                await learner.consolidate()
            else:
                await learner.co_activate(event, event_id=str(graph.now))
        assert [len(state[2]) for state in states] == [0, 3, 3, 3, 1]
        for since, state in zip(reversed(times), reversed(states), strict=True):
            report = await learner.undo(since)
            assert report.kept == 0
            assert await graph.state() == state

    async def test_what_was_written_since_stays_and_is_counted(self, graph: Graph) -> None:
        await graph.write("abc", {"ab": 0.5, "bc": 0.5})
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", relation="near")
        await learner.strengthen_edge("b", "c", relation="near")
        await graph.write("ab", {"ab": 0.3})
        await learner.strengthen_edge("a", "b", relation="near")
        report = await learner.undo(NOW)
        assert (report.events, report.restored, report.kept) == (3, 2, 1)
        assert await graph.weights() == {"ab": 0.3, "bc": 0.5}

    async def test_what_is_no_time_is_refused(self, graph: Graph) -> None:
        with pytest.raises(InvalidInputError, match="must be a datetime"):
            await graph.learner().undo("yesterday")  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="must be a datetime"):
            await graph.learner().consolidate("now")  # type: ignore[arg-type]

    async def test_it_is_done_once_and_the_log_stays(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.5})
        learner = graph.learner()
        await learner.strengthen_edge("a", "b", relation="near", event_id="e")
        first, second = await asyncio.gather(learner.undo(NOW), learner.undo(NOW))
        assert first.events + second.events == 1
        assert await graph.weights() == {"ab": 0.5}
        again = await learner.strengthen_edge("a", "b", relation="near", event_id="e")
        assert not again.applied
        [row] = await graph.rows(
            "MATCH (e:LearningEvent {scope: $scope}) RETURN e.kind AS kind, e.sequence AS n"
        )
        assert row == {"kind": "strengthen", "n": 1}

    async def test_events_before_and_other_scopes_stay(self, graph: Graph, store: Store) -> None:
        other = Graph(store, f"{graph.scope}-2")
        for each in (graph, other):
            await each.write("ab", {"ab": 0.5})
            await each.learner().strengthen_edge("a", "b", relation="near")
        graph.now += DAY
        await graph.learner().strengthen_edge("a", "b", relation="near")
        report = await graph.learner().undo(NOW + timedelta(seconds=1))
        assert report.events == 1
        assert await graph.weights() == {"ab": 0.6}
        assert await other.weights() == {"ab": 0.6}

    async def test_of_concurrent_events_the_sum_is_taken_back(self, graph: Graph) -> None:
        await graph.write("ab", {"ab": 0.1})
        learner = graph.learner()
        await asyncio.gather(
            *(
                learner.strengthen_edge("a", "b", relation="near", increment=0.001)
                for _ in range(40)
            )
        )
        assert (await learner.undo(NOW)).events == 40
        assert (await graph.edges())["ab"]["weight"] == 0.1


async def test_the_log_shows_what_was_learned_and_what_was_undone(graph: Graph) -> None:
    await graph.write("abc", {"ab": 0.5})
    learner = graph.learner(decay_per_hour=0.0)
    assert await learner.log() == ()
    one = trace(graph.scope, [("a", 1.0), ("b", 0.5)])
    await learner.reinforce(one, ["b"], event_id="used")
    graph.now += DAY
    await learner.strengthen_edge("b", "c", relation="near", increment=0.2, event_id="near")
    await learner.suppress("a", "c", kind="overrides", event_id="newer")
    await learner.undo(graph.now)
    newer, near, used = await learner.log()
    assert [(each.id, each.kind, each.at, each.undone_at) for each in (newer, near, used)] == [
        ("newer", "suppress", graph.now, graph.now),
        ("near", "strengthen", graph.now, graph.now),
        ("used", "reinforce", NOW, None),
    ]
    suppressed = LoggedChange(kind="suppression", source="a", target="c", relation="overrides")
    assert newer.changes == (suppressed,)
    created = LoggedChange(kind="created", source="b", target="c", relation="near", after=0.2)
    assert near.changes == (created,)
    edge, memory = used.changes
    assert (edge.kind, edge.source, edge.target, edge.before) == ("changed", "a", "b", 0.5)
    assert edge.after == strengthened(0.5, 0.1)
    assert memory == LoggedChange(kind="memory", source="b")
    assert await learner.log(limit=1) == (newer,)
    with pytest.raises(InvalidInputError, match="limit"):
        await learner.log(limit=0)


async def test_the_log_shows_some_changes_of_an_event_and_counts_all(graph: Graph) -> None:
    ids = [f"m{n:03}" for n in range(MAX_CHANGES + 2)]
    await GraphWriter(graph.store, scope=graph.scope).write(
        [Memory(id=id_, kind="Event", text=id_) for id_ in ids]
    )
    learner = graph.learner()
    await learner.feedback(trace(graph.scope, [(id_, 0.5) for id_ in ids]), confirmed=ids)
    [event] = await learner.log()
    assert event.total == len(ids)
    assert [change.source for change in event.changes] == ids[:MAX_CHANGES]


async def test_forgetting_a_memory_leaves_a_log_that_can_be_undone(graph: Graph) -> None:
    await graph.write("abc", {"ab": 0.5, "bc": 0.5})
    learner = graph.learner()
    one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.2)])
    await learner.reinforce(one, ["c"])
    await learner.co_activate(one)
    await GraphWriter(graph.store, scope=graph.scope).forget(["c"])
    report = await learner.undo(NOW)
    assert report.events == 2
    assert await graph.weights() == {"ab": 0.5}


async def test_undo_leaves_a_memory_alone_that_was_forgotten_and_written_anew(
    graph: Graph,
) -> None:
    """Found by ``scripts/faults --only programs``: it got the counts of the forgotten one."""
    await graph.write("ab")
    learner = graph.learner()
    one = trace(graph.scope, [("a", 1.0), ("b", 0.5)])
    await learner.feedback(one, confirmed=["a", "b"], event_id="one")
    graph.now += DAY
    await learner.feedback(one, confirmed=["a", "b"], event_id="two")
    await GraphWriter(graph.store, scope=graph.scope).forget(["a"])
    await graph.write("a")
    report = await learner.undo(NOW + DAY)
    assert (report.events, report.restored, report.kept) == (1, 1, 1)
    new, old = await graph.memory("a"), await graph.memory("b")
    assert not {"confirmed", "right_for"} & new.keys()
    assert old["confirmed"] == 1


def names(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    return {str(row["name"]) for row in rows}


async def test_nothing_of_learning_is_a_relates_edge_or_a_memory(graph: Graph) -> None:
    await graph.write("abcs", {"ab": 0.5, "bc": 0.5})
    learner = graph.learner()
    one = trace(graph.scope, [("a", 1.0), ("b", 0.5), ("c", 0.25)], [("s", 0.9)])
    await learner.co_activate(one)
    await learner.suppress("a", "c", kind="conflicts")
    rows = await graph.rows(
        "MATCH (:MemoriaMeta {scope: $scope})-[:LOGGED]->(e)-[:CHANGED]->(c) "
        "UNWIND labels(c) AS name RETURN DISTINCT name"
    )
    assert names(rows) == {"LearningChange"}
    assert len(await graph.edges()) == 2
