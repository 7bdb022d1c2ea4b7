"""A command that finds nothing says whether its scope holds anything at all."""

from __future__ import annotations

import json

import pytest

from tests.for_each import for_each
from tests.integration.cli.test_commands import Call, call, filled, here, in_process, secret
from tests.integration.recall.test_round_trips import Wire, wire

__all__ = ["call", "filled", "here", "secret", "wire"]  # fixtures

# A question or ids that the scope of the tests does not have -> the exit code.
READS = [
    (("recall", "xylophone", "--embedder", "none"), 0),
    (("list", "--kind", "Insight"), 0),
    (("recent", "--kind", "Insight"), 0),
    (("explore", "nobody"), 1),
    (("get", "nobody"), 1),
    (("neighbours", "nobody"), 1),
    (("forget", "nobody", "--dry-run"), 0),
    (("forget", "--kind", "Insight", "--dry-run"), 0),
]
NAMES = [f"{arguments[0]} {arguments[1]}" for arguments, _ in READS]
SAID = "memoria stats --all lists the scopes"


def empty(typo: list[str]) -> str:
    """The line about a scope whose name is like that of another one."""
    scope = typo[-1].removesuffix("-typo")
    return f"scope {typo[-1]!r} has no memories; did you mean {scope!r}? {SAID}"


def in_typo(filled: list[str]) -> list[str]:
    """The same options, with a scope that nobody has written into."""
    return [*filled[:-1], f"{filled[-1]}-typo"]


@for_each("arguments, code", READS)
def test_a_scope_without_memories_is_named_on_standard_error(
    filled: list[str], arguments: tuple[str, ...], code: int
) -> None:
    typo = in_typo(filled)
    for more in ([], ["--json"]):
        done = in_process(*arguments, *more, *typo)
        assert done.code == code
        first, *others = done.err.splitlines()
        assert first == empty(typo)
        assert not any(SAID in line for line in others), "it is said once"
        assert SAID not in done.out


@for_each("arguments, code", READS)
def test_a_scope_that_holds_memories_is_not_called_empty(
    filled: list[str], arguments: tuple[str, ...], code: int
) -> None:
    done = in_process(*arguments, *filled)
    assert done.code == code
    assert SAID not in done.err + done.out


def test_a_scope_without_memories_to_link_is_named(call: Call, filled: list[str]) -> None:
    typo = in_typo(filled)
    assert call("link", *typo).err == f"{empty(typo)}\n"
    assert call("link", *filled).err == "", "without vectors none is linked"


def test_what_finds_nothing_prints_nothing_where_a_prompt_or_a_list_is_read(
    call: Call, filled: list[str]
) -> None:
    asked = ("recall", "xylophone", "--embedder", "none", "--context")
    for options in (filled, in_typo(filled)):
        assert call(*asked, *options).out == ""
        assert call(*asked, "--format", "json", *options).out == "[]\n"
        assert call("list", "--kind", "Insight", *options).out == ""
        assert call("recent", "--kind", "Insight", *options).out == ""
    found = json.loads(call(*asked[:-1], "--json", "--full", *in_typo(filled)).out)
    assert found["context"]["text"] == ""


@pytest.mark.parametrize(
    ("arguments", "nothing"),
    [
        (("recall", "rain", "--embedder", "none"), READS[0][0]),
        (("list",), READS[1][0]),
        (("recent",), READS[2][0]),
        (("explore", "a", "nobody"), READS[3][0]),
        (("get", "a", "nobody"), READS[4][0]),
        (("neighbours", "a"), READS[5][0]),
        (("forget", "a", "nobody", "--dry-run"), READS[6][0]),
    ],
    ids=lambda arguments: arguments[0],
)
def test_only_a_command_that_finds_nothing_asks_whether_the_scope_is_empty(
    filled: list[str], arguments: tuple[str, ...], nothing: tuple[str, ...], wire: Wire
) -> None:
    in_process(*arguments, *filled)
    assert wire.sent
    assert wire.count("RUN graph.scope_size") == 0
    in_process(*nothing, *filled)
    assert wire.count("RUN graph.scope_size") == 1


@pytest.mark.parametrize("command", ["list", "recent"])
def test_a_kind_or_tag_that_no_memory_has_is_said_with_the_nearest(
    filled: list[str], command: str
) -> None:
    done = in_process(command, "--kind", "Evnet", *filled)
    assert done.err == "no memory of the scope has the kind 'Evnet'; did you mean 'Event'?\n"
    assert (
        "no memory of the scope has the tag 'wet'"
        in in_process(command, "--with-tag", "wet", *filled).err
    )


def test_a_recall_says_that_a_kind_is_mistyped(filled: list[str]) -> None:
    asked = ("recall", "rain", "--embedder", "none", "--kind", "Evnet", *filled)
    said = "no memory of the scope has the kind 'Evnet'; did you mean 'Event'?"
    assert said in in_process(*asked).out
    assert said in in_process(*asked, "--context").err
