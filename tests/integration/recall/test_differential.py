"""The engine against the oracle on hundreds of generated graphs: equal to the last bit.

With ``--thorough`` they are thousands.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal
from uuid import uuid4

import neo4j
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.graph.server_facts import probe
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from tests.effort import effort, on_a_server
from tests.generated import SCOPE, Question, questions, random_question
from tests.oracle.agreement import (
    assert_agreement,
    explore_with_engine,
    gather_limited,
    remove,
    write,
)
from tests.oracle.transfer import explore, with_transfer

GRAPHS = effort().graphs
FEWER_GRAPHS = effort().graphs_in_other_sessions
AT_ONCE = 4
ALL_SEEDS = 5

Transactions = Literal["auto", "managed"]
RoundTrips = Literal["level", "single"]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The generated questions, and what the scopes of each start with; index: the seed."""

    prefixes: Sequence[str]
    questions: Sequence[Question]


@pytest.fixture(scope="module")
async def prefix(driver: neo4j.AsyncDriver) -> AsyncIterator[str]:
    """What all scopes of this module start with."""
    name = f"differential-{uuid4().hex}-"
    yield name
    await remove(driver, name)


@pytest.fixture(scope="module")
async def loaded(driver: neo4j.AsyncDriver, prefix: str) -> Loaded:
    generated = [random_question(random.Random(seed)) for seed in range(GRAPHS)]
    prefixes = [f"{prefix}g{seed}-" for seed in range(GRAPHS)]
    graphs = (question.graph for question in generated)
    await write(driver, dict(zip(prefixes, graphs, strict=True)))
    # Planned before the clock runs: a cold and busy server may need seconds for it.
    planned = load("strategies.levels")
    if (await probe(Store(driver))).can_run(planned):
        await driver.execute_query(planned.text, p={"frontier": [], "levels": 1})
    return Loaded(prefixes=prefixes, questions=generated)


async def disagreement(
    driver: neo4j.AsyncDriver,
    prefix: str,
    question: Question,
    seeds_per_session: int | None,
    transactions: Transactions,
    round_trips: RoundTrips,
) -> str | None:
    """What the engine and the oracle do not agree on, or None."""
    config = replace(
        with_transfer(question.config, round_trips=round_trips),
        seeds_per_session=seeds_per_session,
    )
    store = Store(driver, config=StoreConfig(transactions=transactions))
    found = await explore_with_engine(
        store, prefix + SCOPE, question.seeds, question.query_tags, config
    )
    assert sorted(found) == sorted(seed_id for seed_id, _ in question.seeds)
    for seed_id, score in question.seeds:
        expected = explore(
            question.graph, SCOPE, seed_id, score, question.query_tags, question.config
        )
        try:
            assert_agreement(found[seed_id], expected)
        except AssertionError as error:
            return "\n".join(
                [
                    f"seed memory {seed_id!r}, score {score!r}, tags {question.query_tags}",
                    f"{config}",
                    *(f"  {edge}" for edge in question.graph.edges),
                    f"oracle: {expected}",
                    f"engine: {found[seed_id]}",
                    f"{error}",
                ]
            )
    return None


async def assert_all_agree(
    driver: neo4j.AsyncDriver,
    loaded: Loaded,
    numbers: Sequence[int],
    seeds_per_session: int | None,
    transactions: Transactions,
    round_trips: RoundTrips,
) -> None:
    outcomes = await gather_limited(
        AT_ONCE,
        (
            disagreement(
                driver,
                loaded.prefixes[number],
                loaded.questions[number],
                seeds_per_session,
                transactions,
                round_trips,
            )
            for number in numbers
        ),
    )
    failed = {number: text for number, text in zip(numbers, outcomes, strict=True) if text}
    if failed:
        smallest = min(failed, key=lambda number: len(loaded.questions[number].graph.edges))
        pytest.fail(
            f"{len(failed)} of {len(numbers)} graphs differ: {sorted(failed)[:50]}\n"
            f"the smallest is random.Random({smallest}):\n{failed[smallest]}"
        )


# All graphs in each way that asks other queries; the first of them where only sessions differ.
WAYS: list[tuple[int, int | None, Transactions, RoundTrips]] = [
    (GRAPHS, 1, "auto", "level"),
    (GRAPHS, ALL_SEEDS, "auto", "level"),
    (GRAPHS, ALL_SEEDS, "auto", "single"),
    (FEWER_GRAPHS, 1, "auto", "single"),
    (FEWER_GRAPHS, 1, "managed", "level"),
    (FEWER_GRAPHS, ALL_SEEDS, "managed", "level"),
    (FEWER_GRAPHS, 2, "auto", "level"),
    (FEWER_GRAPHS, None, "auto", "level"),
]


@pytest.mark.parametrize(("graphs", "seeds_per_session", "transactions", "round_trips"), WAYS)
async def test_engine_equals_oracle_on_generated_graphs(
    driver: neo4j.AsyncDriver,
    loaded: Loaded,
    graphs: int,
    seeds_per_session: int | None,
    transactions: Transactions,
    round_trips: RoundTrips,
) -> None:
    await assert_all_agree(
        driver, loaded, range(graphs), seeds_per_session, transactions, round_trips
    )


def test_no_question_has_more_seeds_than_a_full_session(loaded: Loaded) -> None:
    assert len(loaded.questions) == GRAPHS
    assert max(len(question.seeds) for question in loaded.questions) == ALL_SEEDS


_example = count()


@given(
    question=questions(),
    seeds_per_session=st.sampled_from([1, ALL_SEEDS]),
    transactions=st.sampled_from(["auto", "managed"]),
    round_trips=st.sampled_from(["level", "single"]),
)
@on_a_server()
async def test_engine_equals_oracle_on_any_graph(
    driver: neo4j.AsyncDriver,
    prefix: str,
    question: Question,
    seeds_per_session: int,
    transactions: Transactions,
    round_trips: RoundTrips,
) -> None:
    name = f"{prefix}h{next(_example)}-"
    await write(driver, {name: question.graph})
    difference = await disagreement(
        driver, name, question, seeds_per_session, transactions, round_trips
    )
    assert difference is None, difference
