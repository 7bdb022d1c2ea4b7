"""Read the front matter of a note: the YAML between two lines of three hyphens at its beginning.

In: the text of a note. Out: `FrontMatter`, and the rest of the text. Touches nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import yaml

from memoria.errors import InvalidInputError

_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
#: A parser of YAML takes too long for brackets that are nested deeper.
_MAX_NESTING = 32
_MAX_CHARS = 64_000
_BRACKET = re.compile(r"[\[\]{}]")
_TITLES = ("title",)
_ALIASES = ("aliases", "alias")
_TAGS = ("tags", "tag", "keywords")
_TIMES = ("created_at", "created", "date")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What a note says about itself.

    Attributes
    ----------
    title
        Its title, or None.
    aliases, tags
        Other titles; tags, without ``#``.
    created_at
        When it was written; None: it does not say.
    others
        All other fields, as JSON has them.
    """

    title: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    others: Mapping[str, Any] = field(default_factory=dict)


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    r"""Return the front matter of a note, and its text without it.

    Raises
    ------
    InvalidInputError
        It is not YAML, or a field is wrong; the message begins with the line, where it is known.

    Examples
    --------
    >>> found, rest = split_front_matter("---\ntags: [tea]\n---\nGreen.")
    >>> found.tags, rest
    (('tea',), 'Green.')
    """
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter(), text
    fields = _fields(match[1])
    if fields is None:  # a text between two rules, or nothing
        return FrontMatter(), text if match[1].strip() else text[match.end() :]
    try:
        return _front_matter(fields), text[match.end() :]
    except ValueError as exc:  # a whole number with more digits than Python converts
        raise InvalidInputError("a number of the front matter has too many digits") from exc


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """Refuses aliases: a few nested aliases can expand to any number of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            alias = self.peek_event()
            raise InvalidInputError(
                f"line {alias.start_mark.line + 2}: the front matter has an alias, "
                f"*{alias.anchor}: write out what it stands for, or quote it"
            )
        return super().compose_node(parent, index)


def _fields(block: str) -> dict[str, Any] | None:
    """Read the YAML; None if it is not a map of fields."""
    _check_size(block)
    try:
        found = yaml.load(block, _Loader)  # noqa: S506  # a safe loader
    except yaml.MarkedYAMLError as exc:
        place = exc.problem_mark or exc.context_mark
        line = f"line {place.line + 2}: " if place is not None else ""
        raise InvalidInputError(
            f"{line}the front matter is not YAML ({exc.problem}); quote a value that has a colon"
        ) from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise InvalidInputError(
            f"line 1: the front matter can't be read ({type(exc).__name__})"
        ) from exc
    return found if isinstance(found, dict) else None


def _check_size(block: str) -> None:
    """Refuse what takes a parser longer than anybody waits."""
    if len(block) > _MAX_CHARS:
        raise InvalidInputError(
            f"the front matter has {len(block)} characters; at most {_MAX_CHARS} are allowed"
        )
    depth = 0
    for bracket in _BRACKET.finditer(block):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _MAX_NESTING:
            raise InvalidInputError(
                f"the front matter is nested deeper than {_MAX_NESTING} levels: flatten it"
            )


def _front_matter(fields: Mapping[str, Any]) -> FrontMatter:
    known = {str(name).lower(): value for name, value in fields.items() if value is not None}
    title = _first(known, _TITLES)
    return FrontMatter(
        title=str(title).strip() or None if title is not None else None,
        aliases=_strings(known, _ALIASES, split=False),
        tags=tuple(tag.lstrip("#") for tag in _strings(known, _TAGS, split=True)),
        created_at=_time(known),
        others=_as_json({name: value for name, value in known.items() if name not in _READ}),
    )


_READ = frozenset((*_TITLES, *_ALIASES, *_TAGS, *_TIMES))


def _first(known: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((known[name] for name in names if name in known), None)


def _strings(known: Mapping[str, Any], names: tuple[str, ...], *, split: bool) -> tuple[str, ...]:
    """Return the strings of the first of these fields; one string may hold several tags."""
    value = _first(known, names)
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value) if split else [value]
    if value is None:
        return ()
    if not isinstance(value, list):
        value = [value]
    if any(isinstance(each, list | dict) for each in value):
        raise InvalidInputError(f"{names[0]} of the front matter must be a list of words")
    names_found = (str(each).strip() for each in value if each is not None)
    return tuple(dict.fromkeys(name for name in names_found if name))


def _time(known: Mapping[str, Any]) -> datetime | None:
    value = _first(known, _TIMES)
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError as exc:
        raise InvalidInputError(
            f"the date of the front matter must be a date, such as 2026-03-01; "
            f"got {str(value)[:40]!r}"
        ) from exc


def _as_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as JSON has them: times as text, names as strings."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(fields, default=str))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInputError(f"the front matter can't be kept as JSON: {exc}") from exc
    return found
