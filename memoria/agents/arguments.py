"""The arguments of calls as servers check them, and which calls a server offers.

In: the table of calls. Out: types that pydantic checks and describes. Touches nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, WithJsonSchema

from memoria._support.nearest import did_you_mean
from memoria._support.wording import cut, one_line
from memoria.agents.calls import (
    FORGETTING,
    MAX_DEADLINE_MS,
    MIN_DEADLINE_MS,
    NO_TIME,
    READING,
    WRITING,
    Call,
)
from memoria.agents.kinds import MAX_TOKENS, MIN_TOKENS
from memoria.errors import InvalidInputError
from memoria.types import MemoryFilter, Message

if TYPE_CHECKING:
    from memoria.agents.mcp.rights import Rights

#: Names that models use for an argument of another name.
_MEANT = {
    "budget": "max_tokens",
    "budget_tokens": "max_tokens",
    "content": "text",  # of a message, as chat models have it
    "filter": "where",
    "filters": "where",
    "tokens": "max_tokens",
}

_IN_WORDS = {
    "datetime_type": f"it {NO_TIME}",
    "extra_forbidden": "unknown argument: /v1/openapi.json has the names",
    "missing": "it is required",
}
_MOST_CHARS = 100
MAX_CHARS, MAX_MESSAGES, MAX_LISTED = 20_000, 1_000, 1_000


def _none_is_empty(value: object) -> object:
    return [] if value is None else value


def _with_times(value: object) -> object:
    """Read the times of messages."""
    if not isinstance(value, list):
        return value
    return [
        {**each, "created_at": _time(each["created_at"])}
        if isinstance(each, dict) and "created_at" in each
        else each
        for each in value
    ]


def _time(value: object) -> object:
    """Read a time as the importers do: ISO 8601, also a day alone."""
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:  # the check that follows says so
        return value


_Time = Annotated[datetime | None, BeforeValidator(_time)]
# The filter checks the type, and names all that are allowed in one sentence.
_Asked = Annotated[Any, WithJsonSchema({"type": ["string", "number", "boolean"]})]


@dataclass(frozen=True, kw_only=True)
class RecallFilter(MemoryFilter):
    """Which memories a recall may find; a memory must fit everything that is given.

    Attributes
    ----------
    exclude_ids
        The memory is none of these; at most 10,000 ids of memories or labels of earlier answers. An
        id that no memory has excludes nothing.
    """

    # The same fields with types that JSON has, so that pydantic can check and describe them.
    kinds: Sequence[str] | None = None
    tags: Sequence[str] = ()
    created_from: _Time = None
    created_before: _Time = None
    metadata: Mapping[str, _Asked] = field(default_factory=dict)
    exclude_ids: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            MemoryFilter.__post_init__(self)
        except InvalidInputError as exc:
            exc.field = f"where.{exc.field}"
            raise


#: Types of arguments, by their names; those of others are as the call has them.
_CHECKED: Mapping[str, Any] = {
    "query": Annotated[str, Field(min_length=1, max_length=MAX_CHARS)],
    "text": Annotated[str, Field(min_length=1, max_length=MAX_CHARS)],
    "max_tokens": Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS)],
    "deadline_ms": Annotated[int, Field(ge=MIN_DEADLINE_MS, le=MAX_DEADLINE_MS)],
    "limit": Annotated[int, Field(ge=1, le=MAX_LISTED)],
    "where": RecallFilter | None,
    "as_of": _Time,
    "created_at": _Time,
    "valid_until": _Time,
    "messages": Annotated[
        list[Message],
        Field(min_length=1, max_length=MAX_MESSAGES),
        BeforeValidator(_with_times),
    ],
}
_WITH_FIELDS: Mapping[str, Any] = {"messages": Message, "where": RecallFilter}
# Schemas without null are shorter, and every turn of a model pays for them.
_PLAIN: Mapping[Any, tuple[Any, Any]] = {list[str] | None: (list[str], []), str | None: (str, "")}
# Models write null for an empty list, and have other names for a question.
_Strings = Annotated[list[str], BeforeValidator(_none_is_empty)]
QUERY_NAMES = ("query", "q", "question", "text")
Query = Annotated[
    str, Field(min_length=1, max_length=MAX_CHARS, validation_alias=AliasChoices(*QUERY_NAMES))
]


def calls_of(rights: Rights) -> tuple[Call, ...]:
    """Return the calls that a server offers; a token may allow less."""
    if rights.grant.read_only:
        return READING
    return (*READING, *WRITING, *([FORGETTING] if rights.allow_forget else []))


def arguments_of(call: Call, defaults: Mapping[str, int]) -> list[inspect.Parameter]:
    """Return the arguments of a call, with types that are checked and described.

    Parameters
    ----------
    defaults
        Argument -> its default at this server.
    """
    found = []
    for each in call.arguments:
        kind, default = each.annotation, each.default
        if each.name not in call.of_programs and each.name not in _CHECKED:
            kind, default = _PLAIN.get(kind, (kind, default))
        about: Any = Field(description=call.described[each.name])
        shown: Any = Annotated[_CHECKED.get(each.name, kind), about]
        found.append(each.replace(annotation=shown, default=defaults.get(each.name, default)))
    return found


def arguments_for_models(call: Call, defaults: Mapping[str, int]) -> list[inspect.Parameter]:
    """Return the same as models are shown them: lenient, and in few tokens.

    Calls that write describe what may be left out and their head does not name: of the rest, names
    and types say enough.
    """
    found = []
    for each in call.of_models:
        kind, default = _PLAIN.get(each.annotation, (each.annotation, each.default))
        shown = _CHECKED.get(each.name, kind)
        if each.annotation in _PLAIN:  # a time, too, is a text for models
            shown = _Strings if kind == list[str] else kind
        if each.name == "query":
            shown = Query
        if call.does == "writes" and each.annotation in _PLAIN and each.name not in call.head:
            shown = Annotated[shown, Field(description=call.described[each.name])]
        found.append(each.replace(annotation=shown, default=defaults.get(each.name, default)))
    return found


def not_taken(name: str, takes: Collection[str]) -> str:
    """Return a hint for an unknown argument: the one probably meant, and all known ones.

    >>> not_taken("budget", ["query", "max_tokens"]), not_taken("x", [])
    ("did you mean 'max_tokens'? it takes query, max_tokens", 'it takes none')
    """
    meant = _MEANT.get(name)
    near = f"did you mean {meant!r}?" if meant in takes else did_you_mean(name, takes)
    return f"{near.removeprefix('; ')} it takes {', '.join(takes) or 'none'}".lstrip()


def fault_of(error: Any, takes: Collection[str]) -> tuple[str, str]:
    """Return the name of an argument that pydantic refuses, and the reason; never its value."""
    kind, place = error["type"], error["loc"]
    detail = _IN_WORDS.get(kind, error["msg"])
    if kind == "extra_forbidden" and len(place) == 1:
        detail = f"unknown argument; {not_taken(str(place[0]), takes)}"
    if kind == "unexpected_keyword_argument":
        known = [each.name for each in fields(_WITH_FIELDS[place[0]])]
        detail = f"unknown argument; {not_taken(str(place[-1]), known)}"
    return cut(one_line(".".join(map(str, place))), _MOST_CHARS), detail


def given(call: Call, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked arguments as the call takes them, None where a text is not given."""
    optional = {each.name for each in call.arguments if each.annotation == str | None}
    return {name: value or None if name in optional else value for name, value in named.items()}
