"""The cases worked out by hand, on a real database: the engine answers them as written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal
from uuid import uuid4

import neo4j
import pytest

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Seed
from tests.cases import CASES, HERE, N2006, Case, full_tree
from tests.for_each import for_each
from tests.oracle.agreement import assert_agreement, explore_with_engine, remove, write
from tests.oracle.transfer import explore, with_transfer

SCORE = 1.0


@pytest.fixture(scope="module")
async def prefixes(driver: neo4j.AsyncDriver) -> AsyncIterator[dict[str, str]]:
    """Name of a case -> what its scopes start with; all cases are written once."""
    prefix = f"case-{uuid4().hex}-"
    names = {case.name: f"{prefix}{number}-" for number, case in enumerate(CASES)}
    await write(driver, {names[case.name]: case.graph for case in CASES})
    yield names
    await remove(driver, prefix)


@for_each("round_trips", ["level", "single"])
@for_each("transactions", ["auto", "managed"])
@for_each("case", CASES)
async def test_engine_finds_the_paths_worked_out_by_hand(
    driver: neo4j.AsyncDriver,
    prefixes: dict[str, str],
    case: Case,
    transactions: Literal["auto", "managed"],
    round_trips: Literal["level", "single"],
) -> None:
    found = (
        await explore_with_engine(
            Store(driver, config=StoreConfig(transactions=transactions)),
            prefixes[case.name] + HERE,
            [(case.seed_id, case.score)],
            case.query_tags,
            with_transfer(case.config, round_trips=round_trips),
        )
    )[case.seed_id]
    assert found.status == case.status
    facts = [(path.ids, path.end_reason) for path in found.paths]
    assert facts == [(expected.ids, expected.end_reason) for expected in case.paths]
    for path, expected in zip(found.paths, case.paths, strict=True):
        assert path.energy == pytest.approx(expected.energy, rel=1e-12)
        for name, value in (expected.last_edge or {}).items():
            assert getattr(path.hops[-1], name) == value, name
    assert_agreement(
        found,
        explore(case.graph, HERE, case.seed_id, case.score, case.query_tags, case.config),
    )


@pytest.mark.parametrize("seeds_per_session", [1, 2, 5])
async def test_seed_that_is_not_found_leaves_the_others_to_go_on(
    driver: neo4j.AsyncDriver, prefixes: dict[str, str], seeds_per_session: int
) -> None:
    case = N2006
    ids = ["absent", "N2006", "nowhere", "N2010"]
    found = await explore_with_engine(
        driver,
        prefixes[case.name] + HERE,
        [(seed_id, SCORE) for seed_id in ids],
        case.query_tags,
        RetrieverConfig(seeds_per_session=seeds_per_session),
    )
    assert {seed_id: found[seed_id].status for seed_id in ids} == {
        "absent": "seed_not_found",
        "N2006": "complete",
        "nowhere": "seed_not_found",
        "N2010": "complete",
    }
    for seed_id in ids:
        expected = explore(case.graph, HERE, seed_id, SCORE, case.query_tags, RetrieverConfig())
        assert_agreement(found[seed_id], expected)


async def test_explorations_of_one_call_do_not_claim_from_each_other(
    driver: neo4j.AsyncDriver, prefixes: dict[str, str]
) -> None:
    case = N2006
    ids = sorted(node.id for node in case.graph.nodes)[:5]
    found = await explore_with_engine(
        driver,
        prefixes[case.name] + HERE,
        [(seed_id, SCORE) for seed_id in ids],
        case.query_tags,
        RetrieverConfig(seeds_per_session=5),
    )
    for seed_id in ids:
        alone = explore(case.graph, HERE, seed_id, SCORE, case.query_tags, RetrieverConfig())
        assert_agreement(found[seed_id], alone)
        assert len(alone.paths) > 0


async def test_three_branches_and_five_levels_give_at_most_243_paths(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    tree = full_tree(children=4, depth=5)
    await write(driver, {scope: tree})
    config = RetrieverConfig(strategy=TransferEnergy(min_activation=0))
    found = (await explore_with_engine(driver, scope + HERE, [("s", SCORE)], (), config))["s"]
    assert len(found.paths) == 243
    assert_agreement(found, explore(tree, HERE, "s", SCORE, (), config))
    await remove(driver, scope)


async def test_same_question_gives_the_same_answer_each_time(
    driver: neo4j.AsyncDriver, prefixes: dict[str, str]
) -> None:
    case = next(
        case for case in CASES if case.name == "hub_above_the_bound_passes_on_to_the_first_ids"
    )
    answers = [
        await explore_with_engine(
            driver, prefixes[case.name] + HERE, [("s", case.score)], (), case.config
        )
        for _ in range(5)
    ]
    assert all(answer["s"].paths == answers[0]["s"].paths for answer in answers)


async def test_neighbour_whose_id_is_no_string_is_none(
    driver: neo4j.AsyncDriver, retriever: GraphRetriever, scope: str
) -> None:
    async with driver.session(database="neo4j") as session:
        result = await session.run(
            "CREATE (s:Memory {scope: $scope, id: 's'}) WITH s UNWIND [7, 'b', true] AS id "
            "CREATE (s)-[:RELATES {weight: 1.0}]->(:Memory {scope: $scope, id: id})",
            scope=scope,
        )
        await result.consume()
    found = [item async for item in retriever.explore_seeds([Seed(id="s", score=1.0)])]
    assert [path.ids for path in found[0].paths] == [("s", "b")]
