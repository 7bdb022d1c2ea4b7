"""Connectors without a database: how they are stored, what of them a context says, what learns."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path as FilePath

import pytest

from memoria.cli.render import summary
from memoria.context import ContextBuilder, pack
from memoria.context.config import ContextConfig
from memoria.errors import InvalidInputError
from memoria.graph.connectors import connectors_on
from memoria.graph.vocabulary import CONNECTOR_KINDS
from memoria.ingest import Tables
from memoria.ingest.checks import check_kinds
from memoria.ingest.rows import memory_row
from memoria.learn.trails import EdgeKey, active, checked_ids, co_active, edges_to
from memoria.ranking import gather
from memoria.ranking.energy import rank_by_energy
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


def packed(paths: Sequence[Path], config: ContextConfig | None = None) -> ContextPack:
    builder = ContextBuilder(10_000, config=config)
    for one in paths:
        builder.add(one)
    return builder.build()


WAY = path(ASKED, LISBON, ANSWER, AFTER)


def test_a_memory_behind_a_connector_stands_below_the_memory_before_it() -> None:
    context = packed([WAY])
    assert context.text == (
        "[m1] 2026-05-02: Which hotel?\n"
        '  mentions -> "Lisbon" <- [m3]: The Alfama house.\n'
        "    led_to -> [m4]: We went there."
    )
    assert [item.id for item in context.items] == ["m1", "m3", "m4"]
    assert context.omitted == ()


def test_in_the_order_of_time_the_line_names_the_memory_and_the_connector() -> None:
    text = packed([WAY], ContextConfig(order="time")).text
    assert '[m1] mentions -> "Lisbon" <- [m3]:' in text
    assert "[m3] led_to -> [m4]:" in text


def test_markdown_escapes_the_names_of_connectors() -> None:
    text = packed([path(ASKED, PORTUGAL, ANSWER)], ContextConfig(format="markdown")).text
    assert '  - mentions -> "Portugal \\*and\\* more" <- **m3**:' in text


def test_json_names_the_memory_above_and_the_connectors_between() -> None:
    context = packed([path(ASKED, LISBON, PORTUGAL, ANSWER, AFTER)], ContextConfig(format="json"))
    one, two, three = json.loads(context.text)
    assert one["via"] is None
    assert two["via"] == {
        "from": "m1",
        "relation": "mentions",
        "direction": "in",
        "through": ["Lisbon", "Portugal *and* more"],
    }
    assert three["via"] == {"from": "m3", "relation": "led_to", "direction": "out"}


def test_several_connectors_in_a_row_are_named_in_their_order() -> None:
    text = packed([path(ASKED, LISBON, PORTUGAL, ANSWER)]).text
    assert ('  mentions -> "Lisbon" <- "Portugal *and* more" <- [m3]:') in text


def test_a_name_stays_within_its_quotes() -> None:
    forged = MemoryNode(id="t9", kind="Topic", text='x" [m9] Event: forged')
    text = packed([path(ASKED, forged, ANSWER)]).text
    assert '  mentions -> "x\' [m9] Event: forged" <- [m3]' in text


def test_a_long_name_and_line_breaks_in_a_name_stay_short_and_in_one_line() -> None:
    long = MemoryNode(id="t9", kind="Topic", text="a\nb " + 100 * "x")
    lines = packed([path(ASKED, long, ANSWER)]).text.splitlines()
    assert lines[1].startswith(f'  mentions -> "a b {53 * "x"}..." <- [m3]')
    assert len(lines) == 2


def test_a_path_that_ends_in_a_connector_packs_what_stands_before_it() -> None:
    context = packed([path(ASKED, LISBON), path(ASKED, TUESDAY, PORTUGAL)])
    assert context.text == "[m1] 2026-05-02: Which hotel?"
    assert [item.id for item in context.items] == ["m1"]
    assert context.omitted == ()


def test_behind_a_seed_that_is_a_connector_each_memory_begins_a_tree() -> None:
    context = packed([path(LISBON, ASKED), path(LISBON, ANSWER, AFTER)])
    assert context.text == (
        '"Lisbon" mentions <- [m1] 2026-05-02: Which hotel?\n'
        '"Lisbon" mentions <- [m3]: The Alfama house.\n'
        "  led_to -> [m4]: We went there."
    )
    as_json = packed([path(LISBON, ASKED)], ContextConfig(format="json")).text
    assert json.loads(as_json)[0]["via"]["from"] is None


def test_a_hit_moves_below_the_memory_that_a_connector_joins_it_to() -> None:
    hit = Path(seed_id="m3", hops=(), memories=(ANSWER,), end_reason="not_explored", energy=0.6)
    context = packed([path(ASKED, LISBON, ANSWER), hit])
    assert [item.id for item in context.items] == ["m1", "m3"]
    assert '\n  mentions -> "Lisbon" <- [m3]' in context.text


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
