"""Unlikely memories enter a context if paths bring them enough relevance."""

from memoria.recall.context import ContextBuilder
from memoria.types import MemoryNode, Path
from tests.traces import path_of


def reached(relation: str) -> Path:
    """A path from a to b over one edge."""
    memories = [MemoryNode(id=id_, kind="Event", text=f"text of {id_}") for id_ in "ab"]
    return path_of(memories, [1.0, 0.5], lambda *_: (relation, "out"), weight=1.0)


def related(relation: str, *, best: float) -> set[str]:
    """Ids in a context of a, with this relevance, and b, whose own relevance is too low."""
    builder = ContextBuilder(100)
    builder.add(reached(relation))
    pack = builder.build(worth={"a": 1.0, "b": 0.1}, relevance={"a": best, "b": 0.0001})
    return {item.id for item in pack.items}


def test_what_explains_a_likely_memory_enters_however_little_it_matches() -> None:
    assert related("caused_by", best=0.5) == {"a", "b"}


def test_an_edge_that_explains_nothing_brings_no_unlikely_memory() -> None:
    assert related("next", best=0.5) == {"a"}


def test_what_explains_an_unlikely_memory_stays_out_with_it() -> None:
    assert related("caused_by", best=0.01) == set()


def test_what_explains_a_hardly_likely_memory_stays_out() -> None:
    assert related("caused_by", best=0.09) == {"a"}
