"""How the tags of a query are fitted to the tags of edges; by hand, without a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from memoria._support.stems import name_stems
from memoria.errors import DeadlineError, MemoriaError
from memoria.recall.call import AUTO, QueryTags, RecallCall
from memoria.recall.config import RetrieverConfig
from memoria.recall.tags import fit_tags, fitting_tags, tags_in
from memoria.types import MemoryFilter, Seed, Seeds

EDGES = ("run_out", "stock", "Hotel-Fyren")


def fitted(tags: Iterable[str], known: Iterable[str] = EDGES) -> tuple[object, str]:
    found, notes = fit_tags(tags, known)
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


@pytest.mark.parametrize(
    ("question", "tags"),
    [
        ("Did the hotel Fyren run out of oats?", ("Hotel-Fyren", "run_out")),
        ("Who is the director?", ("DIRECTED",)),
        ("Which films did he act in?", ("actedIn",)),
        ("edges ACTED_IN of run_out", ("actedIn", "run_out")),
        ("What is in store at the party?", ()),  # neither IN nor PART_OF
    ],
)
def test_the_question_itself_says_its_tags(question: str, tags: tuple[str, ...]) -> None:
    known = (*EDGES, "DIRECTED", "actedIn", "PART_OF", "IN")
    assert tags_in(question, [(name_stems(tag), tag) for tag in known]) == tags


class Tagged:
    """Stands in for the store: scope -> the tags of its edges, or the error of its query."""

    def __init__(
        self, tags: Mapping[str, list[str] | MemoriaError], words: Mapping[str, str]
    ) -> None:
        self.tags = tags
        asked_as = [(name_stems(word), type_) for word, type_ in words.items()]
        self.translation = SimpleNamespace(asked_as=asked_as) if words else None

    async def run(self, _: object, parameters: Mapping[str, Any], **__: object) -> list[Any]:
        found = self.tags[parameters["scope"]]
        if isinstance(found, MemoriaError):
            raise found
        return [{"tags": found}]


async def read(
    tags: QueryTags,
    stored: Mapping[str, list[str] | MemoriaError],
    query: str = "q",
    words: Mapping[str, str] = MappingProxyType({}),
) -> tuple[tuple[str, ...], list[str]]:
    call = RecallCall.checked(query, tags, MemoryFilter(), RetrieverConfig())
    seeds = {scope: Seeds(seeds=(Seed(id="m", score=1.0),)) for scope in stored}
    notes: list[str] = []
    store: Any = Tagged(stored, words)
    return await fitting_tags(store, call, seeds, until=None, notes=notes), notes


async def test_a_scope_whose_tags_are_late_costs_no_tags_of_the_others() -> None:
    late = DeadlineError("late")
    note = "the tags of edges in scope 'team' could not be read (late)"
    assert await read(["Run-Out"], {"s": ["run_out"], "team": late}) == (
        ("Run-Out", "run_out"),
        [note],
    )
    assert await read(AUTO, {"team": late, "s": ["stock"]}, "any stock?") == (("stock",), [note])


async def test_words_of_a_mapping_ask_for_the_types_that_edges_around_the_hits_have() -> None:
    words = {"acted in": "ACTED_IN", "star": "ACTED_IN", "shine": "SHINES"}
    stored: dict[str, list[str] | MemoriaError] = {"s": ["ACTED_IN", "DIRECTED", "music"]}
    assert await read((), stored, "Who stars in it?", words) == (("ACTED_IN",), [])
    assert await read((), stored, "Who stars, to music?", words) == (("ACTED_IN",), [])
    assert await read((), stored, "Who shines in it?", words) == ((), [])
    assert await read((), stored, "Who directed it?", words) == ((), [])  # nothing was read
    assert (await read(["directed"], stored, "Who stars in it?", words))[0] == ("DIRECTED",)


async def test_tags_that_could_not_be_compared_count() -> None:
    late = DeadlineError("late")
    assert await read(["oven"], {"s": late}) == (
        ("oven",),
        ["the tags of edges could not be read (late)"],
    )
    assert (await read(["oven"], {"s": ["van"], "team": late}))[0] == ("oven",)
