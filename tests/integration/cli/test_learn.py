"""Learning and replay from the command line: a recall is kept as JSON, learned from, run again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.cli.test_commands import (  # noqa: F401  # fixtures
    Call,
    call,
    filled,
    here,
    secret,
)

TRACE = "trace.json"


@pytest.fixture
def recalled(call: Call, filled: list[str], tmp_path: Path) -> tuple[str, list[str]]:  # noqa: F811
    """The file of a recall, and the options of the database without the scope."""
    done = call("recall", "rain", "--json", "--full", "--embedder", "none", *filled)
    assert done.code == 0, done.err
    file = tmp_path / TRACE
    file.write_text(done.out)
    return str(file), filled[: filled.index("--scope")]


def test_a_recall_is_learned_from_once(call: Call, recalled: tuple[str, list[str]]) -> None:  # noqa: F811
    trace, there = recalled
    done = call("learn", "reinforce", trace, "--used", "c", *there)
    assert done.code == 0, done.err
    assert done.out.startswith("1 memory counted, 2 edges strengthened; scope ")
    again = call("learn", "reinforce", trace, "--used", "c", *there)
    assert "(nothing changed now: this event was applied before)" in again.out
    named = call("learn", "feedback", trace, "--confirmed", "b", "--event", "e", *there)
    assert named.out.startswith("1 memory counted; scope ")
    done = call("learn", "co-activate", trace, *there)
    assert done.out.startswith("1 pair noted; scope ")


def test_an_id_that_the_recall_did_not_find_is_one_line(
    call: Call,  # noqa: F811
    recalled: tuple[str, list[str]],
) -> None:
    trace, there = recalled
    done = call("learn", "reinforce", trace, "--used", "nobody", *there)
    assert done.code == 1
    assert "the recall of the trace did not find" in done.err


def test_a_file_that_holds_no_trace_is_named(
    call: Call,  # noqa: F811
    here: list[str],  # noqa: F811
    tmp_path: Path,
) -> None:
    file = tmp_path / "x.json"
    there = here[: here.index("--scope")]
    for text, said in (
        ("", "is empty"),
        ("nonsense", "is not a JSON document"),
        ("{}", "trace is missing"),
    ):
        file.write_text(text)
        done = call("replay", str(file), *there)
        assert done.code == 1
        assert f"{file}: {said}" in done.err


def test_consolidation_and_undo_say_what_they_did(
    call: Call,  # noqa: F811
    filled: list[str],  # noqa: F811
    recalled: tuple[str, list[str]],
) -> None:
    trace, there = recalled
    for n in range(5):
        call("learn", "reinforce", trace, "--used", "b", "--event", f"e{n}", *there)
    done = call("learn", "consolidate", "--dry-run", *filled)
    assert done.code == 0, done.err
    head, line = done.out.splitlines()
    assert head.startswith("of 1 learned edge ")
    assert "1 would be permanent, 0 would be pruned; 0 pairs would be forgotten" in head
    # As many digits as tell the two weights apart: how far it has decayed depends on the clock.
    assert re.fullmatch(r"  a -caused-> b  1\.0{4,} -> (1\.0{4,}|0\.9{4,}\d*) \(permanent\)", line)
    assert call("learn", "consolidate", "--log-days", "0", *filled).code != 0
    assert "log" not in call("learn", "consolidate", "--log-days", "1", "--dry-run", *filled).out
    done = call("learn", "undo", "--since", "2020-01-01", *filled)
    assert done.out.startswith("5 events undone: 10 changes taken back; scope ")
    done = call("learn", "log", "--limit", "2", *filled)
    assert done.code == 0, done.err
    event, edge, memory = done.out.splitlines()[:3]
    assert re.fullmatch(r"[-\d]+ [:\d]+  reinforce: 2 changes, undone [-\d]+ [:\d]+", event)
    assert re.fullmatch(r"  a -caused-> b  [.\d]+ -> [.\d]+", edge)
    assert memory == "  b  counted"
    assert len(json.loads(call("learn", "log", "--json", *filled).out)["events"]) == 5
    assert call("replay", trace, *there).out == "identical: 1 path\n"


def test_replay_shows_the_difference(call: Call, recalled: tuple[str, list[str]]) -> None:  # noqa: F811
    trace, there = recalled
    assert call("replay", trace, *there).out == "identical: 1 path\n"
    done = call("replay", trace, "--set", "strategy.max_depth=1", *there)
    assert done.out.splitlines() == [
        "2 paths differ; now 1",
        "+ a 1.0000 -caused-> b 0.8000  (max depth)",
        "- a 1.0000 -caused-> b 0.8000 -caused-> c 0.4525  (dead end)",
    ]
    call("learn", "reinforce", trace, "--used", "b", *there)
    done = call("replay", trace, *there)
    assert done.out.splitlines()[1].startswith("~ a 1.0000 -caused-> b 0.9000")
    assert done.out.splitlines()[1].endswith("(dead end); then 0.4525, dead_end")
    done = call("replay", trace, "--set", "strategy=lif", "--json", *there)
    assert json.loads(done.out)["identical"] is False


def test_wrong_settings_and_times_are_wrong_usage(
    call: Call,  # noqa: F811
    recalled: tuple[str, list[str]],
) -> None:
    trace, there = recalled
    assert call("replay", trace, "--set", "max_depth", *there).code == 2
    assert call("replay", trace, "--set", "nonsense=1", *there).code == 1
    assert call("learn", "undo", "--since", "yesterday", *there).code == 2


def test_suppression_and_overrides(call: Call, filled: list[str]) -> None:  # noqa: F811
    done = call("learn", "suppress", "a", "b", "--kind", "overrides", *filled)
    assert done.out.startswith("1 suppression made; scope ")
    assert call("learn", "override", *filled).out.startswith("nothing to change; scope ")


def test_suppression_asks_for_its_kind(call: Call, filled: list[str]) -> None:  # noqa: F811
    done = call("learn", "suppress", "a", "b", *filled)
    assert done.code == 2
    assert "--kind" in done.err
