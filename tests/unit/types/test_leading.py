"""Which paths lead to a context, and how many others there are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from memoria.types import Hop, MemoryNode, Path
from memoria.types.leading import leading


@dataclass
class Found:
    paths: tuple[Path, ...]


@dataclass
class Item:
    id: str
    path: Path


def path(*ids: str) -> Path:
    """A path that halves its energy at each hop."""
    hops = tuple(
        Hop(
            source=source, target=target, relation="led_to", direction="out", weight=0.5, tags=(),
            tag_similarity=1.0, degree=1, energy_in=0.5**n, energy_out=0.5 ** (n + 1),
        )
        for n, (source, target) in enumerate(pairwise(ids))
    )  # fmt: skip
    return Path(
        seed_id=ids[0],
        hops=hops,
        memories=tuple(MemoryNode(id=id_, kind="Event", text=id_) for id_ in ids),
        end_reason="dead_end",
        energy=0.5 ** len(hops),
    )


def test_a_path_ends_at_the_last_memory_of_the_context_on_it() -> None:
    whole = path("a", "b", "c", "d")
    found = leading([Found((whole,))], [Item("b", whole), Item("c", whole)])
    assert [each.ids for each in found.paths] == [("a", "b", "c")]
    assert found.paths[0].energy == 0.25
    assert len(found.paths[0].memories) == 3
    assert found.others == 0


def test_paths_that_lead_elsewhere_are_counted() -> None:
    paths = (path("a", "b"), path("a", "c"), path("x", "y"))
    found = leading([Found(paths[:2]), Found(paths[2:])], [Item("b", paths[0])])
    assert [each.ids for each in found.paths] == [("a", "b")]
    assert found.others == 2


def test_a_hit_that_was_not_explored_leads_to_the_context_and_hides_no_other_path() -> None:
    explored, hit = path("a", "b"), path("h")
    found = leading([Found((explored,))], [Item("h", hit)])
    assert [each.ids for each in found.paths] == [("h",)]
    assert found.others == 1


def test_a_seed_of_the_context_is_on_the_path_of_another_memory() -> None:
    whole, short = path("a", "b"), path("a", "c")
    found = leading([Found((whole, short))], [Item("a", short), Item("b", whole)])
    assert [each.ids for each in found.paths] == [("a", "b")]
    assert found.others == 1


def test_nothing_leads_to_an_empty_context() -> None:
    found = leading([Found((path("a", "b"),))], [])
    assert str(found) == "no path leads to a memory of the context, 1 leads elsewhere"


def test_paths_are_in_the_order_of_the_context() -> None:
    weak, strong, hit = path("a", "b", "c"), path("x", "y"), path("h")
    items = [Item("c", weak), Item("h", hit), Item("y", strong), Item("b", weak)]
    found = leading([Found((strong, weak))], items)
    assert [each.ids for each in found.paths] == [("a", "b", "c"), ("h",), ("x", "y")]
