"""Every command that uses a database, against right and wrong ones; what retrieval prints."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import neo4j
import pytest

from memoria import cli
from memoria.recall.strategies import STRATEGIES
from memoria.store import Store, Target
from tests.docs.pages import DOCTOR_PAGE, documented_json
from tests.for_each import for_each
from tests.integration.doctor.plans import few_plans

COMMANDS = cli.all_commands()
OPTIONS = {
    name: {option for parameter in command.params for option in parameter.opts}
    for name, command in COMMANDS.items()
}
SERVES = {"mcp", "serve", "view", "hook"}  # these serve until they are ended, or end their process
ON_DATABASE = [name for name in COMMANDS if "--uri" in OPTIONS[name] and name not in SERVES]
TRACE = str(Path(__file__).parents[2] / "data" / "trace.json")
VAULT = str(Path(__file__).parents[2] / "data" / "vault")
HARBOUR = str(Path(__file__).parents[2] / "data" / "harbour")
CHATS = str(Path(__file__).parents[2] / "data" / "chats" / "chatgpt")
# What each of them can't do without; a new command that needs something must say so here.
ARGUMENTS = {
    "ingest": ["-"],
    "import-chats": ["chatgpt", CHATS],
    "import-notes": [VAULT],
    "recall": ["rain"],
    "adopt": ["--detect"],
    "remember": ["Rain in Ystad."],
    "explore": ["a"],
    "get": ["a"],
    "neighbours": ["b"],
    "forget": ["c", "--yes"],
    "delete-edge": ["a", "b"],
    "forget-scope": ["nobody", "--yes"],
    "evaluate": [HARBOUR],
    "tune": [HARBOUR, "--out", os.devnull],
    "replay": [TRACE],
    "learn reinforce": [TRACE, "--used", "b"],
    "learn feedback": [TRACE, "--confirmed", "b"],
    "learn co-activate": [TRACE],
    "learn suppress": ["a", "b", "--kind", "conflicts"],
    "learn undo": ["--since", "2026-05-02T18:00"],
}
# Commands that can do nothing without an embedder; the doctor's remedies run them on a database
# whose embedder the command line knows.
WITH_AN_EMBEDDER = {"embed", "reembed"}
# It refuses memoria's own graph; `test_mapping` has its documents.
ON_ANOTHER_GRAPH = {"adopt"}
# They start a server of their own where no database is named.
WITH_A_SERVER = {"evaluate", "tune"}
LINES = (
    '{"id": "a", "kind": "Event", "text": "Rain in Lund."}',
    '{"id": "b", "kind": "Event", "text": "The cellar was wet."}',
    '{"id": "c", "kind": "Event", "text": "A pump was bought."}',
    '{"source": "a", "target": "b", "relation": "caused", "weight": 0.8}',
    '{"source": "b", "target": "c", "relation": "caused", "weight": 0.8}',
)


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int | str | None
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Run a command in this process: as a user does, but for the start of Python."""
    monkeypatch.setenv("MEMORIA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")

    return in_process


def in_process(*arguments: str, stdin: str | bytes = "", **variables: str) -> Done:
    """Run a command in this process, with these variables of the environment besides."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    streams = [io.TextIOWrapper(io.BytesIO(data)) for data in (given, b"", b"")]
    codes: list[int | str | None] = []

    def main() -> None:
        try:
            cli.main()
            codes.append(0)
        except SystemExit as exc:
            codes.append(exc.code)

    with pytest.MonkeyPatch.context() as patch:
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["memoria", *arguments])
        thread = threading.Thread(target=main)  # it runs an event loop; here is one already
        thread.start()
        thread.join()
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    assert codes, "the command ended with an error of its own"
    return Done(codes[0], *texts)


@pytest.fixture
def secret(tmp_path: Path, target: Target) -> Path:
    file = tmp_path / "secret"
    file.write_text(target.auth[1])  # type: ignore[index]
    return file


@pytest.fixture
def here(target: Target, driver: neo4j.AsyncDriver, secret: Path, scope: str) -> list[str]:  # noqa: ARG001
    """Options that name the server under test and the test's scope."""
    return ["--uri", target.uri, "--password-file", str(secret), "--scope", scope]


@pytest.fixture
def filled(call: Call, here: list[str]) -> list[str]:
    """The same, with three memories in a row there."""
    done = call("ingest", "-", "--embedder", "none", *here, stdin="\n".join(LINES))
    assert done.code == 0, done.err
    return here


def with_arguments(name: str, *more: str) -> list[str]:
    """A command with what it needs, without an embedder, and with more options that it has."""
    taken = [*more]
    without = "--scope" not in OPTIONS[name] or TRACE in ARGUMENTS.get(name, [])
    if "--scope" in taken and without:
        place = taken.index("--scope")
        del taken[place : place + 2]
    if "--embedder" in OPTIONS[name] and name not in WITH_AN_EMBEDDER:
        taken += ["--embedder", "none"]
    return [*name.split(), *ARGUMENTS.get(name, []), *taken]


@for_each("name", ON_DATABASE)
def test_a_database_that_can_not_be_used_is_one_line(
    call: Call, name: str, target: Target, secret: Path, scope: str
) -> None:
    # Another user each time: the server locks one out who is wrong three times.
    wrong = ["--user", scope, "--password-file", str(secret)]
    cases: list[tuple[list[str], str]] = [
        *([] if name in WITH_A_SERVER else [([], "memoria up")]),
        (["--uri", "bolt://127.0.0.1:1"], "127.0.0.1:1"),
        (["--uri", "nonsense://x"], "bolt"),
        (["--uri", "http://localhost:7474"], "bolt"),
        (["--uri", "127.0.0.1:7687"], "bolt"),
        (["--uri", target.uri, *wrong], "check user and password"),
        (["--uri", target.uri], "no user and password given"),
        (["--uri", target.uri, "--user", "ada"], "NEO4J_PASSWORD"),
    ]
    # The options of a connection are made in one place, and so is what is said of them. All of it
    # is tried with one command; the others show that they have these options.
    for number, (options, named) in enumerate(cases if name == "recall" else cases[:2]):
        more = ["--json"] if number % 2 and "--json" in OPTIONS[name] else []
        done = call(*with_arguments(name, *options, *more))
        assert done.code == 1, (options, done)
        assert done.out == ""
        [line] = done.err.splitlines()
        assert line.startswith("memoria: ")
        assert named in line
        assert not line.endswith(":)")


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in ON_DATABASE
        if "--json" in OPTIONS[name] and name not in {*WITH_AN_EMBEDDER, *ON_ANOTHER_GRAPH}
    ],
)
def test_json_is_one_document(call: Call, name: str, filled: list[str]) -> None:
    with few_plans():  # the doctor need not have the server plan all queries
        done = call(*with_arguments(name, "--json", *filled))
    # What other tests left in the database is the doctor's to report.
    assert done.code in ({0, 4, 5} if name == "doctor" else {0}), done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    documented = DOCTOR_PAGE if name == "doctor" else documented_json(name)
    assert [key for key in found if f"`{key}`" not in documented] == []


def test_recall_prints_the_context_then_the_paths_to_it_then_one_line(
    call: Call, filled: list[str]
) -> None:
    done = call("recall", "rain", "--embedder", "none", "--budget", "60", *filled)
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.out.splitlines() == [
        *call("pack", "-", "--budget", "60", stdin=json_of(call, filled)).out.splitlines(),
        "",
        "1 path leads to it",
        "[1] a 1.0000 -caused-> [2] b 0.8000 -caused-> [3] c 0.4525",
        "",
        done.out.splitlines()[-1],
    ]
    last = done.out.splitlines()[-1]
    assert re.match(r"\d+ ms in all; 1 seed, 1 path, 3 memories; ", last)
    assert " of 60 tokens for 3 memories, " in last
    assert last.endswith("; no embedder: searched by words only")
    wordy = call("recall", "rain", "--embedder", "none", "--verbose", *filled)
    assert re.search(r"; embed \d+ ms, .*explore \d+ ms, .*; no embedder", wordy.out)


def test_recall_folds_the_paths_that_lead_elsewhere(call: Call, filled: list[str]) -> None:
    asked = ("recall", "rain", "--embedder", "none", "--exclude-id", "c", *filled)
    where = json.loads(call(*asked, "--json", "--full").out)
    [path] = [path["ids"] for each in where["explorations"] for path in each["paths"]]
    packed = [item["id"] for item in where["context"]["items"]]
    assert path[-1] not in packed
    assert "1 path leads to it" in call(*asked).out
    assert f"-> {path[-1]} " not in call(*asked).out
    assert f"-> {path[-1]} " in call(*asked, "--paths").out


def test_the_context_alone_leaves_the_warnings_to_standard_error(
    call: Call, filled: list[str]
) -> None:
    asked = ("recall", "rain", "--embedder", "none", "--context", "--tag", "wet", *filled)
    done = call(*asked)
    assert "no embedder: searched by words only" in done.err
    assert "the tag 'wet'" in done.err
    assert "no embedder" not in done.out


def test_recall_prints_the_context_alone_and_draws_files(
    call: Call, filled: list[str], tmp_path: Path
) -> None:
    svg, html = tmp_path / "why.svg", tmp_path / "why.html"
    asked = ("recall", "rain", "--embedder", "none", "--budget", "60", *filled)
    done = call(*asked, "--context", "--svg", str(svg), "--html", str(html))
    assert done.code == 0, done.err
    assert done.out == call("pack", "-", "--budget", "60", stdin=json_of(call, filled)).out
    picture = svg.read_text("utf-8")
    assert picture.count('class="box packed"') == 3
    page = html.read_text("utf-8")
    assert picture.rstrip() in page
    assert page.index("<h2>Context</h2>") < page.index(picture.rstrip())
    assert "<title>rain</title>" in page
    for file in (svg, html):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_named(
    call: Call, filled: list[str], tmp_path: Path
) -> None:
    there = tmp_path / "no" / "why.svg"
    done = call("recall", "rain", "--embedder", "none", "--svg", str(there), *filled)
    assert done.code == 1
    assert f"{there} can't be written" in done.err


def json_of(call: Call, filled: list[str]) -> str:
    return call("recall", "rain", "--embedder", "none", "--json", "--full", *filled).out


def test_recall_as_json_has_the_documented_fields(call: Call, filled: list[str]) -> None:
    found = json.loads(json_of(call, filled))
    assert set(found) == {
        *("query", "query_tags", "scope", "seeds", "runners_up", "echoes", "loose"),
        *("explorations", "hits", "needed", "edges", "memories", "ranked", "context", "trace"),
    }
    assert found["query"] == "rain"
    scores = [ranked["score"] for ranked in found["ranked"]]
    assert scores == sorted(scores, reverse=True)
    assert set(found["memories"]) == {"a", "b", "c"}


def test_recall_as_json_is_brief_unless_all_is_asked_for(call: Call, filled: list[str]) -> None:
    asked = ("recall", "rain", "--embedder", "none", "--json", *filled)
    done = call(*asked)
    found, everything = json.loads(done.out), json.loads(json_of(call, filled))
    assert [key for key in found if f"`{key}`" not in documented_json("recall")] == []
    assert found["context"]["text"] == everything["context"]["text"]
    assert [path["ids"] for path in found["paths"]] == [["a", "b", "c"]]
    assert found["more_paths"] == 0
    assert set(found["memories"]) == {"a", "b", "c"}
    for command in (("pack", "-"), ("learn", "co-activate", "-"), ("replay", "-")):
        refused = call(*command, stdin=done.out)
        assert refused.code == 1
        assert "print it with recall --json --full" in refused.err
    alone = call("recall", "rain", "--embedder", "none", "--full", *filled)
    assert alone.code == 2
    assert "--json" in alone.err


def test_remember_writes_once_and_says_what_it_did(call: Call, filled: list[str]) -> None:
    words = ["--embedder", "none", *filled]
    first = call("remember", "The pump is red.", "--about", "c", "--tag", "pump", *words)
    scope = filled[filled.index("--scope") + 1]
    assert re.fullmatch(rf"remembered mem-\w+; 1 edge made; scope {scope}\n", first.out)
    id_ = first.out.split()[1].rstrip(";")
    again = call("remember", "the pump is really red", *words)
    assert again.out == f"not stored: {id_} already says this; scope {scope}\n"
    told = json.loads(
        call("remember", "-", "--supersedes", id_, "--json", *words, stdin="It is blue.").out
    )
    assert set(told) == {
        *("id", "created", "duplicate_of", "echo_of", "similar", "edges", "superseded", "certain"),
        *("may_replace", "superseded_by", "pending_vectors"),
    }
    assert (told["created"], told["superseded"]) == (True, [id_])
    outdated = call("remember", "The pump is red.", *words)
    assert outdated.err.strip() == f"it is no longer valid: {told['id']} supersedes it"
    assert f"superseded_by: {told['id']}" in call("get", id_, *filled).out.splitlines()
    shown = json.loads(call("get", id_, told["id"], "--json", *filled).out)
    assert shown["superseded"] == {id_: told["id"]}
    near = call("neighbours", id_, *filled).out
    assert near.startswith(f"it is no longer valid: {told['id']} supersedes it\n")
    assert f"(superseded by {told['id']}) The pump is red." in call("neighbours", "c", *filled).out
    joined = json.loads(call("neighbours", "c", "--json", *filled).out)
    assert joined["superseded"] == {id_: told["id"]}
    missing = call("remember", "New.", "--because-of", "nope", *words)
    assert missing.code == 1
    assert "'nope'; nothing was written" in missing.err
    dated = call("remember", "A note.", "--created-at", "2025-03-08", *words).out.split()[1]
    assert "created_at: 2025-03-08T00:00:00+00:00" in call("get", dated.rstrip(";"), *filled).out
    for option in ("--created-at", "--valid-until"):
        wrong = call("remember", "A note.", option, "soon", *words)
        assert wrong.code == 2
        assert option in wrong.err
    unknown = call("remember", "Another note.", "--kind", "Note", *words)
    assert unknown.code == 0


def test_what_recall_ranked_is_packed_in_that_order(call: Call, filled: list[str]) -> None:
    done = call("recall", "rain cellar pump", "--embedder", "none", "--json", "--full", *filled)
    found = json.loads(done.out)
    found |= {"explorations": [], "edges": []}
    ids = ["c", "a", "b"]
    found["hits"] = [
        {"seed_id": id_, "ids": [id_], "hops": [], "end_reason": "not_explored", "energy": 0.5}
        for id_ in sorted(ids)
    ]
    for ranked in found["ranked"]:
        ranked |= {"score": 1 / (1 + ids.index(ranked["id"])), "path": [ranked["id"]]}
    packed = json.loads(call("pack", "-", "--json", stdin=json.dumps(found)).out)
    assert [item["id"] for item in packed["items"]] == ids


def test_without_vectors_the_only_memory_with_the_word_ranks_first(
    call: Call, filled: list[str]
) -> None:
    found = json.loads(json_of(call, filled))
    assert [ranked["id"] for ranked in found["ranked"]] == ["a", "b", "c"]


def test_recall_heeds_its_options(call: Call, filled: list[str]) -> None:
    base = ["recall", "rain cellar pump", "--embedder", "none", "--json", "--full", *filled]
    few = json.loads(call(*base, "--max-seeds", "1", "--depth", "1", "--tag", "wet").out)
    assert len(few["seeds"]) == 1
    assert few["query_tags"] == []  # no edge has it
    assert "the tag 'wet'" in " ".join(few["trace"]["degraded"])
    assert {len(path["hops"]) for path in few["explorations"][0]["paths"]} == {1}
    assert json.loads(call(*base, "--kind", "DataSource").out)["seeds"] == []
    text = json.loads(call(*base, "--format", "json", "--order", "time").out)["context"]["text"]
    assert json.loads(text)


def test_recall_takes_the_tags_of_a_question_from_its_words(call: Call, filled: list[str]) -> None:
    tagged = '{"source": "a", "target": "b", "relation": "caused", "weight": 0.8, "tags": ["Rain"]}'
    assert call("ingest", "-", "--embedder", "none", *filled, stdin=tagged).code == 0
    base = ["recall", "rain?", "--embedder", "none", "--json", "--full", *filled]
    assert json.loads(call(*base).out)["query_tags"] == []
    assert json.loads(call(*base, "--auto-tags").out)["query_tags"] == ["Rain"]
    both = call(*base, "--auto-tags", "--tag", "wet")
    assert both.code == 2
    assert "either --tag or --auto-tags" in both.err


FURTHER = (
    {
        "id": "n.md",
        "kind": "Event",
        "text": "Notes on the trade",
        "metadata": {"title": "Trade"},
        "created_at": "2026-05-05T10:00:00Z",
    },
    {
        "id": "n.md#2",
        "kind": "Event",
        "text": "".join(f"Part {n} of the pump was cleaned on day {n}. " for n in range(5, 20))
        + "The cellar has a float switch. "
        + "".join(f"Valve {n} was closed before anybody came. " for n in range(20)),
        "metadata": {"title": "Trade"},
        "created_at": "2026-05-06T10:00:00Z",
    },
    {"source": "c", "target": "n.md#2", "relation": "described_in", "weight": 0.1},
)


@pytest.mark.parametrize(
    "asked",
    [
        ("rain cellar pump float", "--max-seeds", "1", "--depth", "1"),
        ("rain cellar pump float", "--max-seeds", "1", "--depth", "1", "--relevance", "none"),
        ("What happened last week?", "--as-of", "2026-05-12"),
    ],
    ids=["relevance", "energy", "time"],
)
def test_recall_packed_again_gives_the_same_context(
    call: Call, filled: list[str], asked: tuple[str, ...]
) -> None:
    """With edges that no path took, sentences by the question, and memories of a time."""
    lines = "\n".join(map(json.dumps, FURTHER))
    assert call("ingest", "-", "--embedder", "none", *filled, stdin=lines).code == 0
    for budget in ("80", "150", "2000"):
        done = call(
            *("recall", *asked, "--embedder", "none", "--budget", budget, "--json", "--full"),
            *filled,
        )
        found = json.loads(done.out)
        assert found["context"]["items"]
        packed = call("pack", "--budget", budget, "--json", stdin=done.out)
        assert json.loads(packed.out) == found["context"]


def test_recall_says_that_nothing_fits_into_the_budget(call: Call, filled: list[str]) -> None:
    for more in ([], ["--json"]):
        done = call("recall", "rain", "--embedder", "none", "--budget", "1", *more, *filled)
        assert done.code == 0
        assert done.err == "nothing fits into 1 token; --budget gives more\n"
    # The paths and the summary, and no empty lines around a context that is not there.
    done = call("recall", "rain", "--embedder", "none", "--budget", "1", *filled)
    assert len(done.out.splitlines()) == 2


def test_recall_of_nothing_says_so(call: Call, filled: list[str]) -> None:
    done = call("recall", "xylophone", "--embedder", "none", *filled)
    assert done.code == 0
    assert done.err.startswith("nothing found in scope 'test-")
    assert done.out == "no embedder: searched by words only\n"
    done = call("recall", "rain", "--embedder", "none", "--until", "1999-01-01", *filled)
    assert done.err.startswith("nothing found in scope 'test-")
    assert "(made before: 1999-01-01T00:00:00+00:00): widen it, or leave it out\n" in done.out


def test_recall_in_a_scope_without_memories_is_one_sentence(call: Call, here: list[str]) -> None:
    done = call("recall", "rain", "--embedder", "none", *here)
    assert done.out == "no embedder: searched by words only\n"
    assert done.err.startswith(f"scope {here[-1]!r} has no memories")


def test_recall_of_hits_alone_shows_no_paths(call: Call, here: list[str]) -> None:
    assert call("remember", "Rain.", "--kind", "Event", "--embedder", "none", *here).code == 0
    asked = ("recall", "rain", "--embedder", "none", *here)
    assert "leads to it" not in call(*asked).out
    assert "1 path leads to it" in call(*asked, "--paths").out


def test_recall_with_a_wrong_setting_is_one_line(call: Call, filled: list[str]) -> None:
    for options, named in (
        (["--depth", "0"], "max_depth"),
        (["--deadline", "-1"], "deadline_s"),
        (["--max-seeds", "0"], "max_seeds"),
        (["--kind", "no kind"], "kind"),
    ):
        done = call("recall", "rain", "--embedder", "none", *options, *filled)
        assert done.code == 1
        assert done.err.startswith("memoria: ")
        assert named in done.err
        assert len(done.err.splitlines()) == 1


def test_what_no_longer_holds_is_left_out_unless_asked_for(call: Call, here: list[str]) -> None:
    old = '{"id": "c", "kind": "Event", "text": "A pump.", "valid_until": "2026-05-02T18:00+00:00"}'
    go = '{"id": "b", "kind": "Event", "text": "The cellar.", "when": {"language": "go"}}'
    lines = "\n".join((LINES[0], go, old, *LINES[3:]))
    assert call("ingest", "-", "--embedder", "none", *here, stdin=lines).code == 0

    def reached(*options: str) -> list[str]:
        query = ["recall", "rain cellar pump", "--embedder", "none", "--json", "--full", *options]
        recalled = json.loads(call(*query, *here).out)
        explored = json.loads(call("explore", "a", "--json", *options, *here).out)
        assert explored["memories"].keys() == {entry["id"] for entry in recalled["ranked"]}
        return sorted(explored["memories"])

    assert reached() == ["a", "b"]
    assert reached("--include-outdated") == ["a", "b", "c"]
    assert reached("--situation", "language=go", "--situation", "tests=true") == ["a", "b"]
    assert reached("--situation", 'language=["rust"]') == ["a"]
    done = call("explore", "c", *here)
    assert done.code == 1
    assert "--include-outdated finds them" in " ".join(done.err.split())
    done = call("learn", "suppress", "a", "b", "--kind", "overrides", *here)
    assert done.code == 0, done.err
    assert reached() == ["a"]


def test_earlier_state_is_that_of_the_time_asked_for(call: Call, here: list[str]) -> None:
    lines = (
        '{"id": "a", "kind": "Event", "text": "Rain.", "created_at": "2026-01-01T00:00+00:00"}',
        '{"id": "b", "kind": "Event", "text": "Rain!", "created_at": "2026-03-01T00:00+00:00"}',
    )
    assert call("ingest", "-", "--embedder", "none", *here, stdin="\n".join(lines)).code == 0
    query = [
        "recall",
        "rain",
        "--embedder",
        "none",
        "--json",
        "--full",
        "--as-of",
        "2026-02-01",
        *here,
    ]
    assert [entry["id"] for entry in json.loads(call(*query).out)["ranked"]] == ["a"]
    assert call("explore", "a", "--as-of", "2026-02-01", *here).code == 0
    assert call("explore", "b", "--as-of", "2026-02-01", *here).code == 1


def test_wrong_times_and_situations_are_wrong_usage(call: Call, here: list[str]) -> None:
    for options, message in (
        (["--as-of", "yesterday"], "is not a time such as"),
        (["--situation", "go"], "must be KEY=VALUE"),
        (["--situation", "=go"], "must be KEY=VALUE"),
    ):
        done = call("explore", "a", *options, *here)
        assert done.code == 2
        assert message in " ".join(done.err.split())


def test_another_embedder_than_the_databases_is_refused_with_advice(
    call: Call, filled: list[str]
) -> None:
    done = call("recall", "rain", *filled)
    assert done.code == 1
    assert "--embedder" in done.err


def test_recall_and_explore_take_a_strategy_by_its_name(call: Call, filled: list[str]) -> None:
    done = call(
        "recall", "rain", "--embedder", "none", "--strategy", "lif", "--json", "--full", *filled
    )
    settings = json.loads(done.out)["trace"]["config"]
    assert (settings["strategy"]["name"], settings["seeds"]["max_seeds"]) == ("lif", 8)
    fewer = ["--strategy", "lif", "--max-seeds", "2", "--json", "--full"]
    done = call("recall", "rain", "--embedder", "none", *fewer, *filled)
    assert json.loads(done.out)["trace"]["config"]["seeds"]["max_seeds"] == 2
    for strategy in STRATEGIES:
        done = call("explore", "a", "--strategy", strategy, *filled)
        assert done.out.startswith("a "), done.err


def test_recall_and_explore_take_the_settings_of_every_strategy(
    call: Call, filled: list[str], tmp_path: Path
) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text('{"bm25": 2.0}', encoding="utf-8")
    for strategy, setting, value in (
        ("transfer", "max_branches", 1),
        ("lif", "max_hops", 2),
        ("anchor", "iterations", 1),
        ("synapse", "max_steps", 2),
    ):
        chosen = ["--strategy", strategy, "--set", f"strategy.{setting}={value}"]
        assert call("explore", "a", *chosen, *filled).code == 0
        for relevance in ("none", str(weights)):
            options = [*chosen, "--relevance", relevance, "--embedder", "none", "--json", "--full"]
            trace = json.loads(call("recall", "rain", *options, *filled).out)["trace"]
            assert trace["config"]["strategy"]["name"] == strategy
            assert trace["config"]["strategy"][setting] == value
            wanted = None if relevance == "none" else 2.0
            weighed = trace["config"]["relevance"] or {"weights": {}}
            assert weighed["weights"].get("bm25") == wanted
            assert set(trace["contributed"]) == {"reached", "only_reached", "packed"}
    for options, message in (
        (["--set", "strategy.max_hops=2"], "transfer has no setting max_hops"),
        (["--set", "max_hops"], "must be KEY=VALUE"),
        (["--relevance", "nothing"], "is neither a file nor one of"),
    ):
        done = call("recall", "rain", "--embedder", "none", *options, *filled)
        assert done.code in (1, 2)
        assert message in " ".join(done.err.split())


def test_settings_of_another_strategy_are_refused(call: Call, filled: list[str]) -> None:
    for options, message in (
        (["--strategy", "lif", "--depth", "2"], "lif has no max_depth"),
        (["--strategy", "none"], "is not one of transfer, lif"),
    ):
        done = call("explore", "a", *options, *filled)
        assert done.code == 2
        assert message in " ".join(done.err.split())


def test_explore_prints_paths_and_names_seeds_that_are_not_there(
    call: Call, filled: list[str]
) -> None:
    done = call("explore", "a=0.5", "nobody", "--depth", "1", *filled)
    assert done.code == 0
    assert done.out.splitlines() == [
        "a 0.5000 -caused-> b 0.4000  (max depth)",
        "2 seeds, 1 path, 2 memories",
    ]
    assert done.err.startswith("no memory nobody in scope test-")
    for more in ([], ["--json"]):
        done = call("explore", "nobody", *more, *filled)
        assert done.code == 1
        assert "no memory nobody" in done.err


@pytest.mark.parametrize("command", [["recall", "rain", "--embedder", "none"], ["export"]])
def test_a_reader_that_has_gone_ends_the_command_quietly(
    filled: list[str], command: list[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "memoria", *command, *filled],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, "")


def test_explore_heeds_its_options(call: Call, filled: list[str]) -> None:
    base = ["explore", "b", "--json", *filled]
    for options, ids in (
        ([], [["b", "a"], ["b", "c"]]),
        (["--branches", "1"], [["b", "a"]]),
        (["--min-activation", "0.9"], [["b"]]),
        (["--tag", "wet", "--min-activation", "0.1"], [["b"]]),
    ):
        found = json.loads(call(*base, *options).out)
        assert [path["ids"] for path in found["explorations"][0]["paths"]] == ids


def test_what_explore_prints_can_be_packed(call: Call, filled: list[str]) -> None:
    explored = call("explore", "a", "--json", *filled)
    assert set(json.loads(explored.out)) == {"explorations", "memories"}
    packed = call("pack", "-", "--budget", "500", stdin=explored.out)
    assert packed.code == 0
    assert all(text in packed.out for text in ("Rain in Lund.", "The cellar", "A pump"))


def test_forget_says_what_it_deleted_and_what_was_not_there(call: Call, filled: list[str]) -> None:
    refused = call("forget", "a", *filled)
    assert refused.code == 2
    assert "--yes" in refused.err
    done = call("forget", "a", "nobody", "a", "--yes", *filled)
    assert done.code == 0
    assert done.out == "forgot a\n"
    assert done.err.startswith("no memory nobody in scope test-")
    done = call("forget", "-", "--yes", "--json", *filled, stdin="b\n\nnobody\r\n")
    assert json.loads(done.out) == {
        "dry_run": False,
        "forgotten": ["b"],
        "kept": [],
        "connectors": 0,
        "missing": ["nobody"],
        "certain": True,
    }
    assert "surrogate" in call("forget", "-", "--yes", *filled, stdin=b"\xff\n").err
    assert call("explore", "c", *filled).out.startswith("c 1.0000  (")


async def test_forget_says_whose_node_stays_and_deletes_it_when_told(
    call: Call, filled: list[str], store: Store, scope: str
) -> None:
    change = "MATCH (m:Memory {scope: $scope}) WHERE m.id IN ['a', 'b'] SET m.mark = $scope"
    await store.driver.execute_query(change, scope=scope)
    done = call("forget", "a", "c", "--yes", *filled)
    stays = "its node stays, as it has data of other programs: --delete-foreign deletes it"
    assert done.out == f"forgot a; {stays}\nforgot c\n"
    assert call("forget", "b", "--yes", "--delete-foreign", *filled).out == "forgot b\n"
    query = "MATCH (m {mark: $scope}) RETURN collect(m.id)"
    assert (await store.driver.execute_query(query, scope=scope)).records[0][0] == ["a"]


MEMORIES = (
    '{"id": "a", "kind": "Event", "text": "Rain\\nin Lund.", "tags": ["x"], '
    '"created_at": "2026-05-01T10:00:00Z", "metadata": {"n": 1}}',
    '{"id": "b", "kind": "UserRequest", "text": "A pump!", "tags": ["x", "y"], '
    '"created_at": "2026-05-03T10:00:00Z"}',
    '{"id": "c", "kind": "Event", "text": "The pump came.", '
    '"created_at": "2026-05-02T10:00:00Z", "metadata": {"n": 2, "from": "mail"}}',
    '{"source": "a", "target": "b", "relation": "led_to", "weight": 0.8, "tags": ["t"]}',
    '{"source": "c", "target": "b", "relation": "answers", "weight": 0.9}',
)


@pytest.fixture
def dated(call: Call, here: list[str]) -> list[str]:
    """Options that name the server and a scope with three memories of three days."""
    done = call("ingest", "-", "--embedder", "none", *here, stdin="\n".join(MEMORIES))
    assert done.code == 0, done.err
    return here


def test_get_shows_memories_in_full_and_names_those_that_are_not_there(
    call: Call, dated: list[str]
) -> None:
    done = call("get", "c", "nobody", "a", *dated)
    assert done.code == 0
    assert done.out.splitlines() == [
        "[c] Event",
        "created_at: 2026-05-02T10:00:00+00:00",
        "metadata: from=mail, n=2",
        "The pump came.",
        "",
        "[a] Event",
        "tags: x",
        "created_at: 2026-05-01T10:00:00+00:00",
        "metadata: n=1",
        "Rain",
        "in Lund.",
    ]
    assert done.err.startswith("no memory nobody in scope test-")
    assert call("get", "nobody", *dated).code == 1
    found = json.loads(call("get", "c", "nobody", "--json", *dated).out)
    assert [memory["id"] for memory in found["memories"]] == ["c"]
    assert found["missing"] == ["nobody"]


def test_list_goes_on_where_the_page_before_ended(call: Call, dated: list[str]) -> None:
    done = call("list", "--limit", "2", *dated)
    assert done.out.splitlines() == [
        "id  kind         made              text",
        "a   Event        2026-05-01 10:00  Rain in Lund.",
        "b   UserRequest  2026-05-03 10:00  A pump!",
    ]
    assert done.err == "there are more: --after b\n"
    done = call("list", "--after", "b", *dated)
    assert [line.split()[0] for line in done.out.splitlines()] == ["id", "c"]
    assert done.err == ""
    page = json.loads(call("list", "--limit", "2", "--json", *dated).out)
    assert ([memory["id"] for memory in page["memories"]], page["next"]) == (["a", "b"], "b")


def test_recent_shows_the_newest_first(call: Call, dated: list[str]) -> None:
    done = call("recent", *dated)
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["b", "c", "a"]
    found = json.loads(call("recent", "--limit", "1", "--json", *dated).out)
    assert [memory["id"] for memory in found["memories"]] == ["b"]


@pytest.mark.parametrize(
    ("options", "fitting"),
    [
        (["--kind", "Event"], "ac"),
        (["--with-tag", "x", "--with-tag", "y"], "b"),
        (["--since", "2026-05-02"], "bc"),
        (["--until", "2026-05-02T10:00:00Z"], "a"),
        (["--metadata", "n=2", "--metadata", "from=mail"], "c"),
        (["--exclude-id", "a", "--exclude-id", "b"], "c"),
        (["--with-tag", "z"], ""),
    ],
)
def test_every_command_with_a_filter_has_the_same_options(
    call: Call, dated: list[str], options: list[str], fitting: str
) -> None:
    for name in ("list", "recent"):
        found = json.loads(call(name, *options, "--json", *dated).out)
        assert sorted(memory["id"] for memory in found["memories"]) == list(fitting)
    recalled = call(
        "recall", "rain pump", "--embedder", "none", *options, "--json", "--full", *dated
    )
    assert sorted(entry["id"] for entry in json.loads(recalled.out)["ranked"]) == list(fitting)
    done = call("forget", *options, "--dry-run", "--json", *dated)
    assert json.loads(done.out) == {
        "dry_run": True,
        "forgotten": list(fitting),
        "kept": [],
        "connectors": 0,
        "missing": [],
        "certain": True,
    }
    lines = call("forget", *options, "--yes", *dated).out.splitlines()
    assert lines == ([f"forgot {id_}" for id_ in fitting] or ["nothing to forget"])
    left = json.loads(call("list", "--json", *dated).out)["memories"]
    assert [memory["id"] for memory in left] == [id_ for id_ in "abc" if id_ not in fitting]


def test_an_id_that_is_excluded_and_not_there_is_named(call: Call, dated: list[str]) -> None:
    for asked in (["list"], ["recent"], ["recall", "rain", "--embedder", "none", "--context"]):
        done = call(*asked, "--exclude-id", "a", "--exclude-id", "bb", *dated)
        assert done.code == 0
        assert "--exclude-id bb: no memory of scope" in " ".join(done.err.split())
        assert "--exclude-id a:" not in done.err
    for sure in ("--dry-run", "--yes"):  # else it would delete the memory that is meant
        done = call("forget", "--exclude-id", "bb", sure, *dated)
        assert done.code == 1
        assert "'bb', which --exclude-id names: nothing was deleted" in " ".join(done.err.split())
    assert len(json.loads(call("list", "--json", *dated).out)["memories"]) == 3


def test_wrong_filters_are_refused(call: Call, dated: list[str]) -> None:
    for options, code, message in (
        (["--since", "yesterday"], 2, "is not a time such as"),
        (["--metadata", "n"], 2, "must be KEY=VALUE"),
        (["--metadata", "n=[1]"], 1, "metadata can be asked for a string"),
        (["--kind", "no kind"], 1, "kind"),
        (["--since", "2026-05-02", "--until", "2026-05-02"], 1, "created_before must be later"),
    ):
        done = call("list", *options, *dated)
        assert done.code == code
        assert message in " ".join(done.err.split())


def test_context_of_a_filtered_recall_is_the_same_when_it_is_packed_again(
    call: Call, dated: list[str]
) -> None:
    for weights in ("default", "none"):
        query = ["recall", "rain", "--embedder", "none", "--relevance", weights, "--json", "--full"]
        found = call(*query, "--exclude-id", "b", *dated)
        context = json.loads(found.out)["context"]
        assert [item["id"] for item in context["items"]] == ["a", "c"]
        assert [(item["id"], item["reason"]) for item in context["omitted"]] == [("b", "filter")]
        assert "A pump!" not in context["text"]
        packed = call("pack", "--json", stdin=found.out)
        assert [item["id"] for item in json.loads(packed.out)["items"]] == ["a", "c"]


def test_neighbours_shows_edges_strongest_first(call: Call, dated: list[str]) -> None:
    done = call("neighbours", "b", *dated)
    assert [line.split() for line in done.out.splitlines()] == [
        ["edge", "weight", "uses", "id", "text"],
        ["<-answers-", "0.9000", "0", "c", "The", "pump", "came."],
        ["<-led_to-", "0.8000", "0", "a", "Rain", "in", "Lund."],
    ]
    done = call("neighbours", "b", "--limit", "1", *dated)
    assert done.err == "1 edge more; --limit shows more of them\n"
    found = json.loads(call("neighbours", "a", "--json", *dated).out)
    assert (found["memory"]["id"], found["degree"]) == ("a", 1)
    [edge] = found["neighbours"]
    assert edge["memory"]["id"] == "b"
    assert {name: edge[name] for name in ("relation", "direction", "weight", "tags", "uses")} == {
        "relation": "led_to",
        "direction": "out",
        "weight": 0.8,
        "tags": ["t"],
        "uses": 0,
    }
    done = call("neighbours", "nobody", *dated)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("no memory nobody in scope test-")


def test_delete_edge_says_what_it_deleted(call: Call, dated: list[str]) -> None:
    done = call("delete-edge", "a", "b", "--relation", "led_to", *dated)
    assert done.out.startswith("deleted 1 edge from a to b in scope test-")
    done = call("delete-edge", "a", "b", *dated)
    assert done.code == 0
    assert done.out.startswith("nothing deleted: no edge leads from a to b in scope test-")
    deleted = json.loads(call("delete-edge", "c", "b", "--json", *dated).out)
    assert deleted == {"deleted": 1, "certain": True}
    assert call("neighbours", "b", *dated).out == "it has no edges\n"


def test_forget_scope_prints_a_receipt_and_leaves_nothing(
    call: Call, dated: list[str], scope: str
) -> None:
    elsewhere = dated[: dated.index("--scope")]
    refused = call("forget-scope", scope, *elsewhere)
    assert refused.code == 2
    assert "--yes" in refused.err
    receipt = json.loads(call("forget-scope", scope, "--yes", "--json", *elsewhere).out)
    assert receipt.pop("finished_at").endswith("+00:00")
    nothing = dict.fromkeys(("suppressions", "pairs", "events", "changes", "clocks"), 0)
    found = {"scope": scope, "memories": 3, "kept": [], "relations": 2, "certain": True}
    assert receipt == {**found, **nothing}
    done = call("forget-scope", scope, "--yes", *elsewhere)
    assert done.out == (
        "deleted 0 memories, 0 edges, 0 suppressions, 0 pairs, 0 learning events, 0 changes, "
        f"0 clocks of scope {scope}\n"
    )
    said = f"scope {scope!r} has no memories; memoria stats --all lists the scopes\n"
    assert call("list", *dated).err == said


def test_what_there_is_one_of_is_counted_as_one(call: Call, here: list[str]) -> None:
    done = call("ingest", "-", "--embedder", "none", *here, stdin=LINES[0])
    counted = "1 memory (1 new, 0 embedded), 0 edges (0 new), 0 lines skipped; scope test-"
    assert done.out.startswith(counted)


def test_ingest_says_that_an_id_was_given_twice(call: Call, here: list[str]) -> None:
    again = LINES[0].replace("Rain", "Snow")
    done = call("ingest", "-", "--embedder", "none", *here, stdin=f"{LINES[0]}\n{again}\n")
    assert done.code == 0
    assert done.err == "1 memory with an id that comes again: the last memory of an id counts\n"


def test_scope_may_come_from_the_environment(
    call: Call, filled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = filled.index("--scope")
    monkeypatch.setenv("MEMORIA_SCOPE", filled[place + 1])
    elsewhere = [*filled[:place], *filled[place + 2 :]]
    assert call("explore", "a", *elsewhere).code == 0


async def test_ingest_takes_kinds_that_are_declared(
    call: Call, here: list[str], store: Store, scope: str
) -> None:
    line = '{"id": "n", "kind": "Note", "text": "A note."}'
    refused = call("ingest", "-", "--embedder", "none", *here, stdin=line)
    assert refused.code == 1
    assert "--kind" in refused.err
    assert "--skip-invalid" in refused.err
    taken = call("ingest", "-", "--embedder", "none", "--kind", "Note", *here, stdin=line)
    assert taken.code == 0, taken.err
    query = "MATCH (m:Note {scope: $scope}) RETURN count(m)"
    assert (await store.driver.execute_query(query, scope=scope)).records[0][0] == 1


def test_init_with_vectors_of_another_size_than_the_index_is_refused(
    call: Call, here: list[str]
) -> None:
    options = here[: here.index("--scope")]
    refused = call("init", "--embedder", "none", "--dimensions", "768", *options)
    assert refused.code == 1
    assert "768" in refused.err
    assert call("init", "--embedder", "none", "--dimensions", "384", *options).code == 0


def on_terminal(*arguments: str, answer: bytes = b"") -> tuple[int, str]:
    """Run memoria on a terminal of its own; return its exit code and all that appeared there."""
    child, terminal = pty.fork()
    if child == 0:
        # Who runs the tests in the background has them, and all they start, ignore it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-m", "memoria", *arguments])
    shown = b""
    try:
        while True:
            # Python loses a Ctrl-C that comes while `input` gets ready: press again, as users do.
            asked = answer and shown.rstrip().endswith(b"[y/N]:")
            if asked and not select.select([terminal], [], [], 0.3)[0]:
                os.write(terminal, answer)
            elif chunk := os.read(terminal, 65_536):
                shown += chunk
            else:
                break
    except OSError:  # the other end is closed: on Linux that is how a terminal ends
        pass
    finally:
        os.close(terminal)
        status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_a_terminal_shows_the_context_before_the_paths(filled: list[str]) -> None:
    code, shown = on_terminal("recall", "rain", "--embedder", "none", *filled)
    assert code == 0, shown
    assert "\x1b[" in shown
    places = [shown.index(part) for part in ("Context\x1b", "[1]", "1 path leads", "0.4525")]
    assert places == sorted(places)


def test_a_terminal_breaks_the_context_between_words(call: Call, here: list[str]) -> None:
    words = [f"word{number:03}" for number in range(60)]
    line = json.dumps({"id": "long", "kind": "Event", "text": f"rain {' '.join(words)}"})
    assert call("ingest", "-", "--embedder", "none", *here, stdin=line).code == 0
    code, shown = on_terminal("recall", "rain", "--embedder", "none", *here)
    assert code == 0, shown
    context = shown.partition("Context\x1b")[2]
    assert set(words) <= set(context.split())
    assert max(map(len, context.partition(" ms in all")[0].splitlines())) <= 100


def test_embed_without_an_embedder_is_wrong_usage(call: Call, here: list[str]) -> None:
    done = call("embed", "--embedder", "none", *here)
    assert done.code == 2
    assert "name the embedder" in done.err


def test_forget_asks_on_a_terminal(call: Call, filled: list[str]) -> None:
    code, shown = on_terminal("forget", "a", *filled, answer=b"n\n")
    assert code == 1
    assert "nothing was deleted" in shown
    assert "Delete 1 memory of scope" in shown
    code, shown = on_terminal("forget", "a", *filled, answer=b"\x03")
    assert code == 130
    assert "Traceback" not in shown
    assert call("explore", "a", *filled).code == 0, "it is still there"
    code, shown = on_terminal("forget", "a", *filled, answer=b"y\n")
    assert code == 0
    assert "forgot a" in shown
    assert call("explore", "a", *filled).code == 1
