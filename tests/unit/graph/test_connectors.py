"""Connectors without a database: how they are stored, what of them a context says, what learns."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path as FilePath

import pytest

from memoria.cli.render import summary
from memoria.errors import InvalidInputError
from memoria.graph.connectors import connectors_on
from memoria.graph.vocabulary import CONNECTOR_KINDS
from memoria.ingest import Tables
from memoria.ingest.checks import check_kinds
from memoria.ingest.rows import memory_row
from memoria.learn.trails import EdgeKey, active, checked_ids, co_active, edges_to
from memoria.recall.context import ContextBuilder, pack
from memoria.recall.ranking import gather
from memoria.recall.ranking.energy import rank_by_energy
from memoria.types import (
    ContextPack,
    Direction,
    Exploration,
    ExplorationStats,
    Memory,
    MemoryFilter,
    MemoryNode,
    Path,
    Seed,
)
from tests.traces import path_of, trace

NOW = datetime(2026, 5, 2, tzinfo=UTC)
ASKED = MemoryNode(id="m1", kind="UserRequest", text="Which hotel?", created_at=NOW)
ANSWER = MemoryNode(id="m3", kind="AgentAnswer", text="The Alfama house.")
AFTER = MemoryNode(id="m4", kind="Event", text="We went there.")
LISBON = MemoryNode(id="t1", kind="Topic", text="Lisbon")
PORTUGAL = MemoryNode(id="t2", kind="Topic", text="Portugal *and* more")
TUESDAY = MemoryNode(id="s1", kind="Session", text="Tuesday")


def path(*memories: MemoryNode) -> Path:
    """A path whose energy is halved by each hop; from memory to connector an edge is stored."""
    energies = [0.5**place for place in range(len(memories))]
    return path_of(memories, energies, edge, weight=1.0)


def edge(one: MemoryNode, other: MemoryNode) -> tuple[str, Direction]:
    relation = "mentions" if "Topic" in (one.kind, other.kind) else "led_to"
    return relation, "in" if one.kind == "Topic" else "out"


def exploration(*paths: Path) -> Exploration:
    return Exploration(
        seed=Seed(id=paths[0].seed_id, score=1.0),
        status="complete",
        paths=paths,
        error=None,
        stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.0, hydrate_s=0.0),
    )


def packed(paths: Sequence[Path]) -> ContextPack:
    builder = ContextBuilder(10_000)
    for one in paths:
        builder.add(one)
    return builder.build()


WAY = path(ASKED, LISBON, ANSWER, AFTER)


def test_a_connector_has_no_line_and_what_both_mention_no_reason() -> None:
    context = packed([WAY])
    assert context.text == (
        "2026-05-02:\n"
        "[1] Which hotel?\n"
        "undated:\n"
        "[2] The Alfama house.\n"
        "  led_to -> [3] We went there."
    )
    assert [item.id for item in context.items] == ["m1", "m3", "m4"]
    assert context.omitted == ()


def test_a_path_that_ends_in_a_connector_packs_what_stands_before_it() -> None:
    context = packed([path(ASKED, LISBON), path(ASKED, TUESDAY, PORTUGAL)])
    assert context.text == "2026-05-02:\n[1] Which hotel?"
    assert [item.id for item in context.items] == ["m1"]
    assert context.omitted == ()


def test_what_a_seed_that_is_a_connector_leads_to_is_packed() -> None:
    context = packed([path(LISBON, ASKED), path(LISBON, ANSWER, AFTER)])
    assert [item.id for item in context.items] == ["m1", "m3", "m4"]
    assert "Lisbon" not in context.text


def test_pack_of_explorations_leaves_connectors_out() -> None:
    context = pack([exploration(WAY, path(ASKED, TUESDAY))], budget_tokens=1_000)
    assert [item.id for item in context.items] == ["m1", "m3", "m4"]


def test_connectors_are_not_ranked() -> None:
    found = [exploration(WAY, path(ASKED, TUESDAY))]
    assert [entry.memory.id for entry in rank_by_energy(found)] == ["m1", "m3", "m4"]
    assert [each.memory.id for each in gather(found, (), MemoryFilter())] == ["m1", "m3", "m4"]
    assert gather(found, (), MemoryFilter(kinds=["Topic"])) == []
    assert summary(found) == "1 seed, 2 paths, 3 memories"
    assert connectors_on(found[0].paths) == {"t1", "s1"}


def test_a_trace_teaches_edges_of_connectors_but_no_pairs_with_them() -> None:
    learned = trace("s", WAY)
    assert edges_to(learned, ["m3"]) == (
        EdgeKey("m1", "t1", "mentions"),
        EdgeKey("m3", "t1", "mentions"),
    )
    assert [id_ for id_, _, _ in active(learned, 3)] == ["m1", "m3", "m4"]
    assert {(pair.one, pair.other) for pair in co_active(learned, 8)} == {
        ("m1", "m3"),
        ("m1", "m4"),
        ("m3", "m4"),
    }
    assert checked_ids(["m3"], "used", learned) == ("m3",)
    with pytest.raises(InvalidInputError, match="did not find"):
        checked_ids(["t1"], "used", learned)


@pytest.mark.parametrize("kind", CONNECTOR_KINDS)
def test_the_row_of_a_connector_has_its_name_in_place_of_text_and_vector(kind: str) -> None:
    row = memory_row(Memory(id="t", kind=kind, text="Lisbon"), [1.0, 2.0])
    assert (row["properties"]["text"], row["properties"]["connector_name"]) == (None, "Lisbon")
    assert row["embedding"] is None
    row = memory_row(Memory(id="e", kind="Event", text="Lisbon"), [1.0, 2.0])
    assert (row["properties"]["text"], row["properties"]["connector_name"]) == ("Lisbon", None)
    assert row["embedding"] == [1.0, 2.0]


def test_a_writer_takes_connectors_beside_its_kinds() -> None:
    assert check_kinds(["Note"]) == ("Note", *CONNECTOR_KINDS)
    assert check_kinds(["Topic", "Note"]) == ("Topic", "Note", "Session", "Speaker")


def test_the_tables_of_an_offline_import_hold_connectors(tmp_path: FilePath) -> None:
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        for memory in (
            Memory(id="t", kind="Topic", text="Lisbon"),
            Memory(id="e", kind="Event", text=""),
        ):
            tables.add_memory(memory_row(memory, None))
    with tables.memories.open(encoding="utf-8") as file:
        topic, event = csv.DictReader(file)
    assert (topic["text:string"], topic["connector_name:string"]) == ("", "Lisbon")
    assert event["connector_name:string"] == ""
    assert tables.memories.read_text().count('"Lisbon"') == 1
