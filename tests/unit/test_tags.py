"""How the tags of a query are fitted to the tags of edges; by hand, without a server."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memoria.recall.call import AUTO, QueryTags, RecallCall
from memoria.recall.config import RetrieverConfig
from memoria.recall.tags import fit_tags
from memoria.types import MemoryFilter

EDGES = ("run_out", "stock", "Hotel-Fyren")


def fitted(tags: QueryTags, query: str = "q", known: Iterable[str] = EDGES) -> tuple[object, str]:
    call = RecallCall.checked(query, tags, MemoryFilter(), RetrieverConfig())
    found, notes = fit_tags(call, known)
    return found, "; ".join(notes)


@pytest.mark.parametrize("written", ["run_out", "Run_Out", "run-out", "RUN OUT"])
def test_a_tag_is_found_whatever_its_case_and_hyphens(written: str) -> None:
    assert fitted([written]) == (("run_out",), "")


def test_a_tag_stands_for_all_spellings_that_the_edges_have() -> None:
    assert fitted(["stock"], known=["Stock", "stock"]) == (("Stock", "stock"), "")


def test_a_tag_that_no_edge_has_is_named_with_the_nearest_that_exist() -> None:
    found, notes = fitted(["stock", "stokc"])
    assert found == ("stock", "stokc")
    assert "no edge around the hits has the tag 'stokc'" in notes
    assert "similar tags: 'stock'" in notes


def test_tags_none_of_which_exists_count_as_none() -> None:
    found, notes = fitted(["invented"])
    assert found == ()
    assert "'invented'; the tags of this query were left out" in notes


def test_the_question_itself_says_its_tags() -> None:
    assert fitted(AUTO, "Did the hotel Fyren run out of oats?")[0] == ("Hotel-Fyren", "run_out")
    assert fitted(AUTO, "A stocking") == ((), "")
