"""Generations of vectors: names that come once, and queries that all know which one is live."""

from __future__ import annotations

import re
from pathlib import Path

import memoria
from memoria.doctor.plans import shipped
from memoria.store.queries import load, vector_index, vector_property
from tests.for_each import for_each

PACKAGE = Path(memoria.__file__).parent


def test_the_first_generation_has_the_names_of_the_files() -> None:
    assert (vector_property(1), vector_index(1)) == ("embedding", "memory_embedding")
    query = load("seeds.vector_search")
    assert query.at(1) is query


def test_a_query_for_a_later_generation_names_its_property_and_its_index() -> None:
    assert "VECTOR INDEX memory_embedding_g3 FOR" in load("seeds.vector_search").at(3).text
    assert "'memory_embedding_g3'" in load("seeds.vector_procedure").at(3).text
    text = load("ingest.memories").at(3).text
    assert "SET m.embedding_g3 = vector" in text
    assert "row.embedding IS NULL" in text, "a column of the rows keeps its name"
    text = load("remember.write").at(3).text
    assert "m.embedding_g3 = $p.memory.embedding" in text


@for_each("name", [query.name for query in shipped()])
def test_nothing_but_names_of_vectors_changes_from_generation_to_generation(name: str) -> None:
    query = load(name)
    later = query.at(7)
    assert later.text.replace("embedding_g7", "embedding") == query.text
    assert (later.name, later.params, later.returns) == (query.name, query.params, query.returns)


def test_every_query_about_vectors_is_asked_for_a_generation() -> None:
    """A query that reads the first generation for ever would mix the vectors of two models."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    about = {query.name for query in shipped() if query.at(2).text != query.text}
    assert {"seeds.vector_exact", "link.state", "ranking.candidates"} <= about
    bare = set(re.findall(r'load\("([a-z_.]+)"\)(?!\.at\()', code))
    assert about.isdisjoint(bare), "say `.at(generation)` where it is loaded"
