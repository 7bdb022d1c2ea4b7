"""The command line by itself: its commands, their help and options, wrong usage."""

from __future__ import annotations

import gc
import re
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from memoria.cli import EXIT_CODES, all_commands, app
from memoria.cli.connection import Connection
from memoria.cli.groups import with_options
from memoria.cli.output import check_file, opened
from memoria.cli.recall import _seed
from memoria.errors import InvalidInputError, UnavailableError
from memoria.importers import FORMATS
from memoria.types import Seed
from tests.for_each import for_each

COMMANDS = all_commands()
WITHOUT_JSON = {"export", "mcp", "serve", "hook", "view"}  # JSON Lines already, a protocol, a page


def memoria(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"})


@for_each("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_no_word_cut_at_eighty_columns(
    name: str,
) -> None:
    done = CliRunner().invoke(
        app, [*name.split(), "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"}
    )
    assert done.exit_code == 0
    help_text, examples = done.output.split("Examples:")
    summary = COMMANDS[name].help.partition("\n\n")[0]
    assert " ".join(summary.split()) in " ".join(help_text.split())
    assert f"memoria {name}" in examples
    assert "…" not in done.output
    options = done.output.partition("─ Options ─")[2]
    assert not re.search(r"<(str|int|float|path|list\[)", options)  # types are Python's words


@for_each("name", COMMANDS)
def test_every_command_prints_json_on_request(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert ("--json" in options) != (name in WITHOUT_JSON)


@for_each("name", COMMANDS)
def test_every_command_on_the_database_lets_it_be_chosen(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    needs_none = name in {"up", "down", "status", "logs", "import", "pack", "mcp-token", "queries"}
    for option in ("--uri", "--user", "--password-file", "--database"):
        assert (option in options) != needs_none


def test_every_format_of_chats_is_in_the_help_and_a_mistyped_one_gets_the_nearest() -> None:
    told = memoria("import-chats", "--help").output
    assert all(name in told for name in ("auto", *FORMATS))
    done = memoria("import-chats", "chatgbt", "x.zip")
    assert done.exit_code == 2
    assert "did you mean 'chatgpt'?" in " ".join(done.output.replace("│", "").split())
    assert "Value error" not in done.output


def test_a_question_without_quotes_says_to_put_it_in_quotes() -> None:
    done = memoria("recall", "Where", "do", "I", "live?")
    assert done.exit_code == 2
    assert "put the question in quotes" in " ".join(done.output.replace("│", "").split())
    assert "quotes" not in memoria("up", "x").output


def test_a_deletion_that_nobody_can_confirm_says_what_to_add() -> None:
    done = memoria("forget", "a")
    assert done.exit_code == 2
    assert "without a terminal nobody can be asked: add --yes" in done.output
    assert "Invalid value" not in done.output


def test_the_help_says_what_the_exit_codes_mean() -> None:
    done = memoria("--help")
    assert done.exit_code == 0
    assert EXIT_CODES in done.output
    assert all(f"{code} " in EXIT_CODES for code in (0, 1, 2, 3, 4, 5, 130))


def test_version_is_that_of_the_package() -> None:
    assert memoria("--version").output == f"memoria {version('memoria-graph')}\n"


def test_wrong_usage_exits_with_2() -> None:
    for arguments in (
        ["nonsense"],
        ["recall"],
        ["recall", "x", "--format", "html"],
        ["init", "--dimensions", "5"],
        ["pack", "--budget", "0"],
        ["pack", "-", "-"],
        ["stats", "--all", "--scope", "a"],
        ["export", "--output", ""],
        ["export", "--output", "folder/"],
        ["export", "--output", "folder/."],
        ["forget", "a"],  # nobody can be asked
        ["forget-scope", "a"],
        ["forget", "--yes"],
        ["forget", "a", "--kind", "Event", "--yes"],
        ["forget-scope", "--yes"],
    ):
        done = memoria(*arguments)
        assert done.exit_code == 2, arguments


@pytest.mark.parametrize("place", ["nowhere/x.jsonl", "file/x.jsonl.gz"])
def test_an_output_that_can_not_be_made_is_named_as_the_user_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"No such file|Not a directory") as caught, opened(place):
        pass
    assert caught.value.filename == place
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_file_that_can_not_be_written_is_refused_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_file(str(tmp_path / "x.json"), "--out") == tmp_path / "x.json"
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write where others may not
    with pytest.raises(typer.BadParameter, match="can't be written"):
        check_file(str(tmp_path / "x.json"), "--out")


def test_standard_input_named_twice_is_refused_with_the_reason() -> None:
    assert "standard input can be read only once" in memoria("pack", "-", "-").output


def test_stats_of_all_scopes_and_of_one_exclude_each_other() -> None:
    elsewhere = ["--uri", "bolt://127.0.0.1:1"]
    for scope in ("a", "default"):  # also the default, once it is said
        done = memoria("stats", "--all", "--scope", scope, *elsewhere)
        assert done.exit_code == 2
        assert "leave --scope out" in done.output
    assert isinstance(memoria("stats", "--all", *elsewhere).exception, UnavailableError)


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("pack", r"memoria pack \[OPTIONS\] \[FILE\]\.\.\."),
        ("tune", r"memoria tune \[OPTIONS\] \W?DATASET_DIR\W?\.\.\."),
        ("explore", r"memoria explore \[OPTIONS\] \W?SEED\W?\.\.\."),  # braces by Typer's version
    ],
)
def test_usage_shows_an_argument_of_many_once(name: str, usage: str) -> None:
    [line] = [line for line in memoria(name, "--help").output.splitlines() if "Usage: " in line]
    assert re.fullmatch(usage, line.split("Usage: ")[1].strip())


@for_each(
    "text, id_, score",
    [
        ("a", "a", 1.0),
        ("a=0.5", "a", 0.5),
        ("a=.5", "a", 0.5),
        ("a=5e-1", "a", 0.5),
        ("a=b", "a=b", 1.0),
        ("a=b=0.5", "a=b", 0.5),
        ("a=", "a=", 1.0),
        ("=", "=", 1.0),
        ("=0.5", "=0.5", 1.0),
        ("a=nan", "a=nan", 1.0),
        ("a=inf", "a=inf", 1.0),
        ("a=1_0", "a=1_0", 1.0),
    ],
)
def test_a_seed_is_an_id_and_perhaps_a_score(text: str, id_: str, score: float) -> None:
    assert _seed(text) == Seed(id=id_, score=score)


@pytest.mark.parametrize("text", ["a=0", "a=-1", "a=1.5", "a=1e999", ""])
def test_a_seed_with_an_impossible_score_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        _seed(text)


@pytest.mark.parametrize("text", ["a=0", "a=-1", "a=2"])
def test_the_range_of_a_score_is_named_with_its_open_end(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"score must be in \(0, 1\]"):
        _seed(text)


@pytest.mark.parametrize("name", ["reinforce", "feedback", "co-activate"])
def test_a_trace_that_is_not_there_is_the_only_complaint(name: str) -> None:
    used = ["--used", "a"] if name == "reinforce" else []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = memoria("learn", name, "nowhere.json", *used)
        assert isinstance(done.exception, FileNotFoundError)
        del done  # with it goes what the command had begun
        gc.collect()
    assert [str(each.message) for each in caught] == []


def test_the_help_of_the_version_says_that_the_command_ends() -> None:
    assert "Show the version and exit." in memoria("--help").output


def test_a_command_gets_its_connection_in_one_piece() -> None:
    got: list[tuple[Connection, str]] = []

    def look(name: str, *, connection: Connection) -> None:
        """Look."""
        got.append((connection, name))

    group = typer.Typer()
    group.command()(with_options(look))
    arguments = ["a", "--uri", "bolt://x", "--password-file", "my secret"]
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    [(connection, name)] = got
    assert (name, connection.uri, connection.password_file) == ("a", "bolt://x", Path("my secret"))
    assert (connection.user, connection.database) == (None, None)
    assert connection.as_options() == ("--uri=bolt://x", "--password-file=my secret")


@pytest.mark.parametrize(
    "name", ["x" * 5_000, "a\x00b", "no-such-file"], ids=["long", "null", "missing"]
)
def test_weights_that_no_file_can_hold_are_wrong_usage(name: str) -> None:
    done = memoria("recall", "a question", "--relevance", name)
    assert done.exit_code == 2
    assert "neither a file nor one of" in done.output
