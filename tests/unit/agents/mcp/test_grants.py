"""Tokens of `memoria mcp`: hashes in a file, one scope each; addresses that need them."""

from __future__ import annotations

import errno
import socket
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memoria.agents.mcp.grants import Grant, hash_of, line_of, new_token, read_grants
from memoria.agents.mcp.transports import listening
from memoria.cli import app
from memoria.errors import ConfigError, InvalidInputError, ScopeError

HASH = "0" * 64


def file_of(folder: Path, text: str) -> Path:
    file = folder / "tokens.txt"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("scope", ["alice", "Ada Ek", "o'neil", "a#b", "ro", "å"])
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("also_read", [(), ("team",), ("the team", "+x", "Ro")])
def test_the_line_of_a_token_reads_as_what_it_grants(
    tmp_path: Path, scope: str, read_only: bool, also_read: tuple[str, ...]
) -> None:
    token = new_token()
    grant = Grant(scope=scope, read_only=read_only, also_read=also_read)
    line = line_of(token, grant)
    assert token not in line
    assert read_grants(file_of(tmp_path, f"# a\n\n{line}\n")) == {hash_of(token): grant}


@pytest.mark.parametrize(
    "line",
    [
        *("alice", f"{HASH}", f"{HASH} alice rw", f"{HASH[1:]} alice", f"{HASH} ''", f'{HASH} "'),
        *(f"{HASH} alice team", f"{HASH} alice +", f"{HASH} alice +alice", f"{HASH} alice +b ro"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match=r"tokens\.txt, line 2: must be sha256 scope"):
        read_grants(file_of(tmp_path, f"{HASH} alice\n{line}\n"))


def test_a_file_without_a_token_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mcp-token"):
        read_grants(file_of(tmp_path, "# none\n"))
    with pytest.raises(ConfigError, match="can't read"):
        read_grants(tmp_path / "missing.txt")


def test_tokens_are_long_and_differ() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) > 40


def test_the_command_makes_a_token_and_its_line(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    done = CliRunner().invoke(app, ["mcp-token", "Ada Ek", "--read-only", "--tokens", str(file)])
    assert done.exit_code == 0
    grants = read_grants(file)
    assert grants == {hash_of(done.stdout.strip()): Grant(scope="Ada Ek", read_only=True)}


def test_the_command_makes_a_token_that_reads_further_scopes(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    options = ["mcp-token", "alice", "--also", "team", "--also", "the house", "--tokens", str(file)]
    assert CliRunner().invoke(app, options).exit_code == 0
    [grant] = read_grants(file).values()
    assert grant == Grant(scope="alice", also_read=("team", "the house"))


def test_a_line_is_added_below_a_last_line_that_has_no_end(tmp_path: Path) -> None:
    file = file_of(tmp_path, f"{HASH} bob")
    assert CliRunner().invoke(app, ["mcp-token", "alice", "--tokens", str(file)]).exit_code == 0
    assert {grant.scope for grant in read_grants(file).values()} == {"alice", "bob"}


def test_a_scope_that_is_not_valid_gets_no_token() -> None:
    done = CliRunner().invoke(app, ["mcp-token", ""])
    assert isinstance(done.exception, ScopeError)


@pytest.mark.parametrize("scope", ["a\nb", "a\n", "a\u2028b"])
def test_a_scope_of_two_lines_does_not_spoil_the_file_of_tokens(scope: str) -> None:
    with pytest.raises(InvalidInputError, match="one line"):
        line_of(new_token(), Grant(scope=scope))
    with pytest.raises(InvalidInputError, match="one line"):
        line_of(new_token(), Grant(scope="alice", also_read=(scope,)))


@pytest.mark.parametrize(
    "options",
    [
        ["--transport", "http", "--host", "0.0.0.0"],
        ["--transport", "http", "--host", "127.0.0.2"],  # the SDK checks no Host there
        ["--transport", "http", "--host", "example.org"],
        ["--tokens", "tokens.txt"],
    ],
)
def test_what_would_be_open_to_others_is_refused(options: list[str]) -> None:
    done = CliRunner().invoke(app, ["mcp", *options])
    assert done.exit_code == 2
    assert "--tokens" in done.output


@pytest.mark.parametrize("host", ["192.0.2.1", "nobody.invalid", "::ffff:192.0.2.1"])
def test_an_address_that_is_not_of_this_machine_is_named_in_the_error(host: str) -> None:
    with pytest.raises(ConfigError, match=f"can't listen on {host}, port 8765: .*; give another"):
        listening(host=host)


@pytest.mark.parametrize("host", ["a" * 70, "a..b"])
def test_a_name_that_no_host_can_have_is_named_in_the_error(host: str) -> None:
    with pytest.raises(ConfigError, match=f"can't listen on {host}, port 8765: .*; give another"):
        listening(host=host)


def test_an_address_is_opened_once_and_one_that_the_machine_lacks_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        near = ("127.0.0.1", free.getsockname()[1])
    found = [(socket.AF_APPLETALK, near), (socket.AF_INET, ("192.0.2.1", 8765))]
    found += [(socket.AF_INET, near)] * 2
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda *_, **__: [(family, socket.SOCK_STREAM, 6, "", place) for family, place in found],
    )
    (opened,) = listening(host="localhost")
    with closing(opened):
        assert opened.getsockname() == near
        with pytest.raises(ConfigError, match="can't listen on localhost, port 8765: "):
            listening(host="localhost")  # taken by now
    del found[1:]
    with pytest.raises(ConfigError, match=r"can't listen on localhost, port 8765: .*family"):
        listening(host="localhost")


def test_an_address_keeps_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    place = ("fe80::1", 8765, 0, 7)

    def create_server(address: object, **_: object) -> None:
        asked.append(address)
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", create_server)
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda *_, **__: [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", place)],
    )
    with pytest.raises(ConfigError, match="Permission denied"):
        listening(host="fe80::1%eth0")
    assert asked == [place]


def test_a_port_that_is_taken_is_named_in_the_error() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"can't listen on 127.0.0.1, port {port}: "):
            listening(port=port)
