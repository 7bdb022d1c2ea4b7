"""Whole programs of calls, made by a state machine, against a model in plain Python.

In: a server. Out: rows of the table. Each program writes to a scope of its own.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import uuid4

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from benchmarks.faults.model import Edge, Key, Model
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import embedder
from memoria import GraphRetriever, Learner, Memory, Recall, Relation, apply_schema
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import parse

# Programs of one try: hypothesis chooses them together, and shrinks the one that fails.
PROGRAMS, _QUICK_PROGRAMS, STEPS = 5, 2, 15
# Tries that are under way together: most of their time they wait for the server.
_AT_ONCE = 3
_TRY_S = 400.0
_CALL_S = 30.0
_START = datetime(2026, 1, 1, tzinfo=UTC)
_STATE = parse(
    """// name: faults.state
// mode: read
// params: scope
// returns: texts, edges
CALL () {
  MATCH (m:Memory {scope: $p.scope})
  RETURN collect([m.id, m.text, coalesce(m.confirmed, 0), coalesce(m.overridden, 0)]) AS texts
}
CALL () {
  MATCH (a:Memory {scope: $p.scope})-[r:RELATES]->(b)
  RETURN collect([a.id, b.id, r.relation, r.weight, coalesce(r.uses, 0), r.origin]) AS edges
}
RETURN texts, edges
""",
    "faults.state",
)
_TEXTS = (
    "The oven burnt forty buns.",
    "A delivery of flour came late.",
    "Marta checks the invoices.",
    "Rain flooded the cellar.",
    "The bicycle has a flat tyre.",
)
_ids = st.sampled_from(("a", "b", "c", "d", "e"))
_texts = st.sampled_from(_TEXTS)
_relations = st.sampled_from(("leads_to", "about"))
_weights = st.sampled_from((0.25, 0.5, 1.0))
_gains = st.sampled_from((0.125, 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The loop in which memoria works, a retriever, whether the programs are to end, and counts.

    A try has ``count`` programs, and ``ran`` an entry for each that has come to its end.
    """

    count: int
    memory: GraphRetriever
    loop: asyncio.AbstractEventLoop
    ended: threading.Event
    ran: list[str]

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine for the thread of the state machine."""
        if self.ended.is_set():
            work.close()
            raise KeyboardInterrupt  # hypothesis takes every other error for a failed program
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_CALL_S)


class Program(RuleBasedStateMachine):
    """One program: every rule is a call, after which database and model must be the same."""

    programs: ClassVar[Programs]

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.memory = self.programs.memory.for_scope(f"program-{uuid4().hex}")
        self.recalled: Recall | None = None
        self.now = 0

    @rule(id_=_ids, text=_texts)
    def write(self, id_: str, text: str) -> None:
        """Write a memory, or write it again."""
        report = self._do(self.memory.writer().write([Memory(id=id_, kind="Event", text=text)]))
        assert report.memories_created == int(id_ not in self.model.texts)
        self.model.write(id_, text)

    @rule(first=_ids, second=_ids, relation=_relations, weight=_weights)
    def relate(self, first: str, second: str, relation: str, weight: float) -> None:
        """Write an edge between two memories that are there."""
        if first == second or not {first, second} <= set(self.model.texts):
            return
        edge = Relation(source=first, target=second, relation=relation, weight=weight)
        report = self._do(self.memory.writer().write([], [edge]))
        key = (first, second, relation)
        assert report.relations_created == int(key not in self.model.edges)
        self.model.relate(key, weight)

    @rule(text=_texts)
    def remember(self, text: str) -> None:
        """Remember a text: once, whoever has written it."""
        done = self._do(self.memory.writer().remember(text))
        known = [id_ for id_, each in self.model.texts.items() if each.text == text]
        assert done.created == (not known)
        assert done.created or done.id in known
        if done.created:
            self.model.write(done.id, text)

    @rule(first=_ids, second=_ids, relation=_relations, gain=_gains, twice=st.booleans())
    def strengthen(self, first: str, second: str, relation: str, gain: float, twice: bool) -> None:
        """Strengthen an edge; the same event sent twice counts once."""
        if first == second:
            return
        event = uuid4().hex
        for _ in range(1 + twice):
            self._do(
                self._learner().strengthen_edge(
                    first, second, relation=relation, increment=gain, event_id=event
                )
            )
        self.model.strengthen((first, second, relation), gain, self.now)

    @rule(text=_texts)
    def recall(self, text: str) -> None:
        """Recall: all of it is there, and so is the memory that says just this."""
        found = self._do(self.memory.recall(text, deadline_s=20))
        assert not found.trace.degraded
        for entry in found.ranked:
            assert self.model.texts[entry.id].text == entry.memory.text
        same = {id_ for id_, each in self.model.texts.items() if each.text == text}
        assert same <= {entry.id for entry in found.ranked}
        self.recalled = found

    @rule(right=st.booleans())
    def feedback(self, right: bool) -> None:
        """Say of the last recall that its best memory was right, or wrong."""
        if self.recalled is None or not self.recalled.ranked:
            return
        ids = [self.recalled.ranked[0].id]
        said = {"confirmed": ids} if right else {"overridden": ids}
        trace = self.recalled.trace
        self._do(self._learner().feedback(trace, event_id=uuid4().hex, **said))
        self.model.count(ids if right else [], [] if right else ids, self.now)

    @rule()
    def link(self) -> None:
        """Link what is near: the edges are the database's choice, but they are edges."""
        self._do(self.memory.linker().link())
        for source, target, relation, weight, uses, origin in self._state()["edges"]:
            key = (source, target, relation)
            if origin == "similarity" and self.model.edges.get(key) != Edge(weight, uses):
                assert source != target
                assert 0 < weight <= 1
                self.model.edges[key] = Edge(weight, uses)

    @rule(id_=_ids)
    def forget(self, id_: str) -> None:
        """Forget a memory."""
        report = self._do(self.memory.writer().forget([id_]))
        assert report.deleted == int(id_ in self.model.texts)
        self.model.forget(id_)

    @rule(first=_ids, second=_ids)
    def delete_edges(self, first: str, second: str) -> None:
        """Delete the edges from one memory to another."""
        keys = [key for key in self.model.edges if key[:2] == (first, second)]
        assert self._do(self.memory.writer().delete_edge(first, second)) == len(keys)
        for key in keys:
            del self.model.edges[key]

    @rule(back=st.integers(1, 6))
    def undo(self, back: int) -> None:
        """Take back what was learned in the last few steps."""
        since = self.now - back
        self._do(self._learner().undo(_START + timedelta(minutes=since)))
        self.model.undo(since)

    @invariant()
    def same(self) -> None:
        """Compare database and model."""
        state = self._state()
        texts = {id_: tuple(rest) for id_, *rest in state["texts"]}
        assert texts == {
            id_: (each.text, each.confirmed, each.overridden)
            for id_, each in self.model.texts.items()
        }
        edges: dict[Key, tuple[float, int]] = {
            (source, target, relation): (weight, uses)
            for source, target, relation, weight, uses, _ in state["edges"]
        }
        assert len(edges) == len(state["edges"]), "two edges of one relation"
        assert edges == {key: (each.weight, each.uses) for key, each in self.model.edges.items()}
        self.now += 1

    def teardown(self) -> None:
        """Delete the scope."""
        self._do(self.memory.writer().forget_scope(confirm=self.memory.scope))
        self.programs.ran.append(self.memory.scope)

    def _state(self) -> Any:
        parameters = {"scope": self.memory.scope}
        return self._do(self.memory.store.run(_STATE, parameters))[0]

    def _learner(self) -> Learner:
        now = _START + timedelta(minutes=self.now)
        return Learner(self.memory.store, scope=self.memory.scope, clock=lambda: now)

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.programs.do(work)


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Programs]:
    """Open a retriever for all programs."""
    config = StoreConfig(query_timeout_s=20)
    async with open_driver(setting.target, config) as driver:
        store = Store(driver, config=config)
        await apply_schema(store, embedder=embedder())  # a program may begin with a link
        memory = GraphRetriever(store, scope="programs", embedder=embedder())
        loop = asyncio.get_running_loop()
        count = _QUICK_PROGRAMS if setting.quick else PROGRAMS
        ended = threading.Event()
        yield Programs(count=count, memory=memory, loop=loop, ended=ended, ran=[])


async def _programs(programs: Programs, rng: random.Random, _: int) -> str | None:
    """Run some programs; a failure is shrunk, and shown as a program."""
    ended, ran = threading.Event(), list[str]()
    here = replace(programs, ended=ended, ran=ran)
    machine = type("SeededProgram", (Program,), {"programs": here})
    seeded = seed(rng.randrange(2**32))(machine)
    chosen = settings(
        max_examples=programs.count,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        report_multiple_bugs=False,  # one failure is shown whole, several are only counted
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        await asyncio.to_thread(run_state_machine_as_test, seeded, settings=chosen)
    except Exception as exc:  # noqa: BLE001 - also the failed assertion of a program
        notes = "\n".join(getattr(exc, "__notes__", ()))
        return f"{type(exc).__name__}: {exc}\n{notes}"
    finally:
        ended.set()  # the thread outlives a try that took too long
    return None if len(ran) >= programs.count else f"only {len(ran)} programs ran"


FAMILY = Family(
    name="programs",
    opened=opened,
    rows=(
        Row(
            key="programs",
            fault=f"{PROGRAMS} random programs ({_QUICK_PROGRAMS} in a quick run) of up to {STEPS} "
            "calls: write, relate, remember, strengthen, feedback, link, forget, delete, undo, "
            "recall",
            expected="after every call, the database contains the same as a model in plain Python",
            quick=1,
            full=500,
            attempt=_programs,
            at_once=_AT_ONCE,
            try_s=_TRY_S,
        ),
    ),
)
