"""A malformed secret never appears in a message, a traceback, a repr or a log."""

from __future__ import annotations

import io
import logging
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.secrets import SLOTS, leaks, shown
from memoria import connect
from memoria.agents.mcp.grants import Grant, add_line, hash_of, line_of, new_token, read_grants
from memoria.agents.mcp.places import Place
from memoria.cli.connection import Connection
from memoria.cli.hook import Limits, hook
from memoria.connection import find_target
from memoria.errors import ConfigError, MemoriaError
from memoria.store import Target
from tests.for_each import for_each

SECRET = "hunter2" * 2


@for_each(
    "slot, form",
    SLOTS,
)
async def test_a_secret_in_a_wrong_form_is_refused_without_showing_it(
    slot: Callable[[Any, str], Awaitable[None]], form: Any
) -> None:
    assert await leaks(slot, form, SECRET) is None


async def test_a_secret_in_the_environment_is_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NEO4J_URI", f"bolt://neo4j:{SECRET}@127.0.0.1:1")
    with pytest.raises(ConfigError) as caught:
        await find_target()
    assert SECRET not in shown(caught.value)
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_PASSWORD", SECRET)
    target = await find_target()
    assert SECRET not in repr(target)
    with caplog.at_level(logging.DEBUG), pytest.raises(MemoriaError) as away:
        await connect(target.uri, target.auth, scope="a").open()
    assert SECRET not in shown(away.value) + caplog.text


def test_the_file_of_tokens_is_for_its_owner_alone(tmp_path: Path) -> None:
    file, token = tmp_path / "tokens.txt", new_token()
    add_line(file, line_of(token, Grant(scope="alice")))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    file.write_text(file.read_text("utf-8").rstrip("\n"), "utf-8")
    add_line(file, line_of(new_token(), Grant(scope="bob")))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_grants(file)[hash_of(token)] == Grant(scope="alice")
    assert len(read_grants(file)) == 2


def test_a_file_of_tokens_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't write"):
        add_line(tmp_path, "a line")


@pytest.mark.parametrize("token", ["{}\nmore", "{}é", "{}\x00", "{}\x1b[31m"])
def test_a_token_of_a_hook_that_no_header_can_hold_is_not_shown(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b'{"prompt": "Where do I live?"}'))
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("os.environ", {"MEMORIA_TOKEN": token.format(SECRET)})
    with pytest.raises(ConfigError, match="MEMORIA_TOKEN") as caught:
        hook("prompt", "claude", limits=Limits(), connection=Connection())
    assert SECRET not in shown(caught.value)


MADE: list[Callable[[], object]] = [
    lambda: Target(uri="bolt://127.0.0.1:1", auth=("neo4j", SECRET)),
    lambda: Place("127.0.0.1", 1, SECRET),
    lambda: connect("bolt://127.0.0.1:1", ("neo4j", SECRET), scope="a"),
]


@pytest.mark.parametrize("make", MADE)
def test_no_repr_shows_a_secret(make: Callable[[], object]) -> None:
    assert SECRET not in repr(make())
