"""How paths look on a terminal and in a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import typer
from rich.console import Console

from memoria._support.wording import number_of
from memoria.cli import common
from memoria.cli.common import advice, one_line, printable
from memoria.cli.mapping import show_problems
from memoria.cli.render import Forest, path_line, recall_summary, show_paths
from memoria.cli.tally import Tally
from memoria.errors import DimensionError, InvalidInputError, QueryError
from memoria.graph.mapping.checking import Problem
from memoria.graph.mapping.model import named_mapping
from memoria.types import (
    ContextPack,
    ConversationReport,
    Direction,
    Exploration,
    ExplorationStats,
    Hop,
    ImportReport,
    MemoryNode,
    OmitReason,
    OmittedItem,
    Path,
    Recall,
    Seed,
    Seeds,
    Trace,
    WriteReport,
)


def hop(source: str, target: str, energy: float, direction: Direction = "out") -> Hop:
    return Hop(
        source=source,
        target=target,
        relation="near",
        direction=direction,
        weight=1.0,
        tags=(),
        tag_similarity=1.0,
        degree=1,
        energy_in=0.9,
        energy_out=energy,
    )


def path(*hops: Hop, seed_id: str = "a", read: bool = True) -> Path:
    ids = [seed_id, *(one.target for one in hops)]
    return Path(
        seed_id=seed_id,
        hops=hops,
        memories=tuple(MemoryNode(id=i, kind="Event", text=f"text of {i}") for i in ids)
        if read
        else (),
        end_reason="dead_end",
        energy=hops[-1].energy_out if hops else 0.9,
    )


class Screen(io.StringIO):
    """A file that is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(width: int = 80) -> Console:
    return Console(file=Screen(), force_terminal=True, width=width, color_system="truecolor")


def pipe() -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=80)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


TWO = [path(hop("a", "b", 0.5)), path(hop("a", "b", 0.5), hop("b", "c", 0.25, "in"))]


def test_a_line_shows_ids_energies_relations_and_the_reason() -> None:
    line = path_line(TWO[1]).plain
    assert line == "a 0.9000 -near-> b 0.5000 <-near- c 0.2500  (dead end)"


def test_a_line_shows_texts_where_ids_are_the_servers_own() -> None:
    seed, other = (f"4:13dc9aa4-1e6d-4b98-bc80-31241e6c0aef:{number}" for number in (5, 43))
    found = path(hop(seed, other, 0.5), seed_id=seed)
    texts = ("Ed Harris", "Apollo 13: Houston, we have a problem. " * 9)
    memories = tuple(replace(m, text=text) for m, text in zip(found.memories, texts, strict=True))
    line = path_line(replace(found, memories=memories), ends=False).plain
    assert line == "Ed Harris 0.9000 -near-> Apollo 13: Houston, we have a problem. A... 0.5000"
    assert path_line(replace(found, memories=()), ends=False).plain.startswith(seed)


@pytest.mark.parametrize("console", [terminal, pipe])
async def test_the_first_path_shows_before_the_second_comes(console: type[Console]) -> None:
    screen = console()

    async def paths() -> AsyncIterator[Path]:
        assert "0.5000" not in printed(screen)
        yield TWO[0]
        assert "b 0.5000" in plain(printed(screen))
        yield path(hop("x", "y", 0.125), seed_id="x")
        assert "y 0.1250" in plain(printed(screen))

    await show_paths(paths(), screen)


def plain(text: str) -> str:
    """Drop colours and cursor movements."""
    from rich.text import Text

    return Text.from_ansi(text).plain


async def of(*found: Path) -> AsyncIterator[Path]:
    for one in found:
        yield one


async def test_a_pipe_gets_a_line_per_path_and_no_escape_code() -> None:
    screen = pipe()
    await show_paths(of(*TWO), screen)
    assert printed(screen).splitlines() == [path_line(one).plain for one in TWO]
    long = path(*(hop(f"n{i}", f"n{i + 1}", 0.5) for i in range(20)), seed_id="n0")
    screen = pipe()
    await show_paths(of(long), screen)
    assert printed(screen).splitlines() == [path_line(long).plain], "lines are not wrapped"


async def test_colours_forced_into_a_pipe_bring_no_tree_that_moves() -> None:
    """As with FORCE_COLOR: nothing can be drawn over there."""
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="truecolor")
    await show_paths(of(*TWO), screen)
    assert plain(printed(screen)).splitlines() == [path_line(one).plain for one in TWO]
    assert "\x1b[1m" in printed(screen)
    assert set(re.findall(r"\x1b\[[\d;?]*([A-Za-z])", printed(screen))) == {"m"}


async def test_a_terminal_gets_colours_and_trees_cut_at_its_width() -> None:
    screen = terminal(width=30)
    await show_paths(of(*TWO), screen)
    text = printed(screen)
    assert "\x1b[1m" in text
    last = plain(text[text.rfind("\x1b[2K") :]).splitlines()
    assert [line.rstrip() for line in last if line.strip()] == [
        "a 0.9000  text of a",
        "└── -near-> b 0.5000  (dead e…",
        "    └── <-near- c 0.2500  (de…",
    ]


def tree_of(*found: Path) -> list[str]:
    forest = Forest()
    for one in found:
        forest.add(one)
    screen = Console(file=io.StringIO(), width=80)
    screen.print(forest.view)
    return [line.rstrip() for line in printed(screen).splitlines() if line.strip()]


def test_paths_share_their_trunk_and_each_seed_has_its_tree() -> None:
    other = path(hop("b", "a", 0.5), seed_id="b")
    fork = path(hop("a", "b", 0.5), hop("b", "d", 0.125))
    assert tree_of(TWO[1], other, fork) == [
        "a 0.9000  text of a",
        "└── -near-> b 0.5000  text of b",
        "    ├── <-near- c 0.2500  (dead end)  text of c",
        "    └── -near-> d 0.1250  (dead end)  text of d",
        "b 0.9000  text of b",
        "└── -near-> a 0.5000  (dead end)  text of a",
    ]


def test_a_path_without_texts_shows_its_ids() -> None:
    assert tree_of(path(hop("a", "b", 0.5), read=False)) == [
        "a 0.9000",
        "└── -near-> b 0.5000  (dead end)",
    ]


def test_a_memory_cannot_rewrite_the_screen() -> None:
    bad = "x\x1b[2J\x9b2J\ry\nz"
    evil = Path(
        seed_id=bad,
        hops=(),
        memories=(MemoryNode(id=bad, kind="Event", text=bad),),
        end_reason="dead_end",
        energy=0.9,
    )
    for text in ("\n".join(tree_of(evil)), path_line(evil).plain, one_line(bad)):
        assert r"x\x1b[2J\x9b2J" in text
        assert not {"\x1b", "\x9b", "\r"} & set(text)
    assert "\n" not in one_line(bad)
    assert printable("a\tb\nc\x1b") == "a\tb\nc\\x1b"


def test_names_of_a_foreign_graph_cannot_rewrite_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bad = "\x1b]0;owned\x07\x1b[2J\u202e"
    problem = Problem(text=f"no label {bad}", statement=f"CREATE INDEX `{bad}`")
    with pytest.raises(typer.Exit):
        show_problems(named_mapping("graphiti"), [problem], as_json=False)
    for console in (common.out, common.err):
        console.print(bad, bad, markup=False)
    done = capsys.readouterr()
    for text in (done.out, done.err):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert r"\x1b]0;owned" in text


def test_the_summary_is_one_line_with_counts_times_and_what_went_less_well() -> None:
    stats = ExplorationStats(levels=1, nodes=3, elapsed_s=0.1, hydrate_s=0.0)
    seed = Seed(id="a", score=0.9)
    recall = Recall(
        seeds=Seeds(seeds=(seed,)),
        explorations=(
            Exploration(seed=seed, status="truncated", paths=tuple(TWO), error=None, stats=stats),
        ),
        ranked=(),
        context=ContextPack(text="", tokens=7, items=(), omitted=()),
        trace=Trace(
            query="q",
            query_tags=(),
            scope="s",
            started_at=datetime(2026, 5, 2, tzinfo=UTC),
            timings_s={"seeds": 0.012, "explore": 0.5, "hydrate": 0.4},
            degraded=("no embedder: searched by words only",),
        ),
    )
    assert recall_summary(recall, 100) == (
        "512 ms in all; 1 seed, 2 paths, 3 memories (1 cut short by the deadline); "
        "7 of 100 tokens for 0 memories, 0 left out; no embedder: searched by words only"
    )
    reasons: dict[str, OmitReason] = {"a": "budget", "b": "relevance", "c": "relevance"}
    omitted = tuple(
        OmittedItem(id=id_, score=0.1, reason=reason, duplicate_of=None)
        for id_, reason in reasons.items()
    )
    left_out = replace(recall, context=replace(recall.context, omitted=omitted))
    assert "3 left out (relevance 2, budget 1); no embedder" in recall_summary(left_out, 100)
    assert "; seeds 12 ms, explore 500 ms, hydrate 400 ms; no" in recall_summary(
        recall, 100, verbose=True
    )


def test_one_of_many_is_named_as_one() -> None:
    numbers = (0, 1, 2, 1_000)
    counted = [number_of(number, "memory", "memories") for number in numbers]
    assert counted == ["0 memories", "1 memory", "2 memories", "1000 memories"]


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (InvalidInputError("f.jsonl:3: kind must be X", field="kind"), "--kind"),
        (InvalidInputError("f.jsonl:3: text is missing", field="text"), "--skip-invalid"),
        (DimensionError("another", field="embedder"), "--embedder"),
    ],
)
def test_the_option_that_helps_is_named(error: InvalidInputError, named: str) -> None:
    assert named in advice(error)


@pytest.mark.parametrize(
    "error", [QueryError("a:1: b"), InvalidInputError("f.jsonl: can't be read: no such file")]
)
def test_where_no_option_helps_none_is_named(error: QueryError | InvalidInputError) -> None:
    assert advice(error) == ""


def test_an_import_of_chats_counts_the_same_in_words_and_in_json() -> None:
    written = WriteReport(
        memories=11, memories_created=7, embedded=5, relations=13, relations_created=6
    )
    talk = ConversationReport(known=1, parts=3, forgotten=4, connectors=2, written=written)
    done = ImportReport(conversations=talk)
    tally = Tally(skip_invalid=False, rehearsed=False)
    facts = tally.facts(done)
    assert tally.in_words(done, "s") == (
        f"nothing to remember, {facts['parts']} parts, "
        f"{facts['memories']} memories with connectors ({facts['memories_created']} new, "
        f"{facts['embedded']} embedded), {facts['relations']} edges "
        f"({facts['relations_created']} new), {facts['forgotten']} memories forgotten, "
        f"{facts['connectors']} unused connectors deleted; scope s"
    )
    rehearsed = Tally(skip_invalid=False, rehearsed=True).in_words(ImportReport(), None)
    assert rehearsed == "nothing to remember, 0 parts; nothing was written"
