"""Read the front matter of a note: the YAML between two lines of three hyphens at its beginning.

In: the text of a note. Out: `FrontMatter`, and the rest of the text. Touches nothing.

Programs for notes show front matter that YAML refuses, such as ``title: a: b``. It is read line by
line then, so a note never depends on its front matter. A warning names the lines that are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import yaml

from memoria._support.checks import MAX_ID_BYTES, MAX_TAG_CHARS, MAX_TAGS, check_json_map
from memoria.errors import InvalidInputError
from memoria.types.history import aware_time

_BLOCK = re.compile(r"\s*^---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
#: A parser of YAML takes too long for brackets that are nested deeper, and for longer texts.
_MAX_NESTING = 32
_MAX_CHARS = 64_000
#: How many lines of a front matter that is not YAML are read.
_MAX_LINES = 20_000
_BRACKET = re.compile(r"[\[\]{}]")
_PAIR = re.compile(r"([^\W\d_][\w .-]{0,80}?)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_WIKI_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
#: A day with a year of four digits in front: the other forms depend on who reads them.
_DAY = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_TITLES = ("title",)
_ALIASES = ("aliases", "alias")
_TAGS = ("tags", "tag", "keywords")
_TIMES = ("created_at", "created", "date", "timestamp")

Warn = Callable[[str], None]


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
    links
        Targets of the wiki links in its other fields.
    others
        All other fields, as JSON has them; a date in another form than ISO 8601 is among them.
    """

    title: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    links: tuple[str, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)


def split_front_matter(text: str, warn: Warn) -> tuple[FrontMatter, str]:
    r"""Return the front matter of a note, and its text without it.

    Parameters
    ----------
    warn
        Called with what can't be read, and its line.

    Examples
    --------
    >>> found, rest = split_front_matter("---\ntags: [tea, 0123]\n---\nGreen.", print)
    >>> found.tags, rest
    (('tea', '0123'), 'Green.')
    >>> split_front_matter("---\ntitle: a: b\n---\n", lambda _: None)[0].title
    'a: b'
    """
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter(), text
    fields = _fields(match[1], warn)
    if fields is None:  # a text between two rules, or nothing
        return FrontMatter(), text if match[1].strip() else text[match.end() :]
    rest = text[match.end() :]
    second = _BLOCK.match(rest)  # some programs put theirs in front of the one that is there
    more = None
    with suppress(InvalidInputError):  # the text between two rules
        more = None if second is None else _yaml_fields(second[1])
    if second is not None and more:
        fields = _joined(fields, more)
        rest = rest[second.end() :]
    return _front_matter(fields, warn), rest


def _joined(fields: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of two blocks; of two titles and times the first counts."""
    aliases = next((name for name in _ALIASES if name in fields), _ALIASES[0])
    for name, value in more.items():
        if name not in fields:
            fields[name] = value
        elif name in _TITLES:
            fields[aliases] = [*_flat(fields.get(aliases)), *_flat(value)]
        elif name not in _TIMES and value != fields[name]:
            fields[name] = [*_flat(fields[name]), *_flat(value)]
    return fields


def _collected(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return fields, some of which may be there several times."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        known = found.setdefault(name, [])
        if value is not None and value not in known[-1:]:
            known.append(value)
    most = max(map(len, found.values()), default=0)
    if most <= 1:
        return {name: values[0] for name, values in found.items() if values}
    first = {name: values[0] for name, values in found.items() if values}
    rest = {name: _flat(values[1:]) for name, values in found.items() if values[1:]}
    return _joined(first, rest)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """Reads values as they are written, and refuses aliases.

    A few nested aliases can expand to any number of values. Only what is printed as it was written
    becomes a number: not ``0123``, ``1.10`` or ``12:30``. ``no`` and dates are text.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # as yaml has it

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise InvalidInputError("aliases are not followed")
        return super().compose_node(parent, index)


def _as_written(loader: Any, node: Any) -> Any:
    """Construct a value of a tag that nobody needs, such as ``!!binary``."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value


_Loader.yaml_constructors = {
    **{
        f"tag:yaml.org,2002:{kind}": yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{kind}"]
        for kind in ("null", "bool", "int", "float", "seq", "map", "str")
    },
    None: _as_written,
}
for _kind, _pattern, _first_letters in (
    ("null", r"~|null|", "~n"),
    ("bool", r"true|false", "tf"),
    ("int", r"0|-?[1-9][0-9]{0,14}", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]{0,8})\.(?:[0-9]{0,5}[1-9]|0)", "-0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}",
        re.compile(rf"(?:{_pattern})\Z"),
        [*_first_letters, *([""] if _kind == "null" else [])],
    )


def _fields(block: str, warn: Warn) -> dict[str, Any] | None:
    """Read the fields; None if there are none."""
    try:
        return _yaml_fields(block)
    except InvalidInputError as exc:
        fields, left_out = _fields_by_line(block)
        if not fields or left_out > block.count("\n") // 2:
            return None
        if left_out:
            lines = "a line was" if left_out == 1 else f"{left_out} lines were"
            warn(f"{exc}: it was read line by line, and {lines} left out")
        return fields


def _yaml_fields(block: str) -> dict[str, Any] | None:
    """Return the fields of YAML; None if it has none.

    Raises
    ------
    InvalidInputError
        It is not YAML; the message begins with the line.
    """
    found = _loaded(block, _pairs)
    if found is None:
        return None
    return _collected((_text(name).lower(), value) for name, value in found)


def _pairs(loader: _Loader) -> list[tuple[Any, Any]] | None:
    """Return the names and values of a map; None if it is another value."""
    node = loader.get_single_node()
    if not isinstance(node, yaml.MappingNode):
        return None
    return [
        (loader.construct_object(name, deep=True), loader.construct_object(value, deep=True))
        for name, value in node.value
    ]


def _loaded(block: str, read: Callable[[_Loader], Any] = _Loader.get_single_data) -> Any:
    """Parse YAML; refuse what takes a parser longer than anybody waits."""
    if len(block) > _MAX_CHARS:
        raise InvalidInputError(f"line 1: the front matter has {len(block)} characters")
    depth = 0
    for bracket in _BRACKET.finditer(block):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _MAX_NESTING:
            raise InvalidInputError("line 1: the front matter is nested too deep")
    try:
        return read(_Loader(block))
    except yaml.MarkedYAMLError as exc:
        place = exc.problem_mark or exc.context_mark
        line = place.line + 2 if place is not None else 1
        raise InvalidInputError(f"line {line}: the front matter is not YAML") from exc
    except (yaml.YAMLError, ValueError, RecursionError, InvalidInputError) as exc:
        raise InvalidInputError("line 1: the front matter can't be read") from exc


def _fields_by_line(block: str) -> tuple[dict[str, Any], int]:
    """Read ``name: value`` and the items below a name; also count the lines that are neither."""
    fields: list[tuple[str, Any]] = []
    lines = [line for line in block.split("\n") if line.strip() and not line.startswith("#")]
    left_out = max(0, len(lines) - _MAX_LINES)
    for line in lines[:_MAX_LINES]:
        if (item := _ITEM.match(line)) and fields:
            name, value = fields[-1]
            values = value if isinstance(value, list) else _flat(value)
            values.append(_value(item[1]))
            fields[-1] = name, values
        elif pair := _PAIR.match(line):
            fields.append((pair[1].lower(), _value(pair[2] or "")))
        else:
            left_out += 1
    return _collected(fields), left_out


def _value(text: str) -> Any:
    """Read one value; a text that is not YAML is kept as it is, without an open quote."""
    text = text.strip()
    try:
        value = _loaded(text)
    except InvalidInputError:
        return text.lstrip("\"'") if text.count(text[:1]) == 1 else text
    return value if not isinstance(value, dict) else text


def _front_matter(fields: Mapping[str, Any], warn: Warn) -> FrontMatter:
    title = next(iter(_texts(fields, _TITLES)), None)
    tags = [tag.lstrip("#") for tag in _texts(fields, _TAGS, split=True)]
    kept = [tag for tag in dict.fromkeys(tags) if 0 < len(tag) <= MAX_TAG_CHARS][:MAX_TAGS]
    if len(kept) < len(set(tags)):
        warn(f"{len(set(tags)) - len(kept)} tags are too long or too many: they were left out")
    created_at = next(filter(None, (_time(fields.get(name)) for name in _TIMES)), None)
    read = {*_TITLES, *_ALIASES, *_TAGS}
    others = {
        name: value
        for name, value in fields.items()
        if name not in read and not (name in _TIMES and _time(value) is not None)
    }
    try:
        check_json_map(others, "the front matter")
    except InvalidInputError as exc:
        warn(f"{exc}: its other fields were left out")
        others = {}
    return FrontMatter(
        title=title and title.encode()[:MAX_ID_BYTES].decode("utf-8", "ignore"),
        aliases=tuple(_texts(fields, _ALIASES)),
        tags=tuple(kept),
        created_at=created_at,
        links=tuple(link for value in others.values() for link in _links_in(value)),
        others=others,
    )


def _texts(fields: Mapping[str, Any], names: tuple[str, ...], *, split: bool = False) -> list[str]:
    """Return the texts of the first of these fields; one text may hold several tags."""
    value = next((fields[name] for name in names if name in fields), None)
    if split and isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    texts = (_text(each).strip() for each in _flat(value) if each is not None)
    return list(dict.fromkeys(text for text in texts if text))


def _flat(value: Any) -> list[Any]:
    """Return the single values of a value: those of a list, and of the lists in it."""
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value)
    return [one for each in value for one in _flat(each)] if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    """Return a value as it was written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _links_in(value: Any) -> Iterator[str]:
    """Yield the targets of wiki links; without quotes YAML reads one as a list in a list."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        yield from (str(each) for each in value[0] if isinstance(each, str))
    for each in _flat(value):
        if isinstance(each, str):
            yield from _WIKI_LINK.findall(each)


def _time(value: Any) -> datetime | None:
    """Return a time in ISO 8601, or a day that begins with its year; None for any other form."""
    if not isinstance(value, str | int):
        return None
    text = str(value).strip()
    if day := _DAY.fullmatch(text):
        text = f"{day[1]}-{day[2]:0>2}-{day[3]:0>2}"
    elif text.isdigit() and len(text) != 8:  # a year, or seconds
        return None
    try:
        return aware_time(datetime.fromisoformat(text), "created_at")
    except (ValueError, InvalidInputError):
        return None
