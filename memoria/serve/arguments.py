"""The arguments of calls as servers check them, and which calls a server offers.

In: the table of calls. Out: types that pydantic checks and describes. Touches nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from memoria.serve.agent.calls import (
    FORGETTING,
    MAX_DEADLINE_MS,
    MIN_DEADLINE_MS,
    READING,
    WRITING,
    Call,
)
from memoria.serve.agent.kinds import MAX_TOKENS, MIN_TOKENS

if TYPE_CHECKING:
    from memoria.serve.mcp.memories import Memories
    from memoria.serve.mcp.rights import Rights

MAX_CHARS = 20_000


def _none_is_empty(value: object) -> object:
    return [] if value is None else value


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_CHARS,
        validation_alias=AliasChoices("query", "q", "question", "text"),
    ),
]
Text = Annotated[str, Field(min_length=1, max_length=MAX_CHARS)]
Strings = Annotated[list[str], BeforeValidator(_none_is_empty)]
Tokens = Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS)]
Milliseconds = Annotated[int, Field(ge=MIN_DEADLINE_MS, le=MAX_DEADLINE_MS)]
_BY_NAME: Mapping[str, Any] = {
    "query": Query,
    "text": Text,
    "max_tokens": Tokens,
    "deadline_ms": Milliseconds,
}
# Schemas without null are shorter, and every turn of a model pays for them.
_BY_TYPE: Mapping[Any, Any] = {
    list[str]: Strings,
    list[str] | None: Strings,
    str | None: str,
}
_DEFAULTS: Mapping[Any, Any] = {list[str] | None: [], str | None: ""}


def calls_of(rights: Rights) -> tuple[Call, ...]:
    """Return the calls that a server offers; a token may allow less."""
    if rights.grant.read_only:
        return READING
    return (*READING, *WRITING, *([FORGETTING] if rights.allow_forget else []))


def arguments_of(call: Call, memories: Memories, *, described: bool) -> list[inspect.Parameter]:
    """Return the arguments of a call, with types that are checked, and a server's defaults."""
    servers = {
        "max_tokens": memories.budget_tokens,
        "deadline_ms": int(memories.deadline_s * 1_000),
    }
    found = []
    for each in call.arguments:
        kind = _BY_NAME.get(each.name, _BY_TYPE.get(each.annotation, each.annotation))
        if described:
            kind = Annotated[kind, Field(description=call.described[each.name])]
        default = servers.get(each.name, _DEFAULTS.get(each.annotation, each.default))
        found.append(each.replace(annotation=kind, default=default))
    return found


def given(call: Call, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked arguments as the call takes them, None where a text is not given."""
    optional = {each.name for each in call.arguments if each.annotation == str | None}
    return {name: value or None if name in optional else value for name, value in named.items()}
