from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import memoria
from memoria.connection import find_target, given_auth
from memoria.embed import OnnxEmbedder
from memoria.errors import ConfigError, LocalServerError, UnavailableError
from memoria.local import LocalNeo4j


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Credentials that arguments win over."""
    monkeypatch.setenv("NEO4J_USERNAME", "environment")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    return monkeypatch


def test_a_given_user_wins_over_the_environment() -> None:
    assert given_auth("given") == ("given", "secret")
    assert given_auth("given", password="other") == ("given", "other")
    assert given_auth(None, password="other") == ("environment", "other")


def test_a_password_file_is_read_without_its_line_break(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from-file\n")
    assert given_auth("given", password_file=file) == ("given", "from-file")
    assert given_auth(None, password_file=file) == ("environment", "from-file")


async def test_a_connection_that_is_not_open_says_how_to_open_it() -> None:
    connection = memoria.connect("bolt://host:1", scope="alice")
    with pytest.raises(AttributeError, match="async with") as said:
        _ = connection.recall
    assert "memoria.open" in str(said.value)
    assert "'recall'" in str(said.value)
    assert not hasattr(connection, "recall")


async def test_a_scope_in_place_of_an_address_says_how_a_scope_is_given() -> None:
    with pytest.raises(ConfigError, match=r'given as scope="\.\.\."'):
        await memoria.open("mist", scope="alice")
    with pytest.raises(ConfigError) as said:
        await memoria.open("http://host", scope="alice")
    assert "scope=" not in str(said.value)


async def test_nothing_given_leaves_the_choice_to_the_environment() -> None:
    assert given_auth(None) is None
    target = await find_target("bolt://host:1", given_auth(None))
    assert target.auth == ("environment", "secret")


def test_a_user_without_any_password_is_told_what_to_give(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.delenv("NEO4J_PASSWORD")
    with pytest.raises(ConfigError, match=r"user 'ada'.*password file.*NEO4J_PASSWORD"):
        given_auth("ada")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b" \n"])
def test_a_password_file_that_holds_none_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "the-file"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match="the-file"):
        given_auth("ada", password_file=file)


def test_home_of_the_environment_holds_without_the_command_line(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("MEMORIA_HOME", str(tmp_path / "elsewhere"))
    assert LocalNeo4j().home == tmp_path / "elsewhere"
    assert LocalNeo4j(tmp_path / "given").home == tmp_path / "given"


async def test_models_are_kept_in_the_home_of_the_environment(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    environment.setenv("MEMORIA_HOME", str(tmp_path / "file"))
    with pytest.raises(LocalServerError, match="can't get the embedding model"):
        await OnnxEmbedder().load()


async def test_without_any_database_the_error_names_the_home_that_it_looked_at(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.delenv("NEO4J_URI", raising=False)
    environment.setenv("MEMORIA_HOME", str(tmp_path / "elsewhere"))
    with pytest.raises(UnavailableError, match=r"no database: .*`memoria up`.*MEMORIA_HOME") as had:
        await find_target()
    assert str(tmp_path / "elsewhere") in str(had.value)


def test_without_the_extra_of_the_local_server_its_remedy_is_the_first_too() -> None:
    code = (
        "import asyncio, sys; sys.modules['psutil'] = None\n"
        "from memoria.connection import find_target; asyncio.run(find_target())"
    )
    bare = {name: value for name, value in os.environ.items() if name != "NEO4J_URI"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=False
    )
    assert re.search(r"no database: .*`memoria up`.* NEO4J_URI.*\[local\]", done.stderr), (
        done.stderr
    )
