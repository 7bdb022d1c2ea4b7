"""A mapping as a whole, and mappings as TOML, with messages that name the line.

In: parts, a file, or its text. Out: a `GraphMapping`. Touches the file.

The reader of TOML does not tell where a value stands, so the lines are looked for in the text: a
mapping has one level of tables, each key on a line of its own.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast

from memoria._support.wording import kind_of
from memoria.errors import MappingError
from memoria.graph.mapping.parts import (
    EdgeMapping,
    NodeMapping,
    WeightOf,
    checked_names,
    labels_listed,
)

_HEADER = re.compile(r"\s*\[\[\s*(nodes|edges)\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z_]+)(?:\s*=|\.)")
_KINDS: Mapping[str, type] = {"nodes": NodeMapping, "edges": EdgeMapping}
_TOP = ("name", "properties")
# tomllib takes seconds for a key of some ten thousand parts, which fits in one line.
_MAX_BYTES, _MAX_LINE_CHARS = 200_000, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """How a graph that another program made is read; nothing of it is changed.

    Give it to `GraphRetriever` or `connect`. Where a node fits several `NodeMapping`, the first
    one counts.

    Attributes
    ----------
    nodes
        The nodes that are memories or connectors; at least one that is not a connector.
    edges
        The relationships along which energy flows; at least one.
    name
        What to call it in messages.
    properties
        Further properties of nodes that come back as `MemoryNode.metadata`, and that filters can
        ask for; ``True`` for all but vectors.
    places
        Where each part is in a file, for messages: ``nodes.0.key`` -> ``graph.toml, line 4``.
    """

    nodes: tuple[NodeMapping, ...]
    edges: tuple[EdgeMapping, ...]
    name: str = "mapping"
    properties: tuple[str, ...] | bool = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the parts go together."""
        object.__setattr__(self, "nodes", _parts(self.nodes, NodeMapping, "nodes"))
        object.__setattr__(self, "edges", _parts(self.edges, EdgeMapping, "edges"))
        if not isinstance(self.name, str) or not self.name:
            raise MappingError("name must be a text", field="name")
        if not isinstance(self.properties, bool):
            object.__setattr__(self, "properties", checked_names(self.properties, "properties"))
        self._check_repeats()
        if all(node.connector for node in self.nodes):
            raise MappingError(
                "every node is a connector, so nothing could be found: set connector to false for "
                "nodes with a text",
                field="nodes",
            )
        scoped = [node.scope is not None for node in self.nodes]
        if any(scoped) and not all(scoped):
            bare = next(i for i, node in enumerate(self.nodes) if node.scope is None)
            raise MappingError(
                f"{self.place('nodes', bare, 'label')}{labels_listed(self.nodes[bare].labels)} has "
                "no scope, but other nodes have one: nodes without a tenant would belong to every "
                "tenant. Give it one, or leave these nodes out",
                field="scope",
            )

    def _check_repeats(self) -> None:
        for part, index, labels in [
            *(("nodes", i, node.labels) for i, node in enumerate(self.nodes)),
            *(("edges", i, (edge.type,)) for i, edge in enumerate(self.edges)),
        ]:
            earlier = getattr(self, part)[:index]
            taken = {n for e in earlier for n in (e.labels if part == "nodes" else (e.type,))}
            if again := sorted(taken.intersection(labels)):
                where = self.place(part, index, "label" if part == "nodes" else "type")
                raise MappingError(f"{where}{again[0]} is mapped twice: leave one out", field=part)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a mapping from a TOML file; `memoria adopt NAME` prints one to begin with.

        Raises
        ------
        MappingError
            The file can't be read, or does not say a mapping; the message names the line.
        """
        return cast(Self, load_mapping(path))

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the mapping of a graph that a known program makes, such as ``graphiti``.

        `memoria adopt --help` lists the names.

        Raises
        ------
        MappingError
            There is no such mapping; the message lists those that there are.
        """
        return cast(Self, named_mapping(name))

    def place(self, part: str, index: int, name: str) -> str:
        """Return where a value is, to begin a message with."""
        found = self.places.get(f"{part}.{index}.{name}") or self.places.get(f"{part}.{index}")
        return f"{found}: " if found else f"{part}[{index}].{name}: "

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all nodes, in order."""
        return tuple(label for node in self.nodes for label in node.labels)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of all edges, in order."""
        return tuple(edge.type for edge in self.edges)

    @property
    def has_scopes(self) -> bool:
        """Whether a property separates tenants."""
        return self.nodes[0].scope is not None

    @property
    def vector_indexes(self) -> tuple[str, ...]:
        """Names of the vector indexes, each once."""
        return _distinct(node.vector_index for node in self.nodes if not node.connector)

    @property
    def fulltext_indexes(self) -> tuple[str, ...]:
        """Names of the full-text indexes, each once."""
        return _distinct(node.fulltext_index for node in self.nodes if not node.connector)

    @property
    def fact_indexes(self) -> tuple[str, ...]:
        """Names of the full-text indexes on relationships, each once."""
        return _distinct(edge.fulltext_index for edge in self.edges)

    @property
    def fact_vector_indexes(self) -> tuple[str, ...]:
        """Names of the vector indexes on relationships, each once."""
        return _distinct(edge.vector_index for edge in self.edges)

    @property
    def has_vectors(self) -> bool:
        """Whether a vector index is named."""
        return bool(self.vector_indexes or self.fact_vector_indexes)


def _parts(values: object, kind: type, name: str) -> tuple[object, ...]:
    if isinstance(values, kind):
        values = (values,)
    if not isinstance(values, tuple | list) or not all(isinstance(v, kind) for v in values):
        raise MappingError(f"{name} must be a list of {kind.__name__}", field=name)
    if not values:
        raise MappingError(f"{name} must not be empty: map at least one", field=name)
    return tuple(values)


def _distinct(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))


def load_mapping(path: str | PathLike[str]) -> GraphMapping:
    """Read a mapping from a TOML file; see `GraphMapping.load`."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise MappingError(f"the mapping {file} can't be read: it is not a file")
        with file.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            raise MappingError(f"{file} is too large for a mapping: is it another file?")
        text = raw.decode("utf-8")
    except OSError as exc:
        raise MappingError(f"the mapping {file} can't be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise MappingError(f"the mapping {file} is not UTF-8 text") from exc
    return parse_mapping(text, str(file))


def parse_mapping(text: str, name: str) -> GraphMapping:
    """Read a mapping from the text of a TOML file called ``name``; see `GraphMapping.load`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > _MAX_LINE_CHARS:
            raise MappingError(
                f"{name}, line {number}: longer than {_MAX_LINE_CHARS} characters: break it"
            )
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise MappingError(f"{name} is not TOML: {exc}") from exc
    except ValueError as exc:  # a whole number with more digits than Python converts
        raise MappingError(f"{name} is not a mapping: a number has too many digits") from exc
    except RecursionError as exc:
        raise MappingError(f"{name} is not a mapping: it is nested too deep") from exc
    places = {key: f"{name}, line {line}" for key, line in _lines(text)}

    def at(key: str) -> str:
        return f"{places.get(key, name)}: "

    for key in given:
        if key not in (*_TOP, *_KINDS):
            raise MappingError(f"{at(key)}{_unknown(key, (*_TOP, *_KINDS))}", field=key)
    parts = {}
    for part, kind in _KINDS.items():
        rows = given.get(part, [])
        if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
            raise MappingError(
                f"{at(part)}a mapping needs at least one [[{part}]] with the lines of a "
                f"{kind.__name__}",
                field=part,
            )
        parts[part] = [_made(kind, row, f"{part}.{n}", at) for n, row in enumerate(rows)]
    try:
        return GraphMapping(
            nodes=tuple(parts["nodes"]),
            edges=tuple(parts["edges"]),
            name=given.get("name", Path(name).stem),
            properties=given.get("properties", ()),
            places=places,
        )
    except MappingError as exc:
        prefix = "" if str(exc).startswith(name) else at(exc.field or "")
        raise MappingError(f"{prefix}{exc}", field=exc.field) from None


def _made(kind: type, row: Mapping[str, Any], place: str, at: Any) -> Any:
    known = {each.name: each for each in fields(kind)}
    for key in row:
        if key not in known:
            raise MappingError(f"{at(f'{place}.{key}')}{_unknown(key, known)}", field=key)
    for name, each in known.items():
        if each.default is MISSING and name not in row:
            raise MappingError(f"{at(place)}{name} is missing", field=name)
    values = dict(row)
    try:
        if isinstance(values.get("label"), list):
            values["label"] = tuple(values["label"])
        if kind is EdgeMapping and isinstance(values.get("weight"), dict):
            values["weight"] = _weight(values["weight"])
        return kind(**values)
    except MappingError as exc:
        line = at(f"{place}.{(exc.field or '').partition('.')[0]}")
        raise MappingError(f"{line}{exc}", field=exc.field) from None


def _weight(row: Mapping[str, Any]) -> WeightOf:
    known = [each.name for each in fields(WeightOf)]
    for key in row:
        if key not in known:
            raise MappingError(_unknown(key, known), field="weight")
    if "property" not in row:
        raise MappingError("weight needs a property to be made of, or a number", field="weight")
    return WeightOf(**row)


def _unknown(key: str, known: Any) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    meant = f"did you mean {close[0]}?" if close else f"it may be {', '.join(known)}"
    return f"{key} is not a field of a mapping here: {meant}"


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield where each key is: ``nodes.0.key`` -> its line, from 1."""
    counts = dict.fromkeys(_KINDS, 0)
    place = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _HEADER.match(line):
            part = match[1]
            place = f"{part}.{counts[part]}"
            counts[part] += 1
            yield place, number
            if counts[part] == 1:
                yield part, number
        elif match := _KEY.match(line):
            yield (f"{place}.{match[1]}" if place else match[1]), number


def toml_of(mapping: GraphMapping) -> str:
    """Write a mapping as TOML; values that are the default are left out."""
    lines = [f"name = {_value(mapping.name)}"]
    if mapping.properties:
        lines.append(f"properties = {_value(mapping.properties)}")
    for part, rows in (("nodes", mapping.nodes), ("edges", mapping.edges)):
        for row in rows:
            lines += ["", f"[[{part}]]"]
            lines += [
                f"{each.name} = {_value(_alone(getattr(row, each.name)))}"
                for each in fields(row)
                if getattr(row, each.name) != each.default
            ]
    return "\n".join(lines) + "\n"


def _alone(value: object) -> object:
    """Return the one label of a node as it is."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _value(value: object) -> str:
    if isinstance(value, WeightOf):
        given = [e for e in fields(value) if getattr(value, e.name) != e.default]
        return f"{{ {', '.join(f'{e.name} = {_value(getattr(value, e.name))}' for e in given)} }}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)  # a basic string of TOML is one of JSON


def named_mapping(name: str) -> GraphMapping:
    """Return the mapping of a known graph."""
    if not isinstance(name, str) or name not in names_of_mappings():
        got = name if isinstance(name, str) else kind_of(name)
        raise MappingError(
            f"there is no mapping named {got!r}: there are {', '.join(names_of_mappings())}. "
            "GraphMapping.load reads one of your own from a file"
        )
    text = _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return parse_mapping(text, f"{name}.toml")


def text_of_named(name: str) -> str:
    """Return the file of a known graph as it is, with its comments."""
    named_mapping(name)
    return (_folder() / f"{name}.toml").read_text(encoding="utf-8")


def names_of_mappings() -> tuple[str, ...]:
    """Return the names of the known graphs, sorted."""
    found = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def _folder() -> Path:
    return Path(__file__).parent / "graphs"
