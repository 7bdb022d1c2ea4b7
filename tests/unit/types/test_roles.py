"""Roles of relations: declared names, and roles guessed from the shape of a graph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError, InvalidInputError
from memoria.graph.vocabulary import USUAL_ORDER
from memoria.recall.config import RetrieverConfig
from memoria.recall.plain_settings import settings_of
from memoria.recall.ranking.needs import USUAL_NEED, MayNeed, undeclared_needs
from memoria.types import RelationRoles
from memoria.types.roles import ROLE_NAMES, usual_names


def edges(relation: str, *incoming: int, sources: int) -> list[MayNeed]:
    """Make one edge for each number of incoming edges; the sources take turns."""
    return [
        MayNeed(source=f"m{n % sources}", relation=relation, incoming=number)
        for n, number in enumerate(incoming)
    ]


NAMES: Any = iter(["DANN"])  # any iterable will do, not only a tuple


def test_a_role_holds_each_name_once_in_lower_case_and_sorted() -> None:
    roles = RelationRoles(need=("USES", "uses", "Abhängig_von"), order=NAMES)
    assert roles == RelationRoles(need=("abhängig_von", "uses"), order=("dann",))


def test_nothing_declared_is_not_the_same_as_no_relation() -> None:
    assert RelationRoles() != RelationRoles(need=(), order=())
    assert [getattr(RelationRoles(), role) for role in ROLE_NAMES] == [None, None]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"need": "USES"}, "need"),
        ({"need": [""]}, "need"),
        ({"order": [7]}, "order"),
        ({"need": ["then"], "order": ["THEN"]}, "order"),
    ],
)
def test_what_is_no_list_of_names_is_refused(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        RelationRoles(**given)
    assert refused.value.field == field


def test_a_config_takes_roles_and_nothing_else() -> None:
    roles = RelationRoles(need=("USES",))
    assert settings_of(RetrieverConfig(roles=roles))["roles"] == {"need": ["uses"], "order": None}
    with pytest.raises(ConfigError, match="roles must be RelationRoles"):
        RetrieverConfig(roles={"need": ["USES"]})  # type: ignore[arg-type]


def test_usual_names_are_written_as_graphs_write_them() -> None:
    assert usual_names("depends on") == ("depends on", "depends-on", "depends_on", "dependson")
    assert {"depends_on", "requires", "hängt_ab_von", "dépend_de"} <= {*USUAL_NEED}
    assert {"next", "next_chunk", "replies_to", "in reply to"} <= {*USUAL_ORDER}
    assert not {*USUAL_NEED} & {*USUAL_ORDER}
    assert all(name == name.lower() for name in (*USUAL_NEED, *USUAL_ORDER))


def test_a_relation_says_needs_where_five_need_something_for_four_that_are_needed() -> None:
    # Eight edges of five sources, to targets with two incoming edges each: four needed memories.
    at_four = edges("r", *[2] * 8, sources=5)
    assert sum(1 / each.incoming for each in at_four) == 4.0
    assert undeclared_needs(at_four) == {"r"}
    assert undeclared_needs([*at_four, *edges("r", 50, sources=5)]) == set()


def test_of_fewer_than_six_edges_only_a_usual_name_tells() -> None:
    few = [50] * 5
    for name in ("depends_on", "TOOL_DEPENDS_ON", "Requires", "benötigt"):
        assert undeclared_needs(edges(name, *few, sources=5)) == {name}
    for name in ("USES", "required_by", "depends", "relation_7"):
        assert undeclared_needs(edges(name, *few, sources=5)) == set()
        assert undeclared_needs(edges(name, *few, sources=5), perhaps=True) == {name}
        assert undeclared_needs(edges(name, *few, 50, sources=5)) == {name}


def test_a_usual_name_does_not_help_edges_that_lead_apart() -> None:
    calls = edges("DEPENDS_ON", *[1] * 6, sources=3)
    assert undeclared_needs(calls) == undeclared_needs(calls, perhaps=True) == set()


def test_what_may_turn_out_to_be_shared_is_followed_on_if_its_name_is_usual() -> None:
    even = edges("requires", *[1] * 6, sources=6)
    assert undeclared_needs(even) == set()
    assert undeclared_needs(even, perhaps=True) == {"requires"}
    assert undeclared_needs(edges("r", *[1] * 6, sources=6), perhaps=True) == set()


def test_the_usual_names_are_judged_together() -> None:
    few = edges("TOOL_DEPENDS_ON", *[1] * 4, sources=4)
    many = edges("requires", *[9] * 9, sources=9)
    assert undeclared_needs([*few, *many]) == {"TOOL_DEPENDS_ON", "requires"}
    apart = edges("requires", *[1] * 9, sources=2)
    assert undeclared_needs([*few, *apart]) == set()


def test_each_relation_is_judged_by_its_own_edges() -> None:
    shared, apart = edges("USES", *[9] * 6, sources=6), edges("CONTAINS", *[1] * 9, sources=2)
    assert undeclared_needs([*shared, *apart]) == {"USES"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 50)), max_size=30))
def test_whatever_the_name_enough_edges_are_judged_alike(drawn: list[tuple[int, int]]) -> None:
    def of(relation: str) -> list[MayNeed]:
        return [MayNeed(source=f"{s}", relation=relation, incoming=n) for s, n in drawn]

    if len(drawn) > 5:
        assert bool(undeclared_needs(of("x"))) == bool(undeclared_needs(of("depends_on")))
    assert undeclared_needs(of("x")) <= undeclared_needs(of("x"), perhaps=True)
