"""The doctor's arithmetic, the statements it names, and how it looks on a terminal."""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from memoria.cli.examination import BAR_CHARS, show
from memoria.doctor import FIXES, Bucket, Examination, ExamineConfig, Finding, Hub, Severity
from memoria.doctor.edges import FAULTS as EDGE_FAULTS
from memoria.doctor.edges import PARALLEL, histogram
from memoria.doctor.energy import energy_lost, find_hubs
from memoria.doctor.faults import Fault
from memoria.doctor.fixes import in_scope
from memoria.doctor.memory_checks import FAULTS as MEMORY_FAULTS
from memoria.doctor.plans import check_plans
from memoria.doctor.subject import INDEXES, Subject
from memoria.errors import DeadlineError
from memoria.recall.strategies import TransferEnergy
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.queries import Query, load, root
from memoria.types import EndReason, Exploration, ExplorationStats, Hop, Path, Seed
from tests.for_each import for_each
from tests.server_facts import server_facts

FACTS = server_facts()
REMEDIES = sorted(file.stem for file in root().glob("doctor/fix_*.cypher"))


def hop(source: str, target: str, energy_in: float, energy_out: float) -> Hop:
    return Hop(
        source=source,
        target=target,
        relation="r",
        direction="out",
        weight=1.0,
        tags=(),
        tag_similarity=1.0,
        degree=4,
        energy_in=energy_in,
        energy_out=energy_out,
    )


def path(reason: EndReason, *hops: Hop) -> Path:
    energy = hops[-1].energy_out if hops else 1.0
    return Path(seed_id="s", hops=hops, memories=(), end_reason=reason, energy=energy)


def exploration(*paths: Path) -> Exploration:
    return Exploration(
        seed=Seed(id="s", score=1.0),
        status="complete",
        paths=paths,
        error=None,
        stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.0, hydrate_s=0.0),
    )


def subject(
    scope: str | None,
    *options: str,
    facts: ServerFacts = FACTS,
    recorded: int | None = None,
) -> Subject:
    store = object.__new__(Store)  # never asked
    config = ExamineConfig(options=options)
    return Subject(store=store, facts=facts, recorded=recorded, scope=scope, config=config)


class LatePlans(Store):
    """A store whose server is too busy to plan."""

    def __init__(self) -> None:
        """Need no driver."""

    async def explain(self, query: Query, *_: Any) -> Any:
        raise DeadlineError(f"{query.name} took longer than 10 s", query=query.name)


async def test_a_plan_that_came_too_late_says_nothing_about_the_set_up() -> None:
    slow = Subject(store=LatePlans(), facts=FACTS, recorded=3, scope="s", config=ExamineConfig())
    findings = await check_plans(slow)
    assert {finding.severity for finding in findings} == {"warning"}
    assert {finding.command for finding in findings} == {"memoria doctor --scope=s"}
    late = {finding.check: finding.message for finding in findings}
    assert late["plans.graph.hydrate"] == "not planned: graph.hydrate took longer than 10 s"


def test_energy_lost_is_what_is_held_less_what_the_children_received() -> None:
    to_a, to_b = hop("s", "a", 1.0, 0.5), hop("s", "b", 1.0, 0.25)
    to_c = hop("a", "c", 0.5, 0.25)
    found = exploration(path("max_depth", to_a, to_c), path("below_threshold", to_b))
    # s: 1 - 0.5 - 0.25; a: 0.5 - 0.25; b, too large a hub: all; c, at the largest depth: nothing.
    assert energy_lost(found) == {"s": 0.25, "a": 0.25, "b": 0.25}


def test_a_shared_trunk_counts_once() -> None:
    trunk = hop("s", "a", 1.0, 0.5)
    ends = [path("dead_end", trunk, hop("a", name, 0.5, 0.125)) for name in ("b", "c")]
    assert energy_lost(exploration(*ends)) == {"s": 0.5, "a": 0.25, "b": 0.125, "c": 0.125}


def test_a_memory_that_passes_on_more_than_it_holds_loses_nothing() -> None:
    hops = [hop("s", name, 1.0, 0.7) for name in "ab"]
    found = exploration(*(path("max_depth", step) for step in hops))
    assert energy_lost(found) == {"s": 0.0}


@pytest.mark.parametrize(
    ("reason", "lost"), [("dead_end", {"s": 1.0}), ("below_threshold", {"s": 1.0})]
)
def test_a_seed_that_passes_nothing_on_loses_all(reason: EndReason, lost: dict[str, float]) -> None:
    assert energy_lost(exploration(path(reason))) == lost


def test_what_a_deadline_cut_is_not_lost() -> None:
    assert energy_lost(exploration(path("truncated"))) == {}


def test_histogram_puts_each_degree_into_its_power_of_two() -> None:
    found = histogram(dict.fromkeys(range(1, 9), 1) | {0: 2})
    assert [(bar.low, bar.high, bar.count) for bar in found] == [
        (0, 0, 2),
        (1, 1, 1),
        (2, 3, 2),
        (4, 7, 4),
        (8, 15, 1),
    ]
    assert histogram({}) == ()


def test_there_are_remedies() -> None:
    assert len(REMEDIES) > 10


@for_each("name", REMEDIES)
def test_a_remedy_for_all_scopes_asks_for_no_scope(name: str) -> None:
    query = load(f"doctor.{name}")
    assert in_scope(query, "s") == query
    everywhere = in_scope(query, None).text
    assert "$p.scope" not in everywhere.replace("$p.scope_key", "")
    if name not in ("fix_scope", "fix_scope_keys", "fix_metadata_pairs", "fix_words"):
        assert "m.scope = $p.scope AND m.id IS NOT NULL" in query.text
        assert "WHERE true" in everywhere


def test_every_remedy_is_that_of_a_check() -> None:
    used = {fault.fix for fault in (*MEMORY_FAULTS, *EDGE_FAULTS, PARALLEL) if fault.fix}
    assert used | {"fix_scope_keys", "fix_words"} == set(REMEDIES)
    assert len(set(FIXES)) == len(FIXES)


@for_each("fault", [*MEMORY_FAULTS, *EDGE_FAULTS, PARALLEL])
def test_a_fault_that_was_not_found_is_not_said_twice_over(fault: Fault) -> None:
    assert not re.match(r"no .* without ", fault.well)
    assert bool(fault.fix) == bool(fault.done)
    assert bool(fault.fix) == (fault.command is None)


def test_dropping_names_every_index_of_the_set_up_both_ways() -> None:
    words = [text.split() for text in load("doctor.drop").text.split(";") if text.strip()]
    assert {(kind, name) for _, kind, name, *_ in words} == {
        (kind, name) for kind in ("CONSTRAINT", "INDEX") for name in INDEXES
    }


def test_command_line_quotes_what_a_shell_would_take_apart() -> None:
    assert subject(None).command("doctor") == "memoria doctor"
    line = subject("my scope").command("forget", "-x", "a'b")
    assert shlex.split(line) == ["memoria", "forget", "--scope=my scope", "--", "-x", "a'b"]


def test_command_lines_name_the_database_that_was_examined() -> None:
    given = ("--uri=bolt://db:7687", "--password-file=my secret")
    one = subject("s", *given)
    assert shlex.split(one.command("forget", "-x")) == [
        *("memoria", "forget", "--scope=s"),
        *(*given, "--", "-x"),
    ]
    assert shlex.split(one.init) == ["memoria", "init", *given, "--embedder=none", "--dimensions=3"]


@pytest.mark.parametrize(
    ("recorded", "held", "embedder", "options"),
    [
        (None, None, None, []),
        (384, 384, "all-minilm-l6-v2-q", ["--embedder=all-minilm-l6-v2-q"]),
        (384, None, "all-minilm-l6-v2-q", ["--embedder=all-minilm-l6-v2-q"]),
        (384, 384, "my own", ["--embedder=none", "--dimensions=384"]),
        (8, 8, "all-minilm-l6-v2-q", ["--embedder=none", "--dimensions=8"]),
        (None, 768, None, ["--embedder=none", "--dimensions=768"]),
        (768, 7, None, ["--embedder=none", "--dimensions=768"]),  # once the index is dropped
    ],
)
def test_init_is_for_the_vectors_that_the_database_was_set_up_for(
    recorded: int | None, held: int | None, embedder: str | None, options: list[str]
) -> None:
    facts = replace(FACTS, dimensions=held, embedder=embedder)
    line = subject("s", facts=facts, recorded=recorded).init
    assert shlex.split(line) == ["memoria", "init", *options]


def test_where_no_energy_is_lost_hubs_have_no_share_of_it() -> None:
    hubs = find_hubs({("s", "a"): [0.0]}, {("s", "a"): 100}, TransferEnergy())
    assert [(hub.id, hub.lost, hub.share) for hub in hubs] == [("a", 0.0, 0.0)]


def test_severity_of_an_examination_is_the_worst() -> None:
    def examined(*severities: Severity) -> Examination:
        found = tuple(Finding(check="a.b", severity=name, message="m") for name in severities)
        return Examination(scope=None, server=FACTS, findings=found)

    assert examined("ok", "error", "note").severity == "error"
    assert examined("note", "warning", "ok").severity == "warning"
    assert examined().severity == "ok"


def shown(examination: Examination, *, terminal: bool, width: int = 60, every: bool = False) -> str:
    text = io.StringIO()
    console = Console(
        file=text,
        force_terminal=terminal,
        width=width,
        color_system="standard" if terminal else None,
        highlight=False,
    )
    show(examination, console, every=every)
    return text.getvalue()


EXAMINATION = Examination(
    scope=None,
    server=FACTS,
    findings=(
        Finding(check="server.version", severity="ok", message="Neo4j 2026.08.1"),
        Finding(
            check="edges.bad_weight",
            severity="error",
            message="edges whose weight is no number: 7 of 9; " + "they carry nothing " * 4,
            remedy="store numbers",
            command="memoria forget " + "some-id " * 20 + "end",
            count=7,
            examples=("a\x1b[2J -[r]-> [b]",),
        ),
    ),
    histogram=(Bucket(low=0, high=0, count=1), Bucket(low=1, high=1, count=1_000_000)),
    hubs=(Hub(id="h", scope="s", degree=400, lost=1.5, share=0.25, explorations=3),),
    explored=20,
)


def test_on_a_terminal_there_are_colours_and_marks_and_the_command_stands_whole() -> None:
    text = shown(EXAMINATION, terminal=True, every=True)
    assert "\x1b[2J" not in text, "what an id holds never reaches the terminal"
    assert re.search(r"\x1b\[1;31m✗", text)
    assert re.search(r"\x1b\[32m✓", text)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert f"\n    {EXAMINATION.findings[1].command}\n" in plain
    findings = plain.partition("what to do")[0]
    assert max(map(len, findings.splitlines())) <= 60, "long messages are wrapped"
    assert "such as a\\x1b[2J -[r]-> [b], ..." in plain
    assert "25.0%" in plain


def test_elsewhere_it_is_plain_and_a_line_for_each_finding() -> None:
    text = shown(EXAMINATION, terminal=False)
    assert "\x1b" not in text
    lines = text.splitlines()
    (line,) = [line for line in lines if line.startswith("  error")]
    assert line.split() == [
        "error",
        "bad_weight",
        *EXAMINATION.findings[1].message.split(),
    ]
    assert lines[-1] == "1 error, 1 ok; --all shows them all"


def test_only_what_is_not_ok_is_shown_unless_all_is_asked_for() -> None:
    text = shown(EXAMINATION, terminal=False)
    assert "Neo4j 2026.08.1" not in text
    assert "█" not in text
    everything = shown(EXAMINATION, terminal=False, every=True)
    assert "Neo4j 2026.08.1" in everything
    assert "█" in everything
    assert everything.splitlines()[-1] == "1 error, 1 ok"
    well = Examination(scope=None, server=FACTS, findings=EXAMINATION.findings[:1])
    assert shown(well, terminal=False) == "1 ok; --all shows them all\n"


def finding(check: str, severity: Severity = "error", **more: Any) -> Finding:
    given = {"message": f"message of {check}", "remedy": "do it", "command": "memoria init"}
    return Finding(check=check, severity=severity, **{**given, **more})


def test_findings_of_one_cause_are_told_once() -> None:
    plans = [finding(f"plans.{name}", cause="indexes.record") for name in "abc"]
    found = (finding("indexes.record"), *plans)
    text = shown(Examination(scope=None, server=FACTS, findings=found), terminal=False)
    assert text.splitlines() == [
        "",
        "indexes",
        "  error  record  message of indexes.record",
        "",
        "what to do",
        "  indexes.record: do it",
        "    memoria init",
        "",
        "1 error, 3 others of the same cause; --all shows them all",
    ]
    everything = shown(
        Examination(scope=None, server=FACTS, findings=found), terminal=False, every=True
    )
    assert "message of plans.c" in everything
    assert everything.splitlines()[-1] == "4 errors"


def test_equal_remedies_are_told_once_with_the_checks_and_the_words_of_the_worst() -> None:
    found = (
        finding("indexes.a", "warning", remedy="wait", examples=("x", "y"), count=2),
        finding("indexes.b", remedy="make it", examples=("y", "z"), count=9),
        *(finding(f"indexes.{name}", "note") for name in "cd"),
        finding("indexes.e", command="memoria up"),
    )
    text = shown(Examination(scope=None, server=FACTS, findings=found), terminal=False)
    assert text.partition("what to do\n")[2].splitlines()[:5] == [
        "  indexes.a, indexes.b, indexes.c and 1 more: make it",
        "    such as x, y, z, ...",
        "    memoria init",
        "  indexes.e: do it",
        "    memoria up",
    ]


def test_a_bar_shows_for_every_memory_and_the_largest_is_the_widest() -> None:
    text = shown(EXAMINATION, terminal=False, every=True)
    bars = [line.count("█") for line in text.splitlines() if "█" in line]
    assert bars == [1, BAR_CHARS]


def test_on_a_narrow_terminal_no_name_is_cut() -> None:
    names = [f"memory_embedding{part}" for part in ("", ".similarity", ".quantisation")]
    found = tuple(
        Finding(check=f"indexes.{name}", severity="ok", message="a word " * 9) for name in names
    )
    text = shown(
        Examination(scope=None, server=FACTS, findings=found), terminal=True, width=40, every=True
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "…" not in plain
    assert max(map(len, plain.splitlines())) <= 40
    rows = [line[4:].split("  ")[0].strip() for line in plain.splitlines() if line.strip()]
    assert "".join(names) in "".join(rows), rows
