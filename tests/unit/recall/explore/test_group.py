"""All levels in one answer, written by hand: what an exploration takes of it, and what not."""

from __future__ import annotations

from typing import Any

from memoria.recall.explore.group import query_of
from memoria.recall.strategies import RunInput, Step, StrategyRun, TransferEnergy
from memoria.types import Path, Seed


def child(id_: str, energy: float) -> list[Any]:
    return [id_, -energy, "", "out", [], energy, 1.0]


def row(exploration: int, id_: str, *children: list[Any]) -> list[Any]:
    return [exploration, id_, 1, bool(children), list(children)]


def begin(*seeds: str, **settings: Any) -> StrategyRun:
    return TransferEnergy(round_trips="single", **settings).start(run_input(*seeds))


def run_input(*seeds: str) -> RunInput:
    return RunInput(seeds=tuple(Seed(id=id_, score=1.0) for id_ in seeds), scope="s", query_tags=())


def asked(step: Step | None) -> tuple[str, list[list[Any]]]:
    """Name of the query, and the frontier it expands."""
    assert step is not None
    query = query_of(step)
    assert set(step.parameters) == query.params
    return query.name, step.parameters["frontier"]


def facts(paths: list[Path]) -> list[tuple[str, str]]:
    return [("".join(path.ids), path.end_reason) for path in paths]


def test_one_answer_ends_an_exploration_that_agrees_with_it() -> None:
    run = begin("a")
    assert asked(run.ask()) == ("strategies.levels", [[0, "a", 1.0, True]])
    ended = run.absorb(
        {
            "levels": [
                [[[0, "a", 1.0]], [row(0, "a", child("b", 0.5), child("c", 0.4))]],
                [[[0, "c", 0.4], [0, "b", 0.5]], [row(0, "b"), row(0, "c", child("d", 0.3))]],
                [[[0, "d", 0.3]], [row(0, "d")]],
            ]
        }
    )
    assert facts(ended) == [("ab", "below_threshold"), ("acd", "below_threshold")]
    assert run.ask() is None
    assert run.outcome("a").steps == 3


def test_seed_that_is_not_there_is_not_found() -> None:
    run = begin("a")
    assert run.absorb({"levels": [[[[0, "a", 1.0]], []]]}) == []
    assert run.outcome("a").found is False
    assert run.ask() is None


def test_memory_that_was_deleted_meanwhile_is_a_dead_end() -> None:
    run = begin("a")
    ended = run.absorb(
        {
            "levels": [
                [[[0, "a", 1.0]], [row(0, "a", child("b", 0.5))]],
                [[[0, "b", 0.5]], []],
            ]
        }
    )
    assert facts(ended) == [("ab", "dead_end")]


def test_levels_beyond_a_frontier_of_other_energy_are_asked_for_again() -> None:
    run = begin("a")
    ended = run.absorb(
        {
            "levels": [
                [[[0, "a", 1.0]], [row(0, "a", child("b", 0.5))]],
                [[[0, "b", 0.25]], [row(0, "b", child("c", 0.1))]],
                [[[0, "c", 0.1]], [row(0, "c")]],
            ]
        }
    )
    assert ended == []
    assert asked(run.ask()) == ("strategies.level", [[0, "b", 0.5, True]])
    assert facts(run.absorb({"level": [row(0, "b")]})) == [("ab", "below_threshold")]
    assert run.ask() is None


def test_levels_that_are_missing_are_asked_for_one_by_one() -> None:
    run = begin("a", max_depth=2)
    run.absorb({"levels": [[[[0, "a", 1.0]], [row(0, "a", child("b", 0.5))]]]})
    assert asked(run.ask()) == ("strategies.level", [[0, "b", 0.5, True]])
    ended = run.absorb({"level": [row(0, "b", child("c", 0.2))]})
    assert facts(ended) == [("abc", "max_depth")]


def test_exploration_that_goes_another_way_leaves_the_other_its_answer() -> None:
    run = begin("a", "k")
    ended = run.absorb(
        {
            "levels": [
                [
                    [[0, "a", 1.0], [1, "k", 1.0]],
                    [row(0, "a", child("b", 0.5)), row(1, "k", child("l", 0.5))],
                ],
                [[[0, "x", 0.5], [1, "l", 0.5]], [row(0, "x"), row(1, "l", child("m", 0.2))]],
                [[[1, "m", 0.2]], [row(1, "m")]],
            ]
        }
    )
    assert facts(ended) == [("klm", "below_threshold")]
    assert run.outcome("k").over
    assert asked(run.ask()) == ("strategies.level", [[0, "b", 0.5, True]])


def test_parent_that_may_have_lost_more_children_than_it_shows_is_asked_again() -> None:
    """Of ten children, as many as come, c loses all to a stronger parent."""
    run = begin("a", max_branches=2)
    step = run.ask()
    assert step is not None
    cap = step.parameters["cap"]
    assert cap == 10
    run.absorb(
        {
            "levels": [
                [
                    [[0, "a", 1.0]],
                    [row(0, "a", child("b", 0.9), child("c", 0.8))],
                ],
                [
                    [[0, "b", 0.9], [0, "c", 0.8]],
                    [
                        row(0, "b", child("n0", 0.7), child("n1", 0.7)),
                        row(0, "c", *(child(f"n{i % 2}", 0.6) for i in range(cap))),
                    ],
                ],
            ]
        }
    )
    assert asked(run.ask()) == ("strategies.level", [[0, "b", 0.9, True], [0, "c", 0.8, True]])


def test_full_parent_needs_no_more_children_than_it_shows() -> None:
    run = begin("a", max_branches=2, max_depth=1)
    ended = run.absorb(
        {
            "levels": [
                [[[0, "a", 1.0]], [row(0, "a", *(child(f"n{i}", 0.5) for i in range(10)))]],
            ]
        }
    )
    assert facts(ended) == [("an0", "max_depth"), ("an1", "max_depth")]
    assert run.ask() is None


def test_explorations_that_go_on_alone_go_level_by_level() -> None:
    run = begin("a", "k")
    assert {id_: asked(part.ask())[0] for id_, part in run.parts().items()} == {
        "a": "strategies.level",
        "k": "strategies.level",
    }


def test_exploration_alone_goes_level_by_level_only_where_all_at_once_failed() -> None:
    run = begin("a")
    assert asked(run.parts()["a"].ask())[0] == "strategies.level"
    run.absorb({"levels": []})
    assert run.parts() == {}
